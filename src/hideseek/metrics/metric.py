"""What a metric is: a named comparison of vectors of places."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import wraps
from typing import ParamSpec

import numpy as np

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.choices import MetricName as MetricName

Between = Callable[[IntArray, IntArray, IntArray], FloatArray]
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
    _: KW_ONLY
    between: Between
    looks_back: bool = False
    recipe: tuple[str, Mapping[str, object]] | None = None

    def __repr__(self) -> str:
        return f"Metric({self.name!r}{f', in {self.unit}' if self.unit else ''})"


def described(make: Callable[P, Metric]) -> Callable[P, Metric]:
    """Let a metric say how it was made."""

    @wraps(make)
    def making(*arguments: P.args, **named: P.kwargs) -> Metric:
        given = inspect.signature(make).bind(*arguments, **named).arguments
        return replace(make(*arguments, **named), recipe=(make.__name__, given))

    return checked(making)


def over_places(metric: Metric, places: int) -> FloatArray:
    """A metric between all single places, [left, right].

    >>> from hideseek.metrics.of_places import hamming
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
