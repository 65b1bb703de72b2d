"""The privacy-quality curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hideseek.plots.style import COLOURS, STYLE
from hideseek.util.arrays import FloatArray
from hideseek.util.units import in_unit, shown_many


class Envelopes(Protocol):
    """A curve that is known at some budgets, and bounded from both sides at all others."""

    @property
    def budget(self) -> FloatArray:
        """The budgets at which it is known."""

    @property
    def privacy(self) -> FloatArray:
        """What is reached there."""

    @property
    def units(self) -> tuple[str, str]:
        """Those of privacy and of budgets."""

    def lower(self, budget: FloatArray) -> FloatArray:
        """What is surely reached."""

    def upper(self, budget: FloatArray) -> FloatArray:
        """What nothing exceeds."""


def curve_figure(curves: Mapping[str, Envelopes], privacy: str, quality: str) -> Figure:
    """Privacy against the budget, with the certified band between the envelopes."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
            draw_envelopes(axes, curve, colour, name)
        axes.set(xlabel=f"quality loss allowed: {quality}", ylabel=f"privacy: {privacy}")
        axes.set(xlim=(0, None), ylim=(0, None))  # after all curves: from then on nothing is rescaled
        axes.legend(frameon=False, loc="lower right")
    return figure


def draw_envelopes(axes: Axes, curve: Envelopes, colour: str, name: str = "") -> None:
    """A curve at the budgets where it is known, and the certified band between them."""
    error, loss = curve.units
    points = shown_many(curve.budget, loss)
    across = np.linspace(points[0], points[-1], 400)  # evenly in what is shown: roots are steep near 0
    budget = in_unit(across, loss)
    lower, upper = shown_many(curve.lower(budget), error), shown_many(curve.upper(budget), error)
    axes.fill_between(across, lower, upper, color=colour, alpha=0.25, linewidth=0)
    axes.plot(across, lower, color=colour, label=name)
    axes.plot(points, shown_many(curve.privacy, error), ".", color=colour, markersize=5)
    axes.set_title("The most privacy that any mechanism can give")
    axes.ticklabel_format(style="sci", scilimits=(-3, 5))
