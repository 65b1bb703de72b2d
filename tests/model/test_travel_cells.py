"""Cells for ways: tiles that hold every point, near the number asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.model import StayMap
from hideseek.model.stay_map import tile_side
from hideseek.model.travel_cells import SLACK, travel_cells


def blob(seed, size=800, spread=0.05):
    rng = np.random.default_rng(seed)
    return rng.normal([rng.uniform(-60, 60), rng.uniform(-170, 170)], spread, (size, 2))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.sampled_from([50.0, 150.0, 3_000.0, 1e6]))
def test_every_point_is_in_a_tile_and_every_tile_has_one(seed, count, finest):
    points = blob(seed)
    tiles = travel_cells(points, count, finest)
    place = StayMap((), tiles).locate(*points.T)
    assert set(place.tolist()) == set(range(len(tiles)))
    assert min(map(tile_side, tiles)) >= min(finest, tile_side((0, 0, 0)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(15, 80))
def test_the_number_is_about_the_one_asked_for(seed, count):
    tiles = travel_cells(blob(seed), count, 50.0)
    assert (1 - SLACK) * count <= len(tiles) <= max((1 + SLACK) * count, count + 3)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_points_changes_nothing(seed):
    points = blob(seed)
    shuffled = points[np.random.default_rng(seed).permutation(len(points))]
    assert travel_cells(points, 20, 150.0) == travel_cells(shuffled, 20, 150.0)


def test_fewer_where_there_are_fewer():
    two = np.repeat([[46.5, 6.5], [46.9, 7.4]], 50, axis=0)
    assert len(travel_cells(two, 30, 150.0)) == 2


def test_two_towns_of_equal_time_have_equally_many_cells():
    """The tile with the most time times width is split first: neither town is left coarse."""
    rng = np.random.default_rng(0)
    town = rng.uniform(0, 0.05, (1000, 2))
    points = np.vstack([np.array([46.5, 6.5]) + town, np.array([46.5, 8.5]) + town])
    longitudes = StayMap((), travel_cells(points, 40, 150.0)).centres[:, 1]
    east = (longitudes > 7.5).sum()
    assert 0.3 <= east / len(longitudes) <= 0.7


@pytest.mark.parametrize("latitude", [-90.0, 89.0])
def test_points_at_the_poles_have_no_tiles(latitude):
    assert travel_cells(np.array([[latitude, 0.0]]), 10, 150.0) == ()


def test_no_points_have_no_tiles():
    assert travel_cells(np.zeros((0, 2)), 10, 150.0) == ()
