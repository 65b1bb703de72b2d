"""The privacy-quality curve: certified at its points and between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, ParameterError, Scenario, solve, trade_off
from hideseek.errors import BudgetError
from hideseek.game import Alternatives, LinearRows
from hideseek.metrics import from_matrix, total
from hideseek.model.markov import MarkovProfile
from hideseek.solvers.curve import upper_hull
from tests.support.games import euclid_game, grid_distances, random_game, zipf


def test_hamming_curve_is_the_paper_s_line_and_plateau():
    prior = zipf(6)
    curve = trade_off(Game.from_prior(prior, privacy=1 - np.eye(6), quality=1 - np.eye(6), budget=0.5))
    budget = np.linspace(0, 1.5, 31)
    expected = np.minimum(budget, 1 - prior.max())
    np.testing.assert_allclose(curve.lower(budget), expected, atol=1e-9)
    np.testing.assert_allclose(curve.upper(budget), expected, atol=1e-9)


@given(st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=25)
def test_the_optimum_lies_between_the_envelopes_everywhere(seed, where):
    game = random_game(seed, 4, 4, 4, 1.0)
    curve = trade_off(game, tolerance=0.02)
    assert curve.width <= 0.02 * game.prior_risk + 1e-12
    budget = game.least_loss + where * (game.saturation - game.least_loss)
    solution = solve(game.with_budget(budget))
    slack = 1e-9 * game.prior_risk
    assert curve.lower(budget) <= solution.bound + slack
    assert curve.upper(budget) >= solution.privacy - slack


def test_given_budgets_are_the_points_and_agree_with_cold_solves():
    game = euclid_game(4, 4, 0.5)
    budgets = np.linspace(0.1, 1.0, 7) * game.saturation
    curve = trade_off(game, budgets=budgets)
    np.testing.assert_allclose(curve.budget, budgets)
    for budget, privacy, bound in zip(budgets, curve.privacy, curve.bound, strict=True):
        cold = solve(game.with_budget(budget))
        assert privacy <= cold.bound
        assert bound >= cold.privacy
        assert bound - privacy <= 1e-6 * bound


def test_every_breakpoint_is_found():
    """Oracle: slopes by differences of exact solves on a fine grid; each bend of theirs is a corner of the curve."""
    game = Game.from_prior(zipf(5, 3), privacy=grid_distances(1, 5), quality=grid_distances(1, 5) ** 2, budget=1.0)
    curve = trade_off(game, breakpoints=True)
    fine = np.linspace(0, game.saturation, 241)
    value = np.array([solve(game.with_budget(budget), tolerance=1e-10).privacy for budget in fine])
    np.testing.assert_allclose(curve.lower(fine), value, atol=1e-8)
    np.testing.assert_allclose(curve.upper(fine), value, atol=1e-8)
    slope = np.diff(value) / np.diff(fine)
    bends = fine[1:-1][np.abs(np.diff(slope)) > 1e-4]
    assert len(bends) > 2
    step = fine[1] - fine[0]
    assert all(np.abs(curve.corners - bend).min() <= step for bend in bends)
    assert curve.width <= 1e-8 * game.prior_risk


def test_curve_is_monotone_and_concave():
    game = euclid_game(3, 4, 0.5)
    curve = trade_off(game)
    budget = np.linspace(0, game.saturation, 200)
    for envelope in (curve.lower(budget), curve.upper(budget)):
        steps = np.diff(envelope)
        assert (steps >= -1e-12).all()
        assert (np.diff(steps) <= 1e-9).all()


def test_a_curve_starts_at_the_least_loss_that_its_rows_allow():
    """f(0|0) <= 0.5: half of the time the first input must move, which the cheapest releases alone would not show."""
    game = euclid_game(1, 3, 0.9)
    capped = LinearRows(np.eye(1, 9), lower=np.full(1, -np.inf), upper=np.full(1, 0.5))
    curve = trade_off(Game(game.error, game.cost, budget=game.budget, rows=capped), tolerance=1e-2)
    assert curve.budget[0] == pytest.approx(0.5 * np.sort(game.cost[0])[1])
    assert curve.lower(game.saturation) <= game.prior_risk


def test_every_breakpoint_of_a_causal_curve_is_found():
    chain = MarkovProfile.from_matrix([[0.2, 0.8], [0.6, 0.4]])
    line = from_matrix(grid_distances(1, 2))
    game = Game.from_scenario(chain, Scenario.present_future(), privacy=total(line), quality=total(line))
    curve = trade_off(game, breakpoints=True)
    assert curve.width <= 1e-7 * game.prior_risk
    assert len(curve.budget) <= 20


def test_one_budget_has_the_width_of_its_own_gap():
    game = euclid_game(4, 4, 0.5)
    curve = trade_off(game, budgets=[game.budget])
    assert 0 <= curve.width <= 1e-6 * game.prior_risk


def test_points_in_any_order_make_the_same_hull():
    generator = np.random.default_rng(0)
    x, y = np.sort(generator.random(12)), np.sqrt(np.sort(generator.random(12)))
    order = generator.permutation(12)
    for one, other in zip(upper_hull(x, y), upper_hull(x[order], y[order]), strict=True):
        np.testing.assert_array_equal(one, other)
    hull = np.interp(x, *upper_hull(x, y))
    assert (hull >= y - 1e-12).all()


def test_progress_reports_points_and_distance():
    told = []
    game = euclid_game(3, 3, 0.5)
    trade_off(game, progress=lambda *news: told.append(news))
    assert [news[1:] for news in told] == [(points, 0) for points in range(2, 2 + len(told))]
    widths = [float(what.removesuffix(" apart, budgets")) for what, *_ in told]
    assert widths[-1] <= widths[0]


def test_given_budgets_are_counted_to_the_last():
    game, told = euclid_game(3, 3, 0.5), []
    trade_off(game, budgets=[game.budget, game.saturation], progress=lambda *news: told.append(news))
    assert told == [("budgets", 1, 2), ("budgets", 2, 2)]


def test_a_curve_is_of_one_game():
    with pytest.raises(ParameterError, match=r"a Game\. Got Alternatives"):
        trade_off(Alternatives((euclid_game(2, 2, 0.5),)))


@pytest.mark.parametrize("budgets", [[np.nan], [-1.0], [[1.0]], [], ["x"]])
def test_bad_budgets_are_refused(budgets):
    with pytest.raises(ParameterError, match=r"'budgets?' parameter of trade_off"):
        trade_off(euclid_game(2, 2, 0.5), budgets=budgets)


def test_a_budget_below_the_least_loss_is_refused():
    game = random_game(0, 3, 3, 3, 0.5)
    with pytest.raises(BudgetError) as caught:
        trade_off(game, budgets=[game.least_loss / 2])
    assert caught.value.least == pytest.approx(game.least_loss)


def test_the_table_of_a_curve_has_a_row_per_point():
    curve = trade_off(euclid_game(2, 3, 0.5), budgets=[0.1, 0.3, 0.2])
    frame = curve.to_frame()
    assert frame["budget"].tolist() == [0.1, 0.2, 0.3]
    for name in ("privacy", "bound", "price", "quality_loss"):
        np.testing.assert_array_equal(frame[name], getattr(curve, name))


@pytest.mark.parametrize("budget", ["x", [[1.0], [1.0, 2.0]], 1j, object()])
@pytest.mark.parametrize("envelope", ["lower", "upper"])
def test_a_budget_that_is_no_number_is_refused(envelope, budget):
    curve = trade_off(euclid_game(2, 2, 0.4), budgets=[0.1, 0.2])
    with pytest.raises(ParameterError, match=rf"'budget' parameter of Curve\.{envelope} must be numbers") as refused:
        getattr(curve, envelope)(budget)
    assert refused.value.parameter == "budget"
