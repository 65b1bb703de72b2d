"""The same game again and again, at one belief after another, with a future that the belief leaves.

Variables are the joint distribution x[i, o] = b[i] f(o|i), so that only right-hand sides depend on the belief b:

    max  now sum_o y[o] + later sum_o t[o] + price (Q - l)
         sum_o x[i, o] = b[i],   sum_{i,o} D[i, o] x[i, o] <= l <= limit,
         y[o] <= sum_i E[g, i] x[i, o],   t[o] <= sum_i F[j, i] x[i, o],   sum_o y[o] >= least

E[g, i] is the error of a guess g at i, D[i, o] the loss of a release, and the F[j] are cuts: linear functions of the
joint distribution of a release, each of them an upper bound on the worth of the future. Without a price the limit is
the budget Q of every access; at a price, what an access does not lose of Q is paid for, and any limit will do. So the
basis that was optimal for one belief is dual feasible for the next, and HiGHS goes on from there; rows (guesses and
cuts) and columns come as they are needed, and rows that have long not mattered go. What comes back is judged by the
belief, the table and the multipliers alone: for any attack h, mixture m of cuts, p >= price and need n >= 0 no table is
worth more at any belief than

    sum_i b[i] c[i] - n least   with
    c[i] = price Q + (p - price) limit
           + max_o ( (now + n) sum_g h(g|o) E[g, i] + later sum_j m(j|o) F[j, i] - p D[i, o] )
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np

from hideseek.solvers.growing_program import (
    SIGNIFICANT,
    GrowingProgram,
    Triples,
    accept,
    mark_first,
    most_significant,
)
from hideseek.solvers.repair import cheapest_releases, mixed_into_budget
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors

NEW_COLUMNS = 3  # of an input, added in a round
ROOM = 4  # rows for every input and release before those that do not matter go
IDLE = 4  # plays in which a row has not been binding before it may go
ROUNDS = 60
NOTHING = 1e-13  # the mass of an input below which its row of the program means nothing
MISSED = 1e-7  # the share of the least privacy that may be missing
ROUNDING = 1e-12  # in the unit of errors: the largest rounding error of the sums of a cut


@dataclass(frozen=True, eq=False)
class Play:
    """One belief's table: what it is worth now and, by the cuts, later; its loss; and what no table is worth more than.

    <``cut``, belief> is that bound at any belief, if nothing was asked of the privacy of now; it follows from the
    ``price`` and the ``strategy`` [release, guess or cut]: a distribution of guesses, and beside it one of cuts.
    """

    table: FloatArray
    privacy: float
    future: float
    loss: float
    bound: float
    cut: FloatArray
    price: float
    strategy: FloatArray


@dataclass(frozen=True)
class Terms:
    """The most that an access may lose on average, and the price of a unit of loss."""

    limit: float
    price: float = 0.0


@dataclass(frozen=True, eq=False)
class Kept:
    """Where a program stood, and how many columns, rows and cuts it had."""

    basis: highspy.HighsBasis
    columns: int
    rows: int
    cuts: int


class BeliefProgram(GrowingProgram):
    """A program over ``error`` E[g, i], ``cost`` D[i, o] and ``budget`` Q that is solved for one belief after another.

    ``now`` and ``later`` weigh the privacy of now and the future. The ``terms`` may change from play to play.

    >>> program = BeliefProgram(1 - np.eye(2), 1 - np.eye(2), budget=0.1)
    >>> [round(program.play(np.array(belief)).privacy, 6) for belief in ([0.5, 0.5], [0.98, 0.02])]
    [0.1, 0.02]
    """

    def __init__(
        self, error: FloatArray, cost: FloatArray, budget: float, now: float = 1.0, later: float = 0.0
    ) -> None:
        super().__init__(len(cost), len(error), cost.shape[1])  # guesses, and then cuts
        self.error, self.cost, self.budget, self.now, self.later = error, cost, budget, now, later
        self.middle = np.zeros(self.inputs)  # of the cuts: what they have in common is a constant of the program
        self.cuts = np.zeros((0, self.inputs))
        self.terms = Terms(budget)
        self.unit, self.loss_unit = float(error.mean()) or 1.0, budget or float(cost.mean()) or 1.0
        self.kept: Kept | None = None
        self._begin()

    def _begin(self) -> None:
        """Fixed rows: the inputs, the loss, the least privacy of now. Fixed columns: y[o], t[o], the loss."""
        # neither pays where a program is solved again after a small change; its numbers are near 1 as they are
        for option, value in (("presolve", "off"), ("simplex_scale_strategy", 0)):
            self.highs.setOptionValue(option, value)
        count, height, infinity = self.inputs + 2, self.releases, highspy.kHighsInf
        free = np.full(2 * height + 1, infinity)
        objective = -np.r_[np.full(height, self.now), np.full(height, self.later), 0.0]
        limit = free if self.later else np.r_[free[:height], np.zeros(height), infinity]
        least = (np.arange(height), np.full(height, count - 1), np.ones(height))
        loss = (np.array([2 * height]), np.array([self.inputs]), np.array([-1.0]))
        self.begin(np.full(count, -infinity), np.full(count, infinity), objective, limit, [least, loss])
        columns, guesses = np.zeros_like(self.has_column), np.zeros_like(self.has_row)
        mark_first(columns, guesses, self.cost, self.error)
        self.add_columns(columns)
        self.add_rows(guesses)

    def add(self, cuts: FloatArray) -> None:
        """More cuts F[j, i] of the future."""
        if not len(self.cuts):
            self.middle = cuts.mean(axis=0)
        self.cuts = np.vstack([self.cuts, cuts - self.middle])
        new = np.zeros((len(cuts), self.releases), np.bool_)
        first = len(self.has_row) == len(self.error)
        self.has_row = np.vstack([self.has_row, new])
        if first:  # else t would have no bound
            wanted = np.zeros_like(self.has_row)
            wanted[len(self.error)] = True
            self.add_rows(wanted)

    def worth(self, g: IntArray, i: IntArray) -> FloatArray:
        """What a guess or a cut (numbered after the guesses) gives at an input, in the program's unit."""
        guesses = len(self.error)
        later = g >= guesses
        found: FloatArray = self.error[np.where(later, 0, g), i]
        if later.any():
            found[later] = self.cuts[g[later] - guesses, i[later]]
        return found / self.unit

    def height(self, g: IntArray, o: IntArray) -> IntArray:
        """y[o] for a guess, t[o] for a cut."""
        return np.where(g < len(self.error), o, o + self.releases)

    def column(self, i: IntArray, o: IntArray) -> tuple[Triples, FloatArray]:
        """The mass of the input, and its loss."""
        at, one = np.arange(len(i)), np.ones(len(i))
        entries = [(at, i, one), (at, np.full(len(i), self.inputs), self.cost[i, o] / self.loss_unit)]
        return entries, np.full(len(i), highspy.kHighsInf)

    def _forget(self) -> None:
        """Drop rows that have long not been binding."""
        status = self.highs.getBasis().row_status[self.fixed_rows :]
        slack = np.array([one == highspy.HighsBasisStatus.kBasic for one in status])
        self.forget_rows(slack & (self.idle > IDLE))

    def keep(self) -> None:
        """Remember where the program stands, for :meth:`restore`."""
        self.kept = Kept(self.highs.getBasis(), len(self.column_at[0]), len(self.row_at[0]), len(self.cuts))

    def restore(self) -> None:
        """Back to where it stood when it was kept, so that what is played next depends on nothing but the belief."""
        if self.kept is None:
            return
        self.forget_columns(np.arange(len(self.column_at[0])) >= self.kept.columns)
        self.forget_rows(np.arange(len(self.row_at[0])) >= self.kept.rows)
        self.cuts, self.has_row = self.cuts[: self.kept.cuts], self.has_row[: len(self.error) + self.kept.cuts]
        self.idle[:] = 0
        self.highs.clearSolver()
        accept(self.highs.setBasis(self.kept.basis))

    def play(
        self, belief: FloatArray, least: float = 0.0, tolerance: float = 1e-6, known: FloatArray | None = None
    ) -> Play:
        """The best table at a belief with at least so much privacy now; exact to a share of the average error.

        ``known`` is a table with that privacy, where some is asked for.
        """
        if known is not None:
            self.add_columns(known > 0)
        self._ask(belief, least)
        point = best = BeliefSolution(self, self.run(), belief, least)
        for _ in range(ROUNDS - 1):
            closed = best.bound - point.value <= tolerance * self.unit and point.privacy >= least * (1 - MISSED)
            if closed or not self._grow(point):
                break
            point = BeliefSolution(self, self.run(), belief, least)
            best = min(best, point, key=lambda one: one.bound)
        self.age(point.binding)
        if self.kept is None and len(self.idle) > ROOM * (self.inputs + self.releases):
            self._forget()
        found = self.judged(table_of(point.joint, belief), belief)
        shift = self.later * self.middle
        return replace(
            found,
            bound=best.bound + float(shift @ belief),
            cut=best.cut + shift + ROUNDING * self.unit,
            price=best.price,
            strategy=best.strategy,
        )

    def judged(self, table: FloatArray, belief: FloatArray) -> Play:
        """What a table is worth at a belief, within the limit; nothing is known of others."""
        cost, limit = belief[:, None] * self.cost, self.terms.limit
        if np.vdot(cost, table) > limit:
            table = mixed_into_budget(table, cheapest_releases(cost, table), cost, limit)
        joint = belief[:, None] * table
        future = least_errors(self.cuts, joint).sum() + self.middle @ belief if len(self.cuts) else 0.0
        privacy = least_errors(self.error, joint).sum()
        loss = float(np.vdot(cost, table))
        return Play(table, float(privacy), float(future), loss, np.inf, self.middle, 0.0, np.zeros((0, 0)))

    def _ask(self, belief: FloatArray, least: float) -> None:
        """Set the sides that know the belief, all scaled by the number of inputs."""
        count, scale = self.inputs, float(self.inputs)
        sides = np.r_[scale * belief, 0.0, highspy.kHighsInf]
        lower = np.r_[sides[:-2], -highspy.kHighsInf, scale * least / self.unit if least > 0 else -highspy.kHighsInf]
        accept(self.highs.changeRowsBounds(count + 2, np.arange(count + 2, dtype=np.int32), lower, sides))
        loss = self.fixed_columns - 1
        accept(self.highs.changeColBounds(loss, 0.0, scale * self.terms.limit / self.loss_unit))
        accept(self.highs.changeColCost(loss, self.terms.price * self.loss_unit / self.unit))

    def _grow(self, point: BeliefSolution) -> int:
        """Add the guess and the cut most violated at each release, and the releases that would pay best at an input."""
        violated = np.zeros_like(self.has_row)
        for height, (worst, least) in zip(point.heights, point.answers, strict=False):
            short = np.flatnonzero(height - least > SIGNIFICANT * self.unit)
            violated[worst[short], short] = True
        added = self.add_rows(violated)
        if not self.has_column.all():
            added += self.add_columns(most_significant(point.gain, NEW_COLUMNS, (1,), self.unit))
        return added


class BeliefSolution:
    """One solution of the program: the joint distribution, the best answers to it, heights y and t, and multipliers."""

    def __init__(self, program: BeliefProgram, solution: Any, belief: FloatArray, least: float) -> None:
        value, dual = np.array(solution.col_value), -np.array(solution.row_dual)
        count, guesses = program.inputs, len(program.error)
        self.joint = np.zeros((count, program.releases))
        self.joint[program.column_at] = np.maximum(value[program.fixed_columns :], 0) / count
        self.heights = value[: program.fixed_columns - 1].reshape(2, -1) * program.unit / count
        self.answers = best_answers(program, self.joint)
        self.privacy, *future = (float(least.sum()) for _, least in self.answers)
        terms, loss = program.terms, float(np.vdot(program.cost, self.joint))
        spared = terms.price * (program.budget - loss)
        self.value = program.now * self.privacy + program.later * sum(future) + spared
        self.price = terms.price
        if np.isfinite(terms.limit):
            self.price = max(float(dual[count]) * program.unit / program.loss_unit, terms.price)
        need = float(np.maximum(-dual[count + 1], 0))
        weight = np.maximum(dual[program.fixed_rows :], 0)
        self.binding = weight > 0
        self.strategy = strategy_of(program, weight)
        profit = (program.now + need) * (self.strategy[:, :guesses] @ program.error).T - self.price * program.cost
        if len(program.cuts):
            profit += program.later * (self.strategy[:, guesses:] @ program.cuts).T
        above = self.price - terms.price
        self.cut = terms.price * program.budget + (above * terms.limit if above else 0.0) + profit.max(axis=1)
        self.bound = float(self.cut @ belief) - need * least
        self.gain = profit - dual[:count, None] * program.unit


def best_answers(program: BeliefProgram, joint: FloatArray) -> list[tuple[IntArray, FloatArray]]:
    """At every release the row of the best guess and what it gives; and the same of the cuts, where there are some."""
    found, releases = [], np.arange(joint.shape[1])
    for first, worth in ((0, program.error), (len(program.error), program.cuts)):
        if len(worth):
            given = worth @ joint
            best = given.argmin(axis=0)
            found.append((first + best, given[best, releases]))
    return found


def strategy_of(program: BeliefProgram, weight: FloatArray) -> FloatArray:
    """The adversary's answer to every release: a distribution of guesses, and beside it one of cuts."""
    g, o = program.row_at
    strategy = np.zeros((program.releases, len(program.error) + len(program.cuts)))
    strategy[o, g] = weight
    for own in (strategy[:, : len(program.error)], strategy[:, len(program.error) :]):
        total = own.sum(axis=1, keepdims=True)
        empty = total[:, 0] <= 0
        if own.shape[1]:
            own[empty, 0] = 1
            own /= np.where(empty[:, None], 1, total)
    return strategy


def table_of(joint: FloatArray, belief: FloatArray) -> FloatArray:
    """The distributions of releases; inputs without mass get what is released overall, which reveals nothing."""
    mass, whole = joint.sum(axis=1, keepdims=True), joint.sum(axis=0) / joint.sum()
    known = (mass > NOTHING) & (belief[:, None] > NOTHING)
    table: FloatArray = np.where(known, joint / np.where(known, mass, 1.0), whole)
    table /= table.sum(axis=1, keepdims=True)
    return table
