"""The privacy-quality curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from hideseek.plots.style import COLOURS, DARK, STYLE
from hideseek.util.arrays import FloatArray
from hideseek.util.units import in_unit, shown_many

EDGE: Any = {"linewidth": 1.0, "linestyle": (0, (1, 2))}  # of the band above a curve


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
        add_legend(axes, COLOURS[0] if len(curves) == 1 else DARK)
    return figure


def add_legend(axes: Axes, colour: str) -> None:
    """The names of the curves, and what the line and the edge of the band are."""
    line = Line2D([], [], color=colour, label="what the best mechanism certainly reaches")
    edge = Line2D([], [], color=colour, label="what no mechanism exceeds", **EDGE)
    axes.legend(handles=[*axes.get_legend_handles_labels()[0], line, edge], frameon=False, loc="best")


def draw_envelopes(axes: Axes, curve: Envelopes, colour: str, name: str = "") -> None:
    """A curve at the budgets where it is known, and the certified band between them."""
    error, loss = curve.units
    points = shown_many(curve.budget, loss)
    across = np.linspace(points[0], points[-1], 400)  # evenly in what is shown: roots are steep near 0
    budget = in_unit(across, loss)
    lower, upper = shown_many(curve.lower(budget), error), shown_many(curve.upper(budget), error)
    axes.fill_between(across, lower, upper, color=colour, alpha=0.25, linewidth=0)
    axes.plot(across, lower, color=colour, label=name)
    axes.plot(across, upper, color=colour, **EDGE)
    axes.plot(points, shown_many(curve.privacy, error), ".", color=colour, markersize=5)
    axes.set_title("The most privacy that any mechanism can give")
    axes.ticklabel_format(style="sci", scilimits=(-3, 5))
