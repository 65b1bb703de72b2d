"""Local time from steps in UTC, against the calendar of Python and the days on which clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.errors import ParameterError
from hideseek.model.clock import WEEKEND, Clock

ZURICH = "Europe/Zurich"
ZONES = (ZURICH, "America/Los_Angeles", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC-03:30", "Pacific/Apia")


def step_of(text, minutes):
    """The step in UTC, counted from 1970, in which a time is."""
    return int(datetime.fromisoformat(text).timestamp()) // (60 * minutes)


@given(
    zone=st.sampled_from(ZONES[:4] + ZONES[5:]),
    step=st.sampled_from([5, 10, 30, 60]),
    moments=st.lists(st.integers(0, 2**31), min_size=1, max_size=20),
)
def test_phases_are_those_of_the_local_time(zone, step, moments):
    weekly = Clock(zone, ((0,), (0,)), days=WEEKEND, step=f"{step}min")
    steps = np.array(moments) // (60 * step)
    for phase, number in zip(weekly.phases(steps).tolist(), steps.tolist(), strict=True):
        local = datetime.fromtimestamp(number * 60 * step, ZoneInfo(zone))
        minutes = 1440 * local.weekday() + 60 * local.hour + local.minute
        assert phase == minutes // step
    assert (Clock(zone, step=f"{step}min").phases(steps) == weekly.phases(steps) % (1440 // step)).all()


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_days_on_which_clocks_are_changed_have_23_and_25_hours(day, hours):
    clock = Clock(ZURICH, ((0,), (0,)), days=WEEKEND, step="1h")
    first = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(ZURICH))
    start = int(first.timestamp()) // 3600
    after = clock.phases(np.arange(start, start + hours))
    own = clock.phase(first)
    assert after[0] == own
    assert after[-1] == own + 23
    assert clock.phases(np.array([start + hours]))[0] == (own + 24) % 168
    told = [datetime.fromtimestamp(3600 * (start + n), ZoneInfo(ZURICH)).hour for n in range(hours)]
    assert (after - own).tolist() == told  # the second hour is missing, or comes twice


def test_a_night_is_one_slot_and_weekends_have_their_own():
    clock = Clock(ZURICH, ((6, 20), (9, 23)), days=WEEKEND, step="1h")
    assert clock.slots == 4
    week = clock.cycle.reshape(7, 24)
    assert (week[:5] == week[0]).all()
    assert (week[5:] == week[5]).all()
    assert week[0].tolist() == [1] * 6 + [0] * 14 + [1] * 4
    assert week[5].tolist() == [3] * 9 + [2] * 14 + [3]
    assert clock.in_words() == "weekdays 06:00-20:00, 20:00-06:00; weekends 09:00-23:00, 23:00-09:00"
    other = Clock(ZURICH, ((0,), (12,)), days=(0, 0, 1, 0, 0, 0, 1), step="1h")
    assert other.in_words() == "Monday, Tuesday, Thursday, Friday, Saturday: all day; Wednesday, Sunday: all day"


def test_a_time_is_found_in_the_cycle():
    clock = Clock(ZURICH, ((0,), (0,)), days=WEEKEND, step="30min")
    assert clock.phase("08:30") == 17
    assert clock.phase("Sunday 00:59") == 6 * 48 + 1
    moment = datetime(2026, 7, 4, 22, 30, tzinfo=UTC)  # half past midnight on a Sunday
    assert clock.phase(moment) == 6 * 48 + 1
    assert clock.phase(moment + timedelta(days=7)) == clock.phase(moment)


@pytest.mark.parametrize("time", ["noon", "25:00", "24:00", "Someday 08:00", "", datetime(2026, 1, 1)])
def test_what_is_no_time_is_refused(time):
    with pytest.raises(ParameterError, match=r"'time' parameter of Clock\.phase must be a time with its zone"):
        Clock(ZURICH).phase(time)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"zone": "Europe/Nowhere"}, "timezone"),
        ({"zone": "UTC+25:00"}, "timezone"),
        ({"zone": "../etc"}, "timezone"),
        ({"step": "7min"}, "step"),
        ({"step": "1us"}, "step"),
        ({"step": "2 days"}, "step"),
        ({"starts": ((),)}, "starts"),
        ({"starts": ((5, 5),)}, "starts"),
        ({"starts": ((9, 5),)}, "starts"),
        ({"starts": ((0, 288),)}, "starts"),
        ({"starts": ((-1,),)}, "starts"),
        ({"starts": ((0,), (0,))}, "days"),
        ({"days": (0,) * 6}, "days"),
        ({"days": WEEKEND}, "days"),
    ],
)
def test_clocks_that_cannot_be_are_refused(arguments, name):
    with pytest.raises(ParameterError, match=f"'{name}' parameter of Clock"):
        Clock(**({"zone": ZURICH} | arguments))
