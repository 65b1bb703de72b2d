"""Metrics of whole vectors of places: combined over positions, or of displacements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric, described, same_length
from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.checks import nonnegative
from hideseek.util.choices import MetricName as MetricName


@described
def total(metric: Metric, *, weights: Sequence[float] | None = None) -> Metric:
    """A metric of single places, added over the vector, weighted by position where weights are given.

    A vector with fewer positions, as at a first access, has the last of the weights.

    Parameters
    ----------
    metric : Metric
        A metric of single places.
    weights : sequence of float, optional
        Factors >= 0, one per position of the vector; by default 1.

    Returns
    -------
    Metric
        The sum over the positions, in the unit of ``metric``.

    Raises
    ------
    ParameterError
        Where a weight is negative or not finite; when the metric is used, where there are fewer weights than positions.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> total(hamming()).between(np.array([[0, 1]]), np.array([[1, 0], [0, 2]]), np.array([]))
    array([[2., 1.]])
    """
    return over_positions(metric, "total", np.add, weights)


@described
def minimum(metric: Metric, *, weights: Sequence[float] | None = None) -> Metric:
    """A metric of single places, the smallest over the vector.

    Parameters
    ----------
    metric : Metric
        A metric of single places.
    weights : sequence of float, optional
        Factors >= 0, one per position of the vector; by default 1.

    Returns
    -------
    Metric
        The smallest over the positions, in the unit of ``metric``.

    Raises
    ------
    ParameterError
        Where a weight is negative or not finite; when the metric is used, where there are fewer weights than positions.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> minimum(hamming()).between(np.array([[0, 1]]), np.array([[1, 0], [0, 2]]), np.array([]))
    array([[1., 0.]])
    """
    return over_positions(metric, "minimum", np.minimum, weights)


@described
def maximum(metric: Metric, *, weights: Sequence[float] | None = None) -> Metric:
    """A metric of single places, the largest over the vector.

    Parameters
    ----------
    metric : Metric
        A metric of single places.
    weights : sequence of float, optional
        Factors >= 0, one per position of the vector; by default 1.

    Returns
    -------
    Metric
        The largest over the positions, in the unit of ``metric``.

    Raises
    ------
    ParameterError
        Where a weight is negative or not finite; when the metric is used, where there are fewer weights than positions.

    Examples
    --------
    >>> from hideseek.metrics.of_places import hamming
    >>> maximum(hamming()).between(np.array([[0, 1]]), np.array([[0, 1], [0, 2]]), np.array([]))
    array([[0., 1.]])
    """
    return over_positions(metric, "maximum", np.maximum, weights)


def over_positions(metric: Metric, name: str, combine: np.ufunc, weights: Sequence[float] | None) -> Metric:
    """Apply a metric of single places position by position, weigh, and combine."""
    factors = None if weights is None else nonnegative(weights, "weights", name, 1)

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        same_length(left, right)
        length = left.shape[1]
        if factors is not None and len(factors) < length:
            raise broken_rule("weights", name, f"{length} numbers, one per position", len(factors))
        parts = [metric.between(left[:, [k]], right[:, [k]], seen) for k in range(length)]
        if factors is not None:
            parts = [factor * part for factor, part in zip(factors[-length:], parts, strict=True)]
        result: FloatArray = combine.reduce(parts)
        return result

    return Metric(f"{name} {metric.name}", metric.unit, between=between, looks_back=metric.looks_back)


@described
def speed(regions: Regions) -> Metric:
    """Quality of a trajectory: how far the exposed displacement from step to step is from the true one, in metres.

    Compares the true places with what was seen followed by what is released, so the scenario's quality offsets must be
    those of ``seen`` and ``release`` together. A first place has no displacement, and costs nothing.

    Parameters
    ----------
    regions : Regions
        The places.

    Returns
    -------
    Metric
        In metres per step.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> metric = speed(Places([0.0, 0.0, 0.0], [0.0, 1.0, 2.0]))
    >>> metric.between(np.array([[0, 1], [0, 2]]), np.array([[1], [2]]), np.array([0])).round(-3)
    array([[     0., 111000.],
           [111000.,      0.]])
    """
    from hideseek.model.geodesy import distances

    table = distances(regions)

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        exposed = np.hstack([np.broadcast_to(seen, (len(right), len(seen))), right]).astype(np.int64)
        same_length(left, exposed)
        steps = [table[side[:, :-1], side[:, 1:]] for side in (left, exposed)]
        difference: FloatArray = np.abs(steps[0][:, None, :] - steps[1][None, :, :]).sum(axis=2)
        return difference

    return Metric("speed", "m per step", between=between, looks_back=True)
