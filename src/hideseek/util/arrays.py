"""Array types, and the checks that numbers and names pass before they enter a game."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import cpu_count
from scipy import sparse

from hideseek.errors import SizeError, broken_rule

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Matrix: TypeAlias = FloatArray | sparse.csr_array  # sparse where it is large and nearly all of it is zero

LARGE = 250_000  # entries of a matrix from which on it may be kept sparse
FULL = 0.05  # the share of entries that are not zero from which on it may not
MOST_WORKERS = 1024  # processes on one machine
BLOCK = 4_000_000  # numbers of a product that are worked out at a time
DAY, LONGEST = 86_400, 7  # seconds, and the days that anything may take

Shape = tuple[int | None, ...]
Array = TypeVar("Array", FloatArray, IntArray)
Name = TypeVar("Name", bound=StrEnum)


def frozen(array: Array) -> Array:
    """Make an array that we own read-only."""
    array.flags.writeable = False
    return array


def nonnegative(value: npt.ArrayLike, parameter: str, owner: str, ndim: int) -> FloatArray:
    """A read-only copy of ``value`` as floats, refused unless every entry is finite and >= 0.

    >>> nonnegative([1, 2], "prior", "solve", 1)
    array([1., 2.])
    """
    rule = f"an array of {ndim} dimension{'s' * (ndim > 1)} with finite numbers >= 0"
    if isinstance(value, np.ndarray):  # a broadcast one may be far larger than what it takes itself
        refuse_if_too_large(8 * value.size, f"The '{parameter}' parameter of {owner}, of the shape {value.shape},")
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise broken_rule(parameter, owner, rule, f"{type(value).__name__} ({error})") from None
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
    law: FloatArray = array / total
    return frozen(law)


def shaped(value: Matrix | IntArray | BoolArray, shape: Shape, parameter: str, owner: str) -> None:
    """Refuse an array of another shape than this, in which None stands for any number.

    >>> shaped(np.zeros((3, 2)), (None, 2), "points", "planar_laplace")
    """
    if len(value.shape) != len(shape) or any(
        size not in (None, own) for own, size in zip(value.shape, shape, strict=True)
    ):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise broken_rule(parameter, owner, f"an array of the shape ({wanted})", f"the shape {value.shape}")


def numbered(value: IntArray, count: int, parameter: str, owner: str, least: int = 0) -> None:
    """Refuse an array in which not every number is one of ``least`` to ``count`` - 1; which it is, is not told.

    >>> numbered(np.array([0, 1]), 2, "exposed", "DeltaLocationSet.after")
    """
    if value.size and not (least <= value.min() and value.max() < count):
        raise broken_rule(parameter, owner, f"numbers from {least} to {count - 1}", "others")


def unlabelled() -> IntArray:
    """Stands for indices that mean themselves."""
    return np.zeros((0, 0), np.int64)


def labelled(value: IntArray, count: int, parameter: str, owner: str) -> IntArray:
    """Read-only region numbers, one row for each of ``count`` indices; the indices themselves when none are given.

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


def worker_count(workers: int | None, owner: str) -> int:
    """How many processes: by default one per core.

    >>> worker_count(2, "fleet")
    2
    """
    if workers is None:
        return int(cpu_count())
    return whole_number(workers, "workers", owner, most=MOST_WORKERS)


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


def product(places: int, length: int) -> IntArray:
    """All vectors of ``length`` places, in order.

    >>> product(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    refuse_if_too_large(8 * length * places**length, f"All vectors of {length} of {places} places")
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


def refuse_if_too_large(
    needed: float, what: str, way_out: str = "Use fewer places, fewer offsets in the scenario, or a lower order."
) -> None:
    """Refuse what would take more than half of this machine's memory, before it is built."""
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    if needed > limit:
        # a float holds no more than 2^1024
        sizes = (
            f"about {min(needed, 2**1000) / 2**30:.3g} GiB; half of this machine's memory is {limit / 2**30:.3g} GiB"
        )
        raise SizeError(f"{what} would need {sizes}. {way_out}", needed)


def refuse_if_too_long(seconds: float, what: str, way_out: str) -> None:
    """Refuse what would take longer than a week on an idle machine, before it is begun.

    Estimates are low, so that nothing is refused that somebody could wait for.

    >>> refuse_if_too_long(864_000, "A run of 7 accesses", "Ask for fewer.")
    Traceback (most recent call last):
    hideseek.errors.SizeError: A run of 7 accesses would take about 10 days or more; 7 are allowed. Ask for fewer.
    """
    if seconds > LONGEST * DAY:
        raise SizeError(
            f"{what} would take about {seconds / DAY:.3g} days or more; {LONGEST} are allowed. {way_out}", seconds
        )


def light(matrix: Matrix) -> Matrix:
    """A matrix as it is cheapest to keep and to multiply: large optimal tables have about two non-zeros a row.

    >>> light(np.eye(3)).tolist(), light(np.eye(1000)).nnz
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 1000)
    """
    size = matrix.shape[0] * matrix.shape[1]
    if isinstance(matrix, np.ndarray):
        few = size > LARGE and np.count_nonzero(matrix) < FULL * size
        return sparse.csr_array(matrix) if few else matrix
    return matrix if size > LARGE and matrix.nnz < FULL * size else matrix.toarray()


def dense(matrix: Matrix) -> FloatArray:
    """A numpy array, however a matrix is kept."""
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def row_of_entry(matrix: sparse.csr_array) -> IntArray:
    """The row of every entry that a sparse matrix stores."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def with_entries(matrix: sparse.csr_array, values: FloatArray) -> sparse.csr_array:
    """The sparse matrix with other values where it stores some."""
    return sparse.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def inner(weights: FloatArray, matrix: Matrix) -> float:
    """The sum of all products of entries, sum_{i,o} weights[i, o] matrix[i, o]."""
    if isinstance(matrix, np.ndarray):
        return float(np.vdot(weights, matrix))
    return float(weights[row_of_entry(matrix), matrix.indices] @ matrix.data)


def blocks(count: int, width: int) -> Iterator[slice]:
    """Slices of ``count`` rows of a width, so that few numbers are worked out at a time.

    >>> [(own.start, own.stop) for own in blocks(5, 2_000_000)]
    [(0, 2), (2, 4), (4, 5)]
    """
    height = max(1, BLOCK // max(width, 1))
    for start in range(0, count, height):
        yield slice(start, min(start + height, count))
