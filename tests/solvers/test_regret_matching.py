"""Regret matching, against scipy on the whole program."""

from __future__ import annotations

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from hideseek import Game, ParameterError, solve
from hideseek.errors import MissingExtraError
from hideseek.game import Alternatives, LinearRows
from hideseek.solvers import Method, Status, regret_matching
from hideseek.solvers.regret_matching import RegretMatching
from tests.oracles.whole_game import optimum
from tests.support.games import euclid_game, games, random_game
from tests.support.progress import told_bounds


@pytest.mark.parametrize(("rows", "share"), [(3, 0.2), (6, 0.5), (6, 0.8)])
def test_the_optimum_lies_within_the_claimed_gap(rows, share):
    game, told = euclid_game(rows, 4, share), []
    solution = solve(game, tolerance=0.01, method="first order", progress=lambda *news: told.append(news))
    best = optimum(game)
    assert (solution.method, solution.status) == (Method.FIRST_ORDER, Status.OPTIMAL)
    assert 0.99 * best <= solution.privacy <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= solution.bound <= best / 0.99
    what, *rounds = told[-1]
    assert rounds == [solution.iterations, 0]
    assert told_bounds(what) == pytest.approx((solution.privacy, solution.bound), rel=0.01)
    assert solution.iterations <= 500  # above 700 if all rounds counted the same


@given(games())
@settings(max_examples=40)
def test_the_bounds_hold_whenever_time_runs_out(game):
    if game.budget <= game.least_loss:
        return
    solution = solve(game, tolerance=0.05, method="first order", time_limit=2)
    best = optimum(game)  # scipy may overspend by 1e-7, at any price
    assert solution.privacy <= best + 1e-6
    assert solution.bound >= best - 1e-6


def test_any_library_of_the_array_standard_gives_the_same():
    game = random_game(0, 5, 6, 7, 0.5)
    strict = [
        array_api_strict.asarray(array.astype(np.float32))
        for array in (game.error / game.prior_risk, game.cost / game.budget)
    ]
    top = game.budget / (game.budget - game.least_loss)
    own = RegretMatching(*strict, top)
    plain = RegretMatching(*(np.asarray(array) for array in strict), top)
    for _ in range(50):
        own.play()
        plain.play()
    np.testing.assert_allclose(own.bounds(), plain.bounds(), rtol=1e-4)
    np.testing.assert_allclose(own.answer(0.1, 0.0).table, plain.answer(0.1, 0.0).table, atol=1e-4)


@pytest.mark.parametrize(("hardware", "package"), [("cuda", "torch"), ("cupy", "cupy")])
def test_hardware_whose_library_is_missing_is_refused_before_any_work(hardware, package, monkeypatch):
    def nothing_installed(name):
        raise ImportError(name)

    monkeypatch.setattr(regret_matching, "import_module", nothing_installed)
    with pytest.raises(MissingExtraError, match=f"'{hardware}' needs {package}"):
        solve(euclid_game(3, 3, 0.5), tolerance=0.01, hardware=hardware)


def test_hardware_that_is_not_there_is_named(monkeypatch):
    def asarray(array, device):
        raise RuntimeError(f"no {device}")

    monkeypatch.setattr(regret_matching, "import_module", lambda name: SimpleNamespace(asarray=asarray))
    with pytest.raises(ParameterError, match=r"'hardware' .* Got 'nowhere' .*no nowhere"):
        solve(euclid_game(3, 3, 0.5), tolerance=0.01, hardware="nowhere")


GAME = euclid_game(3, 3, 0.5)


SAME = LinearRows(
    sparse.csr_array(np.eye(1, 81) - np.eye(1, 81, 9)), lower=np.zeros(1), upper=np.zeros(1)
)  # f(0|0) = f(0|1)


LIMITED = Game(GAME.error, GAME.cost, budget=GAME.budget, rows=SAME, mass=GAME.mass)


@pytest.mark.parametrize("game", [GAME.with_budget(GAME.least_loss), Alternatives((GAME, GAME)), LIMITED])
def test_games_that_regret_matching_is_not_for_are_refused(game):
    with pytest.raises(ParameterError, match="first order"):
        solve(game, tolerance=0.01, method="first order")


def test_the_certificate_decides_and_not_what_the_solver_sees(monkeypatch):
    seen = RegretMatching.bounds
    monkeypatch.setattr(RegretMatching, "bounds", lambda own: (seen(own)[1], *seen(own)[1:]))  # as if there
    assert solve(euclid_game(6, 4, 0.5), tolerance=0.01, method="first order").status is Status.OPTIMAL


def test_a_game_without_errors_is_solved_at_once():
    solution = solve(Game(0 * GAME.error, GAME.cost, budget=GAME.budget), tolerance=0.01, method="first order")
    assert (solution.privacy, solution.bound, solution.status) == (0, 0, Status.OPTIMAL)


def test_an_answer_has_no_traces_of_early_rounds():
    own = RegretMatching(GAME.error / GAME.prior_risk, GAME.cost / GAME.budget, 1.0)
    for _ in range(50):
        own.play()
    answer, whole = (own.answer(0.1, trace) for trace in (1e-3, 0.0))
    for few, all_of_it in ((answer.table, whole.table), (answer.attacks[0], whole.attacks[0])):
        assert (all_of_it > 0).sum() > (few > 0).sum()
        np.testing.assert_array_equal(few, np.where(all_of_it > 1e-3, all_of_it, 0))


@pytest.mark.parametrize("budget", [0.01, 0.03])
def test_a_small_budget_is_given_the_rounds_it_needs(budget):
    game = euclid_game(6, 6, 0.5).with_budget(budget)
    solution = solve(game, tolerance=0.01, method="first order")
    assert solution.status is Status.OPTIMAL
    assert 0.99 * optimum(game) <= solution.privacy


def test_time_that_runs_out_leaves_an_honest_gap():
    game = euclid_game(10, 10, 0.5)
    solution = solve(game, tolerance=1e-9, method="first order", time_limit=0.0)
    assert solution.status is Status.TIME_LIMIT
    assert solution.privacy <= optimum(game) <= solution.bound


def test_a_gap_beyond_single_precision_ends_the_rounds():
    game = euclid_game(3, 3, 0.5)
    solution = solve(game, tolerance=1e-12, method="first order")
    assert solution.status is Status.STALLED
    assert solution.privacy <= optimum(game) * (1 + 1e-9)
    assert 0 < solution.optimality_gap < 1e-2
