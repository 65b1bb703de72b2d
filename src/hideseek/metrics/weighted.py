"""Metrics in which some places, moves or tolerances count for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric, described
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.checks import scalar, shaped, whole_number
from hideseek.util.choices import MetricName as MetricName
from hideseek.util.units import weighted

Weights = Mapping[int, float] | Sequence[float] | FloatArray


@described
def sensitive(metric: Metric, weights: Weights) -> Metric:
    """For privacy: errors count for more (or less) where the truth is sensitive, by the largest weight of its places.

    ``weights`` maps places to factors, or lists them from place 0 on; a place without one has the factor 1.

    Parameters
    ----------
    metric : Metric
        What errors are measured in.
    weights : mapping or sequence of float
        Factors >= 0 by place.

    Returns
    -------
    Metric
        The metric, which files can hold; an error times a weight is no length, and its unit says so ("weighted m").

    Raises
    ------
    ParameterError
        Where a weight is negative or not finite, or is not one of a place.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> sensitive(hamming(), {1: 5}).between(np.array([[0]]), np.array([[0], [1]]), np.array([]))
    array([[0., 5.]])
    """
    checked = checked_weights(weights, "weights", "sensitive")

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        weight: FloatArray = weight_of(checked, right).max(axis=1)
        return metric.between(left, right, seen) * weight

    return Metric(f"sensitive {metric.name}", weighted(metric.unit), between=between, looks_back=metric.looks_back)


@described
def sensitive_transitions(
    metric: Metric,
    transitions: Mapping[tuple[int, int], float] | None = None,
    *,
    entering: Mapping[int, float] | None = None,
    leaving: Mapping[int, float] | None = None,
) -> Metric:
    """For privacy: errors count for more where the truth makes a sensitive move, by the largest weight of its moves.

    Bank and then official is ``transitions={(bank, official): 10}``; ``entering`` and ``leaving`` name a place come to
    from anywhere else, or left for it. A move that is not named has the weight 1, as has the place of a first access.

    Parameters
    ----------
    metric : Metric
        What errors are measured in.
    transitions : mapping from (int, int) to float, optional
        Factors >= 0 of moves, (from, to).
    entering, leaving : mapping from int to float, optional
        Factors >= 0 of places that are come to, or left.

    Returns
    -------
    Metric
        The metric, which files can hold.

    Raises
    ------
    ParameterError
        Where a key is not a pair of places, or a factor is below 0.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> metric = sensitive_transitions(hamming(), {(0, 1): 4}, entering={2: 3})
    >>> metric.between(np.array([[1, 1]]), np.array([[0, 1], [1, 2], [2, 2]]), np.array([]))
    array([[4., 3., 1.]])
    """
    for pair in transitions or {}:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise broken_rule("transitions", "sensitive_transitions", "factors of pairs (from, to)", repr(pair))
    pairs = {
        pair: scalar(weight, "transitions", "sensitive_transitions") for pair, weight in (transitions or {}).items()
    }
    into = checked_weights(entering or {}, "entering", "sensitive_transitions")
    out_of = checked_weights(leaving or {}, "leaving", "sensitive_transitions")

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        if right.shape[1] < 2:
            return metric.between(left, right, seen)
        before, after = right[:, :-1], right[:, 1:]
        named = np.fmax(weight_of(into, after, np.nan), weight_of(out_of, before, np.nan))
        weight = np.where((before != after) & ~np.isnan(named), named, 1.0)
        for (start, end), factor in pairs.items():
            weight[(before == start) & (after == end)] = factor
        return np.asarray(metric.between(left, right, seen) * weight.max(axis=1))

    name, unit, back = f"transition-sensitive {metric.name}", weighted(metric.unit), metric.looks_back
    return Metric(name, unit, between=between, looks_back=back)


@described
def tolerant(metric: Metric, tolerance: Weights) -> Metric:
    """For quality: loss in units of what the true place tolerates; dense restaurants forgive noise, lone houses do not.

    ``tolerance`` maps places to divisors, or lists them from place 0 on; a place without one has the divisor 1. Along a
    vector the strictest place decides.

    Parameters
    ----------
    metric : Metric
        What losses are measured in.
    tolerance : mapping or sequence of float
        Divisors > 0 by place.

    Returns
    -------
    Metric
        The metric, which files can hold.

    Raises
    ------
    ParameterError
        Where a divisor is 0 or less.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> tolerant(hamming(), {0: 4}).between(np.array([[0], [1]]), np.array([[2]]), np.array([]))
    array([[0.25],
           [1.  ]])
    """
    checked = checked_weights(tolerance, "tolerance", "tolerant")
    if min(checked.values(), default=1.0) <= 0:
        raise broken_rule("tolerance", "tolerant", "numbers > 0", min(checked.values()))

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        strictest: FloatArray = weight_of(checked, left).min(axis=1, keepdims=True)
        return metric.between(left, right, seen) / strictest

    return Metric(f"tolerant {metric.name}", metric.unit, between=between, looks_back=metric.looks_back)


def checked_weights(weights: Weights, parameter: str, owner: str) -> dict[int, float]:
    """Factors for places as a mapping, each finite and >= 0."""
    if isinstance(weights, np.ndarray):
        shaped(weights, (None,), parameter, owner)
    named = dict(weights.items() if isinstance(weights, Mapping) else enumerate(weights))
    return {
        whole_number(place, f"places in {parameter}", owner, least=0): scalar(factor, parameter, owner)
        for place, factor in named.items()
    }


def weight_of(weights: Mapping[int, float], places: IntArray, otherwise: float = 1.0) -> FloatArray:
    """The factor of each place, or ``otherwise`` where none is named."""
    table = np.full(int(places.max(initial=0)) + 1, otherwise)
    for place, factor in weights.items():
        if place < len(table):
            table[place] = factor
    return table[places]
