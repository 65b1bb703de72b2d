"""Stays: where a person was long enough to have been there on purpose, found in traces of any sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hideseek.model.regions import in_space
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.limits import refuse_if_too_large

MOMENT = 300  # seconds
A_DAY = 86_400 // MOMENT  # moments
REACH = 150.0  # metres from the middle of a stay within which the person stays
SHORTEST = 4  # moments that make a stay: twenty minutes
AWAY = 2  # moments elsewhere that do not end a stay: a wild fix, or a way around the house
SILENCE = A_DAY // 2  # moments without a fix that do not end a stay, if the person is seen there again
ROW = 200  # bytes that a fix in a moment takes


@dataclass(frozen=True)
class Moments:
    """Where people were in every five minutes in which they were seen, ordered by person and time.

    Attributes
    ----------
    user : (moments,) int array
        Whose it is.
    time : (moments,) int array
        Which five minutes since 1970.
    point : (3, moments) float array
        The middle of the fixes, in metres from the centre of the earth, where neither the date line nor a pole is
        special; the median, so that a wild fix counts little.
    visit : (moments,) bool array
        Whether the data say that the person stayed: it lies in a stretch of time.
    """

    user: IntArray
    time: IntArray
    point: FloatArray
    visit: BoolArray

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Stays:
    """Stretches of time near one point, in the order of :class:`Moments`.

    Attributes
    ----------
    start, end : (stays,) int array
        The first moment, and the one after the last.
    centre : (3, stays) float array
        The middle of its moments, in metres from the centre of the earth.
    of : (moments,) int array
        The stay that each moment is part of, -1 on the way.
    """

    start: IntArray
    end: IntArray
    centre: FloatArray
    of: IntArray

    def __len__(self) -> int:
        return len(self.start)


def moments_of(table: pd.DataFrame) -> Moments:
    """The moments of checked traces; a stretch of time fills all of its own, until ``finished_at``."""
    user = pd.factorize(table["user_id"].to_numpy(dtype=object), sort=True)[0].astype(np.int64)
    first = moment_of(table["tracked_at"])
    ends = table.get("finished_at", table["tracked_at"])
    repeats = np.maximum(1, moment_of(ends - pd.Timedelta(microseconds=1)) - first + 1)
    what = f"{int(repeats.sum())} places of people in five minutes each"
    refuse_if_too_large(ROW * int(repeats.sum()), what, "Use shorter traces.", parameter="traces")
    row = np.repeat(np.arange(len(first)), repeats)
    within = np.arange(len(row)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    points = in_space(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    columns = dict(zip("xyz", points[:, row], strict=True)) | {"visit": (ends > table["tracked_at"]).to_numpy()[row]}
    groups = pd.DataFrame({"user": user[row], "time": first[row] + within} | columns).groupby(["user", "time"])
    middle = groups[["x", "y", "z"]].median()
    whose, when = (middle.index.get_level_values(level).to_numpy() for level in ("user", "time"))
    return Moments(whose, when, middle.to_numpy().T, groups["visit"].any().to_numpy())


def moment_of(times: pd.Series[pd.Timestamp]) -> IntArray:
    """Which five minutes since 1970."""
    seconds = times.dt.tz_localize(None).to_numpy().astype("M8[s]")  # nanoseconds would end in the year 2262
    return np.asarray(seconds.astype(np.int64) // MOMENT)


def stays_of(moments: Moments) -> Stays:
    """The stays of every person, by one walk through time.

    A stay goes on while the person is within ``REACH`` of its middle. Up to ``AWAY`` moments elsewhere and up to
    ``SILENCE`` without any fix do not end it, if the person is seen there again. Twenty minutes make a stay, or less
    where the data say that it is one.
    """
    found: list[list[int]] = []
    begin, points = 0, moments.point.T.tolist()
    while begin < len(moments):
        members = one_stay(begin, moments.user, moments.time, points)
        long = moments.time[members[-1]] - moments.time[begin] + 1 >= SHORTEST
        if long or moments.visit[members].any():
            found.append(members)
            begin = members[-1] + 1
        else:
            begin += 1
    of = np.full(len(moments), -1, np.int64)
    for number, members in enumerate(found):
        of[members] = number
    start = moments.time[[members[0] for members in found]]
    end = moments.time[[members[-1] for members in found]] + 1
    centre = np.array([np.median(moments.point[:, members], axis=1) for members in found]).reshape(-1, 3).T
    return Stays(start, end, centre, of)


def one_stay(begin: int, user: IntArray, time: IntArray, points: list[list[float]]) -> list[int]:
    """The moments from this one on that are within ``REACH`` of their middle."""
    members = [begin]
    x, y, z = points[begin]
    for k in range(begin + 1, len(points)):
        last = members[-1]
        longest = SILENCE if k == last + 1 else AWAY
        if user[k] != user[last] or time[k] - time[last] - 1 > longest:
            break
        east, north, up = points[k]
        if (x - east) ** 2 + (y - north) ** 2 + (z - up) ** 2 <= REACH**2:
            members.append(k)
            share = 1 / len(members)
            x, y, z = x + share * (east - x), y + share * (north - y), z + share * (up - z)
    return members
