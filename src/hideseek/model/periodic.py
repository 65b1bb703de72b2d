"""Chains whose transitions follow the time of day."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from datetime import timedelta
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.model.markov import MarkovProfile, long_run_distribution
from hideseek.model.profile import STEP, LearnedProfile, check_past
from hideseek.model.regions import Regions
from hideseek.model.walks import walks_through
from hideseek.util.arrays import FloatArray, IntArray, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar, whole_number
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.time_steps import NANOSECONDS, checked_step, nanoseconds

DAY = timedelta(days=1)


@checked
@dataclass(frozen=True, eq=False, repr=False)
class PeriodicProfile(LearnedProfile):
    """A first-order chain whose transitions follow the time of day (UTC).

    Attributes
    ----------
    slots : (slots, places, places) float array
        The transition matrices of equal parts of the day, [slot, from, to].
    steps_a_slot : int
        How many steps long each part is.
    regions : Regions, optional
        The places themselves, where they are known.
    start : int
        The step of the day that is now, the offset 0 of a scenario; :meth:`at` moves it.
    step : str
        The length of a time step, such as "5min".
    """

    slots: FloatArray
    steps_a_slot: int
    _: KW_ONLY
    regions: Regions | None = None
    start: int = 0
    step: str = STEP

    @classmethod
    def fit(
        cls, traces: pd.DataFrame, regions: Regions, *, step: str = STEP, slots: int = 24, weight: float = 1.0
    ) -> PeriodicProfile:
        """Learn one transition matrix for each part of the day.

        A part of the day has few moves to learn from, so each row is the average of its own moves and, counting as
        ``weight`` of them, the chain that ignores the time of day, which also keeps the days connected.

        Parameters
        ----------
        traces : pandas.DataFrame
            The fixes of a person, as :func:`hideseek.read_traces` gives them.
        regions : Regions
            The map; only regions that were visited become places.
        step : str
            The length of a time step; a day is a multiple of it.
        slots : int
            How many equal parts a day has, a divisor of its steps.
        weight : float
            How many moves the chain that ignores the time of day counts as, > 0.

        Returns
        -------
        PeriodicProfile
            The profile at midnight; see :meth:`at`.

        Raises
        ------
        ParameterError
            Where the traces, or a parameter, break a rule.

        Examples
        --------
        >>> from hideseek.traces.city import synthetic_city
        >>> from hideseek.model.regions import Grid
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
        base, steps_a_slot = MarkovProfile.fit(traces, regions, step=step), int(steps) // slots
        needed, what = 3 * 8 * slots * base.places**2, f"{slots} transition matrices over {base.places} places"
        refuse_if_too_large(needed, what, parameter="slots")
        counts = np.zeros((slots, base.places, base.places))
        for place, moment in walks_through(traces, regions, step, owner)[1]:
            together = np.flatnonzero(np.diff(moment) == 1)
            slot = moment[together] % int(steps) // steps_a_slot
            np.add.at(counts, (slot, place[together], place[together + 1]), 1.0)
        matrices = counts + weight * base.transition
        matrices /= matrices.sum(axis=2, keepdims=True)
        profile = cls(frozen(matrices), steps_a_slot, regions=base.regions, step=step)
        frozen(profile.midnight)  # refused here, and not at the first use, if a day does not mix the places
        return profile

    def __repr__(self) -> str:
        day = f"{len(self.slots)} slots of {self.steps_a_slot} steps"
        return f"PeriodicProfile({self.places} places, {day}, start {self.start}, step {self.step!r})"

    @property
    def facts(self) -> dict[str, object]:
        """What a notebook shows."""
        slots = {"slots": len(self.slots), "steps per slot": self.steps_a_slot, "start": self.start}
        return {"places": self.places} | slots | {"step": self.step}

    def at(self, time: str) -> PeriodicProfile:
        """The same profile when it is now another time of day.

        >>> chain = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.2, 0.8]]])
        >>> PeriodicProfile(chain, steps_a_slot=12).at("13:00").start
        13
        """
        moment = nanoseconds(f"{time}:00" if time.count(":") == 1 else time)
        if moment is None or not moment < NANOSECONDS["D"]:
            raise broken_rule("time", "PeriodicProfile.at", 'a time of day such as "08:30"', repr(time))
        return replace(self, start=int(moment * self.steps_a_day / NANOSECONDS["D"]))

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
        """The distribution of the place at midnight, on every day of a long life."""
        powers = [np.linalg.matrix_power(slot, self.steps_a_slot) for slot in self.slots]
        day = sparse.csr_array(np.linalg.multi_dot(powers) if len(powers) > 1 else powers[0])
        return long_run_distribution(day, np.arange(self.places)[:, None], "traces", "PeriodicProfile")

    @property
    def stationary(self) -> FloatArray:
        """The distribution of the place now, on every day of a long life."""
        return self.distribution_at(self.start)

    def distribution_at(self, time: int) -> FloatArray:
        """The distribution of the place at a time of day, counted in steps."""
        distribution = self.midnight
        for past in range(time % self.steps_a_day):
            distribution = distribution @ self.slots[past // self.steps_a_slot]
        return distribution

    def following(self, past: IntArray, time: int) -> FloatArray:
        """The distribution of the next place, at the time of day that ``time`` falls on."""
        check_past(self, past)
        if past.shape[1] == 0:
            return np.broadcast_to(self.distribution_at(self.start + time), (len(past), self.places))
        departed = (self.start + time - 1) % self.steps_a_day
        return np.asarray(self.slots[departed // self.steps_a_slot][past[:, -1]])
