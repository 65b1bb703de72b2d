"""Repeated games so small that all their histories can be written out, and planners trained on them."""

from __future__ import annotations

from functools import cache

import numpy as np

from hideseek import MarkovProfile, Planner, Scenario
from hideseek.metrics import hamming
from hideseek.planning import BeliefGame, plan

HAMMING = 1 - np.eye(3)
LINE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))


@cache
def game(name: str = "line") -> BeliefGame:
    """Tiny games."""
    two = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
    three = MarkovProfile.from_matrix([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.2, 0.5]])
    return {
        "two": lambda: BeliefGame.of(two, privacy=[[0, 3], [1, 0]], quality=[[0, 1], [2, 0]], budget=0.15),
        "line": lambda: BeliefGame.of(three, privacy=LINE, quality=HAMMING, budget=0.25),
        "choice": lambda: BeliefGame.of(  # of the optima of now, some leave half as much again as others
            MarkovProfile.from_matrix([[0.4, 0.5, 0.1], [0.0, 0.9, 0.1], [0.5, 0.0, 0.5]]),
            privacy=[[0, 1, 0], [3, 0, 0], [1, 4, 0]],
            quality=[[0, 1, 4], [3, 0, 4], [2, 1, 0]],
            budget=0.28,
        ),
        "sacrifice": lambda: BeliefGame.of(  # what is best in the long run is not best now
            MarkovProfile.from_matrix([[0.4, 0.1, 0.5], [0.2, 0.8, 0.0], [0.2, 0.2, 0.6]]),
            privacy=[[0, 1, 4], [2, 0, 3], [2, 3, 0]],
            quality=[[0, 4, 3], [2, 0, 3], [2, 1, 0]],
            budget=0.44,
        ),
        "way": lambda: BeliefGame.of(
            two, privacy=hamming(), quality=hamming(), budget=0.2, scenario=Scenario(target=(-1, 0))
        ),
        "later": lambda: BeliefGame.of(
            two, privacy=[[0, 3], [1, 0]], quality=hamming(), budget=0.2, scenario=Scenario.read_later(1)
        ),
        "next": lambda: BeliefGame.of(
            three, privacy=hamming(), quality=hamming(), budget=0.3, scenario=Scenario(target=(0, 1), known=(0,))
        ),
        "every second": lambda: BeliefGame.of(
            three, privacy=LINE, quality=HAMMING, budget=0.25, scenario=Scenario(target=(0,), every=2)
        ),
    }[name]()


@cache
def trained(name: str, outlook: str = "far-sighted", mode: str = "trade-off", discount: float = 0.5) -> Planner:
    return plan(game(name), outlook=outlook, mode=mode, discount=discount, walks=4)


NAMES = ("two", "line", "choice", "sacrifice", "way", "later", "next", "every second")
SCIPY = 1e-7  # by so much may scipy break a row, and be better than anything can be


def beliefs(own: BeliefGame, count: int, seed: int = 0) -> np.ndarray:
    """Some beliefs over the states of a game, many of them near a few states."""
    return np.random.default_rng(seed).dirichlet(np.full(len(own.states), 0.6), count)
