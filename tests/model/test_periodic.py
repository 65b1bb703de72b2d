"""Profiles that follow the time of day."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Grid, PeriodicProfile, synthetic_city
from hideseek.errors import ReducibleError
from hideseek.model import possible_trajectories
from hideseek.traces.city import BOX
from tests.support.walks import LINE, walk


def test_time_of_day_is_learned():
    """Even half-hours at 0, odd ones at 1, for three days: a clock, which a time-free chain cannot see."""
    days = [0 if (k // 6) % 2 == 0 else 1 for k in range(3 * 288)]
    profile = PeriodicProfile.fit(walk(days), LINE, slots=288, weight=0.01)
    assert profile.stationary[0] > 0.95
    assert profile.at("00:35").stationary[1] > 0.95
    assert profile.at("00:50").probability((1, 1, 0)) > 0.9
    assert profile.at("00:25").transition[0, 1] > 0.95 > 0.05 > profile.at("00:20").transition[0, 1]
    for start in ("00:00", "12:15", "23:55"):
        law = possible_trajectories(profile.at(start), range(4))
        assert law.probability.sum() == pytest.approx(1)


def test_every_minute_of_the_day_is_a_step_of_its_own():
    profile = PeriodicProfile(np.full((24, 2, 2), 0.5), steps_a_slot=60)
    assert [profile.at(f"{minute // 60:02d}:{minute % 60:02d}").start for minute in range(1440)] == list(range(1440))


def test_the_periodic_distribution_returns_after_a_day():
    profile = PeriodicProfile.fit(synthetic_city(1, days=7), Grid(*BOX, rows=6, columns=6), step="30min", slots=12)
    law = profile.stationary
    for step in range(profile.steps_a_day):
        law = law @ profile.slots[step // profile.steps_a_slot]
    np.testing.assert_allclose(law, profile.stationary, atol=1e-9)
    walks = profile.at("03:00").sample(steps=3, count=10, seed=0)
    assert walks.shape == (10, 3)


def test_now_is_the_time_that_the_profile_is_set_to():
    """Half-hours at 0 and 1 in turn: at 12:05 one is at 0, an hour before too, half an hour before at 1."""
    days = [0 if (k // 6) % 2 == 0 else 1 for k in range(3 * 288)]
    profile = PeriodicProfile.fit(walk(days), LINE, slots=288, weight=0.01).at("12:05")
    law = possible_trajectories(profile, (-12, -6, 0))
    assert dict(zip(map(tuple, law.sequences.tolist()), law.probability, strict=True))[0, 1, 0] > 0.8


def test_a_day_that_does_not_mix_is_refused():
    with pytest.raises(ReducibleError, match="PeriodicProfile"):
        PeriodicProfile.fit(walk([0, 1] * 288), LINE, slots=24)
