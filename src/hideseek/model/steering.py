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

The best guesses jump as f moves, so the ascent plays a game: the adversary mixes answers by predictive regret matching,
what they give is averaged, and f is the best reply to the average. It begins where all releases are equally likely, and
every table on the way is judged by the sum itself. The price follows the level of the account: lower where much is
saved, higher where little is. All of this only chooses. Whatever comes out is rounded, and its budget and its privacy
are computed, by :class:`hideseek.playbook.belief_table.BeliefTable`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from hideseek.model.belief_chain import BeliefChain, moves_over
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.mixing import share_to_keep

PULL = 0.4  # the price is exp(-PULL) of that in the middle where the account is full, and exp(PULL) where it is empty
FAR = 64  # accesses after which what is revealed about a place does not count
KEPT = FAR.bit_length()  # earlier places, and the current one, that are followed at most
STEPS, BEGUN = 32, 50  # of the ascent: how many, and the weight of what it begins with, where the first weighs 1
WIDE = 100  # nats that the largest error is worth from which on it begins with more weight, as answers jump further
SETTLED = 6  # steps of Newton's method for the slope at last
SELDOM, TINY = 1e-6, 1e-30
NEVER = 1e-15  # what is less is 0 or this: products of numbers too small for all their digits take longer

Single = npt.NDArray[np.float32]  # what only chooses needs no more digits


@dataclass(frozen=True)
class Steering:
    """The ``price`` of a unit of loss where the account is half full, that of a revealed ``nat``, and how much what is
    revealed about an earlier place counts for whoever reads the ``log`` later: 1 as much as the current place.

    ``future`` [cut, state] is what an access leaves for later ones at most, up to what all cuts have in common.
    """

    price: float
    nat: float
    log: float
    future: FloatArray | None = field(default=None, compare=False, repr=False)

    def counting(self, chain: BeliefChain, cuts: FloatArray, discount: float) -> Steering:
        """With cuts [cut, state at the next access], which count ``discount`` times as much as the current access."""
        if not len(cuts):
            return replace(self, future=None)
        future = discount * (cuts @ chain.moves.T)
        return replace(self, future=future - future.min(axis=0))  # what all have in common changes no choice

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
    belief, account = standing.belief, chain.account
    kinds, cost = [answers(chain, steering, standing)], np.broadcast_to(chain.cost, (len(belief), *chain.cost.shape))
    if steering.future is not None:
        kinds.append(np.broadcast_to(steering.future, (len(belief), 1, *steering.future.shape)))
    if group is not None:  # from here on an input takes the place of a state
        weight = group * belief[:, None, :]
        mass = weight.sum(axis=2)
        share = np.where(mass[:, :, None] > 0, weight, group) / np.where(mass > 0, mass, group.sum(axis=1))[:, :, None]
        kinds = [np.einsum("rkgs,rxs->rkgx", rows, share) for rows in kinds]
        cost = np.einsum("rxs,rso->rxo", share, cost)
        belief = mass
    limit = account.limit(standing.saved)
    price = steering.prices(account.level(standing.saved))
    tables = Ascent(belief, kinds, cost, price, limit, steering.nat).climbed()
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
    """Answers after every release, one per kind; rows [run, kind, answer, input] say what they leave.

    The best ones change all the time as tables do, so those of an ascent are mixtures, by predictive regret matching:
    each answer counts by how much it would have left less so far, and would again.
    """

    def __init__(self, rows: FloatArray) -> None:
        runs, _, self.count, inputs = rows.shape
        by_answer = np.ascontiguousarray(rows.swapaxes(1, 2), np.float32)  # in order, or products would be slow
        self.rows = without_never(by_answer).reshape(runs, -1, inputs)
        self.mixture: Single | None = None

    def left(self, joint: Single) -> Single:
        """What each leaves of a joint distribution [run, input, release], as [run, answer, kind and release]."""
        return np.asarray(self.rows @ joint).reshape(len(joint), self.count, -1)

    def given(self, left: Single, least: Single) -> Single:
        """What mixed answers give at every input, [run, input, release], where each leaves so much."""
        none = np.zeros_like(left)  # as an array, as numpy compares slowly with a number
        if self.mixture is None:
            weight, self.regret = (left <= least[:, None]).astype(np.float32), none
            self.mixture = weight / weight.sum(axis=1, keepdims=True)
        else:
            gain = np.einsum("rgx,rgx->rx", self.mixture, left)[:, None] - left
            self.regret = np.maximum(self.regret + gain, none)
            weight = np.maximum(self.regret + gain, none)
            total = weight.sum(axis=1, keepdims=True)  # where it is 0, the mixture is the best
            np.divide(weight, total, out=self.mixture, where=total > 0)
        return np.asarray(self.rows.swapaxes(1, 2) @ self.mixture.reshape(len(left), self.rows.shape[1], -1))


class Ascent:
    """Steps towards the best tables [run, input, release]; all ``kinds`` of answers are [run, kind, answer, input]."""

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
        self.least = price / nat  # the slope of the price; that of a limit that binds is larger
        self.slope = self.least.copy()
        widest = kinds[0][:, 0].max(axis=(1, 2)) / nat  # of each run alone: what others are at changes no table of it
        self.begun = BEGUN * np.maximum(1.0, widest / WIDE) ** 2

    def climbed(self) -> FloatArray:
        """The best tables on the way.

        What answers give is averaged over the steps, later ones count more; the tables are the best against that.
        """
        given = self.slope[:, None, None].astype(np.float32) * self.above  # so that all releases are equally likely
        best = tables = self.settled(given, SETTLED)
        most, weights = np.full(len(self.mass), -np.inf), self.begun
        for step in range(STEPS + 1):
            joint = self.mass[:, :, None] * tables
            left = [kind.left(joint) for kind in self.answers]
            least = [each.min(axis=1) for each in left]
            worth = self.worth(joint, tables, least)
            better = worth > most
            best, most = np.where(better[:, None, None], tables, best), np.where(better, worth, most)
            now = sum(kind.given(*one) for kind, *one in zip(self.answers, left, least, strict=True))
            weights = weights + np.sqrt(1 + step)
            share = (np.sqrt(1 + step) / weights)[:, None, None].astype(np.float32)
            given += share * (now / self.nat - given)
            overall = np.log(np.maximum(joint.sum(axis=1), SELDOM))[:, None, :]
            tables = self.settled(overall + given, SETTLED if step >= STEPS - 1 else 1)
        found = best.astype(np.float64)
        return np.asarray(found / found.sum(axis=2, keepdims=True))

    def worth(self, joint: Single, tables: Single, least: list[Single]) -> FloatArray:
        """What tables are worth, where the best answers leave so much, [run, kind and release]."""
        overall = joint.sum(axis=1)
        told = np.einsum("rso,rso->r", joint, np.log(tables + np.float32(TINY)))
        told -= np.einsum("ro,ro->r", overall, np.log(overall + np.float32(TINY)))
        loss = np.einsum("rso,rso->r", joint, self.above)
        worth = np.sum([one.sum(axis=1) for one in least], axis=0) - self.price * loss - self.nat * told
        return np.where(loss <= 1.02 * self.room + TINY, worth, -np.inf)

    def settled(self, favour: Single, turns: int) -> Single:
        """The tables ~ exp(favour - slope cost), after steps of Newton's method to a slope that keeps the limit."""
        tables = self.tables(favour)
        for _ in range(turns):
            each = np.einsum("rso,rso->rs", tables, self.above)
            over = (self.mass * each).sum(axis=1) - self.room
            steep = self.slope * (self.mass * (np.einsum("rso,rso->rs", tables, self.squares) - each**2)).sum(axis=1)
            step = np.divide(over, steep, out=np.sign(over), where=np.abs(over) < steep)
            before, self.slope = self.slope, np.maximum(self.slope * np.exp(step), self.least)
            if (self.slope == before).all():
                break
            tables = self.tables(favour)
        return tables

    def tables(self, favour: Single) -> Single:
        """Distributions ~ exp(favour - slope cost)."""
        logs = favour - self.slope[:, None, None].astype(np.float32) * self.above
        logs -= logs.max(axis=2, keepdims=True)
        weight = np.exp(np.maximum(logs, np.float32(np.log(NEVER))))
        return np.asarray(weight / weight.sum(axis=2, keepdims=True))
