"""What every solution, and every preferred one, must keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from hideseek.solvers import Status

TOLERANCE = 1e-6  # what solve promises by default, relative


def assert_proved(solution, tolerance=TOLERANCE):
    """Everything a Solution promises, recomputed here from W, C, f and h."""
    game = solution.game
    table, attack = solution.mechanism.table, solution.attack
    assert solution.status is Status.OPTIMAL
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(attack.sum(axis=1), 1, atol=1e-12)
    assert (attack >= 0).all()
    loss = (game.cost * table).sum()
    assert loss <= game.budget * (1 + 1e-9) + 1e-12
    assert solution.quality_loss == pytest.approx(loss, rel=1e-12)
    reached = (game.error @ table).min(axis=0).sum()
    assert solution.privacy <= reached <= solution.privacy * (1 + 1e-9) + 1e-15
    bound = solution.price * game.budget + ((attack @ game.error).T - solution.price * game.cost).max(axis=1).sum()
    assert bound <= solution.bound <= bound + 1e-9 * max(bound, game.prior_risk)
    assert solution.bound - solution.privacy <= tolerance * max(solution.bound, 1e-6 * game.prior_risk) + 1e-15


ENOUGH = 1e-4  # of the second game's value, relative


def value(game, solution):
    return (game.error @ solution.mechanism.table).min(axis=0).sum()


def best_preferred_value(first, second, floor):
    """max sum_o y2[o] over f, y1, y2 >= 0 with y <= W f for every guess and sum_o y1[o] >= floor, written out whole."""
    inputs, releases = first.cost.shape
    nothing, each = np.zeros((1, releases)), np.eye(releases)
    matrix, limit = [np.c_[first.cost.reshape(1, -1), nothing, nothing]], [[first.budget]]
    matrix.append(np.c_[np.zeros((1, inputs * releases)), nothing - 1, nothing])
    limit.append([-floor])
    for game, mine in ((first, (1, 0)), (second, (0, 1))):
        for row in game.error:
            matrix.append(np.c_[-np.kron(row, each), mine[0] * each, mine[1] * each])
            limit.append(np.zeros(releases))
    equal, right = [np.kron(np.eye(inputs), np.ones(releases))], [np.ones(inputs)]
    if first.rows is not None:
        assert (first.rows.lower == first.rows.upper).all()
        equal.append(first.rows.matrix.toarray())
        right.append(first.rows.lower)
    equal = np.vstack(equal)
    result = linprog(
        np.r_[np.zeros(inputs * releases + releases), -np.ones(releases)],
        np.vstack(matrix),
        np.concatenate(limit),
        np.c_[equal, np.zeros((len(equal), 2 * releases))],
        np.concatenate(right),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    return -result.fun


def assert_preferred(solution, second, preferred):
    """At least the best of what keeps all the privacy, at most the best of what keeps it but for the tolerance.

    Below, the program may stop a relative 1e-4 early. ``rounding`` is for scipy: 1e-10 in every row, times what the
    floor's row is worth in the second game, which is a thousand where privacy is dear.
    """
    first, rounding = solution.game, 1e-6 * second.prior_risk
    assert preferred.privacy >= solution.privacy * (1 - TOLERANCE)
    assert preferred.optimality_gap * preferred.bound == pytest.approx(preferred.bound - preferred.privacy, abs=1e-15)
    assert preferred.privacies.tolist() == [preferred.privacy]
    assert preferred.quality_loss <= first.budget * (1 + 1e-9)
    reached = value(second, preferred)
    assert reached >= value(second, solution)
    assert reached >= (1 - ENOUGH) * best_preferred_value(first, second, solution.privacy * (1 - 1e-11)) - rounding
    assert reached <= best_preferred_value(first, second, solution.privacy * (1 - TOLERANCE)) + rounding
