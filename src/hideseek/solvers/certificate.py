"""The proof that a mechanism is optimal, made from W, C, f, h and the price alone: the one module here to be trusted.

For any feasible f, the best guess for every release gives a lower bound on the value of the game:

    L(f) = sum_o min_g sum_i W[g, i] f(o|i)

and for any attack h(g|o) and price lam >= 0, weak duality gives an upper bound:

    U(h, lam) = lam Q + sum_i max_o [ sum_g h(g|o) W[g, i] - lam C[i, o] ]

With several games the attacks are mixed by weights that sum to 1, and extra rows enter with multipliers. A solver is
not believed, and neither is the repair of what it claims: whatever comes out of the repair is checked to be a mechanism
within every budget and row, an attack and a price, and both bounds are evaluated on what is returned, rounded outward.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from hideseek.errors import CertificateError
from hideseek.game.alternatives import Alternatives, Objective
from hideseek.game.linear_rows import LinearRows
from hideseek.solvers.claim import ROW_TOLERANCE, Claim, one_hot
from hideseek.solvers.repair import repair
from hideseek.util.arrays import BoolArray, FloatArray, blocks
from hideseek.util.best_guess import least_errors
from hideseek.util.sparse import Matrix, dense, inner

BLIND = 1e-12  # by how much more than the prior risk a bound may be, relatively, that rounding made


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """The repaired claim with its bounds: ``privacy`` <= value of the game <= ``bound``."""

    claim: Claim
    privacy: float
    bound: float
    optimality_gap: float
    privacies: FloatArray
    losses: FloatArray

    def __repr__(self) -> str:
        return f"Certificate: {self.privacy:.6g} <= value of the game <= {self.bound:.6g}"


def certify(
    problem: Alternatives,
    claim: Claim,
    *,
    safe: FloatArray | None = None,
    allowed: BoolArray | None = None,
    priced: bool = False,
) -> Certificate:
    """Repair a claim and bound the value of the game from both sides; refuse what cannot be repaired.

    Parameters
    ----------
    problem
        What was to be solved.
    claim
        What a solver says; nothing in it is believed.
    safe
        [inputs, releases]: a mechanism that keeps every budget and row, to mix towards; one game without rows needs
        none.
    allowed
        [inputs, releases]: the releases that the table was sought among, where not all. The bound is then that of
        mechanisms that keep to them.
    priced
        Whether the bound is to be at the price that is claimed, also where the prior risk is a better one.

    Returns
    -------
    Certificate
        With ``privacy`` <= value of the game <= ``bound``.

    Raises
    ------
    CertificateError
        If no bounds can be made from the claim.

    Examples
    --------
    >>> from hideseek.game.game import Game
    >>> game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
    >>> claim = Claim(np.array([[0.9, 0.1], [0.1, 0.9]]), (np.eye(2),), np.ones(1), np.ones(1), np.zeros(0))
    >>> certify(Alternatives((game,)), claim)
    Certificate: 0.1 <= value of the game <= 0.1
    """
    check_shapes(problem, claim)
    claim = repair(problem, claim, safe)
    check(problem, claim)
    return bounded(problem, claim, allowed, priced)


def bounded(problem: Alternatives, claim: Claim, allowed: BoolArray | None, priced: bool) -> Certificate:
    """Both bounds of a claim that has been checked."""
    games, rounding = problem.games, rounding_of(problem)
    reached = privacies(problem, claim.table)
    privacy = float(reached.min() if problem.objective is Objective.MINIMUM else problem.weights @ reached)
    with np.errstate(over="ignore", invalid="ignore"):  # the next lines refuse what overflows
        bound = upper_bound(problem, claim, rounding, allowed)
    unseen = nothing_seen(problem)
    blind = float(unseen @ [game.prior_risk for game in games])
    if not (priced or bound <= blind * (1 + BLIND)):
        releases = claim.table.shape[1]
        claim = replace(
            claim,
            attacks=tuple(one_hot(game.error.sum(axis=1).argmin(), releases, len(game.error)) for game in games),
            prices=np.zeros(len(games)),
            mix=unseen,
            multipliers=np.zeros_like(claim.multipliers),
        )
        bound = upper_bound(problem, claim, rounding, allowed)
    losses = np.array([inner(game.cost, claim.table) for game in games])
    if not (np.isfinite(bound) and np.isfinite(losses).all() and privacy <= bound):
        raise CertificateError(f"The solver's numbers give no bounds: {privacy} to {bound}, losing {losses}.")
    gap = relative_gap(privacy, bound, max(game.prior_risk for game in games))
    return Certificate(claim, privacy, bound, gap, reached, losses)


def check_shapes(problem: Alternatives, claim: Claim) -> None:
    """Refuse a claim whose arrays are not of the problem's shape, or hold what is not a finite number."""
    games, rows = problem.games, problem.games[0].rows
    inputs, releases = games[0].cost.shape
    if len(claim.attacks) != len(games):
        raise CertificateError(f"The solver's answer has {len(claim.attacks)} attacks where {len(games)} are needed.")
    shapes = {
        "table": (claim.table, (inputs, releases)),
        "prices": (claim.prices, (len(games),)),
        "mix": (claim.mix, (len(games),)),
        "multipliers": (claim.multipliers, (0 if rows is None else len(rows.lower),)),
    }
    shapes |= {
        f"attacks[{k}]": (attack, (releases, len(game.error)))
        for k, (game, attack) in enumerate(zip(games, claim.attacks, strict=True))
    }
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise CertificateError(f"The solver's {name} has the shape {array.shape} where {shape} is needed.")
        if not np.isfinite(array if isinstance(array, np.ndarray) else array.data).all():
            raise CertificateError(f"The solver's {name} holds numbers that are not finite.")


def check(problem: Alternatives, claim: Claim) -> None:
    """Refuse what the bounds do not hold for: no mechanism, no attack, a negative price, a multiplier of no limit."""
    check_shapes(problem, claim)
    check_table(problem, claim.table)
    for k, attack in enumerate(claim.attacks):
        if not are_distributions(attack):
            raise CertificateError(f"The solver's attacks[{k}] has rows that are no distributions of guesses.")
    if claim.prices.min() < 0 or not are_distributions(claim.mix[None]):
        raise CertificateError("The solver's prices are negative, or its mix is no distribution of games.")
    if problem.objective is Objective.AVERAGE and not np.array_equal(claim.mix, problem.weights):
        raise CertificateError("The solver's mix is not the weights of the games.")
    rows = problem.games[0].rows
    if rows is not None:
        limits = np.r_[rows.upper[claim.multipliers > 0], rows.lower[claim.multipliers < 0]]
        if not np.isfinite(limits).all():
            raise CertificateError("The solver's multipliers charge for a side of a row that has no limit.")


def check_table(problem: Alternatives, table: Matrix) -> None:
    """Refuse a table that is no mechanism, costs more than a budget, or breaks an extra row."""
    if not are_distributions(table):
        raise CertificateError("The solver's table has rows that are no distributions of releases.")
    for k, game in enumerate(problem.games):
        loss = inner(game.cost, table)
        if not loss <= game.budget * (1 + 1e-9) + 1e-12 * game.saturation:
            raise CertificateError(f"The solver's table loses {loss:.9g} in game {k}, more than {game.budget:.9g}.")
    rows = problem.games[0].rows
    broken = 0.0 if rows is None else excess(dense(table), rows)
    if not broken <= ROW_TOLERANCE:
        raise CertificateError(f"The solver's table breaks an extra row by {broken:.3g} of its largest entry.")


def are_distributions(matrix: Matrix) -> bool:
    """Whether every row is one, its sum to rounding."""
    entries = matrix if isinstance(matrix, np.ndarray) else matrix.data
    rounding = (matrix.shape[1] + 16) * np.finfo(float).eps
    return bool(entries.min(initial=0.0) >= 0 and np.abs(matrix.sum(axis=1) - 1).max(initial=0.0) <= rounding)


def rounding_of(problem: Alternatives) -> float:
    """A bound on the relative rounding error of sums over the inputs, releases and guesses of a game."""
    longest = sum(problem.games[0].cost.shape) + max(len(game.error) for game in problem.games)
    return float((longest + 16) * np.finfo(float).eps)


def privacies(problem: Alternatives, table: Matrix) -> FloatArray:
    """L(f) in every game, rounded down."""
    reached = np.array([least_errors(game.error, table).sum() for game in problem.games])
    return reached * (1 - rounding_of(problem))


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


def upper_bound(problem: Alternatives, claim: Claim, rounding: float, allowed: BoolArray | None = None) -> float:
    """U(h, lam): every gain rounded up, every charge rounded down; of all mechanisms, or of those that are ``allowed``.

    Where the table itself spends more than the budget or breaks a row, if only by rounding, the bound is for mechanisms
    that may do the same: it is never below what the table reaches.
    """
    inputs, releases = claim.table.shape
    games = list(zip(problem.games, claim.attacks, claim.prices, claim.mix, strict=True))
    constant = sum(price * max(game.budget, inner(game.cost, claim.table)) for game, _, price, _ in games if price > 0)
    more, less = np.zeros((2, 0, releases))
    rows = problem.games[0].rows
    if rows is not None:
        up, down = np.maximum(claim.multipliers, 0), np.maximum(-claim.multipliers, 0)
        positive, negative = split(rows.matrix)
        less = (positive.T @ up + negative.T @ down).reshape(inputs, releases)
        more = (positive.T @ down + negative.T @ up).reshape(inputs, releases)
        terms = np.r_[up[up > 0] * rows.upper[up > 0], -down[down > 0] * rows.lower[down > 0]]
        constant += terms.sum() + rounding * np.abs(terms).sum()
        constant += excess(dense(claim.table), rows) * np.abs(claim.multipliers).sum()
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
