"""What is done for every user of a fleet: learn, design, evaluate; pure, so that it may be done anywhere and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product

import msgspec
import pandas as pd

from hideseek.adversary.label import Label, evaluate
from hideseek.codebook.codebook import Codebook, codebook_from
from hideseek.designing.designer import design
from hideseek.errors import HideseekError, broken_rule, without_value
from hideseek.game.budget import budget_through_time, parsed_budget
from hideseek.metrics.named import UNITS, metric_of
from hideseek.metrics.sensitive_places import sensitive_place, weighed, weights_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.own_places import coverage, narrow_budget
from hideseek.model.profile import STEP, regions_of
from hideseek.model.region_choice import RegionChoice
from hideseek.model.regions import Places
from hideseek.model.scenario import Scenario
from hideseek.solvers.certificate import relative_gap
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar
from hideseek.util.choices import MetricName
from hideseek.util.estimates import Estimate
from hideseek.util.time_steps import checked_step
from hideseek.util.units import is_length, metres_beside, shown


@checked
@dataclass(frozen=True, kw_only=True)
class Job:
    """One design for every privacy metric and budget, the same for all users.

    Parameters
    ----------
    grid, cell, h3, places, about : (int, int), str, int, Places, int, optional
        How the map is cut into places, in one of these ways: a grid of rows and columns, square cells of a size such
        as ``"500m"``, H3 hexagons of a resolution, given places, or about so many by the stays and ways of each user;
        30 of these if nothing is said.
    box : (float, float, float, float), optional
        South, north, west and east of a grid or of cells, in degrees; around each user's own fixes if not given.
    step : str
        Length of a time step.
    memory : int
        Releases that the adversary remembers, as in :meth:`hideseek.Scenario.past_present`.
    privacy : str or tuple of str
        Names of the metrics of the adversary's error.
    quality : str
        Name of the metric of the loss of quality.
    budgets : tuple of str or float
        Expected losses per access: displacements such as "500m", percentages of the saturating budget, at which
        releases reveal nothing, or numbers in the unit of the quality metric.
    sensitive : tuple of str
        Locations at which errors of the adversary count for more, as :func:`hideseek.metrics.sensitive_place` reads
        them. Those that lie in no place of a user change nothing for this user.

    Raises
    ------
    ParameterError
        If a value breaks its rule: here, and not for every user.

    Examples
    --------
    >>> Job(privacy=("hamming", "euclid"), quality="hamming", budgets=("20%", 0.5)).designs
    (('hamming', '20%'), ('hamming', '0.5'), ('euclid', '20%'), ('euclid', '0.5'))
    >>> Job(privacy="euclid", budgets=("0.5 km",)).designs
    (('euclid', '500m'),)
    """

    grid: tuple[int, int] | None = None
    cell: str | float | None = None
    box: tuple[float, float, float, float] | None = None
    h3: int | None = None
    places: Places | None = None
    about: int | None = None
    step: str = STEP
    memory: int = 1
    privacy: str | tuple[str, ...] = (MetricName.EUCLID,)
    quality: str = MetricName.SQUARED
    budgets: tuple[str | float, ...] = ("20%",)
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse now what would be refused for every user."""
        owner = "fleet"
        _ = self.choice
        checked_step(self.step, owner)
        Scenario.past_present(self.memory)
        names = (self.privacy,) if isinstance(self.privacy, str) else self.privacy
        privacy = tuple(str(one_of(MetricName, name, "privacy", owner)) for name in names)
        quality = one_of(MetricName, self.quality, "quality", owner)
        budgets = tuple(plain_budget(budget, UNITS[quality], owner) for budget in self.budgets)
        for name, values in (("privacy", privacy), ("budgets", budgets)):
            if not values or len(set(values)) < len(values):
                raise broken_rule(name, owner, "one or more, none of them twice", list(values))
            object.__setattr__(self, name, values)
        object.__setattr__(self, "quality", str(quality))
        object.__setattr__(self, "sensitive", tuple(self.sensitive))
        for text in self.sensitive:
            sensitive_place(text)

    @property
    def choice(self) -> RegionChoice:
        """How the map of every user is cut into places."""
        named = {one.name: getattr(self, one.name) for one in fields(RegionChoice)}
        return RegionChoice(**named)

    @property
    def designs(self) -> tuple[tuple[str, str], ...]:
        """Privacy metric and budget, as it was asked for, of every design of a user."""
        return tuple(product(self.privacy, map(str, self.budgets)))


def plain_budget(budget: str | float, unit: str, owner: str) -> str:
    """A budget as it is written in one way only, for people and in names of files: in metres where losses have them.

    >>> plain_budget(" 20.0 %", "m²", "fleet"), plain_budget(250000.0, "m²", "fleet"), plain_budget("0.30", "", "fleet")
    ('20%', '500m', '0.3')
    """
    if isinstance(budget, str):
        number, share = parsed_budget(budget, unit, owner)
    else:
        number, share = scalar(budget, "budget", owner), False
    if share:
        return f"{100 * number:.15g}%"
    return f"{shown(number, unit):.15g}{'m' * is_length(unit)}"


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One design of one user in the table of labels; its numbers are those of a codebook and of its label.

    ``asked`` is the budget as the job has it, such as 20%, and ``budget`` the number in the unit of the quality metric.
    Errors are in the unit of the privacy metric, times weights for a user with ``sensitive_places``; losses in that of
    the quality metric, and where it is m or m² the columns ``..._metres`` have the mean or root mean square
    displacement. ``optimality_gap`` is the largest of the codebook's stages, for the distribution that each was made
    for; ``seconds`` are CPU time; ``reason`` says why there is no codebook.

    ``width`` is the median width of the user's places in metres, none where they are points; ``outside`` the share of
    fixes that lies in no place; ``hours`` and ``days`` are the time in which the user was seen. A codebook is
    ``narrow`` if its budget is far below that width, which is told where losses have metres.
    """

    user: str
    fixes: int
    places: int | None = None
    sensitive_places: int | None = None
    width: float | None = None
    outside: float | None = None
    hours: float | None = None
    days: int | None = None
    privacy_metric: str | None = None
    quality_metric: str | None = None
    asked: str | None = None
    budget: float | None = None
    budget_metres: float | None = None
    narrow: bool | None = None
    window: float | None = None
    filter: float | None = None
    filter_low: float | None = None
    filter_high: float | None = None
    smoother: float | None = None
    smoother_low: float | None = None
    smoother_high: float | None = None
    viterbi: float | None = None
    viterbi_low: float | None = None
    viterbi_high: float | None = None
    predictor: float | None = None
    predictor_low: float | None = None
    predictor_high: float | None = None
    quality_loss: float | None = None
    quality_loss_metres: float | None = None
    worst_loss: float | None = None
    worst_loss_metres: float | None = None
    over_budget: float | None = None
    over_budget_low: float | None = None
    over_budget_high: float | None = None
    worst_loss_given_all: float | None = None
    worst_loss_given_all_metres: float | None = None
    prior_risk: float | None = None
    ceiling: float | None = None
    kept: float | None = None
    kept_low: float | None = None
    kept_high: float | None = None
    optimality_gap: float | None = None
    accesses: int | None = None
    walks: int | None = None
    codebook: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    seconds: float | None = None
    reason: str | None = None


Result = tuple[FleetRow, bytes]  # with the content of the codebook; none where there is a reason


def protect(user: str, traces: pd.DataFrame, job: Job) -> list[Result]:
    """All designs of a user, or why there is none; never an exception, and never a true location in a reason."""
    start, results = time.process_time(), []
    for row, content in attempts(user, traces, job):
        end = time.process_time()
        results.append((msgspec.structs.replace(row, seconds=end - start), content))
        start = end
    return results


def attempts(user: str, traces: pd.DataFrame, job: Job) -> Iterator[Result]:
    """The designs of a user, one after the other."""
    row = FleetRow(user=user, fixes=len(traces))
    try:
        areas = [sensitive_place(text) for text in job.sensitive]
        profile = MarkovProfile.fit(traces, job.choice.regions(traces, sensitive=areas), step=job.step)
        covered = coverage(traces, regions_of(profile))
    except Exception as error:  # noqa: BLE001
        yield msgspec.structs.replace(row, reason=reason_of(error)), b""
        return
    row = msgspec.structs.replace(
        row, places=profile.places, width=covered.median, outside=covered.outside, hours=covered.hours,
        days=covered.days, quality_metric=job.quality,
    )  # fmt: skip
    for privacy, asked in job.designs:
        named_row = msgspec.structs.replace(row, privacy_metric=privacy, asked=asked)
        try:
            content = designed(profile, job, privacy, asked)
            codebook = codebook_from(memoryview(content))  # verified, and what a device will read
            numbers = numbers_of(codebook, evaluate(codebook, profile))
            if "budget_metres" in numbers:
                numbers["narrow"] = bool(narrow_budget(regions_of(profile), numbers["budget_metres"]))
        except Exception as error:  # noqa: BLE001
            yield msgspec.structs.replace(named_row, reason=reason_of(error)), b""
        else:
            yield msgspec.structs.replace(named_row, **numbers, bytes=len(content)), content


def designed(profile: MarkovProfile, job: Job, privacy: str, asked: str) -> bytes:
    """The file of the codebook."""
    scenario = Scenario.past_present(job.memory)
    d_p, d_q = (metric_of(MetricName(name), regions_of(profile)) for name in (privacy, job.quality))
    d_p = weighed(d_p, regions_of(profile), [sensitive_place(text) for text in job.sensitive])
    allowed = budget_through_time(asked, profile, scenario, d_p, d_q, "design")
    return design(profile, scenario, privacy=d_p, quality=d_q, budget=allowed, workers=1).content


def numbers_of(codebook: Codebook, label: Label) -> dict[str, float | int]:
    """The columns of a row that a codebook and its label fill."""
    numbers: dict[str, float | int] = {
        "sensitive_places": len(weights_of(codebook.privacy)),
        "budget": codebook.budget,
        "worst_loss": codebook.deployed.worst_loss,
        "worst_loss_given_all": label.worst_loss_given_all,
    }
    for name in ("window", "filter", "smoother", "viterbi", "predictor", "over_budget", "kept"):
        estimate: Estimate = getattr(label, name)
        numbers[name] = float(estimate)
        if name != "window":  # computed exactly, never simulated
            numbers[f"{name}_low"], numbers[f"{name}_high"] = map(float, estimate.interval)
    for name in ("quality_loss", "prior_risk", "ceiling", "accesses", "walks"):
        numbers[name] = getattr(label, name)
    losses = {"budget": codebook.budget} | {
        name: numbers[name] for name in ("quality_loss", "worst_loss", "worst_loss_given_all")
    }
    return numbers | metres_beside(losses, codebook.quality.unit) | {"optimality_gap": largest_optimality_gap(codebook)}


def largest_optimality_gap(codebook: Codebook) -> float:
    """How far, as a share, the privacy of a stage is from what no tables exceed, where that is furthest."""
    return max(
        relative_gap(
            float(worth.weight @ worth.privacy), float(worth.weight @ worth.bound), stage.risk(codebook.privacy)
        )
        for stage, worth in zip(codebook.stages, codebook.worths(), strict=True)
    )


def reason_of(error: Exception) -> str:
    """Why a user has no codebook; what other libraries say may hold anything, so that it is not repeated."""
    return without_value(error) if isinstance(error, HideseekError) else f"unexpected {type(error).__name__}"
