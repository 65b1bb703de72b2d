"""The label of a codebook as a figure: every adversary's expected error, between nothing and the prior risk."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from hideseek.plots.style import COLOURS, ORANGE, STYLE, new_axes
from hideseek.util.display import bracketed
from hideseek.util.estimates import Estimate
from hideseek.util.units import shown, unit_words


def draw_label(
    errors: Mapping[str, Estimate], prior_risk: float, ceiling: float, *, unit: str = "", ax: Axes | None = None
) -> Axes:
    """One bar per adversary with its 95 % interval, and lines at the ceiling and at the prior risk.

    >>> draw_label({"filter": Estimate(2), "window": Estimate(3)}, prior_risk=5, ceiling=4, unit="m").get_xlabel()
    'expected error (m)'
    """
    with mpl.rc_context(STYLE):
        if ax is None:
            ax = new_axes(6.0, 2.8)
        found = [shown(error, unit) for error in errors.values()]
        values = np.array([float(error) for error in found])
        low, high = np.array([error.interval for error in found]).T
        ax.barh(list(errors), values, xerr=np.maximum([values - low, high - values], 0), color=COLOURS[0], height=0.6)
        ax.axvline(shown(ceiling, unit), color=ORANGE, label="ceiling")
        ax.axvline(shown(prior_risk, unit), color="black", linestyle="--", label="prior risk")
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        ax.set_xlabel(bracketed("expected error", unit_words(unit)))
        ax.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return ax
