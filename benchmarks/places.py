"""How good the places are that ``places_of`` finds: two numbers per person, for a folder of traces and for a city.

python -m benchmarks.places                       ten synthetic people over four weeks
python -m benchmarks.places cabs/ --people 12     the first twelve people of a folder of traces

Near: the share of the time of the stays at a place that is within 300 m of the place's centre, from fix to fix; and
the same share of the time of all stays, those included that were too rare to become a place of their own.
Agree: places are learned from the even days and from the odd ones, and both put every five minutes of all days
somewhere: the adjusted Rand index of the two. With --seed, from two random halves of the days.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from itertools import islice

import numpy as np
import numpy.typing as npt
import pandas as pd
from pyproj import Geod

from hideseek.cli.terminal import print_table
from hideseek.errors import TraceWarning
from hideseek.model.own_places import places_of
from hideseek.model.regions import in_space, on_ground
from hideseek.model.stay_map import StayMap
from hideseek.model.stays import REACH, Moments, Stays, moment_of, moments_of, stays_of
from hideseek.traces.city import synthetic_city
from hideseek.traces.reading import read_traces
from hideseek.traces.timezones import local_zone

NEAR = 300.0  # metres
EARTH = Geod(ellps="WGS84")
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """What was found of one person."""

    places: int
    stays: int
    staying: float
    near: float
    near_all: float
    agree: float


def measured(traces: pd.DataFrame, timezone: str | None = None, seed: int | None = None) -> Measured:
    """The numbers of one person."""
    places, moments = places_of(traces, timezone=timezone), moments_of(traces)
    stays = stays_of(moments)
    zone, _ = local_zone(traces, timezone)
    halves = [places_of(half, timezone=timezone) for half in two_halves(traces, zone, seed)]
    points = on_ground(moments.point).T
    first, second = (half.locate(*points) for half in halves)
    return Measured(
        len(places),
        int(places.is_stay.sum()),
        float((stays.of >= 0).mean()),
        *nearness(traces, moments, places),
        adjusted_rand_index(first, second),
    )


def two_halves(traces: pd.DataFrame, zone: tzinfo, seed: int | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The fixes of the even days of the local calendar and those of the odd ones, or of random halves of the days."""
    day = traces["tracked_at"].dt.tz_convert(zone).dt.tz_localize(None).to_numpy().astype("M8[D]").astype("int64")
    days = np.unique(day)
    even = day % 2 == 0
    if seed is not None:
        even = np.isin(day, np.random.default_rng(seed).permutation(days)[: len(days) // 2])
    return traces[even], traces[~even]


def nearness(traces: pd.DataFrame, moments: Moments, places: StayMap) -> tuple[float, float]:
    """The share of the time of the stays at stay places, and of all stays, near the centre of the place it is put in.

    A stay is at the place that holds its middle. The time from one fix of a stay to the next is put where the first is.
    """
    stays = stays_of(moments)
    of = pd.Series(stays.of, index=pd.MultiIndex.from_arrays([moments.user, moments.time]))
    user = pd.factorize(traces["user_id"], sort=True)[0]
    stay = of.loc[pd.MultiIndex.from_arrays([user, moment_of(traces["tracked_at"])])].to_numpy()
    own = begun_and_not_ended(traces[stay >= 0].assign(stay=stay[stay >= 0]), stays)
    until = own.groupby("stay")["tracked_at"].shift(-1).fillna(own["tracked_at"])
    seconds = np.asarray((until - own["tracked_at"]).dt.total_seconds(), dtype=np.float64)
    latitude, longitude = own[["latitude", "longitude"]].to_numpy().T
    place = places.locate(latitude, longitude)
    centre = places.centres[place].T
    near = (EARTH.inv(longitude, latitude, centre[1], centre[0])[2] <= NEAR) & (place >= 0)
    middle = places.locate(*on_ground(stays.centre).T)
    at_place = ((middle >= 0) & places.is_stay[middle])[own["stay"]]
    return share(near[at_place], seconds[at_place]), share(near, seconds)


def begun_and_not_ended(own: pd.DataFrame, stays: Stays) -> pd.DataFrame:
    """From the first fix of each stay that is within its reach to the last one: five minutes begin on the way."""
    latitude, longitude = own[["latitude", "longitude"]].to_numpy().T
    away = in_space(latitude, longitude) - stays.centre[:, own["stay"]]
    there = pd.Series((away**2).sum(axis=0) <= REACH**2, index=own.index).groupby(own["stay"])
    return own[there.cummax() & there.transform(lambda one: one[::-1].cummax()[::-1])]


def share(chosen: npt.NDArray[np.bool_], weight: npt.NDArray[np.float64]) -> float:
    """The share of the weight that is chosen; all of nothing."""
    return float(weight[chosen].sum() / weight.sum()) if weight.sum() else 1.0


def adjusted_rand_index(first: Labels, second: Labels) -> float:
    """How much two labellings agree on which pairs belong together: 1 where they do on all, 0 as by chance.

    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([5, 5, 3, 3]))
    1.0
    """
    table = pd.crosstab(first, second).to_numpy()
    both, rows, columns = (pairs(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / pairs(np.array([len(first)]))
    return float((both - chance) / ((rows + columns) / 2 - chance)) if rows + columns > 2 * chance else 1.0


def pairs(counts: npt.NDArray[np.int64]) -> float:
    """How many pairs lie within groups of these sizes."""
    return float((counts * (counts - 1) / 2).sum())


def people_of(data: str | None, people: int) -> Iterator[pd.DataFrame]:
    """The traces of one person after the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        traces = synthetic_city(people=people, days=28, seed=1) if data is None else read_traces(data)
    for _, own in islice(traces.groupby("user_id", sort=True), people):
        yield own.reset_index(drop=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="a folder of traces; by default a synthetic city")
    parser.add_argument("--people", type=int, default=10, help="how many of them")
    parser.add_argument("--timezone", help="the IANA name of their time zone")
    parser.add_argument("--seed", type=int, help="random halves of the days, by this seed; by default even and odd")
    options = parser.parse_args()
    found = [measured(own, options.timezone, options.seed) for own in people_of(options.data, options.people)]
    rows = [
        [str(k), str(one.places), str(one.stays), *(f"{100 * x:.1f} %" for x in (one.staying, one.near, one.near_all)),
         f"{one.agree:.3f}"]
        for k, one in enumerate(found, start=1)
    ]  # fmt: skip
    lowest = (f"{100 * min(x):.1f} %" for x in ([one.near for one in found], [one.near_all for one in found]))
    rows.append(["lowest", "", "", "", *lowest, f"{min(one.agree for one in found):.3f}"])
    header = ["person", "places", "stays", "time in stays", "near, at places", "near, all stays", "agree"]
    print_table("Places of a person", header, rows)


if __name__ == "__main__":
    main()
