"""Repair: what a solver claims becomes what can be proved, sparse or dense."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hideseek import Game, solve
from hideseek.game import Alternatives
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from hideseek.solvers.repair import cheapest_releases, stochastic
from hideseek.util.best_guess import least_errors
from hideseek.util.sparse import inner, light


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 30))
@settings(max_examples=50)
def test_matrices_mean_the_same_sparse_and_dense(seed, rows, columns):
    generator = np.random.default_rng(seed)
    matrix = generator.normal(size=(rows, columns)) * (generator.random((rows, columns)) < 0.3)
    cost, kept = generator.random((rows, columns)), sparse.csr_array(matrix)
    fallback = np.full((rows, columns), 1 / columns)
    assert inner(cost, kept) == pytest.approx((cost * matrix).sum())
    for work in (
        lambda own: stochastic(own, lambda: fallback),
        lambda own: cheapest_releases(np.round(cost, 1), own),
    ):
        np.testing.assert_allclose(work(kept).toarray(), work(matrix), atol=1e-14)
    np.testing.assert_allclose(least_errors(cost.T, kept), (cost.T @ matrix).min(axis=0), atol=1e-12)


@pytest.mark.parametrize("matrix", [np.full((600, 600), 1 / 600), np.eye(30)])
def test_a_matrix_that_is_full_or_small_stays_an_array(matrix):
    assert light(matrix) is matrix
    assert isinstance(light(sparse.csr_array(matrix)), np.ndarray)


def test_zero_loss_choices_survive_the_repair():
    """Two releases cost nothing for every input: at budget 0 the optimum hides among them, and must not be undone."""
    prior = np.array([0.5, 0.5])
    free = np.array([[0, 0, 5], [0, 0, 5.0]])
    game = Game(prior * (1 - np.eye(2)), prior[:, None] * free, budget=0.0)
    for method in ("double_oracle", "full_program"):
        assert solve(game, method=method).privacy == pytest.approx(0.5, rel=1e-6)
    # a table a little over budget is brought back by what it has among the free releases, not by one of them
    over = np.array([[0.3, 0.7 - 1e-9, 1e-9], [0.3, 0.7, 0]])
    best = Claim(over, (np.full((3, 2), 0.5),), np.array([1.0]), np.ones(1), np.zeros(0))
    certificate = certify(Alternatives((game,)), best)
    np.testing.assert_allclose(certificate.claim.table[0], [0.3, 0.7, 0], atol=1e-8)
    assert certificate.losses[0] == 0
