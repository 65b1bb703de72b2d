"""The game with a future, written out in full for scipy: every release, guess and cut at once, or every history."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


class Program:
    """Maximise a linear function of variables that are made and bounded as one goes."""

    def __init__(self) -> None:
        self.count = 0
        self.lowest, self.gain = [], {}
        self.rows = {"ub": [], "eq": []}
        self.sides = {"ub": [], "eq": []}

    def variables(self, *shape: int, gain: float = 0.0, lowest: float | None = 0.0) -> np.ndarray:
        """Numbers of new variables."""
        size = int(np.prod(shape))
        index = np.arange(self.count, self.count + size)
        self.count += size
        self.lowest += [lowest] * size
        self.gain |= dict.fromkeys(index.tolist(), gain)
        return index.reshape(shape)

    def row(self, kind: str, side: float, *parts: tuple[np.ndarray, np.ndarray | float]) -> None:
        """One row: the sum of variables times factors is at most ("ub"), or is ("eq"), its side."""
        row: dict[int, float] = {}
        for index, factor in parts:
            for k, f in zip(index.ravel(), np.broadcast_to(factor, index.shape).ravel(), strict=True):
                row[int(k)] = row.get(int(k), 0.0) + float(f)
        self.rows[kind].append(row)
        self.sides[kind].append(side)

    def value(self) -> float:
        def matrix(kind: str) -> np.ndarray:
            table = np.zeros((len(self.rows[kind]), self.count))
            for at, row in enumerate(self.rows[kind]):
                table[at, list(row)] = list(row.values())
            return table

        objective = -np.array([self.gain[k] for k in range(self.count)])
        bounds = [(low, None) for low in self.lowest]
        ub, eq = matrix("ub"), matrix("eq")
        found = linprog(objective, ub, self.sides["ub"], eq, self.sides["eq"], bounds=bounds, method="highs")
        assert found.status == 0, found.message
        return -found.fun


def best_value(error, cost, budget, belief, now=1.0, later=0.0, cuts=None, least=None) -> float:
    """now * privacy + later * future, at best, over all tables within the budget and with the least privacy."""
    program = Program()
    inputs, releases = cost.shape
    joint = program.variables(inputs, releases)
    height = program.variables(releases, gain=now)
    for i in range(inputs):
        program.row("eq", belief[i], (joint[i], 1.0))
    program.row("ub", budget, (joint, cost))
    for o in range(releases):
        for errors in error:
            program.row("ub", 0.0, (height[o], 1.0), (joint[:, o], -errors))
    if cuts is not None:
        future = program.variables(releases, gain=later, lowest=None)
        for o in range(releases):
            for cut in cuts:
                program.row("ub", 0.0, (future[o], 1.0), (joint[:, o], -cut))
    if least is not None:
        program.row("ub", -least, (height, -1.0))
    return program.value()


def best_over_histories(game, belief, accesses: int, discount: float, least: float | None = None) -> float:
    """The most discounted privacy in so many accesses, over all tables after all histories within the budget.

    ``least`` privacy at the first access, where given; then only what comes after it counts.
    """
    program = Program()
    count, releases = game.cost.shape

    def access(arrived, side, depth: int, weight: float) -> np.ndarray:
        """One access: ``arrived(s)`` gives the parts that the mass of a state s comes from, ``side`` its constant."""
        joint = program.variables(count, releases)
        height = program.variables(releases, gain=weight)
        for s in range(count):
            program.row("eq", side[s], (joint[s], 1.0), *arrived(s))
        program.row("ub", 0.0, (joint, game.cost - game.budget))  # the budget of a history is for its mass
        for o in range(releases):
            for errors in game.error:
                program.row("ub", 0.0, (height[o], 1.0), (joint[:, o], -errors))
            if depth > 1:
                after = weight * discount if weight else discount
                access(lambda s, own=joint[:, o]: [(own, -game.moves[:, s])], np.zeros(count), depth - 1, after)
        return height

    height = access(lambda s: [], belief, accesses, 1.0 if least is None else 0.0)
    if least is not None:
        program.row("ub", -least, (height, -1.0))
    return program.value()
