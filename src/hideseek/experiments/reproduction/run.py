"""From traces to the paper's results: one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from hideseek.errors import broken_rule
from hideseek.experiments.reproduction.findings import Reproduction
from hideseek.experiments.reproduction.numbers import (
    BUDGETS,
    COMPARED,
    location_rows,
    predictability,
    program_rows,
    sporadic_rows,
    transition_rows,
)
from hideseek.experiments.user_days import UserDay, days_of, drawn_from
from hideseek.model.profile import STEP
from hideseek.model.regions import Regions
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar
from hideseek.util.progress import Advance
from hideseek.util.workers import worker_count


@checked
def reproduce(
    traces: pd.DataFrame,
    regions: Regions,
    *,
    budgets: Sequence[float] = BUDGETS,
    compared: Sequence[float] = COMPARED,
    users: int = 10,
    seed: int = 0,
    step: str = STEP,
    clock: str = "0h",
    workers: int | None = None,
    progress: Advance | None = None,
) -> Reproduction:
    """Repeat the paper's evaluation on the best covered day of each of some users.

    Parameters
    ----------
    traces, regions : DataFrame, Regions
        As :func:`hideseek.read_traces` gives them, and the places.
    budgets, compared : sequence of float
        Expected losses, as probabilities, of the closed form; and those at which other optima are held against it.
    users, seed, step, clock : int, int, str, str
        How many users to draw, which, the length of a time step, and how far the clock of the days is ahead of UTC.
    workers, progress : optional
        Processes (default: one per core); called with what is being done, how much is done, and of how much.

    Returns
    -------
    Reproduction
        The paper's three results as tables, and its findings checked on them.

    Raises
    ------
    ParameterError
        If a value breaks its rule, ``compared`` are not among the ``budgets``, or there are too few users.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> from hideseek.experiments.user_days import CITY
    >>> traces = synthetic_city(people=2, days=1)
    >>> found = reproduce(traces, CITY, users=1, budgets=(0.0, 0.5, 1.0), compared=(0.5,), workers=1)
    >>> found.transition.query("route == 'unknown'")["privacy"].round(6).tolist()
    [0.0, 0.5, 0.556485]
    """
    budgets, compared = checked_budgets(budgets, compared)
    candidates = days_of(traces, regions, clock, "reproduce", step=step)
    days = drawn_from(candidates, users, seed, "reproduce")
    tasks = (delayed(results_of)(day, budgets, compared, (seed, number)) for number, day in enumerate(days, start=1))
    results: list[tuple[pd.DataFrame, ...]] = []
    for result in Parallel(worker_count(workers, "reproduce"), return_as="generator")(tasks):
        results.append(result)
        if progress is not None:
            progress("users", len(results), len(days))
    sporadic, location, transition, programs = (numbered(parts) for parts in zip(*results, strict=True))
    return Reproduction(
        tuple(day.user for day in days), user_rows(days), user_rows(candidates), sporadic, location, transition,
        programs, regions, clock, seed, step,
    )  # fmt: skip


def checked_budgets(budgets: Sequence[float], compared: Sequence[float]) -> tuple[list[float], list[float]]:
    """The budgets, and those of them that are compared."""
    every = [scalar(budget, "budgets", "reproduce") for budget in budgets]
    some = [scalar(budget, "compared", "reproduce") for budget in compared]
    if len(set(every)) < 2:
        raise broken_rule("budgets", "reproduce", "two or more different ones", every)
    if not some or not set(some) <= set(every) - {0.0}:
        raise broken_rule("compared", "reproduce", "some of the 'budgets' above 0, at least one", some)
    return every, some


def results_of(
    day: UserDay, budgets: Sequence[float], compared: Sequence[float], seed: tuple[int, int]
) -> tuple[pd.DataFrame, ...]:
    """All results of one user."""
    generator = np.random.default_rng(seed)
    return (
        sporadic_rows(day.profile, budgets, compared, generator),
        location_rows(day.profile, budgets, compared, generator),
        transition_rows(day.profile, budgets),
        program_rows(day.profile, generator),
    )


def user_rows(days: Sequence[UserDay]) -> pd.DataFrame:
    """How each user's day was covered, how predictable it is, and what limits its privacy."""
    rows = [(day.covered, day.profile.places, *predictability(day.profile)) for day in days]
    table = pd.DataFrame(rows, columns=["covered", "places", "entropy_rate", "prior_risk", "pair_risk", "middle"])
    table.insert(0, "user", np.arange(1, len(days) + 1))
    return table


def numbered(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The tables of all users as one, with the user's number in front."""
    return pd.concat(parts, keys=range(1, len(parts) + 1), names=["user"]).reset_index("user").reset_index(drop=True)
