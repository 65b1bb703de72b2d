"""The least mutual information for a quality loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.baselines.information import blahut_arimoto
from tests.support.rivals import (
    SETTING,
    seeds,
)


def information(prior, table):
    """Mutual information in nats."""
    law = prior @ table
    ratio = np.divide(table, law, out=np.ones_like(table), where=prior[:, None] * table > 1e-300)
    return float((prior[:, None] * table * np.log(ratio)).sum())


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


@pytest.mark.parametrize(("p", "loss"), [(0.5, 0.1), (0.3, 0.05), (0.3, 0.29), (0.01, 0.001)])
def test_least_information_is_the_rate_distortion_of_a_biased_coin(p, loss):
    prior = np.array([1 - p, p])
    table = blahut_arimoto(prior, 1 - np.eye(2), slope=np.log((1 - loss) / loss)).table
    assert prior @ (1 - np.diag(table)) == pytest.approx(loss, abs=1e-4)  # the loss follows the optimum's square root
    assert information(prior, table) == pytest.approx(entropy(p) - entropy(prior @ (1 - np.diag(table))), abs=2e-9)


@given(seeds, st.integers(2, 6), st.integers(2, 6), st.floats(-2, 2))
@settings(max_examples=50)
def test_least_information_is_the_fixed_point_and_carries_its_bound(seed, places, releases, exponent):
    generator = np.random.default_rng(seed)
    prior, loss, slope = generator.dirichlet(np.ones(places)), generator.random((places, releases)), 10**exponent
    table = blahut_arimoto(prior, loss, slope=slope).table
    kernel, law = np.exp(-slope * loss), prior @ table
    np.testing.assert_allclose(law * kernel / (kernel @ law)[:, None], table, atol=1e-6)
    assert (prior / (kernel @ law) @ kernel).max() <= 1 + 1e-7
    other = generator.dirichlet(np.ones(releases), places)  # any other mechanism

    def price(f):
        return information(prior, f) + slope * float((prior[:, None] * f * loss).sum())

    for share in (0.01, 0.1, 1.0):
        assert price(table) <= price((1 - share) * table + share * other) + 2e-9


def test_least_information_agrees_with_the_alternation():
    prior, loss, slope = SETTING.prior, SETTING.loss, 1 / 500
    kernel, law = np.exp(-slope * loss), np.full(len(prior), 1 / len(prior))
    for _ in range(3000):
        law = law * (prior / (kernel @ law) @ kernel)
    alternated = law * kernel / (kernel @ law)[:, None]
    table = blahut_arimoto(prior, loss, slope=slope).table
    np.testing.assert_allclose(prior @ table, law, atol=1e-5)
    assert information(prior, table) == pytest.approx(information(prior, alternated), abs=1e-5)
