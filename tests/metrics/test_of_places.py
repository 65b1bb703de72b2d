"""Metrics of places, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from pyproj import Geod

from hideseek import ParameterError, Places
from hideseek.metrics import (
    distance,
    from_function,
    from_matrix,
    hamming,
    squared,
)
from tests.support.vectors import NOTHING, D


def test_geodesic_distances_are_pyproj_s():
    places = Places([37.77, 37.80, -33.0], [-122.42, -122.27, 151.0])
    table = distance(places).between(np.arange(3)[:, None], np.arange(3)[:, None], NOTHING)
    expected = Geod(ellps="WGS84").inv(-122.42, 37.77, 151.0, -33.0)[2]
    assert table[0, 2] == pytest.approx(expected)
    assert (table.diagonal() == 0).all()
    np.testing.assert_allclose(table, table.T)
    assert squared(distance(places)).between(np.array([[0]]), np.array([[2]]), NOTHING)[0, 0] == pytest.approx(
        expected**2
    )


def test_a_function_may_look_at_what_was_seen():
    metric = from_function(lambda q, o, seen: float(o[0] == seen[-1]), name="repeats", unit="times")
    assert metric.between(np.array([[0]]), np.array([[0], [1]]), np.array([5, 1])).tolist() == [[0, 1]]
    assert (metric.name, metric.unit) == ("repeats", "times")
    bound = from_function(lambda g, a, table=D: table[g[0], a[0]])
    assert bound.between(np.array([[0]]), np.array([[2]]), NOTHING).tolist() == [[4]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: from_matrix([[0, np.nan], [1, 0]]),
        lambda: from_matrix([0, 1]),
        lambda: from_matrix(D).between(np.array([[3]]), np.array([[0]]), NOTHING),
        lambda: hamming().between(np.array([[0]]), np.array([[0, 1]]), NOTHING),
        lambda: from_function(lambda a, b: -1.0).between(np.array([[0]]), np.array([[0]]), NOTHING),
    ],
)
def test_bad_metrics_are_refused(make):
    with pytest.raises(ParameterError, match=r"The '.*' parameter of .* must be"):
        make()
