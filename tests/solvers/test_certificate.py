"""A solver that lies is caught: whatever it claims, the bounds that come out hold, or nothing comes out."""

from __future__ import annotations

from dataclasses import replace

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hideseek import Game, HideseekError, solve, trade_off
from hideseek.errors import CertificateError, SolverError
from hideseek.game import Alternatives, LinearRows
from hideseek.game.alternatives import as_alternatives
from hideseek.solvers import Method, Status
from hideseek.solvers import certificate as certificate_module
from hideseek.solvers import double_oracle as double_oracle_module
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from tests.support.games import euclid_game

GAME = euclid_game(3, 3, 0.4)
PROBLEM = Alternatives((GAME,))
TRUTH = solve(GAME, tolerance=1e-10)
HONEST = Claim(TRUTH.mechanism.table, TRUTH.attacks, TRUTH.prices, np.ones(1), np.zeros(0))


def changed(array, at, value):
    result = np.array(array, dtype=float)
    result[at] = value
    return result


def table(new):
    return replace(HONEST, table=np.array(new, dtype=float))


def attack(new):
    return replace(HONEST, attacks=(np.array(new, dtype=float),))


F, H, LAMBDA = HONEST.table, HONEST.attacks[0], TRUTH.price
noise = np.random.default_rng(0).normal(size=F.shape)

CORRUPTIONS = {
    "table of zeros": table(np.zeros_like(F)),
    "table of ones": table(np.ones_like(F)),
    "table negated": table(-F),
    "table doubled": table(2 * F),
    "table shrunk": table(1e-3 * F),
    "table with a nan": table(changed(F, (0, 0), np.nan)),
    "table with inf": table(changed(F, (3, 2), np.inf)),
    "table with -inf": table(changed(F, (3, 2), -np.inf)),
    "table with a huge entry": table(changed(F, (3, 2), 1e300)),
    "table with a row that overflows": table(changed(F, 3, 1e308)),
    "attack with a row that overflows": replace(attack(changed(H, 3, 1e308)), prices=np.zeros(1)),
    "attacks that all overflow": replace(attack(np.full_like(H, 1e308)), prices=np.zeros(1)),
    "price that overflows": replace(HONEST, prices=np.array([1.7e308])),
    "table with a negative entry": table(changed(F, (1, 1), -0.5)),
    "table with tiny negatives": table(F - 1e-9),
    "table with a zero row": table(changed(F, 4, 0.0)),
    "table with a negative row": table(changed(F, 4, -1.0)),
    "table with noise": table(F + 0.1 * noise),
    "table of noise": table(noise),
    "table transposed": table(F.T),
    "table shuffled by rows": table(F[::-1]),
    "table shuffled by columns": table(F[:, ::-1]),
    "table of the truth": table(np.eye(9)),
    "table of a constant": table(np.tile(np.eye(9)[0], (9, 1))),
    "table uniform": table(np.full((9, 9), 1 / 9)),
    "table over budget": table(np.eye(9)[::-1]),
    "table with rows off by 1e-6": table(F * (1 + 1e-6)),
    "table with one row off": table(F * np.r_[1.5, np.ones(8)][:, None]),
    "table too small": table(F[:8]),
    "table flat": table(F.ravel()),
    "table empty": table(np.zeros((0, 0))),
    "attack of zeros": attack(np.zeros_like(H)),
    "attack of ones": attack(np.ones_like(H)),
    "attack negated": attack(-H),
    "attack doubled": attack(2 * H),
    "attack halved": attack(H / 2),
    "attack with a nan": attack(changed(H, (0, 0), np.nan)),
    "attack with inf": attack(changed(H, (0, 0), np.inf)),
    "attack with a negative entry": attack(changed(H, (2, 2), -3)),
    "attack with a zero row": attack(changed(H, 5, 0.0)),
    "attack of noise": attack(noise),
    "attack shuffled": attack(H[::-1]),
    "attack transposed": attack(H.T),
    "attack too wide": attack(np.hstack([H, H])),
    "attack that believes": attack(np.eye(9)),
    "attack on one place": attack(np.tile(np.eye(9)[7], (9, 1))),
    "price negative": replace(HONEST, prices=np.array([-LAMBDA])),
    "price zero": replace(HONEST, prices=np.zeros(1)),
    "price doubled": replace(HONEST, prices=np.array([2 * LAMBDA])),
    "price huge": replace(HONEST, prices=np.array([1e200])),
    "price nan": replace(HONEST, prices=np.array([np.nan])),
    "price inf": replace(HONEST, prices=np.array([np.inf])),
    "two prices": replace(HONEST, prices=np.array([LAMBDA, LAMBDA])),
    "multipliers from nowhere": replace(HONEST, multipliers=np.ones(3)),
    "mix of nothing": replace(HONEST, mix=np.zeros(1)),
    "everything zero": Claim(np.zeros_like(F), (np.zeros_like(H),), np.zeros(1), np.zeros(1), np.zeros(0)),
    "everything noise": Claim(noise, (noise,), np.array([0.3]), np.ones(1), np.zeros(0)),
}


def test_there_are_fifty_corruptions():
    assert len(CORRUPTIONS) >= 50


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corrupted_answer_is_refused_or_repaired(name):
    try:
        certificate = certify(PROBLEM, CORRUPTIONS[name])
    except CertificateError:
        return
    repaired = certificate.claim
    assert (repaired.table >= 0).all()
    np.testing.assert_allclose(repaired.table.sum(axis=1), 1, atol=1e-12)
    assert (GAME.cost * repaired.table).sum() <= GAME.budget * (1 + 1e-9)
    np.testing.assert_allclose(repaired.attacks[0].sum(axis=1), 1, atol=1e-12)
    assert repaired.prices[0] >= 0
    # the true value, known to 1e-10, lies within whatever is certified
    assert certificate.privacy <= TRUTH.bound
    assert certificate.bound >= TRUTH.privacy
    assert certificate.privacy <= (GAME.error @ repaired.table).min(axis=0).sum()


@pytest.mark.parametrize("name", ["table with a nan", "attack with inf", "price nan", "table too small", "table flat"])
def test_what_cannot_be_repaired_is_refused(name):
    with pytest.raises(CertificateError, match="The solver's"):
        certify(PROBLEM, CORRUPTIONS[name])


def test_the_honest_answer_closes_the_gap():
    assert certify(PROBLEM, HONEST).optimality_gap <= 1e-9


SEVERAL = Alternatives((GAME, euclid_game(3, 3, 0.6)), objective="minimum")
TOGETHER = solve(SEVERAL, tolerance=1e-9)
LIES = {
    "mix of nan": {"mix": np.array([np.nan, 1.0])},
    "mix negative": {"mix": np.array([-1.0, -2.0])},
    "mix on one": {"mix": np.array([5.0, 0.0])},
    "mix of zeros": {"mix": np.zeros(2)},
    "one attack": {"attacks": (H,)},
    "attacks swapped": {"attacks": (np.eye(9), H)},
    "prices swapped": {"prices": np.array([100.0, 0.0])},
    "prices zero": {"prices": np.zeros(2)},
    "table over one budget": {"table": np.full((9, 9), 1 / 9)},
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_about_several_games_is_refused_or_repaired(name):
    truth = Claim(TOGETHER.mechanism.table, TOGETHER.attacks, TOGETHER.prices, np.array([0.5, 0.5]), np.zeros(0))
    try:
        certificate = certify(SEVERAL, replace(truth, **LIES[name]))
    except CertificateError:
        return
    assert certificate.privacy <= TOGETHER.bound
    assert certificate.bound >= TOGETHER.privacy
    for game, loss in zip(SEVERAL.games, certificate.losses, strict=True):
        assert loss <= game.budget * (1 + 1e-9)


def test_small_rows_are_not_broken_because_they_are_small():
    """f(o|i) <= 3 f(o|j), written in units of a billionth, binds as it does in units of one."""
    game = euclid_game(1, 4, 0.65)
    contrast = np.zeros((6, 4))
    for k, (i, j) in enumerate([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]):
        contrast[k, i], contrast[k, j] = 1, -3.0
    matrix = np.kron(contrast, np.eye(4))
    values = []
    for unit in (1.0, 1e-9):
        rows = LinearRows(unit * matrix, lower=np.full(24, -np.inf), upper=np.zeros(24))
        limited = Game(game.error, game.cost, budget=game.budget, rows=rows)
        values.append(solve(limited, method="double_oracle").privacy)
    assert values[1] == pytest.approx(values[0], rel=2e-6)


@pytest.mark.parametrize("unit", [1e-10, 1e10])
def test_units_do_not_matter_to_the_full_program(unit):
    games = [euclid_game(2, 3, 0.3), euclid_game(2, 3, 0.6)]
    scaled = [Game(unit * game.error, unit * game.cost, budget=unit * game.budget) for game in games]
    for method in ("double_oracle", "full_program"):
        value = solve(Alternatives(scaled), method=method).privacy
        assert value / unit == pytest.approx(solve(Alternatives(games)).privacy, rel=2e-6)


@given(st.integers(0, 10**6), st.floats(1e-12, 10))
@settings(max_examples=40)
def test_no_perturbation_makes_the_bounds_cross_the_value(seed, size):
    generator = np.random.default_rng(seed)
    answer = Claim(
        F + size * generator.normal(size=F.shape),
        (H + size * generator.normal(size=H.shape),),
        TRUTH.prices + size * generator.normal(),
        np.ones(1),
        np.zeros(0),
    )
    certificate = certify(PROBLEM, answer)
    assert certificate.privacy <= TRUTH.bound
    assert certificate.bound >= TRUTH.privacy


REAL = highspy.Highs


class LyingHighs:
    """HiGHS that claims to be optimal and returns zeros, as the real one did when its threads were changed."""

    def __init__(self):
        self.real = REAL()

    def getSolution(self):  # noqa: N802
        solution = self.real.getSolution()

        class Zeros:
            col_value = [0.0] * len(solution.col_value)
            col_dual = [0.0] * len(solution.col_dual)
            row_value = [0.0] * len(solution.row_value)
            row_dual = [0.0] * len(solution.row_dual)

        return Zeros()

    def __getattr__(self, name):
        return getattr(self.real, name)


def test_a_solver_that_returns_zeros_is_not_believed(monkeypatch):
    monkeypatch.setattr(double_oracle_module.highspy, "Highs", LyingHighs)
    try:
        solution = solve(GAME, method="double_oracle")
    except HideseekError:
        return
    assert solution.status is not Status.OPTIMAL
    assert solution.privacy <= TRUTH.bound
    assert solution.bound >= TRUTH.privacy


class FailingHighs(LyingHighs):
    def getModelStatus(self):  # noqa: N802
        return highspy.HighsModelStatus.kInfeasible


def test_a_solver_that_fails_is_an_error_that_names_its_status(monkeypatch):
    monkeypatch.setattr(double_oracle_module.highspy, "Highs", FailingHighs)
    with pytest.raises(SolverError, match="Infeasible"):
        solve(GAME, method="double_oracle")


def test_where_the_solver_fails_the_full_program_steps_in(monkeypatch):
    monkeypatch.setattr(double_oracle_module.highspy, "Highs", FailingHighs)
    solution = solve(GAME)
    assert solution.method is Method.FULL_PROGRAM
    assert solution.status is Status.OPTIMAL
    assert solution.privacy == pytest.approx(TRUTH.privacy, rel=2e-6)
    assert trade_off(GAME, budgets=[GAME.budget]).privacy[0] == pytest.approx(TRUTH.privacy, rel=2e-6)


SMALL = euclid_game(3, 3, 0.5)


def test_a_sparse_answer_that_is_not_finite_is_refused():
    table = sparse.csr_array(np.diag([np.nan, *np.ones(8)]))
    with pytest.raises(CertificateError, match="table holds numbers that are not finite"):
        certify(as_alternatives(SMALL), Claim(table, (np.eye(9),), np.zeros(1), np.ones(1), np.zeros(0)))


def test_what_is_allowed_is_bounded_by_what_bounds_everything():
    poor = Claim(np.eye(9), (np.full((9, 9), 1 / 9),), np.zeros(1), np.ones(1), np.zeros(0))  # worse than the prior's
    found = certify(as_alternatives(SMALL), poor, allowed=np.ones((9, 9), bool))
    assert found.bound == pytest.approx(SMALL.prior_risk)


CHEATS = {
    "a table that is no mechanism": {"table": np.full((9, 9), 0.2)},
    "a table with a negative entry": {"table": np.eye(9) + np.eye(1, 9) - np.eye(1, 9, 1)},
    "a table beyond the budget": {"table": np.eye(9)[::-1]},
    "an attack that is none": {"attacks": (np.full((9, 9), 0.05),)},
    "a negative attack": {"attacks": (2 * np.eye(9) - np.roll(np.eye(9), 1, axis=1),)},
    "a negative price": {"prices": np.array([-1.0])},
    "a mix that is none": {"mix": np.array([0.5])},
    "too many attacks": {"attacks": (np.eye(9), np.eye(9))},
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_repair_that_cheats_is_found_out(name, monkeypatch):
    monkeypatch.setattr(certificate_module, "repair", lambda problem, claim, safe: replace(claim, **CHEATS[name]))
    with pytest.raises(CertificateError):
        certify(PROBLEM, HONEST)


def test_a_multiplier_of_a_side_without_limit_is_found_out(monkeypatch):
    matrix = np.zeros((1, 81))
    matrix[0, 0] = 1
    limited = Game(
        GAME.error, GAME.cost, budget=GAME.budget, rows=LinearRows(matrix, lower=np.zeros(1), upper=np.full(1, np.inf))
    )
    monkeypatch.setattr(certificate_module, "repair", lambda problem, claim, safe: claim)
    with pytest.raises(CertificateError, match="no limit"):
        certify(Alternatives((limited,)), replace(HONEST, multipliers=np.ones(1)))
    assert certify(Alternatives((limited,)), replace(HONEST, multipliers=np.zeros(1))).optimality_gap <= 1e-9


def test_a_price_that_is_asked_for_stays_where_the_prior_risk_bounds_better():
    poor = replace(HONEST, attacks=(np.full(HONEST.attacks[0].shape, 1 / 9),), prices=np.array([0.1]))
    assert certify(PROBLEM, poor).claim.prices == 0
    kept = certify(PROBLEM, poor, priced=True)
    assert kept.claim.prices == 0.1
    assert kept.bound > GAME.prior_risk
