"""Large maps: sparse tables, releases within a radius, the first-order solver; against scipy on the whole program."""

from __future__ import annotations

from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hideseek import Game, Mechanism, ParameterError, solve
from hideseek.adversary import expected_error
from hideseek.errors import CertificateError, MissingExtraError
from hideseek.game import Alternatives, LinearRows
from hideseek.game.alternatives import as_alternatives
from hideseek.solvers import Method, Status, double_oracle, regret_matching
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from hideseek.solvers.double_oracle import DoubleOracle
from hideseek.solvers.regret_matching import RegretMatching
from hideseek.solvers.repair import cheapest_releases, stochastic
from hideseek.util import arrays
from hideseek.util.arrays import LARGE, inner, light
from hideseek.util.best_guess import least_errors
from tests.support.games import euclid_game, games, random_game

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


def test_a_sparse_answer_with_inputs_that_never_occur_is_certified(larger):
    never = np.where(np.arange(522) % 7 == 3, 0.0, LARGER.mass)
    distance = LARGER.error / LARGER.mass
    game = Game.from_prior(never / never.sum(), privacy=distance, quality=distance**2, budget=1e9)
    game = game.with_budget(0.5 * game.saturation)
    answer = Claim(larger.mechanism.distributions, larger.attacks, larger.prices, np.ones(1), np.zeros(0))
    found = certify(as_alternatives(game), answer)
    law = never @ larger.mechanism.table / never.sum()
    np.testing.assert_allclose(found.claim.table.toarray()[3], law, atol=0.05)
    assert found.privacy <= found.bound


@pytest.mark.parametrize("radius", [1.0, 2.0, 4.0, 9.0, 100.0])
def test_within_a_radius_the_best_is_found_and_the_bound_is_the_best_of_all_mechanisms(radius):
    game = euclid_game(4, 5, 0.5)
    solution = solve(game, radius=radius)
    assert solution.privacy == pytest.approx(optimum(game, radius), rel=2e-6)
    assert (game.cost / game.mass[:, None])[solution.mechanism.table > 0].max() <= radius * (1 + 1e-9)
    assert solution.bound == pytest.approx(optimum(game), rel=2e-6)
    assert solution.optimality_gap == pytest.approx(1 - optimum(game, radius) / optimum(game), abs=3e-6)
    assert solution.unrestricted.bound == solution.bound
    assert solution.privacy <= solution.within <= solution.privacy * (1 + 2e-6)
    assert solution.status is (Status.OPTIMAL if solution.optimality_gap <= 1e-6 else Status.OPTIMAL_WITHIN)


def zipf_map(places, uniform=False):
    """Hamming privacy on a square grid with Euclidean loss, at 30 % of what it takes to tell nothing."""
    at = np.argwhere(np.ones((places, places)))
    apart = np.hypot(*(at[:, None] - at[None]).T)
    mass = np.ones(len(at)) if uniform else np.random.default_rng(0).permutation(1 / np.arange(1.0, len(at) + 1))
    game = Game.from_prior(mass / mass.sum(), privacy=1 - np.eye(len(at)), quality=apart, budget=0.0)
    return game.with_budget(0.3 * game.saturation)


@pytest.mark.parametrize("uniform", [False, True])
def test_by_hamming_the_best_is_a_program_with_two_entries_a_row(uniform):
    # the adversary is right with sum_o max_i x[i, o], over joint laws x within the budget
    game = zipf_map(9, uniform)
    places, pairs = len(game.mass), len(game.mass) ** 2
    each, none = sparse.eye_array(places), sparse.csr_array((places, places))
    loss = np.r_[(game.cost / game.mass[:, None]).ravel(), np.zeros(places)]
    found = linprog(
        np.r_[np.zeros(pairs), np.ones(places)],
        A_ub=sparse.vstack(
            [
                sparse.hstack([sparse.eye_array(pairs), -sparse.kron(np.ones((places, 1)), each)]),
                sparse.csr_array([loss]),
            ]
        ),
        b_ub=np.r_[np.zeros(pairs), game.budget],
        A_eq=sparse.hstack([sparse.kron(each, np.ones((1, places))), none]),
        b_eq=game.mass,
    )
    solution = solve(game)
    assert (solution.method, solution.status) == (Method.DOUBLE_ORACLE, Status.OPTIMAL)
    assert solution.privacy == pytest.approx(1 - found.fun, rel=2e-6)


def test_what_nearly_all_guesses_have_in_common_is_left_out_of_the_program():
    oracle = DoubleOracle(as_alternatives(zipf_map(9)))
    oracle.close(1e-6, np.inf, None)
    entries = oracle.highs.getLp().a_matrix_.start_[-1]
    columns, rows = len(oracle.column_at[0]), len(oracle.row_at[0])
    assert entries <= 3 * columns + rows  # its cost, its sum, its own guess; and the height of every guess


@pytest.mark.parametrize("objective", ["average", "minimum"])
@pytest.mark.parametrize("seed", range(3))
def test_several_games_by_hamming_are_solved_as_by_the_whole_program(objective, seed):
    generator = np.random.default_rng(seed)
    priors, apart = generator.dirichlet(np.ones(7), size=2), generator.random((7, 7)) * (1 - np.eye(7))
    errors = (1 - np.eye(7), 1.2 - 1.2 * np.eye(7))
    both = [
        Game.from_prior(prior, privacy=error, quality=apart, budget=0.1)
        for prior, error in zip(priors, errors, strict=True)
    ]
    fast, whole = (solve(Alternatives(both, objective), method=way) for way in ("double oracle", "full program"))
    assert fast.privacy == pytest.approx(whole.privacy, rel=2e-6)
    assert fast.optimality_gap <= 1e-6


def test_a_radius_that_excludes_nothing_changes_nothing():
    game = euclid_game(4, 5, 0.5)
    wide = solve(game, radius=1e9)
    assert (wide.status, wide.within) == (Status.OPTIMAL, wide.bound)
    assert wide.privacy == pytest.approx(solve(game).privacy, rel=2e-6)


def test_a_radius_smaller_than_any_release_is_refused_with_the_least_one():
    game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=np.array([[1.0, 2.0], [5.0, 3.0]]), budget=4.0)
    with pytest.raises(ParameterError, match="at least 3"):
        solve(game, radius=2.9)
    assert solve(game, radius=3).privacy == pytest.approx(optimum(game, 3))


@pytest.mark.parametrize("options", [{"method": "full program"}, {"hardware": "cuda"}, {"radius": -1.0}])
def test_a_radius_goes_with_what_knows_of_it(options):
    with pytest.raises(ParameterError, match="radius"):
        solve(euclid_game(3, 3, 0.5), **({"radius": 5.0} | options))


@pytest.mark.parametrize(("rows", "share"), [(3, 0.2), (6, 0.5), (6, 0.8)])
def test_the_first_order_solver_is_as_near_to_the_optimum_as_it_claims(rows, share):
    game, told = euclid_game(rows, 4, share), []
    solution = solve(game, tolerance=0.01, method="first order", progress=lambda *news: told.append(news))
    best = optimum(game)
    assert (solution.method, solution.status) == (Method.FIRST_ORDER, Status.OPTIMAL)
    assert 0.99 * best <= solution.privacy <= best * (1 + 1e-9)
    assert best * (1 - 1e-9) <= solution.bound <= best / 0.99
    assert told[-1] == pytest.approx((solution.iterations, solution.privacy, solution.bound), rel=0.01)
    assert solution.iterations <= 500  # above 700 if all rounds counted the same


@given(games())
@settings(max_examples=40)
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


@pytest.mark.parametrize(("hardware", "package"), [("cuda", "torch"), ("cupy", "cupy")])
def test_hardware_whose_library_is_missing_is_refused_before_any_work(hardware, package, monkeypatch):
    def nothing_installed(name):
        raise ImportError(name)

    monkeypatch.setattr(regret_matching, "import_module", nothing_installed)
    with pytest.raises(MissingExtraError, match=f"'{hardware}' needs {package}"):
        solve(euclid_game(3, 3, 0.5), tolerance=0.01, hardware=hardware)


def test_hardware_that_is_not_there_is_named(monkeypatch):
    def asarray(array, device):
        raise RuntimeError(f"no {device}")

    monkeypatch.setattr(regret_matching, "import_module", lambda name: SimpleNamespace(asarray=asarray))
    with pytest.raises(ParameterError, match=r"'hardware' .* Got 'nowhere' .*no nowhere"):
        solve(euclid_game(3, 3, 0.5), tolerance=0.01, hardware="nowhere")


GAME = euclid_game(3, 3, 0.5)
SAME = LinearRows(sparse.csr_array(np.eye(1, 81) - np.eye(1, 81, 9)), np.zeros(1), np.zeros(1))  # f(0|0) = f(0|1)
LIMITED = Game(GAME.error, GAME.cost, GAME.budget, rows=SAME, mass=GAME.mass)


@pytest.mark.parametrize("game", [GAME.with_budget(GAME.least_loss), Alternatives((GAME, GAME)), LIMITED])
def test_the_first_order_solver_says_what_it_is_not_for(game):
    with pytest.raises(ParameterError, match="first order"):
        solve(game, tolerance=0.01, method="first order")


@pytest.mark.parametrize("game", [Game(GAME.error, GAME.cost, GAME.budget), Alternatives((GAME, GAME)), LIMITED])
def test_a_radius_is_for_one_game_whose_mass_is_known(game):
    with pytest.raises(ParameterError, match=r"'radius'.*one game whose mass is known and without extra rows"):
        solve(game, radius=5.0)


def test_what_tells_nothing_is_not_taken_where_it_leaves_the_radius():
    game = GAME.with_budget(2 * GAME.saturation)  # without a radius, the closed form of one release for all
    assert solve(game).method is Method.CLOSED_FORM
    assert solve(game, radius=1.0).privacy == pytest.approx(optimum(game, 1.0), rel=2e-6)
    assert optimum(game, 1.0) < 0.9 * optimum(game)


def test_the_first_order_solver_goes_by_the_certificate_and_not_by_what_it_sees(monkeypatch):
    seen = RegretMatching.bounds
    monkeypatch.setattr(RegretMatching, "bounds", lambda own: (seen(own)[1], *seen(own)[1:]))  # as if there
    assert solve(euclid_game(6, 4, 0.5), tolerance=0.01, method="first order").status is Status.OPTIMAL


def test_where_nobody_errs_the_first_order_solver_is_done():
    solution = solve(Game(0 * GAME.error, GAME.cost, GAME.budget), tolerance=0.01, method="first order")
    assert (solution.privacy, solution.bound, solution.status) == (0, 0, Status.OPTIMAL)


def test_an_answer_has_no_traces_of_early_rounds():
    own = RegretMatching(GAME.error / GAME.prior_risk, GAME.cost / GAME.budget, 1.0)
    for _ in range(50):
        own.play()
    answer, whole = (own.answer(0.1, trace) for trace in (1e-3, 0.0))
    for few, all_of_it in ((answer.table, whole.table), (answer.attacks[0], whole.attacks[0])):
        assert (all_of_it > 0).sum() > (few > 0).sum()
        np.testing.assert_array_equal(few, np.where(all_of_it > 1e-3, all_of_it, 0))


def test_a_sparse_answer_that_is_not_finite_is_refused():
    table = sparse.csr_array(np.diag([np.nan, *np.ones(8)]))
    with pytest.raises(CertificateError, match="table holds numbers that are not finite"):
        certify(as_alternatives(GAME), Claim(table, (np.eye(9),), np.zeros(1), np.ones(1), np.zeros(0)))


def test_what_is_allowed_is_bounded_by_what_bounds_everything():
    poor = Claim(np.eye(9), (np.full((9, 9), 1 / 9),), np.zeros(1), np.ones(1), np.zeros(0))  # worse than the prior's
    found = certify(as_alternatives(GAME), poor, allowed=np.ones((9, 9), bool))
    assert found.bound == pytest.approx(GAME.prior_risk)


@pytest.mark.parametrize("radius", [None, 2.0])
def test_what_is_worked_out_a_few_rows_at_a_time_is_the_same(radius, monkeypatch):
    whole = solve(GAME, radius=radius)
    monkeypatch.setattr(arrays, "BLOCK", 20)  # two rows of nine
    parts = solve(GAME, radius=radius)
    for name in ("privacy", "bound", "within", "iterations"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-9)


@pytest.mark.parametrize("law", [[1.5, -0.5], [1.0, np.nan], [0.5, 0.2]])
def test_sparse_laws_are_checked_like_others(law):
    with pytest.raises(ParameterError, match="'laws'"):
        Mechanism(sparse.csr_array(np.array([law, [0.0, 1.0]])))


@pytest.mark.parametrize("budget", [0.01, 0.03])
def test_the_first_order_solver_is_patient_with_a_small_budget(budget):
    game = euclid_game(6, 6, 0.5).with_budget(budget)
    solution = solve(game, tolerance=0.01, method="first order")
    assert solution.status is Status.OPTIMAL
    assert 0.99 * optimum(game) <= solution.privacy


def test_time_that_runs_out_leaves_an_honest_gap():
    game = euclid_game(10, 10, 0.5)
    solution = solve(game, tolerance=1e-9, method="first order", time_limit=0.0)
    assert solution.status is Status.TIME_LIMIT
    assert solution.privacy <= optimum(game) <= solution.bound


def test_a_gap_that_single_precision_cannot_close_is_told_and_not_sought_for_ever():
    game = euclid_game(3, 3, 0.5)
    solution = solve(game, tolerance=1e-12, method="first order")
    assert solution.status is Status.STALLED
    assert solution.privacy <= optimum(game) * (1 + 1e-9)
    assert 0 < solution.optimality_gap < 1e-2
