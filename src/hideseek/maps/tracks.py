"""The tracks of people as lines: the streets of the map."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hideseek.maps.projection import UNIT, Projection, metres_per_world
from hideseek.util.arrays import BoolArray, FloatArray, IntArray

MOST_POINTS = 100_000  # on the page: about a megabyte, and drawn in a few hundredths of a second
FINEST = 2.0  # metres: closer points in a row are one
MISSING, USUAL = 900.0, 5.0  # seconds, and medians of the times between fixes: what is longer is a gap ...
MOVED = 300.0  # ... if the person is elsewhere after it, in metres
FASTEST = 100.0  # metres per second: what is faster is an error, or a flight
PERSONS = 6  # that have a colour of their own


@dataclass(frozen=True)
class Tracks:
    """Lines on the page: the person of each, and its points in units as x, y, then the steps from point to point.

    ``fixes`` is how many there were before thinning, ``metres`` how long the lines are on the ground.
    """

    persons: tuple[str, ...]
    lines: tuple[tuple[int, tuple[int, ...]], ...]
    fixes: int
    metres: float


def tracks_of(traces: pd.DataFrame, projection: Projection) -> Tracks:
    """The lines of checked traces, cut at gaps and thinned to at most ``MOST_POINTS`` points."""
    counts = traces["user_id"].value_counts()
    known = sorted(counts.index, key=lambda name: (-counts[name], name))
    person = pd.Categorical(traces["user_id"], known).codes.astype(np.int64)
    points = projection.units(traces["latitude"].to_numpy(), traces["longitude"].to_numpy())
    metres = metres_per_world(projection.latitude) * UNIT
    length = np.hypot(*np.diff(points, axis=0).T) * metres
    cut = (np.diff(person) != 0) | is_gap(traces, length)
    start = np.r_[True, cut]
    kept = thinned(points, start, FINEST / metres)
    line = np.cumsum(start)[kept]
    points, person = points[kept], person[kept]
    edges = np.flatnonzero(np.diff(line, prepend=0, append=line[-1] + 1))
    lines = tuple(
        (min(int(person[first]), PERSONS), steps(points[first:last])) for first, last in itertools.pairwise(edges)
    )
    return Tracks(tuple(map(str, known)), lines, len(traces), float(length[~cut].sum()))


def is_gap(traces: pd.DataFrame, metres: FloatArray) -> BoolArray:
    """Between which fixes nothing is known of the way: too long without one, or too far for any vehicle."""
    begin = traces["tracked_at"].to_numpy(dtype="M8[us]")
    end = traces["finished_at"].to_numpy(dtype="M8[us]") if "finished_at" in traces else begin
    seconds = np.maximum((begin[1:] - end[:-1]) / np.timedelta64(1, "s"), 0.0)
    usual = float(np.median(seconds[seconds > 0])) if (seconds > 0).any() else 0.0
    long = (seconds > max(MISSING, USUAL * usual)) & (metres > MOVED)
    return np.asarray(long | (metres > FASTEST * np.maximum(seconds, 1.0)))


def thinned(points: IntArray, start: BoolArray, finest: float) -> IntArray:
    """The points to keep: the first of those in a row that lie in one cell, with cells that grow until they are few.

    >>> thinned(np.array([[0, 0], [1, 0], [9, 0], [0, 0]]), np.array([True, False, False, False]), 4.0).tolist()
    [0, 2, 3]
    """
    ends = np.r_[start[1:], True]
    size = finest
    while True:
        cell = np.floor(points / size)
        kept = np.flatnonzero(start | ends | np.r_[True, (np.diff(cell, axis=0) != 0).any(axis=1)])
        if len(kept) <= MOST_POINTS:
            return kept
        if size > np.ptp(points, axis=0).max():  # more lines than points: the longest stay
            return longest(kept, start)
        size *= 1.5


def longest(kept: IntArray, start: BoolArray) -> IntArray:
    """The points of the lines that have the most of them."""
    line = np.cumsum(start)
    order = np.argsort(-np.bincount(line)[line[kept]], kind="stable")
    return np.sort(kept[order[:MOST_POINTS]])


def steps(points: IntArray) -> tuple[int, ...]:
    """A line as its first point and the steps from point to point, which are short numbers.

    >>> steps(np.array([[5, 5], [6, 4]]))
    (5, 5, 1, -1)
    """
    return tuple(np.diff(points, axis=0, prepend=np.zeros((1, 2), np.int64)).ravel().tolist())
