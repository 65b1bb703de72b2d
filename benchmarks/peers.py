"""What one would write for the same game with other packages; what they return goes through our certificate."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from hideseek import Game, solve
from hideseek.game.alternatives import as_alternatives
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from hideseek.util.arrays import FloatArray


def scipy_table(game: Game) -> tuple[FloatArray, str]:
    """The program written down whole, for scipy's linprog.

    max sum_o y_o  subject to  y_o <= sum_i W[g, i] f(o|i),  sum C f <= Q,  rows of f summing to 1
    """
    inputs, releases = game.cost.shape
    each = sparse.eye_array(releases)
    guesses = sparse.hstack([sparse.kron(-game.error, each), sparse.kron(np.ones((len(game.error), 1)), each)])
    budget = sparse.hstack([sparse.csr_array(game.cost.reshape(1, -1)), sparse.csr_array((1, releases))])
    totals = sparse.hstack(
        [sparse.kron(sparse.eye_array(inputs), np.ones((1, releases))), sparse.csr_array((inputs, releases))]
    )
    result = linprog(
        np.r_[np.zeros(inputs * releases), -np.ones(releases)],
        A_ub=sparse.vstack([guesses, budget], format="csr"),
        b_ub=np.r_[np.zeros(guesses.shape[0]), game.budget],
        A_eq=totals.tocsr(),
        b_eq=np.ones(inputs),
        bounds=[(0, None)] * (inputs * releases) + [(None, None)] * releases,
        method="highs",
    )
    return result.x[: game.cost.size].reshape(game.cost.shape), "HiGHS"


def qif_table(game: Game) -> tuple[FloatArray, str]:
    """The package for quantitative information flow, which knows this game by name."""
    import qif

    d_p, d_q = game.error / game.mass, game.cost / game.mass[:, None]
    table = qif.mechanism.l_risk.max_risk_given_max_loss(
        game.mass, *game.cost.shape, game.budget, lambda g, a: d_p[g, a], lambda a, o: d_q[a, o]
    )
    return np.array(table), "its default"


def cvxpy_table(game: Game) -> tuple[FloatArray, str]:
    """A modelling language, with the solver that it chooses."""
    import cvxpy

    table = cvxpy.Variable(game.cost.shape, nonneg=True)
    privacy = cvxpy.sum(cvxpy.min(game.error @ table, axis=0))
    loss = cvxpy.sum(cvxpy.multiply(game.cost, table))
    problem = cvxpy.Problem(cvxpy.Maximize(privacy), [cvxpy.sum(table, axis=1) == 1, loss <= game.budget])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the certificate tells how much
        problem.solve()
    return table.value, problem.solver_stats.solver_name


PEERS: dict[str, Callable[[Game], tuple[FloatArray, str]]] = {
    "scipy": scipy_table,
    "qif": qif_table,
    "cvxpy": cvxpy_table,
}


def certified_gap(game: Game, table: FloatArray) -> float:
    """How far a peer's table is from our bound, once it keeps the budget and its rows are distributions."""
    ours = solve(game, tolerance=1e-8)
    answer = Claim(table, ours.attacks, ours.prices, np.ones(1), np.zeros(0))
    return certify(as_alternatives(game), answer).optimality_gap
