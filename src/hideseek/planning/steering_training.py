"""The price of loss at which the long run loses the budget: found on walks, by the level of the account.

The price starts as that of the ceiling, which is the right one if all of the ceiling is reached. After every round of
walks it rises as far as the round lost more than the budget and the account is less than half full, and falls where it
is the other way round. What it is on average over the last rounds holds the level in the middle, so that neither side
of the account is met often.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat

import numpy as np

from hideseek.model.exposed_walks import exposed_walks
from hideseek.model.steering import Standing, Steering, steered
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.util.arrays import FloatArray
from hideseek.util.choices import Against
from hideseek.util.progress import Advance

WALKS, ROUND, ROUNDS, LAST = 16, 72, 12, 8  # walks at once, accesses of a round, rounds, and those that count at last
EACH, FEWEST = 3, 4  # walks of a plan for which there is a round; rounds of a draft
BY_LOSS = 0.5  # the logarithm of the price moves so far where a round loses a budget more per access than it may
BY_LEVEL = 0.25  # and so far where the account is full or empty after it
WINDOW = 288  # accesses: longer windows need no more, as the price is the same
WEIGHTS = {Against.FILTER: (0.1, 0.0), Against.BOTH: (0.15, 0.04), Against.LOG: (0.4, 0.1)}  # of a nat, and of the log
LEAST = 0.05  # of the ceiling for a budget of loss, to begin with: a ceiling that saturates has a price of 0


def trained_steering(
    game: BeliefGame, planner: Planner, against: Against, walks: int, seed: int, progress: Advance | None = None
) -> Steering:
    """The steering of a game whose budget holds over a window; fewer ``walks`` than a plan's own make it a draft."""
    rounds = min(ROUNDS, max(FEWEST, walks // EACH))
    nat, log = WEIGHTS[against]
    scale = game.most or float(game.error.max()) or 1.0
    price = max(game.ceiling.price, LEAST * scale / game.budget)
    steering = Steering(price, nat * scale, log).counting(game, planner.cuts, planner.discount)
    short = replace(game, window=min(game.window, WINDOW))
    prices, start, generator = list[float](), Standing.first(short, WALKS), np.random.default_rng(seed)

    def choose(now: Standing) -> FloatArray:
        return steered(short, steering, now)

    walk = exposed_walks(short, choose, repeat(game.moves), generator, start=start, log=log > 0)
    for done in range(rounds):
        taken = [next(walk) for _ in range(ROUND)]
        prices.append(steering.price)
        lost = np.mean([np.einsum("rs,rso,so->r", one.before.belief, one.tables, game.cost) for one in taken])
        level = float(short.account.level(taken[-1].after.saved).mean())
        moved = BY_LOSS * (float(lost) / game.budget - 1) + BY_LEVEL * (1 - 2 * level)
        steering = replace(steering, price=steering.price * np.exp(moved))
        if progress is not None:
            progress("walks for the price of loss, rounds", done + 1, rounds)
    return replace(steering, price=float(np.exp(np.mean(np.log(prices[-LAST:])))))
