"""Tables that hide the current place and reveal little about the whole way.

Whoever reads the log later guesses every place from all releases. A release depends on the current state and on what
was released before, so by the chain rule of information, all releases together reveal about the way X

    I(X; O[1], ..., O[n]) = sum_t I(X[t]; O[t] | earlier releases) = sum_t I(b, f)

nats, where b is the belief before an access and f the table at it. The entropy of the way given the log is H(X) less
this sum, whatever the mechanism: so the later reader is left the more, the less every single table reveals. What a
table is worth against the adversary of now is therefore weighed against what it reveals, at a price per nat. The table
that reveals least within a budget is the optimum of rate-distortion theory, found by products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hideseek.util.arrays import FloatArray
from hideseek.util.mixing import share_to_keep

EQUAL = 0.01  # of the ceiling: tables whose worth is nearer than this to the best count as equal
NAT = 0.3  # of the ceiling: the price of a revealed nat
TURNS, FASTER = 22, 1.8  # of the alternation; what is left to gain by then is far less than what mixing decides
EXACT = 1e-4  # of the budget: how near the loss comes to it
UNLIKELY = 1e-9  # states of this probability do not count
SHARES = (np.arange(9) / 8) ** 2  # of the table that reveals least, in a mixture
TINY = 1e-30


def least_revealing(belief: FloatArray, cost: FloatArray, budget: float) -> FloatArray:
    """The table [state, release] within the budget at a belief that reveals least, nearly.

    Blahut's and Arimoto's alternation  f(o|s) ~ q(o) exp(-slope cost[s, o]),  q = belief f,  with nearly twice its step
    for q (with twice, it no longer converges), and half a step of Newton's method for the slope at every turn: whole
    ones may swing for ever, as q moves too.

    >>> least_revealing(np.array([0.5, 0.5]), 1 - np.eye(2), 0.25).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    on = np.flatnonzero(belief > UNLIKELY)
    mass, own = belief[on], cost[on]
    alike = mass @ own
    if alike.min() <= budget:  # one release for all reveals nothing
        return np.asarray(np.broadcast_to(np.eye(len(alike))[alike.argmin()], cost.shape))
    least = own.min(axis=1, keepdims=True)
    above = own - least
    cheapest = (above <= 0) / (above <= 0).sum(axis=1, keepdims=True)
    room = budget - float(mass @ least[:, 0])
    squares, ones = above**2, np.ones(len(alike))  # sums of rows are products with ones, which are faster
    q, slope = ones / len(ones), 1 / (max(room, EXACT * float(above.max())) or 1.0)
    for _ in range(TURNS):
        likely = np.exp(-slope * above)
        weight = q * likely
        each = mass / (weight @ ones)
        lost = each * (weight * above @ ones) / mass
        over, steep = mass @ lost - room, each @ (weight * squares @ ones) - mass @ lost**2
        q = np.maximum(q * (each @ likely) ** FASTER, TINY)
        half = over / (2 * slope * steep) if abs(over) < slope * steep else np.sign(over) / 2
        slope *= np.exp(half)
    table = weight * (each / mass)[:, None]
    loss, constant = float(mass @ lost), float(alike.min() - mass @ least[:, 0])  # above the least
    if loss > room:
        share, other = share_to_keep(loss, 0.0, max(room, 0.0)), cheapest
    else:  # the rest of the budget goes into revealing less: one release for all, as far as it may
        share, other = 1 - share_to_keep(constant, loss, room), np.eye(len(alike))[alike.argmin()]
    table = (1 - share) * table + share * other
    found = np.tile(mass @ table, (len(belief), 1))
    found[on] = table
    return found


def revealed(belief: FloatArray, tables: FloatArray) -> FloatArray:
    """The mutual information of state and release, in nats, of each of some tables [..., state, release].

    >>> round(float(revealed(np.array([0.5, 0.5]), np.eye(2))), 6)
    0.693147
    """
    overall = belief @ tables
    return np.asarray(
        (belief @ (tables * np.log(tables + TINY))).sum(axis=-1) - (overall * np.log(overall + TINY)).sum(axis=-1)
    )


def quieter(
    belief: FloatArray, table: FloatArray, least: FloatArray, worth: Callable[[FloatArray], FloatArray], ceiling: float
) -> FloatArray:
    """A table mixed with the one that reveals least, where worth less the price of the revealed nats is largest.

    Worth is concave in the mixture, and information convex. What is worth nearly as much as the table counts as equal.

    >>> loud, quiet, even = np.eye(2), np.full((2, 2), 0.5), np.array([0.5, 0.5])
    >>> quieter(even, loud, quiet, lambda tables: tables[:, 0, 0], ceiling=0.1).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> quieter(even, loud, quiet, lambda tables: tables[:, 0, 0], ceiling=4.0).tolist()
    [[0.71875, 0.28125], [0.28125, 0.71875]]
    """
    mixtures = table + SHARES[:, None, None] * (least - table)
    worths = worth(mixtures)
    counted = np.minimum(worths, worths[0] - EQUAL * ceiling)
    return np.asarray(mixtures[(counted - NAT * ceiling * revealed(belief, mixtures)).argmax()])
