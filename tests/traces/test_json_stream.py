"""Elements come out of JSON one at a time, as the standard library reads them, and nothing grows without bounds."""

from __future__ import annotations

import io
import json
import tracemalloc
from itertools import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.errors import UnusableFileError
from hideseek.traces import json_stream
from hideseek.traces.json_stream import (
    DEEPEST,
    LONGEST,
    PIECE,
    ROWS,
    blocks_of,
    elements,
    number,
    outline,
    pieces_of,
    plain,
)

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(1 - 2**63, 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=8),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
    max_leaves=20,
)


def cut(content: bytes, size: int) -> list[bytes]:
    return [content[at : at + size] for at in range(0, len(content), size)]


def read(content: str | bytes, *arrays: str, whole: bool = False) -> list:
    data = content.encode() if isinstance(content, str) else content
    return list(elements(pieces_of(io.BytesIO(data)), "test", arrays, whole=whole))


@settings(max_examples=200)
@given(
    document=st.dictionaries(st.sampled_from("abc"), values), indent=st.sampled_from([None, 1]), size=st.integers(1, 9)
)
def test_elements_are_those_of_the_standard_library(document, indent, size):
    pieces = cut(json.dumps(document, indent=indent).encode(), size)
    wanted = [one for key, value in document.items() if key in "ab" and isinstance(value, list) for one in value]
    assert list(elements(pieces, "test", ("a", "b"))) == wanted
    assert list(elements(pieces, "test", (), whole=True)) == [document]


@settings(max_examples=100)
@given(document=st.lists(values), size=st.integers(1, 9))
def test_an_outermost_array_is_asked_for_by_no_name(document, size):
    pieces = cut(json.dumps(document, ensure_ascii=False).encode(), size)
    assert list(elements(pieces, "test", ("", "a"))) == document
    assert list(elements(pieces, "test", ("a",))) == []


@settings(max_examples=100)
@given(
    documents=st.lists(st.dictionaries(st.sampled_from("abc"), values), min_size=1),
    between=st.sampled_from(["", " ", "\n"]),
)
def test_documents_may_follow_one_another(documents, between):
    text = between.join(map(json.dumps, documents))
    assert read(text, whole=True) == documents
    arrays = [document["a"] for document in documents if isinstance(document.get("a"), list)]
    assert read(text, "a") == [one for array in arrays for one in array]


@settings(max_examples=300)
@given(
    document=values.filter(lambda value: isinstance(value, list | dict)),
    at=st.integers(0, 200),
    length=st.integers(0, 3),
    piece=st.text('0123456789-+.,:eE"[]{} \\nulltrefas', max_size=4),
)
def test_what_the_standard_library_reads_is_read_alike(document, at, length, piece):
    def refuse(_: str) -> None:
        raise ValueError

    text = json.dumps(document, ensure_ascii=False)
    text = text[:at] + piece + text[at + length :]
    try:
        wanted = json.loads(text, parse_constant=refuse)
    except ValueError:
        return
    try:
        assert read(text, whole=True) == [wanted]
    except UnusableFileError:  # floating-point numbers and integers as the machine has them
        assert "inf" in repr(wanted) or any(len(digits) > 18 for digits in text.replace(",", " ").split())


def test_the_last_of_two_members_with_one_name_stays_but_arrays_add_up():
    assert read('{"a": [{"x": 1, "x": 2}], "a": [3]}', "a") == [{"x": 2}, 3]


def test_only_arrays_at_the_outermost_level_are_read():
    assert read('{"b": {"a": [1]}, "c": [{"a": [2]}], "a": {"a": [3]}}', "a") == []
    assert read('[{"a": [1]}]', "a") == []
    assert read('{"a": [1]} [2]', "a") == [1]


def test_a_byte_order_mark_and_white_space_do_no_harm():
    assert read(b"\xef\xbb\xbf \r\n\t[1, 2] \n", "") == [1, 2]


def test_a_stream_may_give_fewer_bytes_than_asked_for():
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 7))

    content = b"\xef\xbb\xbf" + json.dumps(list(range(50_000))).encode()
    pieces = list(pieces_of(Slow(content)))
    assert b"".join(pieces) == content[3:]
    assert {len(piece) for piece in pieces[1:-1]} == {PIECE}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b" \r\n", "the file is empty"),
        (b'{"a": [1, 2', "malformed test: it ends too early, after 11 bytes"),
        (b'{"a": [1, 2]', "malformed test: it ends too early, after 12 bytes"),
        (b'{"a": [1, "2', "malformed test: it ends too early, after 12 bytes"),
        (b'{"a": [NaN]}', "malformed test: no JSON.* between byte 0 and byte 12"),
        (b'{"a": [Infinity]}', "no JSON"),
        (b'{"a": [1e999]}', "a number beyond 64 bits"),
        (b'{"a": [' + b"9" * 5000 + b"]}", "a number beyond 64 bits"),
        (b'{"a": ["\xff"]}', "no JSON"),
        (b'{"a": [1]}\0', "no JSON"),
        (b'{"a": [1],}', "no JSON"),
        (b'{"a": [1]}]', "no JSON"),
        ('{"a": [1]}'.encode("utf-16"), "no JSON"),
        (b'{"a": [' + b"[" * DEEPEST + b"]" * DEEPEST + b"]}", f"nested {DEEPEST} deep"),
        (b'{"b": ' + b"[" * (1 << 20), f"nested {DEEPEST} deep"),
        (b'{"b":' * 100_000, f"nested {DEEPEST} deep"),
        (b'{"a": ["' + b"x" * 2 * LONGEST, f"more than {LONGEST} bytes without an end"),
        (b'{"' + b"x" * 2 * LONGEST, f"more than {LONGEST} bytes without an end"),
        (b'{"a": [' + b" " * 2 * LONGEST, f"more than {LONGEST} bytes without an end"),
        (b'{"a": [' + b"1" * 2 * LONGEST, f"more than {LONGEST} bytes without an end"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(content, why):
    with pytest.raises(UnusableFileError, match=why):
        read(content, "a")


def test_an_element_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(json_stream, "LARGEST", 4 * PIECE)
    endless = [b'{"a": [{"b": [', *repeat(b"[0]," * (PIECE // 4), 8)]
    fed = iter(endless)
    with pytest.raises(UnusableFileError, match=f"more than {4 * PIECE} bytes in one element"):
        list(elements(fed, "test", ("a",)))
    assert len(list(fed)) == 4
    assert list(elements([*endless, b"0]}]}"], "test", ("c",))) == []  # what nobody asks for is not kept


def test_memory_does_not_grow_with_the_file():
    one = b'{"point": "46.5\xc2\xb0, 6.5\xc2\xb0", "time": "2024-05-06T08:14:00.000+02:00"},' * 900
    pieces = [b'{"a": [', *repeat(one, 40), b"0]}"]
    tracemalloc.start()
    try:
        count = sum(1 for _ in elements(pieces, "test", ("a",)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 40 * 900 + 1
    assert peak < 30 * len(one)  # the events of one piece; those of the whole file are 40 times as many


def test_an_error_shows_nothing_of_the_file():
    for tail in ("", "x", "NaN", "]]", '"\\q"'):
        with pytest.raises(UnusableFileError) as caught:
            read('{"a": ["46.5112°, 6.5713°", ' + tail, "a")
        assert "46.5112" not in str(caught.value)
        assert caught.value.__suppress_context__


def test_rows_come_in_blocks_with_their_places():
    first, second = blocks_of(repeat((1.0, 2.0), ROWS + 2), ("latitude", "longitude"))
    assert (len(first), len(second)) == (ROWS, 2)
    assert second.index.tolist() == [ROWS + 1, ROWS + 2]
    assert second.index.name == "point"
    assert list(blocks_of([])) == []


def test_an_outline_names_what_stands_before_the_damage():
    head = b'{"a": [{"type": "T", "b": {"c": {"d": 1}}}], "e": ' + b" " * 3000 + b"NaN"
    assert outline(head) == {"a", "a.item.type", "a.item.type=T", "a.item.b", "a.item.b.c", "e"}
    assert outline(b"\xef\xbb\xbf" + head) == outline(head)
    assert outline(b'[{"type":"T"},') == {"item.type", "item.type=T"}
    assert outline(b'{"a":1}\n{"b":2}\n') == {"a", "b"}


def test_an_outline_of_anything_is_small():
    nested = b'{"' + b"k" * 30000 + b'":{' + b"".join(b'"%d":1,' % key for key in range(3000))
    for head in (b"", b"[" * 65536, b'{"":' * 16384, nested, bytes(range(256))):
        assert sum(map(len, outline(head))) < 10 * 65536


@given(st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none(), st.just([]), st.just({})))
def test_a_number_is_a_float_whatever_it_was(value):
    assert type(number(value)) is float
    assert plain(value) is value or plain(value) is None
