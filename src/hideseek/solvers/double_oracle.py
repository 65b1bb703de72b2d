"""The fast method: a small program that grows where the certificate says it must.

The optimum touches few guesses for every release and few releases for every input. So HiGHS keeps a restricted program
over some columns (i, o) and some rows (g, o); after every solve the adversary's oracle adds the guesses whose rows the
table violates most, and the user's oracle the releases that would pay most under the attack, and HiGHS goes on from
the basis it has. It ends when the certificate closes. What has long not mattered is forgotten: at a thousand places
that saves more than half of the time.
"""

from __future__ import annotations

import time
from dataclasses import replace

import highspy
import numpy as np

from hideseek.game.alternatives import Alternatives
from hideseek.solvers.certificate import Certificate, certify
from hideseek.solvers.claim import Claim
from hideseek.solvers.growing_program import NO_PAIRS, Pairs, mark_largest
from hideseek.solvers.restricted_program import RestrictedProgram, RestrictedSolution, gathered
from hideseek.util.arrays import BoolArray
from hideseek.util.progress import Advance, tell_bounds
from hideseek.util.sparse import inner

FORGETTING = 20_000  # possible columns from which on it pays to forget some
SETTLING = 3  # rounds before anything is forgotten, and rounds in which a guess has not mattered before it is
KEPT_RELEASES = 3  # for every input and release, that pay best, of those that are not made
NOTHING = (np.zeros(0), *NO_PAIRS)
PATIENCE = 15  # rounds without progress after which nothing more is forgotten


class DoubleOracle(RestrictedProgram):
    """A restricted program that is solved for one budget after another, each time from where it stands."""

    def __init__(
        self,
        problem: Alternatives,
        start: Pairs | None = None,
        allowed: BoolArray | None = None,
        price: float | None = None,
    ) -> None:
        super().__init__(problem, start, allowed, price)
        self.large = self.better is None and self.has_column.size > FORGETTING
        self.first_columns = len(self.column_at[0])
        self.rounds = 0

    def _forget(self, point: RestrictedSolution) -> None:
        """Drop columns that pay least and guesses that have long not mattered, so that HiGHS's work stays small.

        Columns of the first program stay, since with another budget they may be all that is affordable.
        """
        i, o = self.column_at
        best = np.zeros_like(self.has_column)
        profit = np.where(self.has_column, point.profit_over_worth, -np.inf)
        mark_largest(best, profit, KEPT_RELEASES, axis=1)
        mark_largest(best, profit, KEPT_RELEASES, axis=0)
        gone = point.unused & ~best[i, o]
        gone[: self.first_columns] = False
        self.forget_columns(gone)
        self.forget_rows(point.harmless & (self.idle >= SETTLING))

    def set_budget(self, budget: float) -> None:
        """Change the one game's budget; columns, rows and basis stay."""
        self.problem = Alternatives((self.problem.games[0].with_budget(budget),))
        self.highs.changeRowBounds(0, -highspy.kHighsInf, self.problem.games[0].budget / self.units[0])

    def close(self, tolerance: float, deadline: float, progress: Advance | None) -> tuple[Certificate, bool]:
        """Alternate until the gap is at most ``tolerance``; also says whether time ran out first."""
        best = attack = self._nothing()
        lower, upper = -np.inf, np.inf
        started = progressed = self.rounds
        while True:
            self.rounds += 1
            solution = self.run(deadline)
            if solution is None:
                return self._certify(best, attack), True
            point = RestrictedSolution(self, solution)
            self.age(point.weight > 0)
            if point.reached > lower:
                lower, best, progressed = point.reached, point.answer(), self.rounds
            if point.bound < upper:
                upper, attack, progressed = point.bound, point.answer(), self.rounds
            tell_bounds(progress, self.rounds, lower, upper)
            if upper - lower <= tolerance * upper:
                certificate = self._certify(best, attack)
                if certificate.optimality_gap <= tolerance:
                    return certificate, False
            guesses, releases = point.violated_guesses(), point.profitable_releases()
            more = bool((guesses & ~self.has_row).any() or (releases & ~self.has_column).any())
            late = time.monotonic() > deadline
            if late or not (more or self.sharpen()):
                return self._certify(best, attack), late
            if self.large and started + SETTLING < self.rounds <= progressed + PATIENCE:
                self._forget(point)
            self.add_rows(guesses)
            self.add_columns(releases)

    def _nothing(self) -> Claim:
        """What is known before the first round: neither a table nor an attack."""
        shapes = [(self.inputs, self.releases), *((self.releases, len(game.error)) for game in self.problem.games)]
        table, *attacks = (gathered(*NOTHING, shape) for shape in shapes)
        return Claim(table, tuple(attacks), np.zeros(len(attacks)), self.problem.weights, np.zeros(self.extra))

    def _certify(self, best: Claim, attack: Claim) -> Certificate:
        """Certify the best table and the best attack found; at a price, for the budget that the table spends."""
        if self.price is not None:
            game = self.problem.games[0]
            self.problem = Alternatives((replace(game, budget=max(inner(game.cost, best.table), game.least_loss)),))
        claim, priced = replace(attack, table=best.table), self.price is not None
        return certify(self.problem, claim, safe=self.safe, allowed=self.allowed, priced=priced)
