"""The Timeline of either phone gives its fixes and stretches."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_exports import ANDROID, IOS, read
from tests.support.timeline_generator import write_timeline


def test_android_gives_paths_visits_activities_and_signals():
    assert read("timeline", ANDROID) == [
        (1, 46.519, 6.566, "2024-05-06T08:14:00.000+02:00", None, None, None),
        (2, 46.52, 6.567, "2024-05-06T08:16:00.000+02:00", None, None, None),
        (3, 46.521, 6.568, "2024-05-06T08:30:00.000+02:00", "2024-05-06T12:00:00.000+02:00", None, None),
        (4, 46.521, 6.568, "2024-05-06T12:00:00.000+02:00", None, None, None),
        (5, 46.53, 6.6, "2024-05-06T12:20:00.000+02:00", None, None, None),
        (6, 46.531, 6.601, "2024-05-06T12:21:00.000+02:00", None, 13.0, None),
    ]


def test_ios_gives_the_same_from_a_bare_array():
    assert read("timeline", IOS) == [
        (1, 46.521, 6.568, "2024-05-06T08:30:00.000+02:00", "2024-05-06T12:00:00.000+02:00", None, None),
        (2, 46.519, 6.566, "2024-05-06T06:14:00+00:00", None, None, None),
        (3, 46.52, 6.567, "2024-05-06T06:16:00+00:00", None, None, None),
        (4, 46.521, 6.568, "2024-05-06T12:00:00.000+02:00", None, None, None),
        (5, 46.53, 6.6, "2024-05-06T12:20:00.000+02:00", None, None, None),
    ]


def visit(place: object, **more: object) -> dict:
    candidate = {} if place is None else {"placeLocation": place}
    times = {"startTime": "2024-05-06T08:00:00Z", "endTime": "2024-05-06T09:00:00Z"}
    return times | {"visit": {"topCandidate": candidate} | more}


@pytest.mark.parametrize(
    ("place", "degrees"),
    [
        ({"latLng": "50.05°, 14.34°"}, (50.05, 14.34)),
        ({"latLng": "50.05,14.34"}, (50.05, 14.34)),
        ({"latLng": " -50.05 ° ,  -14.34 ° "}, (-50.05, -14.34)),
        ({"latLng": "\N{MINUS SIGN}50.05°, \N{MINUS SIGN}14.34°"}, (-50.05, -14.34)),
        ("geo:-50.05,-14.34", (-50.05, -14.34)),
        ("geo:50,14", (50.0, 14.0)),
        ({"latLng": "50,05°, 14,34°"}, (None, None)),
        ({"latLng": "50.05°"}, (None, None)),
        ({"latLng": ""}, (None, None)),
        ({"latLng": [50.05, 14.34]}, (None, None)),
        ({"latLng": "north, east"}, (None, None)),
        ({"latLng": "nan, inf"}, (None, float("inf"))),
        ([50.05, 14.34], (None, None)),
        (7, (None, None)),
        (None, (None, None)),
    ],
)
def test_degrees_are_read_as_phones_write_them_or_are_missing(place, degrees):
    assert [row[1:3] for row in read("timeline", [visit(place)])] == [degrees]
    assert [row[1:3] for row in read("timeline", {"semanticSegments": [visit(place)]})] == [degrees]


@pytest.mark.parametrize("level", [1, "1", 2])
def test_a_visit_inside_another_is_left_out(level):
    assert read("timeline", [visit("geo:1,2", hierarchyLevel=level)]) == []


@pytest.mark.parametrize("level", [0, "0", None, "outer"])
def test_an_outer_visit_is_a_stretch(level):
    (row,) = read("timeline", [visit("geo:1,2", hierarchyLevel=level)])
    assert row[3:5] == ("2024-05-06T08:00:00Z", "2024-05-06T09:00:00Z")


@pytest.mark.parametrize("minutes", [None, "soon", 1e300, -1e300, "nan", [], {}, True])
@pytest.mark.parametrize("start", ["2024-05-06T08:00:00Z", "noon", 5, None])
def test_a_point_whose_time_is_unknown_has_none(start, minutes):
    point = {"point": "geo:1,2", "durationMinutesOffsetFromStartTime": minutes}
    assert read("timeline", [{"startTime": start, "timelinePath": [point]}]) == [(1, 1.0, 2.0, *[None] * 4)]


def test_a_time_of_its_own_comes_before_an_offset():
    point = {"point": "geo:1,2", "time": "2024-05-06T08:05:00Z", "durationMinutesOffsetFromStartTime": "49"}
    (row,) = read("timeline", [{"startTime": "2024-05-06T08:00:00Z", "timelinePath": [point]}])
    assert row[3] == "2024-05-06T08:05:00Z"


@pytest.mark.parametrize("wrong", [None, 3, "text", [], {}, [[]], [{}], {"start": 3}, {"position": []}])
def test_wrong_types_give_rows_without_values_or_none(wrong):
    for kind in ("timelinePath", "visit", "activity", "position"):
        for row in read("timeline", [{kind: wrong}]):
            assert row[1:] == (None,) * 6
    assert len(read("timeline", {"semanticSegments": [wrong]})) == (not isinstance(wrong, dict))


zones = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=zones)
places = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.sampled_from(["visit", "path", "signal"]), places, times, times)), ios=st.booleans())
def test_what_is_written_is_read_back(rows, ios):
    def where(place):
        return f"geo:{place[0]!r},{place[1]!r}" if ios else f"{place[0]!r}°, {place[1]!r}°"

    segments, signals = [], []
    for kind, place, start, end in rows:
        if kind == "visit":
            location = where(place) if ios else {"latLng": where(place)}
            made = visit(location) | {"startTime": start.isoformat(), "endTime": end.isoformat()}
        elif kind == "path":
            made = {"startTime": start.isoformat(), "timelinePath": [{"point": where(place)}]}
            minutes = (end - start) / timedelta(minutes=1)
            when = {"durationMinutesOffsetFromStartTime": str(minutes)} if ios else {"time": end.isoformat()}
            made["timelinePath"][0] |= when
        else:
            made = {"position": {"LatLng": where(place), "timestamp": start.isoformat()}}
        (segments if ios or kind != "signal" else signals).append((made, kind, place, start, end))
    written = [made for made, *_ in segments]
    document = written if ios else {"rawSignals": [made for made, *_ in signals], "semanticSegments": written}
    found = read("timeline", document)
    wanted = segments if ios else signals + segments
    assert len(found) == len(wanted)
    for (_, latitude, longitude, began, finished, _, _), (_, kind, place, start, end) in zip(
        found, wanted, strict=True
    ):
        assert (latitude, longitude) == place
        # minutes as floating-point numbers are exact to a millisecond within these years
        told = datetime.fromisoformat(began).astimezone(UTC)
        assert abs(told - (end if kind == "path" else start)) < timedelta(milliseconds=1)
        assert finished == (end.isoformat() if kind == "visit" else None)


def test_every_row_of_a_generated_timeline_is_found():
    made = io.BytesIO()
    count = write_timeline(made, days=2)
    rows = read("timeline", made.getvalue())
    assert len(rows) == count.total()
    assert sum(row[4] is not None for row in rows) == count["visits"]
    assert sum(row[5] is not None for row in rows) == count["positions"]
    segments = json.loads(made.getvalue())["semanticSegments"]
    points = [point["time"] for segment in segments for point in segment.get("timelinePath", ())]
    assert len(points) == count["paths"]
    assert set(points) <= {row[3] for row in rows}
