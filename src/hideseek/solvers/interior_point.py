"""Linear rows that are the same for every release make f dense, and then an interior point beats the double oracle.

Both programs over such rows have the one form

    minimise  sum objective[u, o] U[u, o]   subject to   A U <= 0,   sum cost[u, o] U[u, o] <= budget

where column U[:, o] holds f(o|.) and, in a game, the error y[o] on that release; f's rows sum to 1. But for these sums
and the budget the releases have nothing to do with each other: a Newton step takes one small factor per release, all
made at once, and a system with one equation for each input and one for the budget. It is Mehrotra's
predictor-corrector, with Gondzio's correctors, from a point where every row has something to spare.

A release's column ends on a ray of the cone A u <= 0, where A' D A is singular but for rounding. So its inverse is
never formed: everything goes through the triangular factor, which keeps the digits that the inverse loses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.game.alternatives import Alternatives
from hideseek.game.game import Game
from hideseek.game.linear_rows import LinearRows
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import relative_gap, rounding_of, upper_bound
from hideseek.solvers.claim import Claim, one_hot
from hideseek.solvers.repair import onto_rows, stochastic
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.progress import Advance, tell_bounds

ROUNDS, PATIENCE = 150, 15  # at most, and without getting nearer; 20 to 60 are usual
CORRECTORS = 6  # at most in a round: each costs a fraction of the factors that it reuses
ROUNDING = 1e-14  # of a matrix whose diagonal is 1; keeps it positive definite
NEAR = 0.97  # of the way to the boundary

Bounds = Callable[[int, float, float], None]  # hears the round, and the bounds of a program after it


@dataclass(frozen=True, eq=False)
class Program:
    """``thin`` and ``full`` are the rows A, sparse and dense; the first ``inputs`` rows of U sum to 1."""

    objective: FloatArray
    thin: sparse.csr_array
    full: FloatArray
    cost: FloatArray
    budget: float
    inputs: int

    @cached_property
    def outer(self) -> sparse.csr_array:
        """Maps the weights of the thin rows to the sum of their outer products, laid out row by row."""
        ones = np.ones((1, self.thin.shape[1]))
        pairs = sparse.kron(self.thin, ones, format="csr") * sparse.kron(ones, self.thin, format="csr")
        return sparse.csr_array(pairs.T)

    def times(self, values: FloatArray) -> FloatArray:
        """A U."""
        return np.vstack([self.thin @ values, self.full @ values])

    def normal(self, weight: FloatArray) -> FloatArray:
        """A' D A for every release."""
        count, height = self.thin.shape
        thin: FloatArray = (self.outer @ weight[:count]).T.reshape(-1, height, height)
        full: FloatArray = np.matmul(self.full.T * weight[count:].T[:, None, :], self.full)
        return thin + full

    def transposed(self, weight: FloatArray) -> FloatArray:
        """A' Z."""
        count = self.thin.shape[0]
        product: FloatArray = self.thin.T @ weight[:count] + self.full.T @ weight[count:]
        return product


@dataclass(frozen=True, eq=False)
class Iterate:
    """Where the method stands, or a step: U and the slack of its rows, their multipliers, those of the sums, ``worth``,
    and the budget's slack and price."""

    values: FloatArray
    slack: FloatArray
    weight: FloatArray
    worth: FloatArray
    spare: float
    price: float

    def moved(self, step: Iterate, primal: float, dual: float) -> Iterate:
        """This point after a step, of different lengths on the two sides."""
        length = {"values": primal, "slack": primal, "spare": primal, "weight": dual, "worth": dual, "price": dual}
        names = [field.name for field in fields(self)]
        return Iterate(**{name: getattr(self, name) + length[name] * getattr(step, name) for name in names})

    @property
    def complementarity(self) -> float:
        """The distance between the primal and the dual objective, when both are feasible."""
        return float(np.vdot(self.slack, self.weight) + self.spare * self.price)

    def room(self, step: Iterate) -> tuple[float, float]:
        """How far the step can go on either side before something turns negative, at most 1."""
        pairs = (
            ((self.slack, step.slack), (self.spare, step.spare)),
            ((self.weight, step.weight), (self.price, step.price)),
        )
        primal, dual = (1 / max(1.0, *(float(np.max(-change / value)) for value, change in side)) for side in pairs)
        return primal, dual


class Newton:
    """The equations of one round, solved for several right-hand sides with the same factors."""

    def __init__(self, program: Program, point: Iterate) -> None:
        self.program, self.point = program, point
        inputs = program.inputs
        self.steepness = program.objective + point.price * program.cost + program.transposed(point.weight)
        self.steepness[:inputs] += point.worth[:, None]
        over = np.vdot(program.cost, point.values) + point.spare - program.budget
        self.excess = np.r_[point.values[:inputs].sum(axis=1) - 1, over]
        self.factor = inverse_factors(program, point)
        of_budget = np.matmul(program.cost.T[:, None, :], self.factor)
        coupling = np.concatenate([self.factor[:, :inputs], of_budget], axis=1)
        self.coupling = coupling.transpose(1, 0, 2).reshape(inputs + 1, -1)
        system = self.coupling @ self.coupling.T
        system[-1, -1] += point.spare / point.price
        self.unit = 1 / np.sqrt(system.diagonal())
        self.system = system * self.unit * self.unit[:, None]

    @property
    def gap(self) -> float:
        """The distance between the objectives, and what it may be wrong by while the equations do not hold."""
        multipliers = np.abs(np.r_[self.point.worth, self.point.price])
        wrong = np.abs(self.steepness * self.point.values).sum() + np.abs(self.excess) @ multipliers
        return float(self.point.complementarity + wrong)

    def step(self, rows: FloatArray, budget: float) -> Iterate:
        """The step that takes slack x multiplier down by ``rows`` and, of the budget, by ``budget``, to first order."""
        point, program = self.point, self.program
        downhill = program.transposed(rows / point.slack) - self.steepness
        half = np.matmul(downhill.T[:, None, :], self.factor)
        wanted = self.coupling @ half.ravel() + self.excess
        wanted[-1] -= budget / point.price
        worth = self.unit * np.linalg.solve(self.system, self.unit * wanted)
        half -= (worth @ self.coupling).reshape(half.shape)
        values = np.matmul(self.factor, half.transpose(0, 2, 1))[:, :, 0].T
        slack = -program.times(values)
        weight = -(rows + point.weight * slack) / point.slack
        spare = -self.excess[-1] - float(np.vdot(program.cost, values))
        return Iterate(values, slack, weight, worth[:-1], spare, float(worth[-1]))


def inverse_factors(program: Program, point: Iterate) -> FloatArray:
    """F[o] with F F' the inverse of A' D A, D being the multipliers over the slacks of that release's rows."""
    normal = program.normal(point.weight / point.slack)
    unit = 1 / np.sqrt(np.einsum("oii->oi", normal))
    scaled = normal * (unit[:, :, None] * unit[:, None, :]) + ROUNDING * np.eye(normal.shape[1])
    inverse: FloatArray = np.linalg.inv(np.linalg.cholesky(scaled)).transpose(0, 2, 1) * unit[:, :, None]
    return inverse


@np.errstate(all="ignore")  # what overflows gets no nearer, and the best point stays
def interior_point(
    program: Program, tolerance: float, deadline: float = np.inf, report: Bounds | None = None
) -> tuple[Iterate, int, bool]:
    """The best point found, the number of rounds, and whether time ran out.

    Ends when the objectives are no further apart than ``tolerance``, relatively, or when rounding lets them no nearer.
    """
    height, releases = program.objective.shape
    rows = program.thin.shape[0] + len(program.full)
    what = f"An interior point over {releases} releases with {rows} rows each"
    refuse_if_too_large(8 * releases * (6 * height**2 + 12 * rows), what, parameter="game")
    point = start(program)
    best, least, since = point, np.inf, 0
    for count in range(ROUNDS):
        try:
            newton = Newton(program, point)
            value = float(np.vdot(program.objective, point.values))
            if report is not None:
                report(count, value - newton.gap, value)
            if newton.gap < least:
                best, least, since = point, newton.gap, count
            late = time.monotonic() > deadline
            if late or least <= tolerance * max(abs(value), 1e-5) or count - since > PATIENCE:
                return best, count, late
            point = corrected(newton)
        except np.linalg.LinAlgError:  # the equations are singular to rounding
            break
    return best, count, False


def start(program: Program) -> Iterate:
    """Every release alike, which leaves something to spare in every row, and the multipliers to balance the slacks."""
    height, releases = program.objective.shape
    values = np.full((height, releases), -1 / releases)
    values[: program.inputs] = 1 / releases
    slack = -program.times(values)
    spare = max(program.budget - float(np.vdot(program.cost, values)), 0.1)
    balance = 1 / (program.inputs * releases)
    return Iterate(values, slack, balance / slack, np.zeros(program.inputs), spare, balance / spare)


def corrected(newton: Newton) -> Iterate:
    """The point after a predicted step, corrected as often as that makes it longer."""
    point = newton.point
    rows, budget = point.slack * point.weight, point.spare * point.price
    guess = newton.step(rows, budget)
    share = (point.moved(guess, *point.room(guess)).complementarity / point.complementarity) ** 3
    aim = share * point.complementarity / (rows.size + 1)
    rows = rows + guess.slack * guess.weight - aim
    budget = budget + guess.spare * guess.price - aim
    step = newton.step(rows, budget)
    room = point.room(step)
    for _ in range(CORRECTORS):
        bold = point.moved(step, *(min(1.0, 1.1 * length + 0.3) for length in room))
        rows = rows - towards(aim, bold.slack * bold.weight)
        budget = budget - float(towards(aim, np.array(bold.spare * bold.price)))
        other = newton.step(rows, budget)
        further = point.room(other)
        if sum(further) < sum(room) + 0.01:
            break
        step, room = other, further
    return point.moved(step, *(NEAR * length for length in room))


def towards(aim: float, products: FloatArray) -> FloatArray:
    """What takes products that are far from the aim to within a factor of 10 of it; never much downwards."""
    moved: FloatArray = np.maximum(np.clip(products, 0.1 * aim, 10 * aim) - products, -10 * aim)
    return moved


def solvable(problem: Alternatives) -> bool:
    """Whether the method applies: one game, and no rows but such as are the same for every release."""
    rows = problem.games[0].rows
    return len(problem.games) == 1 and (rows is None or rows.block is not None)


def rows_of(game: Game) -> sparse.csr_array:
    """f >= 0 and the game's own rows, on one release's column of f."""
    own = [] if game.rows is None else [game.rows.block]
    return sparse.csr_array(sparse.vstack([-sparse.eye_array(len(game.cost)), *own], format="csr"))


def game_answer(
    game: Game, tolerance: float, deadline: float = np.inf, progress: Advance | None = None
) -> tuple[Claim, int, bool]:
    """The game's mechanism, attack, price and multipliers; the rounds; and whether time ran out.

    Errors are in units of the prior risk and costs in units of the budget, as in :func:`full_program`.
    """
    inputs, releases = game.cost.shape
    risk = game.prior_risk or 1.0
    unit = max(game.budget, 1e-3 * game.saturation) or 1.0
    thin = rows_of(game)
    program = Program(
        objective=np.vstack([np.zeros((inputs, releases)), -np.ones((1, releases))]),
        thin=sparse.csr_array(sparse.hstack([thin, sparse.csr_array((thin.shape[0], 1))], format="csr")),
        full=np.hstack([-game.error / risk, np.ones((len(game.error), 1))]),
        cost=np.vstack([game.cost / unit, np.zeros((1, releases))]),
        budget=game.budget / unit,
        inputs=inputs,
    )

    def report(count: int, lower: float, upper: float) -> None:
        tell_bounds(progress, count, -upper * risk, -lower * risk)

    point, rounds, late = interior_point(program, tolerance, deadline, report)
    answer = Claim(
        table=point.values[:inputs],
        attacks=(point.weight[thin.shape[0] :].T,),
        prices=np.array([point.price * risk / unit]),
        mix=np.ones(1),
        multipliers=point.weight[inputs : thin.shape[0]].ravel() * risk,
    )
    return answer, rounds, late


@dataclass(frozen=True, eq=False)
class LeastLoss:
    """The cheapest mechanism that keeps a game's rows: ``bound`` <= least possible loss <= ``quality_loss``.

    ``optimality_gap`` is the relative distance of the two. Where the rows are stricter than what they stand for, no
    mechanism that keeps them loses less than ``within``.
    """

    mechanism: Mechanism
    quality_loss: float
    bound: float
    within: float
    optimality_gap: float


@checked
def least_loss(game: Game, *, tolerance: float = 1e-6) -> LeastLoss:
    """The mechanism of least expected quality loss that keeps the game's rows, with the proof.

    Parameters
    ----------
    game
        With rows that are the same for every release (:meth:`LinearRows.for_each_release`); error and budget play no
        part.
    tolerance
        The optimality gap at which to stop; rounding may stop it earlier.

    Returns
    -------
    LeastLoss
        No mechanism that keeps the rows loses less than its ``bound``, by weak duality.

    Raises
    ------
    ParameterError
        If the game has no such rows.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from hideseek.game.linear_rows import LinearRows
    >>> twice = LinearRows.for_each_release([[1, -2], [-2, 1]], releases=2)  # neither is twice as likely as the other
    >>> game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=1)
    >>> least = least_loss(replace(game, rows=twice))
    >>> round(least.quality_loss, 6), least.optimality_gap <= 1e-6
    (0.333333, True)
    """
    if game.rows is None or game.rows.block is None:
        raise broken_rule("game", "least_loss", "one with rows that are the same for every release", "another")
    return cheapest_with(game, game.rows, tolerance)


def cheapest_with(game: Game, rows: LinearRows, tolerance: float) -> LeastLoss:
    """The interior point's cheapest mechanism, mended, and the bound that its multipliers prove."""
    inputs, releases = game.cost.shape
    unit = game.saturation or 1.0
    cost = game.cost / unit
    nothing = np.zeros((0, inputs))
    enough = 2 * float(cost.mean(axis=1).sum()) + 1  # a budget that never binds
    point, _, _ = interior_point(Program(cost, rows_of(game), nothing, cost, enough, inputs), 1e-2 * tolerance)
    table = onto_rows(stochastic(point.values, lambda: np.full(game.cost.shape, 1 / releases)), rows)
    if game.saturation <= np.vdot(game.cost, table):
        table = one_hot(game.cost.sum(axis=0).argmin(), inputs, releases)
    loss = float(np.vdot(game.cost, table))
    # where nothing is to be guessed and a unit of loss is worth 1, the bound on the game is what can still be saved
    unguessed = Alternatives((Game(np.zeros((1, inputs)), game.cost, budget=loss, rows=rows),))
    multipliers = point.weight[inputs:].ravel() * unit
    answer = Claim(table, (np.ones((releases, 1)),), np.ones(1), np.ones(1), multipliers)
    bound = max(0.0, loss - upper_bound(unguessed, answer, rounding_of(unguessed)))
    return LeastLoss(
        Mechanism(table, inputs=game.inputs, releases=game.releases),
        loss,
        bound,
        bound,
        relative_gap(bound, loss, game.saturation),
    )
