"""What planning ahead is worth: planners on the same people, against an adversary who remembers every release.

The plain planner takes whatever optimum the solver ends at, the secondary one the optimum that leaves most to guess
next, the look-ahead one counts the next access (run where asked for, since it takes about as long as all others
together), and the far-sighted one everything to come. All keep the same budget given every release. What each reaches
is simulated, and the cuts of the far-sighted one prove what none can exceed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from hideseek.errors import broken_rule
from hideseek.experiments.user_days import UserDay, days_of, drawn_from
from hideseek.game.game import Game
from hideseek.metrics import Metric, MetricName, metric_of
from hideseek.model.mobility import regions_of
from hideseek.model.regions import Grid
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import PLAY, Outlook, train
from hideseek.planning.planner import WALKS as TRAINED
from hideseek.planning.simulation import SETTLING, WALKS, follow, refuse_too_long
from hideseek.util.arrays import one_of, refuse_if_too_long, scalar, whole_number, worker_count
from hideseek.util.boundary import checked
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

USERS, ACCESSES, SHARES = 5, 300, (0.2, 0.5, 0.8)
CELLS = 10  # that a user must visit on a day: whoever is in few places has little to plan
PLANNERS = (Outlook.PLAIN, Outlook.SECONDARY, Outlook.FAR_SIGHTED)
NEEDED = {Outlook.PLAIN, Outlook.FAR_SIGHTED}  # the gain is counted from the one, and the other proves the bound
# seconds of training, and per access, at 25 places on one idle core; growing with the cube of the places. Set by two
# whole studies on an idle machine (three cabs of 19 to 23 places, 300 accesses, two processes): 93 s are expected, and
# they took 112 s with squared distances for quality and 85 s under the Hamming metric
SECONDS = {
    Outlook.PLAIN: (0.0, PLAY),
    Outlook.SECONDARY: (0.0, 0.011),
    Outlook.LOOK_AHEAD: (6.75, 0.045),
    Outlook.FAR_SIGHTED: (19.5, 0.0135),
}
WARM = 2  # walks of training for the look-ahead planner, who finds the cuts that are missing while it plays


@dataclass(frozen=True)
class StudyRow:
    """One planner for one user at one ``budget``, a share of what it takes to tell nothing.

    ``filter`` and ``smoother`` are the mean errors, at an access, of who remembers everything exposed so far, or knows
    what is exposed later too; no mechanism makes the former exceed the ``ceiling``, and none that keeps the budget
    given every release the ``bound``, which is the lowest proved for this user and budget. ``kept`` is the filter's
    share of the ceiling. Errors are in the unit of the privacy metric, ``quality_loss`` in that of the quality metric.
    """

    user: str
    places: int
    budget: float
    planner: Outlook
    filter: Estimate
    smoother: Estimate
    quality_loss: Estimate
    kept: Estimate
    bound: float
    ceiling: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of what is kept."""
        return self.kept.interval


@dataclass(frozen=True)
class Mean:
    """One planner at one budget, in the mean over users.

    ``kept`` carries the 95 % confidence interval of the simulation, for these users. ``limit`` is the bound and
    ``attained`` the filter as shares, of the ceiling and of the bound. ``gain`` is by how much the mean filter exceeds
    the plain planner's, as a share of it; ``own_gain`` the mean of the users' own gains, of those whom the plain one
    leaves anything (None where that is nobody). ``losers`` counts users with less than under the plain planner, beyond
    both intervals.
    """

    budget: float
    planner: Outlook
    users: int
    filter: float
    smoother: float
    quality_loss: float
    kept: Estimate
    bound: float
    ceiling: float
    limit: float
    attained: float
    gain: float | None
    own_gain: float | None
    losers: int


@dataclass(frozen=True, eq=False)
class Study:
    """Rows by user, budget and planner, with the metrics and how many ``accesses`` each was simulated for."""

    rows: tuple[StudyRow, ...]
    privacy: Metric
    quality: Metric
    accesses: int
    seed: int

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """The mean over users, by budget and planner."""
        together: dict[tuple[float, Outlook], list[StudyRow]] = {}
        for row in self.rows:
            together.setdefault((row.budget, row.planner), []).append(row)
        return tuple(mean_of(rows, together[budget, Outlook.PLAIN]) for (budget, _), rows in together.items())

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What planning ahead is worth, a sentence a budget."""
        at = {(mean.budget, mean.planner): mean for mean in self.means}
        return tuple(
            finding(at[budget, Outlook.PLAIN], mean)
            for (budget, planner), mean in at.items()
            if planner is Outlook.FAR_SIGHTED
        )


@checked
def study(
    traces: pd.DataFrame,
    grid: Grid,
    *,
    privacy: MetricName | str = MetricName.EUCLID,
    quality: MetricName | str = MetricName.SQUARED,
    budgets: Sequence[float] = SHARES,
    users: int = USERS,
    accesses: int = ACCESSES,
    planners: Sequence[Outlook | str] = PLANNERS,
    seed: int = 0,
    clock: str = "0h",
    workers: int | None = None,
    progress: Advance | None = None,
    expect: Callable[[float], None] | None = None,
) -> Study:
    """Planners on the best covered day of each of some users in ten cells or more, drawn by the ``seed``.

    Each of the ``planners``, of which two are the plain and the far-sighted one, is simulated for so many ``accesses``
    at every one of the ``budgets``, shares of the saturating budget. Days begin at midnight of a ``clock`` that is so
    far ahead of UTC. Users and budgets are shared out among ``workers`` processes (default: one per core), on whose
    number nothing depends; ``progress`` is called with what is being done, how much is done, and of how much, and
    ``expect`` before all else with the seconds that it will take, roughly.

    >>> from hideseek.traces.city import synthetic_city
    >>> from hideseek.experiments.user_days import CITY
    >>> traces = synthetic_city(people=4, days=7)
    >>> found = study(
    ...     traces, CITY, privacy="hamming", quality="hamming", budgets=[0.5], users=1, accesses=40, workers=1
    ... )
    >>> [str(row.planner) for row in found.rows]
    ['plain', 'secondary', 'far-sighted']
    >>> bool(found.rows[-1].kept > found.rows[0].kept)
    True
    """
    owner = "study"
    d_p = one_of(MetricName, privacy, "privacy", owner)
    d_q = one_of(MetricName, quality, "quality", owner)
    shares = sorted({scalar(share, "budgets", owner) for share in budgets})
    if not shares or shares[0] == 0:
        raise broken_rule("budgets", owner, "one or more shares of the saturating budget, above 0", list(budgets))
    chosen = {one_of(Outlook, planner, "planners", owner) for planner in planners}
    if not chosen >= NEEDED:
        rule = "some of 'plain', 'secondary', 'look-ahead' and 'far-sighted', the first and the last among them"
        raise broken_rule("planners", owner, rule, ", ".join(map(str, planners)) or "none")
    outlooks = [outlook for outlook in Outlook if outlook in chosen]
    accesses = whole_number(accesses, "accesses", owner, least=WALKS)
    workers = worker_count(workers, owner)
    days = drawn_from(days_of(traces, grid, clock, owner, CELLS), users, seed, owner, CELLS)
    refuse_too_long(accesses, max(day.profile.places for day in days))
    seconds = expected_seconds([day.profile.places for day in days] * len(shares), accesses, outlooks, workers)
    what = f"A study of {users} users at {len(shares)} budgets in {accesses} accesses"
    refuse_if_too_long(seconds, what, "Ask for fewer 'users', 'budgets' or 'accesses'.")
    if expect is not None:
        expect(seconds)
    tasks = [delayed(rows_of)(day, share, d_p, d_q, accesses, seed, outlooks) for day in days for share in shares]
    rows: list[StudyRow] = []
    for done, found in enumerate(Parallel(workers, return_as="generator", batch_size=1)(tasks), start=1):
        rows += found
        if progress is not None:
            progress("users and budgets", done, len(tasks))
    first = regions_of(days[0].profile)
    return Study(tuple(rows), metric_of(d_p, first), metric_of(d_q, first), accesses, seed)


def expected_seconds(places: Sequence[int], accesses: int, outlooks: Sequence[Outlook], workers: int) -> float:
    """How long a study will take, roughly, with an entry in ``places`` for every user and budget.

    >>> round(expected_seconds([25] * 9, 300, list(Outlook), workers=2))
    286
    """
    played = accesses + WALKS * SETTLING
    at_25 = sum(training + played * access for training, access in (SECONDS[outlook] for outlook in outlooks))
    each = [at_25 * (count / 25) ** 3 for count in places]
    return max(sum(each) / workers, max(each))


def rows_of(
    day: UserDay,
    share: float,
    privacy: MetricName,
    quality: MetricName,
    accesses: int,
    seed: int,
    outlooks: Sequence[Outlook],
) -> list[StudyRow]:
    """The planners for one user at one budget."""
    profile = day.profile
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    budget = share * Game.from_scenario(profile, Scenario.sporadic(), d_p, d_q).saturation
    game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=budget)
    found = {}
    for outlook in outlooks:
        planner = train(game, outlook=outlook, walks=WARM if outlook is Outlook.LOOK_AHEAD else TRAINED, seed=seed)
        found[outlook] = follow(game, planner, steps=accesses, seed=seed)
    bound = min(one.bound for one in found.values())
    return [
        StudyRow(
            day.user, profile.places, share, outlook, one.filter, cast("Estimate", one.smoother), one.quality_loss,
            one.kept, bound, one.ceiling,
        )
        for outlook, one in found.items()
    ]  # fmt: skip


def mean_of(rows: Sequence[StudyRow], plain: Sequence[StudyRow]) -> Mean:
    """The rows of a planner at a budget in the mean over users, next to those of the plain one."""
    first = rows[0]
    reached, before = np.array([row.filter for row in rows]), np.array([row.filter for row in plain])
    had = before > 0
    return Mean(
        budget=first.budget,
        planner=first.planner,
        users=len(rows),
        filter=float(reached.mean()),
        smoother=float(np.mean([row.smoother for row in rows])),
        quality_loss=float(np.mean([row.quality_loss for row in rows])),
        kept=mean_kept([row.kept for row in rows]),
        bound=float(np.mean([row.bound for row in rows])),
        ceiling=float(np.mean([row.ceiling for row in rows])),
        limit=float(np.mean([row.bound / row.ceiling for row in rows])),
        attained=float(np.mean([row.filter / row.bound for row in rows])),
        gain=float(reached.mean() / before.mean() - 1) if before.mean() > 0 else None,
        own_gain=float((reached[had] / before[had]).mean() - 1) if had.any() else None,
        losers=sum(own.filter.interval[1] < other.filter.interval[0] for own, other in zip(rows, plain, strict=True)),
    )


def mean_kept(shares: Sequence[Estimate]) -> Estimate:
    """The mean of shares that were measured independently.

    >>> [round(end, 3) for end in mean_kept([Estimate(0.5, (0.47, 0.53)), Estimate(0.7, (0.66, 0.74))]).interval]
    [0.575, 0.625]
    """
    mean = float(np.mean(shares))
    below, above = (
        float(np.linalg.norm([share - share.interval[end] for share in shares]) / len(shares)) for end in (0, 1)
    )
    return Estimate(mean, (mean - below, mean + above))


def finding(plain: Mean, ahead: Mean) -> str:
    """What planning ahead is worth at one budget, in words with numbers."""
    more = "" if ahead.gain is None else f", {1 + ahead.gain:.2f} times the privacy in the mean"
    return (
        f"At {ahead.budget:.0%} of the saturating budget, planning ahead keeps {ahead.kept:.0%} of the ceiling and the "
        f"plain optimum {plain.kept:.0%}{more}; no planner keeps more than {ahead.limit:.0%}. Users who lose by "
        f"planning, beyond the confidence intervals: {ahead.losers} of {ahead.users}."
    )
