"""The optimum of a game is rarely unique: of the mechanisms that reach it, the one that is best for a second game.

    max_f  sum_o min_g (W2 f)[g, o]   subject to   sum_o min_g (W f)[g, o] >= privacy  and the first game's budget, rows

The double oracle's program for the smaller of two privacies has a row  z <= sum_o y[s, o]  for both games; here the
first game's row holds its privacy instead of z. That row's dual is the first game's share when columns are priced. The
mechanism to improve on starts the program, which is near its end then: this takes about as long as solving the game.
"""

from __future__ import annotations

from dataclasses import replace

import highspy
import numpy as np

from hideseek.errors import CertificateError, SolverError, broken_rule
from hideseek.game.alternatives import Alternatives, Objective, as_alternatives
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import check_table, privacies, relative_gap
from hideseek.solvers.full_program import safe_mechanism
from hideseek.solvers.growing_program import Pairs, mark_largest
from hideseek.solvers.repair import repaired_table
from hideseek.solvers.restricted_program import RestrictedProgram, RestrictedSolution
from hideseek.solvers.solution import Solution
from hideseek.util.arrays import FloatArray
from hideseek.util.best_guess import least_errors
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar
from hideseek.util.sparse import dense

SLACK = 1e-3  # the share of the tolerance by which the first game's privacy may be missed; the rest is for rounding
ENOUGH = 1e-4  # optimality gap of the second game's value: a preference, not a claim


@checked
def prefer(solution: Solution, second: Game, *, tolerance: float = 1e-6, start: Pairs | None = None) -> Solution:
    """Of the mechanisms that are as good as the ``solution`` of its game, the one that is best for a ``second`` game.

    Bound, attacks, prices and status stay those of the ``solution``, and so does the mechanism where no more than the
    tolerance is gained.

    Parameters
    ----------
    solution
        Of a single game.
    second
        A game with the inputs and releases of the first, of which only ``error`` counts, to a relative 1e-4.
    tolerance
        The share by which privacy in the first game may fall; the program aims at a thousandth of that.
    start
        The ``end`` of a preference between games like these.

    Returns
    -------
    Solution
        Of the first game; its ``end`` is that of this program.

    Raises
    ------
    ParameterError
        If the solution is one of several games, or the second game has other inputs or releases.

    Examples
    --------
    >>> from hideseek.solvers.dispatch import solve
    >>> prior, differ = [0.5, 0.3, 0.2], 1 - np.eye(3)
    >>> game = Game.from_prior(prior, privacy=differ, quality=differ, budget=0.2)
    >>> second = Game.from_prior(prior, privacy=[[0, 1, 9], [1, 0, 9], [9, 9, 0]], quality=differ, budget=0.2)
    >>> solution = solve(game)
    >>> preferred = prefer(solution, second)
    >>> [round(found.privacy, 6) for found in (solution, preferred)]
    [0.2, 0.2]
    >>> [float(least_errors(second.error, found.mechanism.table).sum().round(6)) for found in (solution, preferred)]
    [0.84, 1.8]
    """
    tolerance = scalar(tolerance, "tolerance", "prefer", "a number > 0", least=np.finfo(float).tiny)
    first = checked_first(solution, second)
    if least_errors(second.error, solution.mechanism.table).sum() >= second.prior_risk * (1 - tolerance):
        return replace(solution, end=start)  # no mechanism is worth more than one that reveals nothing
    return preferred(solution, first, second, tolerance, start)


def checked_first(solution: Solution, second: Game) -> Game:
    """The one game of a solution, which the second must resemble."""
    first = solution.game
    if not isinstance(first, Game):
        raise broken_rule("solution", "prefer", "the solution of a single Game", f"one of {type(first).__name__}")
    for name in ("inputs", "releases"):
        if not np.array_equal(getattr(first, name), getattr(second, name)):
            rule = "a game with the inputs and releases of the first"
            raise broken_rule("second", "prefer", rule, f"other {name}")
    return first


def preferred(solution: Solution, first: Game, second: Game, tolerance: float, start: Pairs | None) -> Solution:
    """The solution with the better table, where there is one and it can be proved."""
    try:
        oracle = _Preference(solution, second, tolerance, start)
        found = oracle.best_table()
        solution = replace(solution, end=oracle.end())
        if found is None:
            return solution
        table = repaired_table(oracle.problem, found, safe_mechanism(as_alternatives(first)))
        check_table(oracle.problem, table)
    except (SolverError, CertificateError):
        return replace(solution, end=None)
    kept, value = privacies(oracle.problem, table).tolist()
    known = privacies(oracle.problem, solution.mechanism.table)[1]
    # a table that rounding lets spend too much may exceed the bound: the bound is kept, so that table is not
    if not (oracle.least <= kept <= solution.bound and value > known * (1 + tolerance)):
        return solution
    return replace(
        solution,
        mechanism=Mechanism(table, inputs=first.inputs, releases=first.releases),
        privacy=kept,
        optimality_gap=relative_gap(kept, solution.bound, first.prior_risk),
        privacies=np.array([kept]),
        losses=np.array([np.vdot(first.cost, table)]),
    )


class _Preference(RestrictedProgram):
    """The restricted program of both games, grown from a solution of the first."""

    def __init__(self, solution: Solution, second: Game, tolerance: float, start: Pairs | None = None) -> None:
        self.solution = solution
        self.floor = solution.privacy * (1 - SLACK * tolerance)
        self.least = solution.privacy * (1 - tolerance)
        first = as_alternatives(solution.game).games[0]
        # free of charge, since the first game's budget is the only one, and in the first game's unit
        error = second.error * ((first.prior_risk or 1.0) / second.prior_risk)
        free = Game(
            error, np.zeros_like(first.cost), budget=0.0, rows=first.rows, inputs=first.inputs, releases=first.releases
        )
        super().__init__(Alternatives((first, free), objective=Objective.MINIMUM), start)

    def _first_program(self) -> None:
        """The first game's floor in place of z; the releases that the solution makes, and the guesses against it."""
        row, z = len(self.problem.games) + self.inputs, self.fixed_columns - 1
        self.highs.changeCoeff(row, z, 0.0)
        self.highs.changeRowBounds(row, -highspy.kHighsInf, (self.most[0].sum() - self.floor) / self.unit)
        table = self.solution.mechanism.table
        guesses = np.zeros_like(self.has_row)
        for own in self.guesses_of:
            mark_largest(guesses[own], -self.error[own] @ table, 1, axis=0)
        guesses[self.guesses_of[0]] |= self.solution.attack.T > 0
        self.add_columns(table > 0)
        self.add_rows(guesses)

    def best_table(self) -> FloatArray | None:
        """Alternate until the second game's value is known well enough; None if the first game's was never kept."""
        best: RestrictedSolution | None = None
        lower, upper = -np.inf, self.problem.games[1].prior_risk
        while True:
            point = RestrictedSolution(self, self.run())
            kept, value = point.privacies
            if kept >= self.least and value > lower:
                lower, best = value, point
            upper = min(upper, point.bound - point.mix[0] * self.floor)
            if upper - lower > ENOUGH * upper:
                added = self.add_rows(point.violated_guesses()) + self.add_columns(point.profitable_releases())
                if added or (best is None and self.sharpen()):
                    continue
            return None if best is None else dense(best.table)
