"""One call for every game, and the one choice of a method."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from hideseek.errors import CertificateError, SolverError, broken_rule
from hideseek.game.alternatives import Alternatives, as_alternatives
from hideseek.game.budget import parsed_budget
from hideseek.game.game import Game
from hideseek.solvers.certificate import Certificate, certify, relative_gap
from hideseek.solvers.closed_form import closed_forms
from hideseek.solvers.double_oracle import DoubleOracle
from hideseek.solvers.full_program import full_program, refuse_unaffordable, safe_mechanism
from hideseek.solvers.growing_program import Pairs
from hideseek.solvers.interior_point import game_answer, solvable
from hideseek.solvers.regret_matching import regret_matching_answer
from hideseek.solvers.solution import Method, Solution, Status, finished
from hideseek.util.arrays import BoolArray, FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar
from hideseek.util.progress import Advance
from hideseek.util.sparse import inner
from hideseek.util.units import amount, least_words

SMALL = 1_000_000  # non-zeros of a full program, which 100 places have: two seconds


@checked
def solve(
    game: Game | Alternatives,
    *,
    tolerance: float = 1e-6,
    method: Method | str = Method.AUTO,
    time_limit: float | None = None,
    progress: Advance | None = None,
    start: Pairs | None = None,
    radius: float | str | None = None,
    hardware: str | None = None,
    price: float | None = None,
) -> Solution:
    """The mechanism that maximises privacy within the budget, certified.

    Parameters
    ----------
    game
        One game, or several that one mechanism is for.
    tolerance, time_limit, method
        The optimality gap at which to stop; seconds, after which the round under way is the last; a :class:`Method` or
        its name, by default what suits the game.
    progress
        Called after every round with the bounds so far as text, the rounds, and 0, as their number is not known.
    start
        The ``end`` of a similar game's solution: its binding guesses, and no releases, as the first ones are worth 9 %
        more against an adversary who remembers every release.
    radius
        The most that a release may lose on average given the input, such as "2km". The game is then solved twice:
        ``bound`` is that of all mechanisms, ``within`` that of those that keep to the radius.
    hardware
        A device of torch such as ``"cuda"``, or ``"cupy"``, for regret matching; it pays from 500 places on.
    price
        Of a unit of loss, instead of a budget; the solution is that of the budget it spends (:meth:`Solution.line`).

    Returns
    -------
    Solution
        With ``privacy`` <= value of the game <= ``bound``, whatever the status.

    Raises
    ------
    ParameterError, BudgetError, SolverError
        If an option does not fit the game, a budget cannot be met, or no answer can be certified.

    Examples
    --------
    >>> game = Game.from_prior([0.5, 0.3, 0.2], privacy=1 - np.eye(3), quality=1 - np.eye(3), budget=0.1)
    >>> solve(game)
    Solution (optimal): privacy 0.1, no mechanism exceeds 0.1
      quality loss 0.1 of 0.1; optimality gap ...; by closed form, 0 rounds
    """
    tolerance = scalar(tolerance, "tolerance", "solve", "a number > 0", least=np.finfo(float).tiny)
    limit = None if time_limit is None else scalar(time_limit, "time_limit", "solve")
    method = checked_method(method, radius, hardware)
    if price is not None:
        return solve_at_price(game, price, tolerance, method, deadline_in(limit), progress, start, radius)
    if radius is not None:
        return solve_within(game, radius, tolerance, limit, progress, start)
    return Solver(tolerance, method, deadline_in(limit), progress, start, hardware=hardware).solve(game)


def solve_at_price(
    game: Game | Alternatives,
    price: float,
    tolerance: float,
    method: Method,
    deadline: float,
    progress: Advance | None,
    start: Pairs | None,
    radius: float | str | None,
) -> Solution:
    """The best mechanism at a price of loss, as the solution of the game whose budget it spends."""
    scalar(price, "price", "solve", "a finite number >= 0")
    problem = as_alternatives(game)
    if len(problem.games) > 1 or problem.games[0].rows is not None or radius is not None:
        rule = "given with one game without extra rows, and without a radius"
        raise broken_rule("price", "solve", rule, price)
    if method not in (Method.AUTO, Method.DOUBLE_ORACLE):
        raise broken_rule("price", "solve", "given with the method 'auto' or 'double oracle'", repr(str(method)))
    oracle = DoubleOracle(problem, start, price=price)
    certificate, late = oracle.close(tolerance, deadline, progress)
    optimal = certificate.optimality_gap <= tolerance
    status = Status.TIME_LIMIT if late else Status.OPTIMAL if optimal else Status.STALLED
    end = None if late else oracle.end()
    return finished(oracle.problem.games[0], certificate, status, Method.DOUBLE_ORACLE, oracle.rounds, end)


def deadline_in(seconds: float | None) -> float:
    """The time on the monotonic clock when so many seconds are over; never, where none are given."""
    return np.inf if seconds is None else time.monotonic() + seconds


@dataclass(eq=False)
class Solver:
    """Solves games that differ in nothing but their budget, one after another, by the method that suits them.

    The double oracle's program and its basis go from one budget to the next. ``safe``, where it is known, is the
    cheapest mechanism that keeps the games' rows; ``allowed`` are the releases [i, o] that the double oracle may use.
    """

    tolerance: float
    method: Method = Method.AUTO
    deadline: float = np.inf
    progress: Advance | None = None
    start: Pairs | None = None
    allowed: BoolArray | None = None
    hardware: str | None = None
    safe: FloatArray | None = None
    oracle: DoubleOracle | None = field(default=None, init=False)

    def solve(self, game: Game | Alternatives) -> Solution:
        """The game's solution, certified."""
        problem, method = as_alternatives(game), self.method
        if method in (Method.AUTO, Method.CLOSED_FORM):
            certificate = in_closed_form(problem, self.tolerance)
            if certificate is not None:
                return finished(game, certificate, Status.OPTIMAL, Method.CLOSED_FORM, 0)
            if method is Method.CLOSED_FORM:
                rule = "'closed form' only for games that have one"
                raise broken_rule("method", "solve", rule, "a game without", "Use 'auto'.")
        if method is Method.INTERIOR_POINT or (method is Method.AUTO and same_for_every_release(problem)):
            return self._by_interior_point(game, problem)
        if method is Method.FIRST_ORDER:
            certificate, rounds, late = regret_matching_answer(
                problem, self.tolerance, self.deadline, self.progress, self.hardware
            )
            return self._finished(game, certificate, method, rounds, late)
        if method is not Method.FULL_PROGRAM:
            try:
                return self._by_double_oracle(game, problem)
            except SolverError:
                if method is not Method.AUTO or not small(problem):
                    raise
        certificate = certify(problem, full_program(problem), safe=safe_mechanism(problem))
        return self._finished(game, certificate, Method.FULL_PROGRAM, 1)

    def _by_interior_point(self, game: Game | Alternatives, problem: Alternatives) -> Solution:
        if not solvable(problem):
            rule = "'interior point' only for one game, without rows or with rows that are the same for every release"
            raise broken_rule("method", "solve", rule, "another", "Use 'auto'.")
        own = problem.games[0]
        if self.safe is None:
            self.safe = safe_mechanism(problem)
        else:
            refuse_unaffordable(own, inner(own.cost, self.safe))
        answer, rounds, late = game_answer(own, 0.1 * self.tolerance, self.deadline, self.progress)
        return self._finished(game, certify(problem, answer, safe=self.safe), Method.INTERIOR_POINT, rounds, late)

    def _by_double_oracle(self, game: Game | Alternatives, problem: Alternatives) -> Solution:
        if self.oracle is None:
            self.oracle = DoubleOracle(problem, self.start, self.allowed)
        else:
            self.oracle.set_budget(problem.games[0].budget)
        certificate, late = self.oracle.close(self.tolerance, self.deadline, self.progress)
        end = None if late else self.oracle.end()
        return self._finished(game, certificate, Method.DOUBLE_ORACLE, self.oracle.rounds, late, end)

    def _finished(
        self,
        game: Game | Alternatives,
        certificate: Certificate,
        method: Method,
        rounds: int,
        late: bool = False,
        end: Pairs | None = None,
    ) -> Solution:
        """The solution, with the status that the gap and the clock give it."""
        status = Status.TIME_LIMIT if late else Status.STALLED
        if certificate.optimality_gap <= self.tolerance:
            status = Status.OPTIMAL
        return finished(game, certificate, status, method, rounds, end)


def checked_method(name: Method | str, radius: float | str | None, hardware: str | None) -> Method:
    """The method of this name, or the one that a radius or a hardware demands."""
    method = one_of(Method, str(name).replace("_", " "), "method", "solve")
    if radius is not None and hardware is not None:
        raise broken_rule("hardware", "solve", "given without a radius", repr(hardware))
    for parameter, value, only in (
        ("radius", radius, Method.DOUBLE_ORACLE),
        ("hardware", hardware, Method.FIRST_ORDER),
    ):
        if value is not None:
            if method not in (Method.AUTO, only):
                raise broken_rule(
                    parameter, "solve", f"given with the method 'auto' or {str(only)!r}", repr(str(method))
                )
            method = only
    return method


def solve_within(
    game: Game | Alternatives,
    radius: float | str,
    tolerance: float,
    time_limit: float | None,
    progress: Advance | None,
    start: Pairs | None,
) -> Solution:
    """The best mechanism within a radius, after the best of all, which proves what the radius costs."""
    problem = as_alternatives(game)
    allowed = allowed_within(problem, radius_of(radius, problem.games[0].units[1]))
    half = None if time_limit is None else time_limit / 2
    free = Solver(tolerance, Method.AUTO, deadline_in(half), progress, start).solve(game)
    if allowed[free.mechanism.distributions.nonzero()].all():
        return replace(free, unrestricted=free)
    found = Solver(tolerance, Method.DOUBLE_ORACLE, deadline_in(half), progress, free.end, allowed).solve(game)
    gap = relative_gap(found.privacy, free.bound, problem.games[0].prior_risk)
    status = found.status
    if status is Status.OPTIMAL and gap > tolerance:
        status = Status.OPTIMAL_WITHIN
    within = min(found.bound, free.bound)
    return replace(found, bound=free.bound, within=within, optimality_gap=gap, status=status, unrestricted=free)


def radius_of(radius: float | str, unit: str) -> float:
    """A radius in the unit of the losses.

    >>> radius_of("2km", "m²"), radius_of(0.5, "")
    (4000000.0, 0.5)
    """
    if not isinstance(radius, str):
        return scalar(radius, "radius", "solve")
    number, share = parsed_budget(radius, unit, "solve", "radius")
    if share:
        raise broken_rule("radius", "solve", "a displacement or a number, the same for every place", repr(radius))
    return number


def allowed_within(problem: Alternatives, radius: float) -> BoolArray:
    """The releases [i, o] that lose no more than the radius on average, given the input; each must have one."""
    game = problem.games[0]
    for wrong, got in (
        (len(problem.games) > 1, "several games"),
        (game.rows is not None, "extra rows"),
        (not game.mass.size, "no mass"),
    ):
        if wrong:
            raise broken_rule("radius", "solve", "given with one game whose mass is known and without extra rows", got)
    allowed: BoolArray = game.cost <= radius * (1 + 1e-12) * game.mass[:, None]
    if not allowed.any(axis=1).all():
        least = float((game.cost.min(axis=1)[game.mass > 0] / game.mass[game.mass > 0]).max())
        rule = f"at least {least_words(least, game.units[1])}, so that every input has a release"
        raise broken_rule("radius", "solve", rule, amount(radius, game.units[1]))
    return allowed


def small(problem: Alternatives) -> bool:
    """Whether the full program can step in where HiGHS fails, as it may on a budget next to the least loss."""
    return sum(game.error.size for game in problem.games) * int(problem.games[0].cost.shape[1]) <= SMALL


def same_for_every_release(problem: Alternatives) -> bool:
    """Whether the extra rows are of the kind that an interior point is for."""
    return solvable(problem) and problem.games[0].rows is not None


def in_closed_form(problem: Alternatives, tolerance: float) -> Certificate | None:
    """The first closed form whose certificate closes."""
    if len(problem.games) > 1:
        return None
    for answer in closed_forms(problem.games[0]):
        try:
            certificate = certify(problem, answer)
        except CertificateError:  # extra rows may rule a candidate out
            continue
        if certificate.optimality_gap <= tolerance:
            return certificate
    return None
