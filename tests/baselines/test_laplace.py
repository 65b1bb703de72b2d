"""Planar Laplace noise: drawn, as a table, and remapped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.spatial import KDTree
from scipy.special import k1
from scipy.stats import gamma, kstest

from hideseek import Mechanism
from hideseek.adversary import expected_error
from hideseek.baselines.laplace import draw_planar_laplace, planar_laplace, remapped
from tests.support.games import games
from tests.support.rivals import (
    SETTING,
    apart,
    assert_indistinguishable,
    cell_probabilities,
    few_points,
    loss_of,
    seeds,
)


@given(few_points, st.floats(-4, -0.5))
@settings(max_examples=50)
def test_planar_laplace_noise_is_geo_indistinguishable(points, exponent):
    assume(apart(points)[np.triu_indices(len(points), 1)].min() > 1)
    epsilon = 10**exponent
    assert_indistinguishable(planar_laplace(points, epsilon=epsilon).table, epsilon * apart(points))


def test_planar_laplace_noise_is_geo_indistinguishable_on_the_city():
    points = SETTING.points
    for noise in (30.0, 300.0, 3000.0):
        assert_indistinguishable(planar_laplace(points, epsilon=1 / noise).table, apart(points) / noise)


def test_drawn_noise_has_its_radial_distribution_and_every_direction():
    epsilon, count = 0.01, 50_000
    noisy = draw_planar_laplace(
        np.tile([3.0, -4.0], (count, 1)), epsilon=epsilon, generator=np.random.default_rng(0)
    ) - [3.0, -4.0]
    radius, angle = np.hypot(*noisy.T), np.arctan2(noisy[:, 1], noisy[:, 0])
    assert kstest(epsilon * radius, gamma(2).cdf).pvalue > 0.01
    assert kstest(angle / (2 * np.pi) + 0.5, "uniform").pvalue > 0.01
    assert radius.mean() == pytest.approx(2 / epsilon, rel=4 * np.sqrt(2) / 2 / np.sqrt(count))  # 4 standard errors


def test_the_table_is_where_drawn_noise_is_nearest():
    points, draws = SETTING.points, 20_000
    table = planar_laplace(points, epsilon=1 / 700).table
    noisy = draw_planar_laplace(np.repeat(points, draws, axis=0), epsilon=1 / 700, generator=np.random.default_rng(1))
    nearest = KDTree(points).query(noisy)[1].reshape(len(points), draws)
    counted = np.stack([np.bincount(row, minlength=len(points)) for row in nearest]) / draws
    assert np.abs(counted - table).max() <= 5 * np.sqrt(0.25 / draws)
    assert ((counted - table) ** 2 / (table + 1e-12)).sum(axis=1).mean() * draws == pytest.approx(
        len(points) - 1, rel=0.2
    )


@pytest.mark.parametrize("epsilon", [1e-3, 1e-2, 0.1])
def test_the_table_agrees_with_quadrature_ray_by_ray(epsilon):
    points = np.random.default_rng(4).uniform(0, 300, (5, 2))
    table = planar_laplace(points, epsilon=epsilon).table
    expected = [cell_probabilities(points, centre, lambda ray: epsilon * np.hypot(*ray.T)) for centre in range(5)]
    np.testing.assert_allclose(table, expected, atol=1e-8)


@pytest.mark.parametrize("direction", [(0.6, -0.8), (1.0, 0.0)])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 10.0, 100.0])
def test_on_a_line_the_table_is_the_distribution_of_one_coordinate(spread, direction):
    """Its density is epsilon^2 |x| K_1(epsilon |x|) / pi, whichever way the line runs."""
    at = np.array([-spread, 0.0, 2 * spread])
    table = planar_laplace(np.outer(at, direction), epsilon=1.0).table

    def beyond(x):
        return quad(lambda y: y * k1(y) / np.pi, x, np.inf, epsabs=1e-14)[0]

    left, right = beyond(spread / 2), beyond(spread)
    np.testing.assert_allclose(table[1], [left, 1 - left - right, right], atol=1e-12)


def test_noise_far_beyond_the_map_or_far_below_a_cell_is_told_exactly():
    points = SETTING.points
    np.testing.assert_allclose(planar_laplace(points, epsilon=1e3).table, np.eye(len(points)), atol=1e-15)
    scattered = planar_laplace(points, epsilon=1e-9).table  # all directions alike, and nothing stays inside
    np.testing.assert_allclose(scattered, scattered[:1].repeat(len(points), axis=0), atol=1e-5)


@given(games(), seeds)
@settings(max_examples=100)
def test_remapping_never_hurts_the_metric_it_optimises(game, seed):
    inputs, releases = game.cost.shape
    mechanism = Mechanism(np.random.default_rng(seed).dirichlet(np.ones(releases), inputs))
    again = remapped(game, mechanism)
    assert np.vdot(game.cost, again.table) <= np.vdot(game.cost, mechanism.table) + 1e-12
    assert expected_error(game, again) >= expected_error(game, mechanism) - 1e-12  # nor tells anything new
    cheapest = [min(game.cost.T @ column) for column in mechanism.table.T]
    assert np.vdot(game.cost, again.table) == pytest.approx(sum(cheapest))


def test_remapping_keeps_geo_indistinguishability():
    points = SETTING.points
    again = remapped(SETTING.game, planar_laplace(points, epsilon=1 / 700)).table
    assert_indistinguishable(again, apart(points) / 700)
    assert loss_of(SETTING, Mechanism(again)) < 0.9 * loss_of(SETTING, planar_laplace(points, epsilon=1 / 700))
