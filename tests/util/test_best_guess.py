"""The best guess's error, against one guess after another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hideseek.util.best_guess import least_errors


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6), st.integers(1, 7))
def test_the_least_error_is_that_of_the_best_guess(seed, guesses, inputs, releases):
    generator = np.random.default_rng(seed)
    error, stacked = generator.random((guesses, inputs)), generator.random((3, inputs, releases))
    expected = [[min(row @ weight[:, o] for row in error) for o in range(releases)] for weight in stacked]
    np.testing.assert_allclose(least_errors(error, stacked), expected, rtol=1e-12)
    for weight, wanted in zip(stacked, expected, strict=True):
        np.testing.assert_allclose(least_errors(error, weight), wanted, rtol=1e-12)
        np.testing.assert_allclose(least_errors(error, sparse.csr_array(weight)), wanted, rtol=1e-12)
