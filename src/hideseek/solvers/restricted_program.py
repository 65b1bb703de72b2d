"""The restricted program of a game, or of several: what HiGHS keeps for the double oracle and for the tie-break.

Variables are x[i, o] = scale[i] f(o|i), near the joint distribution: under skewed priors f itself scales badly. Errors
are in units of an input's share of the prior risk and costs in units of the budget, so that what HiGHS sees is near 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.game.alternatives import Alternatives, Objective
from hideseek.solvers.claim import Claim
from hideseek.solvers.full_program import budget_units, safe_mechanism
from hideseek.solvers.growing_program import (
    NO_ENTRIES,
    GrowingProgram,
    Pairs,
    Triples,
    mark_first,
    most_significant,
)
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.sparse import Matrix, inner, light

NEW_GUESSES, NEW_RELEASES = 2, 3  # for every release, and for every input and release, added in a round
FEW = 2  # guesses that are better than most at an input, on average, where what most have in common is left out
UNAFFORDABLE = 1e9  # budgets that one column would cost; HiGHS refuses coefficients much larger than this
FINEST = 1e-14  # of the largest error: a prior risk below it would need coefficients that HiGHS refuses
DENSE = 100_000  # tables with fewer entries than this are cheaper dense


class RestrictedProgram(GrowingProgram):
    """Some columns (i, o) and some rows (g, o) of the games' program; at a ``price`` of loss, without budgets."""

    def __init__(
        self,
        problem: Alternatives,
        start: Pairs | None = None,
        allowed: BoolArray | None = None,
        price: float | None = None,
    ) -> None:
        games = problem.games
        error = games[0].error if len(games) == 1 else np.vstack([game.error for game in games])
        super().__init__(len(games[0].cost), len(error), games[0].cost.shape[1])
        self.problem, self.allowed, self.error, self.price = problem, allowed, error, price
        self.several = problem.objective is Objective.MINIMUM
        self.rows = games[0].rows
        self.extra = 0 if self.rows is None else len(self.rows.lower)
        self.accuracy = 1e-7
        sizes = [len(game.error) for game in games]
        self.game_of = np.repeat(np.arange(len(games)), sizes)
        self.guesses_of = [slice(end - size, end) for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
        # for every input: with the whole risk for a unit of errors, HiGHS's tolerances are too coarse at 2,000 places
        self.unit = (max(max(game.prior_risk for game in games), FINEST * error.max()) or 1.0) / self.inputs
        self.units = budget_units(problem)
        self.most: FloatArray = np.zeros((len(games), self.inputs))
        self.better: sparse.csr_array | None = None
        self._leave_out_what_is_shared()
        weight = self.error.max(axis=0)
        self.scale = np.maximum(weight / (weight.mean() or 1.0), 1e-4)
        self.row_scale = np.ones(self.extra)
        self.row_columns = None if self.rows is None else self.rows.matrix.tocsc()
        if self.rows is not None:
            coefficient = abs(self.rows.matrix) @ sparse.diags_array(np.repeat(1 / self.scale, self.releases))
            self.row_scale = 1 / np.maximum(coefficient.max(axis=1).toarray().ravel(), 1e-12)
        self._begin()
        if start is not None:
            self.add_rows(self._guesses(start))

    @cached_property
    def safe(self) -> FloatArray | None:
        """What the certificate mixes towards: see :func:`safe_mechanism`."""
        return safe_mechanism(self.problem)

    def _leave_out_what_is_shared(self) -> None:
        """Leave out the largest error where nearly all guesses have it, as under the Hamming metric: it is a constant.

        What is left are few entries, of the guesses that are ``better`` at an input: they come with its columns.
        """
        most = np.array([game.error.max(axis=0) for game in self.problem.games])
        better = self.error < most[self.game_of]
        if np.count_nonzero(better) <= FEW * most.size:
            self.most, self.better = most, sparse.csr_array(better, dtype=np.int32)

    def add_columns(self, wanted: BoolArray) -> int:
        """Add the wanted f(o|i) that are not there, and before them the few guesses for which they matter."""
        if self.better is not None:
            self.add_rows(self.better @ (wanted & ~self.has_column) > 0)
        return super().add_columns(wanted)

    def _begin(self) -> None:
        """Fixed rows: budgets, row sums, z <= sum_o y[s, o], extra rows. Fixed columns: y[s, o], z."""
        count, infinity = len(self.problem.games), highspy.kHighsInf
        lower = [np.full(count, -infinity), self.scale]
        budgets = np.array([game.budget for game in self.problem.games])
        upper = [np.where(self.price is None, budgets / self.units, infinity), self.scale]
        height = count * self.releases
        objective, entries = -np.repeat(self.problem.weights, self.releases), NO_ENTRIES
        if self.several:
            lower.append(np.full(count, -infinity))
            upper.append(self.most.sum(axis=1) / self.unit)
            objective = np.r_[np.zeros(height), -1.0]
            sums = count + self.inputs + np.arange(count)
            entries = [
                (np.arange(height), np.repeat(sums, self.releases), -np.ones(height)),
                (np.full(count, height), sums, np.ones(count)),
            ]
        if self.rows is not None:
            lower.append(self.rows.lower * self.row_scale)
            upper.append(self.rows.upper * self.row_scale)
        free = np.full(len(objective), infinity)
        self.begin(np.concatenate(lower), np.concatenate(upper), objective, free, entries)
        self._first_program()

    def _first_program(self) -> None:
        """The cheapest releases, the best constant one, and the guesses that are best for the inputs nearest to it."""
        columns = np.zeros_like(self.has_column)
        guesses = np.zeros_like(self.has_row)
        error = self.error / self.scale
        for game, own in zip(self.problem.games, self.guesses_of, strict=True):
            mark_first(columns, guesses[own], game.cost / self.scale[:, None], error[own])
            columns[:, game.cost.sum(axis=0).argmin()] = True
            guesses[own][game.error.sum(axis=1).argmin()] = True
        if self.safe is not None:
            columns |= self.safe > 0
        if self.allowed is not None:
            columns &= self.allowed
        self.add_columns(columns)
        self.add_rows(guesses)

    def end(self) -> Pairs:
        """The (guess, release) whose rows are binding in HiGHS's solution: in a similar game, nearly the same are."""
        binding = np.array(self.highs.getSolution().row_dual)[self.fixed_rows :] != 0
        return self.row_at[0][binding], self.row_at[1][binding]

    def _guesses(self, start: Pairs) -> BoolArray:
        """The rows that were binding in another game, marked."""
        wanted = np.zeros_like(self.has_row)
        try:
            wanted[start] = True
        except IndexError:
            rule = f"guesses below {len(wanted)} for releases below {self.releases}, as in a game with as many of both"
            raise broken_rule("start", "solve", rule, "others") from None
        return wanted

    def worth(self, g: IntArray, i: IntArray) -> FloatArray:
        """W[g, i] f(o|i), by x[i, o], less what most guesses have in common."""
        found: FloatArray = (self.error[g, i] - self.most[self.game_of[g], i]) / self.scale[i] / self.unit
        return found

    def height(self, g: IntArray, o: IntArray) -> IntArray:
        """y[s, o], with the game s that a guess belongs to."""
        return self.game_of[g] * self.releases + o

    def charge(self, i: IntArray, o: IntArray) -> FloatArray:
        """What a column loses, at the price of loss."""
        if self.price is None:
            return super().charge(i, o)
        charge: FloatArray = self.price * self.problem.games[0].cost[i, o] / self.scale[i] / self.unit
        return charge

    def column(self, i: IntArray, o: IntArray) -> tuple[Triples, FloatArray]:
        """Costs, the row sum, extra rows.

        Bounded by f <= 1: a new column that pays is then flipped to its bound, and the dual simplex goes on where it
        stands instead of starting again with its first phase, which halves the time.
        """
        at = np.arange(len(i))
        entries = [
            (at, np.full(len(i), k), np.minimum(game.cost[i, o] / self.units[k] / self.scale[i], UNAFFORDABLE))
            for k, game in enumerate(self.problem.games)
        ]
        entries.append((at, len(self.problem.games) + i, np.ones(len(i))))
        if self.row_columns is not None:
            extra = self.row_columns[:, i * self.releases + o].tocoo()
            value = extra.data * self.row_scale[extra.row] / self.scale[i[extra.col]]
            entries.append((extra.col, self.fixed_rows - self.extra + extra.row, value))
        return entries, self.scale[i]

    def sharpen(self) -> bool:
        """Tighten HiGHS's own tolerances, once: what is left to do when nothing can be added and a gap remains."""
        if self.accuracy < 1e-7:
            return False
        self.accuracy = 1e-10
        self.highs.setOptionValue("primal_feasibility_tolerance", self.accuracy)
        self.highs.setOptionValue("dual_feasibility_tolerance", self.accuracy)
        return True


class RestrictedSolution:
    """One solution of the restricted program, in the units of the game."""

    def __init__(self, program: RestrictedProgram, solution: Any) -> None:
        self.program = program
        value, dual = np.array(solution.col_value), -np.array(solution.row_dual)
        games = program.problem.games
        count, inputs, releases = len(games), program.inputs, program.releases
        i, o = program.column_at
        g, at = program.row_at
        joint = np.maximum(value[program.fixed_columns :], 0)
        self.table = gathered(joint / program.scale[i], i, o, (inputs, releases))
        self.expected = value[: count * releases].reshape(count, releases) * program.unit + program.most @ self.table
        self.weight = np.maximum(dual[program.fixed_rows :], 0)
        self.unused = (value[program.fixed_columns :] == 0) & (
            np.array(solution.col_dual)[program.fixed_columns :] != 0
        )
        self.harmless = np.array(solution.row_value)[program.fixed_rows :] < 0
        self.weighted_attack = gathered(self.weight, at, g, (releases, len(program.error)))
        self.prices = np.maximum(dual[:count], 0) * program.unit / program.units
        if program.price is not None:
            self.prices = np.full(count, program.price)
        self.mix = program.problem.weights
        if program.several:
            self.mix = np.maximum(dual[count + inputs : 2 * count + inputs], 0)
        self.multipliers = (
            dual[program.fixed_rows - program.extra : program.fixed_rows] * program.unit * program.row_scale
        )
        self.worth = dual[count : count + inputs] * program.unit * program.scale + self.mix @ program.most
        self.errors = program.error @ self.table
        self.profit = (self.weighted_attack @ program.error).T
        for price, game in zip(self.prices, games, strict=True):
            self.profit -= price * game.cost
        constant = 0.0 if program.price is not None else self.prices @ np.array([game.budget for game in games])
        if program.rows is not None:
            self.profit -= (program.rows.matrix.T @ self.multipliers).reshape(self.profit.shape)
            ends = np.where(self.multipliers > 0, program.rows.upper, program.rows.lower)
            constant += (self.multipliers * np.where(np.isfinite(ends), ends, 0)).sum()
        self.privacies = np.array([self.errors[own].min(axis=0).sum() for own in program.guesses_of])
        self.privacy = float(self.privacies.min() if program.several else program.problem.weights @ self.privacies)
        spent = 0.0 if program.price is None else program.price * inner(games[0].cost, self.table)
        self.reached = self.privacy - spent
        if program.allowed is not None:
            self.profit[~program.allowed] = -np.inf
        self.bound = float(constant + self.profit.max(axis=1).sum())

    def answer(self) -> Claim:
        """What the program claims; each game's attack is the weighted one divided by the game's share."""
        shares = zip(self.program.guesses_of, self.mix, strict=True)
        attacks = tuple(light(self.weighted_attack[:, own] / max(share, 1e-12)) for own, share in shares)
        return Claim(light(self.table), attacks, self.prices, self.mix, self.multipliers)

    def violated_guesses(self) -> BoolArray:
        """The guesses whose rows the table violates, the worst few of every release."""
        harm = self.expected[self.program.game_of] - self.errors
        parts = [most_significant(harm[own], NEW_GUESSES, (0,), self.program.unit) for own in self.program.guesses_of]
        return np.concatenate(parts)

    @cached_property
    def profit_over_worth(self) -> FloatArray:
        """What each release would pay under the present attack and price, beyond what its input pays."""
        profit: FloatArray = (self.profit - self.worth[:, None]) / self.program.scale[:, None]
        return profit

    def profitable_releases(self) -> BoolArray:
        """The releases that would pay under the present attack and price, the best few of every input and release."""
        return most_significant(self.profit_over_worth, NEW_RELEASES, (1, 0), self.program.unit)


def gathered(value: FloatArray, row: IntArray, column: IntArray, shape: tuple[int, int]) -> Matrix:
    """The matrix with these entries: sparse once that is cheaper."""
    if shape[0] * shape[1] > DENSE:
        kept = value > 0
        return sparse.csr_array((value[kept], (row[kept], column[kept])), shape=shape)
    matrix = np.zeros(shape)
    matrix[row, column] = value
    return matrix
