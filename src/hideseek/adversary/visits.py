"""How often a place is named while the person is there, where visits are too rare to wait for.

A walk of the chain that is at a place at an access is drawn from there back to the start, by the reversed chain. What
is exposed on the way is drawn forward again, as it depends on what was exposed before.
"""

from __future__ import annotations

import numpy as np

from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.model.exposed_walks import Choose
from hideseek.model.profile import drawn
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.estimates import Estimate


def named_on_visits(
    game: BeliefGame,
    choose: Choose,
    place: int,
    *,
    accesses: int,
    visits: int,
    seed: int = 0,
    log: bool = False,
) -> Estimate:
    """How often the best guess names a place at those of the first accesses at which the person is there.

    Parameters
    ----------
    game
        The chain and the errors; the current place is protected.
    choose
        Gives the tables [walk, state, release] at what is public.
    place
        Its number.
    accesses, visits, seed
        Over how many accesses the rate is an average; how many visits to draw, at least 2, each at one of them; and
        the seed.
    log
        Whether the choice looks at what is believed of earlier places.

    Returns
    -------
    Estimate
        The rate, with its 95 % interval.

    Examples
    --------
    >>> from hideseek.model.exposed_walks import at_beliefs
    >>> from hideseek.model.markov import MarkovProfile
    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    >>> game = BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.2)
    >>> coin = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> round(named_on_visits(game, at_beliefs(lambda _: coin), 1, accesses=5, visits=10), 6)
    0.8
    """
    generator = np.random.default_rng(seed)
    here = np.flatnonzero(game.states[:, -1] == place)
    back = (game.start[:, None] * game.moves).T / game.start[:, None]  # [state, state before]
    lengths = generator.integers(accesses, size=visits)
    # all visits are walked back together, and each begins at its own access
    way = [here[drawn(np.tile(game.start[here] / game.start[here].sum(), (visits, 1)), generator)]]
    for _ in range(int(lengths.max())):
        way.append(drawn(back[way[-1]], generator))
    return rate_of(named_at_the_end(game, choose, np.array(way), lengths, generator, log))


def named_at_the_end(
    game: BeliefGame, choose: Choose, way: IntArray, lengths: IntArray, generator: np.random.Generator, log: bool
) -> FloatArray:
    """The probability that the guess at the end of each walk is the true place; ``way`` leads back, [step, walk]."""
    rates, standing = np.zeros(len(lengths)), Standing.first(game, len(lengths))
    going = np.arange(len(lengths))
    for access in range(int(lengths.max()) + 1):
        states = way[lengths[going] - access, going]
        tables = choose(standing)
        for number in np.flatnonzero(lengths[going] == access).tolist():
            rates[going[number]] = named_there(game, standing.belief[number], tables[number], int(states[number]))
        on = np.flatnonzero(lengths[going] > access)
        if not len(on):
            break
        releases = drawn(tables[on, states[on]], generator)
        standing = standing.runs(on).exposed(game, tables[on], releases, log=log).moved(game.moves)
        going = going[on]
    return rates


def named_there(game: BeliefGame, belief: FloatArray, table: FloatArray, state: int) -> float:
    """The probability that the guess at an access is the true place."""
    places, metric = over_places(game)
    guess = likeliest_guesses(metric, places @ (belief[:, None] * table))
    return float(table[state][guess == game.states[state, -1]].sum())


def rate_of(shares: FloatArray) -> Estimate:
    """The mean of shares, with its interval.

    >>> rate_of(np.array([0.0, 1.0])).interval
    (0.0, 1.0)
    """
    rate = Estimate.mean_of(shares)
    low, high = np.clip(rate.interval, 0.0, 1.0).tolist()
    return Estimate(float(rate), (low, high))
