"""Games whose optimum can be written down.

Three candidates, each a mechanism with its attack and price, offered to the certificate, which judges them:

- constant: the budget pays for releasing one place always, so the prior risk is reached;
- coin: error and quality are the same metric on the same places (W = C^T): release the truth or the prior's best guess,
  by the toss of a coin. The optimum is min(Q, prior risk), the straight lines and plateaus of the paper;
- cheapest: the budget allows nothing but the one cheapest release of every input.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hideseek.game.game import Game
from hideseek.solvers.claim import Claim, one_hot
from hideseek.util.arrays import FloatArray


def closed_forms(game: Game) -> Iterator[Claim]:
    """The candidates that may be optimal for this game.

    >>> game = Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
    >>> [len(answer.table) for answer in closed_forms(game)]
    [2]
    """
    if game.saturation <= game.budget:
        yield constant(game)
    elif game.error.shape == game.cost.T.shape and np.array_equal(game.error, game.cost.T):
        if not game.cost.min(axis=1).any():
            yield coin(game)
    elif game.budget <= game.least_loss * (1 + 1e-12):
        yield from cheapest(game)


def answer_for(game: Game, table: FloatArray, attack: FloatArray, price: float) -> Claim:
    """One game's answer, with no weight on extra rows."""
    extra = 0 if game.rows is None else len(game.rows.lower)
    return Claim(table, (attack,), np.array([price]), np.ones(1), np.zeros(extra))


def constant(game: Game) -> Claim:
    """One release for everybody; the adversary keeps the prior's best guess."""
    inputs, releases = game.cost.shape
    table = one_hot(game.cost.sum(axis=0).argmin(), inputs, releases)
    attack = one_hot(game.error.sum(axis=1).argmin(), releases, len(game.error))
    return answer_for(game, table, attack, 0.0)


def coin(game: Game) -> Claim:
    """The truth, or the prior's best guess with probability budget / prior risk; the adversary believes the release."""
    inputs, releases = game.cost.shape
    lie = game.budget / game.saturation
    table = (1 - lie) * one_hot(game.cost.argmin(axis=1), inputs, releases)
    table[:, game.cost.sum(axis=0).argmin()] += lie
    return answer_for(game, table, np.eye(releases), 1.0)


def cheapest(game: Game) -> Iterator[Claim]:
    """The cheapest release, at a price that makes every other one too dear; only where it is unique."""
    table = one_hot(game.cost.argmin(axis=1), *game.cost.shape)
    attack = one_hot((game.error @ table).argmin(axis=0), game.cost.shape[1], len(game.error))
    gain = (attack @ game.error).T
    chosen = table.astype(bool)
    dearer = game.cost - game.cost.min(axis=1, keepdims=True)
    if (dearer[~chosen] > 0).all():
        better = (gain - gain[chosen][:, None])[~chosen]
        yield answer_for(game, table, attack, max(0.0, float((better / dearer[~chosen]).max(initial=0))))
