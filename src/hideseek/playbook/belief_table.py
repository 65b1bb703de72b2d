"""The table that a device draws from at a belief: whole weights within the budget, and what they cost and hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hideseek.codebook.weights import WORDS, largest_remainder
from hideseek.errors import BudgetError
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.steering import Standing, Steering, steered
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.best_guess import least_errors
from hideseek.util.mixing import share_to_keep


@dataclass(frozen=True, eq=False)
class BeliefTable:
    """The table that a device draws from at a belief, in whole weights [input, release].

    ``inputs`` are the known places that tell states apart; the last row of ``weights`` is for any other.
    ``by_state`` [state, release] are the same weights as probabilities, which the adversary is taken to know.
    ``privacy`` is the adversary's expected error at this belief, ``loss`` the expected quality loss.
    """

    inputs: IntArray
    weights: IntArray
    by_state: FloatArray
    privacy: float
    loss: float

    @classmethod
    def of(
        cls, chain: BeliefChain, belief: FloatArray, columns: list[int], table: FloatArray, limit: float | None = None
    ) -> BeliefTable:
        """Round a table [state, release] that looks at these columns of the state, and keep it within the limit of an
        access, by default the budget.
        """
        limit = chain.budget if limit is None else limit
        inputs, index, group = grouped(chain, columns)
        likeliest = np.where(group, belief, -1.0).argmax(axis=1)
        cost, exact = group @ (chain.cost * belief[:, None]), table[likeliest]
        weights = largest_remainder(exact)
        if np.vdot(chain.cost, belief[:, None] * (weights[index] / WORDS)) > limit:  # as the loss is told below
            # no weight is off by more than one word, so with this much to spare the rounded table keeps the budget
            spare = float(cost.sum()) / WORDS
            safe = cheapest(cost, exact)
            share = share_to_keep(np.vdot(cost, exact), np.vdot(cost, safe), limit - spare)
            weights = largest_remainder((1 - share) * exact + share * safe)
        # inputs that the belief rules out get the average of the others, which reveals nothing
        mass = group @ belief
        average = largest_remainder((mass @ weights)[None])
        weights = np.vstack([np.where(mass[:, None] > 0, weights, average), average])
        rounded = weights[index] / WORDS
        joint = belief[:, None] * rounded
        privacy, loss = least_errors(chain.error, joint).sum(), np.vdot(chain.cost, joint)
        return cls(inputs, weights, rounded, float(privacy), float(loss))

    def draw(self, known: Sequence[int], word: int) -> int:
        """The release that a word below 2^32 draws at these known places."""
        row = next(iter(np.flatnonzero((self.inputs == known).all(axis=1))), -1)
        return int(np.cumsum(self.weights[row]).searchsorted(word, side="right"))


def steered_tables(
    chain: BeliefChain, steering: Steering, standing: Standing, columns: list[int], owner: str
) -> list[BeliefTable]:
    """The table of each run where the budget holds over a window, which look at these columns of the state.

    A BudgetError is raised where no release keeps to what the account holds without the columns that are not known.
    """
    group = None if len(columns) == chain.states.shape[1] else grouped(chain, columns)[2]
    tables = steered(chain, steering, standing, group=group)
    found = []
    for belief, table, limit in zip(standing.belief, tables, chain.account.limit(standing.saved).tolist(), strict=True):
        one = BeliefTable.of(chain, belief, columns, table, limit)
        if one.loss > limit:
            rule = f"at least {one.loss - limit:.9g} more where a place that counts is not known"
            raise BudgetError.breaking("budget", owner, rule, chain.budget, least=chain.budget + one.loss - limit)
        found.append(one)
    return found


def grouped(chain: BeliefChain, columns: Sequence[int]) -> tuple[IntArray, IntArray, BoolArray]:
    """The inputs that these columns of the state tell apart, which one each state is, and this as [input, state]."""
    inputs, index = np.unique(chain.states[:, list(columns)], axis=0, return_inverse=True)
    return inputs, index.ravel(), np.arange(len(inputs))[:, None] == index.ravel()


def cheapest(cost: FloatArray, table: FloatArray) -> FloatArray:
    """The table kept to the cheapest releases of every input; where it has none of them, all of them alike."""
    least = cost <= cost.min(axis=1, keepdims=True) * (1 + 1e-12)
    kept = np.where(least, table, 0.0)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, least)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
