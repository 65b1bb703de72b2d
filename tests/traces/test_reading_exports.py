"""Whole exports as people have them: archives, folders of days and months, several formats beside one another."""

from __future__ import annotations

import json

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hideseek import MarkovProfile, Places
from hideseek.errors import TraceError, TraceWarning
from hideseek.traces.formats import FORMATS
from hideseek.traces.reading import read_traces
from hideseek.traces.user_store import spooled
from tests.support.columnar_files import LATITUDE, LONGITUDE, SECONDS, arrow, parquet, table
from tests.support.json_exports import LOCATION, SHAPES
from tests.support.trace_files import GPX, SAMPLES, assert_valid, gzipped, put, times, zipped

RECORDS, SEMANTIC = SHAPES["records"]["records"], SHAPES["semantic"]["semantic"]
TIMELINE, PHONE = SHAPES["timeline"]["android"], SHAPES["timeline"]["ios"]
HISTORY = "Takeout/Location History (Timeline)"
TAKEOUT = {
    f"{HISTORY}/Records.json": RECORDS,
    f"{HISTORY}/Semantic Location History/2022/2022_JANUARY.json": SEMANTIC,
    "Takeout/archive_browser.html": "<html></html>",
}
PASSED_OVER = rf"^files passed over: 1, the first: Takeout/archive_browser\.html: not recognised as {FORMATS[0]}"


def test_a_takeout_is_one_person_whose_visits_and_fixes_are_read(tmp_path):
    with pytest.warns(TraceWarning, match=PASSED_OVER):
        found = read_traces(put(tmp_path, "takeout-ann.zip", zipped(TAKEOUT)))
    assert_valid(found)
    assert found.attrs["report"].formats == {"google-records": 1, "google-semantic": 1}
    assert found.attrs["report"].inaccurate == 1  # that of 1500 m in the records
    assert set(found["user_id"]) == {"takeout-ann"}
    # by hand: a visit that ends in half a second, a way with a point on it, and a fix in the evening
    assert times(found) == [f"2022-01-12 {at}" for at in ("08:00:00", "09:30:00", "09:45:00", "10:00:00", "17:18:24")]
    stayed = (found["finished_at"] - found["tracked_at"]).dt.total_seconds().tolist()
    assert stayed == [5400.5, 0, 0, 0, 0]
    assert found["latitude"].tolist() == [46.521, 46.521, 46.525, 46.53, 46.519]


def test_two_takeouts_in_a_folder_are_two_people(tmp_path):
    for who in ("ann", "bob"):
        put(tmp_path, f"data/{who}.zip", zipped(TAKEOUT))
    with pytest.warns(TraceWarning, match="files passed over: 2"):
        assert set(read_traces(tmp_path / "data")["user_id"]) == {"ann", "bob"}


def test_a_takeout_elsewhere_is_read_as_it_is_here(tmp_path):
    path = put(tmp_path, "takeout.zip", zipped(TAKEOUT))
    store = fsspec.filesystem("memory")
    store.pipe_file("/exports/takeout.zip", path.read_bytes())
    with pytest.warns(TraceWarning, match=PASSED_OVER):
        pd.testing.assert_frame_equal(read_traces("memory://exports/takeout.zip"), read_traces(path))
    store.rm("/exports", recursive=True)


@pytest.mark.parametrize("text", [TIMELINE, PHONE], ids=["android", "ios"])
def test_a_timeline_is_the_same_alone_and_packed(tmp_path, text):
    alone = read_traces(put(tmp_path, "Timeline.json", text))
    packed = read_traces(put(tmp_path, "Timeline.json.gz", gzipped(text)))
    pd.testing.assert_frame_equal(alone, packed)
    assert alone.attrs["report"] == packed.attrs["report"]
    assert_valid(alone)
    report = alone.attrs["report"]
    assert (report.formats, report.utc_offset, report.without_offset) == ({"google-timeline": 1}, 120, 0)
    seen = {at[11:16]: where for at, where in zip(times(alone), alone["latitude"], strict=True)}
    assert seen | {"10:21": 46.531} == {
        "06:14": 46.519,
        "06:16": 46.52,
        "06:30": 46.521,
        "10:00": 46.521,
        "10:20": 46.53,
        "10:21": 46.531,
    }


def test_both_phones_say_the_same_of_one_day(tmp_path):
    android, phone = (read_traces(put(tmp_path, "day.json", text)) for text in (TIMELINE, PHONE))
    pd.testing.assert_frame_equal(android.iloc[:5], phone)  # Android has a raw signal besides


def test_months_of_owntracks_are_one_person_and_folders_are_people(tmp_path):
    for who in ("ann", "bob"):
        for month in ("05", "06"):
            fix = json.dumps(LOCATION | {"tst": int(pd.Timestamp(f"2024-{month}-01T12:00Z").timestamp())})
            put(tmp_path, f"{who}/2024-{month}.rec", f"2024-{month}-01T12:00:00Z\t*\t{fix}\n")
    found = read_traces(tmp_path / "ann")
    assert found["user_id"].tolist() == ["ann", "ann"]
    assert found.attrs["report"].formats == {"owntracks": 2}
    assert read_traces(tmp_path)["user_id"].tolist() == ["ann", "ann", "bob", "bob"]


def test_days_of_gpx_beside_a_timeline_are_one_person_and_both_are_said(tmp_path):
    for day in ("2024-03-01", "2024-03-02"):
        put(tmp_path, f"ann/{day}.gpx", GPX.replace("2020-01-01", day))
    put(tmp_path, "ann/Timeline.json", TIMELINE)
    found = read_traces(tmp_path / "ann")
    assert_valid(found)
    assert set(found["user_id"]) == {"ann"}
    assert len(found) == 3 + 3 + 6
    assert found.attrs["report"].formats == {"google-timeline": 1, "gpx": 2}
    with spooled(tmp_path / "ann") as spool:
        pd.testing.assert_frame_equal(spool["ann"], found)


def test_a_kmz_is_somebody_called_by_the_archive(tmp_path):
    packed = zipped({"doc.kml": SAMPLES["kml"]})
    alone = read_traces(put(tmp_path, "walks/ann.kmz", packed))
    assert alone.attrs["report"].formats == {"kml": 1}
    assert set(alone["user_id"]) == {"ann"}
    put(tmp_path, "walks/bob.kmz", packed)
    both = read_traces(tmp_path / "walks")
    assert set(both["user_id"]) == {"ann", "bob"}
    assert (both["finished_at"] - both["tracked_at"]).dt.total_seconds().tolist() == [3600, 3600]  # longer than the fix


@pytest.mark.parametrize("content", [parquet(table()), arrow(table()), arrow(table(), file=False)])
def test_columns_with_types_in_an_archive_are_read_as_they_are_outside(tmp_path, content):
    outside = read_traces(put(tmp_path, "fixes", content))
    for packed in (zipped({"a/fixes": content}), gzipped(content)):
        pd.testing.assert_frame_equal(read_traces(put(tmp_path, "packed", packed)), outside)
    assert outside["user_id"].tolist() == ["a", "a", "b"]


def odd(write):
    """Fixes under names that nobody could guess."""
    rows = {"wer": ["a", "b", "a"], "wann": SECONDS, "breite": LATITUDE, "laenge": LONGITUDE, "genau": [5, 900, 5]}
    return write(pa.table(rows))


@pytest.mark.parametrize(
    "write", [parquet, arrow, lambda rows: rows.to_pandas().to_csv(index=False)], ids=["parquet", "arrow", "csv"]
)
def test_columns_of_any_name_are_read_from_every_kind_of_table(tmp_path, write):
    path = put(tmp_path, "fixes", odd(write))
    which = {"time": "wann", "latitude": "breite", "longitude": "laenge", "user": "wer", "accuracy": "genau"}
    found = read_traces(path, columns=which)
    assert found["user_id"].tolist() == ["a", "a"]
    assert found.attrs["report"].inaccurate == 1
    assert read_traces(path, columns=which, accuracy="1km")["latitude"].tolist() == [46.5, -46.7, 46.6]
    with pytest.raises(TraceError, match=r"it lacks tracked_at \(known as .*\); .*its columns are wer, wann, breite"):
        read_traces(path)
    with pytest.raises(TraceError, match="no column 'when' for tracked_at; its columns are wer, wann, breite"):
        read_traces(path, columns=which | {"time": "when"})


SWAPPED_POINT = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [37.75, -122.39]},
    "properties": {"time": "2024-05-06T06:14:00Z"},
}


@pytest.mark.parametrize(
    "content",
    [
        parquet(table(latitude=[-122.4, -122.5, -122.6], longitude=[37.7, 37.8, 37.9])),
        json.dumps(SWAPPED_POINT),
        TIMELINE.replace("46.5", "146.5"),
        SAMPLES["kml"].replace(b"6.5,46.5", b"46.5,116.5").replace(b"6.6,46.6", b"46.6,116.6"),
        SAMPLES["tcx"].replace(b">46.", b">146."),
    ],
    ids=["parquet", "geojson", "google-timeline", "kml", "tcx"],
)
def test_degrees_that_look_swapped_are_said_to_whatever_the_format(tmp_path, content):
    with pytest.raises(TraceError, match="latitude and longitude look swapped"):
        read_traces(put(tmp_path, "fixes", content))


@pytest.mark.parametrize("content", ["{}", "[1]", '{"locations": {}}', "<html></html>", "hello", b"\x89PNG\r\n\x1a\n"])
def test_what_is_no_format_lists_all_that_were_looked_for(tmp_path, content):
    with pytest.raises(TraceError, match="not recognised as") as caught:
        read_traces(put(tmp_path, "file.json", content))
    assert all(name in str(caught.value) for name in FORMATS)


def visits(*rows):
    """A Timeline of visits, (start, end, degrees)."""
    return json.dumps(
        {
            "semanticSegments": [
                {
                    "startTime": f"2024-05-06T{start}:00.000+02:00",
                    "endTime": f"2024-05-06T{end}:00.000+02:00",
                    "visit": {"topCandidate": {"placeLocation": {"latLng": where}}},
                }
                for start, end, where in rows
            ]
        }
    )


def test_visits_fill_the_steps_that_a_profile_learns_from(tmp_path):
    home, work = "46.5°, 6.5°", "46.6°, 6.6°"
    path = put(tmp_path, "Timeline.json", visits(("10:00", "12:00", home), ("12:00", "13:00", work)))
    profile = MarkovProfile.fit(read_traces(path), Places([46.5, 46.6], [6.5, 6.6]), step="5min")
    # 24 steps at home and 12 at work; each is left once, and the end leads back to the start
    np.testing.assert_allclose(profile.transition, [[23 / 24, 1 / 24], [1 / 12, 11 / 12]], atol=1e-12)
    np.testing.assert_allclose(profile.stationary, [24 / 36, 12 / 36], atol=1e-12)


@pytest.mark.parametrize("year", [2034, 2924])
def test_a_visit_of_years_is_left_out_and_the_others_are_read(tmp_path, year):
    home = "46.5°, 6.5°"
    document = json.loads(visits(("10:00", "12:00", home), ("12:00", "13:00", home)))
    document["semanticSegments"][1]["endTime"] = f"{year}-05-06T13:00:00.000+02:00"
    rule = "finished_at must be a time, not before tracked_at and at most 366 days after it"
    with pytest.warns(TraceWarning, match=f"1 of 2 rows could not be read, the first: .*, point 2: {rule}"):
        found = read_traces(put(tmp_path, "Timeline.json", json.dumps(document)))
    assert (found["finished_at"] - found["tracked_at"]).dt.total_seconds().tolist() == [7200]
    assert found.attrs["report"].reasons == {rule: 1}
