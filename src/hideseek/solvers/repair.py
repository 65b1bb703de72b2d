"""From what a solver claims to what a proof holds for: a mechanism within its budgets and rows, and an attack.

Nothing here is trusted: :mod:`hideseek.solvers.certificate` checks what comes out before it bounds anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from hideseek.game.alternatives import Alternatives, Objective
from hideseek.game.game import Game
from hideseek.game.linear_rows import LinearRows
from hideseek.solvers.claim import ROW_TOLERANCE, Claim, one_hot
from hideseek.util.arrays import BoolArray, FloatArray
from hideseek.util.mixing import share_to_keep
from hideseek.util.sparse import Matrix, dense, inner, light, row_of_entry, with_entries


def repair(problem: Alternatives, claim: Claim, safe: FloatArray | None) -> Claim:
    """Turn a claim into one that the bounds hold for, as far as that can be done."""
    games = problem.games
    rows = games[0].rows
    table = repaired_table(problem, claim.table, safe)
    pairs = zip(games, claim.attacks, strict=True)
    attacks = tuple(repaired_attack(attack, game, table) for game, attack in pairs)
    mix = problem.weights
    if problem.objective is Objective.MINIMUM:
        mix = stochastic(claim.mix[None, :], lambda: problem.weights[None, :])[0]
    multipliers = claim.multipliers
    if rows is not None:
        free = ((multipliers > 0) & np.isinf(rows.upper)) | ((multipliers < 0) & np.isinf(rows.lower))
        multipliers = np.where(free, 0.0, multipliers)
    return Claim(table, attacks, np.maximum(claim.prices, 0), mix, multipliers)


def stochastic(matrix: Matrix, fallback: Callable[[], Matrix]) -> Matrix:
    """Clip negative entries and make rows sum to 1; a row with nothing left takes the fallback's."""
    if isinstance(matrix, np.ndarray):
        clipped = np.maximum(matrix, 0)
        largest = clipped.max(axis=1)
    else:
        clipped = with_entries(matrix, np.maximum(matrix.data, 0))
        largest = clipped.max(axis=1).toarray().ravel()
    empty = largest <= 1e-9
    if empty.any():
        clipped = with_rows(clipped, empty, fallback())
        largest[empty] = 1
    # first by the largest, since the sum of what a solver says may overflow
    clipped = over_rows(clipped, largest)
    return over_rows(clipped, clipped.sum(axis=1))


def over_rows(matrix: Matrix, divisor: FloatArray) -> Matrix:
    """Each row divided by its number."""
    if isinstance(matrix, np.ndarray):
        return matrix / divisor[:, None]
    return with_entries(matrix, matrix.data / np.repeat(divisor, np.diff(matrix.indptr)))


def with_rows(matrix: Matrix, chosen: BoolArray, rows: Matrix) -> Matrix:
    """The matrix with some rows taken from another one."""
    if isinstance(matrix, np.ndarray):
        return np.where(chosen[:, None], dense(rows), matrix)
    own, other = (sparse.diags_array(which.astype(float)) for which in (~chosen, chosen))
    return sparse.csr_array(own @ matrix + other @ rows)


def repaired_attack(attack: Matrix, game: Game, table: Matrix) -> Matrix:
    """An attack whose rows are distributions of guesses; where the solver gave none, the best guess at that release."""
    return stochastic(attack, lambda: one_hot((game.error @ table).argmin(axis=0), *attack.shape))


def repaired_table(problem: Alternatives, table: Matrix, safe: FloatArray | None) -> Matrix:
    """A mechanism that meets the budgets and the extra rows, as near to ``table`` as the repair allows."""
    games = problem.games
    rows = games[0].rows
    table = stochastic(table, lambda: cheapest_releases(games[0].cost, table) if safe is None else safe)
    if rows is not None:
        table = onto_rows(dense(table), rows)
        if safe is not None:
            table = mixed_into_rows(table, safe, rows)
    # the cheapest releases know nothing of ratios: a trace of them would break the rows of differential privacy
    ratios = rows is not None and rows.block is not None and safe is None
    for game in games:
        if inner(game.cost, table) > game.budget and not ratios:
            towards = cheapest_releases(game.cost, table) if safe is None else safe
            table = mixed_into_budget(table, towards, game.cost, game.budget)
    return fill_unvisited(problem, table) if rows is None else table


def fill_unvisited(problem: Alternatives, table: Matrix) -> Matrix:
    """Inputs that never occur cost and yield nothing, so a solver leaves their rows to chance, often to the truth.

    They get what is released overall, which reveals nothing; their weight being 0, no budget or bound moves.
    """
    games = problem.games
    visited = np.logical_or.reduce([game.error.any(axis=0) | game.cost.any(axis=1) for game in games])
    if not visited.all() and visited.any():
        weight = games[0].mass if games[0].mass.size else visited.astype(np.float64)
        overall = light(np.tile(weight @ table / weight.sum(), (len(visited), 1)))
        table = with_rows(table, ~visited, overall)
    return table


def cheapest_releases(cost: FloatArray, table: Matrix) -> Matrix:
    """The table kept to the cheapest releases of every input, so that zero-loss choices survive the repair."""
    least = cost.min(axis=1) * (1 + 1e-12)
    if isinstance(table, np.ndarray):
        kept: Matrix = np.where(cost <= least[:, None], table, 0)
    else:
        row = row_of_entry(table)
        kept = with_entries(table, np.where(cost[row, table.indices] <= least[row], table.data, 0))
    return stochastic(kept, lambda: one_hot(cost.argmin(axis=1), *cost.shape))


def mixed_into_budget(table: Matrix, safe: Matrix, cost: FloatArray, budget: float) -> Matrix:
    """Mix towards the safe mechanism just enough to meet the budget."""
    share = float(share_to_keep(inner(cost, table), inner(cost, safe), budget))
    return (1 - share) * table + share * safe if share else table


def mixed_into_rows(table: FloatArray, safe: FloatArray, rows: LinearRows) -> FloatArray:
    """Mix towards the safe mechanism just enough to meet the inequality rows, where it has something to spare."""
    activity, spare = (
        np.maximum(rows.lower - product, product - rows.upper)
        for product in (rows.matrix @ mechanism.ravel() for mechanism in (table, safe))
    )
    broken = (activity > ROW_TOLERANCE) & (spare < 0)
    share = float(np.max(activity[broken] / (activity[broken] - spare[broken]), initial=0.0))
    return (1 - share) * table + share * safe


def onto_rows(table: FloatArray, rows: LinearRows) -> FloatArray:
    """Mend a table that meets the rows only to a solver's tolerance: as the rows know, or by projecting its support."""
    if rows.mend is not None:
        return rows.mend(table)
    equal = rows.lower == rows.upper
    support = np.flatnonzero(table.ravel())
    inputs, releases = table.shape
    totals = sparse.csr_array((np.ones(table.size), (np.arange(table.size) // releases, np.arange(table.size))))
    matrix = sparse.vstack([totals, rows.matrix[equal]], format="csr")[:, support]
    wanted = np.r_[np.ones(inputs), rows.lower[equal]]
    values = table.ravel()[support]
    residual = wanted - matrix @ values
    if np.abs(residual).max() < 1e-13:
        return table
    moved = values + sparse.linalg.lsqr(matrix, residual, atol=1e-15, btol=1e-15)[0]
    projected = np.zeros(table.size)
    projected[support] = moved
    return stochastic(projected.reshape(table.shape), lambda: table)
