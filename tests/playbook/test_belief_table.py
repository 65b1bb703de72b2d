"""The table that a device draws from: its weights are whole, within the budget, and judged by themselves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.codebook.weights import WORDS
from hideseek.model.belief_chain import BeliefChain
from hideseek.playbook.belief_table import BeliefTable, cheapest, grouped


def random_chain(generator, columns=1, scale=1.0):
    """States of one or two places among a few, with any errors and costs; telling nothing is within the budget."""
    size = int(generator.integers(2, 5))
    states = np.indices((size,) * columns).reshape(columns, -1).T
    states = states[np.sort(generator.permutation(len(states))[: max(2, len(states) - 2)])]
    count = len(states)
    cost = generator.random((count, size)) * scale
    moves = generator.dirichlet(np.ones(count), size=count)
    return BeliefChain(
        budget=float(generator.uniform(cost.min(axis=1).max(), cost.max())),
        every=1,
        row=1,
        states=states,
        start=np.full(count, 1 / count),
        error=generator.random((3, count)),
        cost=cost,
        moves=moves,
        wait=np.eye(len(np.unique(states[:, -1]))),
    )


def exactly(chain, belief, table, numbers):
    """The expectation of numbers [state, release] in exact fractions."""
    return sum(
        Fraction(float(belief[s])) * Fraction(float(numbers[s, o])) * Fraction(float(table.by_state[s, o]))
        for s in range(len(belief))
        for o in range(numbers.shape[1])
    )


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-20, 1.0, 1e20]))
@settings(max_examples=80)
def test_any_table_is_brought_into_the_budget_and_judged_exactly(seed, scale):
    generator = np.random.default_rng(seed)
    chain = random_chain(generator, scale=scale)
    count, releases = chain.cost.shape
    belief = generator.dirichlet(np.full(count, 0.3))
    table = generator.dirichlet(np.full(releases, 0.5), size=count)
    found = BeliefTable.of(chain, belief, [0], table)
    assert found.weights.min() >= 0
    assert (found.weights.sum(axis=1) == WORDS).all()
    loss = exactly(chain, belief, found, chain.cost)
    assert loss <= Fraction(chain.budget) * (1 + Fraction(1e-15))
    assert found.loss == pytest.approx(float(loss), rel=1e-12)
    joint = belief[:, None] * found.by_state
    privacy = sum(min(float(row @ joint[:, o]) for row in chain.error) for o in range(releases))
    assert found.privacy == pytest.approx(privacy, rel=1e-12)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_states_that_cannot_be_told_apart_are_treated_alike(seed):
    generator = np.random.default_rng(seed)
    chain = random_chain(generator, columns=2)
    belief = generator.dirichlet(np.ones(len(chain.states)))
    belief[chain.states[:, 1] == chain.states[0, 1]] *= generator.integers(2)
    if not belief.any():
        return
    belief /= belief.sum()
    inputs, index, group = grouped(chain, [1])
    table = generator.dirichlet(np.ones(chain.cost.shape[1]), size=len(inputs))[index]
    found = BeliefTable.of(chain, belief, [1], table)
    assert (found.inputs == inputs).all()
    for state, row in zip(chain.states, found.by_state, strict=True):
        assert (row == found.by_state[(chain.states[:, 1] == state[1]).argmax()]).all()
    assert (group.sum(axis=0) == 1).all()
    cheap = (group @ (belief[:, None] * chain.cost)).min(axis=1).sum()
    if cheap <= chain.budget:
        assert exactly(chain, belief, found, chain.cost) <= Fraction(chain.budget) * (1 + Fraction(1e-15))
    unseen = group @ belief == 0  # who is there releases as all others on the whole do
    assert (found.weights[:-1][unseen] == found.weights[-1]).all()


def test_what_is_cheapest_is_kept_to_and_what_has_none_of_it_takes_all_alike():
    cost = np.array([[0.0, 0.0, 1.0], [2.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    table = np.array([[0.2, 0.6, 0.2], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
    assert cheapest(cost, table) == pytest.approx(np.array([[0.25, 0.75, 0], [0, 0.5, 0.5], [0.5, 0.25, 0.25]]))


def test_a_place_that_was_never_an_input_draws_from_the_last_row():
    chain = random_chain(np.random.default_rng(0))
    table = np.eye(len(chain.states), chain.cost.shape[1])
    found = BeliefTable.of(chain, chain.start, [0], table)
    word = 2**31
    assert found.draw([99], word) == int(np.cumsum(found.weights[-1]).searchsorted(word, side="right"))
