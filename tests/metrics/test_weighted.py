"""Metrics that weigh places and transitions, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from hideseek import ParameterError
from hideseek.metrics import (
    from_matrix,
    hamming,
    sensitive,
    sensitive_transitions,
    tolerant,
    total,
)
from tests.support.vectors import NOTHING, D, by_hand, vectors


@given(vectors, vectors)
def test_sensitive_places_weigh_by_the_truth(left, right):
    weights = {1: 5.0, 2: 0.5}
    whole = sensitive(hamming(), weights)
    expected = by_hand(lambda a, b: (a != b) * max(weights.get(y, 1) for y in b), left, right)
    np.testing.assert_allclose(whole.between(left, right, NOTHING), expected)
    each = total(sensitive(from_matrix(D), weights))
    expected = by_hand(lambda a, b: sum(D[x, y] * weights.get(y, 1) for x, y in zip(a, b, strict=True)), left, right)
    np.testing.assert_allclose(each.between(left, right, NOTHING), expected)


@given(vectors, vectors)
def test_tolerant_places_divide_by_the_truth(left, right):
    metric = tolerant(from_matrix(D), [2.0, 1.0, 4.0])
    expected = by_hand(
        lambda a, b: sum(D[x, y] for x, y in zip(a, b, strict=True)) / min((2, 1, 4)[x] for x in a), left, right
    )
    np.testing.assert_allclose(metric.between(left, right, NOTHING), expected)


def test_bank_then_official_and_the_hospital_door():
    bank, official, hospital = 0, 1, 2
    metric = sensitive_transitions(hamming(), {(bank, official): 10}, entering={hospital: 4}, leaving={hospital: 7})
    truths = np.array([[bank, official], [official, bank], [bank, hospital], [hospital, bank], [hospital, hospital]])
    weights = metric.between(np.array([[1, 1]]), truths, NOTHING)[0]
    assert weights.tolist() == [10, 1, 4, 7, 1]
    milder = sensitive_transitions(hamming(), entering={hospital: 0.2})
    assert milder.between(np.array([[1, 1]]), truths, NOTHING)[0].tolist() == [1, 1, 0.2, 1, 1]


def test_a_first_place_makes_no_sensitive_move_and_has_the_last_weight():
    alone = np.array([[0]]), np.array([[0], [1]]), NOTHING
    assert sensitive_transitions(hamming(), {(0, 1): 9}, entering={1: 5}).between(*alone).tolist() == [[0, 1]]
    assert total(hamming(), weights=[7, 3]).between(*alone).tolist() == [[0, 3]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: sensitive(hamming(), {0: -1}),
        lambda: sensitive(hamming(), {0: np.inf}),
        lambda: sensitive(hamming(), {-1: 2}),
        lambda: tolerant(hamming(), {0: 0}),
        lambda: sensitive_transitions(hamming(), {(0, 1): np.nan}),
    ],
)
def test_bad_metrics_are_refused(make):
    with pytest.raises(ParameterError, match=r"The '.*' parameter of .* must be"):
        make()
