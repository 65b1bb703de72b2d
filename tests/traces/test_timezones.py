"""The clock of a person: as given, as the data say, or from the longitude."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pandas as pd
import pytest

from hideseek import ParameterError
from hideseek.traces import local_zone, read_traces
from tests.support.trace_files import put

NOON = datetime(2024, 7, 1, 12, tzinfo=UTC)


def fixes(*longitudes, offset=None):
    times = pd.date_range("2024-01-01", periods=len(longitudes), freq="min", tz="UTC")
    table = pd.DataFrame({"user_id": "a", "tracked_at": times, "latitude": 46.5, "longitude": longitudes})
    table.attrs["report"] = SimpleNamespace(utc_offset=offset)
    return table


@pytest.mark.parametrize(
    ("longitude", "hours"), [(0.0, 0), (6.6, 0), (7.6, 1), (-122.4, -8), (116.4, 8), (180.0, 12), (-179.0, -12)]
)
def test_fifteen_degrees_are_an_hour(longitude, hours):
    zone, words = local_zone(fixes(longitude))
    assert zone.utcoffset(NOON) == timedelta(hours=hours)
    assert "longitude" in words


def test_the_mean_goes_across_the_date_line():
    zone, _ = local_zone(fixes(179.0, -178.5))
    assert abs(zone.utcoffset(NOON)) == timedelta(hours=12)


@pytest.mark.parametrize(
    ("minutes", "name"), [(120, "UTC+02:00"), (-210, "UTC-03:30"), (345, "UTC+05:45"), (0, "UTC+00:00")]
)
def test_the_offset_of_the_data_goes_before_the_longitude(minutes, name):
    zone, words = local_zone(fixes(-122.4, offset=minutes))
    assert zone.utcoffset(NOON) == timedelta(minutes=minutes)
    assert words == f"The time zone is {name}, as most times of the data have it."


def test_a_name_goes_before_everything_and_knows_the_summer():
    zone, words = local_zone(fixes(-122.4, offset=120), "Europe/Zurich")
    assert zone.utcoffset(NOON) == timedelta(hours=2)
    assert zone.utcoffset(NOON.replace(month=1)) == timedelta(hours=1)
    assert words == "The time zone is Europe/Zurich, as given."


def test_a_table_without_a_report_is_taken():
    table = fixes(6.6)
    table.attrs.clear()
    assert local_zone(table)[0].utcoffset(NOON) == timedelta(0)


@pytest.mark.parametrize(
    "name", ["", "Mars/Base", "../etc/passwd", "/etc/passwd", "a\0b", "x" * 5000, "Europe", "\ud800"]
)
def test_a_name_that_is_no_zone_is_refused(name):
    with pytest.raises(ParameterError, match="IANA"):
        local_zone(fixes(6.6), name)


def test_the_most_frequent_offset_of_a_file_is_the_zone(tmp_path):
    stamps = ["2024-07-01T10:00+02:00", "2024-07-01T11:00+0200", "2024-07-01T12:00Z", "2024-07-01T13:00-03"]
    text = "t,x,y\n" + "".join(f"{stamp},100,2\n" for stamp in stamps)
    zone, words = local_zone(read_traces(put(tmp_path, "a.csv", text)))
    assert zone.utcoffset(NOON) == timedelta(hours=2)
    assert words == "The time zone is UTC+02:00, as most times of the data have it."
