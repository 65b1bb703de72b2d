"""What is believed over a gap, and after a release, against products of one step after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import MarkovProfile, ParameterError, Scenario
from hideseek.model.belief_chain import BeliefChain, waited
from hideseek.planning import BeliefGame

SCENARIOS = [
    Scenario.sporadic(),
    Scenario(target=(-1, 0)),
    Scenario(target=(-2, -1, 0)),
    Scenario.in_between(2),
    Scenario(target=(0,), every=3),
]


def chain_of(one, **changes) -> BeliefChain:
    size = len(one)
    differ = 1 - np.eye(size)
    fields = {
        "budget": 0.1,
        "every": 1,
        "row": 1,
        "states": np.arange(size)[:, None],
        "start": np.full(size, 1 / size),
        "error": differ,
        "cost": differ,
        "moves": one,
        "wait": one,
    }
    return BeliefChain(**fields | changes)


def walked(moves, known, state, steps):
    """The distribution of the known places so many steps on, by all paths over one step after the other."""
    back = -known[0]
    # what lies between known places is no part of the state: only places in a row before the current one are
    paths = {tuple(state[-1 - k] if k < len(state) else None for k in range(back, -1, -1)): 1.0}
    for _ in range(steps):
        after = {}
        for path, probability in paths.items():
            for there in np.flatnonzero(moves[path[-1]]):
                key = (*path[1:], int(there)) if back else (int(there),)
                after[key] = after.get(key, 0.0) + probability * moves[path[-1], there]
        paths = after
    found = {}
    for path, probability in paths.items():
        key = tuple(path[back + offset] for offset in known)
        found[key] = found.get(key, 0.0) + probability
    return found


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize("more", [0, 1, 2, 7])
def test_a_gap_is_followed_as_step_after_step(scenario, more):
    generator = np.random.default_rng(more)
    moves = generator.dirichlet(np.ones(3), size=3)
    game = BeliefGame.of(
        MarkovProfile.from_matrix(moves), scenario=scenario, privacy="hamming", quality="hamming", budget=0.1
    )
    belief = generator.dirichlet(np.ones(len(game.states)))
    expected = np.zeros(len(game.states))
    index = {tuple(state): k for k, state in enumerate(game.states.tolist())}
    known, row = scenario.known, game.row
    for state, probability in zip(game.states.tolist(), belief, strict=True):
        for key, share in walked(moves, known, state[-row:], scenario.every + more).items():
            expected[index[key]] += probability * share
    assert game.later(belief, steps=scenario.every + more) == pytest.approx(expected, abs=1e-14)
    assert game.later(belief, steps=scenario.every) == pytest.approx(belief @ game.moves, abs=1e-15)


@given(seed=st.integers(0, 10**6), steps=st.integers(2, 400))
@settings(max_examples=40)
def test_squaring_gives_what_repeated_products_give(seed, steps):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 6))
    moves = generator.dirichlet(np.full(size, 0.3), size=size)
    belief = expected = generator.dirichlet(np.ones(size))
    for _ in range(steps):
        expected = expected @ moves
    assert chain_of(moves).later(belief, steps=steps) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("off", [-1e-12, 0.0, 1e-12])
def test_rows_that_sum_to_nearly_one_last_for_ever(off):
    """Two places that nobody leaves: a microsecond's steps for longer than there was time."""
    moves = np.eye(2) * (1 + off)
    for steps in (10**6, 10**12, 10**18):
        found = chain_of(moves).later([0.25, 0.75], steps=steps)
        assert found == pytest.approx([0.25, 0.75], abs=1e-3)
        assert found.sum() == pytest.approx(1, abs=1e-15)


def test_after_long_the_long_run_is_believed_and_a_cycle_goes_round():
    moves = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert chain_of(moves).later([1.0, 0.0], steps=10**9) == pytest.approx([2 / 3, 1 / 3], abs=1e-12)
    cycle = np.roll(np.eye(3), 1, axis=1)
    assert chain_of(cycle).later([1.0, 0.0, 0.0], steps=10**9 + 1).tolist() == [0.0, 0.0, 1.0]
    assert waited(np.array([1.0, 0.0, 0.0]), cycle, 0).tolist() == [1.0, 0.0, 0.0]


def test_what_is_believed_after_a_release_is_bayes_rule():
    table = np.array([[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [1.0, 0.0, 0.0]])
    chain = chain_of(np.full((3, 3), 1 / 3))
    assert chain.learned([0.5, 0.25, 0.25], table, release=0) == pytest.approx([4 / 9, 1 / 9, 4 / 9], abs=1e-15)
    assert chain.learned([0.5, 0.25, 0.25], table, release=2).tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(ParameterError, match="'release'"):
        chain.learned([1.0, 0.0, 0.0], table, release=2)
    for belief in ([0.5, 0.5], [0.5, 0.2, 0.2], [np.nan, 0.5, 0.5], [1.5, -0.5, 0.0]):
        with pytest.raises(ParameterError, match="'belief'"):
            chain.learned(belief, table, release=0)
    with pytest.raises(ParameterError, match="'steps'"):
        chain.later([1.0, 0.0, 0.0], steps=0)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_a_cut_bounds_the_privacy_of_every_table_within_the_budget(seed):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 5))
    chain = chain_of(
        np.eye(size), error=generator.random((size, size)), cost=generator.random((size, size)), budget=0.3
    )
    attack = generator.dirichlet(np.ones(size), size=size)
    cut = chain.cut(attack, float(generator.exponential()))
    belief, table = generator.dirichlet(np.ones(size)), generator.dirichlet(np.ones(size), size=size)
    joint = belief[:, None] * table
    loss = float((chain.cost * joint).sum())
    if loss <= chain.budget:
        assert (chain.error @ joint).min(axis=0).sum() <= cut @ belief + 1e-12


def test_all_of_a_ceiling_of_nothing_is_kept():
    class Blind(BeliefChain):
        ceiling_cut = np.zeros(2)

    fields = vars(chain_of(np.eye(2)))
    blind = Blind(**fields)
    assert (blind.most, blind.kept(0.0)) == (0.0, 1.0)
