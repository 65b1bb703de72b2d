"""Parquet files that claim more than they hold, or unpack to more than traces do, are refused before they are read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from hideseek.errors import UnusableFileError
from hideseek.traces import columnar, packed, parquet_pages
from hideseek.traces.columnar import read_parquet
from hideseek.traces.parquet_pages import INT, LIST, LONG, STRUCT, fields_of, footer_of, look_at_pages, page_header
from tests.support.columnar_files import LATITUDE, LONGITUDE, parquet, points, table, well_known
from tests.support.mangling import mangled

ALL = ("user_id", "tracked_at", "latitude", "longitude")
SHARED = {"use_dictionary": False, "column_encoding": {"user_id": "DELTA_BYTE_ARRAY"}}


def rows_of(content: bytes) -> int:
    return sum(map(len, read_parquet(io.BytesIO(content))))


def varint(number: int) -> bytes:
    number = number << 1 ^ number >> 63  # the sign becomes the last bit
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def with_footer(content: bytes, old: bytes, new: bytes) -> bytes:
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    assert footer.count(old) >= 1
    footer = footer.replace(old, new)
    return content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + content[-4:]


@pytest.mark.parametrize("options", [{}, {"row_group_size": 7}, {"data_page_version": "2.0"}, SHARED])
def test_the_description_says_what_the_library_reads_in_it(options):
    rows = pa.concat_tables([table()] * 30)
    content = parquet(rows, **options)
    footer, length = footer_of(io.BytesIO(content), len(content))
    described = pq.read_metadata(io.BytesIO(content))
    assert (length, footer[3, LONG]) == (described.serialized_size, 90)
    groups = footer[4, LIST]
    assert len(groups) == described.num_row_groups
    for number, group in enumerate(groups):
        for leaf, column in enumerate(group[1, LIST]):
            chunk, other = column[3, STRUCT], described.row_group(number).column(leaf)
            assert chunk[5, LONG] == other.num_values
            assert chunk[7, LONG] == other.total_compressed_size
            assert chunk[9, LONG] == other.data_page_offset
            assert chunk.get((11, LONG)) == other.dictionary_page_offset


def test_all_pages_of_a_column_are_seen():
    rows = pa.table({"t": np.arange(50_000), "x": np.arange(50_000) / 1e3, "y": np.zeros(50_000)})
    content = parquet(rows, data_page_size=1 << 12, compression="zstd", write_page_index=True)
    [group] = pq.ParquetFile(io.BytesIO(content)).metadata.to_dict()["row_groups"]
    stream = io.BytesIO(content)
    for column in group["columns"]:
        at = column["dictionary_page_offset"] or column["data_page_offset"]
        stop, values = at + column["total_compressed_size"], 0
        while at < stop:
            header, length = page_header(stream, at)
            values += header.get((5, STRUCT), {}).get((1, INT), 0)
            at += length + header[3, INT]
        assert (at, values) == (stop, 50_000)


def test_absurd_numbers_of_rows_are_refused():
    content = parquet(table())
    for absurd in (2**40, -1, 2**62):
        with pytest.raises(UnusableFileError, match=rf"malformed Parquet: it claims {absurd} rows"):
            rows_of(with_footer(content, b"\x16" + varint(3) + b"\x19", b"\x16" + varint(absurd) + b"\x19"))


def test_a_page_that_unpacks_to_more_than_traces_do_is_refused(monkeypatch):
    zeros = np.zeros(1 << 18)
    content = parquet(pa.table({"t": zeros, "y": zeros, "x": zeros}), compression="zstd", use_dictionary=False)
    assert len(content) < 10_000
    assert rows_of(content) == 1 << 18  # 6 MiB are no harm
    monkeypatch.setattr(packed, "UNPACKED", 1 << 16)
    with pytest.raises(UnusableFileError, match=r"malformed Parquet: \d+ bytes claim to unpack to \d{6,}"):
        rows_of(content)


def test_a_page_that_claims_more_bytes_than_the_file_has_is_refused(monkeypatch):
    content = parquet(table())

    def claiming(stream, at):
        header, own = page_header(stream, at)
        return header | {(3, INT): len(content)}, own

    assert rows_of(content)
    monkeypatch.setattr(parquet_pages, "page_header", claiming)
    with pytest.raises(UnusableFileError, match="a page has more bytes than the file"):
        rows_of(content)


def test_columns_that_lie_over_each_other_are_refused(monkeypatch):
    content = parquet(pa.concat_tables([table()] * 99), row_group_size=3)
    stream = io.BytesIO(content)
    footer, _ = footer_of(stream, len(content))
    footer[4, LIST] = footer[4, LIST] * 99
    with pytest.raises(UnusableFileError, match="its columns have more bytes than the file"):
        look_at_pages(stream, footer, ALL, len(content))
    monkeypatch.setattr(packed, "PIECES", 9)
    with pytest.raises(UnusableFileError, match="more than 9 pieces"):
        rows_of(content)


def with_room_taken(content: bytes, look: Callable[[pd.DataFrame], Any]) -> tuple[list[Any], int]:
    """What is seen in each block, which does not outlive the library's memory, and the most bytes that it held."""
    room = pa.proxy_memory_pool(usual := pa.default_memory_pool())
    pa.set_memory_pool(room)
    try:
        return [look(block) for block in read_parquet(io.BytesIO(content))], room.max_memory()
    finally:
        pa.set_memory_pool(usual)


def test_a_name_that_is_repeated_takes_its_room_once():
    count = 15_000  # of a name of 1 MiB: 15 GiB if they were written out
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, "i4")), pa.array(["x" * (1 << 20)]))
    zeros = np.zeros(count)
    content = parquet(pa.table({"user": names, "t": zeros, "y": zeros, "x": zeros}))
    assert len(content) < 1 << 18
    missing, taken = with_room_taken(content, lambda block: block["user_id"].isna().sum())
    assert sum(missing) == count
    assert taken < 1 << 26


def test_a_name_that_is_repeated_before_others_takes_its_room_once():
    names = ["x" * (1 << 16)] * 400 + [f"user {n}" for n in range(4000)]
    zeros = np.zeros(len(names))
    options = {"dictionary_pagesize_limit": 1 << 10, "write_batch_size": 400}  # looks at the limit after so many rows
    content = parquet(pa.table({"user": names, "t": zeros, "y": zeros, "x": zeros}), **options)
    stream = io.BytesIO(content)
    assert look_at_pages(stream, footer_of(stream, len(content))[0], ["user"], len(content)).written_out == {"user"}
    missing, taken = with_room_taken(content, lambda block: block["user_id"].isna().sum())
    assert sum(missing) == 400
    assert taken < 400 << 15  # half of what they take if they are written out


def test_points_that_all_differ_take_the_room_of_a_batch(monkeypatch):
    count = 1 << 17
    places = pa.array([well_known(6 + n / count, 46) for n in range(count)])
    rows = pa.table({"t": np.zeros(count), "geometry": places})
    content = parquet(rows, row_group_size=count, dictionary_pagesize_limit=1 << 14)
    monkeypatch.setattr(columnar, "BLOCK", 1 << 10)
    found, taken = with_room_taken(content, lambda block: block["longitude"].to_numpy(copy=True))
    assert np.concatenate(found) == pytest.approx(6 + np.arange(count) / count)
    assert taken < 21 * count  # less than the points alone


@pytest.mark.parametrize(
    ("encodings", "values", "told"),
    [
        ([8, 2], 100, False),  # in a dictionary throughout
        ([8, 0, 6], 100, True),
        ([0, 0], 100, True),
        ([0, 8], 100, False),  # what the dictionary holds does not come with the first row
        ([8, 0], 1, False),  # long texts
    ],
)
def test_texts_are_written_out_after_the_dictionary_if_they_are_short(monkeypatch, encodings, values, told):
    for kind, (place, encoding) in parquet_pages.DATA.items():
        headers = iter(
            {(1, INT): kind, (2, INT): 5000, (3, INT): 50, (place, STRUCT): {(1, INT): values, (encoding, INT): code}}
            for code in encodings
        )
        monkeypatch.setattr(parquet_pages, "page_header", lambda *_, headers=headers: (next(headers), 0))
        chunk = {(3, LIST): [b"geometry"], (5, LONG): 1 << 20, (7, LONG): 50 * len(encodings), (9, LONG): 4}
        footer = {(4, LIST): [{(1, LIST): [{(3, STRUCT): chunk}]}]}
        pages = look_at_pages(io.BytesIO(), footer, ["geometry"], 1 << 20)
        assert pages.written_out == ({"geometry"} if told else set())


def test_texts_that_share_their_beginnings_are_unpacked_a_few_at_a_time(monkeypatch):
    rows = pa.concat_tables([table(user_id=[f"{'x' * 900}{n}" for n in range(3)])] * 20)
    content = parquet(rows, **SHARED)
    stream = io.BytesIO(content)
    footer, _ = footer_of(stream, len(content))
    assert look_at_pages(stream, footer, ALL, len(content)).sharing == {"user_id"}
    monkeypatch.setattr(parquet_pages, "BATCH", 1 << 14)
    blocks = list(read_parquet(io.BytesIO(content)))
    assert sum(map(len, blocks)) == 60
    assert max(map(len, blocks)) < 20


@pytest.mark.parametrize(
    "end",
    [b"", b"PAR1", b"\0\0\0\0PAR1", b"\xff\xff\xff\xffPAR1", b"\xff\xff\xff\x7fPAR1", b"\1\0\0\0PAR1", b"\x15PAR1"],
)
def test_a_damaged_end_is_told(end):
    for start in (parquet(table())[:200], b"PAR1"):
        with pytest.raises(UnusableFileError, match="malformed Parquet"):
            rows_of(start + end)


@pytest.mark.parametrize(
    "data", [b"\x1c" * 99, b"\x19\xfc" + b"\xff" * 99, b"\x05" + b"\xff" * 99, b"\x19\x1c" * 50, b"\x1e\0", b"\x1b\1"]
)
def test_structures_without_end_are_told(data):
    with pytest.raises((UnusableFileError, IndexError)):
        fields_of(data, 0, 0)


GLOBE = pa.array([well_known(x, y) for x, y in zip(LONGITUDE, LATITUDE, strict=True)])
SAMPLES = [
    parquet(table(), compression=None),
    parquet(table(), compression="zstd", data_page_version="2.0"),
    parquet(table(), **SHARED),
    parquet(points(GLOBE, encoding="WKB")),
]


@settings(max_examples=200)
@given(content=mangled(*SAMPLES))
def test_any_bytes_give_rows_or_are_refused(content):
    try:
        blocks = list(read_parquet(io.BytesIO(content)))
    except UnusableFileError:
        return
    assert all(set(block.columns) <= {*ALL, "geometry"} for block in blocks)
