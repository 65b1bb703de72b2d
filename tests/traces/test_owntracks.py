"""OwnTracks gives its locations from lines and documents, and counts damaged lines."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.errors import UnusableFileError
from hideseek.traces.json_stream import LONGEST, PIECE
from hideseek.traces.owntracks import lines_of
from tests.support.json_exports import LOCATION, REC, SHAPES, read

FIX = (46.519, 6.566, 1714975989, None, 8.0, None)


def test_rec_lines_with_tabs_and_spaces_give_locations_only():
    assert read("owntracks", REC) == [(1, *FIX), (3, 46.52, 6.567, 1714976109, None, None, None)]


@pytest.mark.parametrize("shape", ["array", "answer", "lines", "alone"])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_gives_the_same_in_every_shape(shape, indent):
    text = SHAPES["owntracks"][shape]
    text = text if shape == "lines" else json.dumps(json.loads(text), indent=indent)
    assert read("owntracks", text)[0] == (1, *FIX)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])
def test_lines_end_in_any_way(ends):
    rows = read("owntracks", "\ufeff" + REC.replace("\n", ends))
    assert [row[1:] for row in rows] == [row[1:] for row in read("owntracks", REC)]
    assert [row[0] for row in rows] == ([1, 5] if len(ends.replace("\r\n", "\n")) == 2 else [1, 3])


@pytest.mark.parametrize(
    "line",
    [
        b"2024-05-06T06:13:09Z\t*\t{",
        b'2024-05-06T06:13:09Z\t*\t{"_type":"location","lat":NaN}',
        b'2024-05-06T06:13:09Z\t*\t{"_type":"location","lat":1',
        b"\xff\xfe",
        b"hello",
        b"[1]",
        b"3",
        b"null",
        b"[" * 5000,
        b'{"_type":"location","lat":"\xff"}',
        b'2024\xff-05-06T06:13:09Z * {"_type":"location"}',
    ],
)
def test_a_damaged_line_is_a_row_without_values(line):
    rows = read("owntracks", REC.encode() + line + b"\n" + REC.encode())
    assert [row[0] for row in rows] == [1, 3, 4, 5, 7]
    assert rows[2] == (4, *[None] * 6)


def test_other_messages_are_left_out():
    kinds = ["lwt", "transition", "waypoint", "encrypted", "card", None, 3]
    others = [LOCATION | {"_type": kind} for kind in kinds] + [{"lat": 1, "lon": 2}]
    assert read("owntracks", others) == []
    assert read("owntracks", "\n".join(map(json.dumps, others))) == []


def test_a_location_without_a_time_has_that_of_its_line():
    text = '2024-05-06T06:13:09Z\t*\t{"_type":"location","lat":1,"lon":2}\n{"_type":"location","lat":1,"lon":2}\n'
    assert [row[3] for row in read("owntracks", text)] == ["2024-05-06T06:13:09Z", None]


def test_wrong_types_are_missing_values():
    wrong = {"_type": "location", "lat": [], "lon": True, "tst": {}, "acc": "far"}
    assert read("owntracks", [wrong, 7]) == [(1, *[None] * 6), (2, *[None] * 6)]


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_lines_do_not_depend_on_how_the_file_is_cut(ends):
    content = ends.join([b"one", b"", b"two", b"three"])
    for size in range(1, len(content) + 1):
        pieces = [content[at : at + size] for at in range(0, len(content), size)]
        assert list(lines_of(pieces)) == [b"one", b"", b"two", b"three"]
    long = ends.join([b"x" * 1000] * (2 * LONGEST // 1000))
    assert {len(line) for line in lines_of([long[at : at + PIECE] for at in range(0, len(long), PIECE)])} == {1000}


def test_a_line_without_an_end_is_refused():
    with pytest.raises(UnusableFileError, match="malformed OwnTracks: a line of more than"):
        read("owntracks", REC + "x" * (LONGEST + 2 * PIECE))


def test_a_document_cut_short_is_refused():
    for shape in ("array", "answer", "alone"):
        with pytest.raises(UnusableFileError, match=r"malformed OwnTracks: it ends too early, after \d+ bytes"):
            read("owntracks", SHAPES["owntracks"][shape][:-2])


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.integers(0, 2**40)), min_size=1),
    shape=st.sampled_from(["rec", "old rec", "lines", "array", "data"]),
)
def test_what_is_written_is_read_back(rows, shape):
    messages = [{"_type": "location", "lat": north, "lon": east, "tst": time} for north, east, time in rows]
    if shape in ("array", "data"):
        content = json.dumps(messages if shape == "array" else {"count": len(rows), "data": messages})
    else:
        before = {"rec": "2020-01-01T00:00:00Z\t*\t", "old rec": "2020-01-01T00:00:00Z  *  ", "lines": ""}[shape]
        content = "".join(before + json.dumps(message) + "\n" for message in messages)
    assert [row[1:4] for row in read("owntracks", content)] == rows
