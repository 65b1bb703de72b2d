"""Walks: traces as one place per step, which profiles are learned from."""

from __future__ import annotations

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.model.regions import Regions
from hideseek.traces.table import check_traces
from hideseek.util.arrays import IntArray
from hideseek.util.time_steps import checked_step

Walk = tuple[IntArray, IntArray]  # places, and the number of the step at which each was visited


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
        way_out = "See Grid.covering and Hexagons.covering."
        raise broken_rule("regions", owner, "around at least one fix", f"regions around none of {len(table)}", way_out)
    moment = (table["tracked_at"] - pd.Timestamp(0, tz="UTC")) // length
    steps = pd.DataFrame({"user": table["user_id"], "moment": moment, "region": region})[inside]
    steps = steps.drop_duplicates(["user", "moment"])
    visited, place = np.unique(steps["region"], return_inverse=True)
    if keep_places:
        visited, place = np.arange(len(regions)), steps["region"].to_numpy()
    if len(visited) < 2:
        way_out = "Use smaller regions or more of the trace: somebody who never moves has nothing to hide by moving."
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
