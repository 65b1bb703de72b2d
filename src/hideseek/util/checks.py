"""Checks that numbers, arrays and names pass before they enter a game."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray, frozen
from hideseek.util.limits import refuse_large_array

Shape = tuple[int | None, ...]
Name = TypeVar("Name", bound=StrEnum)


class HasShape(Protocol):
    """An array, dense or sparse."""

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries there are along each axis."""
        ...


def floats(value: npt.ArrayLike, parameter: str, owner: str, rule: str = "numbers") -> FloatArray:
    """A copy of ``value`` as an array of floats, of any shape.

    >>> floats([1, 2], "budget", "Curve.lower")
    array([1., 2.])
    """
    refuse_large_array(value, parameter, owner)
    try:
        return np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise broken_rule(parameter, owner, rule, f"{type(value).__name__} ({error})") from None


def nonnegative(value: npt.ArrayLike, parameter: str, owner: str, ndim: int) -> FloatArray:
    """A read-only copy of ``value`` as floats, refused unless every entry is finite and >= 0.

    >>> nonnegative([1, 2], "prior", "solve", 1)
    array([1., 2.])
    """
    rule = f"an array of {ndim} dimension{'s' * (ndim > 1)} with finite numbers >= 0"
    array = floats(value, parameter, owner, rule)
    if array.ndim != ndim or array.size == 0:
        raise broken_rule(parameter, owner, rule, f"the shape {array.shape}")
    # min and max pass a NaN on, so two scans see everything that is not a finite number >= 0
    if not (array.min() >= 0 and array.max() < np.inf):
        at = tuple(int(k) for k in np.argwhere(~((array >= 0) & (array < np.inf)))[0])
        raise broken_rule(parameter, owner, rule, f"{array[at]} at {at if ndim > 1 else at[0]}")
    return frozen(array)


def distribution(value: npt.ArrayLike, parameter: str, owner: str) -> FloatArray:
    """A read-only probability vector: non-negative, summing to 1 within 1e-6, and then made to do so exactly.

    >>> distribution([0.25, 0.75], "prior", "solve")
    array([0.25, 0.75])
    """
    array = nonnegative(value, parameter, owner, 1)
    total = array.sum()
    if abs(total - 1) > 1e-6:
        raise broken_rule(parameter, owner, "probabilities that sum to 1", f"the sum {total:g}", "Divide by the sum.")
    probabilities: FloatArray = array / total
    return frozen(probabilities)


def shaped(value: HasShape, shape: Shape, parameter: str, owner: str) -> None:
    """Refuse an array of another shape than this, in which None stands for any number.

    >>> shaped(np.zeros((3, 2)), (None, 2), "points", "planar_laplace")
    """
    if len(value.shape) != len(shape) or any(
        size not in (None, own) for own, size in zip(value.shape, shape, strict=True)
    ):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise broken_rule(parameter, owner, f"an array of the shape ({wanted})", f"the shape {value.shape}")


def numbered(value: IntArray, count: int, parameter: str, owner: str, least: int = 0) -> None:
    """Refuse an array in which not every number is one of ``least`` to ``count`` - 1; the error does not repeat it.

    >>> numbered(np.array([0, 1]), 2, "exposed", "DeltaLocationSet.after")
    """
    if value.size and not (least <= value.min() and value.max() < count):
        raise broken_rule(parameter, owner, f"numbers from {least} to {count - 1}", "others")


def labelled(value: IntArray, count: int, parameter: str, owner: str) -> IntArray:
    """Read-only region numbers, one row for each of ``count`` indices; the indices themselves when none are given.

    >>> from hideseek.util.arrays import unlabelled
    >>> labelled(unlabelled(), 2, "inputs", "Game")
    array([[0],
           [1]])
    """
    rule = f"one row of region numbers for each of {count}"
    try:
        with np.errstate(invalid="ignore"):  # what is no number comes out as another
            labels = np.array(value, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule(parameter, owner, rule, type(value).__name__) from None
    if not np.array_equal(labels, value):
        raise broken_rule(parameter, owner, rule, "numbers that are not whole")
    if labels.size == 0:
        labels = np.arange(count)[:, None]
    if labels.ndim != 2 or len(labels) != count:
        raise broken_rule(parameter, owner, rule, labels.shape)
    return frozen(labels)


def scalar(value: float, parameter: str, owner: str, rule: str = "a finite number >= 0", least: float = 0.0) -> float:
    """A finite number that is at least ``least``.

    >>> scalar(3, "budget", "solve")
    3.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule(parameter, owner, rule, repr(value)) from None
    if not least <= number < np.inf:
        raise broken_rule(parameter, owner, rule, number)
    return number


def whole_number(value: object, parameter: str, owner: str, least: int = 1, most: int | None = None) -> int:
    """An integer, of Python's or numpy's kind, that is at least ``least`` and, where that is given, at most ``most``.

    >>> whole_number(np.int64(3), "order", "fit")
    3
    """
    if (
        not isinstance(value, int | np.integer)
        or isinstance(value, bool)
        or not least <= value <= (value if most is None else most)
    ):
        rule = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
        raise broken_rule(parameter, owner, rule, value)
    return int(value)


def one_of(names: type[Name], value: str, parameter: str, owner: str) -> Name:
    """One of the names of an enumeration.

    >>> from enum import StrEnum
    >>> one_of(StrEnum("Metric", {"HAMMING": "hamming", "EUCLID": "euclid"}), "euclid", "privacy", "solve")
    <Metric.EUCLID: 'euclid'>
    """
    try:
        return names(value)
    except ValueError:
        known = ", ".join(repr(str(name)) for name in names)
        raise broken_rule(parameter, owner, f"one of {known}", repr(value)) from None
