"""Adversaries, and the paper's toy: nine places become four, and two releases give both places away."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, MarkovProfile, Mechanism, ParameterError, solve
from hideseek.adversary.one_shot import best_guesses, correlation_aware_error, expected_error, guess_distribution
from hideseek.metrics import hamming
from hideseek.model import possible_trajectories
from tests.support.games import games, random_game
from tests.support.toy import CELLS, number, support, toy


def test_the_toy_s_first_release_leaves_nine_places():
    chain, table = toy()
    law = possible_trajectories(chain, (-1, 0)).given({-1: number(2, 2)}, table)
    assert support(law, -1) == {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)}
    assert support(law, 0) == {(x, y) for x in (1, 2, 3, 4) for y in (1, 2, 3, 4)}


def test_the_toy_s_second_release_turns_one_ninth_into_one_fourth():
    chain, table = toy()
    alone = possible_trajectories(chain, (0,)).given({0: number(4, 4)}, table)
    assert len(support(alone, 0)) == 9
    both = possible_trajectories(chain, (-1, 0)).given({-1: number(2, 2), 0: number(4, 4)}, table)
    assert support(both, 0) == {(3, 3), (3, 4), (4, 3), (4, 4)}


def test_the_toy_s_corner_gives_both_places_away():
    chain, table = toy()
    law = possible_trajectories(chain, (-1, 0)).given({-1: number(1, 1), 0: number(4, 4)}, table)
    assert [[CELLS[k] for k in row] for row in law.sequences] == [[(2, 2), (3, 3)]]
    assert law.probability.tolist() == [1.0]


def test_the_toy_s_naive_user_is_caught_by_an_adversary_who_remembers():
    chain, table = toy()
    mechanism = Mechanism(table)
    game = Game.from_prior(chain.stationary, privacy=1 - np.eye(25), quality=1 - np.eye(25), budget=1.0)
    assert correlation_aware_error(chain, mechanism, privacy=hamming()) < expected_error(game, mechanism) - 0.05


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_remembering_adversary_agrees_with_enumeration(seed):
    generator = np.random.default_rng(seed)
    matrix, table = generator.dirichlet(np.ones(3), 3), generator.dirichlet(np.ones(3), 3)
    d_p = generator.random((3, 3))
    chain = MarkovProfile.from_matrix(matrix)
    expected = 0.0
    for before, now in itertools.product(range(3), repeat=2):
        expected += min(
            sum(
                chain.stationary[a] * matrix[a, b] * table[a, before] * table[b, now] * d_p[guess, b]
                for a, b in itertools.product(range(3), repeat=2)
            )
            for guess in range(3)
        )
    assert correlation_aware_error(chain, Mechanism(table), privacy=d_p) == pytest.approx(expected)
    game = Game.from_prior(chain.stationary, privacy=d_p, quality=np.zeros((3, 3)), budget=0.0)
    assert expected <= expected_error(game, Mechanism(table)) + 1e-12


@given(games())
@settings(max_examples=25)
def test_no_attack_beats_the_best_guesses_and_the_optimal_one_ties(game):
    solution = solve(game)
    mechanism = solution.mechanism
    best = expected_error(game, mechanism)
    guesses = best_guesses(game, mechanism)
    one_hot = np.eye(len(game.error))[guesses]
    assert expected_error(game, mechanism, attack=one_hot) == pytest.approx(best)
    assert expected_error(game, mechanism, attack=solution.attack) == pytest.approx(best, rel=1e-5, abs=1e-9)
    careless = np.full_like(solution.attack, 1 / len(game.error))
    assert expected_error(game, mechanism, attack=careless) >= best - 1e-12
    assert solution.privacy <= best


def test_the_optimal_attack_does_well_against_every_mechanism():
    """h holds any mechanism of the same budget to the bound: the other half of the saddle point."""
    game = random_game(5, 3, 3, 3, 0.5)
    solution = solve(game, tolerance=1e-9)
    generator = np.random.default_rng(0)
    for table in generator.dirichlet(np.ones(3) * 0.5, size=(300, 3)):
        if (game.cost * table).sum() <= game.budget:
            assert expected_error(game, Mechanism(table), attack=solution.attack) <= solution.bound + 1e-12


def test_guesses_have_a_distribution_for_every_input():
    game = random_game(6, 4, 3, 3, 0.5)
    solution = solve(game)
    np.testing.assert_allclose(guess_distribution(solution.mechanism, solution.attack).sum(axis=1), 1)


def test_a_table_of_other_places_is_refused():
    chain = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="one row for each of the 2 places"):
        correlation_aware_error(chain, Mechanism(np.eye(3)), privacy=hamming())
