"""Which day is shown, what of it was recorded, and which of several draws."""

from __future__ import annotations

from datetime import UTC

import numpy as np
import pandas as pd

from hideseek.experiments import exposed_day as module
from hideseek.experiments.exposed_day import DRAWS, exposed_day
from tests.support.playbooks import on_a_line

GAME, _, REHEARSAL = on_a_line(0)


def traces(hours_of_days, places_of_days=()):
    """A fix at every such hour of each day, at one of the day's places after the other, by default of all."""
    times, places = [], []
    for day, hours in enumerate(hours_of_days):
        own = places_of_days[day] if places_of_days else range(4)
        for k, hour in enumerate(hours):
            times.append(pd.Timestamp("2026-01-05", tz="UTC") + pd.Timedelta(days=day, hours=hour, minutes=1))
            places.append(own[k % len(own)])
    latitude, longitude = GAME.profile.regions.centres[places].T
    return pd.DataFrame({"user_id": "me", "tracked_at": times, "latitude": latitude, "longitude": longitude})


def day_of(hours_of_days, places_of_days=(), **options):
    return exposed_day(traces(hours_of_days, places_of_days), GAME, REHEARSAL.playbook, zone=UTC, **options)


def test_a_day_of_which_little_is_recorded_is_not_shown():
    assert day_of([range(24), range(0, 24, 2)]).date.startswith("Monday")
    assert day_of([range(24), range(20)]).date.startswith("Tuesday")  # both are recorded well: the last one


def test_a_sensitive_visit_goes_before_many_places():
    days = [range(24), range(24)], ([3], [0, 1, 2])
    assert day_of(*days).date.startswith("Tuesday")
    assert day_of(*days, sensitive=[3]).date.startswith("Monday")


def test_what_was_recorded_is_told():
    day = day_of([range(12)])
    per_hour = len(day.true) // 24
    assert day.recorded.sum() == 12
    assert not day.recorded[12 * per_hour :].any()
    assert (day.true[12 * per_hour :] == day.true[-1]).all()


def test_the_draw_in_the_middle_is_shown(monkeypatch):
    rights = iter([5, 1, 4, 2, 3][:DRAWS])

    def followed(_, __, true, ___, ____):
        right = next(rights)
        guess = np.where(np.arange(len(true)) < right, true, (true + 1) % 4)
        return true, guess, np.eye(4)[guess]

    monkeypatch.setattr(module, "followed", followed)
    day = day_of([range(24)])
    assert (day.guess == day.true).sum() == 3
