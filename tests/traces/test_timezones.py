"""A person's clock is the one that is named, that of the data, or that of the sun."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hideseek.errors import ParameterError
from hideseek.traces.reading import read_traces
from hideseek.traces.timezones import local_zone
from tests.support.trace_files import by_hand, put

NOON = datetime(2024, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("longitudes", "hours"), [([6.5, 6.6], 0), ([8.0, 9.0], 1), ([-122.4, -122.4], -8), ([179.0, -179.0], 12)]
)
def test_without_offsets_the_sun_tells_the_zone(longitudes, hours):
    zone, how = local_zone(by_hand(longitude=longitudes))
    assert abs(zone.utcoffset(NOON)) == timedelta(hours=abs(hours))
    assert how.endswith("from the mean longitude")


def test_the_most_frequent_offset_of_the_data_wins_over_the_sun(tmp_path):
    stamps = ["2024-07-01T10:00+02:00", "2024-07-01T11:00+0200", "2024-07-01T12:00Z", "2024-07-01T13:00-03"]
    text = "t,x,y\n" + "".join(f"{stamp},100,2\n" for stamp in stamps)
    zone, how = local_zone(read_traces(put(tmp_path, "a.csv", text)))
    assert (zone.utcoffset(NOON), how) == (timedelta(hours=2), "UTC+02:00, the most frequent offset in the data")


def test_a_zone_that_is_named_wins_and_knows_summer():
    zone, how = local_zone(by_hand(), "Europe/Zurich")
    assert zone.utcoffset(NOON) == timedelta(hours=2)
    assert how == "Europe/Zurich, as given"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "", "Europe", "/etc/localtime", "a\0b"])
def test_a_zone_that_is_none_breaks_a_rule(name):
    with pytest.raises(ParameterError, match="'timezone' parameter of local_zone must be the IANA name"):
        local_zone(by_hand(), name)
