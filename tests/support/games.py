"""Games for tests: grids, random metrics, and hypothesis strategies."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hideseek import Game


def grid_distances(rows: int, columns: int) -> np.ndarray:
    points = np.array([(r, c) for r in range(rows) for c in range(columns)], float)
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def zipf(count: int, seed: int = 0) -> np.ndarray:
    weight = 1 / np.arange(1, count + 1)
    np.random.default_rng(seed).shuffle(weight)
    return weight / weight.sum()


def euclid_game(rows: int, columns: int, share: float, seed: int = 0) -> Game:
    """Distance against squared distance, Zipf prior, a share of the saturating budget."""
    distance = grid_distances(rows, columns)
    game = Game.from_prior(zipf(rows * columns, seed), privacy=distance, quality=distance**2, budget=1e9)
    return game.with_budget(share * game.saturation)


def random_game(seed: int, guesses: int, inputs: int, releases: int, share: float) -> Game:
    """No structure at all; the budget lies a share of the way from the least loss to saturation."""
    generator = np.random.default_rng(seed)
    prior = generator.dirichlet(np.ones(inputs))
    error = generator.random((guesses, inputs)) * prior
    cost = generator.random((inputs, releases)) * prior[:, None]
    game = Game(error, cost, budget=1e9)
    return game.with_budget(game.least_loss + share * (game.saturation - game.least_loss))


sizes = st.integers(2, 5)
shares = st.floats(0, 1)


@st.composite
def games(draw: st.DrawFn) -> Game:
    return random_game(draw(st.integers(0, 10**6)), draw(sizes), draw(sizes), draw(sizes), draw(shares))
