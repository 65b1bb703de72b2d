"""What is measured of places is what it says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from benchmarks.places import adjusted_rand_index, measured
from hypothesis import given
from hypothesis import strategies as st

from hideseek import synthetic_city
from tests.support.lives import commuter

LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=2, max_size=40)


@given(LABELS)
def test_the_adjusted_rand_index_is_hubert_and_arabie_s_over_all_pairs(pairs):
    """By the four kinds of pairs: together in both, in the first only, in the second only, in neither."""
    first, second = np.array(pairs).T
    kinds = [(first[k] == first[m], second[k] == second[m]) for k, m in combinations(range(len(first)), 2)]
    both, one, other, neither = (
        kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))
    )
    below = (both + one) * (one + neither) + (both + other) * (other + neither)
    expected = 2 * (both * neither - one * other) / below if below else 1.0
    assert adjusted_rand_index(first, second) == pytest.approx(expected, abs=1e-12)


def test_a_person_with_two_places_is_near_them_and_halves_agree():
    found = measured(commuter(home=(46.52, 6.57), work=(46.55, 6.63)))
    assert found.near > 0.99
    assert found.agree > 0.99
    assert found.stays == 2


def test_synthetic_people_reach_the_numbers():
    for seed in (11, 12):
        found = measured(synthetic_city(people=1, days=28, seed=seed))
        assert 15 <= found.places <= 40
        assert min(found.near, found.near_all) >= 0.95
        assert found.agree >= 0.8
