"""The best privacy of one game, by the whole program and scipy."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from hideseek import Game


def optimum(game: Game, radius: float = np.inf) -> float:
    """The largest privacy of tables whose releases all lose at most the radius, by the program written down whole."""
    inputs, releases = game.cost.shape
    each = sparse.eye_array(releases)
    guesses = sparse.hstack([sparse.kron(-game.error, each), sparse.kron(np.ones((len(game.error), 1)), each)])
    budget = sparse.csr_array(np.r_[game.cost.ravel(), np.zeros(releases)][None])
    totals = sparse.kron(sparse.eye_array(inputs), np.ones((1, releases)))
    mass = game.mass if game.mass.size else np.ones(inputs)
    upper = np.where((game.cost / mass[:, None]).ravel() <= radius * (1 + 1e-9), 1.0, 0.0)
    found = linprog(
        np.r_[np.zeros(inputs * releases), -np.ones(releases)],
        A_ub=sparse.vstack([guesses, budget]),
        b_ub=np.r_[np.zeros(guesses.shape[0]), game.budget],
        A_eq=sparse.hstack([totals, sparse.csr_array((inputs, releases))]),
        b_eq=np.ones(inputs),
        bounds=[(0, high) for high in upper] + [(None, None)] * releases,
    )
    return -found.fun
