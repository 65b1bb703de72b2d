"""Metrics by name: whatever a user gives wherever a metric is taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric
from hideseek.metrics.of_places import distance, from_function, from_matrix, hamming, squared
from hideseek.metrics.of_vectors import total
from hideseek.model.profile import Profile
from hideseek.model.regions import Regions
from hideseek.util.checks import nonnegative, one_of
from hideseek.util.choices import MetricName as MetricName

UNITS = {MetricName.HAMMING: "", MetricName.EUCLID: "m", MetricName.SQUARED: "m²"}
MetricLike = Metric | str | Callable[..., float] | npt.ArrayLike  # what may be given wherever a metric is taken


def as_metric(value: MetricLike, parameter: str, profile: Profile, owner: str) -> Metric:
    """A metric over the places of a profile from whatever a user gave.

    Parameters
    ----------
    value : Metric, str, callable or array_like
        A metric; the name of one ("hamming", "euclid" for metres, "squared" for metres squared); a function of two
        vectors of places; or a matrix over places, [guess, truth] for privacy and [truth, release] for quality.
    parameter, owner : str
        The parameter that the value was given for, and the function that it belongs to, for error messages.
    profile : Profile
        The person: their places, and for metres their regions.

    Returns
    -------
    Metric
        The metric itself.

    Raises
    ------
    ParameterError
        Unless the value is one of these, of the right shape, and the profile knows its regions where metres need them.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> as_metric([[0, 1], [1, 0]], "privacy", profile, "solve").name
    'matrix'
    >>> as_metric("hamming", "privacy", profile, "solve").name
    'Hamming'
    """
    if isinstance(value, Metric):
        return value
    if isinstance(value, str):
        return named_metric(one_of(MetricName, value, parameter, owner), parameter, profile, owner)
    if callable(value):
        return from_function(value)
    matrix = nonnegative(value, parameter, owner, 2)
    if matrix.shape != (profile.places, profile.places):
        raise broken_rule(parameter, owner, f"a matrix over the {profile.places} places", matrix.shape)
    return from_matrix(matrix)


def named_metric(name: MetricName, parameter: str, profile: Profile, owner: str) -> Metric:
    """A metric by its name; metres need the regions of the profile."""
    if name is MetricName.HAMMING:
        return hamming()
    regions: Regions | None = getattr(profile, "regions", None)
    if regions is None:
        hint = "Give the profile its regions, or use 'hamming' or a metric of your own."
        raise broken_rule(
            parameter, owner, "a metric that needs no regions, as the profile has none", repr(str(name)), hint
        )
    return metric_of(name, regions)


def metric_of(name: MetricName, regions: Regions) -> Metric:
    """A metric over these places, added over time where there are several."""
    if name is MetricName.HAMMING:
        return hamming()
    metres = distance(regions)
    return metres if name is MetricName.EUCLID else total(squared(metres))
