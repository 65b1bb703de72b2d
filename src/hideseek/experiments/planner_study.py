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
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from hideseek.errors import broken_rule
from hideseek.experiments.user_days import UserDay, days_of, drawn_from
from hideseek.game.budget import parsed_budget
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.model.profile import STEP, regions_of
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.player import PLAY
from hideseek.planning.simulation import SETTLING, WALKS, follow, refuse_too_long
from hideseek.planning.training import WALKS as TRAINED
from hideseek.planning.training import plan
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar, whole_number
from hideseek.util.choices import MetricName, Outlook
from hideseek.util.display import counted, html_table
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_long
from hideseek.util.progress import Advance
from hideseek.util.units import is_length, shown_many
from hideseek.util.workers import worker_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USERS, ACCESSES, SHARES = 5, 300, (0.2, 0.5, 0.8)
CELLS = 10  # that a user must visit on a day: with few places there is little to plan
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
    """One planner for one user at one budget, ``budget_share`` of the saturating one.

    ``filter`` and ``smoother`` are the expected errors per access of adversaries who remember every release so far, or
    know the later ones too; no mechanism makes the former exceed the ``ceiling``, and none that keeps the budget
    given every release the ``bound``, which is the lowest proved for this user and budget. ``kept`` is the filter's
    share of the ceiling. ``worst_loss`` is the largest expected loss after any exposed history that occurred. Errors
    are in the unit of the privacy metric, losses in that of the quality metric.
    """

    user: str
    places: int
    budget_share: float
    planner: Outlook
    filter: Estimate
    smoother: Estimate
    quality_loss: Estimate
    worst_loss: float
    kept: Estimate
    bound: float
    ceiling: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of what is kept."""
        return self.kept.interval


@dataclass(frozen=True)
class Mean:
    """One planner at one budget, ``budget_share`` of the saturating one, on average over users.

    ``kept`` carries the 95 % confidence interval of the simulation, for these users. ``limit`` is the bound and
    ``attained`` the filter as shares, of the ceiling and of the bound. ``gain`` is by how much the average filter
    exceeds the plain planner's, as a share of it; ``own_gain`` the average of the users' own gains, over those whom the
    plain one leaves anything (None where that is nobody). ``losers`` counts users with less than under the plain
    planner, beyond both intervals.
    """

    budget_share: float
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


@dataclass(frozen=True, eq=False, repr=False)
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
            together.setdefault((row.budget_share, row.planner), []).append(row)
        return tuple(mean_of(rows, together[budget, Outlook.PLAIN]) for (budget, _), rows in together.items())

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What planning ahead is worth, one sentence per budget."""
        at = {(mean.budget_share, mean.planner): mean for mean in self.means}
        return tuple(
            finding(at[budget, Outlook.PLAIN], mean)
            for (budget, planner), mean in at.items()
            if planner is Outlook.FAR_SIGHTED
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per user, budget and planner, with the ends of the interval of what is kept.

        Losses are in the unit of the quality metric; where that is m or m², ``quality_loss_metres`` is in metres.
        """
        unit, frame = self.quality.unit, frame_of(self.rows)
        lost = shown_many(frame["quality_loss"].to_numpy(np.float64), unit)
        return frame.assign(quality_loss_metres=lost) if is_length(unit) else frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of the ceiling that each planner keeps on average, against the budget."""
        from hideseek.plots.comparisons import draw_study

        return draw_study(frame_of(self.means), ax)

    def __repr__(self) -> str:
        users = len({row.user for row in self.rows})
        planners = ", ".join(dict.fromkeys(str(row.planner) for row in self.rows))
        budgets = ", ".join(dict.fromkeys(f"{row.budget_share:.0%}" for row in self.rows))
        what = f"Study of {counted(users, 'user')} in {self.accesses} accesses each: {planners}"
        return f"{what}\nat {budgets} of the saturating budget"

    def _repr_html_(self) -> str:
        return html_table(
            "Kept of the ceiling, on average over users",
            {
                f"{mean.planner}, budget {mean.budget_share:.0%}": f"{mean.kept:.1%} of at most {mean.limit:.1%}"
                for mean in self.means
            },
        )


@checked
def study(
    traces: pd.DataFrame,
    regions: Regions,
    *,
    privacy: MetricName | str = MetricName.EUCLID,
    quality: MetricName | str = MetricName.SQUARED,
    budgets: Sequence[float | str] = SHARES,
    users: int = USERS,
    accesses: int = ACCESSES,
    planners: Sequence[Outlook | str] = PLANNERS,
    seed: int = 0,
    step: str = STEP,
    clock: str = "0h",
    workers: int | None = None,
    progress: Advance | None = None,
    expect: Callable[[float], None] | None = None,
) -> Study:
    """Simulate planners on the best covered day of each of some users who visit ten cells or more.

    Parameters
    ----------
    traces, regions : DataFrame, Regions
        As :func:`hideseek.read_traces` gives them; the places.
    privacy, quality : str
        Names of the metrics of errors and losses.
    budgets, planners : sequence
        Shares of each user's saturating budget, such as 0.2 or "20%"; the plain, the far-sighted and maybe others.
    users, accesses, seed : int
        Users to draw, accesses to simulate for each under each planner, and which users and walks.
    step, clock, workers, progress, expect : optional
        Of time; the clock's lead over UTC; processes; told how far it is, and first how long it takes.

    Returns
    -------
    Study
        One row per user, budget and planner.

    Raises
    ------
    ParameterError
        If a value breaks its rule, or too few users visit ten cells; a SizeError if it would take more than a week.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> from hideseek.experiments.user_days import CITY
    >>> found = study(synthetic_city(people=4, days=7), CITY, budgets=[0.5], users=1, accesses=40, workers=1)
    >>> [str(row.planner) for row in found.rows]
    ['plain', 'secondary', 'far-sighted']
    """
    d_p, d_q = (one_of(MetricName, name, what, "study") for name, what in ((privacy, "privacy"), (quality, "quality")))
    shares, outlooks = chosen_shares(budgets), chosen_planners(planners)
    accesses, workers = whole_number(accesses, "accesses", "study", least=WALKS), worker_count(workers, "study")
    days = drawn_from(days_of(traces, regions, clock, "study", CELLS, step), users, seed, "study", CELLS)
    refuse_long_study(days, shares, accesses, outlooks, workers, expect)
    tasks = [delayed(rows_of)(day, share, d_p, d_q, accesses, seed, outlooks) for day in days for share in shares]
    rows, first = rows_in_order(tasks, workers, progress), regions_of(days[0].profile)
    return Study(rows, metric_of(d_p, first), metric_of(d_q, first), accesses, seed)


def chosen_shares(budgets: Sequence[float | str]) -> list[float]:
    """The shares of the saturating budget, in growing order.

    >>> chosen_shares(["50%", 0.2])
    [0.2, 0.5]
    """
    numbers = [share_in(one) if isinstance(one, str) else one for one in budgets]
    shares = sorted({scalar(share, "budgets", "study") for share in numbers})
    if not shares or shares[0] == 0:
        raise broken_rule("budgets", "study", "one or more shares of the saturating budget, above 0", list(budgets))
    return shares


def share_in(text: str) -> float:
    """A share written as a percentage: a displacement is another share for every user, and has no average."""
    if not text.strip().endswith("%"):
        rule = "shares of the saturating budget, such as 0.2 or '20%', which can be averaged over users"
        raise broken_rule("budgets", "study", rule, repr(text))
    return parsed_budget(text, "", "study", "budgets")[0]


def chosen_planners(planners: Sequence[Outlook | str]) -> list[Outlook]:
    """The planners, from the plain to the far-sighted one."""
    chosen = {one_of(Outlook, planner, "planners", "study") for planner in planners}
    if not chosen >= NEEDED:
        rule = "some of 'plain', 'secondary', 'look-ahead' and 'far-sighted', the first and the last among them"
        raise broken_rule("planners", "study", rule, ", ".join(map(str, planners)) or "none")
    return [outlook for outlook in Outlook if outlook in chosen]


def refuse_long_study(
    days: Sequence[UserDay],
    shares: Sequence[float],
    accesses: int,
    outlooks: Sequence[Outlook],
    workers: int,
    expect: Callable[[float], None] | None,
) -> None:
    """Tell how many seconds a study will take, roughly; refused where these are too many."""
    places = [day.profile.places for day in days]
    refuse_too_long(accesses, max(places))
    seconds = expected_seconds(places * len(shares), accesses, outlooks, workers)
    what = f"A study of {len(days)} users at {len(shares)} budgets in {accesses} accesses"
    way_out = "Ask for fewer 'users', 'budgets' or 'accesses'."
    refuse_if_too_long(seconds, what, way_out, parameter="users, budgets, accesses")
    if expect is not None:
        expect(seconds)


def rows_in_order(tasks: Sequence[object], workers: int, progress: Advance | None) -> tuple[StudyRow, ...]:
    """The rows of all tasks, made in several processes."""
    rows: list[StudyRow] = []
    for done, found in enumerate(Parallel(workers, return_as="generator", batch_size=1)(tasks), start=1):
        rows += found
        if progress is not None:
            progress("users and budgets", done, len(tasks))
    return tuple(rows)


def frame_of(rows: Sequence[StudyRow] | Sequence[Mean]) -> pd.DataFrame:
    """Rows or means as a table, with the ends of the interval of what is kept."""
    low, high = zip(*(row.kept.interval for row in rows), strict=True)
    return pd.DataFrame([vars(row) for row in rows]).assign(kept_low=low, kept_high=high)


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
    budget = share * Game.from_scenario(profile, Scenario.sporadic(), privacy=d_p, quality=d_q).saturation
    game = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=budget)
    found = {}
    for outlook in outlooks:
        planner = plan(game, outlook=outlook, walks=WARM if outlook is Outlook.LOOK_AHEAD else TRAINED, seed=seed)
        found[outlook] = follow(game, planner, accesses=accesses, seed=seed)
    bound = min(one.bound for one in found.values())
    return [
        StudyRow(
            day.user, profile.places, share, outlook, one.filter, cast("Estimate", one.smoother), one.quality_loss,
            one.worst_loss, one.kept, bound, one.ceiling,
        )
        for outlook, one in found.items()
    ]  # fmt: skip


def mean_of(rows: Sequence[StudyRow], plain: Sequence[StudyRow]) -> Mean:
    """The rows of a planner at a budget on average over users, next to those of the plain one."""
    first = rows[0]
    reached, before = np.array([row.filter for row in rows]), np.array([row.filter for row in plain])
    had = before > 0
    return Mean(
        budget_share=first.budget_share,
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
    more = "" if ahead.gain is None else f", {1 + ahead.gain:.2f} times the privacy on average"
    return (
        f"At {ahead.budget_share:.0%} of the saturating budget, planning ahead keeps {ahead.kept:.0%} of the ceiling "
        f"and the plain optimum {plain.kept:.0%}{more}; no planner keeps more than {ahead.limit:.0%}. Users who lose "
        f"by planning, beyond the confidence intervals: {ahead.losers} of {ahead.users}."
    )
