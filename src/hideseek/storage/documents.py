"""Scenarios, metrics and regions as plain data, for files: read by nothing but hideseek's own functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from hideseek import metrics
from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric, over_places
from hideseek.model.account import LONGEST
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.model.steering import Steering
from hideseek.storage.regions_document import OWNER, RegionsDocument, regions_from

NESTED = 16  # metrics in one another
MOST = 2**20  # places
PLACE = ("U16", "U32")
KNOWN = "made of hideseek's own metrics, with arguments that they take"
UNKNOWN = "Others hideseek does not know."

Amount = Annotated[float, msgspec.Meta(ge=0)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1e30)]
Offset = Annotated[int, msgspec.Meta(ge=-(10**6), le=10**6)]
Several = Annotated[tuple[Offset, ...], msgspec.Meta(max_length=64)]
StepLength = Annotated[str, msgspec.Meta(max_length=64)]


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


class OverDocument(msgspec.Struct, forbid_unknown_fields=True):
    """Over how many accesses a budget holds, the most budgets that one may lose, and how tables are chosen."""

    window: Annotated[int, msgspec.Meta(ge=2, le=LONGEST)]
    cap: Annotated[float, msgspec.Meta(ge=1)] | None
    price: Positive
    nat: Positive
    log: Annotated[float, msgspec.Meta(ge=0, le=MOST)]


class ScenarioDocument(msgspec.Struct, forbid_unknown_fields=True):
    """The offsets of a scenario."""

    target: Several
    seen: Several
    release: Several
    quality: Several
    known: Several
    causal: bool
    every: Offset


def over_document(chain: BeliefChain, steering: Steering | None) -> OverDocument | None:
    """The window of a budget as plain data; none where it holds at every access."""
    if steering is None:
        return None
    return OverDocument(chain.window, chain.cap, steering.price, steering.nat, steering.log)


def steering_from(document: OverDocument | None) -> Steering | None:
    """How tables are chosen over a window, from plain data."""
    return None if document is None else Steering(document.price, document.nat, document.log)


def read_regions(document: RegionsDocument) -> Regions:
    """Regions from plain data."""
    try:
        return regions_from(document)
    except OverflowError as error:  # names of hexagons that are longer than any
        raise broken_rule("regions", OWNER, "those of a map", error, "These cannot exist.") from None


def scenario_document(scenario: Scenario) -> ScenarioDocument:
    """A scenario as plain data."""
    return ScenarioDocument(**{name: getattr(scenario, name) for name in ScenarioDocument.__struct_fields__})


def scenario_from(document: ScenarioDocument) -> Scenario:
    """A scenario from plain data, in which nothing is left to the defaults."""
    scenario = Scenario(**{name: getattr(document, name) for name in ScenarioDocument.__struct_fields__})
    if scenario_document(scenario) != document:
        raise broken_rule("scenario", OWNER, "complete, with no part left open", document)
    return scenario


def tabulated(metric: Metric, role: str, scenario: Scenario, places: int, owner: str) -> Metric:
    """A metric of one's own, as a matrix, if it compares single places; others say how they are made."""
    if metric.recipe is not None:
        return metric
    pairs = (scenario.target,) if role == "privacy" else (scenario.quality, scenario.release)
    if any(len(offsets) > 1 for offsets in pairs) or metric.looks_back:
        rule = "one of hideseek's own, or a function of single places, to be written to a file"
        raise broken_rule(role, owner, rule, repr(metric.name))
    return metrics.from_matrix(over_places(metric, places))


def metric_document(metric: Metric, regions: Regions | None, owner: str) -> MetricDocument:
    """How a metric is made, as plain data."""
    if metric.recipe is None:
        rule = "made of hideseek's own metrics all through, to be written to a file"
        raise broken_rule("metric", owner, rule, repr(metric.name))
    name, arguments = metric.recipe
    return MetricDocument(name, {key: argument_document(value, regions, owner) for key, value in arguments.items()})


def argument_document(value: object, regions: Regions | None, owner: str) -> Argument:
    """One argument of a metric as plain data; regions are the file's own."""
    if value is None:
        return None
    if isinstance(value, Metric):
        return metric_document(value, regions, owner)
    if isinstance(value, Mapping):
        return PairsDocument([(key, float(factor)) for key, factor in value.items()])
    if isinstance(value, Sequence | np.ndarray):
        numbers: list[Any] = np.asarray(value, dtype=np.float64).tolist()
        return numbers
    if regions is None or not np.array_equal(getattr(value, "centres", ()), regions.centres):
        rule = "in the regions of the profile, to be written to a file"
        way_out = "Make the profile with these regions, or the metric with the profile's."
        raise broken_rule("metric", owner, rule, "others", way_out)
    return "regions"


def metric_from(document: MetricDocument, regions: Regions | None, places: int, depth: int = 1) -> Metric:
    """A metric from plain data, made by nothing but hideseek's own functions."""

    def made(name: str, argument: Argument) -> Any:
        if not isinstance(argument, ARGUMENTS.get(name, ())) or (argument == "regions" and regions is None):
            raise broken_rule("metric", OWNER, KNOWN, repr(name), UNKNOWN)
        match argument:
            case MetricDocument():
                return metric_from(argument, regions, places, depth + 1)
            case PairsDocument():
                named = dict(argument.pairs)  # a table as long as the largest of them will be made
                if len(named) < len(argument.pairs) or not all(0 <= np.min(k) <= np.max(k) < MOST for k in named):
                    rule = "one that names no place twice, and none that cannot exist"
                    raise broken_rule("metric", OWNER, rule, "others")
                return named
            case "regions":
                return regions
        return argument

    if document.name not in RECIPES or depth > NESTED:
        raise broken_rule("metric", OWNER, KNOWN, repr(document.name), UNKNOWN)
    arguments = {name: made(name, argument) for name, argument in document.arguments.items()}
    try:
        result: Metric = getattr(metrics, document.name)(**arguments)
    except TypeError as error:
        raise broken_rule("metric", OWNER, KNOWN, error, UNKNOWN) from None
    return result
