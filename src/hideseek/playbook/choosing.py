"""Choosing a table at a belief, from tables that were made for others: products of matrices, no solver.

The tables whose beliefs are nearest are mixed into the budget at this belief, and valued by what they hide now and, by
the cuts, later:

    value(f) = sum_o min_g <E[g], x_o> + discount sum_o min_j <c_j, M' x_o>      x_o[s] = b[s] f(o|s)

The value is concave in f, so a mixture of two tables is worth at least the mean of theirs, and often more. The best is
then mixed with the table that reveals least about the whole way (:mod:`hideseek.model.revealing`). All of this only
chooses: whatever comes out is rounded, and its budget and privacy are computed, by :class:`BeliefTable`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hideseek.errors import BudgetError
from hideseek.model.revealing import quieter
from hideseek.playbook.belief_table import cheapest
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.mixing import share_to_keep

NEAR, WORK = 40, 3e7  # tables that are looked at, and products of numbers that this may take: a few milliseconds
SECOND = 12  # the best of those above the budget, for which more than one way into it is tried
PAIRED = 6  # the best ones that the best of all is mixed with
SHARES = 0.25, 0.5  # of the other one in a mixture
ROUNDING = 1e-11
UNLIKELY = 1e-9  # states of this probability do not count when tables are compared

Single = npt.NDArray[np.float32]  # what only chooses needs no more digits


@dataclass(frozen=True, eq=False)
class Worth:
    """Of some tables, the privacy of now, and the value with what the future is worth."""

    now: Single
    value: Single

    def beside(self, other: Worth) -> Worth:
        """Of these tables and the others."""
        return Worth(np.concatenate([self.now, other.now]), np.concatenate([self.value, other.value]))

    def order(self, floor: float) -> IntArray:
        """The tables from the best on; those whose privacy is below the floor come last, by their privacy."""
        enough = self.now >= floor
        return np.lexsort((-np.where(enough, self.value, self.now), ~enough))


class Chooser:
    """Chooses among ``tables`` [table, state, release] made for ``anchors`` [table, state], by ``cuts`` [cut, state].

    The cuts are of the state at the current access: what is left of the future after it; ``most`` is the ceiling.
    """

    def __init__(
        self,
        error: FloatArray,
        cost: FloatArray,
        *,
        budget: float,
        cuts: FloatArray,
        discount: float,
        anchors: FloatArray,
        tables: FloatArray,
        most: float,
    ) -> None:
        self.cost, self.budget, self.discount, self.most = cost, budget, discount, most
        self.answers = np.vstack([error, discount * cuts])
        self.error, self.cuts, self.anchors, self.tables = (
            np.ascontiguousarray(array, np.float32) for array in (error, cuts, anchors, tables)
        )

    def choose(self, belief: FloatArray, group: BoolArray | None = None, floor: float = 0.0) -> FloatArray:
        """The table at a belief, [state, release], that hides the current place and reveals little about the whole way.

        ``group`` [input, state] says which states the mechanism can tell apart, by default all. Tables with at least
        so much privacy now as the ``floor`` come first. A BudgetError is raised where none keeps the budget.
        """
        return self.quieter(belief, self.best(belief, group, floor), group, floor)

    def quieter(
        self, belief: FloatArray, best: FloatArray, group: BoolArray | None = None, floor: float = 0.0
    ) -> FloatArray:
        """A table that reveals less than this one, as far as that is worth it; without a future, this one."""
        if not len(self.cuts):
            return best

        def worth(tables: FloatArray) -> FloatArray:
            found = self.worth(belief, tables if group is None else group.T @ tables)
            return np.where(found.now >= min(floor, found.now[0]), found.value, -np.inf)

        mass, table, answers, cost = belief, best, self.answers, self.cost
        if group is not None:
            mass, table, cost = group @ belief, averaged(best, belief, group), averaged(cost, belief, group)
            answers = averaged(answers.T, belief, group).T
        found = quieter(mass, table, worth, answers, len(self.error), cost, self.budget, self.most)
        return found if group is None else group.T @ found

    def best(self, belief: FloatArray, group: BoolArray | None = None, floor: float = 0.0) -> FloatArray:
        """The table of most value at a belief."""
        cost, near = belief[:, None] * self.cost, self.tables[self.nearest(belief)]
        if group is None:
            safe = cheapest(cost, np.zeros_like(cost))
        else:
            near = pooled(near, belief, group)
            together = group @ cost
            safe = group.T @ cheapest(together, np.zeros_like(together))
        least = float(np.vdot(cost, safe))
        if least > self.budget * (1 + ROUNDING):
            rule = f"at least {least:.9g} where a place that counts is not known"
            raise BudgetError.breaking("budget", "Playbook.play", rule, self.budget, least=least)
        tables = within(near, safe, cost, self.budget)
        worth, over = self.worth(belief, tables), losses(near, cost) > self.budget
        if over.any() and not over.all():
            second = near[~over][worth.value[~over].argmax()]
            best = np.flatnonzero(over)[worth.value[over].argsort()[-SECOND:]]
            more = within(near[best], second, cost, self.budget)
            worth, tables = worth.beside(self.worth(belief, more)), np.concatenate([tables, more])
        first, *others = worth.order(floor)[: 1 + PAIRED]
        mixtures = [(1 - share) * tables[first] + share * tables[others] for share in SHARES]
        tables = np.concatenate([tables[[first]], *mixtures])
        best = tables[self.worth(belief, tables).order(floor)[0]].astype(np.float64)
        return np.asarray(best / best.sum(axis=1, keepdims=True))

    def nearest(self, belief: FloatArray) -> IntArray:
        """The tables whose beliefs are nearest to this one, in total variation."""
        apart = np.abs(self.anchors - belief.astype(np.float32)).sum(axis=1)
        each = self.cost.size * (len(self.error) + len(self.cuts))
        return np.argsort(apart, kind="stable")[: min(NEAR, max(1, int(WORK / each)))]

    def worth(self, belief: FloatArray, tables: Single | FloatArray) -> Worth:
        """What tables are worth at a belief."""
        on = np.flatnonzero(belief > UNLIKELY)
        joint = belief[on, None].astype(np.float32) * tables[:, on].astype(np.float32)
        flat = joint.swapaxes(0, 1).reshape(len(on), -1)  # one product for all tables

        def least(rows: Single) -> Single:
            return np.asarray((rows[:, on] @ flat).min(axis=0).reshape(len(tables), -1).sum(axis=1))

        now = least(self.error)
        return Worth(now, now + np.float32(self.discount) * least(self.cuts) if len(self.cuts) else now)


def losses(tables: Single | FloatArray, cost: FloatArray) -> FloatArray:
    """The expected loss of each table."""
    return np.asarray(tables.reshape(len(tables), -1) @ cost.ravel())


def within(tables: Single, safe: Single | FloatArray, cost: FloatArray, budget: float) -> Single:
    """Each table mixed with a safe one, just as far as the budget asks."""
    share = share_to_keep(losses(tables, cost), np.vdot(cost, safe), budget)[:, None, None].astype(np.float32)
    return (1 - share) * tables + share * safe.astype(np.float32)


def pooled(tables: Single, belief: FloatArray, group: BoolArray) -> Single:
    """Tables with one row for all states that the mechanism cannot tell apart: their average at the belief."""
    found: Single = np.asarray(group.T @ averaged(tables, belief, group), dtype=np.float32)
    return found


def averaged(rows: Single | FloatArray, belief: FloatArray, group: BoolArray) -> FloatArray:
    """Rows [..., state, release] averaged over the states that the mechanism cannot tell apart."""
    weight = group * belief
    weight = np.where(weight.sum(axis=1, keepdims=True) > 0, weight, group)  # where nobody is, any row will do
    return np.asarray(weight / weight.sum(axis=1, keepdims=True) @ rows)
