"""The proof that a mechanism is optimal, made from W, C, f, h and the price alone.

For any feasible f, the best guess for every release gives a lower bound on the value of the game:

    L(f) = sum_o min_g sum_i W[g, i] f(o|i)

and for any attack h(g|o) and price lam >= 0, weak duality gives an upper bound:

    U(h, lam) = lam Q + sum_i max_o [ sum_g h(g|o) W[g, i] - lam C[i, o] ]

With several games the attacks are mixed by weights that sum to 1, and extra rows enter with multipliers. A solver is
not believed: its table is repaired until it is a mechanism within budget, its attack until it is an attack, and both
bounds are evaluated on what is returned, rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from hideseek.errors import CertificateError
from hideseek.game.alternatives import Alternatives, Objective
from hideseek.game.game import Game
from hideseek.game.linear_rows import LinearRows
from hideseek.util.arrays import (
    LARGE,
    BoolArray,
    FloatArray,
    IntArray,
    Matrix,
    blocks,
    dense,
    inner,
    light,
    row_of_entry,
    with_entries,
)

ROW_TOLERANCE = 1e-8  # extra rows hold to this share of their largest coefficient; HiGHS itself promises 1e-7


@dataclass(frozen=True, eq=False)
class Claim:
    """What a solver claims. ``attacks`` [o, g] and ``prices`` are one a game, ``multipliers`` one an extra row."""

    table: Matrix
    attacks: tuple[Matrix, ...]
    prices: FloatArray
    mix: FloatArray
    multipliers: FloatArray


@dataclass(frozen=True, eq=False)
class Certificate:
    """The repaired answer with its bounds: ``privacy`` <= value of the game <= ``bound``."""

    answer: Claim
    privacy: float
    bound: float
    gap: float
    privacies: FloatArray
    losses: FloatArray


def certify(
    problem: Alternatives, answer: Claim, safe: FloatArray | None = None, allowed: BoolArray | None = None
) -> Certificate:
    """Repair an answer and bound the value of the game from both sides; refuse what cannot be repaired.

    ``safe`` is a mechanism that keeps every budget and row, to mix towards; one game without rows needs none. A table
    may be sought among the ``allowed`` releases [i, o] only: the bound is then that of mechanisms that keep to them.
    """
    games = problem.games
    answer = repair(problem, answer, safe)
    rounding = rounding_of(problem)
    reached = privacies(problem, answer.table)
    privacy = float(reached.min() if problem.objective is Objective.MINIMUM else problem.weights @ reached)
    with np.errstate(over="ignore", invalid="ignore"):  # the next lines refuse what overflows
        bound = upper_bound(problem, answer, rounding, allowed)
    unseen = nothing_seen(problem)
    if not bound <= unseen @ [game.prior_risk for game in games]:
        releases = answer.table.shape[1]
        answer = replace(
            answer,
            attacks=tuple(one_hot(game.error.sum(axis=1).argmin(), releases, len(game.error)) for game in games),
            prices=np.zeros(len(games)),
            mix=unseen,
            multipliers=np.zeros_like(answer.multipliers),
        )
        bound = upper_bound(problem, answer, rounding, allowed)
    losses = np.array([inner(game.cost, answer.table) for game in games])
    if not (np.isfinite(bound) and np.isfinite(losses).all() and privacy <= bound):
        raise CertificateError(f"The solver's numbers give no bounds: {privacy} to {bound}, losing {losses}.")
    gap = relative_gap(privacy, bound, max(game.prior_risk for game in games))
    return Certificate(answer, privacy, bound, gap, reached, losses)


def rounding_of(problem: Alternatives) -> float:
    """A share that no sum over the inputs, the releases and the guesses of a game errs by."""
    longest = sum(problem.games[0].cost.shape) + max(len(game.error) for game in problem.games)
    return float((longest + 16) * np.finfo(float).eps)


def privacies(problem: Alternatives, table: Matrix) -> FloatArray:
    """L(f) in every game, rounded down."""
    reached = np.array([least_errors(game.error, table).sum() for game in problem.games])
    return reached * (1 - rounding_of(problem))


def least_errors(error: FloatArray, table: Matrix) -> FloatArray:
    """What the best guess for every release errs by."""
    columns = table if isinstance(table, np.ndarray) else table.tocsc()
    width = table.shape[1]
    return np.concatenate([(error @ columns[:, own]).min(axis=0) for own in blocks(width, len(error))])


def relative_gap(privacy: float, bound: float, risk: float) -> float:
    """The relative distance of the bounds; next to a value of nothing, it is relative to a millionth of the risk."""
    return (bound - privacy) / max(bound, 1e-6 * risk) if bound > 0 else 0.0


def nothing_seen(problem: Alternatives) -> FloatArray:
    """Weights of the games under which the adversary who keeps to the prior's best guess does best."""
    if problem.objective is Objective.AVERAGE:
        return problem.weights
    weights = np.zeros(len(problem.games))
    weights[int(np.argmin([game.prior_risk for game in problem.games]))] = 1
    return weights


def upper_bound(problem: Alternatives, answer: Claim, rounding: float, allowed: BoolArray | None = None) -> float:
    """U(h, lam): every gain rounded up, every charge rounded down; of all mechanisms, or of those that are ``allowed``.

    Where the table itself spends more than the budget or breaks a row, if only by rounding, the bound is for mechanisms
    that may do the same: it is never below what the table reaches.
    """
    inputs, releases = answer.table.shape
    games = list(zip(problem.games, answer.attacks, answer.prices, answer.mix, strict=True))
    constant = sum(price * max(game.budget, inner(game.cost, answer.table)) for game, _, price, _ in games if price > 0)
    more, less = np.zeros((2, 0, releases))
    rows = problem.games[0].rows
    if rows is not None:
        up, down = np.maximum(answer.multipliers, 0), np.maximum(-answer.multipliers, 0)
        positive, negative = split(rows.matrix)
        less = (positive.T @ up + negative.T @ down).reshape(inputs, releases)
        more = (positive.T @ down + negative.T @ up).reshape(inputs, releases)
        terms = np.r_[up[up > 0] * rows.upper[up > 0], -down[down > 0] * rows.lower[down > 0]]
        constant += terms.sum() + rounding * np.abs(terms).sum()
        constant += excess(dense(answer.table), rows) * np.abs(answer.multipliers).sum()
    best = np.zeros(inputs)
    for own in blocks(inputs, releases):
        gain, charge = (np.zeros((own.stop - own.start, releases)) for _ in range(2))
        for game, attack, price, share in games:
            if share > 0:
                gain += share * (attack @ game.error[:, own]).T
            if price > 0:
                charge += price * game.cost[own]
        if rows is not None:
            gain += more[own]
            charge += less[own]
        net = (1 + rounding) * gain - (1 - rounding) * charge
        best[own] = (net if allowed is None else np.where(allowed[own], net, -np.inf)).max(axis=1)
    total = constant + best.sum()
    return float(total + rounding * (abs(constant) + np.abs(best).sum()))


def excess(table: FloatArray, rows: LinearRows) -> float:
    """By how much a table breaks the extra rows at most."""
    activity = rows.matrix @ table.ravel()
    return float(np.max(np.maximum(rows.lower - activity, activity - rows.upper), initial=0.0))


def split(matrix: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The positive and the negative part of a sparse matrix, both non-negative."""
    return matrix.maximum(0).tocsr(), (-matrix).maximum(0).tocsr()


def repair(problem: Alternatives, answer: Claim, safe: FloatArray | None) -> Claim:
    """Turn a claimed answer into one that the bounds hold for, or refuse it."""
    games = problem.games
    inputs, releases = games[0].cost.shape
    rows = games[0].rows
    if len(answer.attacks) != len(games):
        raise CertificateError(f"The solver's answer has {len(answer.attacks)} attacks where {len(games)} are needed.")
    shapes = {
        "table": (answer.table, (inputs, releases)),
        "prices": (answer.prices, (len(games),)),
        "mix": (answer.mix, (len(games),)),
        "multipliers": (answer.multipliers, (0 if rows is None else len(rows.lower),)),
    }
    shapes |= {
        f"attacks[{k}]": (attack, (releases, len(game.error)))
        for k, (game, attack) in enumerate(zip(games, answer.attacks, strict=True))
    }
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise CertificateError(f"The solver's {name} has the shape {array.shape} where {shape} is needed.")
        if not np.isfinite(array if isinstance(array, np.ndarray) else array.data).all():
            raise CertificateError(f"The solver's {name} holds numbers that are not finite.")
    table = repaired_table(problem, answer.table, safe)
    pairs = zip(games, answer.attacks, strict=True)
    attacks = tuple(repaired_attack(attack, game, table) for game, attack in pairs)
    mix = problem.weights
    if problem.objective is Objective.MINIMUM:
        mix = stochastic(answer.mix[None, :], lambda: problem.weights[None, :])[0]
    multipliers = answer.multipliers
    if rows is not None:
        free = ((multipliers > 0) & np.isinf(rows.upper)) | ((multipliers < 0) & np.isinf(rows.lower))
        multipliers = np.where(free, 0.0, multipliers)
    return Claim(table, attacks, np.maximum(answer.prices, 0), mix, multipliers)


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
    """An attack whose rows are laws over guesses; where the solver gave none, the best guess for that release."""
    return stochastic(attack, lambda: one_hot((game.error @ table).argmin(axis=0), *attack.shape))


def one_hot(index: IntArray | np.intp, rows: int, columns: int) -> Matrix:
    """A table with a single 1 in every row."""
    every = np.arange(rows)
    if rows * columns > LARGE:
        return sparse.csr_array((np.ones(rows), (every, np.broadcast_to(index, rows))), shape=(rows, columns))
    table = np.zeros((rows, columns))
    table[every, index] = 1
    return table


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
    for k, game in enumerate(games):
        loss = inner(game.cost, table)
        if loss > game.budget * (1 + 1e-9) + 1e-12 * game.saturation:
            raise CertificateError(f"The solver's table loses {loss:.9g} in game {k}, more than {game.budget:.9g}.")
    if rows is None:
        table = fill_unvisited(problem, table)
    else:
        broken = excess(dense(table), rows)
        if broken > ROW_TOLERANCE:
            raise CertificateError(f"The solver's table breaks an extra row by {broken:.3g} of its largest entry.")
    return table


def fill_unvisited(problem: Alternatives, table: Matrix) -> Matrix:
    """Inputs that never occur cost and yield nothing, so a solver leaves their rows to chance, often to the truth.

    They get what is released on the whole, which tells nothing; their weight being 0, no budget or bound moves.
    """
    games = problem.games
    visited = np.logical_or.reduce([game.error.any(axis=0) | game.cost.any(axis=1) for game in games])
    if not visited.all() and visited.any():
        weight = games[0].mass if games[0].mass.size else visited.astype(np.float64)
        law = light(np.tile(weight @ table / weight.sum(), (len(visited), 1)))
        table = with_rows(table, ~visited, law)
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
    loss, least = inner(cost, table), inner(cost, safe)
    if loss <= least:
        return table
    share = min(1.0, (loss - budget * (1 - 1e-13)) / (loss - least))
    return (1 - share) * table + share * safe


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
