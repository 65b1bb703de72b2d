"""The adversary's belief and error, access after access."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from hideseek.plots.comparisons import PLANNERS
from hideseek.plots.style import COLOURS, DARK, ORANGE, PAPER, STYLE
from hideseek.util.arrays import FloatArray, IntArray


def belief_figure(belief: FloatArray, true: IntArray, exposed: IntArray, hours: FloatArray) -> Figure:
    """What the adversary believes at every access [access, place], with the truth and what was exposed."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 4.6), layout="constrained")
        axes = figure.add_subplot()
        order = np.argsort(-belief.sum(axis=0), kind="stable")
        row, half = np.argsort(order), (hours[1] - hours[0]) / 2
        extent = (hours[0], hours[-1] + 2 * half, len(order) - 0.5, -0.5)
        look: Any = {"cmap": "Blues", "vmin": 0, "vmax": 1, "aspect": "auto", "interpolation": "nearest"}
        drawn = axes.imshow(belief[:, order].T, extent=extent, **look)
        axes.plot(hours + half, row[exposed], ".", color=COLOURS[5], markersize=4, label="exposed")
        axes.plot(hours + half, row[true], ".", color="#1b1f24", markersize=2.5, label="true place")
        axes.set(xlabel="hour of the day", ylabel="places, the likeliest first", xticks=range(0, 25, 3))
        axes.set_title("What the adversary believes, step by step, from every release so far")
        axes.legend(frameon=False, loc="lower right", markerscale=2.5)
        figure.colorbar(drawn, ax=axes, label="probability")
    return figure


def memory_figure(
    errors: Mapping[str, FloatArray], kept: Mapping[str, float], bound: float, ceiling: float, unit: str
) -> Figure:
    """The error of an adversary who remembers every release, access after access: without planning, and with it.

    ``errors`` are the averages at each access, and ``kept`` the shares of the ceiling in the long run, by planner.
    """
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for name, error in errors.items():
            axes.plot(np.arange(1, len(error) + 1), error, ".-", color=PLANNERS[name], linewidth=2, markersize=6)
        last, plain, ahead = len(errors["plain"]), float(errors["plain"][-1]), float(errors["far-sighted"][-1])
        for words, at, aside, side, colour in (
            ("ceiling: the best if nothing were remembered", (2, ceiling), 6, "left", DARK),  # the bound may be near it
            ("proved: in the long run no planner keeps more", (last, bound), 8, "right", ORANGE),
            ("far-sighted planner", (last, ahead), -20, "right", PLANNERS["far-sighted"]),
            ("plain optimum", (last, plain), 14, "right", "#57606a"),
        ):
            look: Any = {"textcoords": "offset points", "ha": side, "color": colour, "weight": "bold"}
            axes.annotate(words, at, (0, aside), **look)
        axes.axhline(ceiling, color=DARK, linewidth=1, linestyle="--", zorder=0)
        axes.axhline(bound, color=ORANGE, linewidth=2, zorder=0)
        axes.set(xlabel="access", ylabel=f"privacy: the adversary's error ({unit})", ylim=(0, 1.15 * ceiling))
        shares = f"planning ahead keeps {kept['far-sighted']:.0%} of the ceiling, the plain optimum {kept['plain']:.0%}"
        axes.set_title(f"Against an adversary who remembers every release, {shares}")
    return figure
