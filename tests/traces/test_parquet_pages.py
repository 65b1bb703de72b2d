"""Parquet files that claim more than they hold, or unpack to more than traces do, are refused before they are read."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from hideseek.errors import UnusableFileError
from hideseek.traces import packed, parquet_pages
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


def test_a_name_that_is_repeated_takes_its_room_once():
    count = 15_000  # of a name of 1 MiB: 15 GiB if they were written out
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, "i4")), pa.array(["x" * (1 << 20)]))
    zeros = np.zeros(count)
    content = parquet(pa.table({"user": names, "t": zeros, "y": zeros, "x": zeros}))
    assert len(content) < 1 << 18
    room = pa.proxy_memory_pool(usual := pa.default_memory_pool())
    pa.set_memory_pool(room)
    try:
        assert sum(block["user_id"].isna().sum() for block in read_parquet(io.BytesIO(content))) == count
    finally:
        pa.set_memory_pool(usual)
    assert room.max_memory() < 1 << 26


def test_texts_that_share_their_beginnings_are_unpacked_a_few_at_a_time(monkeypatch):
    rows = pa.concat_tables([table(user_id=[f"{'x' * 900}{n}" for n in range(3)])] * 20)
    content = parquet(rows, **SHARED)
    stream = io.BytesIO(content)
    footer, _ = footer_of(stream, len(content))
    assert look_at_pages(stream, footer, ALL, len(content))[1] == {"user_id"}
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
