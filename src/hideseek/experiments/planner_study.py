"""What planning ahead is worth: planners on the same people, against an adversary who remembers every release.

The plain planner takes whatever optimum the solver ends at, the secondary one the optimum that leaves most to guess
next, the look-ahead one counts the next access (run where asked for, since it takes about as long as all others
together), and the far-sighted one everything to come. All keep the same budget given every release. What each reaches
is simulated, and the cuts of the far-sighted one prove what none can exceed.

Beside them stands a far-sighted planner that keeps the same budget on average over a window, after every history. It
may exceed what the others cannot, and the cuts of its own price prove what none exceeds that keeps it on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from hideseek.errors import broken_rule
from hideseek.experiments.planner_study_rows import (
    Mean,
    StudyRow,
    compared_with,
    drawn,
    finding,
    frame_of,
    mean_of,
    window_finding,
)
from hideseek.experiments.user_days import UserDay, days_of, drawn_from
from hideseek.experiments.wording import over_words
from hideseek.game.budget import parsed_budget
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.model.account import window_of
from hideseek.model.profile import STEP, regions_of
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.player import PLAY
from hideseek.planning.simulation import SETTLING, WALKS, Foresight, follow, refuse_too_long
from hideseek.planning.training import WALKS as TRAINED
from hideseek.planning.training import plan
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar, whole_number
from hideseek.util.choices import ACCESS, DAY, MetricName, Outlook
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
# the same of the planner over a window, growing with the power of 1.5: for six people of 12 to 41 places under both
# losses, training took 0.9 to 1.8 times the CPU seconds that are expected, and an access 0.9 to 1.3 times
SECONDS_OVER = (14.5, 0.0016)
WINDOWS = 2  # on every walk of its simulation
LOSSES = ("quality_loss", "worst_loss")
WARM = 2  # walks of training for the look-ahead planner, who finds the cuts that are missing while it plays


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
        together: dict[tuple[float, str], list[StudyRow]] = {}
        for row in self.rows:
            together.setdefault((row.budget_share, row.name), []).append(row)
        return tuple(mean_of(rows, together[budget, compared_with(rows[0])]) for (budget, _), rows in together.items())

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """What planning ahead is worth, one sentence per budget."""
        at = {(mean.budget_share, mean.name): mean for mean in self.means}
        return tuple(
            finding(at[budget, Outlook.PLAIN], mean)
            for (budget, name), mean in at.items()
            if name == Outlook.FAR_SIGHTED
        )

    @property
    def window_findings(self) -> tuple[str, ...]:
        """What a window is worth beyond that, one sentence per budget."""
        return tuple(window_finding(mean) for mean in self.means if mean.over != ACCESS)

    @property
    def over(self) -> str | None:
        """The window of the rows whose budget holds over one; None where there are none."""
        return next((row.over for row in self.rows if row.over != ACCESS), None)

    def to_frame(self) -> pd.DataFrame:
        """One row per user, budget and planner, with the ends of the interval of what is kept.

        Losses are in the unit of the quality metric; where that is m or m², the columns ``..._metres`` are in metres.
        """
        unit, frame = self.quality.unit, frame_of(self.rows)
        lost = {f"{name}_metres": shown_many(frame[name].to_numpy(np.float64), unit) for name in LOSSES}
        return frame.assign(**lost) if is_length(unit) else frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the share of the ceiling that each planner keeps on average, against the budget."""
        from hideseek.plots.comparisons import draw_study

        return draw_study(drawn(self.means), ax)

    def __repr__(self) -> str:
        users = len({row.user for row in self.rows})
        planners = ", ".join(dict.fromkeys(row.name for row in self.rows))
        budgets = ", ".join(dict.fromkeys(f"{row.budget_share:.0%}" for row in self.rows))
        what = f"Study of {counted(users, 'user')} in {self.accesses} accesses each: {planners}"
        return f"{what}\nat {budgets} of the saturating budget"

    def _repr_html_(self) -> str:
        return html_table(
            "Kept of the ceiling, on average over users",
            {
                f"{mean.name}, budget {mean.budget_share:.0%}": f"{mean.kept:.1%} of at most {mean.limit:.1%}"
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
    over: str | timedelta = DAY,
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
    budgets, over, planners : sequence, str or timedelta, sequence
        Shares of the saturating budget, as "20%"; the window of one more planner ("access": none); which planners.
    users, accesses, seed : int
        Users to draw, accesses to simulate for each under each planner, and which users and walks.
    step, clock, workers, progress, expect : optional
        Of time; the clock's lead over UTC; processes; told how far it is, and first how long it takes.

    Returns
    -------
    Study
        One row per user, budget and planner, that of the window last.

    Raises
    ------
    ParameterError, SizeError
        If a value breaks its rule, or too few users visit ten cells; if it would take more than a week.

    Examples
    --------
    >>> from hideseek import experiments, synthetic_city
    >>> traces, run = synthetic_city(people=4), {"over": "1 hour", "users": 1, "accesses": 40, "workers": 1}
    >>> found = study(traces, experiments.user_days.CITY, budgets=[0.5], **run)
    >>> [row.name for row in found.rows]
    ['plain', 'secondary', 'far-sighted', 'far-sighted, over 1 hour']
    """
    d_p, d_q = (one_of(MetricName, *name, "study") for name in ((privacy, "privacy"), (quality, "quality")))
    shares, outlooks, window = chosen_shares(budgets), chosen_planners(planners), window_of(over, step, 1, "study")
    accesses, workers = whole_number(accesses, "accesses", "study", least=WALKS), worker_count(workers, "study")
    days = drawn_from(days_of(traces, regions, clock, "study", CELLS, step), users, seed, "study", CELLS)
    refuse_long_study(days, shares, accesses, outlooks, window, workers, expect)
    tasks = [delayed(rows_of)(day, share, d_p, d_q, accesses, seed, outlooks, over) for day in days for share in shares]
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
    window: int,
    workers: int,
    expect: Callable[[float], None] | None,
) -> None:
    """Tell how many seconds a study will take, roughly; refused where these are too many."""
    places = [day.profile.places for day in days]
    refuse_too_long(whole_windows(accesses, window), max(places))
    seconds = expected_seconds(places * len(shares), accesses, outlooks, workers, window)
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


def whole_windows(accesses: int, window: int) -> int:
    """How many accesses to simulate, so that every walk has some whole windows: shorter ones lose what was saved."""
    return accesses if window == 1 else max(accesses, WALKS * WINDOWS * window)


def expected_seconds(
    places: Sequence[int], accesses: int, outlooks: Sequence[Outlook], workers: int, window: int = 1
) -> float:
    """How long a study will take, roughly, with an entry in ``places`` for every user and budget.

    >>> round(expected_seconds([25] * 9, 300, list(Outlook), workers=2))
    286
    """
    played = accesses + WALKS * SETTLING
    at_25 = sum(training + played * access for training, access in (SECONDS[outlook] for outlook in outlooks))
    training, access = SECONDS_OVER if window > 1 else (0.0, 0.0)
    over_25 = training + access * (whole_windows(accesses, window) + WALKS * SETTLING)
    each = [at_25 * (count / 25) ** 3 + over_25 * (count / 25) ** 1.5 for count in places]
    return float(max(sum(each) / workers, max(each)))


def rows_of(
    day: UserDay,
    share: float,
    privacy: MetricName,
    quality: MetricName,
    accesses: int,
    seed: int,
    outlooks: Sequence[Outlook],
    over: str | timedelta,
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
    who = day.user, profile.places, share
    rows = [row_of(who, outlook, replace(one, bound=bound), ACCESS) for outlook, one in found.items()]
    windowed = BeliefGame.of(profile, privacy=d_p, quality=d_q, budget=budget, over=over)
    if windowed.window > 1:
        planner = plan(windowed, seed=seed)
        one = follow(windowed, planner, accesses=whole_windows(accesses, windowed.window), seed=seed)
        length = over_words(windowed.window, windowed.every, profile.step)
        rows.append(row_of(who, planner.outlook, at_the_budget(windowed, one), length))
    return rows


def row_of(who: tuple[str, int, float], planner: Outlook, found: Foresight, over: str) -> StudyRow:
    """What was found of a planner as a row."""
    return StudyRow(
        *who, planner, found.filter, cast("Estimate", found.smoother), found.quality_loss, found.worst_loss, found.kept,
        found.bound, found.ceiling, over,
    )  # fmt: skip


def at_the_budget(game: BeliefGame, found: Foresight) -> Foresight:
    """What was found, with the errors at a loss of the budget: less the ceiling's price of what was lost above it.

    The long run loses the budget, and a run of some days more or less, as what is saved up goes from one to the next.
    """
    more = game.ceiling.price * float(found.quality_loss - game.budget)
    filtered, smoother = (less(error, more) for error in (found.filter, cast("Estimate", found.smoother)))
    kept, low, high = (min(max(game.kept(part), 0.0), 1.0) for part in (filtered, *filtered.interval))
    return replace(found, filter=filtered, smoother=smoother, kept=Estimate(kept, (low, high)))


def less(error: Estimate, more: float) -> Estimate:
    """An error without what was bought.

    >>> less(Estimate(3.0, (2.0, 4.0)), 0.5).interval
    (1.5, 3.5)
    """
    low, high = error.interval
    return Estimate(error - more, (low - more, high - more))
