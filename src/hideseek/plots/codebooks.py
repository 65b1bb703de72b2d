"""Codebooks as figures: the privacy of every stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from hideseek.plots.style import COLOURS, ORANGE, STYLE, new_axes
from hideseek.util.display import bracketed
from hideseek.util.units import shown_many, unit_words


def draw_stages(
    names: Sequence[str], privacy: Sequence[float], bound: Sequence[float], *, unit: str = "", ax: Axes | None = None
) -> Axes:
    """One bar per stage, and a mark at what no table for it exceeds.

    >>> draw_stages(["access 1", "later"], [0.3, 0.2], [0.3, 0.25], unit="m").get_xlabel()
    'privacy (m)'
    """
    with mpl.rc_context(STYLE):
        if ax is None:
            ax = new_axes(6.0, 1.2 + 0.35 * len(names))
        ax.barh(names, shown_many(np.array(privacy), unit), color=COLOURS[0], height=0.6, label="privacy")
        look: Any = {"color": ORANGE, "markersize": 14, "markeredgewidth": 2}
        ax.plot(shown_many(np.array(bound), unit), range(len(names)), "|", **look, label="no table exceeds")
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel(bracketed("privacy", unit_words(unit)))
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax
