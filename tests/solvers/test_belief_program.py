"""One program for all beliefs: what it plays is as good as anything, wherever it comes from, and its cuts hold."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, solve
from hideseek.game import Alternatives
from hideseek.solvers.belief_program import BeliefProgram
from tests.oracles.full_program import best_value

CLOSE = 2e-6  # in units of the mean error: the tolerance of a play, 1e-6, and scipy's
SCIPY = 1e-7  # by so much may scipy break a row, and be better than anything can be


@cache
def instance(seed: int, size: int = 4, cuts: int = 3):
    """Errors, losses (nothing is lost by some release of every input), a budget, and a future."""
    generator = np.random.default_rng(seed)
    error, cost = generator.random((size + 1, size)), generator.random((size, size + 2))
    cost[np.arange(size), generator.integers(0, size + 2, size)] = 0
    return error, cost, generator.uniform(0, 0.3), generator.random((cuts, size)) * 3


def beliefs(size: int = 4, count: int = 12, seed: int = 0) -> list[np.ndarray]:
    """Laws: flat, peaked, with zeros, with tiny masses, and single states."""
    generator = np.random.default_rng(seed)
    found = list(generator.dirichlet(np.full(size, 0.7), count))
    for k, tiny in enumerate((0.0, 1e-15, 1e-9, 1e-6)):
        made = generator.dirichlet(np.ones(size))
        made[k % size] = tiny
        found.append(made / made.sum())
    return [*found, np.eye(size)[0], np.full(size, 1 / size)]


def made_program(seed: int, now: float = 1.0, later: float = 0.0) -> BeliefProgram:
    error, cost, budget, cuts = instance(seed)
    made = BeliefProgram(error, cost, budget, now, later)
    if later:
        made.add(cuts)
    return made


@pytest.mark.parametrize("seed", range(6))
def test_privacy_now_is_the_game_s_own_at_every_belief(seed):
    error, cost, budget, _ = instance(seed)
    program = made_program(seed)
    for belief in beliefs(seed=seed):
        found = program.play(belief)
        known = solve(Game(error * belief, cost * belief[:, None], budget=budget))
        full = best_value(error, cost, budget, belief)
        assert found.privacy == pytest.approx(full, abs=CLOSE * error.mean())
        assert known.privacy * (1 - 1e-6) - SCIPY <= full <= known.bound + SCIPY
        assert full - SCIPY <= found.bound <= found.privacy + CLOSE * error.mean()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weights", [(1.0, 0.9), (0.0, 1.0), (1.0, 30.0)])
def test_now_and_the_future_are_traded_as_in_the_full_program(seed, weights):
    error, cost, budget, cuts = instance(seed)
    program = made_program(seed, *weights)
    for belief in beliefs(seed=seed):
        found = program.play(belief)
        value = weights[0] * found.privacy + weights[1] * found.future
        full = best_value(error, cost, budget, belief, *weights, cuts)
        assert value == pytest.approx(full, abs=CLOSE * error.mean())
        assert full - SCIPY * sum(weights) <= found.bound <= value + CLOSE * error.mean()
        # what is said of the table is so
        joint = belief[:, None] * found.table
        assert found.privacy == pytest.approx((error @ joint).min(axis=0).sum(), abs=1e-12)
        assert found.future == pytest.approx((cuts @ joint).min(axis=0).sum(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_now_and_the_future_are_traded_as_between_two_games(seed):
    error, cost, budget, cuts = instance(seed, cuts=5)  # as many cuts as guesses are
    belief, later = beliefs(seed=seed)[0], 0.8
    made = BeliefProgram(error, cost, budget, 1.0, later)
    made.add(cuts)
    found = made.play(belief)
    games = tuple(Game(rows * belief, cost * belief[:, None], budget=budget) for rows in (error, cuts))
    known = solve(Alternatives(games, weights=np.array([1, later]) / (1 + later)))
    value = (found.privacy + later * found.future) / (1 + later)
    assert known.privacy - CLOSE <= value <= known.bound + CLOSE


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.5, 0.9, 1 - 1e-6])
def test_the_least_privacy_is_kept_and_costs_no_more_than_it_must(seed, share):
    error, cost, budget, cuts = instance(seed)
    alone, program = made_program(seed), made_program(seed, 0.0, 1.0)
    for belief in beliefs(seed=seed)[::3]:
        first = alone.play(belief, tolerance=1e-9)
        least = share * first.privacy
        found = program.play(belief, least, known=first.table)
        full = best_value(error, cost, budget, belief, 0.0, 1.0, cuts, least)
        assert found.privacy >= least * (1 - 1e-6) - 1e-12
        assert found.future == pytest.approx(full, abs=1e-5 * error.mean())
        assert found.bound >= full - SCIPY


@pytest.mark.parametrize("weights", [(1.0, 0.0), (1.0, 0.9)])
@given(seed=st.integers(0, 5), other=st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_cut_of_one_belief_bounds_every_table_at_another(weights, seed, other):
    error, cost, budget, cuts = instance(seed)
    own = made_program(seed, *weights).play(beliefs(seed=seed)[other % 18])
    for belief in np.random.default_rng(other).dirichlet(np.full(4, 0.5), 4):
        worth = best_value(error, cost, budget, belief, *weights, cuts if weights[1] else None)
        assert own.cut @ belief >= worth - SCIPY


def test_the_cut_is_as_tight_as_the_bound_at_its_own_belief():
    for belief in beliefs():
        found = made_program(1, 1.0, 0.9).play(belief)
        assert found.cut @ belief == pytest.approx(found.bound, abs=1e-9)


@given(st.permutations(range(18)), st.integers(0, 5))
@settings(max_examples=15)
def test_the_order_of_plays_does_not_matter(order, seed):
    every = beliefs(seed=seed)
    straight, shuffled = made_program(seed, 1.0, 0.9), made_program(seed, 1.0, 0.9)
    error = instance(seed)[0]
    known = [straight.play(belief) for belief in every]
    for at in order:
        found = shuffled.play(every[at])
        assert found.privacy + 0.9 * found.future == pytest.approx(
            known[at].privacy + 0.9 * known[at].future, abs=CLOSE * error.mean()
        )


@pytest.mark.parametrize("later", [0.0, 0.9])
@pytest.mark.parametrize("size", [4, 12])
def test_after_restore_a_table_depends_on_the_belief_alone(size, later):
    every = beliefs(size, seed=2)
    error, cost, budget, cuts = instance(2, size)
    program = BeliefProgram(error, cost, budget, 1.0, later)
    if later:
        program.add(cuts)
    program.play(every[0])
    program.keep()
    known = []
    for belief in every:
        program.restore()
        known.append(program.play(belief))
    for at in np.random.default_rng(0).permutation(len(every)):
        for belief in every[:at]:
            program.play(belief)  # whatever happened in between
        program.restore()
        again = program.play(every[at])
        np.testing.assert_array_equal(again.table, known[at].table)
        assert (again.privacy, again.future, again.bound) == (known[at].privacy, known[at].future, known[at].bound)


def test_cuts_that_come_later_count():
    error, cost, budget, cuts = instance(3)
    program = BeliefProgram(error, cost, budget, 1.0, 0.9)
    program.add(cuts[:1] + 5)
    for belief in beliefs(seed=3)[:4]:
        before = program.play(belief)
        full = best_value(error, cost, budget, belief, 1.0, 0.9, cuts[:1] + 5)
        assert before.privacy + 0.9 * before.future == pytest.approx(full, abs=CLOSE)
    program.add(cuts[1:])
    both = np.vstack([cuts[:1] + 5, cuts[1:]])
    for belief in beliefs(seed=3):
        found = program.play(belief)
        full = best_value(error, cost, budget, belief, 1.0, 0.9, both)
        assert found.privacy + 0.9 * found.future == pytest.approx(full, abs=CLOSE)


@pytest.mark.parametrize("budget", [0.0, 1e-6, 0.05, 10.0])
def test_tables_are_distributions_and_keep_the_budget_exactly(budget):
    error, cost, _, cuts = instance(4)
    program = BeliefProgram(error, cost, budget, 1.0, 0.9)
    program.add(cuts)
    for belief in beliefs(seed=4):
        found = program.play(belief)
        assert found.table.min() >= 0
        np.testing.assert_allclose(found.table.sum(axis=1), 1, atol=1e-12)
        assert found.loss == pytest.approx((belief[:, None] * cost * found.table).sum(), abs=1e-15)
        assert found.loss <= budget * (1 + 1e-15)
