"""Figures: maps, the privacy-quality curve, a day as it was and as it seemed. Colours are safe for all eyes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from hideseek.arrays import FloatArray, IntArray
from hideseek.regions import Regions
from hideseek.solve import Curve

ORANGE = "#d55e00"
COLOURS = ("#0072b2", ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito's, for all eyes
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "svg.fonttype": "none",
}


@dataclass(frozen=True)
class Panel:
    """One map: places coloured by ``values``, with marks such as {"truth": 3} on some of them."""

    title: str
    label: str
    values: FloatArray
    marks: Mapping[str, int]


def maps_figure(regions: Regions, panels: Sequence[Panel]) -> Figure:
    """Maps side by side."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.2 * len(panels), 4.4), layout="constrained")
        for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels, strict=True):
            draw_map(axes, regions, panel)
        figure.axes[0].set_ylabel("latitude (degrees)")
    return figure


def draw_map(axes: Axes, regions: Regions, panel: Panel) -> None:
    """Cells as shapes, points as dots."""
    outlines = regions.outlines
    latitude, longitude = regions.centres.T
    drawn: Collection
    if len(outlines[0]) > 1:
        drawn = PolyCollection([corners[:, ::-1] for corners in outlines], array=panel.values)
        axes.add_collection(drawn)
    else:
        drawn = axes.scatter(longitude, latitude, c=panel.values, s=90)
    drawn.set(cmap="Blues", norm=Normalize(0, float(panel.values.max()) or 1.0), edgecolor="#c8d0d8")
    axes.autoscale_view()
    axes.set_aspect(1 / np.cos(np.radians(latitude.mean())))
    for name, place in panel.marks.items():
        at = (longitude[place], latitude[place])
        axes.plot(*at, "o", color=ORANGE, markersize=8, markeredgecolor="white")
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
        axes.annotate(name, at, (7, 7), textcoords="offset points", color=ORANGE, weight="bold", bbox=box)
    axes.figure.colorbar(drawn, ax=axes, label=panel.label, orientation="horizontal", shrink=0.8)
    axes.set(title=panel.title, xlabel="longitude (degrees)")
    axes.ticklabel_format(useOffset=False)
    axes.locator_params(axis="x", nbins=4)


def curve_figure(curves: Mapping[str, Curve], privacy: str, quality: str) -> Figure:
    """Privacy against the budget, with the certified band between the envelopes."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
            budget = np.linspace(curve.budget[0], curve.budget[-1], 400)
            lower, upper = curve.lower(budget), curve.upper(budget)
            axes.fill_between(budget, lower, upper, color=colour, alpha=0.25, linewidth=0)
            axes.plot(budget, lower, color=colour, label=name)
            axes.plot(curve.budget, curve.privacy, ".", color=colour, markersize=5)
        axes.set(
            xlabel=f"quality loss allowed: {quality}", ylabel=f"privacy: {privacy}", xlim=(0, None), ylim=(0, None)
        )
        axes.set_title("The most privacy that any mechanism can give")
        axes.ticklabel_format(style="sci", scilimits=(-3, 5), useMathText=True)
        axes.legend(frameon=False, loc="lower right")
    return figure


def way_figure(regions: Regions, ways: Mapping[str, IntArray], hours: FloatArray) -> Figure:
    """Ways through the places, one map each, coloured by the hour."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(ways), 4.6), layout="constrained")
        latitude, longitude = regions.centres.T
        height, width = np.ptp(regions.outlines[0], axis=0)
        angle = 2 * np.pi * hours / 24
        maps = figure.subplots(1, len(ways), squeeze=False, sharey=True)[0]
        for axes, (title, places) in zip(maps, ways.items(), strict=True):
            cells = [corners[:, ::-1] for corners in regions.outlines]
            axes.add_collection(PolyCollection(cells, facecolor="#f3f5f7", edgecolor="#c8d0d8"))
            # around the centre like the hand of a clock, so that a stay shows as an arc and not as one dot
            x = longitude[places] + 0.33 * width * np.sin(angle)
            y = latitude[places] + 0.33 * height * np.cos(angle)
            axes.plot(x, y, color="#8a949e", linewidth=0.7, alpha=0.7)
            dots = axes.scatter(x, y, c=hours, cmap="cividis", s=12, zorder=3, vmin=0, vmax=24)
            axes.autoscale_view()
            axes.set_aspect(1 / np.cos(np.radians(latitude.mean())))
            axes.set(title=title, xlabel="longitude (degrees)")
            axes.ticklabel_format(useOffset=False)
            axes.locator_params(axis="x", nbins=4)
        maps[0].set_ylabel("latitude (degrees)")
        figure.colorbar(dots, ax=maps, label="hour of the day", ticks=range(0, 25, 4), shrink=0.8)
    return figure


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
        axes.set_title("What the adversary believes, step by step, from everything exposed so far")
        axes.legend(frameon=False, loc="lower right", markerscale=2.5)
        figure.colorbar(drawn, ax=axes, label="probability")
    return figure
