"""One price of loss for all histories of an access, where the budget holds on average over them.

At a price p the games of the histories have nothing in common any more: each maximises its privacy less p times its
loss. The higher the price, the less is lost and the less is left, on average over the histories along a concave line;
so one price is that of the budget. There the best loss may jump, from that of one table to that of another: both are
best, and a mixture of them meets the budget exactly. What it loses after a history is the history's share of the
budget. Within it the table may be chosen like any other, as it does not matter to the other histories any more.

For any attack h and price p,  p Q + sum over histories of their probability times sum_i max_o (h W - p C)[i, o]
bounds every mechanism that keeps the budget Q on average over the histories: the proof of such a stage has one price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hideseek.game.game import Game, budget_too_small
from hideseek.solvers.solution import Solution
from hideseek.util.arrays import FloatArray
from hideseek.util.mixing import share_to_keep

CLOSE = 3e-6  # the share of privacy that another price may gain when the search ends; each game is solved to 1e-6
NARROW = 1e-9  # of a loss: between so similar ones there is nothing to search
ROUNDS = 60  # of the search

AtPrice = Callable[[float], list[Solution]]


@dataclass(frozen=True, eq=False)
class Divided:
    """The ``games`` with their shares of the budget, and what proves these: the solutions at the ``price``."""

    games: list[Game]
    price: float
    proofs: list[Solution]


@dataclass(frozen=True, eq=False)
class _Point:
    """What mechanisms of all histories lose, one number per history, and what they lose and leave on average."""

    losses: FloatArray
    loss: float
    privacy: float

    def worth(self, price: float) -> float:
        """What is left, less the loss at this price."""
        return self.privacy - price * self.loss


def divide(games: Sequence[Game], weight: FloatArray, budget: float, at: AtPrice, price: float | None) -> Divided:
    """Divide a budget among the games of all histories, which have these probabilities.

    ``at`` solves all games at a price; the search begins with a ``price`` that may be right, if there is one.
    """

    def point(losses: Sequence[float], privacy: Sequence[float] | FloatArray) -> _Point:
        return _Point(np.array(losses), float(weight @ losses), float(weight @ privacy))

    cheap = point([game.least_loss for game in games], np.zeros(len(games)))
    silent = point([game.saturation for game in games], [game.prior_risk for game in games])
    if silent.loss <= budget:
        return Divided(within(games, silent.losses), 0.0, at(0.0))
    if cheap.loss > budget * (1 + 1e-12):
        raise budget_too_small(budget, cheap.loss, games[0].units[1])
    for _ in range(ROUNDS):
        slope = max(0.0, (silent.privacy - cheap.privacy) / (silent.loss - cheap.loss))
        asked, price = slope if price is None else price, None
        proofs = at(asked)
        found = point([one.quality_loss for one in proofs], [one.privacy for one in proofs])
        known = max(cheap.worth(asked), silent.worth(asked))
        if asked == slope and found.worth(slope) - known <= CLOSE * silent.privacy:
            break
        cheap, silent = (cheap, found) if found.loss > budget else (found, silent)
        if silent.loss - cheap.loss <= NARROW * silent.loss:
            break
    share = float(share_to_keep(silent.loss, cheap.loss, budget))
    return Divided(within(games, (1 - share) * silent.losses + share * cheap.losses), asked, proofs)


def within(games: Sequence[Game], budgets: FloatArray) -> list[Game]:
    """The games with these budgets."""
    return [replace(game, budget=own) for game, own in zip(games, budgets.tolist(), strict=True)]
