"""The figures of the paper's evaluation, and what is left of its claims on other days."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure

from hideseek.plots.style import COLOURS, MARKS, ORANGE, PAPER

ENTROPY = ListedColormap(mpl.colormaps["viridis"](np.linspace(0.88, 0, 256)))  # without the yellow that paper swallows
BUDGET, PRIVACY = "quality loss allowed (probability)", "privacy (probability of error)"


def draw_users(axes: Axes, table: pd.DataFrame, across: str, up: str, entropy_rate: pd.Series[float]) -> None:
    """One line per user, coloured by the entropy rate, with a colour bar; the table has a column ``user``."""
    scale = Normalize(entropy_rate.min(), entropy_rate.max())
    for user, own in table.groupby("user"):
        colour = ENTROPY(scale(entropy_rate[user]))
        axes.plot(own[across], own[up], ".-", color=colour, linewidth=1.1, markersize=4)
    axes.figure.colorbar(ScalarMappable(scale, ENTROPY), ax=axes, label="entropy rate (bits per step)")


def two_panels(sharey: bool) -> tuple[Figure, Axes, Axes]:
    """A figure with room for a colour bar beside its left panel."""
    figure = Figure(figsize=(9.6, 4.1))
    figure.set_layout_engine("constrained", wspace=0.06)
    left, right = figure.subplots(1, 2, sharey=sharey, width_ratios=(1.2, 1))
    return figure, left, right


def attacks_figure(lines: pd.DataFrame, choices: pd.DataFrame, entropy_rate: pd.Series[float]) -> Figure:
    """The error of an attack that remembers against that of one that forgets: by user, and by the optimum attacked.

    Both tables have the columns ``user``, ``sporadic``, ``aware`` and ``choice``.
    """
    with mpl.rc_context(PAPER):
        figure, users, optima = two_panels(sharey=True)
        draw_users(users, lines, "sporadic", "aware", entropy_rate)
        groups = choices.groupby("choice", sort=False)
        for (name, own), colour, mark in zip(groups, COLOURS, MARKS, strict=False):
            look: Any = {"color": colour, "alpha": 0.75, "markersize": 4.5, "markeredgewidth": 0, "label": name}
            optima.plot(own["sporadic"], own["aware"], mark, **look)
        most = 1.04 * float(lines["sporadic"].max())
        for axes in (users, optima):
            axes.plot([0, most], [0, most], color="#8a949e", linewidth=0.9, linestyle="--", zorder=0)
            axes.set(xlabel="sporadic attack: " + PRIVACY, xlim=(0, most), ylim=(0, most))
        users.set_ylabel("correlation-aware attack:\n" + PRIVACY)
        users.set_title("One line per user, one dot per budget")
        optima.set_title("The same, by the optimum attacked")
        optima.legend(frameon=False, loc="upper left")
    return figure


def location_figure(lines: pd.DataFrame, kept: pd.DataFrame, entropy_rate: pd.Series[float], step: int) -> Figure:
    """The privacy of the current place against the budget, by user; and how much of the most is kept, by optimum.

    ``lines`` has the columns ``user``, ``budget``, ``privacy``; ``kept`` has ``choice``, ``budget``, ``share``.
    """
    with mpl.rc_context(PAPER):
        figure, users, optima = two_panels(sharey=False)
        draw_users(users, lines, "budget", "privacy", entropy_rate)
        users.set(xlabel=BUDGET, ylabel=PRIVACY, xlim=(0, 1), ylim=(0, None))
        users.set_title(f"The current place, at t = {step}")
        groups = kept.groupby("choice", sort=False)
        apart = 0.012 * (np.arange(len(groups)) - (len(groups) - 1) / 2)  # so that the ranges stand side by side
        for (name, own), colour, mark, aside in zip(groups, COLOURS, MARKS, apart, strict=False):
            share = 100 * own.groupby("budget")["share"].agg(["mean", "min", "max"])
            reach = share[["min", "max"]].sub(share["mean"], axis=0).abs().to_numpy().T
            look: Any = {"color": colour, "marker": mark, "markersize": 4.5, "linewidth": 1, "elinewidth": 1}
            optima.errorbar(share.index.to_numpy() + aside, share["mean"], reach, label=name, **look)
        optima.set(xlabel=BUDGET, ylabel="kept of the sporadic optimum (%)", xlim=(0, 1))
        optima.set_title("The same, by optimum: average and range")
        optima.legend(frameon=False, loc="lower right")
    return figure


def transition_figure(lines: pd.DataFrame, candidates: pd.DataFrame, entropy_rate: pd.Series[float]) -> Figure:
    """The privacy of this place and the next against the budget, by user; and all users' plateaus, by entropy rate.

    ``candidates`` has the columns ``entropy_rate``, ``prior_risk`` and ``pair_risk``.
    """
    with mpl.rc_context(PAPER):
        figure, users, predictable = two_panels(sharey=True)
        draw_users(users, lines, "budget", "privacy", entropy_rate)
        users.set(xlabel=BUDGET, ylabel=PRIVACY, xlim=(0, 1), ylim=(0, 1))
        users.set_title("This place and the next")
        for column, name, colour, mark in (
            ("prior_risk", "the place", COLOURS[0], MARKS[0]),
            ("pair_risk", "the place and the next", COLOURS[1], MARKS[1]),
        ):
            look: Any = {"color": colour, "alpha": 0.75, "markersize": 5, "markeredgewidth": 0, "label": name}
            predictable.plot(candidates["entropy_rate"], candidates[column], mark, **look)
        predictable.set_xlabel("entropy rate (bits per step)")
        predictable.set_title(f"The plateaus of all {len(candidates)} users")
        predictable.legend(frameon=False, loc="lower right")
    return figure


def robustness_figure(kept: pd.DataFrame) -> Figure:
    """What is left of the claim on other days, against the days that the profile was learned from."""
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 4.0), layout="constrained")
        panels = {"one": "The adversary remembers one release", "all": "The adversary remembers every release"}
        for axes, (memory, title) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
            axes.axhline(1, color="#57606a", linewidth=1, linestyle="--", label="as claimed")
            for adversary, colour, marker in (("the same", COLOURS[0], "o"), ("the attacked", ORANGE, "s")):
                own = kept[(kept["memory"] == memory) & (kept["adversary"] == adversary)]
                knows = {"the same": "the user's own profile", "the attacked": "the attacked days themselves"}
                axes.fill_between(own["days"], own["low"], own["high"], color=colour, alpha=0.15, linewidth=0)
                axes.plot(own["days"], own["mean"], marker=marker, color=colour, label=f"knows {knows[adversary]}")
            top = 1.05 * float(kept["high"].max())
            axes.set(title=title, xlabel="days that the profile was learned from", xscale="log", ylim=(0, top))
            axes.set_xticks(sorted(kept["days"].unique()), labels=[str(days) for days in sorted(kept["days"].unique())])
            axes.minorticks_off()
        figure.axes[0].set_ylabel("privacy left, as a share of the claim")
        figure.axes[0].legend(frameon=False, loc="lower left")
    return figure
