"""A codebook: what to expose at every place after every history, as whole numbers with the proof of their worth.

The file is safetensors: tensors by name, and a header with everything else. It is mapped, not read, and believed only
after its checksum, its tables and its certificate have been worked out again.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import stat
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from safetensors.numpy import save

from hideseek import metrics
from hideseek.arrays import IntArray, product, refuse_if_too_large
from hideseek.errors import CodebookError, HideseekError, broken_rule
from hideseek.files import RegionsDocument, regions_document, regions_from, write_privately
from hideseek.metrics import Metric
from hideseek.regions import Regions
from hideseek.scenario import Scenario
from hideseek.stage import NOTHING, Attack, Prior, Stage, Worth
from hideseek.table import Table, Unsigned
from hideseek.traces import checked_step

VERSION = 1
LARGEST = 256 * 2**20  # bytes
LARGEST_HEADER = 16 * 2**20
BLANK = "0" * 64  # stands for the checksum while it is worked out
TINY = 1e-12  # a loss that is none
AGREE = 1e-9  # numbers of the certificate, stored and worked out again
NESTED = 16  # metrics in one another
NUMBERS = {name: np.dtype(kind) for name, kind in {"U16": "<u2", "U32": "<u4", "U64": "<u8", "F64": "<f8"}.items()}
MOST = 2**20  # places
PLACE = ("U16", "U32")

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Offset = Annotated[int, msgspec.Meta(ge=-(10**6), le=10**6)]
Several = Annotated[tuple[Offset, ...], msgspec.Meta(max_length=64)]


class Summary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage in five numbers: privacy in the mean and after the worst history, its bound, and the same of the loss."""

    privacy: Amount
    worst_privacy: Amount
    bound: Amount
    quality_loss: Amount
    worst_loss: Amount


class Deployed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the stored tables do from the first access on: means over ``accesses``, and the worst access and history.

    ``settled``: by then neither the joint law nor that after any history changed any more, so that nothing new
    follows. ``gap_privacy`` is the least expected privacy right after a gap, ``gap_worst_loss`` the worst loss there
    and later. ``second_privacy`` is that of the second access, ``plain_second_privacy`` what it could be at best if the
    first one took the solver's own of the optimal tables.
    """

    accesses: Count
    settled: bool
    privacy: Amount
    worst_privacy: Amount
    quality_loss: Amount
    worst_loss: Amount
    gap_privacy: Amount | None
    gap_worst_loss: Amount | None
    second_privacy: Amount
    plain_second_privacy: Amount


class PairsDocument(msgspec.Struct, tag="pairs", forbid_unknown_fields=True):
    """Factors of places, or of pairs of them."""

    pairs: list[tuple[int | tuple[int, int], float]]


class MetricDocument(msgspec.Struct, tag="metric", forbid_unknown_fields=True):
    """Which function makes a metric, with which arguments."""

    name: str
    arguments: dict[str, Argument]


Argument = MetricDocument | PairsDocument | list[float | list[float]] | Literal["regions"] | None


RECIPES = {
    *("hamming", "distance", "from_matrix", "squared", "total", "minimum", "maximum"),
    *("sensitive", "sensitive_transitions", "tolerant", "speed"),
}
ARGUMENTS: dict[str, tuple[type, ...]] = {
    "metric": (MetricDocument,),
    "regions": (str,),
    "matrix": (list,),
    "weights": (list, PairsDocument, type(None)),
    "tolerance": (list, PairsDocument),
    "transitions": (PairsDocument, type(None)),
    "entering": (PairsDocument, type(None)),
    "leaving": (PairsDocument, type(None)),
}


class _ScenarioDocument(msgspec.Struct, forbid_unknown_fields=True):
    target: Several
    seen: Several
    release: Several
    quality: Several
    known: Several
    causal: bool
    every: Offset


class _StageDocument(msgspec.Struct, forbid_unknown_fields=True):
    scenario: _ScenarioDocument
    then: Count
    certificate: Summary


class _Version(msgspec.Struct):
    hideseek_codebook: Count


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    hideseek_codebook: Count
    sha256: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    step: Annotated[str, msgspec.Meta(max_length=64)]
    places: Annotated[int, msgspec.Meta(ge=2, le=MOST)]
    regions: RegionsDocument | None
    scenario: _ScenarioDocument
    privacy: MetricDocument
    quality: MetricDocument
    budget: Amount
    stages: Annotated[list[_StageDocument], msgspec.Meta(min_length=1, max_length=100_000)]
    gaps: list[Count]
    deployed: Deployed


class _Tensor(msgspec.Struct, forbid_unknown_fields=True):
    dtype: Literal["U16", "U32", "U64", "F64"]
    shape: Annotated[list[Count], msgspec.Meta(max_length=2)]
    data_offsets: tuple[Count, Count]


@dataclass(frozen=True, eq=False)
class Codebook:
    """Stages for the first accesses, one that repeats, and one for every gap: made by ``design``, used by a ``Device``.

    ``gaps`` holds the number of the stage for a gap of 2, 3, ... accesses since the last one.
    """

    scenario: Scenario
    places: int
    regions: Regions | None
    step: str
    privacy: Metric
    quality: Metric
    budget: float
    stages: tuple[Stage, ...]
    gaps: tuple[int, ...]
    deployed: Deployed
    checksum: str = ""

    @cached_property
    def repeating(self) -> int:
        """The number of the stage that repeats."""
        return next(number for number, stage in enumerate(self.stages) if stage.then == number)

    def stage_at(self, access: int) -> int:
        """The stage of an access, counted from 0, when none was missed."""
        return min(access, self.repeating)

    def after(self, stage: int, gap: int) -> int | None:
        """The stage that follows after ``gap`` accesses (1: none was missed), or None where there is none for it."""
        if gap == 1 or not looks_back(self.scenario):
            return self.stages[stage].then
        return self.gaps[gap - 2] if gap - 2 < len(self.gaps) else None

    def simulate(self, walks: IntArray, words: Callable[[int], Unsigned]) -> IntArray:
        """What is exposed along walks [walk, step], -1 where nothing is; ``words(n)`` gives n random words below 2^32.

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
        """What every stage's stored tables are worth under the law they were made for; not finite if it overflows."""
        return [stage.worth(self.privacy, self.quality, self.budget) for stage in self.stages]

    @cached_property
    def content(self) -> bytes:
        """The file."""
        tensors = {}
        for number, stage in enumerate(self.stages):
            for name, array in tensors_of(stage).items():
                tensors[f"{number}.{name}"] = np.ascontiguousarray(array)
        document = _Document(
            hideseek_codebook=VERSION,
            sha256=BLANK,
            step=self.step,
            places=self.places,
            regions=None if self.regions is None else regions_document(self.regions),
            scenario=scenario_document(self.scenario),
            privacy=metric_document(self.tabulated(self.privacy, "privacy"), self.regions),
            quality=metric_document(self.tabulated(self.quality, "quality"), self.regions),
            budget=self.budget,
            stages=[
                _StageDocument(scenario_document(stage.scenario), stage.then, summary(worth))
                for stage, worth in zip(self.stages, self.worths(), strict=True)
            ],
            gaps=list(self.gaps),
            deployed=self.deployed,
        )
        unsigned = save(tensors, {"hideseek": msgspec.json.encode(document).decode()})
        return unsigned.replace(BLANK.encode(), hashlib.sha256(unsigned).hexdigest().encode(), 1)

    @cached_property
    def sha256(self) -> str:
        """The checksum of the file, by which a device knows its codebook."""
        return self.checksum or read_header(self.content)[0].sha256

    def tabulated(self, metric: Metric, role: str) -> Metric:
        """A metric of one's own, as a matrix, if it compares single places; others tell how they are made."""
        if metric.recipe is not None:
            return metric
        pairs = (self.scenario.target,) if role == "privacy" else (self.scenario.quality, self.scenario.release)
        if any(len(offsets) > 1 for offsets in pairs) or metric.looks_back:
            rule = "one of hideseek's own, or a function of single places, to be written to a file"
            raise broken_rule(role, "Codebook.save", rule, repr(metric.name))
        every = product(self.places, 1)
        return metrics.from_matrix(metric.between(every, every, NOTHING))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook whole or not at all, readable by its owner only: it tells the user's habits."""
        codebook_from(memoryview(self.content))  # nothing is written that would not be read
        file = codebook_path(path, "Codebook.save")
        try:
            write_privately(file, self.content)
        except OSError as error:
            raise CodebookError(f"The codebook {file} cannot be written: {error.strerror}.") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Codebook:
        """Map a codebook, and refuse it unless everything that it claims holds for the integers that it stores."""
        file = codebook_path(path, "Codebook.load")
        mapped = map_file(file)
        try:
            return codebook_from(memoryview(mapped))
        except HideseekError as error:
            reason = str(error)
        except MemoryError:
            reason = "It needs more memory than there is."
        mapped.close()  # outside of the handlers, whose error would still hold views of it
        raise CodebookError(f"{file.name} is no codebook to trust: {reason}")


def codebook_path(path: str | os.PathLike[str], owner: str) -> Path:
    """The path of a file."""
    try:
        return Path(path)
    except TypeError:
        raise broken_rule("path", owner, "the path of a file", repr(path)) from None


def map_file(file: Path) -> mmap.mmap:
    """A file's content, mapped; refused unless it is a plain file of a size that a codebook may have."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not keep us waiting
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or not 0 < about.st_size <= LARGEST:
                rule = f"a file of 1 to {LARGEST} bytes"
                raise CodebookError(f"{file.name} is no codebook: that is {rule}, and this has {about.st_size}.")
            return mmap.mmap(handle, about.st_size, access=mmap.ACCESS_READ)
        finally:
            os.close(handle)
    except CodebookError:
        raise
    except OSError as error:
        raise CodebookError(f"The codebook {file} cannot be read: {error.strerror}.") from None
    except ValueError as error:  # a name that no file can have, or a file cut short meanwhile
        raise CodebookError(f"The codebook {str(file)!r} cannot be read: {error}.") from None


@np.errstate(all="ignore")
def codebook_from(content: memoryview) -> Codebook:
    """The codebook that a file's content holds, verified; numbers that overflow on the way are refused at its end."""
    document, tensors, data = read_header(content)

    def take(name: str, *kinds: str, ndim: int = 1) -> Any:
        entry = tensors.pop(name, None)
        if entry is None or entry.dtype not in kinds or len(entry.shape) != ndim:
            raise CodebookError(f"The tensor {name} is missing, or of another type.")
        return np.frombuffer(data[slice(*entry.data_offsets)], NUMBERS[entry.dtype]).reshape(entry.shape)

    places, scenario = document.places, scenario_from(document.scenario)
    check_step(document.step)
    stages = tuple(stage_from(entry, number, places, take) for number, entry in enumerate(document.stages))
    if tensors:
        raise CodebookError("It holds tensors that no stage needs.")
    check_ways(scenario, stages, document.gaps)
    regions = None if document.regions is None else read_regions(document.regions)
    if regions is not None and len(regions) != places:
        raise CodebookError(f"It has {len(regions)} regions for {places} places.")
    privacy, quality = (metric_from(recipe, regions, places) for recipe in (document.privacy, document.quality))
    codebook = Codebook(
        scenario,
        places,
        regions,
        document.step,
        privacy,
        quality,
        document.budget,
        stages,
        tuple(document.gaps),
        document.deployed,
        document.sha256,
    )
    for entry, worth in zip(document.stages, codebook.worths(), strict=True):
        verify(entry.certificate, summary(worth), document.budget)
    check_deployed(codebook, [entry.certificate for entry in document.stages])
    return codebook


def read_header(content: memoryview | bytes) -> tuple[_Document, dict[str, _Tensor], memoryview]:
    """The header's document and list of tensors, and the data behind it; the checksum covers every byte."""
    view = memoryview(content)
    if len(view) < 8:
        raise CodebookError("It is cut short.")
    (length,) = struct.unpack("<Q", view[:8])
    if length > min(LARGEST_HEADER, len(view) - 8) or length % 8:
        raise CodebookError("Its header is longer than the file, or than any header, or ends within a number.")
    header, data = bytes(view[8 : 8 + length]), view[8 + length :]
    try:
        entries = msgspec.json.decode(header, type=dict[str, msgspec.Raw])
        about = msgspec.json.decode(entries.pop("__metadata__"), type=dict[str, str])
        text = about["hideseek"]
        version = msgspec.json.decode(text, type=_Version).hideseek_codebook
        if version != VERSION:
            newer = "was written by a newer hideseek" if version > VERSION else "has a version that never was"
            raise CodebookError(f"It {newer} (format {version}).")
        document = msgspec.json.decode(text, type=_Document)
        tensors = {name: msgspec.json.decode(entry, type=_Tensor) for name, entry in entries.items()}
    except (msgspec.DecodeError, UnicodeError, KeyError, RecursionError) as error:
        raise CodebookError(f"Its header is not that of a codebook: {error}.") from None
    # one way to write everything: no key twice, no number or name in another guise
    written = msgspec.json.encode({"__metadata__": {"hideseek": msgspec.json.encode(document).decode()}, **tensors})
    if written.ljust(-(-len(written) // 8) * 8) != header:
        raise CodebookError("Its header is not written as hideseek writes it.")
    digest = hashlib.sha256(view[:8])
    digest.update(header.replace(document.sha256.encode(), BLANK.encode(), 1))
    digest.update(data)
    if digest.hexdigest() != document.sha256:
        raise CodebookError("Its checksum is wrong: it was damaged or changed.")
    end = 0
    for tensor in tensors.values():
        begin, size = tensor.data_offsets[0], NUMBERS[tensor.dtype].itemsize
        if begin != end or begin % size:
            raise CodebookError("Its tensors overlap, or do not follow one another.")
        end = tensor.data_offsets[1]
        if end - begin != size * math.prod(tensor.shape):
            raise CodebookError("A tensor has another size than it says.")
    if end != len(data):
        raise CodebookError("Its tensors end elsewhere than the file.")
    return document, tensors, data


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


def stage_from(document: _StageDocument, number: int, places: int, take: Callable[..., Any]) -> Stage:
    """A stage from its tensors, refused unless its laws are laws and its tables tables."""
    scenario = scenario_from(document.scenario)
    tables = []
    for position in range(len(scenario.release)):
        name = f"{number}.table.{position}"
        columns = take(f"{name}.codes", "U64"), take(f"{name}.start", "U32"), take(f"{name}.releases", *PLACE)
        tables.append(Table(places, *columns, take(f"{name}.weights", "U32")).checked())
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
    return Stage(scenario, document.then, tuple(tables), prior, attack).checked()


def check_ways(scenario: Scenario, stages: Sequence[Stage], gaps: Sequence[int]) -> None:
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
    worst = max(deployed.worst_loss, deployed.gap_worst_loss or 0.0)
    if not worst <= budget * (1 + AGREE) + TINY:
        raise CodebookError(f"As deployed it loses {worst:.9g} after some history; the budget is {budget:.9g}.")
    visited = stages[: repeating + deployed.settled]
    risk = max(codebook.stages[number].risk(codebook.privacy) for number in (0, repeating))
    pairs = [
        (deployed.quality_loss, deployed.worst_loss),
        (deployed.worst_privacy, deployed.privacy),
        *((own.worst_loss, deployed.worst_loss) for own in visited),
        *((deployed.worst_privacy, own.worst_privacy) for own in visited),
        *((claim or 0.0, risk) for claim in (deployed.privacy, deployed.gap_privacy)),
        *((claim, risk) for claim in (deployed.second_privacy, deployed.plain_second_privacy)),
    ]
    if not all(least <= most * (1 + AGREE) + TINY for least, most in pairs):
        raise CodebookError("As deployed it is said to be better than its stages, or than any codebook can be.")
    if {deployed.gap_privacy is None, deployed.gap_worst_loss is None} != {not codebook.gaps}:
        raise CodebookError("It tells what happens after gaps that it has no stages for, or does not.")


def check_step(step: str) -> None:
    """Refuse what is no length of time."""
    try:
        checked_step(step, "Codebook")
    except (OverflowError, Warning) as error:  # pandas warns of units that it gives up
        raise CodebookError(f"Its step is no length of time: {error}.") from None


def read_regions(document: RegionsDocument) -> Regions:
    """Regions from plain data."""
    try:
        return regions_from(document)
    except OverflowError as error:  # names of hexagons that are longer than any
        raise CodebookError(f"It has regions that cannot be: {error}.") from None


def summary(worth: Worth) -> Summary:
    """Five numbers of a stage."""
    return Summary(
        privacy=float(worth.weight @ worth.privacy),
        worst_privacy=float(worth.privacy.min()),
        bound=float(worth.weight @ worth.bound),
        quality_loss=float(worth.weight @ worth.loss),
        worst_loss=float(worth.loss.max()),
    )


def verify(claimed: Summary, found: Summary, budget: float) -> None:
    """Refuse a certificate that does not hold for the tables."""
    for name in Summary.__struct_fields__:
        said, is_so = getattr(claimed, name), getattr(found, name)
        if not abs(said - is_so) <= AGREE * said + TINY:  # what is said is finite
            raise CodebookError(f"Its certificate says {name} {said:.9g}; the tables give {is_so:.9g}.")
    if not found.worst_loss <= budget * (1 + AGREE) + TINY:
        raise CodebookError(f"Its tables lose {found.worst_loss:.9g} after some history; the budget is {budget:.9g}.")


def looks_back(scenario: Scenario) -> bool:
    """Whether a mechanism depends on earlier releases or places, so that missed accesses matter to it."""
    return min(*scenario.known, *scenario.seen, 0) < 0


def scenario_document(scenario: Scenario) -> _ScenarioDocument:
    """A scenario as plain data."""
    return _ScenarioDocument(**{name: getattr(scenario, name) for name in _ScenarioDocument.__struct_fields__})


def scenario_from(document: _ScenarioDocument) -> Scenario:
    """A scenario from plain data, in which nothing is left to the defaults."""
    scenario = Scenario(**{name: getattr(document, name) for name in _ScenarioDocument.__struct_fields__})
    if scenario_document(scenario) != document:
        raise CodebookError("It leaves a part of its scenario open.")
    return scenario


def metric_document(metric: Metric, regions: Regions | None) -> MetricDocument:
    """How a metric is made, as plain data."""
    if metric.recipe is None:
        rule = "made of hideseek's own metrics all through, to be written to a file"
        raise broken_rule("metric", "Codebook.save", rule, repr(metric.name))
    name, arguments = metric.recipe
    return MetricDocument(name, {key: argument_document(value, regions) for key, value in arguments.items()})


def argument_document(value: object, regions: Regions | None) -> Argument:
    """One argument of a metric as plain data; regions are the codebook's own."""
    if value is None:
        return None
    if isinstance(value, Metric):
        return metric_document(value, regions)
    if isinstance(value, Mapping):
        return PairsDocument([(key, float(factor)) for key, factor in value.items()])
    if isinstance(value, Sequence | np.ndarray):
        numbers: list[Any] = np.asarray(value, dtype=np.float64).tolist()
        return numbers
    if regions is None or not np.array_equal(getattr(value, "centres", ()), regions.centres):
        rule = "in the regions of the profile, to be written to a file"
        way_out = "Make the profile with these regions, or the metric with the profile's."
        raise broken_rule("metric", "Codebook.save", rule, "others", way_out)
    return "regions"


def metric_from(document: MetricDocument, regions: Regions | None, places: int, depth: int = 1) -> Metric:
    """A metric from plain data, made by nothing but hideseek's own functions."""

    def made(name: str, argument: Argument) -> Any:
        if not isinstance(argument, ARGUMENTS.get(name, ())) or (argument == "regions" and regions is None):
            raise CodebookError(f"It is measured by something that hideseek does not know: {name!r}.")
        match argument:
            case MetricDocument():
                return metric_from(argument, regions, places, depth + 1)
            case PairsDocument():
                named = dict(argument.pairs)  # a table as long as the largest of them will be made
                if len(named) < len(argument.pairs) or not all(0 <= np.min(k) <= np.max(k) < MOST for k in named):
                    raise CodebookError("A metric names a place twice, or one that cannot be.")
                return named
            case "regions":
                refuse_if_too_large(64 * places**2, f"The distances of {places} places")
                return regions
        return argument

    if document.name not in RECIPES or depth > NESTED:
        raise CodebookError(f"It is measured by something that hideseek does not know: {document.name!r}.")
    arguments = {name: made(name, argument) for name, argument in document.arguments.items()}
    try:
        result: Metric = getattr(metrics, document.name)(**arguments)
    except TypeError as error:
        raise CodebookError(f"It is measured by something that hideseek does not know: {error}.") from None
    return result
