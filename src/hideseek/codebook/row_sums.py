"""Sums of weighted rows, by numpy alone: a device that verifies its codebook needs no sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hideseek.util.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class RowSums:
    """The product with a sparse matrix [group, row] of which the weights may change: ``sum(weight[n] * rows[row[n]])``
    over the entries n of every ``group``, added in the order of the entries, so that no machine rounds otherwise.

    >>> sums = RowSums(np.array([1, 1]), np.array([0, 2]), groups=2)
    >>> sums.of(np.array([1.0, 10.0]), np.array([[1.0], [2.0], [3.0]])).tolist()
    [[0.0], [31.0]]
    """

    group: IntArray
    row: IntArray
    groups: int

    @cached_property
    def _turns(self) -> list[IntArray]:
        """Entries by turns, the first ones of all groups, then the second ones: no group stands twice in a turn."""
        order = np.argsort(self.group, kind="stable")
        length = np.bincount(self.group, minlength=self.groups)
        turn = np.arange(len(order)) - np.repeat(np.cumsum(length) - length, length)
        ends = np.cumsum(np.bincount(turn))
        return np.split(order[np.argsort(turn, kind="stable")], ends[:-1])

    def of(self, weight: FloatArray, rows: FloatArray) -> FloatArray:
        """The sums [group, column] of ``rows`` [row, column] with one ``weight`` per entry."""
        total = np.zeros((self.groups, rows.shape[1]))
        for entries in self._turns:
            total[self.group[entries]] += weight[entries, None] * rows[self.row[entries]]
        return total
