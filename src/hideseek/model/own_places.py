"""The places of one person, found in traces: where the person stays, and cells for the ways between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Protocol

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.model.geodesy import EARTH
from hideseek.model.regions import Regions, in_space, on_ground
from hideseek.model.stay_map import Disc, StayMap
from hideseek.model.stays import A_DAY, MOMENT, REACH, Moments, Stays, moments_of, stays_of
from hideseek.model.travel_cells import travel_cells
from hideseek.traces.table import check_traces
from hideseek.traces.timezones import local_zone
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.lengths import metres

RADIUS = 200.0  # metres around the centre of a place: the reach of stays, and what most fixes are wrong by
ROUNDS = 3  # in which the centre of a place moves to the middle of the stays around it
FEWEST, TENTH = 3, 10  # a place is stayed at on three days, or on a tenth of them where that is less
STAYING = 0.5  # the share of the time at a place that is stays: others are streets with traffic lights, or cab ranks
ABOUT, MOST = 30, 1_000  # places that can be asked for
NIGHT, WORKING = (0, 6), (9, 17)  # hours of the local day
FEW_DAYS = 7  # fewer do not show a week
FAR_BELOW = 5  # a budget this many times smaller than a place is wide allows 1 / 25 of moves by one place
ENOUGH = 0.1  # the share of all stays in these hours that a home, or a workplace, has


class SensitiveArea(Protocol):
    """A place that its person calls sensitive."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def latitude(self) -> float:
        """Degrees north."""
        ...

    @property
    def longitude(self) -> float:
        """Degrees east."""
        ...

    @property
    def radius(self) -> float:
        """Metres around it that belong to it."""
        ...


@dataclass(frozen=True)
class StayedAt:
    """A place and the stays there."""

    centre: FloatArray
    stays: IntArray
    time: int


@checked
def places_of(
    traces: pd.DataFrame,
    *,
    about: int = ABOUT,
    finest: float | str = "150m",
    timezone: str | None = None,
    sensitive: Sequence[SensitiveArea] = (),
) -> StayMap:
    """The places of a person: where the person stays, and cells between them.

    Stays of twenty minutes or more are gathered to places; those that the person returns to become discs. Home has
    the most time at night, work the most in working hours. All other fixes fall into tiles of the map, small where
    the person often is. The same fixes give the same places, in whatever order they come.

    Parameters
    ----------
    traces : pandas.DataFrame
        The fixes of a person, as :func:`hideseek.read_traces` gives them.
    about : int
        How many places, to within a fifth where the person goes to so many; sensitive ones come on top.
    finest : float or str
        No place is narrower, such as "150m"; sensitive ones are as wide as they are said to be.
    timezone : str, optional
        The IANA name of the person's time zone; by default see :func:`hideseek.traces.timezones.local_zone`.
    sensitive : sequence
        Places with a name, a latitude, a longitude and a radius in metres; each becomes a place of its own.

    Returns
    -------
    StayMap
        Sensitive places first, then home, work and other stays, then cells.

    Raises
    ------
    ParameterError
        Where the traces, or a parameter, break a rule.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> places = places_of(synthetic_city(people=1, days=14))
    >>> places.names[:3], 15 <= len(places) <= 40
    (('home', 'work', 'place 3'), True)
    """
    owner = "places_of"
    table = check_traces(traces, owner)
    about = whole_number(about, "about", owner, least=2, most=MOST)
    width = metres(finest, "finest", owner)
    if width < 1:
        raise broken_rule("finest", owner, "a length of a metre or more", repr(finest))
    zone, _ = local_zone(table, timezone)
    areas = [
        Disc(str(area.name), latitude=area.latitude, longitude=area.longitude, radius=area.radius) for area in sensitive
    ]
    return found_places(moments_of(table), about, width, zone, areas)


def found_places(moments: Moments, about: int, width: float, zone: tzinfo, areas: list[Disc]) -> StayMap:
    """Sensitive areas, stays and cells."""
    stays, radius = stays_of(moments), max(RADIUS, width / 2)
    found = stayed_at(moments, stays, max(REACH, width / 2), areas)[: about // 2]
    names = names_by_hours(found, stays, zone)
    centres = on_ground(np.array([place.centre for place in found]).reshape(-1, 3).T)
    discs = areas + [
        Disc(name, latitude=latitude, longitude=longitude, radius=radius)
        for name, (latitude, longitude) in zip(names, centres.tolist(), strict=True)
    ]
    points = on_ground(moments.point)
    tiles = travel_cells(points[ways(stays, discs)], max(about - len(found), 1), width)
    if not discs and not tiles:
        raise broken_rule("traces", "places_of", "on the map, which ends at 85 degrees north and south", "none there")
    whole = StayMap(tuple(discs), tiles)
    seen = set(whole.locate(*points.T).tolist())
    return StayMap(whole.discs, tuple(tile for k, tile in enumerate(tiles, start=len(discs)) if k in seen))


def stayed_at(moments: Moments, stays: Stays, reach: float, taken: Sequence[Disc]) -> list[StayedAt]:
    """The places that a person returns to and stays at, the one with the most time first.

    The longest stay that is left makes a place with all stays within reach, whose centre is their middle by time.
    """
    time = stays.end - stays.start
    left = ~held(stays.centre, taken)
    fewest = min(FEWEST, -(-len(np.unique(moments.time // A_DAY)) // TENTH))
    places = []
    while left.any():
        seed = int(np.where(left, time, -1).argmax())
        own = left & within(stays.centre, stays.centre[:, seed], reach)
        for _ in range(ROUNDS):
            centre = np.average(stays.centre[:, own], weights=time[own], axis=1)
            own = left & within(stays.centre, centre, reach)
        left &= ~own
        left[seed] = False
        here = within(moments.point, centre, reach)
        if len(days_of(stays, own)) >= fewest and (stays.of[here] >= 0).mean() >= STAYING:
            places.append(StayedAt(centre, np.flatnonzero(own), int(time[own].sum())))
    return sorted(places, key=lambda place: (-place.time, *place.centre))


def days_of(stays: Stays, chosen: BoolArray) -> set[int]:
    """The days (UTC) that some stays touch: a night counts as two."""
    spans = zip(stays.start[chosen] // A_DAY, (stays.end[chosen] - 1) // A_DAY, strict=True)
    return {int(day) for first, last in spans for day in range(first, last + 1)}


def within(points: FloatArray, centre: FloatArray, radius: float) -> BoolArray:
    """Which points, [axis, point], are near."""
    near: BoolArray = ((points - centre[:, None]) ** 2).sum(axis=0) <= radius**2
    return near


def held(points: FloatArray, discs: Sequence[Disc]) -> BoolArray:
    """Which points, [axis, point], are in some disc."""
    inside = np.zeros(points.shape[1], np.bool_)
    for disc in discs:
        inside |= within(points, in_space(np.array([disc.latitude]), np.array([disc.longitude]))[:, 0], disc.radius)
    return inside


def ways(stays: Stays, discs: Sequence[Disc]) -> BoolArray:
    """Which moments are not part of a stay in a disc.

    Passing by a disc counts: whether a place is one or not, on these days or on those, changes the cells little.
    """
    return ~np.append(held(stays.centre, discs), False)[stays.of]


def names_by_hours(places: list[StayedAt], stays: Stays, zone: tzinfo) -> list[str]:
    """Home, work and numbers; the places are put into this order."""
    night, working = (hours_at(places, stays, zone, hours, weekdays) for hours, weekdays in ((NIGHT, 7), (WORKING, 5)))
    named: dict[int, str] = {}
    for name, hours in (("home", night), ("work", working)):
        free = np.where([k in named for k in range(len(places))], 0, hours[:-1])
        if free.size and free.max() > ENOUGH * hours.sum():
            named[int(free.argmax())] = name
    order = [*named, *(k for k in range(len(places)) if k not in named)]
    places[:] = [places[k] for k in order]
    return [named.get(k, f"place {position}") for position, k in enumerate(order, start=1)]


def hours_at(places: list[StayedAt], stays: Stays, zone: tzinfo, hours: tuple[int, int], weekdays: int) -> IntArray:
    """Moments of stays within some hours of the first days of the week, [place], and at last those of all others."""
    where = np.full(len(stays), len(places))
    for number, place in enumerate(places):
        where[place.stays] = number
    length = stays.end - stays.start
    stay = np.repeat(np.arange(len(stays)), length)
    time = np.arange(len(stay)) + np.repeat(stays.start - (np.cumsum(length) - length), length)
    local = pd.DatetimeIndex((MOMENT * time).astype("M8[s]"), tz="UTC").tz_convert(zone)
    counted = (local.hour >= hours[0]) & (local.hour < hours[1]) & (local.day_of_week < weekdays)
    return np.bincount(where[stay[counted]], minlength=len(places) + 1)


@checked
@dataclass(frozen=True)
class Coverage:
    """What places cover of traces.

    Attributes
    ----------
    places : int
        How many.
    smallest, median, largest : float, optional
        The sides of squares as large as the places, in metres; None where places are points.
    fixes : int
        How many fixes there are.
    outside : float
        The share of them that lies in no place.
    hours : float
        How long the person was seen: five minutes for each five with a fix, or within a stretch of time.
    days : int
        The local days on which the person was seen.
    """

    places: int
    smallest: float | None
    median: float | None
    largest: float | None
    fixes: int
    outside: float
    hours: float
    days: int

    def __str__(self) -> str:
        sizes = ""
        if self.smallest is not None and self.median is not None and self.largest is not None:
            span = f"{length(self.smallest)} to {length(self.largest)} wide (median {length(self.median)})"
            alike = length(self.smallest) == length(self.largest)
            sizes = f", about {length(self.median)} wide" if alike else f", {span}"
        outside = f"{100 * self.outside:.2g} % of {self.fixes} fixes outside"
        return f"{self.places} places{sizes}; {outside}; {self.hours:.0f} hours on {self.days} days covered"


def length(metres: float) -> str:
    """A length for people.

    >>> length(150.4), length(2446.0)
    ('150 m', '2.4 km')
    """
    return f"{metres:.0f} m" if metres < 999.5 else f"{metres / 1000:.1f} km"


@checked
def coverage(traces: pd.DataFrame, regions: Regions, *, timezone: str | None = None) -> Coverage:
    """What places cover of traces.

    Parameters
    ----------
    traces : pandas.DataFrame
        The fixes of a person, as :func:`hideseek.read_traces` gives them.
    regions : Regions
        The places.
    timezone : str, optional
        The IANA name of the time zone by which days are counted; by default that of
        :func:`hideseek.traces.local_zone`.

    Returns
    -------
    Coverage
        How many places and how large, the share of fixes outside them, and the time in which the person was seen.

    Raises
    ------
    ParameterError
        Where the traces break a rule.

    Examples
    --------
    >>> from hideseek.model.regions import Grid
    >>> from hideseek.traces.city import BOX, synthetic_city
    >>> print(coverage(synthetic_city(people=1, days=2), Grid(*BOX, rows=8, columns=8)))
    64 places, about 1.0 km wide; 0 % of ... fixes outside; ... hours on 2 days covered
    """
    table = check_traces(traces, "coverage")
    place = regions.locate(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    moments, widths = moments_of(table), widths_of(regions)
    zone, _ = local_zone(table, timezone)
    local = pd.DatetimeIndex((MOMENT * np.unique(moments.time)).astype("M8[s]"), tz="UTC").tz_convert(zone)
    smallest, median, largest = (float(of(widths)) for of in (np.min, np.median, np.max)) if len(widths) else [None] * 3
    return Coverage(
        places=len(regions),
        smallest=smallest,
        median=median,
        largest=largest,
        fixes=len(table),
        outside=float((place < 0).mean()),
        hours=len(moments) * MOMENT / 3600,
        days=local.normalize().nunique(),
    )


def widths_of(regions: Regions) -> FloatArray:
    """The sides of squares as large as the places, in metres, [place]; none where the places are points."""
    outlines = regions.outlines
    if len(outlines[0]) == 1:
        return np.zeros(0)
    areas = [EARTH.polygon_area_perimeter(corners[:, 1], corners[:, 0])[0] for corners in outlines]
    return np.sqrt(np.abs(areas))


@checked
def coverage_warnings(covered: Coverage) -> list[str]:
    """What speaks against relying on what was learned, in sentences.

    Parameters
    ----------
    covered : Coverage
        What the places cover; see :func:`coverage`.

    Returns
    -------
    list of str
        One sentence for each reason; none where all is well.

    Examples
    --------
    >>> covered = Coverage(30, smallest=200.0, median=900.0, largest=5e3, fixes=9000, outside=0.0, hours=70.0, days=3)
    >>> coverage_warnings(covered)
    ['3 days are too few to learn habits from: traces of a week or more show where somebody lives and works.']
    """
    if covered.days >= FEW_DAYS:
        return []
    few = "1 day is" if covered.days == 1 else f"{covered.days} days are"
    week = "traces of a week or more show where somebody lives and works"
    return [f"{few} too few to learn habits from: {week}."]


@checked
def narrow_budget(regions: Regions, budget: float | str) -> list[str]:
    """What speaks against a budget that is far below the width of a place, in a sentence.

    Parameters
    ----------
    regions : Regions
        The places.
    budget : float or str
        The displacement that is allowed, in metres or such as "500m".

    Returns
    -------
    list of str
        The sentence, or none where the budget is wide enough or the places are points.

    Raises
    ------
    ParameterError
        Where the budget is no length.

    Examples
    --------
    >>> from hideseek.model.regions import Grid
    >>> narrow_budget(Grid(46.5, 46.6, 6.5, 6.6, rows=10, columns=10), "100m")
    ['A budget of 100 m is far below the width of a place (median 923 m): nearly every release will be the true place.']
    """
    allowed, widths = metres(budget, "budget", "narrow_budget"), widths_of(regions)
    if not len(widths) or FAR_BELOW * allowed >= np.median(widths):
        return []
    width, says = f"the width of a place (median {length(float(np.median(widths)))})", "nearly every release will be"
    return [f"A budget of {length(allowed)} is far below {width}: {says} the true place."]
