"""Array types, and operations on vectors of places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hideseek.util.limits import refuse_if_too_large

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 4_000_000  # numbers of a product that are computed at a time

Array = TypeVar("Array", FloatArray, IntArray)


def frozen(array: Array) -> Array:
    """Make an array that we own read-only."""
    array.flags.writeable = False
    return array


def unlabelled() -> IntArray:
    """Stands for indices that mean themselves."""
    return np.zeros((0, 0), np.int64)


def product(places: int, length: int) -> IntArray:
    """All vectors of ``length`` places, in order.

    >>> product(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    refuse_if_too_large(
        8 * length * places**length, f"All vectors of {length} of {places} places", parameter="scenario"
    )
    return np.indices((places,) * length).reshape(length, places**length).T.astype(np.int64)


def encoded(vectors: IntArray, places: int) -> IntArray:
    """Each vector of places as one number; the order of the vectors is that of the numbers."""
    code = np.zeros(len(vectors), np.int64)
    for column in vectors.T:
        code = code * places + column
    return code


def pairs_with_equal(left: IntArray, right: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """All (k, l) with left[k] == right[l], the values being below ``count``; ordered by k.

    >>> [pair.tolist() for pair in pairs_with_equal(np.array([1, 0]), np.array([0, 1, 1]), 2)]
    [[0, 0, 1], [1, 2, 0]]
    """
    order = np.argsort(right, kind="stable")
    size = np.bincount(right, minlength=count)
    first = np.cumsum(size) - size
    repeats = size[left]
    k = np.repeat(np.arange(len(left)), repeats)
    within = np.arange(len(k)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return k, order[first[left][k] + within]


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of ``count`` rows of a width, so that few numbers are computed at a time.

    >>> [(own.start, own.stop) for own in blocks(5, 2_000_000)]
    [(0, 2), (2, 4), (4, 5)]
    """
    height = max(1, BLOCK // max(width, 1))
    for start in range(0, count, height):
        yield slice(start, min(start + height, count))


def summed(index: IntArray, weight: FloatArray, count: int) -> FloatArray:
    """The total weight at each of ``count`` indices."""
    totals = np.zeros(count)
    np.add.at(totals, index.ravel(), weight)
    return totals
