"""Among tables that hide the current place equally well, the one that tells least about the whole way.

Whoever reads the log later guesses every place from all releases. A release depends on the current state and on what
was released before, so by the chain rule of information, all releases together tell about the way X

    I(X; O[1], ..., O[n]) = sum_t I(X[t]; O[t] | earlier releases) = sum_t I(b, f)

bits, where b is the belief before an access and f the table at it. The entropy of the way given the log is H(X) less
this sum, whatever the mechanism: so the later reader is left the more, the less every single table tells. The table
that tells least within a budget is the optimum of rate-distortion theory, found by products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hideseek.util.arrays import FloatArray
from hideseek.util.mixing import share_to_keep

EQUAL = 0.01  # of the ceiling: tables whose worth is nearer than this count as equal
TURNS = 40  # of the alternation; what is left to gain by then is far less than what mixing decides
EXACT = 1e-4  # of the budget: how near the loss comes to it
UNLIKELY = 1e-9  # states of this probability do not count
SHARES = np.arange(1, 9) / 8  # of the table that tells least, in a mixture


def least_telling(belief: FloatArray, cost: FloatArray, budget: float) -> FloatArray:
    """The table [state, release] within the budget at a belief that tells least, nearly.

    Blahut's and Arimoto's alternation  f(o|s) ~ q(o) exp(-slope cost[s, o]),  q = belief f,  with half a step of
    Newton's method for the slope at every turn: whole ones may swing for ever, as q moves too.

    >>> least_telling(np.array([0.5, 0.5]), 1 - np.eye(2), 0.25).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    on = np.flatnonzero(belief > UNLIKELY)
    mass, own = belief[on], cost[on]
    alike = mass @ own
    if alike.min() <= budget:  # one release for all tells nothing
        return np.asarray(np.broadcast_to(np.eye(len(alike))[alike.argmin()], cost.shape))
    least = own.min(axis=1, keepdims=True)
    above = own - least
    cheapest = (above <= 0) / (above <= 0).sum(axis=1, keepdims=True)
    room = budget - float(mass @ least[:, 0])
    q, slope = np.full(len(alike), 1 / len(alike)), 1 / (max(room, EXACT * float(above.max())) or 1.0)
    for _ in range(TURNS):
        table = q * np.exp(-slope * above)
        table /= table.sum(axis=1, keepdims=True)
        lost = (table * above).sum(axis=1)
        over, steep = mass @ lost - room, mass @ ((table * above**2).sum(axis=1) - lost**2)
        q = mass @ table
        half = over / (2 * slope * steep) if abs(over) < slope * steep else np.sign(over) / 2
        slope *= np.exp(half)
    loss, constant = float(mass @ lost), float(alike.min() - mass @ least[:, 0])  # above the least
    if loss > room:
        share, other = share_to_keep(loss, 0.0, max(room, 0.0)), cheapest
    else:  # the rest of the budget goes into telling less: one release for all, as far as it may
        share, other = 1 - share_to_keep(constant, loss, room), np.eye(len(alike))[alike.argmin()]
    table = (1 - share) * table + share * other
    found = np.tile(mass @ table, (len(belief), 1))
    found[on] = table
    return found


def quieter(
    table: FloatArray, least: FloatArray, worth: Callable[[FloatArray], FloatArray], enough: float
) -> FloatArray:
    """A table mixed with the one that tells least, as far as the mixture is worth enough; information is convex.

    >>> loud, quiet = np.eye(2), np.full((2, 2), 0.5)
    >>> quieter(loud, quiet, lambda tables: tables[:, 0, 0], 0.8).tolist()
    [[0.8125, 0.1875], [0.1875, 0.8125]]
    """
    mixtures = table + SHARES[:, None, None] * (least - table)
    good = np.flatnonzero(worth(mixtures) >= enough)
    return np.asarray(mixtures[good[-1]] if len(good) else table)
