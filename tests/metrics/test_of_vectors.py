"""Metrics over vectors of places, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from pyproj import Geod

from hideseek import Grid, ParameterError, Places
from hideseek.metrics import (
    distance,
    from_matrix,
    hamming,
    maximum,
    minimum,
    speed,
    squared,
    total,
)
from tests.support.vectors import NOTHING, D, by_hand, vectors


@given(vectors, vectors)
def test_aggregates_follow_their_definitions(left, right):
    base = from_matrix(D)
    for metric, combine in ((total, sum), (minimum, min), (maximum, max)):
        expected = by_hand(
            lambda a, b, combine=combine: combine(D[x, y] for x, y in zip(a, b, strict=True)), left, right
        )
        np.testing.assert_allclose(metric(base).between(left, right, NOTHING), expected)
    np.testing.assert_allclose(hamming().between(left, right, NOTHING), by_hand(lambda a, b: a != b, left, right))
    counted = by_hand(lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)), left, right)
    np.testing.assert_allclose(total(hamming()).between(left, right, NOTHING), counted)


@given(vectors, vectors)
def test_weighted_positions(left, right):
    expected = by_hand(lambda a, b: 3 * D[a[0], b[0]] + 0.5 * D[a[1], b[1]], left, right)
    np.testing.assert_allclose(total(from_matrix(D), weights=(3, 0.5)).between(left, right, NOTHING), expected)


def test_units_follow_the_metric():
    grid = Grid(0, 1, 0, 1, rows=2, columns=2)
    assert (distance(grid).unit, squared(distance(grid)).unit, speed(grid).unit) == ("m", "m²", "m per step")
    assert total(squared(distance(grid))).name == "total squared distance"


def test_a_first_place_has_no_speed():
    line = Places([0.0, 0.0], [0.0, 1.0])
    assert not speed(line).between(np.array([[0], [1]]), np.array([[0], [1]]), NOTHING).any()


def test_speed_compares_displacements_with_what_was_exposed():
    line = Places([0.0, 0.0, 0.0], [0.0, 0.1, 0.3])
    degree = Geod(ellps="WGS84").inv(0, 0, 0.1, 0)[2]
    found = speed(line).between(np.array([[0, 1], [0, 2]]), np.array([[0], [2]]), np.array([1]))
    # true steps: 1 and 3 tenths; exposed from place 1: to 0 is 1 tenth, to 2 is 2 tenths
    np.testing.assert_allclose(found, np.array([[0, 1], [2, 1]]) * degree, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: total(hamming(), weights=[1, -1]),
        lambda: total(hamming(), weights=[1]).between(np.array([[0, 1]]), np.array([[0, 1]]), NOTHING),
        lambda: speed(Places([0.0, 1.0], [0.0, 1.0])).between(np.array([[0]]), np.array([[0]]), np.array([1])),
    ],
)
def test_bad_metrics_are_refused(make):
    with pytest.raises(ParameterError, match=r"The '.*' parameter of .* must be"):
        make()
