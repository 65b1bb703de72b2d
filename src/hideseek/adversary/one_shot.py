"""Adversaries against one access: their best guesses, and their expected errors."""

from __future__ import annotations

import numpy as np

from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.metrics.metric import over_places
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.profile import Profile
from hideseek.model.trajectories import possible_trajectories
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors
from hideseek.util.boundary import checked
from hideseek.util.checks import shaped


@checked
def best_guesses(game: Game, mechanism: Mechanism) -> IntArray:
    """The guess with the least expected error for every release, against any mechanism.

    Parameters
    ----------
    game, mechanism
        The game, and the mechanism that is attacked, f[input, release].

    Returns
    -------
    array [release]
        The number of the best guess after each release.

    Raises
    ------
    ParameterError
        Where the mechanism is not one of the game.

    Examples
    --------
    >>> game = Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)
    >>> best_guesses(game, Mechanism([[0.5, 0.5], [0.0, 1.0]]))
    array([0, 1])
    """
    guesses: IntArray = errors_of(game, mechanism, "best_guesses").argmin(axis=0)
    return guesses


@checked
def expected_error(game: Game, mechanism: Mechanism, *, attack: FloatArray | None = None) -> float:
    """The adversary's expected error:  sum_o min_g sum_i W[g, i] f(o|i),  or that of a given attack.

    Parameters
    ----------
    game, mechanism
        The game, and the mechanism that is attacked, f[input, release].
    attack
        h[release, guess], the probability of each guess after each release; by default the best guesses.

    Returns
    -------
    float
        In units of the game's privacy metric.

    Raises
    ------
    ParameterError
        Where the mechanism is not one of the game, or the attack does not fit it.

    Examples
    --------
    >>> game = Game.from_prior([0.6, 0.4], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)
    >>> round(expected_error(game, Mechanism([[0.5, 0.5], [0.0, 1.0]])), 6)
    0.3
    """
    errors = errors_of(game, mechanism, "expected_error")
    if attack is None:
        return float(least_errors(game.error, mechanism.distributions).sum())
    shaped(attack, errors.T.shape, "attack", "expected_error")
    return float(np.vdot(errors.T, attack))


def errors_of(game: Game, mechanism: Mechanism, owner: str) -> FloatArray:
    """The adversary's expected error by guess and release, [guess, release]."""
    shaped(mechanism.distributions, (game.error.shape[1], None), "mechanism", owner)
    return np.asarray(game.error @ mechanism.distributions)


@checked
def guess_distribution(mechanism: Mechanism, attack: FloatArray) -> FloatArray:
    """Where the adversary's guess falls for every input:  sum_o f(o|i) h(g|o).

    Parameters
    ----------
    mechanism
        f[input, release].
    attack
        h[release, guess], the probability of each guess after each release.

    Returns
    -------
    array [input, guess]
        The probability of each guess, for every input.

    Raises
    ------
    ParameterError
        Where the attack has another number of releases than the mechanism.

    Examples
    --------
    >>> guess_distribution(Mechanism([[0.5, 0.5], [0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    shaped(attack, (mechanism.table.shape[1], None), "attack", "guess_distribution")
    return mechanism.table @ attack


@checked
def correlation_aware_error(profile: Profile, mechanism: Mechanism, *, privacy: MetricLike) -> float:
    """The expected error of an adversary who also remembers the release before, when both come from one table f(o|r).

    This is the paper's attack on a mechanism that was made for single places: the prior of the current place is
    conditioned on the previous release, and the errors are averaged over all of those.

    Parameters
    ----------
    profile, mechanism
        How the person moves, and the table f[place, release] that is used at every step.
    privacy
        The metric of the error.

    Returns
    -------
    float
        In units of ``privacy``.

    Raises
    ------
    ParameterError
        Where the mechanism has not one row for each place, or the metric does not fit the profile.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> stays = MarkovProfile.from_matrix([[0.99, 0.01], [0.01, 0.99]])
    >>> coin = Mechanism([[0.7, 0.3], [0.3, 0.7]])
    >>> round(correlation_aware_error(stays, coin, privacy=1 - np.eye(2)), 4)
    0.3
    """
    places = profile.places
    if mechanism.table.shape[0] != places:
        rule = f"a table with one row for each of the {places} places"
        raise broken_rule("mechanism", "correlation_aware_error", rule, mechanism.table.shape)
    pairs = possible_trajectories(profile, (-1, 0))
    before, now = pairs.sequences.T
    d_p = over_places(as_metric(privacy, "privacy", profile, "correlation_aware_error"), places)
    error = 0.0
    for seen in mechanism.table.T:
        joint = np.bincount(now, pairs.probability * seen[before], minlength=places)
        error += least_errors(d_p * joint, mechanism.table).sum()
    return float(error)
