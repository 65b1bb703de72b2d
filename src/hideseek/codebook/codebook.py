"""A codebook: what to expose at every place after every history, as whole numbers with the proof of their privacy.

The file is sealed (see :mod:`hideseek.storage.sealed_file`), and believed only after its checksum, its tables and its
certificate have been computed again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from hideseek.codebook.claims import AGREE, TINY, Deployed, Summary, check_certificate, refuse_above, summary
from hideseek.codebook.stage import SUMS_TO_ONE, Attack, Prior, Stage, Worth
from hideseek.codebook.weights import Table, Unsigned
from hideseek.errors import CodebookError, broken_rule
from hideseek.metrics.metric import Metric
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.storage.documents import (
    MOST,
    PLACE,
    Amount,
    MetricDocument,
    ScenarioDocument,
    StepLength,
    metric_document,
    metric_from,
    read_regions,
    scenario_document,
    scenario_from,
    tabulated,
)
from hideseek.storage.regions_document import RegionsDocument, regions_document
from hideseek.storage.sealed_file import BLANK, Checksum, Count, FileKind
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.choices import ACCESS, HISTORIES
from hideseek.util.display import html_table
from hideseek.util.on_map import OnMap
from hideseek.util.time_steps import checked_step
from hideseek.util.units import amount


@dataclass(frozen=True, eq=False)
class Chain:
    """The profile that a codebook was made for, as numbers: ``transition`` [state, place] from ``states`` of places."""

    states: IntArray = field(repr=False)
    transition: FloatArray = field(repr=False)


class _StageDocument(msgspec.Struct, forbid_unknown_fields=True):
    scenario: ScenarioDocument
    then: Count
    certificate: Summary


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    hideseek_codebook: Count
    sha256: Checksum
    step: StepLength
    places: Annotated[int, msgspec.Meta(ge=2, le=MOST)]
    regions: RegionsDocument | None
    scenario: ScenarioDocument
    privacy: MetricDocument
    quality: MetricDocument
    budget: Amount
    stages: Annotated[list[_StageDocument], msgspec.Meta(min_length=1, max_length=100_000)]
    gaps: list[Count]
    deployed: Deployed
    over: Literal["histories"] | msgspec.UnsetType = msgspec.UNSET


WITHOUT_CHAIN, AFTER_EVERY_HISTORY, OVER_HISTORIES = 1, 2, 3  # versions; the first is that of hideseek 0.1.0
CODEBOOK = FileKind("codebook", OVER_HISTORIES, _Document, CodebookError)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Codebook(OnMap):
    """Stages for the first accesses, and one that repeats: made by ``design``, used by a ``Device``.

    After a gap the first stage is used, and so on from there. Files of hideseek 0.2.0 may have stages for gaps:
    ``gaps`` holds the number of that for a gap of 2, 3, ... accesses since the last one, that is for 1, 2, ... missed
    accesses. ``deployed`` are the claims of the whole run, ``chain`` the profile that it was designed for. The budget
    holds at every access after every history, or on average ``over`` its histories.
    """

    scenario: Scenario
    places: int
    regions: Regions | None
    step: str
    privacy: Metric
    quality: Metric
    budget: float
    over: str = ACCESS
    stages: tuple[Stage, ...]
    gaps: tuple[int, ...]
    deployed: Deployed
    chain: Chain | None = None
    checksum: str = ""

    def __repr__(self) -> str:
        return f"Codebook({', '.join(f'{name}={value}' for name, value in self._facts.items())})"

    def _repr_html_(self) -> str:
        return html_table("Codebook", self._facts | {"as deployed": repr(self.deployed)})

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "places": self.places,
            "stages": len(self.stages),
            "longest_gap": len(self.gaps) + 1,  # in accesses; 1: none
            "privacy": self.privacy.name,
            "quality": self.quality.name,
            "budget": amount(self.budget, self.quality.unit),
        }

    def plot(self, ax: object = None) -> Any:
        """Draw the privacy of every stage beside what no table could exceed, and return the axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        """
        from hideseek.plots.codebooks import draw_stages  # matplotlib is loaded only to draw

        if ax is not None and not hasattr(ax, "barh"):
            raise broken_rule("ax", "Codebook.plot", "matplotlib axes, or None", type(ax).__name__)
        axes: Any = ax
        found = [summary(worth) for worth in self.worths()]
        names = [self.occasion(number) for number in range(len(self.stages))]
        privacy, bound = ([getattr(own, name) for own in found] for name in ("privacy", "bound"))
        return draw_stages(names, privacy, bound, unit=self.privacy.unit, ax=axes)

    def occasion(self, stage: int) -> str:
        """When a stage is used."""
        whole_number(stage, "stage", "Codebook.occasion", 0, len(self.stages) - 1)
        if stage == self.repeating:
            return f"from access {stage + 1} on"
        if stage < self.repeating:
            return f"access {stage + 1}"
        if stage in self.gaps:
            return f"after a gap of {self.gaps.index(stage) + 2}"
        return f"{stage - max(self.gaps)} after a gap"

    @cached_property
    def repeating(self) -> int:
        """The number of the stage that repeats."""
        return next(number for number, stage in enumerate(self.stages) if stage.then == number)

    def stage_at(self, access: int) -> int:
        """The stage of an access, counted from 0, when none was missed."""
        return min(access, self.repeating)

    def after(self, stage: int, gap: int) -> int:
        """The stage that follows after ``gap`` accesses (1: none was missed): the first one, where none is for it."""
        if whole_number(gap, "gap", "Codebook.after") == 1 or not looks_back(self.scenario):
            return self.stages[whole_number(stage, "stage", "Codebook.after", 0, len(self.stages) - 1)].then
        return self.gaps[gap - 2] if gap - 2 < len(self.gaps) else 0

    def simulate(self, walks: IntArray, words: Callable[[int], Unsigned]) -> IntArray:
        """Draw what is exposed along walks [walk, step], -1 where nothing is, by ``words(n)``: n words below 2^32.

        An access whose known places lie past the end of the walks exposes nothing.
        """
        if walks.ndim != 2 or walks.min(initial=0) < 0 or walks.max(initial=0) >= self.places:
            raise broken_rule("walks", "Codebook.simulate", f"places below {self.places}, [walk, step]", "others")
        exposed = np.full(walks.shape, -1)
        last = max(*self.scenario.release, *self.scenario.known)
        for access, now in enumerate(range(0, walks.shape[1] - last, self.scenario.every)):
            stage = self.stages[self.stage_at(access)]
            seen = [now + offset for offset in stage.scenario.seen]
            for position, table in enumerate(stage.tables):
                before = seen + [now + offset for offset in stage.scenario.release[:position]]
                known = [now + offset for offset in stage.known_at(position)]
                rows = table.rows(exposed[:, before], walks[:, known])
                moment = now + stage.scenario.release[position]
                exposed[:, moment] = table.draw(rows, words(len(walks)))
        return exposed

    @np.errstate(over="ignore", invalid="ignore")
    def worths(self) -> list[Worth]:
        """The privacy and the loss of every stage under the distribution it was made for; not finite on overflow."""
        return [stage.worth(self.privacy, self.quality, self.budget) for stage in self.stages]

    @cached_property
    def content(self) -> bytes:
        """The bytes of the file."""
        tensors = {} if self.chain is None else chain_tensors(self.chain)
        for number, stage in enumerate(self.stages):
            for name, array in tensors_of(stage).items():
                tensors[f"{number}.{name}"] = array
        document = _Document(
            hideseek_codebook=self.version,
            sha256=BLANK,
            step=self.step,
            places=self.places,
            regions=None if self.regions is None else regions_document(self.regions),
            scenario=scenario_document(self.scenario),
            privacy=self.metric_document("privacy"),
            quality=self.metric_document("quality"),
            budget=self.budget,
            stages=[
                _StageDocument(scenario_document(stage.scenario), stage.then, summary(worth))
                for stage, worth in zip(self.stages, self.worths(), strict=True)
            ],
            gaps=list(self.gaps),
            deployed=self.deployed,
            over=msgspec.UNSET if self.over == ACCESS else "histories",
        )
        return CODEBOOK.sealed(document, tensors)

    @property
    def version(self) -> int:
        """That of its file."""
        if self.over == HISTORIES:
            return OVER_HISTORIES
        return WITHOUT_CHAIN if self.chain is None else AFTER_EVERY_HISTORY

    @cached_property
    def sha256(self) -> str:
        """The checksum of the file, by which a device knows its codebook."""
        return self.checksum or CODEBOOK.opened(self.content).document.sha256

    def metric_document(self, role: Literal["privacy", "quality"]) -> MetricDocument:
        """One of its metrics as plain data."""
        owner = "Codebook.save"
        metric = tabulated(getattr(self, role), role, self.scenario, self.places, owner)
        return metric_document(metric, self.regions, owner)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook whole or not at all, readable by its owner only: it reveals the user's habits.

        Raises
        ------
        CodebookError
            If it would not be believed when it is loaded.
        OutputError
            If the file cannot be written.
        """
        codebook_from(memoryview(self.content))  # nothing is written that would not be read
        CODEBOOK.save(path, self.content, "Codebook.save")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codebook:
        """Read a codebook, and refuse it unless its certificate holds for the integers that it stores.

        Raises
        ------
        CodebookError
            If the file is damaged, of another version, or does not hold what it claims.
        """
        return CODEBOOK.load(path, "Codebook.load", codebook_from)


@np.errstate(all="ignore")
def codebook_from(content: memoryview) -> Codebook:
    """The codebook that a file's content holds, verified; numbers that overflow on the way are refused at its end."""
    file = CODEBOOK.opened(content)
    document = file.document
    places, scenario = document.places, scenario_from(document.scenario)
    checked_step(document.step, "the file")
    stages = tuple(stage_from(entry, number, places, file.take) for number, entry in enumerate(document.stages))
    chain = None if document.hideseek_codebook == WITHOUT_CHAIN else chain_from(places, file.take)
    file.end()
    over = ACCESS if document.over is msgspec.UNSET else document.over
    if (document.hideseek_codebook == OVER_HISTORIES) != (over == HISTORIES):
        raise CodebookError("Its version is not that of its kind of budget.")
    check_links(scenario, stages, document.gaps)
    regions = None if document.regions is None else read_regions(document.regions)
    if regions is not None and len(regions) != places:
        raise CodebookError(f"It has {len(regions)} regions for {places} places.")
    privacy, quality = (metric_from(recipe, regions, places) for recipe in (document.privacy, document.quality))
    codebook = Codebook(
        scenario=scenario,
        places=places,
        regions=regions,
        step=document.step,
        privacy=privacy,
        quality=quality,
        budget=document.budget,
        over=over,
        stages=stages,
        gaps=tuple(document.gaps),
        deployed=document.deployed,
        chain=chain,
        checksum=document.sha256,
    )
    for entry, worth in zip(document.stages, codebook.worths(), strict=True):
        check_certificate(entry.certificate, summary(worth), document.budget, over)
    check_deployed(codebook, [entry.certificate for entry in document.stages])
    return codebook


def tensors_of(stage: Stage) -> dict[str, Any]:
    """A stage as named arrays of the smallest types that hold them."""
    prior, attack = stage.prior, stage.attack
    place = stage.tables[0].releases.dtype
    arrays: dict[str, Any] = {
        "histories": prior.histories.astype(place),
        "prior.history": prior.history.astype(np.uint32),
        "prior.sequences": prior.sequences.astype(place),
        "prior.probability": prior.probability,
        "attack.history": attack.history.astype(np.uint32),
        "attack.release": attack.release.astype(np.uint32),
        "attack.guess": attack.guess.astype(np.uint32),
        "attack.weight": attack.weight,
        "attack.price": attack.price,
    }
    for position, table in enumerate(stage.tables):
        for name in ("codes", "start", "releases", "weights"):
            arrays[f"table.{position}.{name}"] = getattr(table, name)
    return arrays


def chain_tensors(chain: Chain) -> dict[str, Any]:
    """A chain as named arrays."""
    kind = np.uint16 if chain.transition.shape[1] < 2**16 else np.uint32
    return {"chain.states": chain.states.astype(kind), "chain.transition": chain.transition}


def chain_from(places: int, take: Callable[..., Any]) -> Chain:
    """A chain from its tensors, refused unless its rows are distributions over the places."""
    states = take("chain.states", *PLACE, ndim=2).astype(np.int64)
    transition = take("chain.transition", "F64", ndim=2)
    if transition.shape != (len(states), places) or not states.size or states.max() >= places:
        raise CodebookError("Its profile is not one over its places.")
    if not (transition.min() >= 0 and (np.abs(transition.sum(axis=1) - 1) <= SUMS_TO_ONE).all()):
        raise CodebookError("The transitions of its profile are not distributions.")
    return Chain(states, transition)


def stage_from(document: _StageDocument, number: int, places: int, take: Callable[..., Any]) -> Stage:
    """A stage from its tensors, refused unless its distributions sum to 1 and its tables are whole."""
    scenario = scenario_from(document.scenario)
    tables = []
    for position in range(len(scenario.release)):
        name = f"{number}.table.{position}"
        table = Table(
            places,
            codes=take(f"{name}.codes", "U64"),
            start=take(f"{name}.start", "U32"),
            releases=take(f"{name}.releases", *PLACE),
            weights=take(f"{name}.weights", "U32"),
        )
        tables.append(table.checked())
    prior = Prior(
        tuple(sorted({*scenario.target, *scenario.quality, *scenario.known})),
        take(f"{number}.histories", *PLACE, ndim=2).astype(np.int64),
        take(f"{number}.prior.history", "U32").astype(np.int64),
        take(f"{number}.prior.sequences", *PLACE, ndim=2).astype(np.int64),
        take(f"{number}.prior.probability", "F64"),
    )
    attack = Attack(
        take(f"{number}.attack.history", "U32").astype(np.int64),
        take(f"{number}.attack.release", "U32").astype(np.int64),
        take(f"{number}.attack.guess", "U32").astype(np.int64),
        take(f"{number}.attack.weight", "F64"),
        take(f"{number}.attack.price", "F64"),
    )
    return Stage(scenario, then=document.then, tables=tuple(tables), prior=prior, attack=attack).checked()


def check_links(scenario: Scenario, stages: Sequence[Stage], gaps: Sequence[int]) -> None:
    """Refuse stages that do not lead to the one that repeats, or that remember what was not exposed by then."""
    count, every = len(stages), scenario.every
    if any(number >= count for number in [*gaps, *(stage.then for stage in stages)]):
        raise CodebookError("A stage leads to one that does not exist.")
    last = next((number for number, stage in enumerate(stages) if stage.then == number), count)
    if last == count or any(stages[number].then != number + 1 for number in range(last)):
        raise CodebookError("Its first stages do not lead to one that repeats.")
    if any(stage.then != last and stage.then <= number for number, stage in enumerate(stages)):
        raise CodebookError("A stage after a gap does not lead to the one that repeats.")
    timing = (scenario.release, scenario.causal, every)
    if stages[last].scenario != scenario or any(
        (own.release, own.causal, own.every) != timing for own in (stage.scenario for stage in stages)
    ):
        raise CodebookError("A stage has another scenario than the codebook.")
    for stage in stages:
        exposed = {*stage.scenario.seen, *stage.scenario.release}
        if not {offset + every for offset in stages[stage.then].scenario.seen} <= exposed:
            raise CodebookError("A stage remembers what was not exposed before it.")
    after = [tuple(offset - k * every for offset in scenario.seen if offset >= -every) for k in range(len(gaps) + 1)]
    if stages[0].scenario.seen or any(stages[n].scenario.seen != after[k] for k, n in enumerate(gaps, start=1)):
        raise CodebookError("A stage at the start or after a gap remembers what was not exposed before it.")


def check_deployed(codebook: Codebook, stages: Sequence[Summary]) -> None:
    """Refuse claims of the whole that contradict one another, the stages, the budget or the prior risk."""
    deployed, budget, repeating = codebook.deployed, codebook.budget, codebook.repeating
    average = deployed.worst_average_loss
    if codebook.over == HISTORIES:
        check_shared_price(codebook)
    elif average is not None:
        raise CodebookError("It claims an average loss that its budget does not limit.")
    worst = max(deployed.worst_loss, deployed.gap_worst_loss or 0.0) if average is None else average
    refuse_above("As deployed it loses", worst, budget, codebook.over)
    visited = stages[: repeating + 1]
    risk = max(codebook.stages[number].risk(codebook.privacy) for number in (0, repeating))
    pairs = [
        (deployed.quality_loss, deployed.worst_loss),
        (deployed.worst_privacy, deployed.privacy),
        *((own.worst_loss, deployed.worst_loss) for own in visited),
        *(
            (loss, average)
            for loss in (deployed.quality_loss, *(own.quality_loss for own in visited))
            if average is not None
        ),
        *((deployed.worst_privacy, own.worst_privacy) for own in visited),
        *((claim or 0.0, risk) for claim in (deployed.privacy, deployed.gap_privacy)),
        *((claim, risk) for claim in (deployed.second_privacy, deployed.plain_second_privacy)),
    ]
    if not all(least <= most * (1 + AGREE) + TINY for least, most in pairs):
        raise CodebookError("Its claims about the deployed run exceed those of its stages, or of any codebook.")
    told: list[object] = [deployed.gap_privacy, deployed.gap_worst_loss]
    if codebook.chain is not None:
        told.append(deployed.gap_worst_case)
    if {claim is None for claim in told} != {not codebook.gaps}:
        raise CodebookError("Its claims about gaps do not fit its stages for gaps.")


def check_shared_price(codebook: Codebook) -> None:
    """Refuse a budget over histories whose proof has several prices, or that no claim or the stages do not speak of."""
    if codebook.deployed.worst_average_loss is None or codebook.gaps:
        raise CodebookError(
            "It does not say what an access loses on average over its histories, or has stages for gaps."
        )
    if any((stage.attack.price != stage.attack.price[0]).any() for stage in codebook.stages):
        raise CodebookError("The budget holds over histories, and a stage has several prices of a loss in its proof.")


def looks_back(scenario: Scenario) -> bool:
    """Whether a mechanism depends on earlier releases or places, so that missed accesses matter to it."""
    return min(*scenario.known, *scenario.seen, 0) < 0
