"""A synthetic city: people with homes, jobs and habits, followed by imperfect GPS.

The city is a square of streets, ``SIDE`` metres wide, whose clock is UTC. Everything inside it is computed in metres
from its south-west corner; degrees appear only in the table. Each person draws from random streams of their own, so
that a trace depends on the seed, the person's index and the number of days, and not on who else lives there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.limits import refuse_if_too_large

Floats = NDArray[np.float64]


class Box(NamedTuple):
    """A box in degrees (WGS84)."""

    south: float
    north: float
    west: float
    east: float


# Open water in the Bay of Biscay: no real address can be mistaken for somebody's home. The degrees span 8 km each way
# to within 0.1 %, so metres and degrees are proportional here.
BOX = Box(south=45.0, north=45.072, west=-5.0, east=-4.8985)
SIDE = 8_000.0
# Streets at 50 m, 250 m, ...: with cells of 1 km or 500 m none runs along an edge, where GPS noise alone would make a
# person at rest hop between two cells.
FIRST_STREET, BLOCK = 50.0, 200.0

START = np.datetime64("2024-01-01T00:00:00", "us")  # a Monday
HOUR = 3_600.0
MINUTES_A_DAY = 1_440
PERSON, FIX = 1_400, 200  # bytes that each takes

# (longest trip in metres, speed in m/s): people walk, cycle, drive.
MODES = ((1_200.0, 1.4), (4_500.0, 4.5), (np.inf, 9.0))
KINDS = ("cafe", "gym", "park", "friends", "market", "cinema")
SPOTS_A_KIND = 5
OFFICES = 8

# (gaps per day, mean minutes lost): tunnels and deep buildings, then phones that are off. Together about four hours
# per day, which leaves some 1,200 fixes.
GAPS = ((12.0, 5.0), (1.0, 180.0))
LONGEST_GAP = 480
DRIFT, DRIFT_EVERY, JITTER = 4.0, 600.0, 2.0  # GPS errors: slow (metres, seconds), and of each fix (metres)


@dataclass(frozen=True)
class Place:
    """A street corner, in metres east and north of the city's south-west corner."""

    name: str
    x: float
    y: float

    @property
    def latitude(self) -> float:
        """Degrees north."""
        return BOX.south + self.y / SIDE * (BOX.north - BOX.south)

    @property
    def longitude(self) -> float:
        """Degrees east."""
        return BOX.west + self.x / SIDE * (BOX.east - BOX.west)


@dataclass(frozen=True)
class Person:
    """The truth behind a trace: where somebody lives, works and spends free time (favourite place first)."""

    user_id: str
    home: Place
    work: Place
    leisure: tuple[Place, ...]


def city_people(people: int = 1, *, seed: int = 0) -> tuple[Person, ...]:
    """Who lives in the city of :func:`synthetic_city` with the same ``seed``.

    >>> anna, bob = city_people(people=2, seed=7)
    >>> bob.user_id, bob.home.name, bob.work.name
    ('person-001', 'home', 'work')
    >>> BOX.south < bob.home.latitude < BOX.north
    True
    >>> sorted(place.name for place in bob.leisure)
    ['cafe', 'cinema', 'friends', 'gym', 'market', 'park']
    """
    whole_number(people, "people", "city_people")
    whole_number(seed, "seed", "city_people", least=0)
    refuse_if_too_large(PERSON * people, f"A city of {people} people", "Ask for fewer.", parameter="people")
    city = _stream(seed, 0)
    offices = [_corner("work", near) for near in city.normal(SIDE / 2, 0.15 * SIDE, (OFFICES, 2))]
    around = city.normal(SIDE / 2, 0.25 * SIDE, (len(KINDS), SPOTS_A_KIND, 2))
    spots = {kind: [_corner(kind, near) for near in sites] for kind, sites in zip(KINDS, around, strict=True)}
    return tuple(_settle(_stream(seed, 1, index), index, offices, spots) for index in range(people))


@checked
def synthetic_city(people: int = 1, *, days: int = 14, seed: int = 0) -> pd.DataFrame:
    """Follow ``people`` inhabitants of a synthetic city for ``days`` days, from Monday 2024-01-01 on.

    People sleep at home, go to work on weekdays, go out now and then, and move along streets. Their phones report
    about once a minute, are off by a few metres, and stop for minutes or hours. The table has the columns
    ``user_id``, ``tracked_at`` (UTC), ``latitude`` and ``longitude``, sorted by user and time; all fixes of a user
    are at different instants. It is a function of the arguments alone, and a person's trace does not change with
    ``people``. See :func:`city_people` for the truth behind it.

    Parameters
    ----------
    people : int
        How many are followed.
    days : int
        For how many days.
    seed : int
        Which city it is, >= 0.

    Returns
    -------
    pandas.DataFrame
        The fixes, about 1,200 per person and day.

    Raises
    ------
    SizeError
        Where the table would not fit in memory.

    Examples
    --------
    >>> city = synthetic_city(people=2, days=3, seed=7)
    >>> list(city.columns)
    ['user_id', 'tracked_at', 'latitude', 'longitude']
    >>> list(city["user_id"].unique())
    ['person-000', 'person-001']
    >>> bool(city["latitude"].between(BOX.south, BOX.north).all())
    True
    """
    whole_number(people, "people", "synthetic_city")
    whole_number(days, "days", "synthetic_city")
    whole_number(seed, "seed", "synthetic_city", least=0)
    needed = people * (PERSON + FIX * MINUTES_A_DAY * days)
    what = f"The traces of {people} people on {days} days"
    refuse_if_too_large(needed, what, "Ask for fewer at a time.", parameter="people, days")
    # By name: person-1000 sorts before person-101.
    inhabitants = sorted(enumerate(city_people(people, seed=seed)), key=lambda item: item[1].user_id)
    traces = [_trace(_stream(seed, 2, index), person, days) for index, person in inhabitants]
    seconds, x, y = np.concatenate(traces, axis=1)
    instants = START + seconds.astype("timedelta64[s]")
    names = np.array([person.user_id for _, person in inhabitants])
    return pd.DataFrame(
        {
            "user_id": names.repeat([trace.shape[1] for trace in traces]),
            "tracked_at": pd.DatetimeIndex(instants).tz_localize("UTC"),
            "latitude": BOX.south + y / SIDE * (BOX.north - BOX.south),
            "longitude": BOX.west + x / SIDE * (BOX.east - BOX.west),
        }
    )


def _stream(seed: int, *key: int) -> np.random.Generator:
    """The random stream with this key: what ``SeedSequence.spawn`` would give, without counting up to it."""
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=key))


def _corner(name: str, near: Floats) -> Place:
    """The street corner nearest to a point, at least a block away from the edge of the city."""
    x, y = np.clip(near, 2 * BLOCK, SIDE - 2 * BLOCK).tolist()
    return Place(name, _street(x), _street(y))


def _street(along: float) -> float:
    return FIRST_STREET + BLOCK * round((along - FIRST_STREET) / BLOCK)


def _settle(rng: np.random.Generator, index: int, offices: list[Place], spots: dict[str, list[Place]]) -> Person:
    """Give a person a home, an office, and one place of every kind, rather near than far."""
    home = _corner("home", rng.uniform(2 * BLOCK, SIDE - 2 * BLOCK, 2))
    work = offices[rng.integers(len(offices))]
    leisure = []
    for kind in rng.permutation(KINDS):
        base = work if kind == "cafe" else home
        pull = np.exp([-hypot(spot.x - base.x, spot.y - base.y) / (SIDE / 4) for spot in spots[kind]])
        leisure.append(spots[kind][rng.choice(len(pull), p=pull / pull.sum())])
    return Person(f"person-{index:03d}", home, work, tuple(leisure))


def _plan(rng: np.random.Generator, person: Person, weekend: bool) -> list[tuple[float, Place]]:
    """One day as (hour of departure, destination). It ends at home: the last departure is due by 23:00."""
    home, work = person.home, person.work
    taste = 1 / np.arange(1, len(person.leisure) + 1)

    def out() -> Place:
        return person.leisure[rng.choice(len(taste), p=taste / taste.sum())]

    plan = []
    if weekend:
        hour = rng.triangular(8.5, 10.5, 13.0)
        while hour < 21 and rng.random() < 0.85:
            plan.append((hour, out()))
            hour += rng.uniform(0.8, 2.2)
            if rng.random() < 0.5:
                plan.append((hour, home))
                hour += rng.uniform(0.5, 2.0)
        return [*plan, (min(hour, 23.0), home)]
    plan.append((rng.triangular(7.0, 8.0, 9.5), work))
    if rng.random() < 0.4:
        lunch = rng.triangular(11.75, 12.25, 13.0)
        cafe = next(place for place in person.leisure if place.name == "cafe")
        plan += [(lunch, cafe), (lunch + rng.uniform(0.5, 1.0), work)]
    leave = rng.triangular(16.0, 17.5, 19.0)
    if rng.random() < 0.4:
        plan.append((leave, out()))
        leave += rng.uniform(0.8, 1.8)
    plan.append((leave, home))
    if rng.random() < 0.35:
        plan += [(rng.triangular(19.5, 20.0, 21.0), out()), (rng.triangular(21.5, 22.5, 23.0), home)]
    return plan


def _way_points(rng: np.random.Generator, person: Person, days: int) -> Floats:
    """Break points (seconds, x, y) of the whole walk, between which the person moves straight and steadily."""
    here, now = person.home, 0.0
    points = [(now, here.x, here.y)]
    for day in range(days):
        for hour, there in _plan(rng, person, weekend=day % 7 >= 5):
            if there == here:
                continue
            # Up the street, along a cross street somewhere on the way, up the other street.
            turn = _street(here.y + rng.random() * (there.y - here.y))
            legs = (abs(turn - here.y), abs(there.x - here.x), abs(there.y - turn))
            speed = next(speed for longest, speed in MODES if sum(legs) <= longest) * rng.uniform(0.8, 1.2)
            now = max(now + HOUR / 6, (24 * day + hour) * HOUR)
            corners = ((here.x, here.y), (here.x, turn), (there.x, turn), (there.x, there.y))
            for (x, y), leg in zip(corners, (0.0, *legs), strict=True):
                now += leg / speed
                points.append((now, x, y))
            here = there
    return np.array(points).T


def _trace(rng: np.random.Generator, person: Person, days: int) -> Floats:
    """What the phone reports: rows seconds, x, y."""
    size = MINUTES_A_DAY * days
    moments, *walk = _way_points(rng, person, days)
    seconds = 60.0 * np.arange(size) + rng.integers(0, 41, size)
    knots = np.arange(0.0, 60.0 * size + DRIFT_EVERY, DRIFT_EVERY)

    def seen(along: Floats) -> Floats:
        truth: Floats = np.interp(seconds, moments, along)
        drift: Floats = np.interp(seconds, knots, rng.normal(0, DRIFT, knots.size))
        return truth + drift + rng.normal(0, JITTER, size)

    return np.stack([seconds, *map(seen, walk)])[:, ~_lost(rng, size)]


def _lost(rng: np.random.Generator, size: int) -> NDArray[np.bool_]:
    """Which of ``size`` minutes fall into a gap."""
    change = np.zeros(size + 1)
    for a_day, mean in GAPS:
        begin = rng.integers(0, size, rng.poisson(a_day * size / MINUTES_A_DAY))
        length = np.minimum(rng.exponential(mean, begin.size), LONGEST_GAP).astype(int)
        np.add.at(change, begin, 1)
        np.add.at(change, np.minimum(begin + length, size), -1)
    lost = np.cumsum(change)[:size] > 0
    lost[0] = False  # a person without any fix would be missing from the table
    return lost
