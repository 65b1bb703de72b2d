"""Profiles that keep places where nobody went: still chains, and hardly different ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Grid, MarkovProfile, ParameterError, Places
from hideseek.traces.city import BOX, synthetic_city

PLACES = Places([46.0, 46.1, 46.2, 46.3, 46.4], [6.0] * 5)


def walk(*places):
    times = pd.date_range("2024-01-01", periods=len(places), freq="5min", tz="UTC")
    return pd.DataFrame(
        {"user_id": "a", "tracked_at": times, "latitude": [46.0 + place / 10 for place in places], "longitude": 6.0}
    )


def test_unvisited_places_together_count_as_one_step_from_the_usual_place():
    """0 0 1 0, closed: from 0 twice to 0 and once to 1. Places 2 to 4 have a third of a step each."""
    profile = MarkovProfile.fit(walk(0, 0, 1, 0), PLACES, keep_places=True)
    third = 1 / 3
    expected = [
        np.array([2, 1, third, third, third]) / 4,
        *([1, 0, 0, 0, 0],) * 4,
    ]
    np.testing.assert_allclose(profile.transition, np.array(expected), atol=1e-15)
    assert profile.regions == PLACES


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=30), st.integers(1, 3), st.sampled_from([0.0, 0.05]))
def test_the_chain_is_one_over_all_places_at_any_order(places, order, smoothing):
    profile = MarkovProfile.fit(walk(*places), PLACES, order=order, smoothing=smoothing, keep_places=True)
    assert profile.places == 5
    assert profile.stationary.min() > 0
    np.testing.assert_allclose(profile.transition.sum(axis=1), 1, atol=1e-12)
    if order == 1:
        power = np.linalg.matrix_power((np.eye(5) + profile.transition) / 2, 2**14)
        np.testing.assert_allclose(power, np.broadcast_to(profile.stationary, (5, 5)), atol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("smoothing", [0.0, 0.01])
def test_where_all_places_were_visited_it_changes_nothing(order, smoothing):
    traces = walk(0, 1, 2, 3, 4, 3, 0, 0, 1)
    settings = {"order": order, "smoothing": smoothing}
    kept, plain = (MarkovProfile.fit(traces, PLACES, keep_places=keep, **settings) for keep in (True, False))
    np.testing.assert_array_equal(kept.transition, plain.transition)
    np.testing.assert_array_equal(kept.states, plain.states)


def test_profiles_of_different_days_are_over_the_same_places():
    traces = synthetic_city(people=1, days=4, seed=1)
    grid = Grid(*BOX, rows=5, columns=5)
    days = traces["tracked_at"].dt.day
    one, other = (MarkovProfile.fit(traces[days == day], grid, keep_places=True) for day in (1, 4))
    assert one.places == other.places == 25
    assert one.regions == other.regions


def test_those_who_were_seen_matter_and_those_who_were_not_hardly():
    traces = synthetic_city(people=1, days=14, seed=1)
    grid = Grid(*BOX, rows=8, columns=8)
    kept, plain = (MarkovProfile.fit(traces, grid, keep_places=keep) for keep in (True, False))
    inside = grid.locate(*plain.regions.centres.T)
    assert np.abs(kept.stationary[inside] - plain.stationary).sum() < 0.002  # one step of some thousand, and its return


def test_a_day_at_one_place_is_a_profile_only_if_places_are_kept():
    with pytest.raises(ParameterError, match="two or more places"):
        MarkovProfile.fit(walk(0, 0, 0), PLACES)
    assert MarkovProfile.fit(walk(0, 0, 0), PLACES, keep_places=True).stationary.argmax() == 0
