"""What an adversary's error is worth, and what a wrong release costs: d_p and d_q.

A metric compares vectors of places: ``between(left, right, seen)`` is a matrix with a row for each vector of ``left``
and a column for each of ``right``. For privacy, left are the guesses and right the truths; for quality, left are the
truths, right the releases, and ``seen`` the releases before them. Metrics are built by combination:

    total(sensitive(distance(regions), {hospital: 5}))    metres, five times as many at the hospital, added over time
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import ParamSpec

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.model.profile import Profile
from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked, takes
from hideseek.util.checks import nonnegative, one_of, scalar, shaped, whole_number
from hideseek.util.choices import MetricName as MetricName

__all__ = [
    "Metric",
    "distance",
    "from_function",
    "from_matrix",
    "hamming",
    "maximum",
    "minimum",
    "sensitive",
    "sensitive_transitions",
    "speed",
    "squared",
    "tolerant",
    "total",
]

Between = Callable[[IntArray, IntArray, IntArray], FloatArray]
Weights = Mapping[int, float] | Sequence[float] | FloatArray
P = ParamSpec("P")


@checked
@dataclass(frozen=True, repr=False)
class Metric:
    """A named comparison of vectors of places, with its unit for tables and figures.

    Attributes
    ----------
    name, unit : str
        What it is called, and what its numbers are measured in.
    between : callable
        ``between(left, right, seen)`` is a matrix with a row per vector of ``left`` and a column per vector of
        ``right``; ``seen`` are the releases before.
    looks_back : bool
        Whether it also looks at ``seen``.
    recipe : tuple, optional
        The name and the arguments of the function below that makes it, so that it can be written to a file; None for a
        function of your own.
    """

    name: str
    unit: str
    between: Between
    looks_back: bool = field(default=False, kw_only=True)
    recipe: tuple[str, Mapping[str, object]] | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"Metric({self.name!r}{f', in {self.unit}' if self.unit else ''})"


MetricLike = Metric | str | Callable[..., float] | npt.ArrayLike  # what may be given wherever a metric is taken


def described(make: Callable[P, Metric]) -> Callable[P, Metric]:
    """Let a metric tell how it was made."""

    @wraps(make)
    def making(*arguments: P.args, **named: P.kwargs) -> Metric:
        given = inspect.signature(make).bind(*arguments, **named).arguments
        return replace(make(*arguments, **named), recipe=(make.__name__, given))

    return checked(making)


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

    return Metric("Hamming", "", between)


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
    matrix : (places, places) array_like
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

    return Metric("matrix", "", between)


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

    return Metric(name or getattr(function, "__name__", "function"), unit, between, looks_back=takes_seen)


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

    return Metric(f"squared {metric.name}", unit, between, looks_back=metric.looks_back)


@described
def total(metric: Metric, weights: Sequence[float] | None = None) -> Metric:
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

    Examples
    --------
    >>> total(hamming()).between(np.array([[0, 1]]), np.array([[1, 0], [0, 2]]), np.array([]))
    array([[2., 1.]])
    """
    return over_positions(metric, "total", np.add, weights)


@described
def minimum(metric: Metric, weights: Sequence[float] | None = None) -> Metric:
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

    Examples
    --------
    >>> minimum(hamming()).between(np.array([[0, 1]]), np.array([[1, 0], [0, 2]]), np.array([]))
    array([[1., 0.]])
    """
    return over_positions(metric, "minimum", np.minimum, weights)


@described
def maximum(metric: Metric, weights: Sequence[float] | None = None) -> Metric:
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

    Examples
    --------
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

    return Metric(f"{name} {metric.name}", metric.unit, between, looks_back=metric.looks_back)


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
        The metric, which files can hold.

    Examples
    --------
    >>> sensitive(hamming(), {1: 5}).between(np.array([[0]]), np.array([[0], [1]]), np.array([]))
    array([[0., 5.]])
    """
    checked = checked_weights(weights, "weights", "sensitive")

    def between(left: IntArray, right: IntArray, seen: IntArray) -> FloatArray:
        weight: FloatArray = weight_of(checked, right).max(axis=1)
        return metric.between(left, right, seen) * weight

    return Metric(f"sensitive {metric.name}", metric.unit, between, looks_back=metric.looks_back)


@described
def sensitive_transitions(
    metric: Metric,
    transitions: Mapping[tuple[int, int], float] | None = None,
    *,
    entering: Mapping[int, float] | None = None,
    leaving: Mapping[int, float] | None = None,
) -> Metric:
    """For privacy: errors count for more where the truth makes a sensitive move, by the largest weight of its moves.

    Bank and then official is ``transitions={(bank, official): 10}``; ``entering`` and ``leaving`` name a place that is
    come to from anywhere else, or left for anywhere else. A move that is not named has the weight 1, as has a place
    alone, which is what a first access protects.

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
        largest: FloatArray = weight.max(axis=1)
        return metric.between(left, right, seen) * largest

    return Metric(f"transition-sensitive {metric.name}", metric.unit, between, looks_back=metric.looks_back)


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

    return Metric(f"tolerant {metric.name}", metric.unit, between, looks_back=metric.looks_back)


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

    return Metric("speed", "m per step", between, looks_back=True)


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


def over_places(metric: Metric, places: int) -> FloatArray:
    """A metric between all single places, [left, right].

    >>> over_places(hamming(), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    every = np.arange(places)[:, None]
    return metric.between(every, every, np.zeros(0, np.int64))


def same_length(left: IntArray, right: IntArray) -> None:
    """Refuse to compare vectors of different length."""
    if left.shape[1] != right.shape[1]:
        rule = f"a comparison of vectors of the same length (left have {left.shape[1]} places)"
        way_out = "Choose offsets of equal number in the scenario, or write a metric with from_function."
        raise broken_rule("metric", "Game.from_scenario", rule, f"{right.shape[1]}", way_out)


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


def metric_of(name: MetricName, regions: Regions) -> Metric:
    """A metric over these places, added over time where there are several."""
    if name is MetricName.HAMMING:
        return hamming()
    metres = distance(regions)
    return metres if name is MetricName.EUCLID else total(squared(metres))
