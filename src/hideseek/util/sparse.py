"""Matrices that are sparse where they are large and nearly all of their entries are zero."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy import sparse

from hideseek.util.arrays import FloatArray, IntArray

Matrix: TypeAlias = FloatArray | sparse.csr_array  # sparse where it is large and nearly all of it is zero
LARGE = 250_000  # entries of a matrix from which on it may be kept sparse
FULL = 0.05  # the share of entries that are not zero from which on it may not


def light(matrix: Matrix) -> Matrix:
    """A matrix as it is cheapest to keep and to multiply: large optimal tables have about two non-zeros per row.

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
