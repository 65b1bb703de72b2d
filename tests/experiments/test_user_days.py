"""The day of each user that an experiment looks at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hideseek import Grid, ParameterError
from hideseek.experiments.user_days import ahead_of_utc, days_of, drawn_from

BOX = Grid(0.0, 1.0, 0.0, 1.0, rows=1, columns=2)


def walk(user, start, steps, cells=2):
    """A fix every five minutes, in one cell and the other."""
    times = pd.date_range(start, periods=steps, freq="5min", tz="UTC")
    longitude = 0.25 + 0.5 * (np.arange(steps) % cells)
    return pd.DataFrame({"user_id": user, "tracked_at": times, "latitude": 0.5, "longitude": longitude})


def test_the_best_covered_day_of_the_clock_is_taken():
    traces = pd.concat([walk("a", "2024-01-01", 240), walk("a", "2024-01-02 07:00", 270)])
    assert [day.covered for day in days_of(traces, BOX, clock="-7h", owner="test")] == [270]
    assert [day.covered for day in days_of(traces, BOX, clock="0h", owner="test")] == [240]


def test_only_users_with_a_day_of_fixes_and_of_moves_are_drawn():
    traces = pd.concat(
        [walk("a", "2024-01-01", 288), walk("b", "2024-01-01", 229), walk("c", "2024-01-01", 288, cells=1)]
    )
    candidates = days_of(traces, BOX, clock="0h", owner="test")
    assert drawn_from(candidates, users=1, seed=0, owner="test") == candidates
    with pytest.raises(ParameterError, match="at most 1, the users with a day that covers 80% of its steps"):
        drawn_from(candidates, users=2, seed=0, owner="test")


def test_the_seed_draws_the_users():
    traces = pd.concat([walk(f"user {k}", "2024-01-01", 240 + k) for k in range(40)])

    def drawn(seed):
        return [
            day.covered
            for day in drawn_from(days_of(traces, BOX, clock="0h", owner="test"), users=5, seed=seed, owner="test")
        ]

    assert drawn(0) == drawn(0) != drawn(1)
    assert len(set(drawn(0))) == 5


@pytest.mark.parametrize("clock", ["noon", "25h", "-1441min", "nan", None, ""])
def test_a_clock_is_a_time_difference_of_a_day_at_most(clock):
    with pytest.raises(ParameterError, match="'clock'"):
        ahead_of_utc(clock, "test")
    assert ahead_of_utc("-7h", "test") == pd.Timedelta(hours=-7)
    assert ahead_of_utc("24h", "test") == pd.Timedelta(days=1)
