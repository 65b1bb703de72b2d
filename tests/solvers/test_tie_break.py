"""Of several optimal mechanisms the one that a second game likes best, against a program that shares no code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, ParameterError, Scenario, solve
from hideseek.errors import SolverError
from hideseek.game import Alternatives
from hideseek.metrics import from_matrix, hamming, squared, total
from hideseek.model.markov import MarkovProfile
from hideseek.solvers import Method, prefer
from hideseek.solvers.tie_break import _Preference
from tests.support.games import euclid_game, grid_distances, random_game, shares, sizes, zipf
from tests.support.proofs import ENOUGH, TOLERANCE, assert_preferred, assert_proved, value


def unchanged(preferred, solution):
    return preferred.mechanism is solution.mechanism and preferred.privacy == solution.privacy


@given(st.integers(0, 10**6), sizes, sizes, sizes, sizes, shares)
@settings(max_examples=60)
def test_random_games_reach_what_a_program_in_two_stages_reaches(seed, guesses, others, inputs, releases, share):
    solution = solve(random_game(seed, guesses, inputs, releases, share))
    second = random_game(seed + 1, others, inputs, releases, share)
    preferred = prefer(solution, second)
    assert_preferred(solution, second, preferred)
    assert_proved(preferred, tolerance=2 * TOLERANCE)


def next_step(game, shape, seed=0):
    """The adversary's error about the place after the next step of a random walk on the grid."""
    near = np.where(grid_distances(*shape) <= 1, 1, 0) * zipf(np.prod(shape), seed) ** 0.5
    walk = near / near.sum(axis=1, keepdims=True)
    return Game(grid_distances(*shape) @ walk.T * game.mass, game.cost, budget=game.budget)


@pytest.mark.parametrize("share", [0.05, 0.4, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_the_next_place_gains_where_many_mechanisms_are_optimal(share, seed):
    game = euclid_game(3, 4, share, seed)
    second = next_step(game, (3, 4), seed)
    solution = solve(game)
    preferred = prefer(solution, second)
    assert_preferred(solution, second, preferred)
    assert_proved(preferred, tolerance=2 * TOLERANCE)
    if share < 0.8:
        assert value(second, preferred) > value(second, solution) * 1.001
    assert preferred.game is game
    assert (preferred.bound, preferred.attacks, preferred.status) == (
        solution.bound,
        solution.attacks,
        solution.status,
    )


@pytest.mark.parametrize("budget", [0.05, 0.2, 0.5])
def test_a_coin_is_replaced_by_what_the_second_game_likes(budget):
    prior = zipf(5, 2)
    game = Game.from_prior(prior, privacy=1 - np.eye(5), quality=1 - np.eye(5), budget=budget)
    second = Game.from_prior(prior, privacy=grid_distances(1, 5), quality=1 - np.eye(5), budget=budget)
    solution = solve(game)
    assert solution.method is Method.CLOSED_FORM
    preferred = prefer(solution, second)
    assert_preferred(solution, second, preferred)
    assert value(second, preferred) > 1.05 * value(second, solution)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_where_every_mechanism_is_optimal_the_second_game_is_solved(seed, share):
    second = random_game(seed, 4, 5, 5, share)
    first = Game(second.error[:1], second.cost, budget=second.budget)  # one guess: nothing is learnt from any release
    assert solve(first).privacy == pytest.approx(first.prior_risk)
    assert value(second, prefer(solve(first), second)) == pytest.approx(solve(second).privacy, rel=ENOUGH)


@pytest.mark.parametrize("seed", range(4))
def test_a_saturated_game_gives_the_second_its_prior_risk(seed):
    first, second = random_game(seed, 4, 5, 5, 1.0), random_game(seed + 1, 3, 5, 5, 1.0)
    assert value(second, prefer(solve(first.with_budget(2 * first.saturation)), second)) == pytest.approx(
        second.prior_risk
    )


@given(st.integers(0, 10**6), sizes, sizes)
@settings(max_examples=20)
def test_a_unique_optimum_stays(seed, guesses, inputs):
    """With the least budget every input makes its one cheapest release."""
    solution = solve(random_game(seed, guesses, inputs, 4, 0.0))
    second = random_game(seed + 1, 3, inputs, 4, 0.0)
    preferred = prefer(solution, second)
    assert value(second, preferred) == pytest.approx(value(second, solution), rel=1e-9)
    np.testing.assert_array_equal(preferred.mechanism.table > 0.5, solution.mechanism.table > 0.5)


CHAIN = MarkovProfile.from_matrix([[0.2, 0.5, 0.3, 0], [0.1, 0.1, 0, 0.8], [0, 0.6, 0.2, 0.2], [0.7, 0, 0, 0.3]])


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_causal_mechanism_stays_causal(share):
    metric = from_matrix(grid_distances(2, 2))
    scenario = Scenario.present_future()
    game = Game.from_scenario(CHAIN, scenario, privacy=total(metric), quality=total(squared(metric)))
    game = game.with_budget(share * game.saturation)
    second = Game.from_scenario(CHAIN, scenario, privacy=hamming(), quality=hamming())
    solution = solve(game)
    preferred = prefer(solution, second)
    assert_preferred(solution, second, preferred)
    assert value(second, preferred) > 1.001 * value(second, solution)
    assert np.abs(game.rows.matrix @ preferred.mechanism.table.ravel()).max() <= 1e-12
    np.testing.assert_array_equal(preferred.mechanism.releases, game.releases)


def test_places_that_only_the_second_game_knows_keep_their_rows():
    prior = np.r_[zipf(4, 1), 0]
    distance = grid_distances(1, 5)
    first = Game.from_prior(prior, privacy=distance, quality=distance**2, budget=0.3)
    second = random_game(3, 4, 5, 5, 1.0)
    solution = solve(first)
    assert_preferred(solution, second, prefer(solution, second))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_second_game_may_have_any_unit(unit):
    game = euclid_game(3, 3, 0.3)
    second = next_step(game, (3, 3))
    plain, other = (
        prefer(solve(game), Game(second.error * scale, second.cost, budget=second.budget)) for scale in (1.0, unit)
    )
    assert value(second, other) == pytest.approx(value(second, plain), rel=ENOUGH)


def test_two_runs_give_the_same_table():
    game = euclid_game(4, 4, 0.4)
    second = next_step(game, (4, 4))
    one, two = (prefer(solve(game), second).mechanism.table for _ in range(2))
    np.testing.assert_array_equal(one, two)


def failing(oracle):
    raise SolverError("no")


@pytest.mark.parametrize(
    "instead",
    [
        failing,
        lambda oracle: None,
        lambda oracle: np.eye(9),  # the truth: no privacy
        lambda oracle: np.full((9, 9), np.nan),
        lambda oracle: oracle.solution.mechanism.table,  # nothing gained
    ],
)
def test_without_improvement_the_solution_stays_as_it_was(instead, monkeypatch):
    game = euclid_game(3, 3, 0.3)
    solution, second = solve(game), next_step(game, (3, 3))
    assert not unchanged(prefer(solution, second), solution)
    monkeypatch.setattr(_Preference, "best_table", instead)
    assert unchanged(prefer(solution, second), solution)


def test_a_table_beyond_the_budget_is_repaired_before_it_is_judged(monkeypatch):
    game = euclid_game(3, 3, 0.3)
    solution, second = solve(game), next_step(game, (3, 3))
    dear = solve(game.with_budget(2 * game.budget)).mechanism.table  # better for both games, for twice the money
    monkeypatch.setattr(_Preference, "best_table", lambda oracle: dear)
    assert unchanged(prefer(solution, second), solution)


def test_a_game_worth_nothing_asks_for_nothing():
    game = euclid_game(2, 2, 0.3)
    nothing = Game(np.zeros((1, 4)), game.cost, budget=game.budget)
    solution = solve(game)
    assert unchanged(prefer(solution, nothing), solution)
    idle = solve(Game(np.zeros((2, 4)), game.cost, budget=game.budget))
    assert value(game, prefer(idle, game)) == pytest.approx(solution.privacy, rel=ENOUGH)


def test_what_cannot_be_compared_is_refused():
    game = euclid_game(2, 2, 0.3)
    solution = solve(game)
    with pytest.raises(ParameterError, match="other inputs"):
        prefer(solution, euclid_game(2, 3, 0.3))
    with pytest.raises(ParameterError, match="other releases"):
        prefer(solution, Game(game.error, np.ones((4, 3)), budget=4.0))
    with pytest.raises(ParameterError, match="a single Game"):
        prefer(solve(Alternatives((game, game))), game)
    with pytest.raises(ParameterError, match="The 'second' parameter of prefer"):
        prefer(solution, Alternatives((game, game)))
    with pytest.raises(ParameterError, match="The 'tolerance' parameter of prefer"):
        prefer(solution, game, tolerance=0)


def test_next_to_nothing_to_hide_leaves_the_solution_as_it_is():
    """A risk of 4e-15 against errors of thousands: coefficients that HiGHS does not take."""
    error = np.array([[4e3, 0.0], [0.0, 4e-15]])
    solution = solve(Game(error, np.array([[2e7, 0.0], [0.0, 1e-11]]), budget=3e5))
    second = Game(np.array([[4e3, 1e-15], [10.0, 2e-15]]), solution.game.cost, budget=3e5)
    assert unchanged(prefer(solution, second), solution)
