"""A linear program solved in exact rationals: slow, short, and independent of every floating-point solver."""

from __future__ import annotations

from fractions import Fraction


def maximise(objective: list[Fraction], rows: list[list[Fraction]], limits: list[Fraction]) -> Fraction:
    """max c x  subject to  A x <= b,  x >= 0,  with b >= 0 (so that x = 0 is a start). Bland's rule, so it ends."""
    count, width = len(rows), len(objective)
    table = [[*map(Fraction, row), *(Fraction(int(k == j)) for j in range(count)), Fraction(limit)]
             for k, (row, limit) in enumerate(zip(rows, limits, strict=True))]  # fmt: skip
    last = [-Fraction(c) for c in objective] + [Fraction(0)] * (count + 1)
    basis = [width + k for k in range(count)]
    assert all(row[-1] >= 0 for row in table)
    while True:
        entering = next((j for j, reduced in enumerate(last[:-1]) if reduced < 0), None)
        if entering is None:
            return last[-1]
        ratios = [(row[-1] / row[entering], basis[k], k) for k, row in enumerate(table) if row[entering] > 0]
        assert ratios, "unbounded"
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [value / pivot for value in table[leaving]]
        for k, row in enumerate(table):
            if k != leaving and row[entering]:
                table[k] = [a - row[entering] * b for a, b in zip(row, table[leaving], strict=True)]
        last = [a - last[entering] * b for a, b in zip(last, table[leaving], strict=True)]
        basis[leaving] = entering


def game_value(error: list[list[Fraction]], cost: list[list[Fraction]], budget: Fraction) -> Fraction:
    """The value of a game (W >= 0, C >= 0, cheapest releases free) from the paper's program.

    The last release of every input is eliminated (f_last = 1 - the others), so all rows are inequalities; it must
    cost nothing, which makes f = "always the last" the start at which every slack is non-negative.
    """
    guesses, inputs, releases = len(error), len(error[0]), len(cost[0])
    width = inputs * (releases - 1) + releases
    at = {(i, o): i * (releases - 1) + o for i in range(inputs) for o in range(releases - 1)}
    rows, limits = [], []
    for i in range(inputs):
        row = [Fraction(0)] * width
        for o in range(releases - 1):
            row[at[i, o]] = Fraction(1)
        rows.append(row)
        limits.append(Fraction(1))
    row = [Fraction(0)] * width
    for i in range(inputs):
        for o in range(releases - 1):
            row[at[i, o]] = cost[i][o] - cost[i][-1]
    rows.append(row)
    limits.append(budget - sum(line[-1] for line in cost))
    for g in range(guesses):
        for o in range(releases):
            row = [Fraction(0)] * width
            row[inputs * (releases - 1) + o] = Fraction(1)
            for i in range(inputs):
                if o < releases - 1:
                    row[at[i, o]] = -error[g][i]
                else:
                    for other in range(releases - 1):
                        row[at[i, other]] = error[g][i]
            rows.append(row)
            limits.append(sum(error[g]) if o == releases - 1 else Fraction(0))
    objective = [Fraction(0)] * (inputs * (releases - 1)) + [Fraction(1)] * releases
    return maximise(objective, rows, limits)
