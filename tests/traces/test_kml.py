"""KML files give their fixes and their stretches."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.errors import UnusableFileError
from hideseek.traces import kml
from hideseek.traces.kml import looks_like_kml, read_kml
from tests.support.trace_files import GPX, sifted
from tests.support.xml_files import KML, KML_FIX, KML_HEAD, KML_LINE, KML_STAY, KML_TAIL, KML_TRACK, KML_WAY, TCX


def read(*placemarks: str) -> pd.DataFrame:
    stream = io.BytesIO("".join([KML_HEAD, *placemarks, KML_TAIL]).encode())
    return pd.concat(list(read_kml(stream)))


def rows(*placemarks: str) -> list[tuple[object, ...]]:
    return list(read(*placemarks).itertuples(index=False, name=None))


def test_a_point_with_a_time_is_a_fix():
    assert rows(KML_FIX) == [(46.5, 6.5, "2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z")]


def test_a_point_with_a_span_of_time_is_a_stretch():
    assert rows(KML_STAY) == [(46.6, 6.6, "2020-01-01T11:00:00+01:00", "2020-01-01T12:00:00+01:00")]


@pytest.mark.parametrize("gone", ["begin", "end"])
def test_a_span_that_is_open_on_one_side_is_a_fix(gone):
    start, finish = KML_STAY.index(f"<{gone}>"), KML_STAY.index(f"</{gone}>")
    [(_, _, tracked_at, finished_at)] = rows(KML_STAY[:start] + KML_STAY[finish + len(f"</{gone}>") :])
    assert tracked_at == finished_at == f"2020-01-01T{'12' if gone == 'begin' else '11'}:00:00+01:00"


def test_a_line_with_a_span_of_time_gives_its_two_ends():
    begin, end = "2020-01-01T13:00:00Z", "2020-01-01T14:00:00Z"
    assert rows(KML_WAY) == [(46.6, 6.6, begin, begin), (46.7, 6.7, end, end)]


def test_a_long_line_gives_its_two_ends_all_the_same():
    way = KML_WAY.replace("6.65,46.65,0", "6.65,46.65,0 " * 100_000)
    assert rows(way) == rows(KML_WAY)


def test_a_point_stands_for_the_line_beside_it():
    both = KML_STAY.replace("<TimeSpan>", "<LineString><coordinates>1,1 2,2</coordinates></LineString><TimeSpan>")
    assert rows(both) == rows(KML_STAY)


def test_a_line_without_times_is_passed_over_or_told_where_it_is_all():
    assert rows(KML_LINE, KML_FIX) == rows(KML_FIX)
    with pytest.raises(UnusableFileError, match="malformed KML: none of its 2 lines has times"):
        rows(KML_LINE, KML_LINE)


def test_tracks_pair_times_and_places_in_either_order():
    expected = [(46.0 + n / 10, 6.0 + n / 10, f"2020-01-02T10:0{n - 1}:00Z") for n in range(1, 5)]
    assert [row[:3] for row in rows(KML_TRACK)] == expected
    other_prefix = KML_TRACK.replace("gx:", "kml-x:")
    assert rows(other_prefix) == rows(KML_TRACK)


def test_what_a_track_lacks_is_a_row_that_is_counted():
    short = KML_TRACK.replace("<gx:coord>6.2 46.2 0</gx:coord>", "").replace(">6.4 46.4<", "><")
    typed, skipped = sifted([read(short)])
    assert (len(typed), skipped) == (2, 2)


def test_a_track_whose_points_never_come_is_refused(monkeypatch):
    monkeypatch.setattr(kml, "WAITING", 3)
    with pytest.raises(UnusableFileError, match="more than 3 points that lack a time or a place"):
        rows(KML_TRACK.replace("<gx:coord>", "<when>2020-01-02T10:00:00Z</when>" * 4 + "<gx:coord>"))


@pytest.mark.parametrize("time", ["", "2020", "2020-01", "noon"])
def test_a_year_or_a_month_is_no_time(time):
    typed, skipped = sifted([read(KML_FIX.replace("2020-01-01T10:00:00Z", time))])
    assert (len(typed), skipped) == (0, 1)


def test_times_of_a_view_are_not_those_of_the_point():
    view = "<LookAt><gx:TimeStamp><when>1999-01-01T00:00:00Z</when></gx:TimeStamp></LookAt>"
    assert rows(KML_FIX.replace("</name>", f"</name>{view}")) == rows(KML_FIX)


@pytest.mark.parametrize("place", ["", "6.5", "east,north", "6.5;46.5", "nan,nan", "400,95", "1e999,1"])
def test_a_place_that_is_none_is_a_row_that_is_counted(place):
    if place:
        typed, skipped = sifted([read(KML_FIX.replace("6.5,46.5,400", place))])
        assert (len(typed), skipped) == (0, 1)
    else:
        assert rows(KML_FIX.replace("6.5,46.5,400", place), KML_STAY) == rows(KML_STAY)


def test_kml_is_told_from_other_xml():
    assert looks_like_kml(KML.encode())
    assert looks_like_kml(b"<kml:kml xmlns:kml='x'>")
    assert not any(looks_like_kml(text.encode()) for text in (GPX, TCX, "", "<kmlx>"))


@settings(max_examples=50)
@given(
    fixes=st.lists(
        st.tuples(
            st.floats(-90, 90),
            st.floats(-180, 180),
            st.datetimes(pd.Timestamp("1970-01-01"), pd.Timestamp("2200-01-01")),
        ),
        max_size=6,
    ),
    in_turns=st.booleans(),
)
def test_a_track_round_trip(fixes, in_turns):
    times = [f"<when>{time.isoformat()}Z</when>" for *_, time in fixes]
    places = [f"<gx:coord>{longitude!r} {latitude!r} 0</gx:coord>" for latitude, longitude, _ in fixes]
    pairs = zip(times, places, strict=True)
    inside = "".join(map("".join, pairs)) if in_turns else "".join(times + places)
    found = rows(KML_FIX, f"<Placemark><gx:Track>{inside}</gx:Track></Placemark>")[1:]
    assert [row[:3] for row in found] == [(*fix[:2], f"{fix[2].isoformat()}Z") for fix in fixes]
