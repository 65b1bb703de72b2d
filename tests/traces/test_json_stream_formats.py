"""Each JSON format is told from its first bytes, and from all others."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from hideseek.errors import UnusableFileError
from tests.support.json_exports import CASES, READERS, SHAPES, read
from tests.support.trace_files import BYTES, CAB, CSV, GPX, PLT
from tests.support.xml_files import KML, TCX

HEAD = 1 << 16


def recognised(head: bytes) -> list[str]:
    return [name for name, (_, looks) in READERS.items() if looks(head)]


def turned(value: object) -> object:
    """The same with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: turned(one) for key, one in reversed(value.items())}
    return [turned(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_a_format_is_told_from_all_others(name, shape):
    text = SHAPES[name][shape]
    assert recognised(text.encode()) == [name]
    assert recognised(b"\xef\xbb\xbf\r\n \t" + text.encode()) == [name]


@pytest.mark.parametrize(
    ("name", "shape"), [case for case in CASES if case[1] not in ("rec", "lines", "two", "features")]
)
def test_spaces_and_the_order_of_keys_do_not_matter(name, shape):
    document = json.loads(SHAPES[name][shape])
    for one in (document, turned(document)):
        for text in (json.dumps(one, indent=4), json.dumps(one, separators=(",", ":"))):
            assert recognised(text.encode()) == [name]
            assert [row[1:] for row in read(name, text)] != []


@pytest.mark.parametrize(
    ("name", "shape"),
    [case for case in CASES if case[1] not in ("rec", "lines", "two", "features", "alone", "feature")],
)
def test_a_long_file_is_told_from_its_first_bytes(name, shape):
    document = json.loads(SHAPES[name][shape])
    arrays = [document] if isinstance(document, list) else [one for one in document.values() if isinstance(one, list)]
    for array in arrays:
        array *= 1000
    for indent in (None, 2):
        text = json.dumps(document, indent=indent).encode()
        assert len(text) > HEAD
        assert recognised(text[:HEAD]) == [name]


@pytest.mark.parametrize(
    "content",
    [
        *(*(text.encode() for text in (CAB, CSV, GPX, PLT, KML, TCX)), *BYTES.values()),
        *(b"", b"[]", b"{}", b"null", b"3", b'"text"', b'{"locations": []}', b'{"locations": [{}]}', b"[[[["),
        *(b'{"name": "hideseek", "version": 3}', b'[{"id": 1, "visit": 3}]', b'{"data": [{"id": 1}], "count": 1}'),
        *(b'{"type": "Topology"}', b'{"log": {"entries": []}}', bytes(range(256)), b"\0" * 100),
    ],
)
def test_other_files_are_none_of_these(content):
    assert recognised(content) == []


@pytest.mark.parametrize(("name", "shape"), CASES)
@pytest.mark.parametrize("wrong", list(READERS))
def test_a_reader_of_another_format_gives_a_typed_error_or_rows(name, shape, wrong):
    with suppress(UnusableFileError):
        read(wrong, SHAPES[name][shape])
