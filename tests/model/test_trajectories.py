"""Distributions over trajectories are those of the chain's steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.model import possible_trajectories
from tests.support.walks import chains


@given(chains(), st.integers(1, 4))
def test_sequences_have_the_probabilities_of_their_steps(chain, length):
    law = possible_trajectories(chain, range(length))
    assert law.probability.sum() == pytest.approx(1)
    expected = {}
    for path in itertools.product(range(chain.places), repeat=length):
        value = chain.stationary[path[0]] * np.prod([chain.transition[a, b] for a, b in itertools.pairwise(path)])
        assert chain.probability(path) == pytest.approx(value, abs=1e-15)
        if value > 0:
            expected[path] = value
    found = {tuple(row): value for row, value in zip(law.sequences.tolist(), law.probability, strict=True)}
    assert found == pytest.approx(expected)


@given(chains())
def test_skipped_offsets_are_summed_out(chain):
    law = possible_trajectories(chain, (-3, 0, 1))
    leap = np.linalg.matrix_power(chain.transition, 3)
    for (a, b, c), value in zip(law.sequences.tolist(), law.probability, strict=True):
        assert value == pytest.approx(chain.stationary[a] * leap[a, b] * chain.transition[b, c])
