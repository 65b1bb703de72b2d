"""Profiles that follow the clock."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest

from hideseek import Grid, ParameterError, PeriodicProfile, synthetic_city
from hideseek.errors import ReducibleError
from hideseek.model import possible_trajectories
from hideseek.model.clock import Clock
from hideseek.traces.city import BOX
from tests.support.walks import LINE, walk


def test_time_of_day_is_learned():
    """A quarter of the day at 0, the next at 1, for 24 days: a clock, which a chain without one cannot see."""
    quarters = [hour // 6 % 2 for hour in range(24 * 24)]
    profile = PeriodicProfile.fit(walk(quarters, step="1h"), LINE, step="1h", slots=24, weight=0.01)
    assert profile.stationary[0] > 0.95
    assert profile.at("06:30").stationary[1] > 0.95
    assert profile.at("10:00").probability((1, 1, 0)) > 0.9
    assert profile.at("05:30").transition[0, 1] > 0.95 > 0.05 > profile.at("04:30").transition[0, 1]
    for start in ("00:00", "12:15", "23:55"):
        found = possible_trajectories(profile.at(start), range(4))
        assert found.probability.sum() == pytest.approx(1)


def test_every_minute_of_the_day_is_a_step_of_its_own():
    clock = Clock("UTC+00:00", (tuple(range(0, 1440, 60)),), step="1min")
    profile = PeriodicProfile(np.full((24, 2, 2), 0.5), clock.cycle, step="1min", clock=clock)
    assert [profile.at(f"{minute // 60:02d}:{minute % 60:02d}").start for minute in range(1440)] == list(range(1440))
    assert profile.at(datetime.fromisoformat("2026-01-01T01:00+01:00")).start == 0


def test_the_periodic_distribution_returns_after_a_day():
    profile = PeriodicProfile.fit(synthetic_city(1, days=14), Grid(*BOX, rows=6, columns=6), step="30min", slots=12)
    own = profile.stationary
    for slot in profile.cycle:
        own = own @ profile.slots[slot]
    np.testing.assert_allclose(own, profile.stationary, atol=1e-9)
    assert profile.distributions.shape == (48, profile.places)
    np.testing.assert_allclose(profile.distributions[7], profile.at("03:30").stationary)
    walks = profile.at("03:00").sample(steps=3, count=10, seed=0)
    assert walks.shape == (10, 3)


def test_the_long_run_is_where_walks_are_at_each_hour():
    """Two slots; the share of 4,000 long walks at each place, at each step, within five standard errors."""
    rows = np.array([[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]])
    profile = PeriodicProfile(rows, np.array([0, 0, 1]))
    walks = profile.sample(steps=18, count=4000, seed=3)
    for step in range(18):
        assert walks[:, step].mean() == pytest.approx(profile.distributions[step % 3, 1], abs=5 * 0.5 / 4000**0.5)


def test_a_day_that_does_not_mix_is_refused():
    with pytest.raises(ReducibleError, match="PeriodicProfile"):
        PeriodicProfile.fit(walk([0, 1] * 288 * 12), LINE, slots=24)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"slots": np.full((2, 2, 3), 0.5)}, "'slots' parameter of PeriodicProfile"),
        ({"slots": np.full((2, 2, 2), 0.4)}, "rows sum to 1"),
        ({"slots": np.array([np.eye(2) * 2 - 0.5, np.eye(2)])}, "finite numbers >= 0"),
        ({"cycle": np.array([0, 2])}, "'cycle' parameter of PeriodicProfile"),
        ({"cycle": np.zeros((2, 2), int)}, "'cycle' parameter of PeriodicProfile"),
        ({"start": 2}, "one of the 2 steps of the cycle"),
        ({"start": -1}, "one of the 2 steps of the cycle"),
        ({"clock": Clock("UTC+00:00", step="12h")}, "one with the same cycle of slots"),
    ],
)
def test_profiles_that_cannot_be_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        PeriodicProfile(**({"slots": np.full((2, 2, 2), 0.5), "cycle": np.array([0, 1])} | arguments))


def test_without_a_clock_no_time_is_known():
    with pytest.raises(ParameterError, match=r"'clock' parameter of PeriodicProfile\.at must be known here"):
        PeriodicProfile(np.full((2, 2, 2), 0.5), np.array([0, 1])).at("08:00")
