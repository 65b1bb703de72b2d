"""One linear program over all histories of releases, with a budget that holds on average: for tiny chains.

Variables are the joint probabilities x[history, state, release] of an access, for every history of the accesses before
it. What is released now and where the person moves make the histories of the next access, linearly.
"""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np


def most_on_average(start, moves, error, cost, *, budget, weights):
    """The most that any mechanism has of the accesses' errors, weighted, if the weighted losses sum to the budget.

    ``weights`` has one for each access. Returns the value and the price of the budget.
    """
    releases = cost.shape[1]
    before = {(): np.asarray(start)}
    value, loss, rules = 0, 0, []
    for access, weight in enumerate(weights):
        after = {}
        for history in product(range(releases), repeat=access):
            joint = cp.Variable(cost.shape, nonneg=True)
            rules.append(cp.sum(joint, axis=1) == before[history])
            value += weight * sum(cp.min(error @ joint[:, o]) for o in range(releases))
            loss += weight * cp.sum(cp.multiply(cost, joint))
            for o in range(releases):
                after[(*history, o)] = moves.T @ joint[:, o]
        before = after
    within = loss <= budget
    problem = cp.Problem(cp.Maximize(value), [*rules, within])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    return float(problem.value), float(within.dual_value)
