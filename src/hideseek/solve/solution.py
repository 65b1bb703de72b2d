"""One call for every game: the mechanism, the best attack on it, and the proof."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from hideseek.arrays import FloatArray, scalar
from hideseek.errors import CertificateError, SolverError, broken_rule
from hideseek.game import Alternatives, Game, as_alternatives
from hideseek.mechanism import Mechanism
from hideseek.solve.certificate import Certificate, certify
from hideseek.solve.closed_form import closed_forms
from hideseek.solve.double_oracle import DoubleOracle
from hideseek.solve.full_program import full_program, safe_mechanism
from hideseek.solve.interior_point import Progress, game_answer, solvable

SMALL = 1_000_000  # non-zeros of a full program, which 100 places have: two seconds


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"  # the certified gap is within the tolerance
    STALLED = "stalled"  # nothing was left to improve, and the gap is what it is
    TIME_LIMIT = "time limit"


class Method(StrEnum):
    """The ways to solve a game."""

    AUTO = "auto"  # a closed form where one applies, else what fits the extra rows
    CLOSED_FORM = "closed form"
    DOUBLE_ORACLE = "double oracle"
    INTERIOR_POINT = "interior point"
    FULL_PROGRAM = "full program"


@dataclass(frozen=True, eq=False)
class Solution:
    """A mechanism with the proof of how good it is: ``privacy`` <= value of the game <= ``bound``.

    ``privacy`` is what the returned table guarantees against the best attack, ``bound`` what no mechanism can exceed;
    ``gap`` is their relative distance. ``attacks``, ``prices``, ``privacies`` and ``losses`` have one entry for each
    game solved together; ``attack``, ``price`` and ``quality_loss`` are those of the first.
    """

    game: Game | Alternatives
    mechanism: Mechanism
    privacy: float
    bound: float
    gap: float
    attacks: tuple[FloatArray, ...]
    prices: FloatArray
    privacies: FloatArray
    losses: FloatArray
    status: Status
    method: Method
    iterations: int

    @property
    def attack(self) -> FloatArray:
        """The adversary's optimal strategy h[o, g]."""
        return self.attacks[0]

    @property
    def price(self) -> float:
        """What one more unit of budget would add to privacy."""
        return float(self.prices[0])

    @property
    def quality_loss(self) -> float:
        """The expected quality loss of the returned table."""
        return float(self.losses[0])


def solve(
    game: Game | Alternatives,
    tolerance: float = 1e-6,
    method: Method | str = Method.AUTO,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Solution:
    """The mechanism that maximises privacy within the budget, certified.

    Stops when the relative gap between the certified bounds is at most ``tolerance``. What goes by rounds also stops
    after the round in which ``time_limit`` seconds are over, with the gap reached by then, and calls ``progress`` with
    (round, lower bound, upper bound) as the solver sees them; what is returned is certified.

    >>> game = Game.from_prior([0.5, 0.3, 0.2], 1 - np.eye(3), 1 - np.eye(3), budget=0.1)
    >>> solution = solve(game)
    >>> round(solution.privacy, 9), round(solution.bound, 9), str(solution.status)
    (0.1, 0.1, 'optimal')
    """
    tolerance = scalar(tolerance, "tolerance", "solve", "a number > 0", least=np.finfo(float).tiny)
    deadline = np.inf if time_limit is None else time.monotonic() + scalar(time_limit, "time_limit", "solve")
    try:
        method = Method(str(method).replace("_", " "))
    except ValueError:
        names = ", ".join(repr(str(name)) for name in Method)
        raise broken_rule("method", "solve", f"one of {names}", repr(method)) from None
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
    if method is not Method.FULL_PROGRAM:
        try:
            oracle = DoubleOracle(problem)
            certificate, late = oracle.close(tolerance, deadline, progress)
            status = status_of(certificate, tolerance, late)
            return finished(game, certificate, status, Method.DOUBLE_ORACLE, oracle.rounds)
        except SolverError:
            if method is not Method.AUTO or not small(problem):
                raise
    certificate = in_full(problem)
    return finished(game, certificate, status_of(certificate, tolerance, late=False), Method.FULL_PROGRAM, 1)


def status_of(certificate: Certificate, tolerance: float, late: bool) -> Status:
    """What the gap and the clock say."""
    if certificate.gap <= tolerance:
        return Status.OPTIMAL
    return Status.TIME_LIMIT if late else Status.STALLED


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
    game: Game | Alternatives, certificate: Certificate, status: Status, method: Method, rounds: int
) -> Solution:
    """The certificate as a user sees it."""
    first = game.games[0] if isinstance(game, Alternatives) else game
    answer = certificate.answer
    return Solution(
        game=game,
        mechanism=Mechanism(answer.table, first.inputs, first.releases),
        privacy=certificate.privacy,
        bound=certificate.bound,
        gap=certificate.gap,
        attacks=answer.attacks,
        prices=answer.prices,
        privacies=certificate.privacies,
        losses=certificate.losses,
        status=status,
        method=method,
        iterations=rounds,
    )
