"""The paper's linear program, written out whole: the reference that the fast method is held to.

Its guesses x releases rows have a non-zero for every input, so it is for small games. The solver is scipy's copy of
HiGHS, apart from the one that the double oracle drives.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from hideseek.errors import BudgetError, SolverError, broken_rule
from hideseek.game.alternatives import Alternatives, Objective
from hideseek.game.game import Game, budget_too_small
from hideseek.game.linear_rows import LinearRows
from hideseek.solvers.claim import Claim
from hideseek.solvers.interior_point import least_loss, solvable
from hideseek.solvers.repair import onto_rows, stochastic
from hideseek.util.arrays import BoolArray, FloatArray
from hideseek.util.limits import refuse_if_too_large


def full_program(problem: Alternatives) -> Claim:
    """Solve the whole program.

    Variables: f[i, o]; then y[s, o], the adversary's error in game s on release o; then z, the objective's
    lower bound, which only the minimum over games needs. Errors are in units of the prior risk, costs of the budget.
    """
    games = problem.games
    inputs, releases = games[0].cost.shape
    entries = sum(game.error.size for game in games) * releases
    refuse_if_too_large(3 * 12 * entries, f"The full program with {entries} non-zeros", parameter="game")
    each = sparse.eye_array(releases)
    several = problem.objective is Objective.MINIMUM
    height = len(games) * releases
    count = sum(len(game.error) for game in games) * releases
    risk = max(game.prior_risk for game in games) or 1.0
    units = budget_units(problem)
    errors = sparse.vstack([sparse.kron(-game.error / risk, each) for game in games])
    guessed = sparse.block_diag([sparse.kron(np.ones((len(game.error), 1)), each) for game in games])
    matrix = [
        sparse.hstack([errors, guessed, sparse.csr_array((count, 1))]),
        sparse.hstack([costs(problem, units), sparse.csr_array((len(games), height + 1))]),
    ]
    limit = [np.zeros(count), np.array([game.budget for game in games]) / units]
    if several:
        sums = sparse.kron(sparse.eye_array(len(games)), -np.ones((1, releases)))
        zeros = sparse.csr_array((len(games), inputs * releases))
        matrix.append(sparse.hstack([zeros, sums, np.ones((len(games), 1))]))
        limit.append(np.zeros(len(games)))
    profit = np.r_[np.zeros(inputs * releases), np.repeat(problem.weights, releases), 0.0]
    if several:
        profit = np.r_[np.zeros(inputs * releases + height), 1.0]
    free = np.r_[np.zeros(inputs * releases), np.full(height, -np.inf), -np.inf if several else 0.0]
    result = minimise(-profit, matrix, limit, problem, free)
    dual = -result.ineqlin.marginals
    shares = dual[count + len(games) : count + 2 * len(games)] if several else problem.weights
    attacks = []
    start = 0
    for game, share in zip(games, shares, strict=True):
        size = len(game.error) * releases
        attacks.append(dual[start : start + size].reshape(-1, releases).T / max(share, 1e-12))
        start += size
    return Claim(
        table=result.x[: inputs * releases].reshape(inputs, releases),
        attacks=tuple(attacks),
        prices=dual[count : count + len(games)] * risk / units,
        mix=np.asarray(shares),
        multipliers=np.zeros(0) if games[0].rows is None else row_multipliers(games[0].rows, inputs, result) * risk,
    )


def budget_units(problem: Alternatives) -> FloatArray:
    """What costs are measured in: each game's budget, or where that is next to nothing, a share of saturation."""
    return np.array([max(game.budget, 1e-3 * game.saturation) or 1.0 for game in problem.games])


def costs(problem: Alternatives, units: FloatArray) -> sparse.csr_array:
    """One row for every game's quality loss."""
    rows = zip(problem.games, units, strict=True)
    return sparse.csr_array(np.array([game.cost.ravel() / unit for game, unit in rows]))


def minimise(
    objective: FloatArray,
    matrix: list[sparse.csr_array],
    limit: list[FloatArray],
    problem: Alternatives,
    lower: FloatArray,
) -> OptimizeResult:
    """Solve with the rows that every program has: f's rows sum to 1, and the extra rows hold."""
    inputs, releases = problem.games[0].cost.shape
    size, width = inputs * releases, len(objective)

    def padded(rows: sparse.csr_array) -> sparse.csr_array:
        return sparse.hstack([rows, sparse.csr_array((rows.shape[0], width - size))], format="csr")

    equal = [padded(sparse.kron(sparse.eye_array(inputs), np.ones((1, releases)), format="csr"))]
    totals = [np.ones(inputs)]
    rows = problem.games[0].rows
    if rows is not None:
        same, upper, low = row_kinds(rows)
        equal.append(padded(rows.matrix[same]))
        totals.append(rows.lower[same])
        matrix = [*matrix, padded(rows.matrix[upper]), padded(-rows.matrix[low])]
        limit = [*limit, rows.upper[upper], -rows.lower[low]]
    result = linprog(
        objective,
        A_ub=sparse.vstack(matrix, format="csr"),
        b_ub=np.concatenate(limit),
        A_eq=sparse.vstack(equal, format="csr"),
        b_eq=np.concatenate(totals),
        bounds=np.c_[lower, np.full(width, np.inf)],
        method="highs",
    )
    if result.status == 2 and rows is not None:
        rule = "rows that some mechanism within the budget meets"
        raise broken_rule("rows", "solve", rule, "rows that rule every mechanism out", "Loosen the rows or the budget.")
    if result.status != 0:
        raise SolverError(f"The full program was not solved: {result.message}")
    return result


def row_kinds(rows: LinearRows) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Which extra rows are equations, which are bounded above, and which below."""
    same = rows.lower == rows.upper
    return same, ~same & np.isfinite(rows.upper), ~same & np.isfinite(rows.lower)


def row_multipliers(rows: LinearRows, inputs: int, result: OptimizeResult) -> FloatArray:
    """The multipliers of the extra rows, gathered from where :func:`minimise` put them."""
    same, upper, low = row_kinds(rows)
    multipliers = np.zeros(len(rows.lower))
    multipliers[same] = -result.eqlin.marginals[inputs:]
    bounded = -result.ineqlin.marginals[-(upper.sum() + low.sum()) or len(result.ineqlin.marginals) :]
    multipliers[upper] += bounded[: upper.sum()]
    multipliers[low] -= bounded[upper.sum() :]
    return multipliers


def safe_mechanism(problem: Alternatives) -> FloatArray | None:
    """A mechanism that keeps every extra row and stays as far below every budget as can be.

    The one place that knows whether several budgets, or a budget and extra rows, can be met at all. One game without
    rows needs no program for it: None, and the certificate takes its cheapest releases.
    """
    games = problem.games
    if len(games) == 1 and games[0].rows is None:
        return None
    if solvable(problem):
        cheapest = least_loss(games[0])
        refuse_unaffordable(games[0], cheapest.quality_loss)
        return cheapest.mechanism.table
    size = games[0].cost.size
    units = budget_units(problem)
    matrix = sparse.hstack([costs(problem, units), -np.ones((len(games), 1))], format="csr")
    limit = np.array([game.budget for game in games]) / units
    result = minimise(np.r_[np.zeros(size), 1.0], [matrix], [limit], problem, np.r_[np.zeros(size), -np.inf])
    if result.x[-1] > 1e-9:
        if len(games) == 1:
            raise budget_too_small(games[0].budget, float(games[0].budget + result.x[-1] * units[0]), games[0].units[1])
        got = f"{[game.budget for game in games]}, short by {result.x[-1]:.1%} of each"
        least = float(games[0].budget + result.x[-1] * units[0])
        rule, hint = "met by one mechanism in all games", "Raise the budgets."
        raise BudgetError.breaking("budget", "solve", rule, got, hint, least=least)
    table = np.maximum(result.x[:size], 0).reshape(games[0].cost.shape)
    table = stochastic(table, lambda: table)
    rows = games[0].rows
    return table if rows is None else onto_rows(table, rows)


def refuse_unaffordable(game: Game, least: float) -> None:
    """Refuse a budget below what the cheapest mechanism loses."""
    if least > game.budget * (1 + 1e-9):
        raise budget_too_small(game.budget, least, game.units[1])
