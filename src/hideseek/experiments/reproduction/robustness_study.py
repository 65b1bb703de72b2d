"""What a certified privacy is worth when people do not move as their profile says.

A profile is learned from a few days, the best mechanism for it is made, and other days are exposed through it. On those
days two adversaries guess: one knows the profile that the mechanism was made for, the other learned one from the very
days that are attacked. Both guess from each release alone, and from every release so far. The claim is their expected
error if people moved as the profile says. All profiles of a user are over the same places, those of all days: a
place that was not visited on the days of a profile is a rare one in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import stdtrit

from hideseek.adversary.filtering import forward
from hideseek.adversary.guesses import likeliest_guesses
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.through_time import Adversary, estimates
from hideseek.errors import ParameterError, broken_rule
from hideseek.experiments.user_days import ahead_of_utc
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.metrics.metric import Metric, over_places
from hideseek.metrics.of_places import distance, squared
from hideseek.model.clock import DAY
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import STEP, drawn
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.model.walks import Walk, moves_of, walks_through
from hideseek.solvers.dispatch import solve
from hideseek.traces.table import check_traces
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.progress import Advance
from hideseek.util.time_steps import checked_step
from hideseek.util.workers import worker_count

SMOOTHING = 0.05  # share of the moves of a profile that may go anywhere: new days bring new places
SHARE = 0.2  # of the saturating budget
DRAWS, CLAIMED = 10, 288  # releases of every attacked day; the same many walks, so long, for a claim
FULLEST = 0.5  # share of its steps that a day must cover to be learned from or attacked


class Left(NamedTuple):
    """What is left of a claim, under one adversary: see :func:`robustness`."""

    user: str
    days: int
    claimed: float
    adversary: str
    memory: str
    privacy: float
    low: float
    high: float
    lost: float
    quality_loss: float
    budget: float


@checked
def robustness(
    traces: pd.DataFrame,
    regions: Regions,
    *,
    days: Sequence[int] = (1, 2, 4, 8),
    attacked: int = 5,
    step: str = STEP,
    clock: str = "0h",
    seed: int = 0,
    workers: int | None = None,
    progress: Advance | None = None,
) -> pd.DataFrame:
    """The privacy that was claimed, and what is left of it on days that the profile was not learned from.

    For every user, the last full days are attacked; users with too few of them, or who never move, are left out.

    Parameters
    ----------
    traces, regions : DataFrame, Regions
        As :func:`hideseek.read_traces` gives them, and the places.
    days, attacked : sequence of int, int
        Numbers of days to learn a profile from, and of later days to attack.
    step, clock : str
        Length of a time step, and how far the clock by which days begin is ahead of UTC.
    seed, workers, progress : optional
        Which releases are drawn; processes (default: one per core); called with what, how much, and of how much.

    Returns
    -------
    DataFrame
        One row per profile and adversary, who knows "the same" profile or one learned from "the attacked" days, with
        the ``memory`` of "one" release or of "all". ``privacy`` is the average error in metres, with its 95 % interval
        over the days; ``claimed`` the expected error if the user moved like the profile and the adversary knew it;
        ``lost`` the share of it that is gone; ``quality_loss`` that of those days, in square metres, of the ``budget``.

    Raises
    ------
    ParameterError
        If a value breaks its rule, or the traces lack a column; a user who cannot be used is left out instead.

    Examples
    --------
    >>> from hideseek.model.regions import Grid
    >>> from hideseek.traces.city import synthetic_city
    >>> city = synthetic_city(people=1, days=6)
    >>> found = robustness(city, Grid.covering(city, rows=6, columns=6), days=(1, 2), attacked=2, workers=1)
    >>> found.groupby("days").size().tolist()
    [4, 4]
    """
    days, workers = numbers_of_days(days), worker_count(workers, "robustness")
    refuse_broken_rules(attacked, step, seed)
    users = traces_by_user(traces, clock)
    tasks = (delayed(of_user)(own, regions, days, attacked, step, seed) for own in users)
    found: list[list[Left]] = []
    for rows in Parallel(workers, return_as="generator")(tasks):
        found.append(rows)
        if progress is not None:
            progress("robustness", len(found), len(users))
    return pd.DataFrame([row for rows in found for row in rows], columns=list(Left._fields))


def refuse_broken_rules(attacked: int, step: str, seed: int) -> None:
    """Refuse now what would be refused for every user."""
    whole_number(attacked, "attacked", "robustness", least=2)
    whole_number(seed, "seed", "robustness", least=0)
    checked_step(step, "robustness")


def traces_by_user(traces: pd.DataFrame, clock: str) -> list[pd.DataFrame]:
    """The traces of each user, by the clock by which days begin."""
    table = check_traces(traces, "robustness")
    local = table.assign(tracked_at=table["tracked_at"] + ahead_of_utc(clock, "robustness"))
    return [own for _, own in local.groupby("user_id")]


def numbers_of_days(days: Sequence[int]) -> list[int]:
    """The numbers of days, in growing order."""
    if not days:
        raise broken_rule("days", "robustness", "at least one number of days", "none")
    return sorted({whole_number(count, "days", "robustness") for count in days})


def kept_of_claim(found: pd.DataFrame) -> pd.DataFrame:
    """What is left of the claim on average over users, with 95 % confidence intervals where there are several.

    >>> frame = pd.DataFrame([("a", 1, "the same", "one", 0.5), ("b", 1, "the same", "one", 0.25)])
    >>> frame.columns = ["user", "days", "adversary", "memory", "lost"]
    >>> kept_of_claim(frame)[["mean", "low", "high"]].round(3).values.tolist()
    [[0.625, -0.963, 2.213]]
    """
    groups = (
        found.assign(kept=1 - found["lost"])
        .groupby(["days", "adversary", "memory"])["kept"]
        .agg(["mean", "std", "count"])
        .reset_index()
    )
    off = stdtrit(np.maximum(groups["count"] - 1, 1), 0.975) * groups["std"].fillna(0) / np.sqrt(groups["count"])
    return groups.assign(low=groups["mean"] - off, high=groups["mean"] + off).drop(columns="std")


def of_user(
    traces: pd.DataFrame, regions: Regions, days: Sequence[int], attacked: int, step: str, seed: int
) -> list[Left]:
    """The rows of one user; none where there are too few full days."""
    try:
        visited, (walk,) = walks_through(traces, regions, step, "robustness")
    except ParameterError:  # never in the regions, or always in one
        return []
    steps = DAY // pd.Timedelta(step)
    number, count = np.unique(walk[1] // steps, return_counts=True)
    full = number[count >= FULLEST * steps]
    if len(full) < max(days) + attacked:
        return []
    metres = distance(regions.keep(visited))
    generator = np.random.default_rng(seed)
    tested = [on_days(walk, full[[k]], steps)[0] for k in range(-attacked, 0)]
    better = learned(on_days(walk, full[-attacked:], steps), len(visited), step)
    rows: list[Left] = []
    for many in days:
        own = learned(on_days(walk, full[-attacked - many : -attacked], steps), len(visited), step)
        game = Game.from_scenario(own, Scenario.sporadic(), privacy=metres, quality=squared(metres))
        budget = SHARE * game.saturation
        solution = solve(game.with_budget(budget))
        table = solution.mechanism.table
        pairs = [(day, drawn(np.tile(table[day], (DRAWS, 1, 1)), generator)) for day in tested]
        d_q = game.cost / game.mass[:, None]
        loss = float(np.mean([(table[day] * d_q[day]).sum(axis=1).mean() for day in tested]))
        run = Run(solution.mechanism, own, privacy=metres, accesses=CLAIMED, owner="robustness")
        claims = {
            "one": solution.privacy,
            "all": float(estimates(run, [Adversary.FILTER], walks=DRAWS)[Adversary.FILTER]),
        }
        for adversary, knows in (("the same", own), ("the attacked", better)):
            for memory, errors in (
                ("one", [error_alone(solution.mechanism, knows, metres, day) for day in tested]),
                ("all", [error_of_filter(solution.mechanism, knows, metres, *pair) for pair in pairs]),
            ):
                privacy, claimed = float(np.mean(errors)), claims[memory]
                off = float(stdtrit(attacked - 1, 0.975) * np.std(errors, ddof=1) / attacked**0.5)
                lost = 1 - privacy / claimed if claimed else 0.0
                who = (traces["user_id"].iloc[0], many, claimed, adversary, memory)
                rows.append(Left(*who, privacy, privacy - off, privacy + off, lost, loss, budget))
    return rows


def on_days(walk: Walk, days: IntArray, steps: int) -> Walk:
    """The part of a walk on some days."""
    place, moment = walk
    own = np.isin(moment // steps, days)
    return place[own], moment[own]


def learned(walk: Walk, places: int, step: str) -> MarkovProfile:
    """A profile over all places of a user, also those that were not visited on the days it is learned from."""
    counts = np.zeros((places, places))
    np.add.at(counts, tuple(moves_of(walk, 1, close=True).T), 1.0)
    anywhere = 1 + np.bincount(walk[0], minlength=places)
    visits = counts.sum(axis=1, keepdims=True)
    moves = np.divide(counts, visits, out=np.zeros_like(counts), where=visits > 0)
    share = np.where(visits > 0, SMOOTHING, 1.0)
    return MarkovProfile.from_matrix((1 - share) * moves + share * anywhere / anywhere.sum(), step=step)


def error_alone(mechanism: Mechanism, profile: MarkovProfile, privacy: Metric, day: IntArray) -> float:
    """The average error on a day of an adversary who guesses from each release alone, by the profile.

    An optimal table leaves several guesses that are equally good by the profile, and not so on the day: the likeliest
    is taken.
    """
    d_p = over_places(privacy, profile.places)
    guess = likeliest_guesses(d_p, profile.stationary[:, None] * mechanism.table)
    return float((mechanism.table[day] * d_p[guess][:, day].T).sum(axis=1).mean())


def error_of_filter(
    mechanism: Mechanism, profile: MarkovProfile, privacy: Metric, day: IntArray, exposed: IntArray
) -> float:
    """The average error on a day of an adversary who remembers every release so far, by the profile."""
    run = Run(mechanism, profile, privacy=privacy, accesses=len(day), owner="robustness")
    read = forward(run, exposed)
    d_p = over_places(privacy, profile.places)
    guesses = [likeliest_guesses(d_p, run.about(n, belief)) for n, belief in enumerate(read.filtered)]
    return float(np.mean(d_p[guesses, day[:, None]]))
