"""How often a place is named while the person is there, where visits are too rare to wait for.

A walk of the chain that is at a place at an access is drawn from there back to the start, by the reversed chain. What
is exposed on the way is drawn forward again, as it depends on what was exposed before.
"""

from __future__ import annotations

import numpy as np

from hideseek.adversary.belief_exposer import Choose
from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.model.belief import updated
from hideseek.model.profile import drawn
from hideseek.planning.belief_game import BeliefGame
from hideseek.util.arrays import FloatArray
from hideseek.util.estimates import Estimate


def named_on_visits(
    game: BeliefGame, choose: Choose, place: int, *, accesses: int, visits: int, seed: int = 0
) -> Estimate:
    """How often the best guess names a place at those of the first accesses at which the person is there.

    Parameters
    ----------
    game
        The chain and the errors; the current place is protected.
    choose
        Gives the table [state, release] at a belief over the states.
    place
        Its number.
    accesses, visits, seed
        Over how many accesses the rate is an average; how many visits to draw, at least 2, each at one of them; and
        the seed.

    Returns
    -------
    Estimate
        The rate, with its 95 % interval.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    >>> game = BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.2)
    >>> coin = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> round(named_on_visits(game, lambda _: coin, 1, accesses=5, visits=10), 6)
    0.8
    """
    generator = np.random.default_rng(seed)
    here = np.flatnonzero(game.states[:, -1] == place)
    back = (game.start[:, None] * game.moves).T / game.start[:, None]  # [state, state before]
    rates = []
    for length in generator.integers(accesses, size=visits).tolist():
        walk = [int(here[drawn(game.start[here] / game.start[here].sum(), generator)])]
        for _ in range(length):
            walk.append(int(drawn(back[walk[-1]], generator)))
        rates.append(named_at_the_end(game, choose, walk[::-1], generator))
    return rate_of(np.array(rates))


def named_at_the_end(game: BeliefGame, choose: Choose, walk: list[int], generator: np.random.Generator) -> float:
    """The probability that the guess at the last access of a walk is the true place."""
    belief = game.start
    for state in walk[:-1]:
        table = choose(belief)
        known = updated(belief, table[:, int(drawn(table[state], generator))])[0]
        belief = known @ game.moves
    table, (places, metric) = choose(belief), over_places(game)
    guess = likeliest_guesses(metric, places @ (belief[:, None] * table))
    return float(table[walk[-1]][guess == game.states[walk[-1], -1]].sum())


def rate_of(shares: FloatArray) -> Estimate:
    """The mean of shares, with its interval.

    >>> rate_of(np.array([0.0, 1.0])).interval
    (0.0, 1.0)
    """
    rate = Estimate.mean_of(shares)
    low, high = np.clip(rate.interval, 0.0, 1.0).tolist()
    return Estimate(float(rate), (low, high))
