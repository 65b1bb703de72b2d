"""Vectors of two places each out of three, and what metrics of them are held against."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

NOTHING = np.empty(0, np.int64)
D = np.array([[0, 1, 4], [2, 0, 3], [5, 6, 0.0]])
vectors = arrays(np.int64, st.tuples(st.integers(1, 5), st.just(2)), elements=st.integers(0, 2))


def by_hand(function, left, right):
    """A function of two vectors, for every pair of them."""
    return [[function(tuple(a), tuple(b)) for b in right.tolist()] for a in left.tolist()]
