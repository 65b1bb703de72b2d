"""Walks of the states that are exposed by whatever chooses tables from what is public, several walks at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hideseek.model.belief_chain import BeliefChain
from hideseek.model.profile import drawn
from hideseek.model.steering import Standing
from hideseek.util.arrays import FloatArray, IntArray

Choose = Callable[[Standing], FloatArray]  # from what is public to tables [run, state, release]


def at_beliefs(choose: Callable[[FloatArray], FloatArray]) -> Choose:
    """What chooses a table [state, release] at the belief alone, for several walks."""
    return lambda standing: np.array([choose(belief) for belief in standing.belief])


@dataclass(frozen=True, eq=False)
class Access:
    """An access of some walks: what was public before it, the tables, the true states, and the releases."""

    before: Standing
    tables: FloatArray
    states: IntArray
    releases: IntArray
    after: Standing

    @property
    def likely(self) -> FloatArray:
        """How likely the releases were in each state, [walk, state]."""
        return self.tables[np.arange(len(self.tables)), :, self.releases]


def exposed_walks(
    chain: BeliefChain,
    choose: Choose,
    moves: Iterable[FloatArray],
    generator: np.random.Generator,
    *,
    start: Standing,
    log: bool = False,
) -> Iterator[Access]:
    """Walk and expose, one access before each of the ``moves``, [state, state] or [walk, state, state].

    ``log`` says whether what is believed of earlier places is followed too.

    >>> chain = BeliefChain(
    ...     budget=0.1, every=1, states=np.array([[0], [1]]), start=np.array([0.5, 0.5]), error=1 - np.eye(2),
    ...     cost=1 - np.eye(2), moves=np.full((2, 2), 0.5), wait=np.full((2, 2), 0.5), row=1,
    ... )
    >>> truth = at_beliefs(lambda belief: np.eye(2))
    >>> walk = exposed_walks(chain, truth, [chain.moves] * 3, np.random.default_rng(0), start=Standing.first(chain, 5))
    >>> all((one.states == one.releases).all() for one in walk)
    True
    """
    standing, walks = start, np.arange(len(start.belief))
    states = drawn(standing.belief, generator)
    for move in moves:
        tables = choose(standing)
        releases = drawn(tables[walks, states], generator)
        after = standing.exposed(chain, tables, releases, log=log)
        yield Access(standing, tables, states, releases, after)
        standing = after.moved(move)
        states = drawn(move[states] if move.ndim == 2 else move[walks, states], generator)
