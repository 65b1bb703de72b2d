"""The clock and the calendar that a person lives by: which part of the local day or week a time step falls into.

Steps are counted from 1970 in UTC, as devices and traces count them. The local time, with its days of 23 and 25 hours
where clocks are changed, follows from the time zone; it is public.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise

import numpy as np

from hideseek.errors import broken_rule
from hideseek.model.profile import STEP
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.time_steps import checked_step, nanoseconds
from hideseek.util.zones import named_zone

DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WEEK = 7
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
THURSDAY = WEEKDAYS.index("Thursday")  # the day of 1 January 1970
CHANGES = timedelta(minutes=15)  # local clocks change at multiples of this
SHORTEST = timedelta(seconds=1)  # or a file of a few bytes would ask for a cycle that no memory holds
ALIKE, WEEKEND = (0,) * WEEK, (0, 0, 0, 0, 0, 1, 1)


@checked
@dataclass(frozen=True)
class Clock:
    """Slots of the local day, the same on all days of one kind.

    Attributes
    ----------
    zone : str
        The time zone: an IANA name such as "Europe/Zurich", or hours ahead of UTC such as "UTC+01:00".
    starts : tuple of tuple of int
        For every kind of day, the steps of the local day at which its slots begin, in order. What comes before the
        first of them belongs to the last slot, so that a night may be one slot.
    days : tuple of int
        The kind of each day from Monday to Sunday; all alike, or weekdays 0 and weekends 1.
    step : str
        The length of a time step, which divides a day.
    """

    zone: str
    starts: tuple[tuple[int, ...], ...] = ((0,),)
    _: KW_ONLY
    days: tuple[int, ...] = ALIKE
    step: str = STEP

    def __post_init__(self) -> None:
        owner = "Clock"
        named_zone(self.zone, owner)
        step = checked_step(self.step, owner)
        if DAY % step or step < SHORTEST:
            raise broken_rule(
                "step", owner, "a length of time that divides a day, of a second or more", repr(self.step)
            )
        if len(self.days) != WEEK or {*self.days} != {*range(len(self.starts))}:
            rule = f"{WEEK} numbers of kinds of days, each of which has its slots"
            raise broken_rule("days", owner, rule, self.days)
        for own in self.starts:
            rising = all(one < other for one, other in pairwise(own))
            if not own or not rising or not 0 <= own[0] <= own[-1] < self.steps_a_day:
                rule = f"for each kind of day some of its {self.steps_a_day} steps, in order"
                raise broken_rule("starts", owner, rule, own)

    @property
    def steps_a_day(self) -> int:
        """How many steps a day has, unless clocks are changed on it."""
        return DAY // checked_step(self.step, "Clock")

    @property
    def slots(self) -> int:
        """How many slots there are, of all kinds of days."""
        return sum(map(len, self.starts))

    @cached_property
    def cycle(self) -> IntArray:
        """The slot of every step of a day, or of a week from Monday on where days differ.

        >>> Clock("UTC+01:00", ((1, 2),), step="8h").cycle.tolist()  # the night begins at 16:00
        [1, 0, 1]
        """
        step, first, kinds = np.arange(self.steps_a_day), 0, list[IntArray]()
        for own in self.starts:
            kinds.append(first + (np.searchsorted(own, step, side="right") - 1) % len(own))
            first += len(own)
        return np.concatenate([kinds[kind] for kind in (self.days if len(kinds) > 1 else self.days[:1])])

    def local(self, moments: IntArray) -> IntArray:
        """Steps of local time, counted from 1970, in which these steps in UTC begin.

        >>> clock = Clock("Europe/Zurich", step="1h")
        >>> clock.local(np.array([0, 400_000])).tolist()  # the second is in the summer of 2015
        [1, 400002]
        """
        zone, length = named_zone(self.zone, "Clock"), checked_step(self.step, "Clock") // MICROSECOND
        since, quarter = np.asarray(moments, np.int64) * length, CHANGES // MICROSECOND
        quarters, which = np.unique(since // quarter, return_inverse=True)
        ahead = [(EPOCH + int(one) * CHANGES).astimezone(zone).utcoffset() or timedelta() for one in quarters]
        offset = np.array([one // MICROSECOND for one in ahead], np.int64)
        return np.asarray((since + offset[which.reshape(since.shape)]) // length)

    def phases(self, moments: IntArray) -> IntArray:
        """Which steps of the cycle these steps are, counted from 1970 in UTC.

        >>> clock = Clock("Europe/Zurich", step="1h")
        >>> noons = [datetime.fromisoformat(noon) for noon in ("2026-01-15T12:00+01:00", "2026-07-15T12:00+02:00")]
        >>> clock.phases(np.array([int(noon.timestamp()) // 3600 for noon in noons])).tolist()
        [12, 12]
        """
        day, step = np.divmod(self.local(moments), self.steps_a_day)
        return np.asarray(step if len(self.starts) == 1 else (day + THURSDAY) % WEEK * self.steps_a_day + step)

    def phase(self, time: str | datetime) -> int:
        """Which step of the cycle a time is: one with its zone, or a time of day, perhaps of a weekday.

        >>> Clock("Europe/Zurich", ((0,), (0,)), days=(0, 0, 0, 0, 0, 1, 1), step="1h").phase("Saturday 08:30")
        128
        """
        owner, rule = "Clock.phase", 'a time with its zone, or a time of day such as "08:30" or "Saturday 08:30"'
        if isinstance(time, datetime):
            if time.utcoffset() is None:
                raise broken_rule("time", owner, rule, "one without a zone")
            since = (time - EPOCH) // checked_step(self.step, owner)
            return int(self.phases(np.array([since]))[0])
        weekday, _, clock = time.rpartition(" ")
        moment = nanoseconds(f"{clock}:00" if clock.count(":") == 1 else clock)
        if moment is None or not timedelta(microseconds=float(moment / 1000)) < DAY or weekday not in ("", *WEEKDAYS):
            raise broken_rule("time", owner, rule, repr(time))
        step = timedelta(microseconds=float(moment / 1000)) // checked_step(self.step, owner)
        first = 0 if len(self.starts) == 1 or not weekday else WEEKDAYS.index(weekday)
        return first * self.steps_a_day + step

    def in_words(self) -> str:
        """The slots for people.

        >>> Clock("Europe/Zurich", ((12, 84),)).in_words()
        '01:00-07:00, 07:00-01:00'
        """
        length = checked_step(self.step, "Clock")

        def told(own: tuple[int, ...]) -> str:
            at = [f"{(datetime.min + one * length):%H:%M}" for one in own]
            return ", ".join(f"{one}-{other}" for one, other in pairwise([*at, at[0]])) if len(at) > 1 else "all day"

        if len(self.starts) == 1:
            return told(self.starts[0])
        if self.days == WEEKEND:
            return f"weekdays {told(self.starts[0])}; weekends {told(self.starts[1])}"
        named = list(zip(WEEKDAYS, self.days, strict=True))
        days = (", ".join(day for day, own in named if own == kind) for kind in range(len(self.starts)))
        return "; ".join(f"{names}: {told(own)}" for names, own in zip(days, self.starts, strict=True))
