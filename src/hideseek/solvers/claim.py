"""What a solver claims, before anybody believes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.sparse import LARGE, Matrix

ROW_TOLERANCE = 1e-8  # extra rows hold to this share of their largest coefficient; HiGHS itself promises 1e-7


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """What a solver claims: a ``table`` f[i, o], and why there is none better.

    ``attacks`` h[o, g], ``prices`` and ``mix`` have one entry per game, ``multipliers`` one per extra row.
    """

    table: Matrix
    attacks: tuple[Matrix, ...]
    prices: FloatArray
    mix: FloatArray
    multipliers: FloatArray


def one_hot(index: IntArray | np.intp, rows: int, columns: int) -> Matrix:
    """A table with a single 1 in every row."""
    every = np.arange(rows)
    if rows * columns > LARGE:
        return sparse.csr_array((np.ones(rows), (every, np.broadcast_to(index, rows))), shape=(rows, columns))
    table = np.zeros((rows, columns))
    table[every, index] = 1
    return table
