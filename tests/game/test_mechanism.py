"""Mechanisms: what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hideseek import Mechanism, ParameterError


@pytest.mark.parametrize("row", [[1.5, -0.5], [1.0, np.nan], [0.5, 0.2]])
def test_sparse_distributions_are_checked_like_dense_ones(row):
    with pytest.raises(ParameterError, match="'distributions'"):
        Mechanism(sparse.csr_array(np.array([row, [0.0, 1.0]])))


def test_a_mechanism_must_be_row_stochastic():
    with pytest.raises(ParameterError, match="rows that sum to 1"):
        Mechanism([[0.5, 0.4], [0, 1]])
    with pytest.raises(ParameterError, match="finite numbers"):
        Mechanism([[1.5, -0.5], [0, 1]])
