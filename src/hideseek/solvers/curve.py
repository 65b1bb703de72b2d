"""The privacy-quality curve, certified at its points and between them.

Every solve gives a point that some mechanism reaches, and by its price a line that no mechanism can cross. Mixtures of
mechanisms reach the upper hull of the points; so the true curve lies between the hull and the lowest of the lines.
The next budget is always where those two are furthest apart, the crossing of two lines: refined far enough, this visits
every breakpoint of the curve (which is concave and piecewise linear).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.game.alternatives import Alternatives
from hideseek.game.budget import budget_of
from hideseek.game.game import Game
from hideseek.solvers.dispatch import Solver
from hideseek.solvers.full_program import safe_mechanism
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import floats, nonnegative, scalar
from hideseek.util.display import html_table
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.progress import Advance
from hideseek.util.units import amount, is_length, shown, shown_many, unit_words

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Certified points of the curve, sorted by budget, and the envelopes between them.

    ``quality_loss`` and ``privacy`` are what the mechanism found at ``budget`` reaches; ``bound`` and ``price`` give
    the line  bound + price (Q - budget)  above which no mechanism of any budget Q can be. All are in the ``units`` of
    the game, of errors and of losses.
    """

    budget: FloatArray
    privacy: FloatArray
    bound: FloatArray
    price: FloatArray
    quality_loss: FloatArray
    units: tuple[str, str] = ("", "")

    def lower(self, budget: npt.ArrayLike) -> FloatArray:
        """Privacy that is certainly reached within a budget, by mixing the mechanisms at the points.

        >>> curve = Curve(*map(np.array, ([0.0, 1.0], [0.0, 0.5], [0.0, 0.5], [2.0, 0.0], [0.0, 1.0])))
        >>> curve.lower([0.5, 2.0]).tolist(), curve.upper([0.2, 2.0]).tolist()
        ([0.25, 0.5], [0.4, 0.5])
        """
        loss, privacy = upper_hull(self.quality_loss, self.privacy)
        asked = floats(budget, "budget", "Curve.lower")
        affordable = asked >= loss[0] * (1 - 1e-12)
        return np.where(affordable, np.interp(asked, loss, privacy), np.nan)

    def upper(self, budget: npt.ArrayLike) -> FloatArray:
        """Privacy that certainly no mechanism exceeds within a budget."""
        distance = floats(budget, "budget", "Curve.upper")[..., None] - self.budget
        lowest: FloatArray = (self.bound + self.price * distance).min(axis=-1)
        return lowest

    @property
    def width(self) -> float:
        """The largest distance between the envelopes, from the first point to the last."""
        where = np.r_[self.budget[[0, -1]], self.corners]
        return float((self.upper(where) - self.lower(where)).max())

    @property
    def corners(self) -> FloatArray:
        """Where the lines of neighbouring points cross: the envelopes are furthest apart at one of these budgets."""
        fall = self.price[:-1] - self.price[1:]
        bent = fall > 1e-12 * self.price.max(initial=0.0)
        start = self.bound - self.price * self.budget
        crossing: FloatArray = (start[1:] - start[:-1])[bent] / fall[bent]
        inside: FloatArray = np.clip(crossing, self.budget[:-1][bent], self.budget[1:][bent])
        return inside

    def to_frame(self) -> pd.DataFrame:
        """The points as a table: one row per budget, with the displacements in metres where losses have them.

        >>> curve = Curve(*map(np.array, ([4.0], [0.0], [0.1], [2.0], [1.0])), units=("m", "m²"))
        >>> curve.to_frame().columns.tolist()
        ['budget', 'privacy', 'bound', 'price', 'quality_loss', 'budget_metres', 'quality_loss_metres']
        >>> curve.to_frame()["budget_metres"].tolist()
        [2.0]
        """
        import pandas as pd

        exact = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "units"}
        lost = ("budget", "quality_loss") if is_length(self.units[1]) else ()
        return pd.DataFrame(exact | {f"{name}_metres": shown_many(exact[name], self.units[1]) for name in lost})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Privacy against the budget with the certified band between the envelopes, on axes of your own or new ones."""
        from hideseek.plots.solutions import draw_curve

        return draw_curve(self, ax)

    def _facts(self) -> dict[str, object]:
        def ends(values: FloatArray, unit: str) -> str:
            return f"{shown(values[0], unit).in_words()} to {amount(values[-1], unit)}"

        return {
            "points": len(self.budget),
            "budget": ends(self.budget, self.units[1]),
            "privacy": ends(self.privacy, self.units[0]),
            # roots are no further apart than the root of what their squares are apart
            "envelopes at most apart": f"{shown(self.width, self.units[0]):.3g} {unit_words(self.units[0])}".strip(),
        }

    def __repr__(self) -> str:
        facts = self._facts()
        return (
            f"Curve of {facts['points']} certified points: budget {facts['budget']}, privacy {facts['privacy']}\n"
            f"  envelopes nowhere further apart than {facts['envelopes at most apart']}"
        )

    def _repr_html_(self) -> str:
        return html_table("Privacy against the budget", self._facts())


@checked
def trade_off(
    game: Game,
    *,
    budgets: npt.ArrayLike | None = None,
    tolerance: float = 1e-3,
    breakpoints: bool = False,
    progress: Advance | None = None,
) -> Curve:
    """The largest privacy for every budget, from the least possible loss to where more budget adds nothing.

    Parameters
    ----------
    game
        Its own budget plays no part.
    budgets
        Where to solve, and nowhere else: numbers in the unit of the losses, or words such as "500m". By default at the
        ends of the curve, and then wherever the envelopes are furthest apart.
    tolerance
        How far apart the envelopes may be, as a share of the prior risk.
    breakpoints
        Go on until every corner of the curve is found, of which there can be thousands.
    progress
        Called after every budget with ``"budgets"``, how many are solved, and of how many. Where that is not known it
        is 0, and the text also says how far apart the envelopes are. See :func:`hideseek.util.progress.bar`.

    Returns
    -------
    Curve
        Certified at its points and between them.

    Raises
    ------
    BudgetError
        If a budget is below the least possible loss.
    ParameterError
        If corners are asked for where an interior point solves the game: it finds none.

    Examples
    --------
    >>> game = Game.from_prior([0.5, 0.3, 0.2], privacy=1 - np.eye(3), quality=1 - np.eye(3), budget=0.1)
    >>> curve = trade_off(game)
    >>> curve.lower([0.25, 0.5, 0.9]).round(6).tolist()
    [0.25, 0.5, 0.5]
    """
    scalar(tolerance, "tolerance", "trade_off", "a number > 0", least=np.finfo(float).tiny)
    if breakpoints and game.rows is not None and game.rows.block is not None:
        rule = "False where the extra rows are the same for every release: an interior point finds no corners"
        raise broken_rule("breakpoints", "trade_off", rule, True, "Ask for a small 'tolerance'.")
    points = _Points(game, accuracy=1e-10 if breakpoints else 1e-6)
    if isinstance(budgets, list | tuple) and any(isinstance(one, str) for one in budgets):
        budgets = [budget_of(one, game, "trade_off") for one in budgets]
    given = None if budgets is None else nonnegative(budgets, "budgets", "trade_off", 1)
    points.begin(given, progress)
    allowed = (1e-9 if breakpoints else tolerance) * game.prior_risk
    return points.refined(allowed, breakpoints or budgets is None, progress)


def refuse_many_points(count: int) -> None:
    """Refuse more points than can be compared: every line is held against every point."""
    refuse_if_too_large(32 * count**2, f"A curve of {count} points", "Ask for fewer points.", parameter="budgets")


def upper_hull(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The corners of the least concave nondecreasing function above the points.

    >>> [axis.tolist() for axis in upper_hull(np.array([0.0, 3, 2, 1]), np.array([0.0, 1, 2, 0]))]
    [[0.0, 2.0, 3.0], [0.0, 2.0, 2.0]]
    """
    hull: list[tuple[float, float]] = []
    order = np.argsort(x, kind="stable")
    for a, b in zip(x[order].tolist(), np.maximum.accumulate(y[order]).tolist(), strict=True):
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (a - hull[-2][0]) <= (b - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((a, b))
    corners = np.array(hull)
    return corners[:, 0], corners[:, 1]


class _Points:
    """Solves along the budget, warm."""

    def __init__(self, game: Game, accuracy: float) -> None:
        self.game = game
        self.found: dict[float, tuple[float, float, float, float]] = {}
        self.least = game.least_loss
        safe = safe_mechanism(Alternatives((game.with_budget(game.saturation),)))
        if safe is not None:
            self.least = float(np.vdot(game.cost, safe))
        self.solver = Solver(accuracy, safe=safe)

    def begin(self, budgets: FloatArray | None, progress: Advance | None) -> None:
        """Solve at these budgets, or at the ends of the curve."""
        if budgets is None:
            self.add(self.least)
            self.add(self.game.saturation)
            return
        refuse_many_points(len(budgets))
        for done, budget in enumerate(np.sort(budgets), start=1):
            self.add(float(budget))
            if progress is not None:
                progress("budgets", done, len(budgets))

    def refined(self, allowed: float, refine: bool, progress: Advance | None) -> Curve:
        """Add points where the envelopes are furthest apart, until nowhere by more than is allowed."""
        while True:
            curve = self.curve()
            corners = curve.corners
            apart = curve.upper(corners) - curve.lower(corners)
            if progress is not None and refine:
                progress(f"{np.max(apart, initial=0.0):.3g} apart, budgets", len(curve.budget), 0)
            # what remains apart at a budget that has been solved is the solver's rounding
            solved = np.isclose(corners[:, None], curve.budget, rtol=0, atol=1e-9 * self.game.saturation)
            apart[solved.any(axis=1)] = 0
            if np.max(apart, initial=0.0) <= allowed or not refine:
                return curve
            self.add(float(corners[apart.argmax()]))

    def add(self, budget: float) -> None:
        """Solve at one budget."""
        solution = self.solver.solve(self.game.with_budget(budget))
        self.found[budget] = (solution.privacy, solution.bound, solution.price, solution.quality_loss)

    def curve(self) -> Curve:
        budget = np.array(sorted(self.found))
        privacy, bound, price, loss = np.array([self.found[b] for b in budget]).T
        return Curve(budget, privacy, bound, price, loss, units=self.game.units)
