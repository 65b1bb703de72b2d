"""Sums of weighted rows are products with sparse matrices, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hideseek.codebook.row_sums import RowSums


@pytest.mark.parametrize("seed", range(5))
def test_sums_are_the_product_with_a_sparse_matrix_to_the_last_bit(seed):
    """Stored certificates were made by that product, so files stay as they were."""
    generator = np.random.default_rng(seed)
    entries, groups, rows, width = generator.integers((1, 1, 1, 1), (3000, 60, 80, 20)).tolist()
    group, row = generator.integers(0, groups, entries), generator.integers(0, rows, entries)
    weight, values = generator.random(entries), generator.normal(size=(rows, width)) * 1e3
    order = np.argsort(group, kind="stable")
    start = np.r_[0, np.cumsum(np.bincount(group, minlength=groups))]
    matrix = sparse.csr_array((weight[order], row[order], start), shape=(groups, rows))
    np.testing.assert_array_equal(RowSums(group, row, groups).of(weight, values), matrix @ values)


def test_groups_without_entries_sum_to_nothing():
    none = np.zeros(0, np.int64)
    assert RowSums(none, none, 2).of(np.zeros(0), np.ones((3, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
