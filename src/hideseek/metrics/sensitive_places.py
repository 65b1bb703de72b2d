"""Sensitive places by their coordinates: where errors of the adversary count for more.

In the module ``weighted`` places have numbers. A person knows where a clinic is and not which number its place has,
which also differs from profile to profile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import cast

import numpy as np

from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import metric_of
from hideseek.metrics.weighted import Weights, checked_weights, sensitive
from hideseek.model.regions import Regions, in_space
from hideseek.util.arrays import BoolArray
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, scalar
from hideseek.util.choices import MetricName as MetricName
from hideseek.util.lengths import metres

WEIGHT, RADIUS = 5.0, 200.0
LONGEST = 256  # characters of one in words
TEXT = re.compile(
    r"(?P<name>[^=]+)=(?P<latitude>[^,:@]+),(?P<longitude>[^,:@]+)(?::(?P<weight>[^:@]+))?(?:@(?P<radius>[^@]+))?"
)
OWNER = "sensitive_to"
FORM = "NAME=LATITUDE,LONGITUDE in degrees, perhaps with :WEIGHT >= 0 and @RADIUS: clinic=46.52,6.63:5@200m"


@checked
@dataclass(frozen=True, repr=False)
class SensitivePlace:
    """A location at which errors of the adversary count for more.

    Parameters
    ----------
    name : str
        What the person calls it.
    latitude, longitude : float
        Where it is, in degrees; errors never repeat them.
    weight : float
        The factor of errors, >= 0.
    radius : float
        In metres: a place whose centre lies within it is sensitive too, not only the one that holds the location.

    Raises
    ------
    ParameterError
        Where a number breaks its rule.

    Examples
    --------
    >>> SensitivePlace("clinic", 46.52, 6.63)
    SensitivePlace('clinic', weight=5, radius=200 m)
    """

    name: str
    latitude: float
    longitude: float
    _: KW_ONLY
    weight: float = WEIGHT
    radius: float = RADIUS

    def __post_init__(self) -> None:
        owner = "SensitivePlace"
        if not self.name.strip():
            raise broken_rule("name", owner, "words", repr(self.name))
        for name, limit in (("latitude", 90), ("longitude", 180)):
            if not -limit <= getattr(self, name) <= limit:
                raise broken_rule(name, owner, f"degrees from {-limit} to {limit}", "others")
        for name in ("weight", "radius"):
            object.__setattr__(self, name, scalar(getattr(self, name), name, owner))

    def __repr__(self) -> str:
        return f"SensitivePlace({self.name!r}, weight={self.weight:g}, radius={self.radius:g} m)"


@checked
def sensitive_place(text: str) -> SensitivePlace:
    """A sensitive place in words.

    Parameters
    ----------
    text : str
        NAME=LATITUDE,LONGITUDE in degrees, then perhaps a weight after a colon and a radius after an at sign.

    Returns
    -------
    SensitivePlace
        With the weight 5 and the radius 200 m where none are given.

    Raises
    ------
    ParameterError
        Where the text is none; the error does not repeat it, as it may hold a true location.

    Examples
    --------
    >>> sensitive_place("clinic=46.52,6.63"), sensitive_place("union hall=46.5,6.6:3@0.5km")
    (SensitivePlace('clinic', weight=5, radius=200 m), SensitivePlace('union hall', weight=3, radius=500 m))
    """
    found = TEXT.fullmatch(text.strip()) if len(text) <= LONGEST else None
    try:
        if found is None:
            raise ValueError
        latitude, longitude, weight = (float(found[name] or WEIGHT) for name in ("latitude", "longitude", "weight"))
        radius = RADIUS if found["radius"] is None else metres(found["radius"].strip(), "radius", "sensitive_place")
        return SensitivePlace(found["name"].strip(), latitude, longitude, weight=weight, radius=radius)
    except ValueError:  # whatever it names may be a coordinate in the wrong place
        raise broken_rule("sensitive", "sensitive_place", FORM, "something else") from None


@checked
def sensitive_to(
    metric: Metric | MetricName | str, regions: Regions, *, places: Sequence[SensitivePlace | str]
) -> Metric:
    """For privacy: errors count for more where the truth lies at a sensitive location.

    Sensitive are the place that holds the location and those whose centre lies within its radius; a place that several
    hold or reach has the largest of their weights. Where several places are protected at once, the largest weight among
    them counts for all, as in :func:`sensitive`.

    Parameters
    ----------
    metric : Metric or str
        What errors are measured in: a metric, or the name of one.
    regions : Regions
        The places, such as those of a profile.
    places : sequence of SensitivePlace or str
        The sensitive locations, or these in words as :func:`sensitive_place` reads them.

    Returns
    -------
    Metric
        Which files can hold, with the numbers of the places and without the coordinates; in the unit of ``metric``
        times a weight. The metric itself where there are no sensitive locations.

    Raises
    ------
    ParameterError
        Where a sensitive location lies in no place and reaches none: it would protect nothing.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> regions = Places([46.52, 46.53], [6.57, 6.57])
    >>> metric = sensitive_to("hamming", regions, places=["clinic=46.5301,6.5699:3"])
    >>> metric.between(np.array([[0]]), np.array([[1]]), np.array([])), metric.unit
    (array([[3.]]), 'weighted')
    """
    plain = metric if isinstance(metric, Metric) else metric_of(one_of(MetricName, metric, "metric", OWNER), regions)
    located = [sensitive_place(one) if isinstance(one, str) else one for one in places]
    if idle := [one.name for one in located if not held(one, regions).any()]:
        rule = "locations that lie in a place or within their radius of its centre"
        hint = "Give it a larger radius, or leave it out: errors about a place that never occurs do not count."
        raise broken_rule("sensitive", OWNER, rule, f"none for {', '.join(map(repr, idle))}", hint)
    return weighed(plain, regions, located)


def weighed(metric: Metric, regions: Regions, places: Sequence[SensitivePlace]) -> Metric:
    """As :func:`sensitive_to`; locations that lie in no place, as for some people of many, change nothing."""
    weights: dict[int, float] = {}
    for one in places:
        for place in np.flatnonzero(held(one, regions)).tolist():
            weights[place] = max(one.weight, weights.get(place, 0.0))
    return sensitive(metric, dict(sorted(weights.items()))) if weights else metric


def held(one: SensitivePlace, regions: Regions) -> BoolArray:
    """Which places hold a sensitive location, or have their centre within its radius.

    A place without a shape is what all points nearest to it are told to be in, however far, and holds none of them.
    """
    there = in_space(np.array([one.latitude]), np.array([one.longitude]))
    found: BoolArray = np.linalg.norm(in_space(*regions.centres.T) - there, axis=0) <= one.radius
    (inside,) = regions.locate([one.latitude], [one.longitude]).tolist()
    if inside >= 0 and len(regions.outlines[inside]) > 1:
        found[inside] = True
    return found


def unweighted(metric: Metric) -> Metric:
    """The metric without the weights of sensitive places."""
    name, arguments = metric.recipe or ("", {})
    inner = arguments.get("metric")
    return inner if name == "sensitive" and isinstance(inner, Metric) else metric


def weights_of(metric: Metric) -> dict[int, float]:
    """The weights of places in a metric of privacy, wherever it has them; none where no place is sensitive.

    >>> from hideseek.metrics import hamming, total
    >>> weights_of(total(sensitive(hamming(), {3: 5})))
    {3: 5.0}
    """
    name, arguments = metric.recipe or ("", {})
    weights, inner = arguments.get("weights"), arguments.get("metric")
    if name == "sensitive" and weights is not None:
        return checked_weights(cast("Weights", weights), "weights", "sensitive")
    return weights_of(inner) if isinstance(inner, Metric) else {}
