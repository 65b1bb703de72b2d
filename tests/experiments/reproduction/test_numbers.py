"""The numbers of the reproduction, against loops over the definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import MarkovProfile
from hideseek.experiments.reproduction.numbers import (
    Optimum,
    entropy_rate,
    location_rows,
    optimal,
    program_rows,
    sporadic_rows,
)

CHAIN = MarkovProfile.from_matrix([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4]])


def coin_table(prior, budget):
    """Tell the truth, or the likeliest place."""
    lie = min(1.0, budget / (1 - prior.max()))
    return (1 - lie) * np.eye(len(prior)) + lie * np.eye(len(prior))[prior.argmax()]


@pytest.mark.parametrize("budget", [0.05, 0.2, 0.35, 0.6])
def test_the_distribution_that_travels_is_that_of_all_ways(budget):
    """Pr(o_1, r_2) and Pr(o_2, r_3) added up over all ways, with a table of its own after every o_1."""
    places = range(3)
    psi, moves = CHAIN.stationary, CHAIN.transition
    first = coin_table(psi, budget)
    second_prior = np.zeros((3, 3))
    for r1, o1, r2 in itertools.product(places, repeat=3):
        second_prior[o1, r2] += psi[r1] * first[r1, o1] * moves[r1, r2]
    second = [coin_table(row / (row.sum() or 1.0), budget) for row in second_prior]
    third_prior = np.zeros((3, 3))
    for r1, o1, r2, o2, r3 in itertools.product(places, repeat=5):
        third_prior[o2, r3] += psi[r1] * first[r1, o1] * moves[r1, r2] * second[o1][r2, o2] * moves[r2, r3]
    expected = [
        sum(min(budget * row.sum(), row.sum() - row.max()) for row in joint)
        for joint in (psi[None], second_prior, third_prior)
    ]
    rows = location_rows(CHAIN, [budget], [budget], np.random.default_rng(0))
    assert rows.query("choice == 'coin'")["privacy"].to_numpy() == pytest.approx(expected, abs=1e-9)


def test_the_attack_that_remembers_is_that_of_all_pairs():
    first = coin_table(CHAIN.stationary, 0.2)
    joint = np.zeros((3, 3, 3))  # previous release, release, place
    for r1, o1, r2, o2 in itertools.product(range(3), repeat=4):
        joint[o1, o2, r2] += CHAIN.stationary[r1] * first[r1, o1] * CHAIN.transition[r1, r2] * first[r2, o2]
    rows = sporadic_rows(CHAIN, [0.2], [0.2], np.random.default_rng(0)).set_index("choice")
    assert rows.loc["coin", "aware"] == pytest.approx(1 - joint.max(axis=2).sum(), abs=1e-12)
    assert rows.loc["coin", "sporadic"] == pytest.approx(0.2, abs=1e-9)


@settings(max_examples=25)
@given(
    weights=st.lists(st.integers(0, 20), min_size=3, max_size=5), share=st.floats(0.05, 1.2), seed=st.integers(0, 99)
)
def test_every_optimum_is_one_and_the_uninformative_leaves_the_most(weights, share, seed):
    prior = np.array(weights, dtype=float) + np.array([1.0, 1.0, *[0.0] * (len(weights) - 2)])
    prior /= prior.sum()
    generator = np.random.default_rng(seed)
    moves = generator.dirichlet(np.ones(len(prior)), len(prior))
    risk = 1 - prior.max()
    budget, left = share * risk, {}
    for optimum in Optimum:
        table = optimal(prior, moves, budget, optimum, generator).table
        joint = prior[:, None] * table
        assert table.sum(axis=1) == pytest.approx(1)
        assert 1 - joint.max(axis=0).sum() == pytest.approx(min(budget, risk), abs=2e-6)  # the solver's tolerance
        assert 1 - np.trace(joint) <= budget + 1e-9
        after = joint.T @ moves
        left[optimum] = np.minimum(budget * after.sum(axis=1), after.sum(axis=1) - after.max(axis=1)).sum()
    most = max(left.values())
    assert left[Optimum.UNINFORMATIVE] >= most * (1 - 1e-3)  # a preference is settled to a relative 1e-4


def test_the_entropy_rate_of_chains_one_can_work_out():
    assert entropy_rate(MarkovProfile.from_matrix([[0, 1], [1, 0]])) == pytest.approx(0)
    assert entropy_rate(MarkovProfile.from_matrix(np.full((8, 8), 1 / 8))) == pytest.approx(3)
    half = MarkovProfile.from_matrix([[0.5, 0.5], [1, 0]])  # two thirds of the time at a fair coin
    assert entropy_rate(half) == pytest.approx(2 / 3)


def test_relabelling_leads_to_other_optima():
    """With five places alike there are many; where the simplex method ends depends on their order."""
    prior, moves = np.full(5, 1 / 5), CHAIN_OF_FIVE.transition

    def tables(optimum):
        seeds = range(6)
        return {optimal(prior, moves, 0.3, optimum, np.random.default_rng(s)).table.round(6).tobytes() for s in seeds}

    assert len(tables(Optimum.VERTEX)) == 1
    assert len(tables(Optimum.RELABELLED)) > 2


CHAIN_OF_FIVE = MarkovProfile.from_matrix(np.random.default_rng(1).dirichlet(np.full(5, 2.0), 5))


def test_programs_check_the_likeliest_histories():
    """The prior risks of the three likeliest exposures before the third step, in order of their probabilities."""
    psi, moves = CHAIN_OF_FIVE.stationary, CHAIN_OF_FIVE.transition
    joint = psi[None]  # history, place
    for _ in range(2):
        exposed = sum(row[:, None] * coin_table(row / row.sum(), 0.5) for row in joint if row.any())
        joint = exposed.T @ moves
    chance = joint.sum(axis=1)
    assert (np.diff(np.sort(chance)) > 1e-3).all()
    likeliest = sorted(range(5), key=lambda o: -chance[o])[:3]
    risks = [1 - (joint[o] / chance[o]).max() for o in likeliest]
    assert risks != pytest.approx([1 - (joint[o] / chance[o]).max() for o in range(3)])
    rows = program_rows(CHAIN_OF_FIVE, np.random.default_rng(0))
    largest = rows.groupby("game")["closed_form"].max()
    assert [largest[f"history {number}"] for number in (1, 2, 3)] == pytest.approx(risks, abs=1e-9)
    assert "history 4" not in largest
