"""All mechanisms on one scale: the same person, the same loss of quality, the same adversaries.

The budget is what every mechanism may lose. Our own keep it after every release that they remember, and may lose less;
a rival's dial is turned until it loses as much on average. Then the same adversaries attack them all. The best
mechanism for a single place, under an adversary who remembers nothing, is the ceiling: nothing that loses as little
exceeds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pandas as pd
from joblib import Parallel

from hideseek.adversary.belief_exposer import windows_seen
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.sequences import refuse_many
from hideseek.baselines import RIVALS
from hideseek.baselines.plain import truth
from hideseek.baselines.rival import Rival, RivalLike, Setting, as_rivals
from hideseek.errors import BudgetError, broken_rule
from hideseek.experiments.comparison_measure import (
    ENDS,
    FAR_SIGHTED,
    LIVE,
    OURS,
    PLAYBOOK,
    SPORADIC,
    WINDOWED,
    ComparisonRow,
    Measure,
)
from hideseek.game.budget import budget_of
from hideseek.game.game import Game
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.account import window_of
from hideseek.model.markov import MarkovProfile
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.choices import ACCESS, DAY
from hideseek.util.display import html_table
from hideseek.util.progress import Advance
from hideseek.util.units import amount, least_words, metres_beside, shown
from hideseek.util.workers import worker_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCESSES, WALKS = 50, 200
MEASURED = ("window", "filter", "smoother", "viterbi", "quality_loss")
ROUNDING = 1e-12  # of a budget, relatively
EQUAL = 1e-2  # losses that are further apart, relatively, are not compared


@dataclass(frozen=True, repr=False)
class Comparison:
    """Rows that may lose ``quality_loss``, the most private against the filter first; then those with another loss.

    ``ceiling`` is what no mechanism that loses as little exceeds, ``prior_risk`` the expected error of an adversary who
    sees no release, ``unit`` that of the errors and ``loss_unit`` that of the losses.
    """

    rows: tuple[ComparisonRow, ...]
    quality_loss: float
    ceiling: float
    prior_risk: float
    accesses: int
    walks: int
    unit: str = ""
    loss_unit: str = ""

    def equal(self, row: ComparisonRow) -> bool:
        """Whether a row loses the common loss, or is ours and may; the truth, the constant place and coarse dials do
        not, and what has no dial loses what it does.
        """
        return row.mechanism in OURS or abs(row.quality_loss - self.quality_loss) <= EQUAL * self.quality_loss

    @property
    def notes(self) -> tuple[str, ...]:
        """Which of our own mechanisms have no row, and why, in sentences."""
        there = {row.mechanism for row in self.rows}
        if LIVE not in there:
            left = "; ".join((LIVE, PLAYBOOK, FAR_SIGHTED))
            return (f"Without a row: {left}. The budget cannot be kept at every place, as who plans ahead must.",)
        why = {
            PLAYBOOK: "The profile does not say where its places are, and a playbook's device must find them.",
            FAR_SIGHTED: "Its plan values no later access, so that it would be the codebook.",
        }
        return tuple(f"Without a row: {name}. {reason}" for name, reason in why.items() if name not in there)

    def to_frame(self) -> pd.DataFrame:
        """One row per mechanism; every measured number with the ends of its 95 % confidence interval.

        Losses are in ``loss_unit``; where that is m or m², ``quality_loss_metres`` is the displacement.
        """
        lines = []
        for row in self.rows:
            line = vars(row) | {"kept": row.kept}
            for name in (*MEASURED, "kept"):
                line[f"{name}_low"], line[f"{name}_high"] = line[name].interval
            lines.append(line | metres_beside({"quality_loss": row.quality_loss}, self.loss_unit))
        return pd.DataFrame(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the adversaries' expected errors for every mechanism, under its ceiling."""
        from hideseek.plots.comparisons import draw_comparison

        return draw_comparison(self.to_frame(), self.unit, ax)

    def __repr__(self) -> str:
        most = max((row for row in self.rows if self.equal(row)), key=lambda row: row.filter, default=None)
        first = (
            "" if most is None else f"; {most.mechanism} keeps the most against the filter, {self.error(most.filter)}"
        )
        return (
            f"Comparison of {len(self.rows)} mechanisms at a quality loss of {self.loss}, "
            f"over {self.accesses} accesses{first} of the ceiling {self.error(self.ceiling)}"
        )

    @property
    def loss(self) -> str:
        """The common loss as people are shown it."""
        return amount(self.quality_loss, self.loss_unit)

    def error(self, value: float) -> str:
        """An error as people are shown it."""
        return amount(float(value), self.unit)

    def relative_loss(self, row: ComparisonRow) -> float:
        """What a row loses as a share of the common loss, both as people are shown them."""
        return shown(row.quality_loss, self.loss_unit) / (shown(self.quality_loss, self.loss_unit) or 1.0)

    def _repr_html_(self) -> str:
        facts = {
            row.mechanism: self.error(row.filter)
            + (f", at a loss of {amount(float(row.quality_loss), self.loss_unit)}" * (not self.equal(row)))
            for row in self.rows
        }
        title = f"Expected error of the filter at a quality loss of {self.loss}"
        return html_table(title, facts | {"no mechanism exceeds (ceiling)": self.error(self.ceiling)})


@checked
def compare(
    profile: MarkovProfile,
    *,
    privacy: MetricLike,
    quality: MetricLike,
    budget: float | str,
    over: str | timedelta = DAY,
    rivals: Sequence[RivalLike] = RIVALS,
    accesses: int | None = None,
    walks: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Advance | None = None,
) -> Comparison:
    """Compare mechanisms that may lose the same: live planner, playbook, codebooks, the optimal sporadic one, rivals.

    Parameters
    ----------
    profile : MarkovProfile
        How the person moves; of order 1, as some rivals assume.
    privacy, quality : Metric, str or ``(places, places)`` array
        How the adversary's error and the loss of quality are measured.
    budget, over : float or str, str or timedelta
        Expected loss per access that all may have, in the unit of ``quality``, or as "500m", "20%"; and the window of a
        playbook that keeps it on average over so long, as rivals keep theirs. With "access" that one has no row.
    rivals : sequence of Rival, Mechanism, Policy, array or callable
        Mechanisms whose dials are turned until they lose that much; all known ones by default. Yours may be a table or
        a function ``(place, past_releases, rng) -> place``: compared at its own loss, and run anew where no past is.
    accesses, walks, seed, workers, progress : optional
        Length of the run, by default 50 accesses or two windows; which walks are simulated where enumeration does not
        fit, with 95 % intervals, by default 200 or as many accesses in all; processes (by default one per core); called
        with what is being done, how much is done, and of how much.

    Returns
    -------
    Comparison
        One row per mechanism, the most private first; ``notes`` on what is missing. A window has one earlier release.

    Raises
    ------
    ParameterError, SizeError
        If a value breaks its rule; if the run or the walks would not fit in memory.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> regions = Places([0.0, 0.0, 0.01], [0.0, 0.01, 0.0])
    >>> profile = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.3, 0.1, 0.6]], regions)
    >>> run = {"budget": 100.0, "rivals": RIVALS[:2], "accesses": 4, "workers": 1}
    >>> found = compare(profile, privacy="euclid", quality="euclid", **run)
    >>> [row.mechanism for row in found.rows if row.quality_loss > 150]
    ['constant']
    >>> all(row.filter < row.ceiling + 1e-6 for row in found.rows)
    True
    """
    workers = worker_count(workers, "compare")
    measure = measure_of(profile, privacy, quality, over, accesses, walks, seed)
    allowed = kept_budget(budget, measure.setting.game)
    return beside(measure, allowed, as_rivals(rivals, (*OURS, *ENDS, SPORADIC)), over, workers, progress)


def kept_budget(budget: float | str, game: Game) -> float:
    """The budget as a number; refused where no mechanism keeps it."""
    allowed = budget_of(budget, game, "compare")
    if allowed < game.least_loss * (1 - ROUNDING):
        rule = f"at least {least_words(game.least_loss, game.units[1])}, the least possible loss"
        got, hint = (
            amount(allowed, game.units[1]),
            "Raise it, or measure the quality so that the true place costs less.",
        )
        raise BudgetError.breaking("budget", "compare", rule, got, hint, least=game.least_loss)
    return allowed


def length_of(
    over: str | timedelta, profile: MarkovProfile, accesses: int | None, walks: int | None
) -> tuple[int, int]:
    """How many accesses each of how many walks has: as many as were given, or so that a window of the budget settles.

    >>> length_of("access", MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]]), None, None)
    (50, 200)
    """
    usual = windows_seen(window_of(over, profile.step, 1, "compare"), ACCESSES, WALKS)
    if accesses is not None:
        return accesses, WALKS if walks is None else walks
    return usual[0], usual[1] if walks is None else walks


def measure_of(
    profile: MarkovProfile,
    privacy: MetricLike,
    quality: MetricLike,
    over: str | timedelta,
    accesses: int | None,
    walks: int | None,
    seed: int,
) -> Measure:
    """How all are measured, once what was given is known to be right."""
    owner = "compare"
    if not isinstance(profile, MarkovProfile) or profile.order > 1:
        rule = "a MarkovProfile of order 1, as some of the rivals follow such a chain"
        raise broken_rule("profile", owner, rule, f"{type(profile).__name__} of order {getattr(profile, 'order', 0)}")
    accesses, walks = length_of(over, profile, accesses, walks)
    whole_number(walks, "walks", owner, least=2)
    whole_number(accesses, "accesses", owner)
    whole_number(seed, "seed", owner, least=0)
    d_p, d_q = as_metric(privacy, "privacy", profile, owner), as_metric(quality, "quality", profile, owner)
    setting = Setting(profile, privacy=d_p, quality=d_q)
    run = Run(truth(setting.game), profile, privacy=setting.privacy, accesses=accesses, owner=owner)
    refuse_many(run, walks)
    return Measure(setting, accesses, walks, seed)


def beside(
    measure: Measure,
    budget: float,
    rivals: Sequence[Rival],
    over: str | timedelta,
    workers: int,
    progress: Advance | None,
) -> Comparison:
    """All mechanisms at one budget."""
    game, found = measure.setting.game, list[ComparisonRow]()
    target = min(budget, game.saturation)
    tasks = measure.tasks(budget, target, rivals, over)
    ours = [name for name in OURS if name != WINDOWED or over != ACCESS]
    for rows in Parallel(workers, return_as="generator_unordered", batch_size=1)(tasks):
        found += rows
        if progress is not None:
            progress("mechanisms", len(found), len(rivals) + len((*ours, *ENDS, SPORADIC)))
    comparison = Comparison(
        (), target, measure.bound(target), game.prior_risk, measure.accesses, measure.walks, *game.units
    )
    found.sort(key=lambda row: (row.mechanism in ENDS, not comparison.equal(row), -row.filter))
    return replace(comparison, rows=tuple(found))
