"""How protection is spread over the users of a fleet."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from hideseek.plots.style import COLOURS, PAPER

BINS = np.linspace(0, 1, 21).tolist()


def protection_figure(made: pd.DataFrame) -> Figure:
    """How many designs leave which share of the prior risk; those of users with few days are told apart."""
    shares, few = made["risk_share"].clip(0, 1), made["few_days"].to_numpy(dtype=bool)
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(7.2, 2.8), layout="constrained")
        axes = figure.add_subplot()
        parts = {"a week or more": (shares[~few], COLOURS[0]), "fewer days, no promise": (shares[few], "#c8ced4")}
        there = {name: part for name, part in parts.items() if len(part[0])}
        axes.hist(
            [values.to_numpy() for values, _ in there.values()],
            bins=BINS,
            stacked=True,
            color=[colour for _, colour in there.values()],
            label=list(there),
            edgecolor="white",
        )
        axes.set(xlim=(0, 1), xlabel="share of the prior risk that is left against the filter", ylabel="designs")
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    return figure
