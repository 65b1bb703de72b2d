"""Choosing a table where the budget holds over a window: at a price of loss, by products of matrices, no solver.

At a price of loss every access maximises, over tables f within what the account holds,

    sum_o min_g <E[g], x_o>  +  sum_o min_j <F[j], x_o>  -  price <D, x>  -  nat I(b, f)
        +  log sum_k w[k] sum_o min_g <E[g], J[k] x_o / b>

where x_o[s] = b[s] f(o|s), F are cuts that bound what the future is worth at that price, and J[k] is what is believed,
of the place some accesses ago and the current state together. The first term is the error of an adversary who guesses
now, and the last that of one who reads the log later, about earlier places: over a run, what is left to that reader is
what is left now, less what later releases reveal of each earlier place, access by access. ``w`` counts each kept place
for those around it. The price of a revealed nat, as in :mod:`hideseek.model.revealing`, keeps the table smooth.

The sum is concave in f; where all best guesses are what they are, its largest value is at

    f(o|s) ~ q(o) exp((what the guesses and cuts give at s - price D[s, o]) / nat)          q = b f

so a step of the ascent goes a part of the way there, in logarithms. It begins with the best of the tables that
training found for beliefs near this one, mixed with the table that reveals least. The price follows the level of the
account: lower where much is saved, higher where little is. All of this only chooses. Whatever comes out is rounded, and
its budget and its privacy are computed, by :class:`hideseek.playbook.belief_table.BeliefTable`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hideseek.model.belief_chain import BeliefChain, moves_over
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.mixing import share_to_keep

PULL = 0.4  # the price is exp(-PULL) of that in the middle where the account is full, and exp(PULL) where it is empty
FAR = 64  # accesses after which what is revealed about a place does not count
KEPT = FAR.bit_length()  # earlier places, and the current one, that are followed at most
STEPS, FIRST, SLOWER = 20, 0.2, 0.3  # of the ascent: how many, the length of the first, and how it shrinks
TURNS = 30  # of the alternation that finds the table that reveals least
SPREAD = 0.3  # of the log's weight, which that table hides the more by
NEAR = 16  # tables of training that are looked at
SHARES = (np.arange(5) / 4) ** 2  # of the table that reveals least, in the one that the ascent begins with
SETTLED = 6  # steps of Newton's method for the slope at last
SELDOM, TINY = 1e-6, 1e-30
NEVER = 1e-15  # what is less is 0 or this: products of numbers too small for all their digits take longer

Single = npt.NDArray[np.float32]  # what only chooses needs no more digits


@dataclass(frozen=True, eq=False)
class Guide:
    """What training found at one price of loss: ``future`` [cut, state], what an access leaves for later ones at most,
    and ``tables`` [table, state, release], each made for one of the beliefs ``anchors`` [table, state].
    """

    future: FloatArray
    anchors: FloatArray
    tables: FloatArray

    @classmethod
    def of(
        cls, chain: BeliefChain, cuts: FloatArray, discount: float, anchors: FloatArray, tables: FloatArray
    ) -> Guide:
        """From cuts [cut, state at the next access], which count ``discount`` times as much as the current access."""
        future = discount * (cuts @ chain.moves.T)
        if len(future):  # what all have in common changes no choice
            future = future - future.min(axis=0)
        return cls(future, anchors, tables.reshape(len(anchors), *chain.cost.shape))

    @classmethod
    def none(cls, chain: BeliefChain) -> Guide:
        """Where there was no training."""
        count, releases = chain.cost.shape
        return cls.of(chain, np.zeros((0, count)), 0.0, np.zeros((0, count)), np.zeros((0, releases)))

    def near(self, belief: FloatArray) -> FloatArray:
        """The tables made for beliefs near those of some runs, [run, table, state, release]."""
        apart = np.abs(belief[:, None] - self.anchors).sum(axis=2)
        return np.asarray(self.tables[np.argsort(apart, axis=1, kind="stable")[:, :NEAR]])


@dataclass(frozen=True)
class Steering:
    """The ``price`` of a unit of loss where the account is half full, that of a revealed ``nat``, and how much what is
    revealed about an earlier place counts for whoever reads the ``log`` later: 1 as much as the current place.
    """

    price: float
    nat: float
    log: float
    guide: Guide | None = field(default=None, compare=False, repr=False)

    def guided(self, chain: BeliefChain) -> Guide:
        """What training found, if there was any."""
        return Guide.none(chain) if self.guide is None else self.guide

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
        """What tells each run from others: a checksum, as all that is public takes tens of kilobytes."""
        past = [b""] * len(self.belief) if self.past is None else [own.tobytes() for own in self.past.swapaxes(0, 1)]
        ages = repr(self.ages).encode()
        return [
            hashlib.sha256(belief.tobytes() + saved.tobytes() + ages + own).digest()
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
    belief, account, guide = standing.belief, chain.account, steering.guided(chain)
    kinds, cost = [answers(chain, steering, standing)], np.broadcast_to(chain.cost, (len(belief), *chain.cost.shape))
    if len(guide.future):
        kinds.append(np.broadcast_to(guide.future, (len(belief), 1, *guide.future.shape)))
    near = guide.near(belief)
    if group is not None:  # from here on an input takes the place of a state
        weight = group * belief[:, None, :]
        mass = weight.sum(axis=2)
        share = np.where(mass[:, :, None] > 0, weight, group) / np.where(mass > 0, mass, group.sum(axis=1))[:, :, None]
        kinds = [np.einsum("rkgs,rxs->rkgx", rows, share) for rows in kinds]
        cost, near = np.einsum("rxs,rso->rxo", share, cost), np.einsum("rxs,rtso->rtxo", share, near)
        belief = mass
    limit = account.limit(standing.saved)
    price = steering.prices(account.level(standing.saved))
    tables = Ascent(belief, kinds, cost, price, limit, steering.nat).climbed(near)
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


def without_never(numbers: Single) -> Single:
    """Numbers without those that are next to nothing."""
    return np.where(np.abs(numbers) < NEVER, np.float32(0), numbers)


class Answers:
    """The best answers after every release, one per kind; rows [run, kind, answer, input] say what they leave."""

    def __init__(self, rows: FloatArray) -> None:
        runs, self.kinds, count, inputs = rows.shape
        # in order, or products would be slow
        self.rows = without_never(np.ascontiguousarray(rows, np.float32)).reshape(runs, self.kinds * count, inputs)
        self.first = count * np.arange(self.kinds)
        self.runs = np.arange(runs)[:, None, None]

    def best(self, joint: Single) -> tuple[IntArray, Single]:
        """Which answers are best after every release of a joint distribution [run, input, release]; what they leave."""
        each = joint.swapaxes(1, 2) @ self.rows.swapaxes(1, 2)
        each = each.reshape(*each.shape[:2], self.kinds, -1)
        answer = each.argmin(axis=3)
        return answer, np.take_along_axis(each, answer[..., None], axis=3).sum(axis=(2, 3))

    def given(self, answer: IntArray) -> Single:
        """What answers give at every input, [run, input, release]."""
        return np.asarray(self.rows[self.runs, self.first + answer].sum(axis=2).swapaxes(1, 2))


class Ascent:
    """The steps towards the best tables [run, input, release]; all ``kinds`` of answers are [run, kind, answer, input].

    The first ones are guesses, first of all those of the current place.
    """

    def __init__(
        self,
        mass: FloatArray,
        kinds: list[FloatArray],
        cost: FloatArray,
        price: FloatArray,
        limit: FloatArray,
        nat: float,
    ) -> None:
        least = cost.min(axis=2, keepdims=True)
        self.mass, self.nat, self.price = without_never(mass.astype(np.float32)), nat, price
        self.above = (cost - least).astype(np.float32)
        self.squares = self.above**2
        self.room = np.maximum(limit - np.einsum("rs,rs->r", mass, least[:, :, 0]), 0.0)
        self.answers = [Answers(rows) for rows in kinds]
        self.spread = max(1.0, SPREAD * float(kinds[0][:, 1:].max(initial=0) / (kinds[0][:, 0].max() or 1.0)))
        self.least = price / nat  # the slope of the price; that of a limit that binds is larger
        self.slope = self.least.copy()

    def climbed(self, near: FloatArray) -> FloatArray:
        """The best tables on the way that begins with the best of those that are ``near``."""
        favour = (
            np.log(np.maximum(self.begun(near), SELDOM)) + self.slope[:, None, None].astype(np.float32) * self.above
        )
        best, most = self.settled(favour, SETTLED), np.full(len(self.mass), -np.inf)
        tables = best.copy()
        for step in range(STEPS):
            joint = self.mass[:, :, None] * tables
            found = [kind.best(joint) for kind in self.answers]
            worth = self.worth(joint[:, None], tables[:, None], [least for _, least in found])[:, 0]
            better = worth > most
            best[better], most[better] = tables[better], worth[better]
            given = sum(kind.given(answer) for kind, (answer, _) in zip(self.answers, found, strict=True))
            goal = np.log(np.maximum(joint.sum(axis=1), SELDOM))[:, None, :] + given / self.nat
            favour += np.float32(FIRST / (1 + SLOWER * step)) * (goal - favour)
            tables = self.settled(favour, SETTLED if step == STEPS - 1 else 1)
        better = self.judged(tables[:, None])[:, 0] > most
        best[better] = tables[better]
        found_tables = best.astype(np.float64)
        return np.asarray(found_tables / found_tables.sum(axis=2, keepdims=True))

    def begun(self, near: FloatArray) -> Single:
        """The best of some tables [run, table, input, release], mixed with the one that reveals least."""
        quiet = self.quietest()
        if not near.shape[1]:
            return quiet
        runs = np.arange(len(near))
        kept = self.within_room(near.astype(np.float32))
        best = kept[runs, self.judged(kept).argmax(axis=1)]
        mixtures = np.stack([(1 - share) * best + share * quiet for share in SHARES.astype(np.float32)], axis=1)
        return np.asarray(mixtures[runs, self.judged(mixtures).argmax(axis=1)])

    def within_room(self, tables: Single) -> Single:
        """Tables [run, table, input, release], each mixed with the cheapest releases as far as its run's limit asks."""
        loss = np.einsum("rs,rtso,rso->rt", self.mass, tables, self.above, optimize=True)
        room = self.room[:, None].astype(np.float32)  # in single precision throughout: mixed products are slow
        share = np.divide(room, loss, out=np.ones_like(loss), where=loss > room)
        cheapest = self.above <= 0
        cheapest = cheapest / cheapest.sum(axis=2, keepdims=True, dtype=np.float32)
        return np.asarray(cheapest[:, None] + share[:, :, None, None] * (tables - cheapest[:, None]))

    def quietest(self) -> Single:
        """The tables that reveal least at this price, by Blahut's and Arimoto's alternation."""
        likely = np.exp(-(self.price / (self.nat * self.spread))[:, None, None] * self.above).astype(np.float32)
        overall = np.full((len(likely), 1, likely.shape[2]), 1 / likely.shape[2], np.float32)
        tables: Single = likely
        for _ in range(TURNS):
            tables = overall * likely
            tables /= np.maximum(tables.sum(axis=2, keepdims=True), TINY)
            overall = np.maximum(self.mass[:, None, :] @ tables, TINY)
        return tables

    def judged(self, tables: Single) -> FloatArray:
        """What tables [run, table, input, release] are worth, [run, table]."""
        joint = self.mass[:, None, :, None] * tables
        beside = joint.swapaxes(1, 2).reshape(len(joint), joint.shape[2], -1)  # releases of all tables, side by side
        return self.worth(joint, tables, [kind.best(beside)[1] for kind in self.answers])

    def worth(self, joint: Single, tables: Single, least: list[Single]) -> FloatArray:
        """What tables [run, table, input, release] are worth, where the best answers leave so much, side by side."""
        left = np.sum(least, axis=0).reshape(*joint.shape[:2], -1).sum(axis=2)
        overall = joint.sum(axis=2)
        told = (joint * np.log(tables + np.float32(TINY))).sum(axis=(2, 3))
        told -= (overall * np.log(overall + np.float32(TINY))).sum(axis=2)
        loss = (joint * self.above[:, None]).sum(axis=(2, 3))
        worth = left - self.price[:, None] * loss - self.nat * told
        return np.where(loss <= 1.02 * self.room[:, None] + TINY, worth, -np.inf)

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
        weight = np.exp(np.maximum(logs, np.float32(np.log(NEVER))))
        return np.asarray(weight / weight.sum(axis=2, keepdims=True))
