"""The answer to a game: the mechanism, the attack on it, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hideseek.game.alternatives import Alternatives
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import Certificate
from hideseek.solvers.growing_program import Pairs
from hideseek.util.arrays import FloatArray, Matrix, dense


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
    ``optimality_gap`` is their relative distance. Where a radius or a spanner restricts, ``within`` is what none exceeds that
    keeps to it, and ``unrestricted`` the solution that proves the bound. ``attacks``, ``prices``, ``privacies`` and
    ``losses`` have one entry for each game solved together; ``attack``, ``price`` and ``quality_loss`` are those of the
    first. ``end`` holds the (guess, release) that hurt in the double oracle's program.
    """

    game: Game | Alternatives
    mechanism: Mechanism
    privacy: float
    bound: float
    within: float
    optimality_gap: float
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
        optimality_gap=certificate.optimality_gap,
        attacks=answer.attacks,
        prices=answer.prices,
        privacies=certificate.privacies,
        losses=certificate.losses,
        status=status,
        method=method,
        iterations=rounds,
        end=end,
    )
