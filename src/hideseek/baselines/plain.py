"""Rivals with a formula: the truth, a constant, a coin between them, squares, and the exponential mechanism."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hideseek.baselines.cells import on_plane
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative, scalar


@checked
def truth(game: Game) -> Mechanism:
    """Release the place itself.

    Parameters
    ----------
    game
        What the inputs and the releases are.

    Returns
    -------
    Mechanism
        f(o|i) = 1 where o is i.

    Examples
    --------
    >>> truth(Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)).table
    array([[1., 0.],
           [0., 1.]])
    """
    same = (game.inputs[:, None] == game.releases).all(axis=2)
    return Mechanism(same.astype(np.float64), inputs=game.inputs, releases=game.releases)


@checked
def constant(game: Game) -> Mechanism:
    """Always release the one place with the least expected loss: the adversary learns nothing.

    Parameters
    ----------
    game
        Its costs C[i, o] decide which place that is.

    Returns
    -------
    Mechanism
        The same release for every input.

    Examples
    --------
    >>> constant(Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)).table
    array([[1., 0.],
           [1., 0.]])
    """
    table = np.zeros(game.cost.shape)
    table[:, game.cost.sum(axis=0).argmin()] = 1
    return Mechanism(table, inputs=game.inputs, releases=game.releases)


@checked
def coin(game: Game, *, probability: float) -> Mechanism:
    """With this probability the constant place, else the truth.

    Parameters
    ----------
    game
        What the inputs and the releases are, and their costs.
    probability
        Of the constant place, from 0 to 1.

    Returns
    -------
    Mechanism
        The mixture of :func:`constant` and :func:`truth`.

    Raises
    ------
    ParameterError
        Where the probability is not one.

    References
    ----------
    Oya, Troncoso and Pérez-González: Back to the drawing board: Revisiting the design of optimal location
    privacy-preserving mechanisms. CCS 2017.

    Examples
    --------
    >>> game = Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)
    >>> coin(game, probability=0.25).table
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    share = scalar(probability, "probability", "coin", "a number from 0 to 1")
    if share > 1:
        raise broken_rule("probability", "coin", "a number from 0 to 1", share)
    table = (1 - share) * truth(game).table + share * constant(game).table
    return Mechanism(table, inputs=game.inputs, releases=game.releases)


@checked
def uniform_squares(points: FloatArray, *, half_side: float) -> Mechanism:
    """Any place in the square around the true one, with equal probabilities.

    A place is in the square if its centre is. As squares grow, places come in one by one; between two such sizes their
    tables are mixed in proportion, so that the quality loss has no jumps.

    Parameters
    ----------
    points
        The places on a plane, in metres, [place, 2].
    half_side
        How far the square reaches to the east, west, north and south, in metres, >= 0.

    Returns
    -------
    Mechanism
        f[place, release].

    Raises
    ------
    ParameterError
        Where the side is negative, or the points are not on a plane.

    References
    ----------
    Theodorakopoulos, Shokri, Troncoso, Hubaux and Le Boudec: Prolonging the hide-and-seek game: Optimal trajectory
    privacy for location-based services. WPES 2014 (its naive user).

    Examples
    --------
    >>> uniform_squares(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), half_side=1.0).table.round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.333, 0.333, 0.333],
           [0.   , 0.5  , 0.5  ]])
    """
    half = scalar(half_side, "half_side", "uniform_squares")
    on_plane(points, "uniform_squares")
    away = np.abs(points[:, None] - points).max(axis=2).round(3)  # places as far to the millimetre come in together
    smaller, larger = away[away <= half].max(), away[away > half].min(initial=np.inf)
    share = (half - smaller) / (larger - smaller)
    inside = (away <= smaller).astype(float), (away <= larger).astype(float)
    now, soon = (within / within.sum(axis=1, keepdims=True) for within in inside)
    return Mechanism((1 - share) * now + share * soon)


@checked
def exponential(distances: npt.ArrayLike, *, epsilon: float) -> Mechanism:
    """The exponential mechanism:  f(o|i) ~ exp(-epsilon d(i, o) / 2),  which is epsilon-geo-indistinguishable.

    Half of epsilon pays for the distance, the other half for the normaliser, which depends on the place too.

    Parameters
    ----------
    distances
        d[place, release], in metres.
    epsilon
        Per metre, >= 0.

    Returns
    -------
    Mechanism
        f[place, release].

    Raises
    ------
    ParameterError
        Where epsilon or a distance is negative or not finite.

    References
    ----------
    McSherry and Talwar: Mechanism design via differential privacy. FOCS 2007.

    Examples
    --------
    >>> exponential([[0, 2], [2, 0]], epsilon=np.log(3)).table
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    metres = nonnegative(distances, "distances", "exponential", 2)
    weight = np.exp(-scalar(epsilon, "epsilon", "exponential") / 2 * metres)
    return Mechanism(weight / weight.sum(axis=1, keepdims=True))
