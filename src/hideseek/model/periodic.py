"""Chains whose transitions follow the clock and the calendar."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.model.candidates import Candidate
from hideseek.model.clock import Clock
from hideseek.model.clock_learning import Moves, counted_by_slot, even_clock, learned_clock, strength_of
from hideseek.model.markov import MarkovProfile, long_run_distribution
from hideseek.model.profile import STEP, LearnedProfile, check_past
from hideseek.model.regions import Regions
from hideseek.traces.timezones import local_zone
from hideseek.util.arrays import FloatArray, IntArray, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative, scalar, whole_number
from hideseek.util.limits import refuse_if_too_large

ROUNDING = 1e-9  # of the sum of a row


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PeriodicProfile(LearnedProfile):
    """A first-order chain whose transitions follow the time of day, and perhaps the day of the week.

    Attributes
    ----------
    slots : (slots, places, places) float array
        The transition matrices, [slot, from, to].
    cycle : (steps,) int array
        The slot of every step of a day, or of a week, after which all begins again.
    regions : Regions, optional
        The places themselves, where they are known.
    start : int
        The step of the cycle that is now, the offset 0 of a scenario; :meth:`at` moves it.
    step : str
        The length of a time step, such as "5min".
    clock : Clock, optional
        Which step of the cycle a time is, where that is known.
    candidates : tuple of Candidate
        The models that it was chosen from.
    """

    slots: FloatArray
    cycle: IntArray
    _: KW_ONLY
    regions: Regions | None = None
    start: int = 0
    step: str = STEP
    clock: Clock | None = None
    candidates: tuple[Candidate, ...] = ()

    def __post_init__(self) -> None:
        owner = "PeriodicProfile"
        slots, cycle = nonnegative(self.slots, "slots", owner, 3), nonnegative(self.cycle, "cycle", owner, 1)
        if slots.shape[1] != slots.shape[2] or np.abs(slots.sum(axis=2) - 1).max() > ROUNDING:
            raise broken_rule("slots", owner, "square transition matrices, whose rows sum to 1", "other ones")
        if not np.isin(cycle, np.arange(len(slots))).all():
            raise broken_rule("cycle", owner, f"numbers of slots, from 0 to {len(slots) - 1}", "others")
        object.__setattr__(self, "slots", slots)
        object.__setattr__(self, "cycle", frozen(cycle.astype(np.int64)))
        if not 0 <= self.start < len(self.cycle):
            raise broken_rule("start", owner, f"one of the {len(self.cycle)} steps of the cycle", self.start)
        if self.clock is not None and not np.array_equal(self.clock.cycle, self.cycle):
            raise broken_rule("clock", owner, "one with the same cycle of slots", "another")

    @classmethod
    def fit(
        cls,
        traces: pd.DataFrame,
        regions: Regions,
        *,
        step: str = STEP,
        timezone: str | None = None,
        slots: int | None = None,
        weekends: bool = False,
        weight: float | None = None,
        half_life: float | None = None,
    ) -> PeriodicProfile:
        """Learn one transition matrix for each part of the local day.

        Each row is the average of its own moves and, counting as ``weight`` of them, the chain that ignores the clock.
        Slots and weight are those under which the moves are likeliest: see :mod:`hideseek.model.clock_learning`.

        Parameters
        ----------
        traces, regions : pandas.DataFrame, Regions
            The fixes of a person, as :func:`hideseek.read_traces` gives them; the map, of which places are visited.
        step, timezone : str
            The length of a time step, which divides a day; an IANA name, by default the offset that most times of the
            data had, else the one of the mean longitude.
        slots, weekends : int, bool
            So many equal parts of the day instead, no more than there are days; Saturday and Sunday with their own.
        weight, half_life : float, optional
            A weight, > 0; days, > 0, after which a move counts half as much as one of the last day.

        Returns
        -------
        PeriodicProfile
            At midnight. A ParameterError where the traces, or a parameter, break a rule.

        Examples
        --------
        >>> from hideseek.traces.city import synthetic_city
        >>> from hideseek.model.regions import Grid
        >>> traces = synthetic_city(people=1, days=14)
        >>> profile = PeriodicProfile.fit(traces, Grid.covering(traces, rows=6, columns=6))
        >>> bool(abs(profile.stationary - profile.at("12:00").stationary).sum() > 0.5)
        True
        """
        owner, tiny = "PeriodicProfile.fit", np.finfo(float).tiny
        weight = None if weight is None else scalar(weight, "weight", owner, "a number > 0", least=tiny)
        half_life = None if half_life is None else scalar(half_life, "half_life", owner, "days, > 0", least=tiny)
        whole = Clock(str(local_zone(traces, timezone)[0]), step=step)
        moves = Moves.of(traces, regions, whole, owner).fading(half_life)
        base = MarkovProfile.fit(traces, regions, step=step)
        if slots is None:
            clock, found = learned_clock(moves, base.transition, whole, weekends)
        else:
            clock = even_clock(whole, moves, whole_number(slots, "slots", owner), weekends, owner)
            found = strength_of(moves, base.transition, clock)
        return drawn_towards(base, moves, clock, found if weight is None else weight)

    def __repr__(self) -> str:
        cycle = f"{len(self.slots)} slots in {len(self.cycle)} steps"
        return f"PeriodicProfile({self.places} places, {cycle}, start {self.start}, step {self.step!r})"

    @property
    def facts(self) -> dict[str, object]:
        """What a notebook shows."""
        slots = {"slots": len(self.slots), "steps of the cycle": len(self.cycle), "start": self.start}
        return {"places": self.places} | slots | {"step": self.step}

    def at(self, time: str | datetime) -> PeriodicProfile:
        """The same profile when it is now another time: one with its zone, or a time of day, perhaps of a weekday.

        >>> chain = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]])
        >>> clock = Clock("Europe/Zurich", ((0, 12),), step="1h")
        >>> PeriodicProfile(chain, clock.cycle, step="1h", clock=clock).at("13:00").start
        13
        """
        if self.clock is None:
            raise broken_rule("clock", "PeriodicProfile.at", "known here", None, "Give the profile its clock.")
        return replace(self, start=self.clock.phase(time))

    @property
    def places(self) -> int:
        """How many places there are."""
        return int(self.slots.shape[1])

    @property
    def memory(self) -> int:
        """The next place depends on the last one and the clock."""
        return 1

    @property
    def transition(self) -> FloatArray:
        """The transition matrix of now."""
        return np.asarray(self.slots[self.cycle[self.start]])

    @cached_property
    def midnight(self) -> FloatArray:
        """The distribution of the place where the cycle begins, on every day of a long life."""
        ends = np.flatnonzero(np.diff(self.cycle, append=-1)) + 1
        lengths = np.diff(ends, prepend=0)
        powers = [
            np.linalg.matrix_power(self.slots[self.cycle[end - 1]], length)
            for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
        ]
        whole = sparse.csr_array(np.linalg.multi_dot(powers) if len(powers) > 1 else powers[0])
        return long_run_distribution(whole, np.arange(self.places)[:, None], "traces", "PeriodicProfile")

    @property
    def stationary(self) -> FloatArray:
        """The distribution of the place now, on every day of a long life."""
        return self.distribution_at(self.start)

    @cached_property
    def distributions(self) -> FloatArray:
        """The distribution of the place at every step of the cycle, on every day of a long life, [step, place]."""
        found = [self.midnight]
        for slot in self.cycle[:-1]:
            found.append(found[-1] @ self.slots[slot])
        return np.array(found)

    def distribution_at(self, time: int) -> FloatArray:
        """The distribution of the place at a step of the cycle."""
        return np.asarray(self.distributions[time % len(self.cycle)])

    def following(self, past: IntArray, time: int) -> FloatArray:
        """The distribution of the next place, at the step of the cycle that ``time`` falls on."""
        check_past(self, past)
        if past.shape[1] == 0:
            return np.broadcast_to(self.distribution_at(self.start + time), (len(past), self.places))
        departed = (self.start + time - 1) % len(self.cycle)
        return np.asarray(self.slots[self.cycle[departed]][past[:, -1]])


def drawn_towards(base: MarkovProfile, moves: Moves, clock: Clock, weight: float) -> PeriodicProfile:
    """The profile of moves by the slots of a clock, and of a chain without one that counts as so many of them."""
    what = f"{clock.slots} matrices of moves between {base.places} places"
    refuse_if_too_large(3 * 8 * clock.slots * base.places**2, what, parameter="slots")
    matrices = counted_by_slot(moves, base.places, clock) + weight * base.transition
    matrices /= matrices.sum(axis=2, keepdims=True)
    profile = PeriodicProfile(matrices, clock.cycle, regions=base.regions, step=base.step, clock=clock)
    frozen(profile.midnight)  # refused here, and not at the first use, if a day does not mix the places
    return profile
