"""GeoJSON gives the positions of its features, the times beside them, and who they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.json_exports import COLLECTION, FEATURE, LINE, read

POINT_ROW = (46.519, 6.566, "2024-05-06T06:14:00Z", None, 12.0, None)
LINE_ROWS = [
    (46.52, 6.567, "2024-05-06T07:00:00Z", None, None, None),
    (46.521, 6.568, "2024-05-06T07:01:00Z", None, None, None),
]


def feature(kind: str, coordinates: object, **said: object) -> dict:
    return {"type": "Feature", "geometry": {"type": kind, "coordinates": coordinates}, "properties": said}


def test_a_collection_gives_points_and_lines():
    assert read("geojson", COLLECTION) == [(1, *POINT_ROW), (2, *LINE_ROWS[0]), (3, *LINE_ROWS[1])]


def test_features_alone_and_one_after_another_are_read():
    assert read("geojson", LINE) == [(1, *LINE_ROWS[0]), (2, *LINE_ROWS[1])]
    text = json.dumps(FEATURE, indent=1) + "\n" + json.dumps(LINE)
    assert read("geojson", text) == read("geojson", COLLECTION)


def test_the_type_may_stand_last():
    assert read("geojson", dict(reversed(COLLECTION.items()))) == read("geojson", COLLECTION)
    assert read("geojson", dict(reversed(LINE.items()))) == read("geojson", LINE)


@pytest.mark.parametrize("name", ["timestamp", "time", "datetime", "tracked_at", "t", "Time", " T "])
@pytest.mark.parametrize("value", ["2024-05-06T06:14:00Z", 1714975989])
def test_a_time_is_found_under_every_name_of_a_table(name, value):
    (row,) = read("geojson", feature("Point", [6.5, 46.5], **{name: value}))
    assert row[3] == value


@pytest.mark.parametrize("name", ["user_id", "uid", "user", "UID"])
def test_a_user_is_found_under_every_name_of_a_table(name):
    (row,) = read("geojson", feature("Point", [6.5, 46.5], t=5, **{name: "anna"}))
    assert row[6] == "anna"


def test_times_of_a_line_are_found_under_every_name():
    times = ["a", "b"]
    for name in ("coordTimes", "times", "timestamps"):
        rows = read("geojson", feature("LineString", [[1, 2], [3, 4]], **{name: times}))
        assert [row[1:4] for row in rows] == [(2, 1, "a"), (4, 3, "b")]
    rows = read("geojson", feature("MultiPoint", [[1, 2], [3, 4]], coordinateProperties={"times": times}))
    assert [row[1:4] for row in rows] == [(2, 1, "a"), (4, 3, "b")]


def test_lines_of_one_feature_keep_their_times_apart():
    lines = [[[1, 2], [3, 4]], [[5, 6]], [[7, 8]]]
    rows = read("geojson", feature("MultiLineString", lines, coordTimes=[["a", "b"], ["c"]]))
    assert [row[1:4] for row in rows] == [(2, 1, "a"), (4, 3, "b"), (6, 5, "c"), (8, 7, None)]


@pytest.mark.parametrize("times", [["a"], ["a", "b", "c"], "ab", None, {"a": "b"}])
def test_times_that_do_not_match_the_positions_are_not_used(times):
    rows = read("geojson", feature("LineString", [[1, 2], [3, 4]], coordTimes=times))
    assert [row[1:4] for row in rows] == [(2, 1, None), (4, 3, None)]


@pytest.mark.parametrize(
    "geometry",
    [
        None,
        3,
        [],
        {},
        {"type": "Point"},
        {"type": "Point", "coordinates": []},
        {"type": "Point", "coordinates": [1]},
        {"type": "Point", "coordinates": {"0": 1}},
        {"type": "Point", "coordinates": [[1, 2], [3, 4]]},
        {"type": "LineString", "coordinates": []},
        {"type": "LineString", "coordinates": "ab"},
        {"type": "MultiLineString", "coordinates": [[], 3]},
        {"type": "Polygon", "coordinates": [[[1, 2], [3, 4], [5, 6], [1, 2]]]},
        {"type": ["Point"], "coordinates": [1, 2]},
    ],
)
def test_a_feature_without_a_position_is_one_row_without_degrees(geometry):
    (row,) = read("geojson", {"type": "FeatureCollection", "features": [FEATURE | {"geometry": geometry}]})
    assert row[1:3] == (None, None)


@pytest.mark.parametrize("wrong", [None, 3, "text", [], True, {"time": [], "uid": {}, "accuracy": "far"}])
def test_wrong_types_are_missing_values(wrong):
    assert read("geojson", {"features": [wrong], "type": "FeatureCollection"}) == [(1, *[None] * 6)]
    assert read("geojson", FEATURE | {"properties": wrong}) == [(1, 46.519, 6.566, *[None] * 4)]


places = st.tuples(st.floats(-90, 90), st.floats(-180, 180))
stamps = st.one_of(st.text(), st.integers(0, 2**40))


@settings(max_examples=60)
@given(lines=st.lists(st.tuples(st.lists(st.tuples(places, stamps), min_size=1), st.text(min_size=1)), min_size=1))
def test_what_is_written_is_read_back(lines):
    features = [
        feature("LineString", [[east, north, 0] for (north, east), _ in line], times=[t for _, t in line], user=user)
        if len(line) > 1
        else feature("Point", [line[0][0][1], line[0][0][0]], time=line[0][1], user=user)
        for line, user in lines
    ]
    found = read("geojson", {"type": "FeatureCollection", "features": features})
    wanted = [(*place, time, user) for line, user in lines for place, time in line]
    assert [(*row[1:4], row[6]) for row in found] == wanted
