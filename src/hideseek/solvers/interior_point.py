"""An interior-point method for games whose extra rows are the same for every release.

Such rows make the optimal mechanism f dense. This method is then faster than the double oracle. It solves

    minimise  sum objective[u, o] U[u, o]   subject to   A U <= 0,   sum cost[u, o] U[u, o] <= budget

Column U[:, o] belongs to release o. It holds f(o|.) and, in a game, the adversary's error y[o] on that release. The
rows of f sum to 1.

Releases are coupled by these sums and by the budget only. So a Newton step needs one small matrix factor per release,
all made at once, and one linear system with an equation for each input and one for the budget. The method is
Mehrotra's predictor-corrector with Gondzio's correctors. It starts at a point where every row has slack.

At the optimum a column lies on a ray of the cone A u <= 0, and A' D A is nearly singular there. So its inverse is never
formed. The triangular factor is used instead: it keeps the digits that the inverse loses.
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

ROUNDS, PATIENCE = 150, 15  # the most rounds, and the most without progress; 20 to 60 rounds are usual
CORRECTORS = 6  # the most corrector steps in a round; each is cheap, as it reuses the factors
ROUNDING = 1e-14  # added to a diagonal of ones, so that the matrix stays positive definite
NEAR = 0.97  # the share of the way to the boundary that a step goes

Bounds = Callable[[int, float, float], None]  # is told the round, and the program's bounds after it


@dataclass(frozen=True, eq=False)
class Program:
    """The linear program. ``thin`` and ``full`` are the sparse and the dense rows of A.

    The first ``inputs`` rows of U are f; each of them sums to 1.
    """

    objective: FloatArray
    thin: sparse.csr_array
    full: FloatArray
    cost: FloatArray
    budget: float
    inputs: int

    @cached_property
    def outer(self) -> sparse.csr_array:
        """The matrix from weights of the thin rows to the weighted sum of their outer products, row by row."""
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
    """A point of the method, or a step between two points.

    ``values`` is U. ``slack`` and ``weight`` are the slacks of the rows A and their multipliers. ``worth`` are the
    multipliers of the sums to 1. ``spare`` and ``price`` are the budget's slack and its multiplier.
    """

    values: FloatArray
    slack: FloatArray
    weight: FloatArray
    worth: FloatArray
    spare: float
    price: float

    def moved(self, step: Iterate, primal: float, dual: float) -> Iterate:
        """This point after a step; the primal and the dual part may go different lengths."""
        length = {"values": primal, "slack": primal, "spare": primal, "weight": dual, "worth": dual, "price": dual}
        names = [field.name for field in fields(self)]
        return Iterate(**{name: getattr(self, name) + length[name] * getattr(step, name) for name in names})

    @property
    def complementarity(self) -> float:
        """The distance between the primal and the dual objective, where both points are feasible."""
        return float(np.vdot(self.slack, self.weight) + self.spare * self.price)

    def room(self, step: Iterate) -> tuple[float, float]:
        """How far the primal and the dual part of a step can go, at most 1, before a number turns negative."""
        pairs = (
            ((self.slack, step.slack), (self.spare, step.spare)),
            ((self.weight, step.weight), (self.price, step.price)),
        )
        primal, dual = (1 / max(1.0, *(float(np.max(-change / value)) for value, change in side)) for side in pairs)
        return primal, dual


class Newton:
    """The Newton equations of one round. The factors are made once and serve several right-hand sides."""

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
        """The distance between the objectives, plus a bound on its error while the equations do not yet hold."""
        multipliers = np.abs(np.r_[self.point.worth, self.point.price])
        wrong = np.abs(self.steepness * self.point.values).sum() + np.abs(self.excess) @ multipliers
        return float(self.point.complementarity + wrong)

    def step(self, rows: FloatArray, budget: float) -> Iterate:
        """The step that lowers slack x multiplier, to first order: by ``rows`` for A, by ``budget`` for the budget."""
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
    """For each release o a factor F[o], where F F' is the inverse of A' D A. D holds multiplier / slack of its rows."""
    normal = program.normal(point.weight / point.slack)
    unit = 1 / np.sqrt(np.einsum("oii->oi", normal))
    scaled = normal * (unit[:, :, None] * unit[:, None, :]) + ROUNDING * np.eye(normal.shape[1])
    inverse: FloatArray = np.linalg.inv(np.linalg.cholesky(scaled)).transpose(0, 2, 1) * unit[:, :, None]
    return inverse


@np.errstate(all="ignore")  # a point that overflows is no better, and the best one is kept
def interior_point(
    program: Program, tolerance: float, deadline: float = np.inf, report: Bounds | None = None
) -> tuple[Iterate, int, bool]:
    """The best point found, the number of rounds, and whether time ran out.

    Ends when the relative distance of the objectives is at most ``tolerance``, or when rounding prevents progress.
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
    """The first point: all releases are equally likely, so that every row has slack. Multipliers balance the slacks."""
    height, releases = program.objective.shape
    values = np.full((height, releases), -1 / releases)
    values[: program.inputs] = 1 / releases
    slack = -program.times(values)
    spare = max(program.budget - float(np.vdot(program.cost, values)), 0.1)
    balance = 1 / (program.inputs * releases)
    return Iterate(values, slack, balance / slack, np.zeros(program.inputs), spare, balance / spare)


def corrected(newton: Newton) -> Iterate:
    """The next point: a predicted step, corrected as long as corrections make the step longer."""
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
    """The change that brings each product to within a factor of 10 of the aim; a decrease is limited to 10 aims."""
    moved: FloatArray = np.maximum(np.clip(products, 0.1 * aim, 10 * aim) - products, -10 * aim)
    return moved


def solvable(problem: Alternatives) -> bool:
    """Whether the method applies: there is one game, and its extra rows, if any, are the same for every release."""
    rows = problem.games[0].rows
    return len(problem.games) == 1 and (rows is None or rows.block is not None)


def rows_of(game: Game) -> sparse.csr_array:
    """The rows of A for one release's column of f: f >= 0, and the game's own rows."""
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
    """The cheapest mechanism of the interior-point method, repaired, and the bound that its multipliers prove."""
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
    # a game in which nothing is guessed and a unit of loss is worth 1: the bound on it is what can still be saved
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
