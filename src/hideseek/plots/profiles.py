"""Where a person is in the long run, drawn."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes

from hideseek.model.regions import Regions
from hideseek.plots.maps import Panel, draw_map
from hideseek.plots.style import COLOURS, STYLE, new_axes
from hideseek.util.arrays import FloatArray


def draw_profile(stationary: FloatArray, regions: Regions | None, ax: Axes | None = None) -> Axes:
    """A map coloured by the probability of every place, or bars where the regions are not known."""
    with mpl.rc_context(STYLE):
        axes = new_axes() if ax is None else ax
        if regions is None:
            axes.bar(range(len(stationary)), stationary, color=COLOURS[0])
            axes.set(xlabel="place", ylabel="probability")
            axes.locator_params(axis="x", integer=True)
        else:
            draw_map(axes, regions, Panel("Where the person is", "probability", stationary, {}))
            axes.set_ylabel("latitude (degrees)")
    return axes
