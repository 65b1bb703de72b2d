"""How a person moves: the probability of any sequence of places.

Anything with ``places``, ``memory`` and ``following`` is a profile. Two kinds are learned here: a Markov chain of any
order, and one whose transitions follow the time of day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from hideseek.arrays import (
    FloatArray,
    IntArray,
    encoded,
    frozen,
    nonnegative,
    numbered,
    pairs_with_equal,
    product,
    refuse_if_too_large,
    refuse_if_too_long,
    scalar,
    shaped,
    whole_number,
)
from hideseek.boundary import checked
from hideseek.errors import ReducibleError, broken_rule, rule_text
from hideseek.regions import Regions
from hideseek.traces import check_traces, checked_step

DAY = pd.Timedelta("1D")
HIGHEST_ORDER = 61  # so that tuples of two places can be numbered
STEP = "5min"  # the paper's: 288 steps a day
MOVE = 1e-4  # seconds for a step of all ways over two places; more take longer
COUNTED = 1e140  # ways that are told apart from more: their square is a number too


@runtime_checkable
class Profile(Protocol):
    """Any model that gives the probabilities of sequences of places."""

    @property
    def places(self) -> int:
        """How many places there are."""
        ...

    @property
    def memory(self) -> int:
        """How many of the last places the next one depends on."""
        ...

    def following(self, past: IntArray, step: int) -> FloatArray:
        """The law of the place at ``step`` (now is 0, before is negative) after each of these pasts, [past, place].

        A past holds the last places, the oldest first, at most ``memory`` of them; for the first place it is empty.
        """
        ...


@checked
@dataclass(frozen=True, eq=False)
class Trajectories:
    """A law over true places at some offsets: sequences that can occur and their probabilities."""

    offsets: tuple[int, ...]
    sequences: IntArray
    probability: FloatArray

    def at(self, offsets: Sequence[int]) -> IntArray:
        """The places at these offsets, [sequence, offset].

        >>> Trajectories((-1, 0), np.array([[0, 1], [1, 1]]), np.array([0.5, 0.5])).at((0,)).tolist()
        [[1], [1]]
        """
        missing = sorted(set(offsets) - set(self.offsets))
        if missing:
            raise broken_rule("law", "Trajectories.at", f"one that covers the offsets {missing}", self.offsets)
        return self.sequences[:, [self.offsets.index(offset) for offset in offsets]]

    def given(self, exposed: Mapping[int, int], table: npt.ArrayLike) -> Trajectories:
        """The law after releases were seen: Bayes' rule, when each was drawn from the table f[place, release].

        >>> law = Trajectories((0,), np.array([[0], [1]]), np.array([0.5, 0.5]))
        >>> law.given({0: 1}, [[0.9, 0.1], [0.6, 0.4]]).probability
        array([0.2, 0.8])
        """
        owner = "Trajectories.given"
        mechanism = nonnegative(table, "table", owner, 2)
        if self.sequences.max(initial=0) >= len(mechanism):
            raise broken_rule("table", owner, f"a row for place {self.sequences.max()}", f"{len(mechanism)} rows")
        if not all(0 <= release < mechanism.shape[1] for release in exposed.values()):
            raise broken_rule("exposed", owner, f"releases from 0 to {mechanism.shape[1] - 1}", dict(exposed))
        weight = self.probability.copy()
        for offset, release in exposed.items():
            weight *= mechanism[self.at((offset,))[:, 0], release]
        if not weight.sum() > 0:
            raise broken_rule("exposed", owner, "releases that the table can produce", dict(exposed))
        kept = weight > 0
        return Trajectories(self.offsets, self.sequences[kept], weight[kept] / weight.sum())


@checked
def possible_trajectories(profile: Profile, offsets: Iterable[int]) -> Trajectories:
    """The law of the places at these offsets; only sequences with positive probability are ever built.

    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]])
    >>> possible_trajectories(chain, (0, 1)).sequences.tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    wanted = tuple(sorted(set(offsets)))
    if not wanted:
        raise broken_rule("offsets", "possible_trajectories", "at least one", "none")
    if isinstance(profile, MarkovProfile):
        length = longest_run(wanted)
        ways = possible_ways(profile, length)
        refuse_if_too_large(8 * ways * length, f"A law over {ways:.10g} trajectories up to offset {wanted[-1]}")
    _, sequences, probability = continued(profile, np.zeros((1, 0), np.int64), wanted[0] - 1, wanted)
    return Trajectories(wanted, sequences, probability)


def continued(
    profile: Profile, windows: IntArray, last: int, wanted: Sequence[int]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Where windows [window, place] lead that end at the offset ``last``.

    Gives which window, the places at the wanted offsets (in order; those in the window may be among them), and the
    probability of these given the window. An empty window is the beginning of time.
    """
    refuse_many_moves(wanted[-1] - last)
    kept = list(range(last - windows.shape[1] + 1, last + 1))
    origin, sequences, probability = np.arange(len(windows)), windows, np.ones(len(windows))
    for offset in range(last + 1, wanted[-1] + 1):
        width = min(sequences.shape[1], profile.memory)
        pasts, index = np.unique(sequences[:, sequences.shape[1] - width :], axis=0, return_inverse=True)
        law = profile.following(pasts, offset)
        count = int(np.count_nonzero(law, axis=1)[index.ravel()].sum())
        refuse_if_too_large(count * 8 * (len(kept) + 9), f"A law over {count} trajectories up to offset {offset}")
        past, place = np.nonzero(law)
        row, move = pairs_with_equal(index.ravel(), past, len(pasts))
        origin, sequences = origin[row], np.c_[sequences[row], place[move]]
        probability = probability[row] * law[past, place][move]
        kept.append(offset)
        # places that are neither wanted nor remembered are summed out as soon as they can be
        needed = [k for k, at in enumerate(kept) if at in wanted or k >= len(kept) - profile.memory]
        if len(needed) < len(kept):
            kept = [kept[k] for k in needed]
            both, probability = merged(np.c_[origin, sequences[:, needed]], probability)
            origin, sequences = both[:, 0], both[:, 1:]
    both, probability = merged(np.c_[origin, sequences[:, [kept.index(offset) for offset in wanted]]], probability)
    return both[:, 0], both[:, 1:], probability


def refuse_many_moves(
    steps: int, way_out: str = "Use offsets that are closer, or accesses that are less rare."
) -> None:
    """Refuse so many steps, gone one by one."""
    refuse_if_too_long(MOVE * steps, f"Following a profile for {steps} steps", way_out)


def merged(sequences: IntArray, probability: FloatArray) -> tuple[IntArray, FloatArray]:
    """Add up the probabilities of equal sequences."""
    unique, index = np.unique(sequences, axis=0, return_inverse=True)
    return unique, summed(index, probability, len(unique))


def summed(index: IntArray, weight: FloatArray, count: int) -> FloatArray:
    """The total weight at each of ``count`` indices."""
    totals = np.zeros(count)
    np.add.at(totals, index.ravel(), weight)
    return totals


@checked
def sequence_probability(profile: Profile, sequence: Sequence[int]) -> float:
    """The probability that a person goes through these places, one a step.

    >>> sequence_probability(MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]]), (0, 1, 0)).round(6)
    np.float64(0.333333)
    """
    path = np.array(sequence, dtype=np.int64)
    result = np.float64(1.0)
    for step, place in enumerate(path):
        if not 0 <= place < profile.places:
            raise broken_rule("sequence", "sequence_probability", f"places from 0 to {profile.places - 1}", place)
        if result > 0:
            past = path[max(0, step - profile.memory) : step]
            result *= profile.following(past[None, :], step)[0, place]
    return result


@checked
def sample_places(profile: Profile, steps: int, count: int = 1, seed: int = 0) -> IntArray:
    """Draw ``count`` walks of ``steps`` places, [walk, step]. For simulation only: the generator is not a secure one.

    >>> sample_places(MarkovProfile.from_matrix([[0.0, 1.0], [1.0, 0.0]]), steps=4, seed=1).tolist()
    [[1, 0, 1, 0]]
    """
    whole_number(steps, "steps", "sample")
    whole_number(count, "count", "sample")
    whole_number(seed, "seed", "sample", least=0)
    what = f"{count} walks of {steps} steps over {profile.places} places"
    refuse_if_too_large(8 * count * (steps + 3 * profile.places), what, "Draw fewer or shorter ones at a time.")
    generator = np.random.default_rng(seed)
    walks = np.zeros((count, steps), np.int64)
    for step in range(steps):
        law = profile.following(walks[:, max(0, step - profile.memory) : step], step)
        walks[:, step] = drawn(law, generator)
    return walks


def drawn(laws: FloatArray, generator: np.random.Generator) -> IntArray:
    """One draw from each law [..., value]. For simulation only: the generator is not a secure one.

    >>> drawn(np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(0))
    array([1, 0])
    """
    edges = np.cumsum(laws, axis=-1)
    threshold = generator.random((*laws.shape[:-1], 1)) * edges[..., -1:]
    return np.asarray((edges <= threshold).sum(axis=-1))


class _Learned:
    """What both learned profiles offer beside the protocol."""

    def sample(self: Profile, steps: int, count: int = 1, seed: int = 0) -> IntArray:
        """Draw walks from the profile: see :func:`sample_places`."""
        return sample_places(self, steps, count, seed)

    def probability(self: Profile, sequence: Sequence[int]) -> float:
        """The probability of a sequence: see :func:`sequence_probability`."""
        return sequence_probability(self, sequence)


@checked
@dataclass(frozen=True, eq=False)
class MarkovProfile(_Learned):
    """A Markov chain of some order over places.

    ``states`` are the tuples of places that the next place depends on, ``transition`` its law after each of them,
    [state, place] (for a chain of order 1 the transition matrix), and ``state_law`` the long-run law of the states.
    ``regions``, where known, are the places themselves; ``step`` is the length of a time step.
    """

    states: IntArray
    transition: FloatArray
    state_law: FloatArray
    regions: Regions | None = None
    step: str = STEP

    @classmethod
    def from_matrix(cls, matrix: npt.ArrayLike, regions: Regions | None = None, step: str = STEP) -> MarkovProfile:
        """A first-order chain with this transition matrix [from, to].

        >>> MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]).stationary.round(6)
        array([0.666667, 0.333333])
        """
        owner = "MarkovProfile.from_matrix"
        table = nonnegative(matrix, "matrix", owner, 2)
        if table.shape[0] != table.shape[1] or len(table) < 2:
            raise broken_rule("matrix", owner, "square, over two or more places", f"the shape {table.shape}")
        total = table.sum(axis=1, keepdims=True)
        if np.abs(total - 1).max() > 1e-6:
            worst = int(np.abs(total - 1).argmax())
            raise broken_rule("matrix", owner, "rows that sum to 1", f"{total[worst, 0]:g} in row {worst}")
        if regions is not None and len(regions) != len(table):
            raise broken_rule("regions", owner, f"{len(table)} places, one a row of 'matrix'", len(regions))
        refuse_large_chain(len(table), len(table), int(np.count_nonzero(table)))
        return cls.from_kernel(np.arange(len(table))[:, None], table / total, regions, step, "matrix", owner)

    @classmethod
    def from_kernel(
        cls, states: IntArray, kernel: FloatArray, regions: Regions | None, step: str, parameter: str, owner: str
    ) -> MarkovProfile:
        """The chain on tuples of places, refused unless every state leads to every other."""
        length = checked_step(step, owner)
        nonnegative(kernel, parameter, owner, 2)  # its copy is laid out anew, and sums would differ in their last bits
        shaped(states, (len(kernel), None), "states", owner)
        numbered(states, kernel.shape[1], "states", owner)
        law = long_run_law(state_chain(states, kernel), states, parameter, owner)
        return cls(frozen(states), frozen(kernel), frozen(law), regions, step if isinstance(step, str) else str(length))

    @classmethod
    def fit(
        cls,
        traces: pd.DataFrame,
        regions: Regions,
        step: str = STEP,
        order: int = 1,
        close: bool = True,
        smoothing: float = 0.0,
    ) -> MarkovProfile:
        """Learn a chain of the given order from traces, over the places that were visited.

        A trace has one place a step, that of the first fix in it. A finite trace ends where nothing leads on, so it is
        closed: what follows a gap follows what came before it, and the end leads back to the start. With
        ``close=False`` gaps interrupt. A share ``smoothing`` of every move goes anywhere the person goes.

        >>> from hideseek.data import synthetic_city
        >>> from hideseek.regions import Grid
        >>> traces = synthetic_city(people=1, days=3)
        >>> profile = MarkovProfile.fit(traces, Grid.covering(traces, rows=6, columns=6))
        >>> profile.transition.sum(axis=1).round(9).min()
        np.float64(1.0)
        """
        owner = "MarkovProfile.fit"
        if whole_number(order, "order", owner) > HIGHEST_ORDER:
            raise broken_rule("order", owner, f"an integer from 1 to {HIGHEST_ORDER}", order)
        smoothing = scalar(smoothing, "smoothing", owner, "a share, >= 0 and < 1")
        if smoothing >= 1:
            raise broken_rule("smoothing", owner, "a share, >= 0 and < 1", smoothing)
        visited, walks = walks_through(traces, regions, step, owner)
        moves = np.vstack([moves_of(walk, order, close) for walk in walks])
        if not len(moves):
            way_out = "Use a longer 'step', a lower 'order', or close=True."
            raise broken_rule("traces", owner, f"traces with {order + 1} steps in a row", "none", way_out)
        places = len(visited)
        if places**order >= 2**62:
            raise broken_rule("order", owner, f"low enough to number the tuples of {places} places", order)
        if smoothing and order > 1:
            refuse_if_too_large(8 * places ** (order + 1), f"a smoothed chain of order {order} over {places} places")
            states = product(places, order)
        else:
            states = np.unique(np.vstack([moves[:, :-1], moves[:, 1:]]), axis=0)
        refuse_large_chain(len(states), places, len(states) * places if smoothing else len(moves))
        kernel = np.zeros((len(states), places))
        np.add.at(kernel, (state_index(states, moves[:, :-1], places), moves[:, -1]), 1.0)
        total = kernel.sum(axis=1, keepdims=True)
        kernel = np.divide(kernel, total, out=kernel, where=total > 0)
        if smoothing:
            anywhere = np.bincount(np.concatenate([place for place, _ in walks]), minlength=places)
            share = np.where(total > 0, smoothing, 1.0)
            kernel = (1 - share) * kernel + share * anywhere / anywhere.sum()
        try:
            return cls.from_kernel(states, kernel, regions.keep(visited), step, "traces", owner)
        except ReducibleError as error:  # in the numbers of the regions that the caller gave
            raise reducible([visited[place] for place in error.places], "traces", owner) from None

    @property
    def places(self) -> int:
        """How many places there are."""
        return int(self.transition.shape[1])

    @property
    def order(self) -> int:
        """How many of the last places the next one depends on."""
        return int(self.states.shape[1])

    @property
    def memory(self) -> int:
        """The order, by the name that every profile has."""
        return self.order

    @cached_property
    def stationary(self) -> FloatArray:
        """The long-run law of the place."""
        return summed(self.states[:, 0], self.state_law, self.places)

    def following(self, past: IntArray, step: int) -> FloatArray:  # noqa: ARG002
        """The law of the next place after each of these pasts; the first places follow the long-run law."""
        check_past(self, past)
        length = past.shape[1]
        if length == self.order:
            return self.transition[state_index(self.states, past, self.places)]
        starts, index = np.unique(self.states[:, :length], axis=0, return_inverse=True)
        joint = np.zeros((len(starts), self.places))
        np.add.at(joint, (index.ravel(), self.states[:, length]), self.state_law)
        joint /= joint.sum(axis=1, keepdims=True)
        return np.asarray(joint[state_index(starts, past, self.places)])


@checked
@dataclass(frozen=True, eq=False)
class PeriodicProfile(_Learned):
    """A first-order chain whose transitions follow the time of day (UTC).

    ``slots`` [slot, from, to] are the transition matrices of equal parts of the day, each ``steps_a_slot`` steps long.
    Now, the offset 0 of a scenario, is step ``start`` of the day; ``at`` moves it.
    """

    slots: FloatArray
    steps_a_slot: int
    regions: Regions | None = None
    start: int = 0
    step: str = STEP

    @classmethod
    def fit(
        cls, traces: pd.DataFrame, regions: Regions, step: str = STEP, slots: int = 24, weight: float = 1.0
    ) -> PeriodicProfile:
        """Learn one transition matrix for each part of the day.

        A part of the day has few moves to learn from, so each row is the average of its own moves and, counting as
        ``weight`` of them, the time-free chain, which also keeps the days connected.

        >>> from hideseek.data import synthetic_city
        >>> from hideseek.regions import Grid
        >>> traces = synthetic_city(people=1, days=3)
        >>> profile = PeriodicProfile.fit(traces, Grid.covering(traces, rows=6, columns=6), slots=4)
        >>> night, noon = profile.stationary, profile.at("12:00").stationary
        >>> bool(abs(night - noon).sum() > 0.5)
        True
        """
        owner = "PeriodicProfile.fit"
        steps = DAY / checked_step(step, owner)
        if steps % whole_number(slots, "slots", owner):
            raise broken_rule("slots", owner, f"a divisor of the {steps:g} steps of a day", slots)
        weight = scalar(weight, "weight", owner, "a number > 0", least=np.finfo(float).tiny)
        base = MarkovProfile.fit(traces, regions, step)
        steps_a_slot = int(steps) // slots
        refuse_if_too_large(3 * 8 * slots * base.places**2, f"{slots} transition matrices over {base.places} places")
        counts = np.zeros((slots, base.places, base.places))
        for place, moment in walks_through(traces, regions, step, owner)[1]:
            together = np.flatnonzero(np.diff(moment) == 1)
            slot = moment[together] % int(steps) // steps_a_slot
            np.add.at(counts, (slot, place[together], place[together + 1]), 1.0)
        matrices = counts + weight * base.transition
        matrices /= matrices.sum(axis=2, keepdims=True)
        profile = cls(frozen(matrices), steps_a_slot, base.regions, step=step)
        frozen(profile.midnight)  # refused here, and not at the first use, if a day does not mix the places
        return profile

    def at(self, time: str) -> PeriodicProfile:
        """The same profile when it is now another time of day.

        >>> chain = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]])
        >>> PeriodicProfile(chain, steps_a_slot=12).at("13:00").start
        13
        """
        moment = pd.to_timedelta(f"{time}:00" if time.count(":") == 1 else time, errors="coerce")
        if pd.isna(moment) or not pd.Timedelta(0) <= moment < DAY:
            raise broken_rule("time", "PeriodicProfile.at", 'a time of day such as "08:30"', repr(time))
        return replace(self, start=int(moment / DAY * self.steps_a_day))

    @property
    def places(self) -> int:
        """How many places there are."""
        return int(self.slots.shape[1])

    @property
    def memory(self) -> int:
        """The next place depends on the last one and the clock."""
        return 1

    @property
    def steps_a_day(self) -> int:
        """How many steps a day has."""
        return len(self.slots) * self.steps_a_slot

    @property
    def transition(self) -> FloatArray:
        """The transition matrix of now."""
        return np.asarray(self.slots[self.start // self.steps_a_slot])

    @cached_property
    def midnight(self) -> FloatArray:
        """The law of the place at midnight, on every day of a long life."""
        powers = [np.linalg.matrix_power(slot, self.steps_a_slot) for slot in self.slots]
        day = sparse.csr_array(np.linalg.multi_dot(powers) if len(powers) > 1 else powers[0])
        return long_run_law(day, np.arange(self.places)[:, None], "traces", "PeriodicProfile")

    @property
    def stationary(self) -> FloatArray:
        """The law of the place now, on every day of a long life."""
        return self.law_at(self.start)

    def law_at(self, step: int) -> FloatArray:
        """The law of the place at a step of the day."""
        law = self.midnight
        for past in range(step % self.steps_a_day):
            law = law @ self.slots[past // self.steps_a_slot]
        return law

    def following(self, past: IntArray, step: int) -> FloatArray:
        """The law of the next place, at the time of day that ``step`` falls on."""
        check_past(self, past)
        if past.shape[1] == 0:
            return np.broadcast_to(self.law_at(self.start + step), (len(past), self.places))
        departed = (self.start + step - 1) % self.steps_a_day
        return np.asarray(self.slots[departed // self.steps_a_slot][past[:, -1]])


def check_past(profile: MarkovProfile | PeriodicProfile, past: IntArray) -> None:
    """Refuse pasts that are longer than the profile looks back, or hold what is no place."""
    owner = f"{type(profile).__name__}.following"
    if past.ndim != 2 or past.shape[1] > profile.memory:
        rule = f"an array [past, place] with at most {profile.memory} places per past"
        raise broken_rule("past", owner, rule, f"the shape {past.shape}")
    numbered(past, profile.places, "past", owner)


def regions_of(profile: MarkovProfile | PeriodicProfile) -> Regions:
    """The profile's places on the map."""
    if profile.regions is None:
        way_out = "Give from_matrix its regions, or fit the profile to traces."
        raise broken_rule("regions", "the profile", "known here", None, way_out)
    return profile.regions


Walk = tuple[IntArray, IntArray]  # places, and the number of the step at which each was visited


def walks_through(traces: pd.DataFrame, regions: Regions, step: str, owner: str) -> tuple[list[int], list[Walk]]:
    """One place a step for every user: which regions were visited, and the walks through them, renumbered."""
    table = check_traces(traces, owner)
    length = checked_step(step, owner)
    region = regions.locate(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    inside = region >= 0
    if not inside.any():
        way_out = "See Grid.covering and Hexagons.covering."
        raise broken_rule("regions", owner, "around at least one fix", f"regions around none of {len(table)}", way_out)
    moment = (table["tracked_at"] - pd.Timestamp(0, tz="UTC")) // length
    steps = pd.DataFrame({"user": table["user_id"], "moment": moment, "region": region})[inside]
    steps = steps.drop_duplicates(["user", "moment"])
    visited, place = np.unique(steps["region"], return_inverse=True)
    if len(visited) < 2:
        way_out = "Use smaller regions or more of the trace: who never moves has nothing to hide by moving."
        raise broken_rule("traces", owner, "traces that visit two or more places", "one only", way_out)
    moments = steps["moment"].to_numpy(np.int64)
    walks = [(place[rows], moments[rows]) for rows in steps.reset_index(drop=True).groupby("user").indices.values()]
    return visited.tolist(), walks


def moves_of(walk: Walk, order: int, close: bool) -> IntArray:
    """All runs of order + 1 places in a row, [run, place]."""
    place, moment = walk
    joined = np.diff(moment) == 1
    if close:
        joined = np.ones(len(place) + order - 1, np.bool_)
        place = np.r_[place, np.resize(place, order)]
    if len(place) <= order:
        return np.zeros((0, order + 1), np.int64)
    windows = np.lib.stride_tricks.sliding_window_view
    return windows(place, order + 1)[windows(joined, order).all(axis=1)]


def state_index(states: IntArray, vectors: IntArray, places: int) -> IntArray:
    """Which state each vector is."""
    codes, wanted = encoded(states, places), encoded(vectors, places)
    index = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    if (codes[index] != wanted).any():
        impossible = tuple(int(place) for place in vectors[codes[index] != wanted][0])
        raise broken_rule("past", "MarkovProfile.following", "places in an order that can occur", impossible)
    return index


def refuse_large_chain(states: int, places: int, moves: int) -> None:
    """Refuse a chain whose tables, or whose long-run law, would not fit in memory."""
    needed = 8 * (states * (2 * places + 3 * states) + 5 * moves)
    refuse_if_too_large(needed, f"A chain of {states} states over {places} places")


def state_chain(states: IntArray, kernel: FloatArray) -> sparse.csr_array:
    """The transitions between tuples of places, [state, state]."""
    row, place = np.nonzero(kernel)
    following = np.c_[states[row, 1:], place]
    index = state_index(states, following, kernel.shape[1])
    return sparse.csr_array((kernel[row, place], (row, index)), shape=(len(states), len(states)))


def longest_run(offsets: Iterable[int]) -> int:
    """How many of the offsets stand in a row.

    >>> longest_run({-3, -1, 0, 1})
    3
    """
    return max(Counter(offset - number for number, offset in enumerate(sorted(offsets))).values())


def possible_ways(profile: MarkovProfile, length: int) -> float:
    """How many sequences of so many places in a row can occur; far above what can be held, a number below that.

    >>> possible_ways(MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]]), 3)
    5.0
    """
    if length < profile.memory:
        return float(len(np.unique(profile.states[:, :length], axis=0)))
    leads = state_chain(profile.states, profile.transition) > 0
    ways = np.ones(len(profile.states))
    for _ in range(length - profile.memory):
        if ways.sum() > COUNTED:
            break
        ways = leads @ ways
    return float(ways.sum())


def long_run_law(chain: sparse.csr_array, states: IntArray, parameter: str, owner: str) -> FloatArray:
    """The stationary law of an irreducible chain; a reducible one is refused, with the places that trap it."""
    count, component = connected_components(chain, connection="strong")
    if count > 1:
        start, end = chain.nonzero()
        left = np.unique(component[start[component[start] != component[end]]])
        trap = ~np.isin(component, left)
        raise reducible(np.unique(states[trap, -1]).tolist(), parameter, owner)
    size = len(states)
    refuse_if_too_large(3 * 8 * size**2, f"The long-run law of {size} states")
    system = chain.toarray().T - np.eye(size)
    system[-1] = 1
    try:
        law: FloatArray = np.maximum(np.linalg.solve(system, np.eye(size)[-1]), 0)
    except np.linalg.LinAlgError:
        rule = "a chain whose moves are likely enough to be counted on"
        raise broken_rule(parameter, owner, rule, "one with a move that a number cannot hold") from None
    law /= law.sum()
    return law


def reducible(places: Sequence[int], parameter: str, owner: str) -> ReducibleError:
    """A chain that is trapped in these places, with the ways out of it."""
    # where a person goes is told to who asks for the error's places, and not to who reads the log
    named = ": " + ", ".join(map(str, places[:10])) + ", ..." * (len(places) > 10) if parameter == "matrix" else ""
    ways = {
        "traces": "Close the traces (close=True), smooth them (smoothing=0.01), or fit one person at a time.",
        "matrix": "Give every place a way back, if only a small one.",
    }
    got = f"one with {len(places)} places that are not left once entered{named}"
    rule = "a chain in which every place leads to every other"
    return ReducibleError(rule_text(parameter, owner, rule, got, ways.get(parameter, "")), tuple(places))
