"""One mechanism for several games."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, ParameterError, Scenario, solve
from hideseek.errors import BudgetError
from hideseek.game import Alternatives
from hideseek.metrics import from_matrix, total
from hideseek.model.markov import MarkovProfile
from hideseek.solvers import Status
from tests.support.games import euclid_game, grid_distances, random_game, zipf

CHAIN = MarkovProfile.from_matrix([[0.2, 0.5, 0.3, 0], [0.1, 0.1, 0, 0.8], [0, 0.6, 0.2, 0.2], [0.7, 0, 0, 0.3]])


D = grid_distances(2, 2)


def several(seed, count=3, spare=0.1):
    """Games that share their places, with different priors and metrics, and budgets that one mechanism can meet."""
    games = [random_game(seed + 1000 * k, 3, 4, 4, 1.0) for k in range(count)]
    met = np.random.default_rng(seed).dirichlet(np.ones(4), size=4)
    return [game.with_budget((1 + spare) * (game.cost * met).sum()) for game in games]


@given(st.integers(0, 10**4), st.floats(0, 1))
@settings(max_examples=20)
def test_average_and_minimum_lie_where_they_must(seed, spare):
    games = several(seed, spare=spare)
    average, minimum = solve(Alternatives(games, objective="average")), solve(Alternatives(games, objective="minimum"))
    alone = [solve(game) for game in games]
    assert minimum.privacy <= average.bound
    assert average.privacy <= np.mean([one.bound for one in alone])
    assert minimum.privacy <= min(one.bound for one in alone)
    assert average.privacy == pytest.approx(np.mean(average.privacies))
    assert minimum.privacy == pytest.approx(min(minimum.privacies))
    assert minimum.privacy >= min(average.privacies) * (1 - 2e-6)
    for solution in (average, minimum):
        assert solution.status is Status.OPTIMAL
        for game, loss, privacy in zip(games, solution.losses, solution.privacies, strict=True):
            table = solution.mechanism.table
            assert loss == pytest.approx((game.cost * table).sum())
            assert loss <= game.budget * (1 + 1e-9)
            assert privacy <= (game.error @ table).min(axis=0).sum()


@pytest.mark.parametrize("objective", ["average", "minimum"])
@pytest.mark.parametrize("seed", range(4))
def test_both_methods_agree_on_alternatives(objective, seed):
    problem = Alternatives(several(seed), objective=objective)
    fast, whole = solve(problem, method="double_oracle"), solve(problem, method="full_program")
    assert fast.privacy == pytest.approx(whole.privacy, rel=2e-6)
    assert whole.optimality_gap <= 1e-6


def test_a_game_twice_is_the_game_once():
    game = euclid_game(3, 3, 0.4)
    for objective in ("average", "minimum"):
        assert solve(Alternatives((game, game), objective=objective)).privacy == pytest.approx(
            solve(game).privacy, rel=2e-6
        )


def test_weights_pull_the_average_to_one_game():
    games = several(7)
    pulled = solve(Alternatives(games, objective="average", weights=np.array([1.0, 0, 0])))
    even = solve(Alternatives(games, objective="average"))
    assert pulled.privacy == pytest.approx(pulled.privacies[0])
    assert pulled.privacies[0] >= even.privacies[0] * (1 - 2e-6)
    loose = [games[0], *(game.with_budget(1e6) for game in games[1:])]
    assert solve(Alternatives(loose, objective="average", weights=np.array([1.0, 0, 0]))).privacy == pytest.approx(
        solve(games[0]).privacy, rel=2e-6
    )


def test_several_quality_metrics_all_hold():
    prior, distance = zipf(9), grid_distances(3, 3)
    fine = Game.from_prior(prior, privacy=distance, quality=distance**2, budget=0.8)
    coarse = Game.from_prior(prior, privacy=distance, quality=1 - np.eye(9), budget=0.35)
    both = solve(Alternatives((fine, coarse)))
    assert both.privacy <= min(solve(fine).bound, solve(coarse).bound)
    assert (both.losses <= np.array([0.8, 0.35]) * (1 + 1e-9)).all()


def test_budgets_that_no_mechanism_meets_together_are_refused():
    prior = np.array([0.5, 0.5])
    one = Game(prior * (1 - np.eye(2)), np.array([[0, 1.0], [0, 1]]), budget=0.1)
    two = Game(prior * (1 - np.eye(2)), np.array([[1.0, 0], [1, 0]]), budget=0.1)
    with pytest.raises(BudgetError, match=r"in all games. Got .* short by 900.0%"):
        solve(Alternatives((one, two)))


def relabelled(game, first):
    return Game(game.error, game.cost, budget=game.budget, inputs=np.arange(first, first + 4)[:, None])


def test_causal_games_of_two_profiles_can_be_solved_together():
    other = MarkovProfile.from_matrix(np.where(CHAIN.transition > 0, 1.0, 0) / (CHAIN.transition > 0).sum(1)[:, None])
    games = []
    for profile in (CHAIN, other):
        game = Game.from_scenario(
            profile, Scenario.present_future(), privacy=total(from_matrix(D)), quality=from_matrix(D)
        )
        games.append(game.with_budget(0.5 * game.saturation))
    solution = solve(Alternatives(games, objective="minimum"))
    assert solution.status is Status.OPTIMAL
    assert np.abs(games[0].rows.matrix @ solution.mechanism.table.ravel()).max() <= 1e-8


@pytest.mark.parametrize(
    ("games", "options", "match"),
    [
        ([], {}, "at least one game"),
        ([euclid_game(2, 2, 0.5), euclid_game(2, 3, 0.5)], {}, "other inputs in game 1"),
        ([relabelled(euclid_game(2, 2, 0.5), k) for k in (0, 1)], {}, "other inputs in game 1"),
        ([euclid_game(2, 2, 0.5)] * 2, {"objective": "best"}, "one of 'average', 'minimum'"),
        ([euclid_game(2, 2, 0.5)] * 2, {"weights": np.array([0.5, 0.6])}, "sum to 1"),
        ([euclid_game(2, 2, 0.5)] * 2, {"weights": np.array([1.0])}, "one per game"),
    ],
)
def test_bad_alternatives_are_refused(games, options, match):
    with pytest.raises(ParameterError, match=match):
        Alternatives(games, **options)
