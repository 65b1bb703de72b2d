"""A map of places: what stands where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PolyCollection
from matplotlib.colors import Normalize

from hideseek.model.regions import Regions
from hideseek.plots.style import ORANGE
from hideseek.util.arrays import FloatArray


@dataclass(frozen=True)
class Panel:
    """One map: places coloured by ``values``, with marks such as {"truth": 3} on some of them."""

    title: str
    label: str
    values: FloatArray
    marks: Mapping[str, int]


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
