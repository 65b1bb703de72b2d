"""Choosing a table where the budget holds over a window: at a price of loss, by products of matrices, no solver.

At a price of loss every access maximises, over tables f within what the account holds,

    sum_o min_g <E[g], x_o>  -  price <D, x>  -  nat I(b, f)  +  log sum_k w[k] sum_o min_g <E[g], J[k] x_o / b>

where x_o[s] = b[s] f(o|s) and J[k] is what is believed, of the place some accesses ago and the current state together.
The first term is the error of an adversary who guesses now, and the last that of one who reads the log later, about
earlier places: over a run, what is left to that reader is what is left now, less what later releases reveal of each
earlier place, access by access. ``w`` counts each kept place for those around it. The third term is the price of a
revealed nat, as in :mod:`hideseek.model.revealing`: it keeps the table smooth.

The sum is concave in f; where all best guesses are what they are, its largest value is at

    f(o|s) ~ q(o) exp((what the guesses give at s - price D[s, o]) / nat)          q = b f

so a step of the ascent goes a part of the way there, in logarithms. The price follows the level of the account: lower
where much is saved, higher where little is. All of this only chooses. Whatever comes out is rounded, and its budget
and its privacy are computed, by :class:`hideseek.playbook.belief_table.BeliefTable`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hideseek.model.belief_chain import BeliefChain, moves_over
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.mixing import share_to_keep

PULL = 0.4  # the price is exp(-PULL) of that in the middle where the account is full, and exp(PULL) where it is empty
FAR = 64  # accesses after which what is revealed about a place does not count
KEPT = FAR.bit_length()  # earlier places, and the current one, that are followed at most
STEPS, FIRST, SLOWER = 60, 0.25, 0.3  # of the ascent: how many, the length of the first, and how it shrinks
TURNS = 30  # of the alternation that the ascent begins with
SPREAD = 0.3  # of the log's weight, which its first table hides the more by
SETTLED = 6  # steps of Newton's method for the slope at last
SELDOM, TINY = 1e-6, 1e-30

Single = npt.NDArray[np.float32]  # what only chooses needs no more digits


@dataclass(frozen=True)
class Steering:
    """The ``price`` of a unit of loss where the account is half full, that of a revealed ``nat``, and how much what is
    revealed about an earlier place counts for whoever reads the ``log`` later: 1 as much as the current place.
    """

    price: float
    nat: float
    log: float

    def prices(self, level: FloatArray) -> FloatArray:
        """The price of loss at a level of the account from 0 to 1.

        >>> Steering(2.0, 1.0, 0.0).prices(np.array([0.5])).tolist()
        [2.0]
        """
        return np.asarray(self.price * np.exp(-PULL * (2 * level - 1)))


@dataclass(frozen=True, eq=False)
class Standing:
    """What is public before an access, of some runs at once.

    ``belief`` [run, state] and ``saved`` [run], the account; ``past`` [kept, run, state then, state now] is the joint
    distribution of the state so many accesses ago, by ``ages``, and the current one.
    """

    belief: FloatArray
    saved: FloatArray
    ages: tuple[int, ...] = ()
    past: FloatArray | None = None

    @classmethod
    def first(cls, chain: BeliefChain, runs: int = 1) -> Standing:
        """Before the first access: nothing was exposed, and an account begins half full."""
        return cls(np.tile(chain.start, (runs, 1)), np.full(runs, chain.account.half))

    @classmethod
    def at(cls, belief: FloatArray) -> Standing:
        """At one belief, with nothing saved and nothing known of earlier places."""
        return cls(belief[None], np.zeros(1))

    def runs(self, numbers: IntArray | list[int]) -> Standing:
        """Some of the runs."""
        past = None if self.past is None else self.past[:, numbers]
        return Standing(self.belief[numbers], self.saved[numbers], self.ages, past)

    @property
    def key(self) -> list[bytes]:
        """What tells each run from others."""
        past = [b""] * len(self.belief) if self.past is None else [own.tobytes() for own in self.past.swapaxes(0, 1)]
        ages = repr(self.ages).encode()
        return [
            belief.tobytes() + saved.tobytes() + ages + own
            for belief, saved, own in zip(self.belief, self.saved, past, strict=True)
        ]

    def exposed(self, chain: BeliefChain, tables: FloatArray, releases: IntArray, *, log: bool) -> Standing:
        """After a release by the tables [run, state, release]: Bayes' rule, and the account; no time has passed."""
        likely = tables[np.arange(len(tables)), :, releases]
        after = normed(self.belief * likely, axis=1)
        loss = np.einsum("rs,rso,so->r", self.belief, tables, chain.cost)
        saved = chain.account.after(self.saved, loss)
        if not log:
            return Standing(after, saved)
        now = after[:, :, None] * np.eye(after.shape[1])
        if self.past is None:
            return Standing(after, saved, (0,), now[None])
        past = normed(self.past * likely[:, None, :], axis=(2, 3))
        return Standing(after, saved, (0, *self.ages), np.concatenate([now[None], past]))

    def later(self, chain: BeliefChain, steps: int) -> Standing:
        """So many steps after an access, when nothing more was exposed."""
        if self.past is None:
            return Standing(np.array([chain.later(belief, steps=steps) for belief in self.belief]), self.saved)
        return self.moved(moves_over(chain, steps))

    def moved(self, moves: FloatArray) -> Standing:
        """At the next access: the state has moved, by [state, state] or [run, state, state]."""
        belief = normed((self.belief[:, None, :] @ moves)[:, 0], axis=1)
        if self.past is None:
            return Standing(belief, self.saved)
        ages = [age + 1 for age in self.ages]
        kept = spread_out(ages)
        return Standing(belief, self.saved, tuple(ages[k] for k in kept), self.past[kept] @ moves)


def normed(weights: FloatArray, axis: int | tuple[int, ...]) -> FloatArray:
    """Weights as distributions; where all are 0, as after what cannot be released, they stay 0."""
    total = weights.sum(axis=axis, keepdims=True)
    return np.asarray(np.divide(weights, total, out=np.zeros_like(weights), where=total > 0))


def spread_out(ages: list[int]) -> list[int]:
    """Which of some ages, the lowest first, are kept: the oldest between two powers of 2, up to the farthest.

    >>> spread_out([1, 2, 3, 4, 9])
    [0, 2, 3, 4]
    """
    by_octave = {age.bit_length(): number for number, age in enumerate(ages) if age < FAR}
    return sorted(by_octave.values())


def counted_for(ages: tuple[int, ...]) -> FloatArray:
    """How many accesses each kept one stands for.

    >>> counted_for((1, 3, 6)).tolist()
    [1.5, 2.5, 2.0]
    """
    ends = np.array([0, *ages, ages[-1] + 1] if ages else [0, 0])
    return np.asarray((ends[2:] - ends[:-2]) / 2)


def steered(
    chain: BeliefChain,
    steering: Steering,
    standing: Standing,
    *,
    group: BoolArray | None = None,
) -> FloatArray:
    """The tables [run, state, release] at what is public; ``group`` [input, state] says which states are told apart.

    >>> chain = BeliefChain(
    ...     budget=0.1, every=1, states=np.array([[0], [1]]), start=np.array([0.5, 0.5]), error=1 - np.eye(2),
    ...     cost=1 - np.eye(2), moves=np.full((2, 2), 0.5), wait=np.full((2, 2), 0.5), row=1, window=10,
    ... )
    >>> dear, cheap = Steering(2.0, 0.2, 0.0), Steering(0.1, 0.2, 0.0)
    >>> [steered(chain, one, Standing.first(chain))[0, 0].round(1).tolist() for one in (dear, cheap)]
    [[1.0, 0.0], [0.5, 0.5]]
    """
    belief, account = standing.belief, chain.account
    rows = answers(chain, steering, standing)
    cost = np.broadcast_to(chain.cost, (len(belief), *chain.cost.shape))
    if group is not None:  # from here on an input takes the place of a state
        weight = group * belief[:, None, :]
        mass = weight.sum(axis=2)
        share = np.where(mass[:, :, None] > 0, weight, group) / np.where(mass > 0, mass, group.sum(axis=1))[:, :, None]
        rows, cost = np.einsum("rkgs,rxs->rkgx", rows, share), np.einsum("rxs,rso->rxo", share, cost)
        belief = mass
    limit = account.limit(standing.saved)
    price = steering.prices(account.level(standing.saved))
    tables = Ascent(belief, rows, cost, price, limit, steering.nat).climbed()
    tables = within_limit(belief, tables, cost, limit)
    return tables if group is None else np.asarray(group.T @ tables)


def answers(chain: BeliefChain, steering: Steering, standing: Standing) -> FloatArray:
    """What guesses give at the current state, [run, kept, guess, state]: about it, and about each earlier one."""
    runs, now = len(standing.belief), chain.error
    own = np.broadcast_to(now, (runs, 1, *now.shape))
    if not steering.log or standing.past is None:
        return own
    weight = steering.log * counted_for(standing.ages)
    given = standing.past / np.maximum(standing.past.sum(axis=2, keepdims=True), TINY)
    earlier = np.einsum("k,gx,krxs->rkgs", weight, now, given, optimize=True)
    return np.concatenate([own, earlier], axis=1)


def within_limit(belief: FloatArray, tables: FloatArray, cost: FloatArray, limit: FloatArray) -> FloatArray:
    """Tables mixed with the cheapest releases as far as their limits ask, as they are off by little.

    Inputs without mass get what is released overall, which reveals nothing.
    """
    joint = belief[:, :, None] * cost
    cheapest = cost <= cost.min(axis=2, keepdims=True) * (1 + 1e-12)
    safe = cheapest / cheapest.sum(axis=2, keepdims=True)
    loss, least = (np.einsum("rso,rso->r", joint, one) for one in (tables, safe))
    share = np.array([share_to_keep(*one) for one in zip(loss, least, limit.tolist(), strict=True)])[:, None, None]
    mixed = (1 - share) * tables + share * safe
    overall = normed(belief[:, None, :] @ mixed, axis=2)
    return np.asarray(np.where(belief[:, :, None] > 0, mixed, overall))


class Ascent:
    """The steps towards the best tables [run, input, release]."""

    def __init__(
        self, mass: FloatArray, rows: FloatArray, cost: FloatArray, price: FloatArray, limit: FloatArray, nat: float
    ) -> None:
        least = cost.min(axis=2, keepdims=True)
        self.mass, self.nat = mass.astype(np.float32), nat
        self.above = (cost - least).astype(np.float32)
        self.squares = self.above**2
        self.room = np.maximum(limit - np.einsum("rs,rs->r", mass, least[:, :, 0]), 0.0)
        self.rows = rows.astype(np.float32)
        runs, self.kept, guesses, inputs = rows.shape
        self.flat = self.rows.reshape(runs, self.kept * guesses, inputs)
        self.first = guesses * np.arange(self.kept)[None, :, None]
        self.least = price / nat  # the slope of the price; that of a limit that binds is larger
        self.slope = self.least.copy()
        self.runs = np.arange(runs)[:, None, None]
        self.price = price

    def climbed(self) -> FloatArray:
        """The best tables on the way."""
        favour = np.log(np.maximum(self.begun(), SELDOM)) + self.slope[:, None, None] * self.above
        best, most = self.settled(favour, SETTLED), np.full(len(self.mass), -np.inf)
        tables = best.copy()
        for step in range(STEPS):
            worth, given, overall = self.judged(tables)
            better = worth > most
            best[better], most[better] = tables[better], worth[better]
            goal = np.log(np.maximum(overall, SELDOM))[:, None, :] + given / self.nat
            favour += np.float32(FIRST / (1 + SLOWER * step)) * (goal - favour)
            tables = self.settled(favour, SETTLED if step == STEPS - 1 else 1)
        worth, _, _ = self.judged(tables)
        best[worth > most] = tables[worth > most]
        found = best.astype(np.float64)
        return np.asarray(found / found.sum(axis=2, keepdims=True))

    def begun(self) -> Single:
        """The tables that reveal least at this price, by Blahut's and Arimoto's alternation."""
        nat = self.nat * max(1.0, SPREAD * float(self.rows[:, 1:].max(initial=0) / (self.rows[:, 0].max() or 1.0)))
        likely = np.exp(-(self.price / nat)[:, None, None] * self.above).astype(np.float32)
        overall = np.full((len(likely), 1, likely.shape[2]), 1 / likely.shape[2], np.float32)
        tables: Single = likely
        for _ in range(TURNS):
            tables = overall * likely
            tables /= np.maximum(tables.sum(axis=2, keepdims=True), TINY)
            overall = np.maximum(self.mass[:, None, :] @ tables, TINY)
        return tables

    def judged(self, tables: Single) -> tuple[FloatArray, Single, Single]:
        """What tables are worth, what the best guesses give at each input and release, and what is released overall."""
        joint = self.mass[:, :, None] * tables
        each = (self.flat @ joint).reshape(len(joint), self.kept, -1, joint.shape[2])
        guess = each.argmin(axis=2)
        least = np.take_along_axis(each, guess[:, :, None], axis=2).sum(axis=(1, 2, 3))
        given = self.flat[self.runs, self.first + guess].sum(axis=1).swapaxes(1, 2)
        overall = joint.sum(axis=1)
        told = (joint * np.log(tables + np.float32(TINY))).sum(axis=(1, 2))
        told -= (overall * np.log(overall + np.float32(TINY))).sum(axis=1)
        loss = (joint * self.above).sum(axis=(1, 2))
        worth = least - self.price * loss - self.nat * told
        return np.where(loss <= 1.02 * self.room + TINY, worth, -np.inf), given, overall

    def settled(self, favour: Single, turns: int) -> Single:
        """The tables ~ exp(favour - slope cost), after steps of Newton's method to a slope that keeps the limit."""
        for _ in range(turns):
            tables = self.tables(favour)
            each = (tables * self.above).sum(axis=2)
            over = (self.mass * each).sum(axis=1) - self.room
            steep = self.slope * (self.mass * ((tables * self.squares).sum(axis=2) - each**2)).sum(axis=1)
            step = np.divide(over, steep, out=np.sign(over), where=np.abs(over) < steep)
            self.slope = np.maximum(self.slope * np.exp(step), self.least)
        return self.tables(favour)

    def tables(self, favour: Single) -> Single:
        """Distributions ~ exp(favour - slope cost)."""
        logs = favour - self.slope[:, None, None].astype(np.float32) * self.above
        logs -= logs.max(axis=2, keepdims=True)
        weight = np.exp(logs)
        return np.asarray(weight / weight.sum(axis=2, keepdims=True))
