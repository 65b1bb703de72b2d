"""Arrow files that claim more than they hold, or unpack to more than traces do, are refused before they are read."""

from __future__ import annotations

import io
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from hideseek.errors import UnusableFileError
from hideseek.traces import arrow_messages, packed
from hideseek.traces.arrow_messages import FILE, RECORDS, message_at, refuse_messages
from hideseek.traces.columnar import read_arrow
from tests.support.columnar_files import LATITUDE, LONGITUDE, arrow, points, table, well_known
from tests.support.mangling import mangled


def rows_of(content: bytes) -> int:
    return sum(map(len, read_arrow(io.BytesIO(content))))


def records_in(content: bytes) -> list[int]:
    at, found = 0, []
    while message := message_at(io.BytesIO(content), at, len(content)):
        described, body, length = message
        if described.number(1, "B") == RECORDS:
            found.append(described.table(2).number(0, "q"))
        at = body + length
    return found


def test_the_messages_say_what_was_written():
    assert records_in(arrow(pa.concat_tables([table()] * 3).combine_chunks(), file=False, most=4)) == [4, 4, 1]


def test_absurd_numbers_of_rows_are_refused():
    content = arrow(table(user_id=None), file=False)
    for absurd in (2**40, -1, 2**62):
        changed = content.replace(struct.pack("<q", 3), struct.pack("<q", absurd))
        with pytest.raises(UnusableFileError, match=f"malformed Arrow: it claims {absurd} rows"):
            rows_of(changed)


def test_what_unpacks_to_more_than_traces_do_is_refused(monkeypatch):
    zeros = np.zeros(1 << 19)
    content = arrow(pa.table({"t": zeros, "y": zeros, "x": zeros}), compression="zstd")
    assert len(content) < 10_000
    assert rows_of(content) == 1 << 19  # 12 MiB are no harm
    monkeypatch.setattr(packed, "UNPACKED", 1 << 23)
    with pytest.raises(UnusableFileError, match=r"malformed Arrow: \d+ bytes claim to unpack to 12582912"):
        rows_of(content)


def test_the_size_that_is_claimed_is_the_one_that_counts():
    content = arrow(table(user_id=None), file=False, compression="zstd")
    last = content.rindex(struct.pack("<q", 24))  # the bytes of three numbers, in front of the last column
    with pytest.raises(UnusableFileError, match=r"bytes claim to unpack to 1125899906842\d+"):
        rows_of(content[:last] + struct.pack("<q", 2**50) + content[last + 8 :])


@pytest.mark.parametrize("size", [2**31 - 1, -5, 1, 2**24])
def test_a_message_that_is_longer_than_the_file_is_refused(size):
    content = arrow(table(), file=False)
    with pytest.raises(UnusableFileError, match="malformed Arrow"):
        rows_of(content[:4] + struct.pack("<i", size) + content[8:])


def test_a_file_that_is_cut_short_is_told_wherever_it_is_cut():
    for content in (arrow(table(), file=False), arrow(table(), compression="lz4")):
        whole = rows_of(content)
        assert whole == 3
        for stop in range(len(content)):
            try:
                assert rows_of(content[:stop]) in (0, whole)  # the mark at the end may be missing
            except UnusableFileError:
                continue


def test_dictionaries_that_grow_without_end_are_refused(monkeypatch):
    words = pa.array([f"word-{n}" for n in range(9)])
    packed_ = io.BytesIO()
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = table().schema.set(0, pa.field("user_id", kind))
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(packed_, schema, options=options) as writer:
        for known in range(3, 9):
            users = pa.DictionaryArray.from_arrays(pa.array([0, 1, known - 1], pa.int32()), words[:known])
            writer.write_table(table(user_id=users))
    content = packed_.getvalue()
    found = [name for block in read_arrow(io.BytesIO(content)) for name in block["user_id"]]
    assert found[2::3] == [f"word-{n}" for n in range(2, 8)]
    monkeypatch.setattr(arrow_messages, "EXTENSIONS", 4)
    with pytest.raises(UnusableFileError, match="extends its dictionaries more than 4 times"):
        rows_of(content)


def test_many_messages_are_refused(monkeypatch):
    monkeypatch.setattr(packed, "PIECES", 3)
    with pytest.raises(UnusableFileError, match="more than 3 pieces"):
        refuse_messages(io.BytesIO(content := arrow(table(), most=1)), len(FILE), len(content))


SAMPLES = [
    arrow(table(), file=False),
    arrow(table(user_id=pa.array(["a", "b", "a"]).dictionary_encode()), compression="lz4"),
    arrow(table(user_id=pa.array(["a", "b" * 30, "a"], pa.string_view()))),
    arrow(points(pa.array([well_known(x, y) for x, y in zip(LONGITUDE, LATITUDE, strict=True)]), encoding="WKB")),
]


@settings(max_examples=200)
@given(content=mangled(*SAMPLES))
def test_any_bytes_give_rows_or_are_refused(content):
    try:
        blocks = list(read_arrow(io.BytesIO(content)))
    except UnusableFileError:
        return
    assert all({"tracked_at"} <= set(block.columns) for block in blocks)
