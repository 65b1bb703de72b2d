"""The most exposed place instead of the average one: maximise the smallest expected error over inputs.

An adversary free to aim at one target always guesses it, and then no mechanism hides it: taken literally, the worst
case over targets is worth nothing. So the adversary here is the paper's, who knows the profile and makes the
guess with the least *expected* error; what is maximised is the error on the input where they do best:

    max_f  min_i  sum_o f(o|i) d(g(o), i),     g(o) the best guess for release o under f,   d(g, i) = W[g, i] / Pr(i)

Given the guess that each release provokes, this is a linear program: that g(o) is the best guess is one row for every
other guess. Choosing the guesses is a mixed-integer program, so this is for small games. Where the adversary is
indifferent the worst guess counts. The bound comes from letting one release provoke several guesses, which makes
the program linear, and from its multipliers by weak duality, like every bound here; it need not be met.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from hideseek.errors import SizeError, SolverError, broken_rule
from hideseek.game.alternatives import Alternatives
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import check_table
from hideseek.solvers.claim import one_hot
from hideseek.solvers.dispatch import solve
from hideseek.solvers.repair import repaired_table
from hideseek.solvers.solution import Method, Solution, Status
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar

OWNER = "solve_worst_case"
LARGEST = 200_000  # inputs x releases x guesses: beyond this the mixed-integer program is hopeless
STRICTLY = (
    1e-6  # a provoked guess is the best by this share of the prior risk, so that the adversary is not indifferent
)
INDIFFERENT = 1e-9  # guesses that are this close, in the same unit, count as equally good


@checked
def solve_worst_case(game: Game, *, tolerance: float = 1e-6, time_limit: float = 60.0) -> Solution:
    """The mechanism that maximises the adversary's expected error on the input where that error is smallest.

    Parameters
    ----------
    game
        A small one, whose inputs are its targets and have probabilities, without extra rows.
    tolerance
        The optimality gap up to which the status is "optimal".
    time_limit
        Seconds for the mixed-integer program.

    Returns
    -------
    Solution
        Its ``privacy`` and ``bound`` are those of the worst input; the bound need not be met.

    Raises
    ------
    ParameterError
        If the game is not of this kind.
    SizeError
        If inputs x releases x guesses are too many.

    Examples
    --------
    >>> game = Game.from_prior([0.5, 0.3, 0.2], privacy=1 - np.eye(3), quality=1 - np.eye(3), budget=0.2)
    >>> solution = solve_worst_case(game)
    >>> round(solution.privacy, 4), round(worst_error(game, solve(game).mechanism.table), 4)
    (0.2, 0.0)
    """
    for name, value in (("time_limit", time_limit), ("tolerance", tolerance)):
        scalar(value, name, OWNER)
    check_game(game)
    return best_found(game, tolerance, time_limit)


def check_game(game: Game) -> None:
    """Refuse a game that the program is not for, or that is too large for it."""
    if not game.mass.size or game.rows is not None:
        rule = "one whose inputs have probabilities (from_prior, from_scenario), without extra rows"
        raise broken_rule("game", OWNER, rule, "one with extra rows" if game.mass.size else "one without probabilities")
    size = game.error.size * game.cost.shape[1]
    if size > LARGEST:
        rule = f"one whose mixed-integer program has at most {LARGEST} variables"
        got = f"{size} variables for {len(game.cost)} inputs"
        raise SizeError.breaking("game", OWNER, rule, got, "Use fewer places.", needed=8 * size)
    if game.guesses.shape[1] != game.inputs.shape[1]:
        rule = "one whose inputs are its targets, so that the worst case over the one is that over the other"
        raise broken_rule("game", OWNER, rule, "a scenario in which 'known' is not 'target'")


def best_found(game: Game, tolerance: float, time_limit: float) -> Solution:
    """The best table found, with the relaxed program's bound."""
    risk, unit = game.prior_risk or 1.0, max(game.budget, 1e-3 * game.saturation) or 1.0
    scaled = Game(game.error / risk, game.cost / unit, budget=game.budget / unit, mass=game.mass)
    bound, price = relaxed_bound(scaled)
    bound, price = bound * risk, price * risk / unit
    table = best_table(scaled, time_limit)
    privacy = worst_error(game, table)
    gap = max(0.0, bound - privacy) / bound if bound > 0 else 0.0
    attack = one_hot((game.error @ table).argmin(axis=0), table.shape[1], len(game.error))
    return Solution(
        game=game,
        mechanism=Mechanism(table, inputs=game.inputs, releases=game.releases),
        privacy=privacy,
        bound=bound,
        within=bound,
        optimality_gap=gap,
        attacks=(attack,),
        prices=np.array([price]),
        privacies=np.array([privacy]),
        losses=np.array([np.vdot(game.cost, table)]),
        status=Status.OPTIMAL if gap <= tolerance else Status.STALLED,
        method=Method.FULL_PROGRAM,
        iterations=1,
    )


def worst_error(game: Game, table: FloatArray) -> float:
    """The smallest expected error over the inputs that occur; of equally good guesses, the one worst for the user."""
    errors = game.error @ table
    best = errors <= errors.min(axis=0) + INDIFFERENT * game.prior_risk
    occurs = game.mass > 0
    harm = np.where(best[:, :, None], (game.error[:, occurs] / game.mass[occurs])[:, None, :], np.inf).min(axis=0)
    smallest = (table[occurs] * harm.T).sum(axis=1).min()
    return float(smallest * (1 - (sum(table.shape) + 16) * np.finfo(float).eps))


def program_rows(game: Game, margin: float) -> tuple[sparse.csr_array, FloatArray]:
    """The rows A [x, z] <= b over x[i, o, g], the probability that input i releases o and provokes g, and the value z.

    z <= every input's error; the budget; a provoked guess is better than every other one by ``margin``.
    """
    guesses, inputs = game.error.shape
    releases = game.cost.shape[1]
    count = inputs * releases * guesses
    occurs = np.flatnonzero(game.mass > 0)
    error = np.zeros((inputs, guesses))
    error[occurs] = (game.error[:, occurs] / game.mass[occurs]).T
    i, o, g, other = np.indices((inputs, releases, guesses, guesses)).reshape(4, -1)
    differ = g != other
    i, o, g, other = i[differ], o[differ], g[differ], other[differ]
    column = (i * releases + o) * guesses + g
    obedience = sparse.csr_array(
        (
            game.error[g, i] - game.error[other, i] + margin * game.mass[i],
            ((o * guesses + g) * guesses + other, column),
        ),
        shape=(releases * guesses * guesses, count),
    )
    each = np.broadcast_to(-error[:, None, :], (inputs, releases, guesses)).ravel()
    value = sparse.csr_array((each, (np.repeat(np.arange(inputs), releases * guesses), np.arange(count))))[occurs]
    budget = sparse.csr_array(np.repeat(game.cost.ravel(), guesses)[None, :])
    last = np.r_[np.ones(len(occurs)), np.zeros(1 + obedience.shape[0])]
    matrix = sparse.hstack([sparse.vstack([value, budget, obedience]), last[:, None]], format="csr")
    return matrix, np.r_[np.zeros(len(occurs)), game.budget, np.zeros(obedience.shape[0])]


def input_totals(game: Game, padding: int) -> sparse.csr_array:
    """One row per input: its probabilities sum to 1."""
    width = game.cost.shape[1] * len(game.error)
    totals = sparse.kron(sparse.eye_array(len(game.cost)), np.ones((1, width)))
    return sparse.hstack([totals, sparse.csr_array((len(game.cost), padding))], format="csr")


def relaxed_bound(game: Game) -> tuple[float, float]:
    """What no mechanism exceeds, even if one release could provoke several guesses; and the price of the budget."""
    matrix, limit = program_rows(game, 0.0)
    width = matrix.shape[1]
    result = linprog(
        np.r_[np.zeros(width - 1), -1.0],
        A_ub=matrix,
        b_ub=limit,
        A_eq=input_totals(game, 1),
        b_eq=np.ones(len(game.cost)),
        bounds=np.c_[np.r_[np.zeros(width - 1), -np.inf], np.full(width, np.inf)],
    )
    if result.status != 0:
        raise SolverError(f"The relaxed worst-case program was not solved: {result.message}")
    multiplier = np.maximum(-result.ineqlin.marginals, 0)
    shares = (game.mass > 0).sum()
    multiplier[:shares] /= multiplier[:shares].sum()  # z is free, so these are weights
    charge = (matrix[:, :-1].T @ multiplier).reshape(len(game.cost), -1)
    size = (abs(matrix[:, :-1]).T @ multiplier).reshape(len(game.cost), -1)
    rounding = (sum(game.cost.shape) + len(game.error) + 16) * np.finfo(float).eps
    bound = multiplier @ limit * (1 + rounding) + (rounding * size - charge).max(axis=1).sum()
    return float(bound), float(multiplier[shares])


def best_table(game: Game, time_limit: float) -> FloatArray:
    """The table of the mixed-integer program: one provoked guess for every release, or the expected-error optimum."""
    guesses, inputs = game.error.shape
    releases = game.cost.shape[1]
    matrix, limit = program_rows(game, STRICTLY * game.prior_risk)
    width, choices = matrix.shape[1], releases * guesses
    wide = sparse.hstack([matrix, sparse.csr_array((matrix.shape[0], choices))], format="csr")
    chance = sparse.hstack([sparse.kron(game.mass[None, :], sparse.eye_array(choices)), sparse.csr_array((choices, 1))])
    only_chosen = sparse.hstack([chance, -sparse.eye_array(choices)], format="csr")
    one_guess = sparse.hstack(
        [sparse.csr_array((releases, width)), sparse.kron(sparse.eye_array(releases), np.ones((1, guesses)))],
        format="csr",
    )
    result = milp(
        np.r_[np.zeros(width - 1), -1.0, np.zeros(choices)],
        constraints=[
            LinearConstraint(wide, -np.inf, limit),
            LinearConstraint(input_totals(game, 1 + choices), 1, 1),
            LinearConstraint(only_chosen, -np.inf, 0),
            LinearConstraint(one_guess, 1, 1),
        ],
        integrality=np.r_[np.zeros(width), np.ones(choices)],
        bounds=Bounds(
            np.r_[np.zeros(width - 1), -np.inf, np.zeros(choices)], np.r_[np.full(width, np.inf), np.ones(choices)]
        ),
        options={"time_limit": time_limit},
    )
    tables = [solve(game).mechanism.table]
    if result.x is not None:
        provoked = result.x[width:].reshape(releases, guesses).argmax(axis=1)
        chosen = (np.arange(guesses) == provoked[:, None]).ravel()
        # solved again with the guesses fixed: the mixed-integer solver's tolerance is wider than the margin
        kept = np.r_[np.tile(chosen, inputs), True]
        polished = linprog(
            np.r_[np.zeros(inputs * releases), -1.0],
            A_ub=matrix[:, kept],
            b_ub=limit,
            A_eq=input_totals(game, 1)[:, kept],
            b_eq=np.ones(inputs),
            bounds=np.c_[np.r_[np.zeros(inputs * releases), -np.inf], np.full(kept.sum(), np.inf)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if polished.status == 0:
            table = polished.x[:-1].reshape(inputs, releases)
            table[:, (game.mass @ table) < 1e-7] = 0  # a release that is never made provokes nothing
            problem = Alternatives((game,))
            tables.append(repaired_table(problem, table, None))
            check_table(problem, tables[-1])
    return max(tables, key=lambda table: worst_error(game, table))
