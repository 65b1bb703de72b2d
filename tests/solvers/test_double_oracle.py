"""The double oracle on large maps: sparse tables, and rows and columns that are forgotten; against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hideseek import Game, solve
from hideseek.adversary import expected_error
from hideseek.game.alternatives import as_alternatives
from hideseek.solvers import Status, double_oracle
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from hideseek.solvers.double_oracle import DoubleOracle
from hideseek.util.sparse import LARGE
from tests.oracles.whole_game import optimum
from tests.support.games import euclid_game

LARGER = euclid_game(18, 29, 0.5)  # 272,484 entries: above what is kept dense


@pytest.fixture(scope="module")
def larger():
    return solve(LARGER)


def test_the_mechanism_and_the_attack_of_a_large_map_are_sparse(larger):
    assert LARGER.cost.size > LARGE
    assert isinstance(larger.mechanism.distributions, sparse.csr_array)
    assert isinstance(larger.attacks[0], sparse.csr_array)
    assert larger.mechanism.distributions.nnz < 5 * 522  # the optimum has about two releases an input


def test_what_is_certified_of_sparse_tables_holds_for_the_dense_ones(larger):
    table, attack = larger.mechanism.table, larger.attack
    assert larger.status is Status.OPTIMAL
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    assert (LARGER.cost * table).sum() <= LARGER.budget * (1 + 1e-9)
    reached = (LARGER.error @ table).min(axis=0).sum()
    assert larger.privacy <= reached <= larger.privacy * (1 + 1e-9)
    gain = (attack @ LARGER.error).T
    bound = larger.price * LARGER.budget + (gain - larger.price * LARGER.cost).max(axis=1).sum()
    assert bound <= larger.bound <= bound * (1 + 1e-9)
    assert expected_error(LARGER, larger.mechanism) == pytest.approx(reached, rel=1e-12)


@pytest.mark.slow
def test_the_rows_and_columns_that_were_forgotten_are_not_missed(larger, monkeypatch):
    monkeypatch.setattr(DoubleOracle, "_forget", lambda *_: None)
    assert solve(LARGER).privacy == pytest.approx(larger.privacy, rel=2e-6)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_program_that_forgets_is_solved_for_other_budgets_too(share, monkeypatch):
    monkeypatch.setattr(double_oracle, "FORGETTING", 0)
    oracle = DoubleOracle(as_alternatives(euclid_game(8, 8, 0.7)))
    oracle.close(1e-6, np.inf, None)
    game = euclid_game(8, 8, share)
    oracle.set_budget(game.budget)
    assert oracle.close(1e-6, np.inf, None)[0].privacy == pytest.approx(optimum(game), rel=2e-6)


def test_a_program_that_forgets_is_smaller_and_takes_few_more_rounds(monkeypatch):
    game = as_alternatives(euclid_game(8, 8, 0.7))
    whole = DoubleOracle(game)
    monkeypatch.setattr(double_oracle, "FORGETTING", 0)
    own = DoubleOracle(game)
    for oracle in (whole, own):
        oracle.close(1e-6, np.inf, None)
    assert own.has_column.sum() < whole.has_column.sum() / 2  # 397 of 975
    assert own.has_row.sum() < 0.7 * whole.has_row.sum()  # 281 of 475
    assert own.rounds < 2 * whole.rounds  # 14 and 10


def test_a_sparse_answer_with_inputs_that_never_occur_is_certified(larger):
    never = np.where(np.arange(522) % 7 == 3, 0.0, LARGER.mass)
    distance = LARGER.error / LARGER.mass
    game = Game.from_prior(never / never.sum(), privacy=distance, quality=distance**2, budget=1e9)
    game = game.with_budget(0.5 * game.saturation)
    answer = Claim(larger.mechanism.distributions, larger.attacks, larger.prices, np.ones(1), np.zeros(0))
    found = certify(as_alternatives(game), answer)
    overall = never @ larger.mechanism.table / never.sum()
    np.testing.assert_allclose(found.claim.table.toarray()[3], overall, atol=0.05)
    assert found.privacy <= found.bound
