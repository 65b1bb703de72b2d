"""Tables that hide the current place and reveal little about the whole way.

Whoever reads the log later guesses every place from all releases. A release depends on the current state and on what
was released before, so by the chain rule of information, all releases together reveal about the way X

    I(X; O[1], ..., O[n]) = sum_t I(X[t]; O[t] | earlier releases) = sum_t I(b, f)

nats, where b is the belief before an access and f the table at it. The entropy of the way given the log is H(X) less
this sum, whatever the mechanism: so the later reader is left the more, the less every single table reveals. What a
table is worth against the adversary of now is therefore weighed against what it reveals, at a price per nat:

    sum_o min_g <E[g], x_o> + sum_o min_j <F[j], x_o> - price I(b, f)          x_o[s] = b[s] f(o|s)

E are the errors of guesses, F cuts that bound what the future is worth. This is concave in f, and where the best guess
g(o) and cut j(o) after every release are what they are, its largest value within the budget is at

    f(o|s) ~ q(o) exp((E[g(o), s] + F[j(o), s]) / price - slope D[s, o])          q = b f

which without E and F is the optimum of rate-distortion theory. So tables are found by products of matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hideseek.util.arrays import FloatArray
from hideseek.util.mixing import share_to_keep

NAT = 1 / 3  # of the ceiling: the price of a revealed nat
TURNS, FASTER = 10, 1.8  # of the alternation, and how many times its step is taken; with twice, it may not converge
STEPS, FIRST, SLOWER = 12, 0.25, 0.15  # of the ascent: how many, the length of the first, and how it shrinks
EXACT = 1e-4  # of the budget: how near the loss comes to it
UNLIKELY = 1e-9  # states of this probability do not count
SHARES = (np.arange(7) / 6) ** 2  # of the second table in a mixture
SELDOM = 1e-6  # the least probability of a release from which the ascent begins
TINY = 1e-30


def quieter(
    belief: FloatArray,
    table: FloatArray,
    worth: Callable[[FloatArray], FloatArray],
    answers: FloatArray,
    guesses: int,
    cost: FloatArray,
    budget: float,
    ceiling: float,
) -> FloatArray:
    """A table that is worth less than this one, but by less than it reveals less.

    The table is mixed with the one that reveals least, then some steps of ascent lead on from there, all within the
    budget. ``answers`` [answer, state] are E, the errors of so many ``guesses``, and behind them the cuts F. ``worth``
    of some tables is the sum of both least values, or minus infinity where a table is out of the question.

    >>> even, differ = np.array([0.5, 0.5]), 1 - np.eye(2)
    >>> loud = np.array([[1.0, 0.0], [0.4, 0.6]])
    >>> found = quieter(
    ...     even, loud, lambda tables: (differ @ (even[:, None] * tables)).min(axis=1).sum(axis=1),
    ...     np.vstack([differ, np.zeros(2)]), 2, differ, budget=0.2, ceiling=0.2,
    ... )
    >>> bool(revealed(even, found) < revealed(even, loud)), round(float((even @ (found * differ)).sum()), 6)
    (True, 0.2)
    """
    price = NAT * ceiling

    def better(one: FloatArray, other: FloatArray) -> FloatArray:
        """The best mixture of two tables."""
        mixtures = one + SHARES[:, None, None] * (other - one)
        return np.asarray(mixtures[(worth(mixtures) - price * revealed(belief, mixtures)).argmax()])

    found = better(table, least_revealing(belief, cost, budget))
    if price <= TINY * float(np.abs(answers).max()) or float((belief @ cost).min()) <= budget:
        return found
    return better(found, climbed(belief, found, answers, guesses, cost, budget, price))


def least_revealing(belief: FloatArray, cost: FloatArray, budget: float) -> FloatArray:
    """The table [state, release] within the budget at a belief that reveals least, nearly.

    Blahut's and Arimoto's alternation  f(o|s) ~ q(o) exp(-slope cost[s, o]),  q = belief f,  with longer steps for q.

    >>> least_revealing(np.array([0.5, 0.5]), 1 - np.eye(2), 0.25).round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    alike = belief @ cost
    if alike.min() <= budget:  # one release for all reveals nothing
        return np.asarray(np.broadcast_to(np.eye(len(alike))[alike.argmin()], cost.shape))
    within = _Within(belief, cost, budget)
    q = within.ones / len(within.ones)
    for _ in range(TURNS):
        likely = np.exp(-within.slope * within.above)
        each = within.spent(q * likely)
        q = np.maximum(q * (each @ likely) ** FASTER, TINY)
    return within.whole


def climbed(
    belief: FloatArray,
    table: FloatArray,
    answers: FloatArray,
    guesses: int,
    cost: FloatArray,
    budget: float,
    price: float,
) -> FloatArray:
    """Some steps from a table on towards the best one, within the budget at a belief.

    Each goes a part of the way, in logarithms, to what would be best if the adversary's answers stayed the same.
    """
    within = _Within(belief, cost, budget)
    worths = answers[:, within.on].T / price
    single = worths.astype(np.float32)  # which answer is best needs no more digits
    joint = within.mass[:, None] * table[within.on]
    favour = np.log(np.maximum(table[within.on], SELDOM)) + within.slope * within.above
    for step in range(STEPS):
        each = joint.T.astype(np.float32) @ single
        guess, cut = each[:, :guesses].argmin(axis=1), guesses + each[:, guesses:].argmin(axis=1)
        best = np.log(np.maximum(joint.sum(axis=0), SELDOM)) + worths[:, guess] + worths[:, cut]
        favour += FIRST / (1 + SLOWER * step) * (best - favour)
        logs = favour - within.slope * within.above
        weight = np.exp(logs - logs.max(axis=1, keepdims=True))
        joint = weight * within.spent(weight, pace=1.0)[:, None]
    return within.whole


class _Within:
    """Tables ~ exp(-slope cost) whose slope follows the budget from turn to turn, mixed into it at last."""

    def __init__(self, belief: FloatArray, cost: FloatArray, budget: float) -> None:
        self.on = np.flatnonzero(belief > UNLIKELY)
        self.states, self.mass = len(belief), belief[self.on]
        least = cost[self.on].min(axis=1, keepdims=True)
        self.above = cost[self.on] - least
        self.squares, self.ones = self.above**2, np.ones(cost.shape[1])  # sums of rows are products with ones
        self.room = budget - float(self.mass @ least[:, 0])
        self.slope = 1 / (max(self.room, EXACT * float(self.above.max())) or 1.0)
        self.last = self.above, self.mass, self.mass

    def spent(self, weight: FloatArray, pace: float = 0.75) -> FloatArray:
        """What makes rows of weights a table, times the belief; and the slope follows what the table loses.

        It does by a share of a step of Newton's method: whole ones may swing for ever where the table moves fast.
        """
        each = self.mass / (weight @ self.ones)
        lost = each * (weight * self.above @ self.ones) / self.mass
        over = self.mass @ lost - self.room
        steep = each @ (weight * self.squares @ self.ones) - self.mass @ lost**2
        step = over / (self.slope * steep) if abs(over) < self.slope * steep else np.sign(over)
        self.slope *= np.exp(pace * step)
        self.last = weight, each, lost
        return np.asarray(each)

    @property
    def whole(self) -> FloatArray:
        """The last table, mixed so that it spends the budget; states without belief get what is released overall."""
        weight, each, lost = self.last
        table, loss, alike = weight * (each / self.mass)[:, None], float(self.mass @ lost), self.mass @ self.above
        if loss > self.room:
            cheapest = self.above <= 0
            share = share_to_keep(loss, 0.0, max(self.room, 0.0))
            other = cheapest / cheapest.sum(axis=1, keepdims=True)
        else:  # the rest of the budget goes into revealing less: one release for all, as far as it may
            share = 1 - share_to_keep(float(alike.min()), loss, self.room)
            other = np.eye(len(alike))[alike.argmin()]
        table = (1 - share) * table + share * other
        found = np.tile(self.mass @ table, (self.states, 1))
        found[self.on] = table
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
