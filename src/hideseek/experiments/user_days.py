"""Users of a data set, and one day of each as a chain of places: whom an evaluation is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.model.clock import DAY
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import STEP
from hideseek.model.regions import Grid, Regions
from hideseek.traces.city import BOX
from hideseek.traces.table import check_traces
from hideseek.util.checks import whole_number
from hideseek.util.time_steps import checked_step

BAY = Grid(south=37.55, north=37.85, west=-122.55, east=-122.10, rows=10, columns=25)
CITY = Grid(*BOX, rows=10, columns=25)
PACIFIC = "-7h"  # San Francisco's clock from UTC in May and June of 2008, when the cabs were followed
COVERED = 0.8  # of the steps of a day must have a fix in the box


@dataclass(frozen=True, eq=False)
class UserDay:
    """A user's day as a chain of places, and how many of its steps have a fix."""

    user: str
    profile: MarkovProfile
    covered: int


def ahead_of_utc(clock: str, owner: str) -> pd.Timedelta:
    """How far a clock is ahead of UTC."""
    ahead = pd.to_timedelta(clock, errors="coerce")
    if pd.isna(ahead) or abs(ahead) > DAY:
        raise broken_rule("clock", owner, 'a time difference of a day at most, such as "-7h"', repr(clock))
    return ahead


def steps_a_day(step: str, owner: str) -> int:
    """How many time steps of this length a day has.

    >>> steps_a_day("5min", "study")
    288
    """
    return int(DAY / checked_step(step, owner))


def days_of(
    traces: pd.DataFrame, regions: Regions, clock: str, owner: str, cells: int = 2, step: str = STEP
) -> list[UserDay]:
    """The best covered day of every user with a fix in the regions in 80 % of its steps, in so many of them or more."""
    table, needed = check_traces(traces, owner), COVERED * steps_a_day(step, owner)
    local = table["tracked_at"] + ahead_of_utc(clock, owner)
    cell = regions.locate(table["latitude"].to_numpy(), table["longitude"].to_numpy())
    days = pd.DataFrame(
        {
            "user": table["user_id"],
            "day": local.dt.floor(DAY),
            "step": local.dt.floor(checked_step(step, owner)),
            "cell": cell,
        }
    )
    known = days[cell >= 0].drop_duplicates(["user", "step"]).groupby(["user", "day"])["cell"].agg(["size", "nunique"])
    steps = known.loc[(known["size"] >= needed) & (known["nunique"] >= cells), "size"]
    best = steps.sort_values(ascending=False, kind="stable").reset_index("day").groupby("user").head(1).sort_index()
    fixes = days.groupby(["user", "day"]).indices
    return [
        UserDay(user, MarkovProfile.fit(table.iloc[fixes[user, day]], regions, step=step), int(size))
        for user, day, size in best.itertuples()
    ]


def drawn_from(candidates: Sequence[UserDay], users: int, seed: int, owner: str, cells: int = 2) -> list[UserDay]:
    """Some of the users who can be, by the seed."""
    users, seed = whole_number(users, "users", owner), whole_number(seed, "seed", owner, least=0)
    if users > len(candidates):
        rule = f"at most {len(candidates)}, the users with a day that covers {COVERED:.0%} of its steps in the regions"
        rule += f", in {cells} cells or more"
        raise broken_rule("users", owner, rule, users, "Ask for fewer, or lay the regions where they are.")
    return [candidates[k] for k in np.random.default_rng(seed).choice(len(candidates), users, replace=False)]
