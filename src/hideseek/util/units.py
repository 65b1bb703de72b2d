"""How people are shown a number: square metres as the root mean square in metres, everything else as it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hideseek.util.arrays import FloatArray
from hideseek.util.estimates import Estimate

ROOT = "root mean square"
WEIGHTED = "weighted "  # before the unit of errors that count for more at some places


def weighted(unit: str) -> str:
    """The unit of errors in ``unit`` times weights, which is no length any more.

    >>> weighted("m"), weighted(""), weighted("weighted m")
    ('weighted m', 'weighted', 'weighted m')
    """
    return unit if unit.startswith(WEIGHTED.strip()) else f"{WEIGHTED}{unit}".strip()


def is_square(unit: str) -> bool:
    """Whether numbers are square metres, perhaps weighted, of which people are shown the root."""
    return unit.removeprefix(WEIGHTED) == "m²"


def is_length(unit: str) -> bool:
    """Whether numbers are metres or square metres, and so are a displacement."""
    return unit in ("m", "m²")


def unit_words(unit: str) -> str:
    """The unit in which people are shown numbers, for headings and axes.

    >>> unit_words("m²"), unit_words("m"), unit_words("")
    ('m, root mean square', 'm', '')
    """
    return f"{unit.removesuffix('²')}, {ROOT}" if is_square(unit) else unit


def shown(value: float, unit: str) -> Estimate:
    """A number as people are shown it, with its interval.

    >>> shown(250000.0, "m²").in_words(), shown(0.3, "").in_words()
    ('500', '0.3')
    """
    number = Estimate.exactly(value)
    if not is_square(unit):
        return number
    low, at, high = (float(np.sqrt(max(end, 0.0))) for end in (number.interval[0], number, number.interval[1]))
    return Estimate(at, None if number.exact else (low, high), hit_rate=number.hit_rate)


def shown_many(values: FloatArray, unit: str) -> FloatArray:
    """Numbers as people are shown them: those of an axis or a column."""
    return np.sqrt(np.maximum(values, 0.0)) if is_square(unit) else values


def in_unit(values: FloatArray, unit: str) -> FloatArray:
    """What :func:`shown_many` shows as these numbers."""
    return values * values if is_square(unit) else values


def amount(value: float, unit: str, whole: float | None = None) -> str:
    """A number with its unit, perhaps as a part of a whole, as people are shown it.

    >>> amount(250000.0, "m²"), amount(0.2, "", whole=0.3), amount(90000.0, "m²", whole=250000.0)
    ('500 m (root mean square)', '0.2 of 0.3', '300 of 500 m (root mean square)')
    """
    of = "" if whole is None else f" of {shown(whole, unit).in_words()}"
    measured = f"{unit.removesuffix('²')} ({ROOT})" if is_square(unit) else unit
    return f"{shown(value, unit).in_words()}{of} {measured}".strip()


def least_words(least: float, unit: str) -> str:
    """The least number that a rule allows: with all its digits, so that it can be given back.

    >>> least_words(0.1, ""), least_words(250000.0, "m²")
    ('0.1', '500.00000000000006 m (root mean square)')
    """
    return repr(float(least)) if not is_square(unit) else f"{float(np.nextafter(np.sqrt(least), np.inf))!r} m ({ROOT})"


def metres_beside(facts: Mapping[str, float | None], unit: str) -> dict[str, float]:
    """For machines, which get exact numbers: the same in metres, under names of their own.

    >>> metres_beside({"budget": 250000.0}, "m²"), metres_beside({"budget": 0.3}, "")
    ({'budget_metres': 500.0}, {})
    """
    if not is_length(unit):
        return {}
    return {f"{name}_metres": float(shown(value, unit)) for name, value in facts.items() if value is not None}
