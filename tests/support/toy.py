"""The paper's toy: a user who moves by at most one cell per step, hidden in a square of nine cells."""

from __future__ import annotations

import numpy as np

from hideseek import MarkovProfile

SIDE = 5


CELLS = [(x, y) for x in range(1, 6) for y in range(1, 6)]


def number(x, y):
    return CELLS.index((x, y))


def around(cell):
    """The 3x3 square around a cell, as far as it lies in the grid."""
    return [k for k, other in enumerate(CELLS) if max(abs(cell[0] - other[0]), abs(cell[1] - other[1])) <= 1]


def toy():
    """A user who moves by at most one cell per step, to all of them alike, and the 3x3 mechanism."""
    moves, table = np.zeros((25, 25)), np.zeros((25, 25))
    for k, cell in enumerate(CELLS):
        moves[k, around(cell)] = 1
        table[k, around(cell)] = 1
    return MarkovProfile.from_matrix(moves / moves.sum(axis=1, keepdims=True)), table / table.sum(axis=1, keepdims=True)


def support(law, offset):
    return {CELLS[k] for k in law.at((offset,))[:, 0]}
