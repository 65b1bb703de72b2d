"""A day of a person as it was, as an app was told, and as the adversary concludes from what the app was told."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta, tzinfo

import numpy as np
import pandas as pd

from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.model.profile import drawn, regions_of
from hideseek.model.regions import Regions
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.playbook.playbook import Playbook
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.time_steps import checked_step

MOST_ACCESSES = 288  # that are shown: one every five minutes
KNOWN = 0.75  # of the hours of the best recorded day: a day with fewer is not shown
RECENT = 30  # days, of which one is shown
DRAWS = 5  # of what is exposed on it, of which one is shown
DAY = timedelta(days=1)


@dataclass(frozen=True, eq=False)
class ExposedDay:
    """A local ``date`` with its accesses, at ``minutes`` after midnight.

    By access: the ``true`` place, and whether it was ``recorded``; the one that is ``exposed``; and what the adversary
    then knows: the ``guess`` of least expected error, and the ``belief`` [access, place].
    """

    date: str
    minutes: FloatArray
    true: IntArray
    recorded: BoolArray
    exposed: IntArray
    guess: IntArray
    belief: FloatArray


def exposed_day(
    traces: pd.DataFrame,
    game: BeliefGame,
    playbook: Playbook,
    *,
    zone: tzinfo,
    sensitive: Collection[int] = (),
    seed: int = 0,
) -> ExposedDay:
    """Live one of the last days again, with an access at every step; nothing was exposed before it.

    It is a day of which nearly as many hours are recorded as of any: with a visit to a sensitive place, if there is
    one, and then with as many places as possible. What is exposed
    is drawn several times, and the draw in the middle is shown, by how often the adversary is right: at sensitive
    places, then anywhere.
    """
    length = checked_step(game.profile.step, "exposed_day")
    every = max(1, -(-DAY // (MOST_ACCESSES * length)))
    local = traces["tracked_at"].dt.tz_convert(zone).sort_values(kind="stable")
    fixes, starts = traces.loc[local.index], local.dt.normalize()
    place = place_of(regions_of(game.profile), fixes)
    lived = pd.DataFrame({"place": place, "sensitive": np.isin(place, list(sensitive)), "hour": local.dt.hour})
    worth = lived.groupby(starts.to_numpy()).agg(
        sensitive=("sensitive", "any"), hours=("hour", "nunique"), places=("place", "nunique")
    )[-RECENT:]
    worth["known"] = worth["hours"] >= KNOWN * worth["hours"].max()
    order = ["known", "sensitive", "places", "index"]
    start = pd.Timestamp(worth.reset_index().sort_values(order).iloc[-1]["index"])
    start = start.tz_localize("UTC").tz_convert(zone) if start.tz is None else start.tz_convert(zone)
    steps = pd.date_range(start, start + DAY, freq=every * length, inclusive="left")
    fix = np.searchsorted(local, steps + every * length) - 1
    true, recorded = place[np.maximum(fix, 0)], fix >= np.searchsorted(local, steps)
    generator, at_risk = np.random.default_rng(seed), np.isin(true, list(sensitive))
    draws = [followed(game, playbook, true, every, generator) for _ in range(DRAWS)]
    draws.sort(key=lambda draw: (np.sum((draw[1] == true) & at_risk), np.sum(draw[1] == true)))
    exposed, guess, belief = draws[DRAWS // 2]
    minutes = ((steps - start) / pd.Timedelta("1min")).to_numpy(np.float64)
    return ExposedDay(f"{start:%A, %-d %B %Y}", minutes, true, recorded, exposed, guess, belief)


def place_of(regions: Regions, fixes: pd.DataFrame) -> IntArray:
    """The place that holds each fix, or the nearest one."""
    points = fixes["latitude"].to_numpy(), fixes["longitude"].to_numpy()
    within = regions.locate(*points)
    return np.where(within < 0, regions.nearest(*points), within)


def followed(
    game: BeliefGame, playbook: Playbook, true: IntArray, every: int, generator: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """What is exposed at each access, what the adversary guesses, and the belief over the places."""
    places, metric = over_places(game)
    exposed, beliefs, standing = list[int](), list[FloatArray](), Standing.first(playbook)
    for place in true.tolist():
        table = playbook.play(standing).by_state
        release = drawn(table[game.states[:, -1] == place][:1], generator)
        standing = standing.exposed(playbook, table[None], release, log=playbook.follows_log)
        exposed.append(int(release[0]))
        beliefs.append(places @ standing.belief[0])
        standing = standing.later(playbook, every)
    shown = np.array(beliefs)
    return np.array(exposed), likeliest_guesses(metric, shown.T), shown
