"""The older Takeout gives its fixes and stretches."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_exports import RECORDS, SEMANTIC, read


def test_records_give_fixes_with_accuracy_and_either_time():
    assert read("records", RECORDS) == [
        (1, 46.519, 6.566, "2022-01-12T17:18:24.190Z", None, 20.0, None),
        (2, -33.7, -70.2, 1577872800.25, None, 1500.0, None),
    ]


def test_semantic_history_gives_visits_and_activities():
    assert read("semantic", SEMANTIC) == [
        (1, 46.521, 6.568, "2022-01-12T08:00:00Z", "2022-01-12T09:30:00.5Z", None, None),
        (2, 46.521, 6.568, 1641979800.0, None, None, None),
        (3, 46.53, 6.6, 1641981600.0, None, None, None),
        (4, 46.525, 6.58, "2022-01-12T09:45:00Z", None, 10.0, None),
    ]


def test_a_sign_lost_in_32_bits_is_mended():
    wrapped = {"latitudeE7": 2**32 - 337000000, "longitudeE7": 2**32 - 702000000, "timestampMs": "1577872800000"}
    assert read("records", {"locations": [wrapped]})[0][1:3] == (-33.7, -70.2)


@pytest.mark.parametrize(("north", "east"), [(900000000, 1800000000), (-900000000, -1800000000), (0, 0)])
def test_the_ends_of_the_globe_stay_where_they_are(north, east):
    (row,) = read("records", {"locations": [{"latitudeE7": north, "longitudeE7": east}]})
    assert row[1:3] == (north / 1e7, east / 1e7)


@pytest.mark.parametrize("location", [None, {}, {"placeId": "A"}, {"latitudeE7": "x", "longitudeE7": []}, [], 3])
def test_a_visit_without_a_location_takes_its_centre_or_none(location):
    visit = {"location": location, "duration": {"startTimestamp": "a", "endTimestamp": "b"}}
    assert read("semantic", {"timelineObjects": [{"placeVisit": visit}]}) == [(1, None, None, "a", "b", None, None)]
    visit |= {"centerLatE7": 465000000, "centerLngE7": 65000000}
    assert read("semantic", {"timelineObjects": [{"placeVisit": visit}]})[0][1:3] == (46.5, 6.5)


@pytest.mark.parametrize("wrong", [None, 3, "text", [], True, [{}]])
def test_wrong_types_give_rows_without_values(wrong):
    assert read("records", {"locations": [wrong]}) == [(1, *[None] * 6)]
    assert read("semantic", {"timelineObjects": [wrong]}) == [(1, *[None] * 6)]
    assert read("semantic", {"timelineObjects": [{"placeVisit": wrong, "activitySegment": wrong}]}) == []
    segment = {"startLocation": wrong, "endLocation": wrong, "duration": wrong, "simplifiedRawPath": {"points": wrong}}
    rows = read("semantic", {"timelineObjects": [{"activitySegment": segment}]})
    assert {row[1:] for row in rows} == {(None,) * 6}
    assert len(rows) == 2 + (wrong == [{}])


def test_a_time_that_is_no_number_of_milliseconds_is_missing():
    for stamp in ("soon", None, [], {}, True):
        (row,) = read("records", {"locations": [{"latitudeE7": 1, "longitudeE7": 1, "timestampMs": stamp}]})
        assert row[3] is None


fixes = st.tuples(
    st.integers(-900000000, 900000000),
    st.integers(-1800000000, 1800000000),
    st.integers(0, 4 * 10**12),  # milliseconds, into the year 2096
    st.integers(0, 4 * 10**12),
)


def iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


@settings(max_examples=60)
@given(rows=st.lists(fixes), old=st.booleans())
def test_what_is_written_is_read_back(rows, old):
    def times(**named: int) -> dict:
        return {f"{name}Ms" if old else name: str(value) if old else iso(value) for name, value in named.items()}

    records = [{"latitudeE7": n, "longitudeE7": e} | times(timestamp=start) for n, e, start, _ in rows]
    visits = [
        {
            "location": {"latitudeE7": north, "longitudeE7": east},
            "duration": times(startTimestamp=start, endTimestamp=end),
        }
        for north, east, start, end in rows
    ]
    fixes = read("records", {"locations": records})
    stretches = read("semantic", {"timelineObjects": [{"placeVisit": visit} for visit in visits]})
    assert [(row[1], row[2]) for row in fixes] == [(n / 1e7, e / 1e7) for n, e, *_ in rows]
    assert [row[1:3] for row in stretches] == [row[1:3] for row in fixes]
    wanted = [[one / 1000 if old else iso(one) for one in row[2:]] for row in rows]
    assert [[row[3]] for row in fixes] == [row[:1] for row in wanted]
    assert [list(row[3:5]) for row in stretches] == wanted
