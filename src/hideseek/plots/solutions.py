"""Pictures of what solvers find: a mechanism, and the privacy-quality curve."""

from __future__ import annotations

import matplotlib as mpl
from matplotlib.axes import Axes

from hideseek.plots.curves import Envelopes, add_legend, draw_envelopes
from hideseek.plots.style import COLOURS, STYLE, new_axes
from hideseek.util.arrays import FloatArray
from hideseek.util.display import bracketed
from hideseek.util.units import unit_words


def draw_mechanism(table: FloatArray, title: str, ax: Axes | None = None) -> Axes:
    """The probability of every release given the input, [input, release], as an image."""
    with mpl.rc_context(STYLE):
        axes = new_axes() if ax is None else ax
        image = axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axes.figure.colorbar(image, ax=axes, label="probability of the release")
        axes.set(title=title, xlabel="release", ylabel="input")
        axes.locator_params(integer=True)
    return axes


def draw_curve(curve: Envelopes, ax: Axes | None = None) -> Axes:
    """The most privacy for every budget, with the certified band between the envelopes."""
    with mpl.rc_context(STYLE):
        axes = new_axes() if ax is None else ax
        draw_envelopes(axes, curve, COLOURS[0])
        error, loss = map(unit_words, curve.units)
        axes.set(xlabel=bracketed("quality loss allowed", loss), ylabel=bracketed("privacy", error))
        axes.set(xlim=(0, None), ylim=(0, None))
        add_legend(axes, COLOURS[0])
    return axes
