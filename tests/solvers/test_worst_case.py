"""The most exposed place: against a grid of tables, and against the expected optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, ParameterError, solve
from hideseek.errors import SizeError
from hideseek.solvers import solve_worst_case
from hideseek.solvers.worst_case import worst_error
from tests.support.games import euclid_game, random_game, zipf


def smallest_error(game, table):
    """By definition: each release's best guesses (all that tie), each input's error under the worst of them."""
    inputs = range(len(game.cost))
    errors = []
    for i in inputs:
        error = 0.0
        for o in range(game.cost.shape[1]):
            expected = [sum(game.error[g, j] * table[j, o] for j in inputs) for g in range(len(game.error))]
            ties = [g for g, value in enumerate(expected) if value <= min(expected) + 1e-9 * game.prior_risk]
            error += table[i, o] * min(game.error[g, i] / game.mass[i] for g in ties)
        errors.append(error)
    return min(errors)


@given(st.integers(0, 10**4), st.floats(0.05, 0.95))
@settings(max_examples=15)
def test_worst_case_is_at_least_every_grid_table_and_within_its_bound(seed, share):
    generator = np.random.default_rng(seed)
    prior = generator.dirichlet(np.ones(2) * 3)
    d_p = np.array([[0, 1 + generator.random()], [1 + generator.random(), 0]])
    game = Game.from_prior(prior, privacy=d_p, quality=1 - np.eye(2), budget=share * prior.min())
    solution = solve_worst_case(game)
    best = 0.0
    for a, b in itertools.product(np.linspace(0, 1, 51), repeat=2):
        table = np.array([[a, 1 - a], [b, 1 - b]])
        if (game.cost * table).sum() <= game.budget:
            best = max(best, smallest_error(game, table))
    assert solution.privacy <= solution.bound
    assert smallest_error(game, solution.mechanism.table) >= solution.privacy - 1e-9
    assert best <= solution.bound + 1e-9
    assert solution.privacy >= best - 1e-4 * d_p.max()
    assert solution.quality_loss <= game.budget * (1 + 1e-9)


@pytest.mark.parametrize("places", [3, 5])
def test_the_worst_case_protects_an_input_that_the_average_exposes(places):
    prior = zipf(places, 1)
    game = Game.from_prior(prior, privacy=1 - np.eye(places), quality=1 - np.eye(places), budget=0.2)
    assert worst_error(game, solve(game).mechanism.table) == pytest.approx(0, abs=1e-9)
    protected = solve_worst_case(game)
    assert protected.privacy > 0.15
    # the error at the most exposed input cannot exceed the expected error, nor that the optimum
    assert protected.privacy <= solve(game).bound
    table = protected.mechanism.table
    guess = (game.error @ table).argmin(axis=0)
    by_hand = min(sum(table[i, o] * (guess[o] != i) for o in range(places)) for i in range(places))
    assert protected.privacy == pytest.approx(by_hand, rel=1e-6)


def test_an_adversary_who_hardly_prefers_a_guess_may_make_the_other():
    game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=np.zeros((2, 2)), budget=0.0)
    slight = 1e-13
    table = np.array([[0.5 + slight, 0.5 - slight], [0.5 - slight, 0.5 + slight]])
    assert worst_error(game, table) == pytest.approx(0, abs=1e-9)
    assert worst_error(game, np.array([[0.6, 0.4], [0.4, 0.6]])) == pytest.approx(0.4)


def test_worst_case_needs_probabilities_and_a_small_game():
    with pytest.raises(ParameterError, match="one without probabilities"):
        solve_worst_case(random_game(0, 2, 2, 2, 0.5))
    with pytest.raises(SizeError, match="Use fewer places"):
        solve_worst_case(euclid_game(8, 8, 0.5))
