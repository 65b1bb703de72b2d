"""Slots of the day and how far to trust them, from the moves of a person: those under which the moves are likeliest.

In every slot each row of transitions has a Dirichlet prior around the chain that ignores the clock, worth so many
moves: its strength. Summed over all transitions that may be, the likelihood of the moves is then a product of gamma
functions,

    prod_i  G(w) / G(w + n_i)  prod_j  G(w b[i, j] + n_ij) / G(w b[i, j])

with n the moves of a slot, b the chain and w the strength. More slots than the moves tell apart make it smaller, and
every hour at which a slot may begin is as likely as any other, so that each begin divides it by their number. Its
largest value over all ways to cut the day is found by dynamic programming, round the clock, as a night may be one slot.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import timedelta

import numpy as np
import pandas as pd
from scipy.special import gammaln

from hideseek.errors import broken_rule
from hideseek.model.clock import ALIKE, DAY, THURSDAY, WEEK, WEEKEND, Clock
from hideseek.model.regions import Regions
from hideseek.model.walks import walks_through
from hideseek.util.arrays import BoolArray, FloatArray, IntArray

STRENGTHS = 10.0 ** np.arange(-1, 3.01, 0.25)  # moves
BLOCK = timedelta(hours=1)  # slots begin at multiples of this
NOBODY = -1  # the place before one that nothing is known before
NEARLY = 1e-9  # relatively: a likelihood that is larger by less is the same


@dataclass(frozen=True, eq=False)
class Moves:
    """Moves between places in one time step: from ``here`` to ``there``, with the place ``before``, if it is known.

    ``step`` is the step of the local ``day`` at which they begin, days counted from 1970; each counts as ``weight``.
    """

    before: IntArray
    here: IntArray
    there: IntArray
    day: IntArray
    step: IntArray
    weight: FloatArray

    @classmethod
    def of(cls, traces: pd.DataFrame, regions: Regions, clock: Clock, owner: str) -> Moves:
        """The moves of traces; ``clock`` says the time zone and the step."""
        parts = []
        for place, moment in walks_through(traces, regions, clock.step, owner)[1]:
            together = np.flatnonzero(np.diff(moment) == 1)
            before = np.where(np.isin(together - 1, together), place[together - 1], NOBODY)
            parts.append((before, place[together], place[together + 1], moment[together]))
        before, here, there, moment = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        if not len(here):
            raise broken_rule("traces", owner, "traces with two steps in a row", "none", "Use a longer 'step'.")
        day, step = np.divmod(clock.local(moment), clock.steps_a_day)
        return cls(before, here, there, day, step, np.ones(len(here)))

    def only(self, which: BoolArray) -> Moves:
        """Some of them."""
        return Moves(*(getattr(self, field.name)[which] for field in fields(self)))

    def fading(self, half_life: float | None) -> Moves:
        """The same, where a move counts half as much as one so many days later."""
        if half_life is None:
            return self
        return replace(self, weight=self.weight * 0.5 ** ((self.day.max() - self.day) / half_life))

    @property
    def days(self) -> int:
        """On how many local days there are some."""
        return len(np.unique(self.day))

    def kinds(self, days: tuple[int, ...]) -> IntArray:
        """The kind of day of each, where weekdays are of these kinds."""
        return np.array(days)[(self.day + THURSDAY) % WEEK]

    def slots(self, clock: Clock) -> IntArray:
        """The slot of a clock in which each begins."""
        first = 0 if len(clock.starts) == 1 else (self.day + THURSDAY) % WEEK * clock.steps_a_day
        return np.asarray(clock.cycle[first + self.step])


def counted_by_slot(moves: Moves, places: int, clock: Clock) -> FloatArray:
    """How many moves there are in each slot, [slot, from, to]."""
    counts = np.zeros((clock.slots, places, places))
    np.add.at(counts, (moves.slots(clock), moves.here, moves.there), moves.weight)
    return counts


def even_clock(whole: Clock, moves: Moves, slots: int, weekends: bool, owner: str) -> Clock:
    """Equal parts of the day, refused where there are fewer days to learn them from."""
    if whole.steps_a_day % slots:
        raise broken_rule("slots", owner, f"a divisor of the {whole.steps_a_day} steps of a day", slots)
    kinds = moves.kinds(WEEKEND if weekends else ALIKE)
    fewest = min(len(np.unique(moves.day[kinds == kind])) for kind in range(1 + weekends))
    if slots > fewest:
        rule = f"at most {fewest}, the number of days of a kind with fixes to learn them from"
        raise broken_rule("slots", owner, rule, slots, "Take fewer, or leave it out: then the data say how many.")
    own = tuple(range(0, whole.steps_a_day, whole.steps_a_day // slots))
    return replace(whole, starts=(own,) * (1 + weekends), days=WEEKEND if weekends else ALIKE)


def learned_clock(moves: Moves, base: FloatArray, whole: Clock, weekends: bool) -> tuple[Clock, float]:
    """The slots, perhaps other ones at weekends, and the strength of ``base`` under which moves are likeliest."""
    days = WEEKEND if weekends else ALIKE
    kinds, block = moves.kinds(days), block_of(whole)
    most, found = -np.inf, (whole, 1.0)
    own = (moves.only(kinds == kind) for kind in range(1 + weekends))
    likelihoods = [Likelihood.of(some, base, whole.steps_a_day, block) for some in own]
    for strength in STRENGTHS:
        cuts = [one.best_cut(strength) for one in likelihoods]
        worth = sum(value for value, _ in cuts)
        if worth > most:
            starts = tuple(tuple(block * start for start in own) for _, own in cuts)
            most, found = worth, (replace(whole, starts=starts, days=days), float(strength))
    return found


def strength_of(moves: Moves, base: FloatArray, clock: Clock) -> float:
    """The strength of ``base`` in given slots under which the moves are likeliest."""
    counts = counted_by_slot(moves, len(base), clock)
    slot, here, there = np.nonzero(counts)
    _, row = np.unique(slot * len(base) + here, return_inverse=True)
    return best_strength(counts[slot, here, there], row, base[here, there])


def best_strength(count: FloatArray, row: IntArray, prior: FloatArray) -> float:
    """The strength under which counted moves, each in a row and of a prior probability there, are likeliest."""
    return float(max(STRENGTHS, key=lambda strength: likelihood(count[None], row, prior, strength)[0]))


def likelihood(count: FloatArray, row: IntArray, prior: FloatArray, strength: float) -> FloatArray:
    """The logarithm of the marginal likelihood of moves [case, move], each in a row of transitions, [case].

    Two moves, one each way, from a row that may be anything with equal density: 1/6.

    >>> float(likelihood(np.array([[1.0, 1.0]]), np.array([0, 0]), np.array([0.5, 0.5]), 2.0)[0].round(9))
    -1.791759469
    """
    rows = np.zeros((len(count), row.max(initial=0) + 1))
    np.add.at(rows.T, row, count.T)
    each = gammaln(strength * prior + count) - gammaln(strength * prior)
    return np.asarray(each.sum(axis=1) - (gammaln(strength + rows) - gammaln(strength)).sum(axis=1))


def block_of(clock: Clock) -> int:
    """How many steps lie between two times at which a slot may begin: an hour's, or as many as divide a day."""
    step = DAY / clock.steps_a_day
    divisors = (n for n in range(1, clock.steps_a_day + 1) if not clock.steps_a_day % n)
    return max(n for n in divisors if n == 1 or n * step <= BLOCK)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Moves by the block of the day, [block, pair of places]; of each pair its row, and its probability all day."""

    count: FloatArray
    row: IntArray
    prior: FloatArray

    @classmethod
    def of(cls, moves: Moves, base: FloatArray, steps: int, block: int) -> Likelihood:
        """Of the moves on days of one kind."""
        code, which = np.unique(moves.here * len(base) + moves.there, return_inverse=True)
        here, there = np.divmod(code, len(base))
        count = np.zeros((steps // block, len(code)))
        np.add.at(count, (moves.step // block, which), moves.weight)
        return cls(count, np.unique(here, return_inverse=True)[1], base[here, there])

    def best_cut(self, strength: float) -> tuple[float, tuple[int, ...]]:
        """The largest logarithm of the likelihood, and the blocks at which its slots begin."""
        blocks = len(self.count)
        twice = np.cumsum(np.vstack([self.count[:1] * 0, self.count, self.count]), axis=0)
        slots = (twice[first + 1 : first + blocks + 1] - twice[first] for first in range(blocks))
        worth = np.array([likelihood(own, self.row, self.prior, strength) for own in slots])  # [first, length - 1]
        most_of_all, starts = float(worth[0, -1]), [0]  # one slot, which begins nowhere
        worth -= np.log(blocks)
        for first in range(blocks):
            most, cut = np.full(blocks + 1, -np.inf), np.zeros(blocks + 1, np.int64)
            most[0] = 0.0
            for end in range(1, blocks + 1):
                begin = np.arange(end)
                found = most[:end] + worth[(first + begin) % blocks, end - begin - 1]
                cut[end] = found.argmax()
                most[end] = found[cut[end]]
            if most[-1] > most_of_all + NEARLY * abs(most_of_all):
                most_of_all, starts, end = float(most[-1]), [], blocks
                while end:
                    end = int(cut[end])
                    starts.append((first + end) % blocks)
        return most_of_all, tuple(sorted(starts))
