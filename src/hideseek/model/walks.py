"""Walks: traces as one place per step, which profiles are learned from."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.model.regions import Regions
from hideseek.traces.table import FINISHED, check_traces
from hideseek.util.arrays import IntArray
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.time_steps import checked_step

Walk = tuple[IntArray, IntArray]  # places, and the number of the step at which each was visited

STEP = 64  # bytes of memory for a step of a user, while the walks are put together


def walks_through(
    traces: pd.DataFrame, regions: Regions, step: str, owner: str, keep_places: bool = False
) -> tuple[list[int], list[Walk]]:
    """One place per step for every user: which regions are places, and the walks through them, renumbered.

    Places are the regions that were visited, or all of them.
    """
    table = check_traces(traces, owner)
    length = checked_step(step, owner)
    region = regions.locate(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    inside = region >= 0
    if not inside.any():
        way_out = "Take regions where the traces are, such as Grid.covering(traces), or --grid without --box."
        raise broken_rule("regions", owner, "around at least one fix", f"regions around none of {len(table)}", way_out)
    steps = filled(table.assign(region=region)[inside], length, owner)
    visited, place = np.unique(steps["region"], return_inverse=True)
    if keep_places:
        visited, place = np.arange(len(regions)), steps["region"].to_numpy()
    if len(visited) < 2:
        way_out = "Use smaller regions or more of the trace: somebody who never moves has nothing to hide by moving."
        raise broken_rule("traces", owner, "traces that visit two or more places", "one only", way_out)
    moments = steps["moment"].to_numpy(np.int64)
    walks = [(place[rows], moments[rows]) for rows in steps.reset_index(drop=True).groupby("user").indices.values()]
    return visited.tolist(), walks


def filled(table: pd.DataFrame, length: timedelta, owner: str) -> pd.DataFrame:
    """The region of every user in every step: of the first row in it; a stretch is in all steps until its end."""
    step = length // timedelta(microseconds=1)
    first = microseconds(table["tracked_at"]) // step
    steps = pd.DataFrame({"user": table["user_id"].to_numpy(), "moment": first, "region": table["region"].to_numpy()})
    if FINISHED not in table:
        return steps.drop_duplicates(["user", "moment"])
    last = np.maximum(first, (microseconds(table[FINISHED]) - 1) // step)
    # rows are in order of time: what rows before one have filled ends at the latest of their ends
    users = steps["user"]
    before = pd.Series(last).groupby(users, sort=False).cummax().groupby(users, sort=False).shift(fill_value=-1)
    first = np.maximum(first, before.to_numpy(np.int64) + 1)
    counts = np.maximum(0, last - first + 1)
    total = int(counts.sum())
    what = f"The 'traces' parameter of {owner}, of {total} steps,"
    refuse_if_too_large(STEP * total, what, "Use a longer step.", parameter="traces, step")
    rows = np.repeat(np.arange(len(steps)), counts)
    offset = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return steps.take(rows).assign(moment=first[rows] + offset)


def microseconds(times: pd.Series[Any]) -> IntArray:
    """Since 1970: nanoseconds end in the year 2262."""
    since: IntArray = times.dt.tz_localize(None).to_numpy().astype("M8[us]").astype(np.int64)
    return since


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
