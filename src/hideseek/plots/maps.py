"""Maps of places: what stands where, and a day as it was and as it seemed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from hideseek.model.regions import Regions
from hideseek.plots.style import ORANGE, STYLE
from hideseek.util.arrays import FloatArray, IntArray


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
        # the largest first: small places lie within large ones
        order = np.argsort([-np.ptp(corners, axis=0).prod().round(9) for corners in outlines], kind="stable")
        drawn = PolyCollection([outlines[place][:, ::-1] for place in order], array=panel.values[order])
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


def trajectories_figure(regions: Regions, trajectories: Mapping[str, IntArray], hours: FloatArray) -> Figure:
    """Trajectories through the places, one map each, coloured by the hour."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(trajectories), 4.6), layout="constrained")
        latitude, longitude = regions.centres.T
        height, width = np.ptp(regions.outlines[0], axis=0)
        angle = 2 * np.pi * hours / 24
        maps = figure.subplots(1, len(trajectories), squeeze=False, sharey=True)[0]
        for axes, (title, places) in zip(maps, trajectories.items(), strict=True):
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
