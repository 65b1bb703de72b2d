"""One call for every game: the mechanism, the best attack on it, and the proof."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hideseek.errors import CertificateError, SolverError, broken_rule
from hideseek.game.alternatives import Alternatives, as_alternatives
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import Certificate, certify, relative_gap
from hideseek.solvers.closed_form import closed_forms
from hideseek.solvers.double_oracle import DoubleOracle
from hideseek.solvers.full_program import full_program, safe_mechanism
from hideseek.solvers.interior_point import Progress, game_answer, solvable
from hideseek.solvers.regret_matching import first_order
from hideseek.solvers.restricted_program import Pairs
from hideseek.util.arrays import BoolArray, FloatArray, Matrix, dense, one_of, scalar
from hideseek.util.boundary import checked

SMALL = 1_000_000  # non-zeros of a full program, which 100 places have: two seconds


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"  # the certified gap is within the tolerance
    OPTIMAL_WITHIN = "optimal within the radius"  # the gap to mechanisms that keep to the radius is
    OPTIMAL_ON_SPANNER = "optimal on the spanner"  # the gap to mechanisms that keep the spanner's rows is
    STALLED = "stalled"  # nothing was left to improve, and the gap is what it is
    TIME_LIMIT = "time limit"


class Method(StrEnum):
    """The ways to solve a game."""

    AUTO = "auto"  # a closed form where one applies, else what fits the extra rows
    CLOSED_FORM = "closed form"
    DOUBLE_ORACLE = "double oracle"
    INTERIOR_POINT = "interior point"
    FIRST_ORDER = "first order"
    FULL_PROGRAM = "full program"


@dataclass(frozen=True, eq=False)
class Solution:
    """A mechanism with the proof of how good it is: ``privacy`` <= value of the game <= ``bound``.

    ``privacy`` is what the returned table guarantees against the best attack, ``bound`` what no mechanism can exceed;
    ``gap`` is their relative distance. Where a radius or a spanner restricts, ``within`` is what none exceeds that
    keeps to it, and ``unrestricted`` the solution that proves the bound. ``attacks``, ``prices``, ``privacies`` and
    ``losses`` have one entry for each game solved together; ``attack``, ``price`` and ``quality_loss`` are those of the
    first. ``end`` holds the (guess, release) that hurt in the double oracle's program.
    """

    game: Game | Alternatives
    mechanism: Mechanism
    privacy: float
    bound: float
    within: float
    gap: float
    attacks: tuple[Matrix, ...]
    prices: FloatArray
    privacies: FloatArray
    losses: FloatArray
    status: Status
    method: Method
    iterations: int
    end: Pairs | None = None
    unrestricted: Solution | None = None

    @property
    def attack(self) -> FloatArray:
        """The adversary's optimal strategy h[o, g]."""
        return dense(self.attacks[0])

    @property
    def price(self) -> float:
        """What one more unit of budget would add to privacy."""
        return float(self.prices[0])

    @property
    def quality_loss(self) -> float:
        """The expected quality loss of the returned table."""
        return float(self.losses[0])


@checked
def solve(
    game: Game | Alternatives,
    tolerance: float = 1e-6,
    method: Method | str = Method.AUTO,
    time_limit: float | None = None,
    progress: Progress | None = None,
    start: Pairs | None = None,
    radius: float | None = None,
    device: str | None = None,
) -> Solution:
    """The mechanism that maximises privacy within the budget, certified.

    Stops when the relative gap between the certified bounds is at most ``tolerance``. What goes by rounds also stops
    after the round in which ``time_limit`` seconds are over, with the gap reached by then, and calls ``progress`` with
    (round, lower bound, upper bound) as the solver sees them; what is returned is certified.

    ``start`` tells the double oracle which guesses hurt in a game like this one: the ``end`` of its solution. Releases
    are not taken over: the table stays near the first ones among its equals, which is worth more against who remembers
    (measured: by 9 %). With a ``radius`` no input is given a release that loses more than that in the mean; the bound
    and the gap are those of all mechanisms nevertheless, so that the game is solved twice, and ``within`` is the bound
    of those that keep to the radius. The method ``"first order"`` is the one for a ``device`` of torch such as
    ``"cuda"``, or for ``"cupy"``, which pays from 500 places on for a tolerance of a hundredth, and from 2,000 on for a
    thousandth.

    >>> game = Game.from_prior([0.5, 0.3, 0.2], 1 - np.eye(3), 1 - np.eye(3), budget=0.1)
    >>> solution = solve(game)
    >>> round(solution.privacy, 9), round(solution.bound, 9), str(solution.status)
    (0.1, 0.1, 'optimal')
    """
    tolerance = scalar(tolerance, "tolerance", "solve", "a number > 0", least=np.finfo(float).tiny)
    deadline = np.inf if time_limit is None else time.monotonic() + scalar(time_limit, "time_limit", "solve")
    method = checked_method(method, radius, device)
    if radius is not None:
        return solve_within(game, radius, tolerance, time_limit, progress, start)
    problem = as_alternatives(game)
    if method in (Method.AUTO, Method.CLOSED_FORM):
        certificate = in_closed_form(problem, tolerance)
        if certificate is not None:
            return finished(game, certificate, Status.OPTIMAL, Method.CLOSED_FORM, 0)
        if method is Method.CLOSED_FORM:
            rule = "'closed form' only for games that have one"
            raise broken_rule("method", "solve", rule, "a game without", "Use 'auto'.")
    if method is Method.INTERIOR_POINT or (method is Method.AUTO and same_for_every_release(problem)):
        certificate, rounds, late = in_interior(problem, safe_mechanism(problem), tolerance, deadline, progress)
        return finished(game, certificate, status_of(certificate, tolerance, late), Method.INTERIOR_POINT, rounds)
    if method is Method.FIRST_ORDER:
        certificate, rounds, late = first_order(problem, tolerance, deadline, progress, device)
        return finished(game, certificate, status_of(certificate, tolerance, late), method, rounds)
    if method is not Method.FULL_PROGRAM:
        try:
            oracle = DoubleOracle(problem, start)
            certificate, late = oracle.close(tolerance, deadline, progress)
            status = status_of(certificate, tolerance, late)
            return finished(
                game, certificate, status, Method.DOUBLE_ORACLE, oracle.rounds, None if late else oracle.end()
            )
        except SolverError:
            if method is not Method.AUTO or not small(problem):
                raise
    certificate = in_full(problem)
    return finished(game, certificate, status_of(certificate, tolerance, late=False), Method.FULL_PROGRAM, 1)


def checked_method(name: Method | str, radius: float | None, device: str | None) -> Method:
    """The method of this name, or the one that a radius or a device demands."""
    method = one_of(Method, str(name).replace("_", " "), "method", "solve")
    if radius is not None and device is not None:
        raise broken_rule("device", "solve", "given without a radius", repr(device))
    for parameter, value, only in (("radius", radius, Method.DOUBLE_ORACLE), ("device", device, Method.FIRST_ORDER)):
        if value is not None:
            if method not in (Method.AUTO, only):
                raise broken_rule(
                    parameter, "solve", f"given with the method 'auto' or {str(only)!r}", repr(str(method))
                )
            method = only
    return method


def status_of(certificate: Certificate, tolerance: float, late: bool) -> Status:
    """What the gap and the clock say."""
    if certificate.gap <= tolerance:
        return Status.OPTIMAL
    return Status.TIME_LIMIT if late else Status.STALLED


def solve_within(
    game: Game | Alternatives,
    radius: float,
    tolerance: float,
    time_limit: float | None,
    progress: Progress | None,
    start: Pairs | None,
) -> Solution:
    """The best mechanism within a radius, after the best of all, which proves what the radius costs."""
    problem = as_alternatives(game)
    allowed = allowed_within(problem, scalar(radius, "radius", "solve"))
    half = None if time_limit is None else time_limit / 2
    free = solve(game, tolerance, time_limit=half, progress=progress, start=start)
    if allowed[free.mechanism.laws.nonzero()].all():
        return replace(free, unrestricted=free)
    oracle = DoubleOracle(problem, free.end, allowed)
    deadline = np.inf if half is None else time.monotonic() + half
    certificate, late = oracle.close(tolerance, deadline, progress)
    status = status_of(certificate, tolerance, late)
    found = finished(game, certificate, status, Method.DOUBLE_ORACLE, oracle.rounds, None if late else oracle.end())
    gap = relative_gap(found.privacy, free.bound, problem.games[0].prior_risk)
    if status is Status.OPTIMAL and gap > tolerance:
        status = Status.OPTIMAL_WITHIN
    within = min(found.bound, free.bound)
    return replace(found, bound=free.bound, within=within, gap=gap, status=status, unrestricted=free)


def allowed_within(problem: Alternatives, radius: float) -> BoolArray:
    """The releases [i, o] that lose no more than the radius in the mean, given the input; each must have one."""
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
        raise broken_rule("radius", "solve", f"at least {least:g}, so that every input has a release", radius)
    return allowed


def small(problem: Alternatives) -> bool:
    """Whether the full program can step in where HiGHS fails, as it may on a budget next to the least loss."""
    return sum(game.error.size for game in problem.games) * int(problem.games[0].cost.shape[1]) <= SMALL


def same_for_every_release(problem: Alternatives) -> bool:
    """Whether the extra rows are of the kind that an interior point is for."""
    return solvable(problem) and problem.games[0].rows is not None


def in_interior(
    problem: Alternatives,
    safe: FloatArray | None,
    tolerance: float,
    deadline: float = np.inf,
    progress: Progress | None = None,
) -> tuple[Certificate, int, bool]:
    """The interior point's answer, certified; its rounds; and whether time ran out."""
    if not solvable(problem):
        rule = "'interior point' only for one game, without rows or with rows that are the same for every release"
        raise broken_rule("method", "solve", rule, "another", "Use 'auto'.")
    answer, rounds, late = game_answer(problem.games[0], 0.1 * tolerance, deadline, progress)
    return certify(problem, answer, safe), rounds, late


def in_full(problem: Alternatives) -> Certificate:
    """The full program's answer, certified."""
    return certify(problem, full_program(problem), safe_mechanism(problem))


def in_closed_form(problem: Alternatives, tolerance: float) -> Certificate | None:
    """The first closed form whose certificate closes."""
    if len(problem.games) > 1:
        return None
    for answer in closed_forms(problem.games[0]):
        try:
            certificate = certify(problem, answer)
        except CertificateError:  # extra rows may rule a candidate out
            continue
        if certificate.gap <= tolerance:
            return certificate
    return None


def finished(
    game: Game | Alternatives,
    certificate: Certificate,
    status: Status,
    method: Method,
    rounds: int,
    end: Pairs | None = None,
) -> Solution:
    """The certificate as a user sees it."""
    first = game.games[0] if isinstance(game, Alternatives) else game
    answer = certificate.answer
    return Solution(
        game=game,
        mechanism=Mechanism(answer.table, first.inputs, first.releases),
        privacy=certificate.privacy,
        bound=certificate.bound,
        within=certificate.bound,
        gap=certificate.gap,
        attacks=answer.attacks,
        prices=answer.prices,
        privacies=certificate.privacies,
        losses=certificate.losses,
        status=status,
        method=method,
        iterations=rounds,
        end=end,
    )
