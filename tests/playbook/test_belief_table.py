"""The table that a device draws from: its weights are whole, within the budget, and judged by themselves."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import MarkovProfile
from hideseek.codebook.weights import WORDS
from hideseek.metrics import hamming
from hideseek.model.belief_chain import BeliefChain
from hideseek.planning import BeliefGame
from hideseek.playbook.belief_table import BeliefTable, cheapest, grouped
from tests.support.live_devices import LIVE_SCENARIOS, PROFILE


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


def test_rounding_that_breaks_the_budget_is_mended_by_what_is_cheapest():
    # thirds of 2^32 round up for the dear release of every row
    game = BeliefGame.of(PROFILE, privacy=hamming(), quality=hamming(), budget=2 / 3)
    belief = np.array([0.25, 0.5, 0.25])
    table = np.array([[1 / 3 - 1e-11, 2 / 3 + 1e-11, 0], [0, 1 / 3, 2 / 3], [2 / 3, 0, 1 / 3]])
    assert np.vdot(game.cost * belief[:, None], table) > 2 / 3
    move = BeliefTable.of(game, belief, [0], table)
    exact = sum(
        Fraction(float(belief[place])) * Fraction(int(move.weights[place, release]), WORDS)
        for place, release in itertools.product(range(3), repeat=2)
        if place != release
    )
    assert exact <= Fraction(2 / 3)
    assert move.weights.sum(axis=1).tolist() == [WORDS] * 4
    assert move.by_state == pytest.approx(table, abs=1e-9)


def test_states_that_look_alike_get_the_row_of_the_likeliest():
    game = BeliefGame.of(
        PROFILE, scenario=LIVE_SCENARIOS["transition"], privacy=hamming(), quality=hamming(), budget=1.0
    )
    assert game.states[[0, 2]].tolist() == [[0, 0], [1, 0]]
    belief, table = np.full(len(game.states), 1 / 6), np.tile([0.25, 0.5, 0.25], (len(game.states), 1))
    belief[0], table[0] = 0.0, [1.0, 0.0, 0.0]  # nobody is there, so its row may be anything
    move = BeliefTable.of(game, belief, [1], table)
    assert move.inputs.tolist() == [[0], [1], [2]]
    assert (move.weights == [2**30, 2**31, 2**30]).all()
    assert (move.by_state == [0.25, 0.5, 0.25]).all()


@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
@settings(max_examples=60)
def test_a_move_keeps_the_budget_and_is_judged_by_its_weights(seed, share):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 6))
    chain = generator.dirichlet(np.ones(size), size=size)
    metric = generator.random((size, size)) * (1 - np.eye(size)) * 1e4
    budget = share * float(metric.max())
    game = BeliefGame.of(MarkovProfile.from_matrix(chain), privacy=metric, quality=metric, budget=budget)
    belief = generator.dirichlet(np.ones(size))
    belief[generator.integers(size)] = 0
    belief /= belief.sum()
    table = generator.dirichlet(np.ones(size), size=size)
    loss = np.vdot(game.cost * belief[:, None], table)
    if loss > budget:
        table = table + min(1, (loss - budget) / loss) * (np.eye(size) - table)  # the true place costs nothing
    move = BeliefTable.of(game, belief, [0], table)
    assert (move.weights.sum(axis=1) == WORDS).all()
    assert (move.weights >= 0).all()
    exact = sum(
        Fraction(float(belief[i])) * Fraction(float(game.cost[i, o])) * Fraction(int(move.weights[i, o]), WORDS)
        for i in range(size)
        for o in range(size)
    )
    assert exact <= Fraction(budget) * (1 + Fraction(1e-15))
    assert move.loss == pytest.approx(float(exact), rel=1e-12)
    joint = belief[:, None] * move.weights[:-1] / WORDS
    assert move.privacy == pytest.approx((game.error @ joint).min(axis=0).sum(), rel=1e-12)
    off = np.abs(move.by_state - table)[belief > 0].max()
    assert off <= 1e-5  # a word, and a mix of at most the spare loss
    nowhere = belief == 0
    assert (move.weights[:-1][nowhere] == move.weights[-1]).all()
    assert np.abs(move.weights[-1] / WORDS - belief @ move.by_state).max() <= 1 / WORDS


def test_a_draw_follows_the_weights_at_every_boundary():
    game = BeliefGame.of(
        PROFILE, scenario=LIVE_SCENARIOS["transition"], privacy=hamming(), quality=hamming(), budget=0.3
    )
    table = np.random.default_rng(0).dirichlet(np.ones(3), size=len(game.states))
    table[0] = [0, 0.5, 0.5]
    move = BeliefTable.of(game, game.start, [0, 1], table)
    for known, weights in zip([*move.inputs.tolist(), [0, 2]], move.weights.tolist(), strict=True):
        ends = list(itertools.accumulate(weights))
        assert ends[-1] == WORDS
        for release, (begin, end) in enumerate(itertools.pairwise([0, *ends])):
            if end > begin:  # the first and the last word: then each release has as many words as its weight says
                assert [move.draw(known, word) for word in (begin, end - 1)] == [release, release]
