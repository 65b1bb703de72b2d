"""Large maps: sparse tables, releases within a radius, the first-order solver; against scipy on the whole program."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hideseek import Game, Method, ParameterError, Status, expected_error, solve
from hideseek.arrays import LARGE, inner, light
from hideseek.game import as_alternatives
from hideseek.solve import double_oracle
from hideseek.solve.certificate import Answer, certify, cheapest_releases, least_errors, stochastic
from hideseek.solve.double_oracle import DoubleOracle
from hideseek.solve.first_order import RegretMatching
from tests.games import euclid_game, games, random_game

LARGER = euclid_game(18, 29, 0.5)  # 272,484 entries: above what is kept dense


def optimum(game: Game, radius: float = np.inf) -> float:
    """The largest privacy of tables whose releases all lose at most the radius, by the program written down whole."""
    inputs, releases = game.cost.shape
    each = sparse.eye_array(releases)
    guesses = sparse.hstack([sparse.kron(-game.error, each), sparse.kron(np.ones((len(game.error), 1)), each)])
    budget = sparse.csr_array(np.r_[game.cost.ravel(), np.zeros(releases)][None])
    totals = sparse.kron(sparse.eye_array(inputs), np.ones((1, releases)))
    mass = game.mass if game.mass.size else np.ones(inputs)
    upper = np.where((game.cost / mass[:, None]).ravel() <= radius * (1 + 1e-9), 1.0, 0.0)
    found = linprog(
        np.r_[np.zeros(inputs * releases), -np.ones(releases)],
        A_ub=sparse.vstack([guesses, budget]),
        b_ub=np.r_[np.zeros(guesses.shape[0]), game.budget],
        A_eq=sparse.hstack([totals, sparse.csr_array((inputs, releases))]),
        b_eq=np.ones(inputs),
        bounds=[(0, high) for high in upper] + [(None, None)] * releases,
    )
    return -found.fun


@pytest.fixture(scope="module")
def larger():
    return solve(LARGER)


def test_the_laws_and_the_attack_of_a_large_map_are_sparse(larger):
    assert LARGER.cost.size > LARGE
    assert isinstance(larger.mechanism.laws, sparse.csr_array)
    assert isinstance(larger.attacks[0], sparse.csr_array)
    assert larger.mechanism.laws.nnz < 5 * 522  # the optimum has about two releases an input


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


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 30))
@settings(max_examples=50, deadline=None)
def test_matrices_mean_the_same_sparse_and_dense(seed, rows, columns):
    generator = np.random.default_rng(seed)
    matrix = np.maximum(generator.normal(size=(rows, columns)), 0) * (generator.random((rows, columns)) < 0.3)
    cost, kept = generator.random((rows, columns)), sparse.csr_array(matrix)
    fallback = np.full((rows, columns), 1 / columns)
    assert inner(cost, kept) == pytest.approx((cost * matrix).sum())
    for work in (
        lambda own: stochastic(own, lambda: fallback),
        lambda own: cheapest_releases(np.round(cost, 1), own),
    ):
        np.testing.assert_allclose(work(kept).toarray(), work(matrix), atol=1e-14)
    np.testing.assert_allclose(least_errors(cost.T, kept), (cost.T @ matrix).min(axis=0), atol=1e-12)


def test_a_full_matrix_stays_an_array_however_large():
    full = np.full((600, 600), 1 / 600)
    assert light(full) is full
    assert isinstance(light(sparse.csr_array(full)), np.ndarray)


def test_a_sparse_answer_with_inputs_that_never_occur_is_certified(larger):
    never = np.where(np.arange(522) % 7 == 3, 0.0, LARGER.mass)
    distance = LARGER.error / LARGER.mass
    game = Game.from_prior(never / never.sum(), distance, distance**2, 1e9)
    game = game.with_budget(0.5 * game.saturation)
    answer = Answer(larger.mechanism.laws, larger.attacks, larger.prices, np.ones(1), np.zeros(0))
    found = certify(as_alternatives(game), answer)
    law = never @ larger.mechanism.table / never.sum()
    np.testing.assert_allclose(found.answer.table.toarray()[3], law, atol=0.05)
    assert found.privacy <= found.bound


@pytest.mark.parametrize("radius", [1.0, 2.0, 4.0, 9.0, 100.0])
def test_within_a_radius_the_best_is_found_and_the_bound_is_that_of_all_mechanisms(radius):
    game = euclid_game(4, 5, 0.5)
    solution = solve(game, radius=radius)
    assert solution.privacy == pytest.approx(optimum(game, radius), rel=2e-6)
    assert (game.cost / game.mass[:, None])[solution.mechanism.table > 0].max() <= radius * (1 + 1e-9)
    assert solution.bound >= optimum(game) * (1 - 1e-9)
    assert solution.privacy <= solution.within <= solution.privacy * (1 + 2e-6)
    assert solution.status is (Status.OPTIMAL if solution.gap <= 1e-6 else Status.OPTIMAL_WITHIN)


def test_a_radius_that_excludes_nothing_changes_nothing():
    game = euclid_game(4, 5, 0.5)
    wide = solve(game, radius=1e9)
    assert (wide.status, wide.within) == (Status.OPTIMAL, wide.bound)
    assert wide.privacy == pytest.approx(solve(game).privacy, rel=2e-6)


def test_a_radius_smaller_than_any_release_is_refused_with_the_least_one():
    game = Game.from_prior([0.5, 0.5], 1 - np.eye(2), np.array([[1.0, 2.0], [5.0, 3.0]]), 4.0)
    with pytest.raises(ParameterError, match="at least 3"):
        solve(game, radius=2.9)
    assert solve(game, radius=3).privacy == pytest.approx(optimum(game, 3))


@pytest.mark.parametrize("options", [{"method": "full program"}, {"device": "cuda"}, {"radius": -1.0}])
def test_a_radius_goes_with_what_knows_of_it(options):
    with pytest.raises(ParameterError, match="radius"):
        solve(euclid_game(3, 3, 0.5), **({"radius": 5.0} | options))


@pytest.mark.parametrize(("rows", "share"), [(3, 0.2), (6, 0.5), (6, 0.8)])
def test_the_first_order_solver_is_as_near_to_the_optimum_as_it_claims(rows, share):
    game = euclid_game(rows, 4, share)
    solution = solve(game, tolerance=0.01, method="first order")
    best = optimum(game)
    assert (solution.method, solution.status) == (Method.FIRST_ORDER, Status.OPTIMAL)
    assert 0.99 * best <= solution.privacy <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= solution.bound <= best / 0.99


@given(games())
@settings(max_examples=40, deadline=None)
def test_the_first_order_solver_never_claims_more_than_it_has(game):
    if game.budget <= game.least_loss:
        return
    solution = solve(game, tolerance=0.05, method="first order", time_limit=2)
    best = optimum(game)  # scipy may overspend by 1e-7, at any price
    assert solution.privacy <= best + 1e-6
    assert solution.bound >= best - 1e-6


def test_the_first_order_solver_keeps_to_the_array_standard():
    game = random_game(0, 5, 6, 7, 0.5)
    strict = [
        array_api_strict.asarray(array.astype(np.float32))
        for array in (game.error / game.prior_risk, game.cost / game.budget)
    ]
    top = game.budget / (game.budget - game.least_loss)
    own = RegretMatching(*strict, top)
    plain = RegretMatching(*(np.asarray(array) for array in strict), top)
    for _ in range(50):
        own.play()
        plain.play()
    np.testing.assert_allclose(own.bounds(), plain.bounds(), rtol=1e-4)
    np.testing.assert_allclose(own.answer(0.1, 0.0).table, plain.answer(0.1, 0.0).table, atol=1e-4)


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(ParameterError, match=r"device.*'nowhere'"):
        solve(euclid_game(3, 3, 0.5), 0.01, device="nowhere")


def test_the_first_order_solver_says_what_it_is_not_for():
    game = euclid_game(3, 3, 0.5)
    with pytest.raises(ParameterError, match="first order"):
        solve(game.with_budget(game.least_loss), 0.01, method="first order")


def test_time_that_runs_out_leaves_an_honest_gap():
    game = euclid_game(10, 10, 0.5)
    solution = solve(game, 1e-9, method="first order", time_limit=0.05)
    assert solution.status is Status.TIME_LIMIT
    assert solution.privacy <= optimum(game) <= solution.bound


def test_a_gap_that_single_precision_cannot_close_is_told_and_not_sought_for_ever():
    game = euclid_game(3, 3, 0.5)
    solution = solve(game, 1e-12, method="first order")
    assert solution.status is Status.STALLED
    assert solution.privacy <= optimum(game) * (1 + 1e-9)
    assert 0 < solution.gap < 1e-2
