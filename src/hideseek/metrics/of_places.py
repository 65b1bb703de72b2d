"""Metrics of single places, added over a vector where there are several."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.metrics.metric import Metric, described, same_length
from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked, takes
from hideseek.util.checks import nonnegative
from hideseek.util.choices import MetricName as MetricName


@described
def hamming() -> Metric:
    """1 unless the vectors agree everywhere: what the paper evaluates with. ``total(hamming())`` counts the places.

    Returns
    -------
    Metric
        The metric, which files can hold.

    Examples
    --------
    >>> hamming().between(np.array([[0, 1]]), np.array([[0, 1], [0, 2]]), np.array([]))
    array([[0., 1.]])
    """

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:  # noqa: ARG001
        same_length(left, right)
        differ = np.zeros((len(left), len(right)), np.bool_)
        for a, b in zip(left.T, right.T, strict=True):
            differ |= a[:, None] != b
        return differ.astype(np.float64)

    return Metric("Hamming", "", between=between)


@described
def distance(regions: Regions) -> Metric:
    """Geodesic distance between the centres of places in metres, added over the vector.

    Parameters
    ----------
    regions : Regions
        The places.

    Returns
    -------
    Metric
        In metres.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> metric = distance(Places([46.52, 46.53], [6.57, 6.57]))
    >>> metric.between(np.array([[0]]), np.array([[0], [1]]), np.array([])).round()
    array([[   0., 1112.]])
    """
    from hideseek.model.geodesy import distances  # whose library a device may lack

    return replace(from_matrix(distances(regions)), name="distance", unit="m")


@described
def from_matrix(matrix: npt.ArrayLike) -> Metric:
    """Any matrix over places, [guess, truth] for privacy and [truth, release] for quality, added over the vector.

    Parameters
    ----------
    matrix : ``(places, places)`` array_like
        Numbers >= 0, in any unit.

    Returns
    -------
    Metric
        The metric, which files can hold.

    Raises
    ------
    ParameterError
        Where the matrix has other numbers, or another number of dimensions.

    Examples
    --------
    >>> from_matrix([[0, 2], [3, 0]]).between(np.array([[0]]), np.array([[0], [1]]), np.array([]))
    array([[0., 2.]])
    """
    table = nonnegative(matrix, "matrix", "from_matrix", 2)

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:  # noqa: ARG001
        same_length(left, right)
        if max(left.max(initial=0) - table.shape[0], right.max(initial=0) - table.shape[1]) >= 0:
            need = (int(left.max()) + 1, int(right.max()) + 1)
            raise broken_rule("matrix", "from_matrix", f"at least of the shape {need}", table.shape)
        result = np.zeros((len(left), len(right)))
        for a, b in zip(left.T, right.T, strict=True):
            result += table[np.ix_(a, b)]
        return result

    return Metric("matrix", "", between=between)


@checked
def from_function(function: Callable[..., float], *, name: str = "", unit: str = "") -> Metric:
    """Any function of two vectors of places; a third parameter, if it demands one, is what was seen before.

    Parameters
    ----------
    function : callable
        It takes two tuples of places (and what was seen, a third) and gives a number >= 0.
    name, unit : str
        For tables and figures.

    Returns
    -------
    Metric
        Slower than the others, as the function is called for every pair; files cannot hold it.

    Raises
    ------
    ParameterError
        Where the function takes another number of arguments.

    Examples
    --------
    >>> off_by = from_function(lambda guess, truth: abs(guess[0] - truth[0]))
    >>> off_by.between(np.array([[0], [1]]), np.array([[3]]), np.array([]))
    array([[3.],
           [2.]])
    """
    try:
        demanded = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    except ValueError:  # some built-in functions do not tell
        demanded = []
    takes_seen = len(demanded) > 2
    if not takes(function, 3 if takes_seen else 2):
        raise broken_rule("function", "from_function", "one of two vectors of places (or three)", "another")

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        past = (tuple(seen.tolist()),) if takes_seen else ()
        values = [[function(tuple(a), tuple(b), *past) for b in right.tolist()] for a in left.tolist()]
        return nonnegative(values, "function", "from_function", 2)

    return Metric(name or getattr(function, "__name__", "function"), unit, between=between, looks_back=takes_seen)


@described
def squared(metric: Metric) -> Metric:
    """The square of a metric.

    Parameters
    ----------
    metric : Metric
        Any metric.

    Returns
    -------
    Metric
        In the square of its unit.

    Examples
    --------
    >>> squared(from_matrix([[0, 2], [3, 0]])).between(np.array([[1]]), np.array([[0]]), np.array([]))
    array([[9.]])
    """
    unit = f"{metric.unit}²" if metric.unit else ""

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        root = metric.between(left, right, seen)
        return root * root

    return Metric(f"squared {metric.name}", unit, between=between, looks_back=metric.looks_back)
