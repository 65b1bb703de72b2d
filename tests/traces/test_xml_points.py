"""What harms XML parsers is refused, for every format that is written in XML."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings

from hideseek.errors import UnusableFileError
from hideseek.traces import xml_points
from hideseek.traces.kml import Placemarks
from hideseek.traces.tcx import Trackpoints
from hideseek.traces.xml_points import Elements, blocks_of
from tests.support.mangling import mangled
from tests.support.xml_files import KML, TCX

FILES = {"KML": (KML, Placemarks), "TCX": (TCX, Trackpoints)}


@pytest.fixture(params=sorted(FILES))
def sample(request):
    return FILES[request.param]


def rows(text: str, kind: type[Elements]) -> list[tuple[object, ...]]:
    blocks = blocks_of(io.BytesIO(text.encode()), kind())
    return [tuple(row) for rows in blocks for row in rows.itertuples(name=None)]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text[:-20], "no element found|unclosed token"),
        (lambda text: "", "no element found"),
        (lambda text: text.replace("\n<", '\n<!DOCTYPE x [<!ENTITY e "e">]><', 1), "document type"),
        (lambda text: f"<a>{'<b>' * 99}{'</b>' * 99}{text}</a>", "nested more than 64 deep"),
        (lambda text: text.replace("\n<", f"\n<!--{'x' * (3 << 20)}--><", 1), "bytes without an end"),
        (lambda text: text.replace("46.5", "46\0.5"), "not well-formed"),
    ],
    ids=["cut", "empty", "entities", "nested", "endless", "nul"],
)
def test_what_harms_parsers_is_refused(sample, change, why):
    text, kind = sample
    with pytest.raises(UnusableFileError, match=f"malformed {kind.name}: .*({why})"):
        rows(change(text), kind)


def test_a_file_gives_the_same_points_whatever_its_pieces(sample, monkeypatch):
    whole = rows(*sample)
    assert len(whole) > 2
    assert [row[0] for row in whole] == list(range(1, len(whole) + 1))
    for block in (1, 7, 100):
        monkeypatch.setattr(xml_points, "BLOCK", block)
        assert rows(*sample) == whole


def test_points_are_handed_over_in_tables_of_bounded_size(sample, monkeypatch):
    monkeypatch.setattr(xml_points, "ROWS", 2)
    text, kind = sample
    assert max(len(table) for table in blocks_of(io.BytesIO(text.encode()), kind())) == 2


def test_a_text_without_end_is_kept_only_as_far_as_it_may_be_a_time():
    elements = Elements()
    elements.begun("time", {})
    for _ in range(100):
        elements.said("x" * 999)
    assert sum(map(len, elements.words)) == xml_points.WORDIEST


def test_a_byte_order_mark_is_no_trouble(sample):
    text, kind = sample
    assert rows(f"\ufeff{text}", kind) == rows(text, kind)


@settings(max_examples=200)
@given(content=mangled(*(text.encode() for text, _ in FILES.values())))
def test_any_bytes_give_points_or_are_refused(content):
    for _, kind in FILES.values():
        try:
            tables = list(blocks_of(io.BytesIO(content), kind()))
        except UnusableFileError:
            continue
        assert all(tuple(table.columns) == kind.columns for table in tables)
