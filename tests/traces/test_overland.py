"""Overland's batches give fixes and visits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_exports import FEATURE, OVERLAND, read

ROWS = [
    (1, 46.519, 6.566, "2024-05-06T06:14:00Z", None, 12.0, None),
    (2, 46.52, 6.567, "2024-05-06T07:00:00Z", "2024-05-06T09:00:00Z", None, None),
]


def test_fixes_and_visits_are_rows_and_features_without_geometry_are_not():
    assert read("overland", OVERLAND) == ROWS


def test_batches_may_follow_one_another():
    rows = read("overland", json.dumps(OVERLAND, indent=1) + "\n" + json.dumps(OVERLAND))
    assert [row[1:] for row in rows] == [row[1:] for row in ROWS * 2]
    assert [row[0] for row in rows] == [1, 2, 3, 4]


@pytest.mark.parametrize("end", [None, True, [], {}])
def test_a_visit_that_has_not_ended_is_a_fix(end):
    said = {"timestamp": "2024-05-06T09:00:01Z", "arrival_date": "2024-05-06T07:00:00Z", "departure_date": end}
    (row,) = read("overland", {"locations": [FEATURE | {"properties": said}]})
    assert row[3:5] == ("2024-05-06T09:00:01Z", None)


@pytest.mark.parametrize("wrong", [3, "text", [], [1], ["a", "b"], [[], {}]])
def test_wrong_types_are_missing_values(wrong):
    nothing = [(1, *[None] * 6)]
    assert read("overland", {"locations": [wrong]}) == nothing
    assert read("overland", {"locations": [{"geometry": wrong, "properties": wrong}]}) == nothing
    assert read("overland", {"locations": [{"geometry": {"coordinates": wrong}}]}) == nothing


@pytest.mark.parametrize("feature", [{}, {"geometry": None}, {"type": "Feature", "properties": {"type": "note"}}])
def test_a_feature_that_says_no_place_is_left_out(feature):
    assert read("overland", {"locations": [feature, FEATURE]}) == ROWS[:1]


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.text(), st.floats(0, 1e6))))
def test_what_is_written_is_read_back(rows):
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [east, north]},
            "properties": {"timestamp": time, "horizontal_accuracy": accuracy},
        }
        for north, east, time, accuracy in rows
    ]
    found = read("overland", json.dumps({"locations": features}, ensure_ascii=False))
    assert [(*row[1:4], row[5]) for row in found] == rows
