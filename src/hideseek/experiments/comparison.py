"""All mechanisms on one scale: the same person, the same loss of quality, the same adversaries.

The codebook of this person is designed first. What it loses as deployed is what every rival may lose: its dial is
turned until it does. Then the same adversaries attack them all. The best mechanism for a single place, under an
adversary who remembers nothing, is the ceiling: nothing that loses as little exceeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import brentq

from hideseek.adversary.exposers import Exposer
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.label import FAR, ROUNDING, share
from hideseek.adversary.policies import against_policy, policy_loss
from hideseek.adversary.sequences import refuse_many
from hideseek.adversary.through_time import Adversary, estimates
from hideseek.adversary.window import carry
from hideseek.baselines import RIVALS
from hideseek.baselines.plain import constant, truth
from hideseek.baselines.rival import Rival, Setting
from hideseek.codebook.codebook import Codebook
from hideseek.designing.designer import design
from hideseek.errors import CertificateError, broken_rule
from hideseek.game.budget import budget_of
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.markov import MarkovProfile
from hideseek.model.scenario import Scenario
from hideseek.solvers.dispatch import solve
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.display import html_table
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance
from hideseek.util.units import amount, metres_beside, shown
from hideseek.util.workers import worker_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCESSES, WALKS = 50, 200
MEASURED = ("window", "filter", "smoother", "viterbi", "quality_loss")
MEMORY = 1  # releases before this one that the adversary with a window remembers, and the codebook
ATTACKS = (Adversary.FILTER, Adversary.SMOOTHER, Adversary.VITERBI)
ENDS = ("truth", "constant")  # of every dial, with a loss of their own
EXACTLY, NEARLY = 1e-6, 1e-4  # how near a calibrated loss comes to its target, relatively: known, and simulated
EQUAL = 1e-2  # losses that are further apart, relatively, are not compared
FEWER, NEAR = 10, 1.25  # a policy's dial is found with so many times fewer walks, then again within this factor


@dataclass(frozen=True)
class ComparisonRow:
    """One mechanism: where its ``dial`` stands, the adversaries' expected errors, its loss, and its ``ceiling``.

    The ceiling is what no mechanism that loses as little can exceed. ``noise`` is the dial's number, if it has one.
    """

    mechanism: str
    reference: str
    dial: str
    noise: float | None
    window: Estimate
    filter: Estimate
    smoother: Estimate
    viterbi: Estimate
    quality_loss: Estimate
    ceiling: float

    def __post_init__(self) -> None:
        for adversary in (self.window, self.filter, self.smoother):
            allowed = FAR * (adversary - adversary.interval[0]) + ROUNDING * max(1.0, self.ceiling)
            if adversary > self.ceiling + allowed:
                raise CertificateError(f"{self.mechanism} beats the optimum: {adversary:.9g} > {self.ceiling:.9g}.")

    @property
    def kept(self) -> Estimate:
        """The filter's share of the ceiling."""
        return share(self.filter, self.ceiling)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Rows at equal ``quality_loss``, the most private against the filter first; then those with another loss.

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
        """Whether a row loses as much as the codebook; the truth, the constant place and coarse dials do not."""
        return abs(row.quality_loss - self.quality_loss) <= EQUAL * self.quality_loss

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
    rivals: Sequence[Rival] = RIVALS,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    workers: int | None = None,
    progress: Advance | None = None,
) -> Comparison:
    """Compare all rivals, the optimal sporadic mechanism and a codebook of this budget, at the codebook's quality loss.

    Parameters
    ----------
    profile : MarkovProfile
        How the person moves; of order 1, as some rivals assume.
    privacy, quality : Metric, str or ``(places, places)`` array
        How the adversary's error and the loss of quality are measured.
    budget : float or str
        Expected loss per access that the codebook may have, in the unit of ``quality``; or words: "500m", "20%".
    rivals : sequence of Rival
        Mechanisms whose dials are turned until they lose as much as the codebook; all known ones by default.
    accesses, walks, seed : int
        Length of the run, and which walks are simulated where enumeration does not fit, with 95 % intervals.
    workers, progress : optional
        Processes (default: one per core); called with what is being done, how much is done, and of how much.

    Returns
    -------
    Comparison
        One row per mechanism, the most private first. The adversary with a window remembers one earlier release.

    Raises
    ------
    ParameterError
        If a value breaks its rule; a SizeError if the run or the walks would not fit in memory.

    Examples
    --------
    >>> from hideseek.metrics import distance
    >>> from hideseek.model.regions import Places
    >>> regions = Places([0.0, 0.0, 0.01], [0.0, 0.01, 0.0])
    >>> profile = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.3, 0.1, 0.6]], regions)
    >>> metres = distance(regions)
    >>> found = compare(
    ...     profile, privacy=metres, quality=metres, budget=100.0, rivals=RIVALS[:2], accesses=4, workers=1
    ... )
    >>> [row.mechanism for row in found.rows if row.quality_loss > 150]
    ['constant']
    >>> all(row.filter < row.ceiling + 1e-6 for row in found.rows)
    True
    """
    workers = worker_count(workers, "compare")
    measure = measure_of(profile, privacy, quality, accesses, walks, seed)
    codebook = measure.codebook(budget_of(budget, measure.setting.game, "compare"), workers, progress)
    return beside(codebook, measure, rivals, workers, progress)


def measure_of(
    profile: MarkovProfile, privacy: MetricLike, quality: MetricLike, accesses: int, walks: int, seed: int
) -> _Measure:
    """How all are measured, once what was given is known to be right."""
    owner = "compare"
    if not isinstance(profile, MarkovProfile) or profile.order > 1:
        rule = "a MarkovProfile of order 1, as some of the rivals follow such a chain"
        raise broken_rule("profile", owner, rule, f"{type(profile).__name__} of order {getattr(profile, 'order', 0)}")
    whole_number(walks, "walks", owner, least=2)
    whole_number(accesses, "accesses", owner)
    whole_number(seed, "seed", owner, least=0)
    d_p, d_q = as_metric(privacy, "privacy", profile, owner), as_metric(quality, "quality", profile, owner)
    setting = Setting(profile, privacy=d_p, quality=d_q)
    run = Run(truth(setting.game), profile, privacy=setting.privacy, accesses=accesses, owner=owner)
    refuse_many(run, walks)
    return _Measure(setting, accesses, walks, seed)


def beside(
    codebook: Codebook, measure: _Measure, rivals: Sequence[Rival], workers: int, progress: Advance | None
) -> Comparison:
    """A codebook, and all others at its loss."""
    ours = measure.row("codebook", "Theodorakopoulos et al. 2014", "releases remembered", MEMORY, codebook)
    target = float(ours.quality_loss)
    found = [ours]
    for row in measure.all_rows(target, rivals, workers):
        found.append(row)
        if progress is not None:
            progress("rivals", len(found), len(rivals) + 4)
    game = measure.setting.game
    comparison = Comparison((), target, ours.ceiling, game.prior_risk, measure.accesses, measure.walks, *game.units)
    found.sort(key=lambda row: (row.mechanism in ENDS, not comparison.equal(row), -row.filter))
    return replace(comparison, rows=tuple(found))


@dataclass(frozen=True, eq=False)
class _Measure:
    """How exposers are measured: for whom, over how many accesses, by which walks."""

    setting: Setting
    accesses: int
    walks: int
    seed: int

    def codebook(self, budget: float, workers: int, progress: Advance | None) -> Codebook:
        """The codebook that the rivals are held against."""
        scenario, d_p, d_q = Scenario.past_present(MEMORY), self.setting.privacy, self.setting.quality
        profile = self.setting.profile
        return design(
            profile, scenario, privacy=d_p, quality=d_q, budget=budget, workers=workers, progress=progress
        )  # fmt: skip

    def all_rows(self, target: float, rivals: Sequence[Rival], workers: int) -> Iterator[ComparisonRow]:
        """The mechanisms beside the codebook, in several processes."""
        game = self.setting.game
        optimum = solve(game.with_budget(target)).mechanism
        fixed = (
            (ENDS[0], "", "", None, truth(game)),
            (ENDS[1], "", "", None, constant(game)),
            ("optimal sporadic", "Shokri et al. 2012", "", None, optimum),
        )
        # the last of the rivals adapt to what they exposed and take longest: they start first
        tasks = [delayed(self.calibrated_row)(rival, target) for rival in reversed(rivals)]
        tasks += [delayed(self.row)(*entry) for entry in fixed]
        rows: Iterator[ComparisonRow] = Parallel(workers, return_as="generator_unordered", batch_size=1)(tasks)
        yield from rows

    def calibrated_row(self, rival: Rival, target: float) -> ComparisonRow:
        """A rival that loses as much as the target, or as nearly as it can."""
        few, whole = replace(self, walks=max(2, self.walks // FEWER)), rival.span(self.setting)
        noise = few.turned(rival, whole, target)
        made = rival.make(self.setting, noise)
        if isinstance(made, Policy):
            near = noise / NEAR, noise * NEAR
            noise = self.turned(rival, near, target)
            if noise in near:  # the few walks were not typical
                noise = self.turned(rival, whole, target)
            made = rival.make(self.setting, noise)
        return self.row(rival.name, rival.reference, rival.dial, noise, made)

    def turned(self, rival: Rival, span: tuple[float, float], target: float) -> float:
        """Where a rival's dial must be for it to lose as much as the target."""
        return calibrated(lambda noise: self.loss(rival.make(self.setting, noise)), span, target)

    def loss(self, exposer: Exposer) -> Estimate:
        """The expected quality loss in the run."""
        if isinstance(exposer, Mechanism):
            return Estimate(float(np.vdot(self.setting.game.cost, exposer.table)))
        course = self.course(exposer)
        if isinstance(exposer, Policy):
            return policy_loss(course, self.setting.quality, walks=self.walks, seed=self.seed)
        return Estimate(carry(course).loss.mean())

    def course(self, exposer: Exposer) -> Run:
        """The run of accesses of an exposer."""
        return Run(exposer, self.setting.profile, privacy=self.setting.privacy, accesses=self.accesses, owner="compare")

    def row(self, mechanism: str, reference: str, dial: str, noise: float | None, exposer: Exposer) -> ComparisonRow:
        """Attack an exposer."""
        course, loss = self.course(exposer), self.loss(exposer)
        if isinstance(exposer, Policy):
            window = against_policy(course, MEMORY, walks=self.walks, seed=self.seed)
        else:
            window = Estimate(carry(course, MEMORY).error.mean())
        found = estimates(course, ATTACKS, walks=self.walks, seed=self.seed)
        ceiling = solve(self.setting.game.with_budget(loss.interval[1])).bound
        names = {str(adversary): error for adversary, error in found.items()}
        return ComparisonRow(mechanism, reference, dial, noise, window, quality_loss=loss, ceiling=ceiling, **names)


def calibrated(loss: Callable[[float], Estimate], span: tuple[float, float], target: float) -> float:
    """Where on a dial the loss is the target, by bisection (Brent's); the nearer end where it is beyond.

    >>> round(calibrated(lambda noise: Estimate(noise**2), (1e-3, 1e3), target=4.0), 6)
    2.0
    """
    # on a log scale, unless the dial starts at 0
    turn, back = (np.log, np.exp) if span[0] > 0 else (float, float)
    low, high = (float(turn(end)) for end in span)

    @cache
    def missed(dial: float) -> float:
        found = loss(float(back(dial)))
        near = abs(found - target) <= (EXACTLY if found.exact else NEARLY) * target
        return 0.0 if near else found - target  # near enough ends the search

    if missed(low) >= 0:
        return span[0]
    return float(back(brentq(missed, low, high, xtol=1e-12))) if missed(high) > 0 else span[1]
