"""The clock of a person: as given, as the data say, or from the longitude."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from importlib import resources
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

from hideseek import ParameterError
from hideseek.traces import local_zone, read_traces
from hideseek.traces.timezones import look_swapped
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


def place(latitude, longitude):
    return pd.DataFrame({"latitude": [latitude], "longitude": [longitude]})


def degrees(text):
    """Of +DDMM or +DDDMM, perhaps with seconds."""
    sign, whole, minutes, seconds = re.fullmatch(r"([-+])(\d{2,3}?)(\d\d)(\d\d)?", text).groups("0")
    return float(f"{sign}1") * (int(whole) + int(minutes) / 60 + int(seconds) / 3600)


def test_no_city_of_the_time_zone_database_looks_swapped():
    lines = resources.files("tzdata.zoneinfo").joinpath("zone.tab").read_text().splitlines()
    cities = [line.split("\t")[1:3] for line in lines if line and not line.startswith("#")]
    assert len(cities) > 400
    for where, name in cities:
        city = place(*map(degrees, re.findall(r"[-+]\d+", where)))
        for month in (1, 7):
            offset = ZoneInfo(name).utcoffset(datetime(2024, month, 1)) // timedelta(minutes=1)
            assert not look_swapped(city, offset), name


@pytest.mark.parametrize(
    ("latitude", "longitude", "hours"),
    [(39.5, 73.5, 8), (47.5, 135.0, 8), (43.0, -9.3, 2), (65.6, -168.1, -8), (-10.0, -150.2, 14), (21.0, -86.7, -5)],
    ids=["western China", "eastern China", "Galicia", "Alaska", "Kiribati", "Cancun"],
)
def test_no_clock_far_from_the_sun_looks_swapped(latitude, longitude, hours):
    assert not look_swapped(place(latitude, longitude), 60 * hours)


@pytest.mark.parametrize(
    ("latitude", "longitude", "hours", "told"),
    [(40.7, -74.0, -5, True), (40.7, -74.0, -4, True), (41.9, -87.6, -6, True), (50.1, 14.4, 1, False)],
    ids=["New York", "New York in summer", "Chicago", "Prague"],
)
def test_degrees_the_wrong_way_round_look_swapped_where_it_can_be_told(latitude, longitude, hours, told):
    assert look_swapped(place(longitude, latitude), 60 * hours) is told


def test_a_few_fixes_the_wrong_way_round_accuse_no_others():
    right, wrong = place(40.7, -74.0), place(-74.0, 40.7)
    assert not look_swapped(pd.concat([right, wrong]), -300)
    assert look_swapped(pd.concat([right, wrong, wrong]), -300)
