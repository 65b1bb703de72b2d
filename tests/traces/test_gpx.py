"""GPX files give their points, or are refused."""

from __future__ import annotations

from datetime import UTC

import gpxpy
import pandas as pd
import pytest

from hideseek.errors import TraceError, TraceWarning
from hideseek.traces.reading import read_traces
from tests.support.trace_files import GPX, assert_valid, put, reads_or_refuses, times


def test_gpx_times_become_utc_and_naive_ones_are_utc(tmp_path):
    table = read_traces(put(tmp_path, "run.gpx", GPX))
    assert_valid(table)
    assert times(table) == ["2020-01-01 09:00:00", "2020-01-01 10:00:00", "2020-01-01 12:00:00"]
    assert table["latitude"].tolist() == [46.6, 46.7, 46.5]
    assert set(table["user_id"]) == {"run"}


def test_gpx_gives_the_points_that_gpxpy_gives(tmp_path):
    extra = '<extensions><wpt lat="1" lon="1"><time>2020-01-01T00:00:00Z</time></wpt></extensions>'
    route = '<rte><rtept lat="1" lon="1"><time>2020-01-01T01:00:00Z</time></rtept></rte>'
    own = "<time>2020-01-01T10:00:00+01:00</time>"
    text = (
        GPX.replace("<trk>", f"{route}<trk><time>2020-01-01T02:00:00Z</time>{extra}")
        .replace(own, f"<name>caf&#233; &amp; bar</name>{own}{extra}")
        .replace("<ele>400</ele>", "<!-- <trkpt/> --><ele>400</ele>")
        .replace("2020-01-01T12:00:00Z", "2020-01-01T1<![CDATA[2:00:]]>00.5Z")
    )
    gpx = gpxpy.parse(text)
    found = [*gpx.waypoints, *(point for track in gpx.tracks for leg in track.segments for point in leg.points)]
    utc = [pd.Timestamp(point.time.replace(tzinfo=point.time.tzinfo or UTC)) for point in found]
    wanted = sorted(zip(utc, ((point.latitude, point.longitude) for point in found), strict=True))
    table = read_traces(put(tmp_path, "run.gpx", text))
    assert len(wanted) == 3
    assert (
        list(zip(table["tracked_at"], zip(table["latitude"], table["longitude"], strict=True), strict=True)) == wanted
    )


def test_gpx_points_without_a_time_are_counted_as_skipped(tmp_path):
    path = put(tmp_path, "run.gpx", GPX.replace("<time>2020-01-01T10:00:00</time>", ""))
    with pytest.warns(TraceWarning, match=r"1 of 3 rows .* run\.gpx, point 3: tracked_at must be a time"):
        table = read_traces(path)
    assert len(table) == 2


def test_gpx_offsets_of_a_day_and_more_are_skipped_rows(tmp_path):
    with pytest.warns(TraceWarning, match="1 of 3 rows"):
        read_traces(put(tmp_path, "run.gpx", GPX.replace("+01:00", "+99:00")))


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "no-such-thing"])
def test_an_encoding_that_a_gpx_file_only_claims_is_no_raw_error(tmp_path, encoding):
    reads_or_refuses(put(tmp_path, "run.gpx", GPX.replace("UTF-8", encoding)), None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GPX[:-20], "malformed GPX"),
        (GPX.replace('lat="46.5"', 'lat="north"'), "malformed GPX"),
        (GPX.replace("<gpx", '<!DOCTYPE gpx [<!ENTITY e "e">]><gpx'), "document type"),
        (GPX.replace("<wpt", f"<extensions>{'<a>' * 99}{'</a>' * 99}</extensions><wpt"), "nested"),
        ('<gpx version="1.1"></gpx>', "no rows"),
    ],
    ids=["cut", "latitude", "entities", "nested", "empty"],
)
def test_malformed_gpx_is_a_trace_error(tmp_path, text, why):
    with pytest.raises(TraceError, match=why):
        read_traces(put(tmp_path, "run.gpx", text))
