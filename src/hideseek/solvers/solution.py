"""The answer to a game: the mechanism, the attack on it, and the proof."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hideseek.game.alternatives import Alternatives
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import Certificate
from hideseek.solvers.growing_program import Pairs
from hideseek.util.arrays import FloatArray
from hideseek.util.checks import scalar
from hideseek.util.display import html_table
from hideseek.util.sparse import Matrix, dense
from hideseek.util.units import amount, shown, unit_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A mechanism with the proof of how good it is: ``privacy`` <= value of the game <= ``bound``.

    Attributes
    ----------
    game
        What was solved.
    mechanism
        The mechanism.
    privacy
        The adversary's expected error under the best attack on this mechanism: certain.
    bound
        What no mechanism exceeds.
    optimality_gap
        The relative distance of ``privacy`` and ``bound``.
    within, unrestricted
        Where a radius or a spanner restricts the mechanism: what none exceeds that keeps to it, and the solution
        without the restriction, which proves ``bound``.
    attacks, prices, privacies, losses
        One entry for each game solved together; ``attack``, ``price`` and ``quality_loss`` are those of the first.
    status, method, iterations
        How the solve ended, how it was done, and in how many rounds.
    end
        The (guess, release) whose rows are binding in the double oracle's program: the ``start`` for a similar game.
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
        """What one more unit of budget would add to privacy, at most; the units are those of the metrics."""
        return float(self.prices[0])

    @property
    def quality_loss(self) -> float:
        """The expected quality loss of the returned table."""
        return float(self.losses[0])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The mechanism as a picture [input, release], on axes of your own or new ones."""
        from hideseek.plots.solutions import draw_mechanism

        unit = self._first.units[0]
        reached, most = (f"{shown(one, unit):.4g} {unit_words(unit)}".strip() for one in (self.privacy, self.bound))
        return draw_mechanism(self.mechanism.table, f"Privacy {reached}, of at most {most}", ax)

    def line(self, budget: float) -> float:
        """What no mechanism within another budget exceeds, by the same attack and price.

        >>> import numpy as np
        >>> from hideseek import Game, solve
        >>> game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
        >>> round(solve(game).line(0.3), 6)
        0.3
        """
        return self.bound + self.price * (scalar(budget, "budget", "Solution.line") - self._first.budget)

    @property
    def _first(self) -> Game:
        return self.game if isinstance(self.game, Game) else self.game.games[0]

    def _facts(self) -> dict[str, object]:
        error, loss = self._first.units
        return {
            "privacy": amount(self.privacy, error),
            "no mechanism exceeds": amount(self.bound, error),
            "optimality gap": f"{self.optimality_gap:.1e}",
            "quality loss": amount(self.quality_loss, loss, whole=self._first.budget),
            "status": str(self.status),
            "method": f"{self.method}, {self.iterations} rounds",
        }

    def __repr__(self) -> str:
        facts = self._facts()
        return (
            f"Solution ({facts['status']}): privacy {facts['privacy']}, no mechanism exceeds "
            f"{facts['no mechanism exceeds']}\n  quality loss {facts['quality loss']}; "
            f"optimality gap {facts['optimality gap']}; by {facts['method']}"
        )

    def _repr_html_(self) -> str:
        return html_table("Solution", self._facts())


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
    claim = certificate.claim
    return Solution(
        game=game,
        mechanism=Mechanism(claim.table, inputs=first.inputs, releases=first.releases),
        privacy=certificate.privacy,
        bound=certificate.bound,
        within=certificate.bound,
        optimality_gap=certificate.optimality_gap,
        attacks=claim.attacks,
        prices=claim.prices,
        privacies=certificate.privacies,
        losses=certificate.losses,
        status=status,
        method=method,
        iterations=rounds,
        end=end,
    )
