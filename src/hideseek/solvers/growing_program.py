"""Linear programs over tables that grow where they must and forget what does not matter.

All have columns x[i, o] for some releases o of some inputs i, and rows

    height[g, o] <= sum_i worth[g, i] x[i, o]

for some guesses g at some releases o. HiGHS keeps the program, and goes on from the basis it has.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from hideseek.errors import SolverError
from hideseek.util.arrays import BoolArray, FloatArray, IntArray, blocks, pairs_with_equal

Pairs = tuple[IntArray, IntArray]
Triples = list[tuple[IntArray, IntArray, FloatArray]]  # major, minor, value
NO_PAIRS: Pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64))
NO_ENTRIES: Triples = [(*NO_PAIRS, np.zeros(0))]
FIRST_GUESSES = 3  # for every release, in the first program
SIGNIFICANT = 1e-9  # a violation or a reduced profit below this, in the unit of errors, is rounding


class GrowingProgram(ABC):
    """HiGHS with ``fixed_rows`` and ``fixed_columns``, after which the columns (i, o) and rows (g, o) come and go."""

    fixed_rows: int
    fixed_columns: int

    def __init__(self, inputs: int, guesses: int, releases: int) -> None:
        self.highs = silent_highs()
        self.inputs, self.releases = inputs, releases
        self.column_at, self.row_at = NO_PAIRS, NO_PAIRS  # (input, release) and (guess, release)
        self.has_column: BoolArray = np.zeros((inputs, releases), np.bool_)
        self.has_row: BoolArray = np.zeros((guesses, releases), np.bool_)
        self.idle: IntArray = np.zeros(0, np.int64)  # for how long a row has not mattered

    @abstractmethod
    def worth(self, g: IntArray, i: IntArray) -> FloatArray:
        """What guesses give at inputs, in the program's units."""

    @abstractmethod
    def height(self, g: IntArray, o: IntArray) -> IntArray:
        """The fixed column that the row of a guess at a release bounds."""

    def charge(self, i: IntArray, o: IntArray) -> FloatArray:  # noqa: ARG002
        """What columns cost in the objective: nothing, unless losses have a price."""
        return np.zeros(len(i))

    @abstractmethod
    def column(self, i: IntArray, o: IntArray) -> tuple[Triples, FloatArray]:
        """Entries of new columns in the fixed rows, and what the columns are at most."""

    def begin(
        self, lower: FloatArray, upper: FloatArray, objective: FloatArray, limit: FloatArray, entries: Triples
    ) -> None:
        """Set the fixed rows, and the fixed columns between -limit and limit with their entries in them."""
        self.fixed_rows, self.fixed_columns = len(lower), len(objective)
        start, index, value = compressed(NO_ENTRIES, len(lower))
        accept(self.highs.addRows(len(lower), lower, upper, 0, start, index, value))
        start, index, value = compressed(entries, len(objective))
        accept(self.highs.addCols(len(objective), objective, -limit, limit, len(index), start, index, value))

    def add_columns(self, wanted: BoolArray) -> int:
        """Add the wanted x[i, o] that are not there, with their entries in the rows that are; how many."""
        wanted = wanted & ~self.has_column
        i, o = np.nonzero(wanted)
        if not len(i):
            return 0
        self.has_column |= wanted
        g, there = self.row_at
        new, row = pairs_with_equal(o, there, self.releases)
        fixed, limit = self.column(i, o)
        guessed = nonzero(new, self.fixed_rows + row, -self.worth(g[row], i[new]))
        start, index, value = compressed([*fixed, guessed], len(i))
        accept(self.highs.addCols(len(i), self.charge(i, o), np.zeros(len(i)), limit, len(index), start, index, value))
        self.column_at = with_more(self.column_at, i, o)
        return len(i)

    def add_rows(self, wanted: BoolArray) -> int:
        """Add the wanted guesses g at o that are not there, with their entries in the columns that are; how many."""
        wanted = wanted & ~self.has_row
        g, o = np.nonzero(wanted)
        if not len(g):
            return 0
        self.has_row |= wanted
        i, there = self.column_at
        new, column = pairs_with_equal(o, there, self.releases)
        parts = [
            (np.arange(len(g)), self.height(g, o), np.ones(len(g))),
            nonzero(new, self.fixed_columns + column, -self.worth(g[new], i[column])),
        ]
        start, index, value = compressed(parts, len(g))
        below = np.full(len(g), -highspy.kHighsInf)
        accept(self.highs.addRows(len(g), below, np.zeros(len(g)), len(index), start, index, value))
        self.row_at = with_more(self.row_at, g, o)
        self.idle = np.concatenate((self.idle, np.zeros(len(g), np.int64)))
        return len(g)

    def forget_columns(self, gone: BoolArray) -> None:
        """Drop columns; if none of them is basic, a basis without them is a basis still."""
        i, o = self.column_at
        self.column_at, self.has_column[i[gone], o[gone]] = (i[~gone], o[~gone]), False
        delete(self.highs.deleteCols, self.fixed_columns, gone)

    def forget_rows(self, gone: BoolArray) -> None:
        """Drop rows; if the slack of each is basic, a basis without them is a basis still."""
        g, o = self.row_at
        self.row_at, self.has_row[g[gone], o[gone]] = (g[~gone], o[~gone]), False
        self.idle = self.idle[~gone]
        delete(self.highs.deleteRows, self.fixed_rows, gone)

    def age(self, binding: BoolArray) -> None:
        """Count how often in a row each of the rows has not been binding."""
        self.idle = np.where(binding, 0, self.idle + 1)

    def run(self, deadline: float = np.inf) -> Any:
        """HiGHS's solution, or None if time ran out; where rounding misleads it, it runs again, at last afresh."""
        for attempt in range(3):
            if attempt == 2:
                self.highs.clearSolver()
            if deadline < np.inf:
                remaining = max(deadline - time.monotonic(), 0.0)
                self.highs.setOptionValue("time_limit", self.highs.getRunTime() + remaining)
            self.highs.run()
            status = self.highs.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                return self.highs.getSolution()
            if status == highspy.HighsModelStatus.kTimeLimit:
                return None
        raise SolverError(f"HiGHS stopped with the status {self.highs.modelStatusToString(status)}.")


def silent_highs() -> highspy.Highs:
    """HiGHS, which says nothing and keeps to one thread: the simplex method uses no more, and fleets start many."""
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1)):
        highs.setOptionValue(option, value)
    return highs


def accept(status: highspy.HighsStatus) -> None:
    """Raise an error if HiGHS refuses a program, as where a coefficient is too large for it."""
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS refuses the program.")


def delete(function: Callable[[int, npt.NDArray[np.int32]], highspy.HighsStatus], first: int, gone: BoolArray) -> None:
    """Delete columns or rows after the first ones."""
    index = (first + np.flatnonzero(gone)).astype(np.int32)
    accept(function(len(index), index))


def with_more(pairs: Pairs, left: IntArray, right: IntArray) -> Pairs:
    """Pairs of numbers, and some more of them."""
    return np.concatenate((pairs[0], left)), np.concatenate((pairs[1], right))


def nonzero(major: IntArray, minor: IntArray, value: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Triples without those of no value."""
    kept = value != 0
    return (major, minor, value) if kept.all() else (major[kept], minor[kept], value[kept])


def compressed(parts: Triples, count: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
    """Triples (major, minor, value) as the starts, indices and values that HiGHS takes."""
    major = np.concatenate([part[0] for part in parts])
    order = np.argsort(major, kind="stable")
    index = np.concatenate([part[1] for part in parts])[order].astype(np.int32)
    value = np.concatenate([part[2] for part in parts])[order]
    size = np.bincount(major, minlength=count)
    return (np.cumsum(size) - size).astype(np.int32), index, value


def largest(values: FloatArray, count: int, axis: int) -> IntArray:
    """Where the largest ``count`` entries along an axis are; ties are cut, since a grid's would flood a threshold."""
    count = min(count, values.shape[axis])
    rows = values if axis else values.T
    parts = [np.argpartition(-rows[own], count - 1, axis=1)[:, :count] for own in blocks(*rows.shape)]
    found: IntArray = np.concatenate(parts)
    return found if axis else found.T


def mark_largest(marked: BoolArray, values: FloatArray, count: int, axis: int) -> None:
    """Mark the largest ``count`` entries along an axis."""
    found = largest(values, count, axis)
    if axis:
        marked[np.arange(len(found))[:, None], found] = True
    else:
        marked[found, np.arange(found.shape[1])] = True


def mark_first(columns: BoolArray, guesses: BoolArray, cost: FloatArray, error: FloatArray) -> None:
    """Mark the cheapest release of every input and input of every release, and the guesses that are best there."""
    mark_largest(columns, -cost, 1, axis=1)
    mark_largest(columns, -cost, 1, axis=0)
    best = largest(-error, FIRST_GUESSES, axis=0)[:, cost.argmin(axis=0)]
    guesses[best, np.arange(cost.shape[1])] = True


def most_significant(values: FloatArray, count: int, axes: tuple[int, ...], unit: float) -> BoolArray:
    """Which entries are among the largest ``count`` along one of the axes, and more than rounding."""
    marked = np.zeros(values.shape, np.bool_)
    for axis in axes:
        mark_largest(marked, values, count, axis)
    marked &= values > SIGNIFICANT * unit
    return marked
