"""Planar Laplace noise: drawn exactly, as a table over places, and remapped to the releases of least loss."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import lambertw

from hideseek.baselines.cells import nearest_place_distribution, on_plane, round_flow, voronoi_edges
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar

POSITIVE = np.finfo(float).tiny


@checked
def draw_planar_laplace(points: FloatArray, *, epsilon: float, generator: np.random.Generator) -> FloatArray:
    """One noisy point for each point, with the density  epsilon^2 / 2pi exp(-epsilon r)  at the distance r.

    The distance is drawn by inverting its distribution function, 1 - (1 + epsilon r) exp(-epsilon r).

    Parameters
    ----------
    points
        On a plane, in metres, [point, 2].
    epsilon
        Per metre, > 0; the mean distance is 2 / epsilon.
    generator
        For simulation: it is not cryptographically secure.

    Returns
    -------
    array [point, 2]
        In metres.

    Raises
    ------
    ParameterError
        Where epsilon is not above 0, or the points are not on a plane.

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis and Palamidessi: Geo-indistinguishability: Differential privacy for
    location-based systems. CCS 2013.

    Examples
    --------
    >>> noisy = draw_planar_laplace(np.zeros((10_000, 2)), epsilon=0.01, generator=np.random.default_rng(0))
    >>> bool(abs(np.linalg.norm(noisy, axis=1).mean() - 200) < 5)  # 2 / epsilon
    True
    """
    rate = scalar(epsilon, "epsilon", "draw_planar_laplace", "a number > 0", POSITIVE)
    on_plane(points, "draw_planar_laplace")
    share, angle = generator.random(len(points)), generator.uniform(0, 2 * np.pi, len(points))
    radius = -(lambertw((share - 1) / math.e, k=-1).real + 1) / rate
    return np.asarray(points + radius[:, None] * np.c_[np.cos(angle), np.sin(angle)])


@checked
def planar_laplace(points: FloatArray, *, epsilon: float) -> Mechanism:
    """Planar Laplace noise around the true place, released as the place nearest to it.

    It is epsilon-geo-indistinguishable on the plane: f(o|i) <= exp(epsilon d(i, j)) f(o|j). The table holds the exact
    probabilities of the places' Voronoi cells.

    Parameters
    ----------
    points
        Two or more different places on a plane, in metres, [place, 2].
    epsilon
        Per metre, > 0.

    Returns
    -------
    Mechanism
        f[place, release].

    Raises
    ------
    ParameterError
        Where epsilon is not above 0, or the points are not on a plane.

    References
    ----------
    Andrés, Bordenabe, Chatzikokolakis and Palamidessi: Geo-indistinguishability: Differential privacy for
    location-based systems. CCS 2013.

    Examples
    --------
    >>> planar_laplace(np.array([[0.0, 0.0], [1.0, 0.0]]), epsilon=2.0).table.round(6)
    array([[0.761487, 0.238513],
           [0.238513, 0.761487]])
    """
    rate = scalar(epsilon, "epsilon", "planar_laplace", "a number > 0", POSITIVE)
    edges = voronoi_edges(points)
    return Mechanism(nearest_place_distribution(points, edges, np.arange(len(points)), round_flow(edges, rate)))


@checked
def remapped(game: Game, mechanism: Mechanism) -> Mechanism:
    """Replace each release by the one with the least expected loss, given the release.

    No true place is looked at, so every guarantee of the mechanism still holds.

    Parameters
    ----------
    game
        Its costs C[i, o] decide which release costs least.
    mechanism
        f[input, release].

    Returns
    -------
    Mechanism
        Of the same shape.

    Raises
    ------
    ParameterError
        If the mechanism is not one of the game.

    References
    ----------
    Chatzikokolakis, ElSalamouny and Palamidessi: Efficient utility improvement for location privacy. PoPETs 2017.

    Examples
    --------
    >>> game = Game.from_prior([0.9, 0.1], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)
    >>> remapped(game, Mechanism([[0.6, 0.4], [0.4, 0.6]])).table  # home is likelier whatever is released
    array([[1., 0.],
           [1., 0.]])
    """
    if mechanism.table.shape != game.cost.shape:
        raise broken_rule("mechanism", "remapped", f"a table of the shape {game.cost.shape}", mechanism.table.shape)
    cheapest = (game.cost.T @ mechanism.table).argmin(axis=0)
    table = mechanism.table @ np.eye(game.cost.shape[1])[cheapest]
    return Mechanism(table, inputs=game.inputs, releases=game.releases)
