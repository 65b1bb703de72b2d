"""Rivals with a formula: the coin, squares, and the exponential mechanism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Grid, MarkovProfile, ParameterError
from hideseek.adversary import expected_error
from hideseek.baselines import RIVALS
from hideseek.baselines.plain import coin, constant, exponential, truth, uniform_squares
from hideseek.baselines.rival import Setting
from hideseek.metrics import distance, hamming
from hideseek.model import possible_trajectories
from tests.support.rivals import (
    SETTING,
    apart,
    assert_indistinguishable,
    few_points,
    loss_of,
)
from tests.support.toy import CELLS, number, support, toy


def test_the_coin_goes_straight_from_the_truth_to_the_constant():
    game = SETTING.game
    assert loss_of(SETTING, truth(game)) == 0
    assert expected_error(game, truth(game)) == 0
    assert loss_of(SETTING, constant(game)) == pytest.approx(game.saturation)
    assert expected_error(game, constant(game)) == pytest.approx(game.prior_risk)
    for share in (0.0, 0.3, 1.0):
        assert loss_of(SETTING, coin(game, probability=share)) == pytest.approx(share * game.saturation)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        coin(game, probability=1.5)


def test_squares_of_one_cell_are_the_toy_of_the_paper():
    chain, table = toy()
    squares = uniform_squares(np.array(CELLS, float), half_side=1.0)
    np.testing.assert_allclose(squares.table, table, atol=1e-15)
    middle, corner = squares.table[number(3, 3)], squares.table[number(1, 1)]
    assert (np.count_nonzero(middle), middle.max()) == (9, pytest.approx(1 / 9))
    assert (np.count_nonzero(corner), corner.max()) == (4, pytest.approx(1 / 4))
    alone = possible_trajectories(chain, (0,)).given({0: number(4, 4)}, squares.table)
    both = possible_trajectories(chain, (-1, 0)).given({-1: number(2, 2), 0: number(4, 4)}, squares.table)
    assert (len(support(alone, 0)), len(support(both, 0))) == (9, 4)


def test_squares_of_growing_size_lose_without_jumps():
    points = np.array(CELLS, float)
    sizes = np.linspace(0, 6, 601)
    losses = [np.vdot(apart(points), uniform_squares(points, half_side=size).table) / 25 for size in sizes]
    assert np.abs(np.diff(losses)).max() < 0.02  # a jump would be of 0.5
    np.testing.assert_allclose(uniform_squares(points, half_side=6.0).table, 1 / 25)
    np.testing.assert_array_equal(uniform_squares(points, half_side=0.0).table, np.eye(25))


@given(few_points, st.floats(-4, -0.5))
@settings(max_examples=50)
def test_the_exponential_mechanism_is_geo_indistinguishable(points, exponent):
    epsilon = 10**exponent
    assert_indistinguishable(exponential(apart(points), epsilon=epsilon).table, epsilon * apart(points))


@pytest.mark.parametrize("latitude", [0.0, 37.7, 60.0])
def test_squares_on_a_grid_release_every_inner_truth_equally_often(latitude):
    """Cells are a little narrower in the north than in the south; on the map they are all alike."""
    grid = Grid(latitude, latitude + 0.3, -122.5, -122.05, rows=9, columns=9)
    profile = MarkovProfile.from_matrix(np.full((81, 81), 1 / 81), grid)
    setting = Setting(profile, privacy=hamming(), quality=distance(grid))
    rival = next(rival for rival in RIVALS if rival.name == "uniform squares")
    height = apart(setting.mapped)[0, 9]
    assert height == pytest.approx(111_000 * 0.3 / 9, rel=0.01)
    inner = [9 * row + column for row in range(3, 6) for column in range(3, 6)]
    away = np.abs(setting.mapped[inner, None] - setting.mapped).max(axis=2)
    reached = np.unique(
        away[away < 1.6 * height]
    )  # a size at which cells come in, and others that rounding makes of it
    for half_side in (*reached, *np.linspace(0, 1.1 * height, 12)):
        truthful = np.diag(rival.make(setting, half_side).table)[inner]
        np.testing.assert_allclose(truthful, truthful[0], rtol=1e-9)
    assert truthful[0] < 0.5
    assert rival.span(setting)[0] == 0
    np.testing.assert_array_equal(rival.make(setting, 0.0).table, np.eye(81))
