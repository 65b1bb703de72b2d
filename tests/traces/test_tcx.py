"""TCX files give the points of their activities."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from hideseek.traces.tcx import looks_like_tcx, read_tcx
from tests.support.trace_files import GPX, sifted
from tests.support.xml_files import KML, TCX


def rows(text: str) -> list[tuple[object, ...]]:
    return [
        tuple(row) for rows in read_tcx(io.BytesIO(text.encode())) for row in rows.itertuples(index=False, name=None)
    ]


def test_tcx_gives_the_points_of_activities_that_have_a_position():
    assert rows(TCX) == [
        (46.5, 6.5, "2020-01-01T10:00:00Z"),
        (46.6, 6.6, "2020-01-01T12:00:00+01:00"),
        (46.7, 6.7, "2020-01-01T12:00:00Z"),
    ]


def test_times_become_utc_in_the_table():
    typed, _ = sifted(read_tcx(io.BytesIO(TCX.encode())))
    assert typed["tracked_at"].dt.tz_convert("UTC").dt.hour.tolist() == [10, 11, 12]


def test_a_prefix_of_the_namespace_changes_nothing():
    prefixed = TCX.replace("</", "</t:").replace("<", "<t:").replace("<t:/t:", "</t:").replace("<t:?", "<?")
    assert rows(prefixed) == rows(TCX)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<LatitudeDegrees>46.5</LatitudeDegrees>", ""),
        (">46.5<", ">north<"),
        (">46.5<", ">95<"),
        (">46.5<", ">nan<"),
        ("<Time>2020-01-01T10:00:00Z</Time>", ""),
        ("<Time>2020-01-01T10:00:00Z</Time>", "<Time>9999-12-31T23:59:59Z</Time>"),
        ("<Time>2020-01-01T10:00:00Z</Time>", "<Time>1950-01-01T00:00:00Z</Time>"),
    ],
)
def test_a_point_that_breaks_a_rule_is_counted(old, new):
    assert old in TCX
    typed, skipped = sifted(read_tcx(io.BytesIO(TCX.replace(old, new).encode())))
    assert (len(typed), skipped) == (2, 1)


def test_tcx_is_told_from_other_xml():
    assert looks_like_tcx(TCX.encode())
    assert not any(looks_like_tcx(text.encode()) for text in (GPX, KML, "", "<TrainingCenterDatabases>"))


def test_a_file_of_courses_gives_no_rows():
    assert rows(TCX[: TCX.index("<Activities>")] + TCX[TCX.index("<Courses>") :]) == []
    assert pd.DataFrame(rows(TCX)).shape == (3, 3)
