"""What is done for every user of a fleet: learn, plan or design, attack; pure, so that it may be done anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from itertools import product

import msgspec
import numpy as np
import pandas as pd

from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.label import Label, evaluate
from hideseek.adversary.naming import Naming, namings
from hideseek.codebook.codebook import Codebook, codebook_from
from hideseek.designing.designer import design
from hideseek.designing.gap_losses import worst_loss_after_gaps
from hideseek.errors import HideseekError, broken_rule, without_value
from hideseek.fleet.playbooks import WALKS, attacked, planned, with_intervals
from hideseek.game.budget import budget_through_time, parsed_budget
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import UNITS, metric_of
from hideseek.metrics.sensitive_places import SensitivePlace, held, sensitive_place, weighed, weights_of
from hideseek.model.account import checked_cap, window_of
from hideseek.model.markov import MarkovProfile
from hideseek.model.own_places import FEW_DAYS, coverage, narrow_budget
from hideseek.model.profile import STEP, regions_of
from hideseek.model.region_choice import RegionChoice
from hideseek.model.regions import Places, Regions, in_space, reach
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.training import adversary_of_playbook
from hideseek.playbook.playbook import playbook_from
from hideseek.solvers.certificate import relative_gap
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar
from hideseek.util.choices import ACCESS, OVER, Against, MetricName
from hideseek.util.time_steps import checked_step, in_words, written_step
from hideseek.util.units import is_length, metres_beside, shown


@checked
@dataclass(frozen=True, kw_only=True)
class Job:
    """A playbook, or a codebook, for every privacy metric and budget, the same for all users.

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
    memory : int, optional
        Makes codebooks that remember so many releases, as in :meth:`hideseek.Scenario.past_present`; without it,
        playbooks, which remember them all.
    privacy : str or tuple of str
        Names of the metrics of the adversary's error.
    quality : str
        Name of the metric of the loss of quality.
    budgets : tuple of str or float
        Expected losses, on average over ``over``: displacements such as "500m", percentages of the saturating
        budget, at which releases reveal nothing, or numbers in the unit of the quality metric.
    over, cap, against : optional
        Of playbooks: whether budgets hold at every "access" or on average over a window such as "1 day", the most
        budgets that an access may lose then, and which adversary: see :func:`hideseek.protect`.
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
    >>> Job(over="24h", cap=4).over
    '1 day'
    """

    grid: tuple[int, int] | None = None
    cell: str | float | None = None
    box: tuple[float, float, float, float] | None = None
    h3: int | None = None
    places: Places | None = None
    about: int | None = None
    step: str = STEP
    memory: int | None = None
    privacy: str | tuple[str, ...] = (MetricName.EUCLID,)
    quality: str = MetricName.SQUARED
    budgets: tuple[str | float, ...] = ("20%",)
    over: str | timedelta | None = None
    cap: float | None = None
    against: Against | str | None = None
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse now what would be refused for every user."""
        owner = "fleet"
        _ = self.choice
        checked_step(self.step, owner)
        if self.memory is not None:
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
        for name, value in kept_budget(self.memory, self.over, self.cap, self.against, self.step, owner).items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "sensitive", tuple(self.sensitive))
        for text in self.sensitive:
            sensitive_place(text)

    @property
    def choice(self) -> RegionChoice:
        """How the map of every user is cut into places."""
        named = {one.name: getattr(self, one.name) for one in fields(RegionChoice)}
        return RegionChoice(**named)

    @property
    def makes(self) -> tuple[str, ...]:
        """The kinds of files that every design of a user has; a device reads the last."""
        return ("plan", "playbook") if self.memory is None else ("codebook",)

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


def kept_budget(
    memory: int | None,
    over: str | timedelta | None,
    cap: float | None,
    against: Against | str | None,
    step: str,
    owner: str,
) -> dict[str, str | float | None]:
    """How budgets hold, each written in one way only; what is about playbooks is refused where codebooks are made."""
    given: dict[str, str | float | None] = {"over": None, "cap": None, "against": None}
    if memory is not None:
        for name, value in (("over", None if over == ACCESS else over), ("cap", cap), ("against", against)):
            if value is not None:
                rule = "left out beside memory, as codebooks keep their budget given the releases that they remember"
                raise broken_rule(name, owner, rule, value, "Make playbooks, without memory.")
        return given
    asked = OVER if over is None else over
    window = window_of(asked, step, 1, owner)
    adversary = adversary_of_playbook(against, window, owner)
    given["over"] = ACCESS if window == 1 else plain_length(asked, owner)
    return given | {"cap": checked_cap(cap, window, owner), "against": None if adversary is None else str(adversary)}


def plain_length(length: str | timedelta, owner: str) -> str:
    """A length of time as it is written in one way only.

    >>> plain_length("24h", "fleet"), plain_length("100min", "fleet")
    ('1 day', '0 days 01:40:00')
    """
    exact = checked_step(length, owner)
    words = in_words(exact)
    return words if checked_step(words, owner) == exact else written_step(exact)


class HitRate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often an adversary who remembers every release names a place: when the user is ``there``, and elsewhere.

    ``share`` is the share of the accesses at which the user is there; the others are the ends of 95 % intervals.
    """

    place: str
    share: float
    there: float
    there_low: float
    there_high: float
    elsewhere: float
    elsewhere_low: float
    elsewhere_high: float


class FleetRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One design of one user in the table of labels: the numbers of a playbook, or of a codebook and of its label.

    ``asked`` is the budget as the job has it, such as 20%, and ``budget`` the number in the unit of the quality metric.
    A playbook's holds ``over`` "access", at every one, or a window such as "1 day", on average, after every history.
    ``quality_loss`` is the mean and ``worst_loss`` the largest of what an access is expected to lose, given what was
    exposed before, and ``worst_window`` the largest mean over the accesses of a window; ``realised`` is the mean of
    what the releases that came did lose.
    Errors are in the unit of the privacy metric, times weights for a user with ``sensitive_places``; losses in that of
    the quality metric, and where it is m or m² the columns ``..._metres`` have the mean or root mean square
    displacement. ``risk_share`` is the share of the prior risk that the filter's error is. ``gap_filter`` and
    ``gap_worst_loss`` are those of a run with gaps; of a codebook, the most over all patterns of gaps. ``hit_rates``
    are those of places with a name and of sensitive ones. ``optimality_gap`` is the largest of the codebook's stages,
    for the distribution that each was made for; ``seconds`` are CPU time; ``reason`` says why there is no file.

    ``width`` is the median width of the user's places in metres, none where they are points; ``outside`` the share of
    fixes that lies in no place, ``answered`` the share at which a device answers, as they are not far off the map;
    ``hours`` and ``days`` are the time in which the user was seen. Numbers of a user with ``few_days`` are no promise.
    A design is ``narrow`` if its budget is far below that width, which is told where losses have metres. ``bytes`` and
    ``sha256`` are those of the codebook or the playbook, which a device reads.
    """

    user: str
    fixes: int
    places: int | None = None
    sensitive_places: int | None = None
    width: float | None = None
    outside: float | None = None
    answered: float | None = None
    hours: float | None = None
    days: int | None = None
    few_days: bool | None = None
    privacy_metric: str | None = None
    quality_metric: str | None = None
    asked: str | None = None
    over: str | None = None
    budget: float | None = None
    budget_metres: float | None = None
    narrow: bool | None = None
    hit_rates: list[HitRate] | None = None
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
    gap_filter: float | None = None
    gap_filter_low: float | None = None
    gap_filter_high: float | None = None
    quality_loss: float | None = None
    quality_loss_metres: float | None = None
    worst_loss: float | None = None
    worst_loss_metres: float | None = None
    gap_worst_loss: float | None = None
    gap_worst_loss_metres: float | None = None
    worst_window: float | None = None
    worst_window_metres: float | None = None
    realised: float | None = None
    realised_metres: float | None = None
    over_budget: float | None = None
    over_budget_low: float | None = None
    over_budget_high: float | None = None
    worst_loss_given_all: float | None = None
    worst_loss_given_all_metres: float | None = None
    prior_risk: float | None = None
    risk_share: float | None = None
    ceiling: float | None = None
    kept: float | None = None
    kept_low: float | None = None
    kept_high: float | None = None
    optimality_gap: float | None = None
    accesses: int | None = None
    walks: int | None = None
    tables: int | None = None
    plan: str | None = None
    plan_bytes: int | None = None
    plan_sha256: str | None = None
    playbook: str | None = None
    codebook: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    seconds: float | None = None
    reason: str | None = None


Files = dict[str, bytes]  # contents by kind
Result = tuple[FleetRow, Files]  # no files where there is a reason
Numbers = dict[str, float | int]


def protect(user: str, traces: pd.DataFrame, job: Job) -> list[Result]:
    """All designs of a user, or why there is none; never an exception, and never a true location in a reason."""
    start, results = time.process_time(), []
    for row, files in attempts(user, traces, job):
        end = time.process_time()
        results.append((msgspec.structs.replace(row, seconds=end - start), files))
        start = end
    return results


def attempts(user: str, traces: pd.DataFrame, job: Job) -> Iterator[Result]:
    """The designs of a user, one after the other."""
    row = FleetRow(user=user, fixes=len(traces))
    try:
        areas = [sensitive_place(text) for text in job.sensitive]
        profile = MarkovProfile.fit(traces, job.choice.regions(traces, sensitive=areas), step=job.step)
        regions = regions_of(profile)
        covered, names = coverage(traces, regions), called(regions, areas)
        near = on_the_map(traces, regions)
    except Exception as error:  # noqa: BLE001
        yield msgspec.structs.replace(row, reason=reason_of(error)), {}
        return
    row = msgspec.structs.replace(
        row, places=profile.places, width=covered.median, outside=covered.outside, answered=near, hours=covered.hours,
        days=covered.days, few_days=covered.days < FEW_DAYS, quality_metric=job.quality,
    )  # fmt: skip
    for privacy, asked in job.designs:
        named_row = msgspec.structs.replace(row, privacy_metric=privacy, asked=asked, over=job.over)
        try:
            d_p, d_q = (metric_of(MetricName(name), regions) for name in (privacy, job.quality))
            d_p = weighed(d_p, regions, areas)
            files, numbers, named = made(profile, job, d_p, d_q, asked)
            numbers |= {"sensitive_places": len(weights_of(d_p)), "risk_share": risk_share(numbers)}
            if "budget_metres" in numbers:
                numbers["narrow"] = bool(narrow_budget(regions, numbers["budget_metres"]))
            rates = [hit_rate(names[one.place], one) for one in named if one.place in names]
        except Exception as error:  # noqa: BLE001
            yield msgspec.structs.replace(named_row, reason=reason_of(error)), {}
        else:
            yield msgspec.structs.replace(named_row, **numbers, hit_rates=rates), files


def made(
    profile: MarkovProfile, job: Job, privacy: Metric, quality: Metric, asked: str
) -> tuple[Files, Numbers, tuple[Naming, ...]]:
    """The files of a design, the columns that they fill, and how often an adversary names each place."""
    if job.memory is None:
        budget = budget_through_time(asked, profile, Scenario.sporadic(), privacy, quality, "plan")
        over = job.over or ACCESS
        game = BeliefGame.of(profile, privacy=privacy, quality=quality, budget=budget, over=over, cap=job.cap)
        files = planned(game, job.against)
        return files, *attacked(playbook_from(memoryview(files["playbook"])))  # verified, and what a device will read
    content = designed(profile, job.memory, privacy, quality, asked)
    codebook = codebook_from(memoryview(content))
    run = Run(codebook, profile, privacy=privacy, owner="fleet")
    numbers = numbers_of(codebook, evaluate(codebook, profile))
    return {"codebook": content}, numbers, namings(run, walks=WALKS)


def designed(profile: MarkovProfile, memory: int, privacy: Metric, quality: Metric, asked: str) -> bytes:
    """The file of the codebook."""
    scenario = Scenario.past_present(memory)
    allowed = budget_through_time(asked, profile, scenario, privacy, quality, "design")
    return design(profile, scenario, privacy=privacy, quality=quality, budget=allowed, workers=1).content


def called(regions: Regions, areas: Sequence[SensitivePlace]) -> dict[int, str]:
    """What places are called that have a name of their own, as stays do and cells do not, or are sensitive.

    >>> regions = Places([46.52, 46.53], [6.57, 6.58], names=("home", "work"))
    >>> called(regions, [sensitive_place("clinic=46.53,6.58")])
    {0: 'home', 1: 'clinic'}
    """
    names: tuple[str, ...] = getattr(regions, "names", ())
    own = getattr(regions, "is_stay", [True] * len(names))
    found = {place: name for place, (name, is_own) in enumerate(zip(names, own, strict=True)) if is_own}
    return found | {place: one.name for one in areas for place in np.flatnonzero(held(one, regions)).tolist()}


def hit_rate(name: str, naming: Naming) -> HitRate:
    """How often a place is named, in plain numbers for files."""
    there, elsewhere = ((float(rate), *map(float, rate.interval)) for rate in (naming.there, naming.elsewhere))
    return HitRate(name, naming.share, *there, *elsewhere)


def on_the_map(traces: pd.DataFrame, regions: Regions) -> float:
    """The share of fixes that are not far off the map, so that a device answers there.

    >>> fixes = pd.DataFrame({"latitude": [46.52, 46.5, 40.0, 46.53], "longitude": [6.57, 6.57, 6.57, 6.58]})
    >>> on_the_map(fixes, Places([46.52, 46.53], [6.57, 6.58]))
    0.75
    """
    points = traces[["latitude", "longitude"]].to_numpy(np.float64).T
    nearest = regions.centres[regions.nearest(*points)].T
    return float((np.linalg.norm(in_space(*points) - in_space(*nearest), axis=0) <= reach(regions)).mean())


def risk_share(numbers: Numbers) -> float:
    """The filter's error as a share of the prior risk; all of a risk of 0 is left."""
    return numbers["filter"] / numbers["prior_risk"] if numbers["prior_risk"] else 1.0


def numbers_of(codebook: Codebook, label: Label) -> Numbers:
    """The columns of a row that a codebook and its label fill."""
    losses: Numbers = {
        "budget": codebook.budget,
        "quality_loss": label.quality_loss,
        "worst_loss": codebook.deployed.worst_loss,
        "worst_loss_given_all": label.worst_loss_given_all,
        "gap_worst_loss": worst_loss_after_gaps(codebook),
    }
    simulated = ("filter", "smoother", "viterbi", "predictor", "over_budget", "kept")
    numbers: Numbers = {name: getattr(label, name) for name in ("prior_risk", "ceiling", "accesses", "walks")}
    numbers |= losses | with_intervals({name: getattr(label, name) for name in simulated})
    numbers |= {"window": float(label.window), "optimality_gap": largest_optimality_gap(codebook)}
    return numbers | metres_beside(losses, codebook.quality.unit)


def largest_optimality_gap(codebook: Codebook) -> float:
    """How far, as a share, the privacy of a stage is from what no tables exceed, where that is furthest."""
    return max(
        relative_gap(
            float(worth.weight @ worth.privacy), float(worth.weight @ worth.bound), stage.risk(codebook.privacy)
        )
        for stage, worth in zip(codebook.stages, codebook.worths(), strict=True)
    )


def reason_of(error: Exception) -> str:
    """Why a user has no design; what other libraries say may hold anything, so that it is not repeated."""
    return without_value(error) if isinstance(error, HideseekError) else f"unexpected {type(error).__name__}"
