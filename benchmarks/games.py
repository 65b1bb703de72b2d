"""What is solved: Euclidean privacy, squared Euclidean quality, a Zipf prior on a grid, half the saturating budget."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from hideseek import Codebook, Game, MarkovProfile, Places, Scenario, design
from hideseek.metrics import distance, squared
from hideseek.model.profile import regions_of
from hideseek.util.arrays import FloatArray


def grid_points(places: int) -> FloatArray:
    """Places on the squarest grid."""
    rows = int(np.sqrt(places))
    return np.array([divmod(k, -(-places // rows)) for k in range(places)], float)


def grid_game(places: int, share: float = 0.5, seed: int = 0) -> Game:
    """The grid with a shuffled Zipf prior, and this share of the saturating budget."""
    points = grid_points(places)
    apart = cdist(points, points)
    prior = 1 / np.arange(1, places + 1)
    np.random.default_rng(seed).shuffle(prior)
    game = Game.from_prior(prior / prior.sum(), privacy=apart, quality=apart**2, budget=1e9)
    return game.with_budget(share * game.saturation)


def geo_game(places: int) -> tuple[Game, FloatArray]:
    """The grid's distance as the quality, and as what geo-indistinguishability means, epsilon ln 2 a cell."""
    game = grid_game(places)
    apart = game.error / game.mass
    return Game.from_prior(game.mass, privacy=apart, quality=apart, budget=1e9), apart


def walker(places: int) -> MarkovProfile:
    """Somebody who mostly stays, and otherwise goes to a neighbouring place of the grid or home."""
    points = grid_points(places)
    near = cdist(points, points, "cityblock") == 1
    matrix = 0.8 * np.eye(places) + 0.15 * near / near.sum(axis=1, keepdims=True)
    matrix[:, 0] += 0.05
    latitudes, longitudes = (points / 100 + (46.5, 6.5)).T.tolist()
    return MarkovProfile.from_matrix(matrix, Places(latitudes, longitudes))


def designed(places: int) -> Codebook:
    """One release seen, Euclid against squared Euclid."""
    profile = walker(places)
    metres = distance(regions_of(profile))
    game = Game.from_scenario(profile, Scenario.sporadic(), privacy=metres, quality=squared(metres))
    budget = 0.2 * game.saturation
    return design(profile, Scenario.past_present(1), privacy=metres, quality=squared(metres), budget=budget, workers=1)
