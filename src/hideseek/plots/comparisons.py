"""Mechanisms and planners side by side."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from hideseek.plots.style import COLOURS, DARK, ORANGE, PAPER, new_axes
from hideseek.util.choices import ACCESS
from hideseek.util.display import bracketed
from hideseek.util.units import shown_many, unit_words

LOOKS = {
    "window": ("o", COLOURS[4]),
    "filter": ("D", COLOURS[0]),
    "smoother": ("s", COLOURS[2]),
    "viterbi": ("^", ORANGE),
}


def comparison_figure(table: pd.DataFrame, unit: str) -> Figure:
    """All mechanisms of a comparison, as :func:`draw_comparison` has them."""
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 0.36 * len(table) + 1.5), layout="constrained")
        draw_comparison(table, unit, figure.add_subplot())
        figure.suptitle("What is left at equal loss of quality", x=0.01, ha="left", fontsize=10, weight="bold")
    return figure


def draw_comparison(table: pd.DataFrame, unit: str = "", ax: Axes | None = None) -> Axes:
    """One line per mechanism: the expected errors of four adversaries, under the ceiling.

    The table has the columns ``mechanism``, ``reference``, ``ceiling`` and, for each adversary, the error with the ends
    of its interval, as ``filter``, ``filter_low`` and ``filter_high``.
    """
    with mpl.rc_context(PAPER):
        axes = new_axes(9.2, 0.36 * len(table) + 1.2) if ax is None else ax
        height = np.arange(len(table))[::-1]
        ceiling = shown_many(table["ceiling"].to_numpy(np.float64), unit)
        axes.hlines(height, 0, ceiling, color="#e3e7eb", linewidth=1, zorder=0)
        axes.plot(ceiling, height, "|", color="#1b1f24", markersize=16, label="no mechanism exceeds")
        for name, (mark, colour) in LOOKS.items():
            low, at, high = (
                shown_many(table[column].to_numpy(np.float64), unit) for column in (f"{name}_low", name, f"{name}_high")
            )
            axes.errorbar(at, height, xerr=[at - low, high - at], fmt=mark, color=colour, markersize=5.5, label=name)
        named = [
            bracketed(name, reference) for name, reference in zip(table["mechanism"], table["reference"], strict=True)
        ]
        axes.set_yticks(height, labels=named)
        axes.set(xlabel=bracketed("privacy: the adversary's error", unit_words(unit)), xlim=(0, None))
        axes.tick_params(axis="y", length=0)
        axes.legend(
            frameon=False, ncols=5, loc="lower right", bbox_to_anchor=(1, 1), columnspacing=1.2, handletextpad=0.3
        )
    return axes


PLANNERS = {"plain": "#8a949e", "secondary": COLOURS[4], "look-ahead": COLOURS[5], "far-sighted": COLOURS[0]}
WINDOWED = COLOURS[2]  # the planner whose budget holds over a window, which its name says


def foresight_figure(users: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """The share of the ceiling that each planner keeps, one panel per budget: users as dots, average, and bound.

    Both tables have the columns ``budget_share``, ``name`` (of the planner), ``over`` (which window its budget holds)
    and ``kept``; that of the means also the ends of its interval, ``kept_low`` and ``kept_high``, and ``limit``, the
    share of the ceiling that none can exceed whose budget holds so.
    """
    kept, over = means.groupby("name")["kept"].mean(), means[means["over"] != ACCESS].groupby("over")["kept"].mean()
    title = f"Planning ahead keeps {kept['far-sighted']:.0%} of the ceiling, the plain optimum {kept['plain']:.0%}"
    title += "".join(f"; with the budget over {window}: {share:.0%}" for window, share in over.items())
    with mpl.rc_context(PAPER):
        budgets = means.groupby("budget_share")
        figure = Figure(figsize=(3.0 * len(budgets) + 0.9, 4.4), layout="constrained")
        panels = figure.subplots(1, len(budgets), sharey=True, squeeze=False)[0]
        for axes, (budget, own) in zip(panels, budgets, strict=True):
            draw_planners(axes, users[users["budget_share"] == budget], own)
            axes.set_title(f"{budget:.0%} of the saturating budget", weight="normal")
        panels[0].set_ylabel("privacy kept against an adversary\nwho remembers every release")
        panels[0].yaxis.set_major_formatter(PercentFormatter(1))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11.5, weight="bold")
        figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, ncols=2, loc="outside lower center")
    return figure


def draw_study(means: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The share of the ceiling that each planner keeps on average, against the budget, under what is proved.

    The table is that of the means of :func:`foresight_figure`.
    """
    with mpl.rc_context(PAPER):
        axes = new_axes() if ax is None else ax
        for name, own in means.groupby("name", sort=False):
            reach = [own["kept"] - own["kept_low"], own["kept_high"] - own["kept"]]
            look: Any = {"fmt": "o-", "color": PLANNERS.get(str(name), WINDOWED), "label": str(name)}
            axes.errorbar(own["budget_share"], own["kept"], reach, **look)
        for own, colour, words in proved(means):
            limit = own.groupby("budget_share")["limit"].min()
            axes.plot(limit.index, limit, color=colour, linestyle="--", label=words)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        axes.set(xlabel="budget, of the saturating one", ylabel="kept of the ceiling, on average", ylim=(0, 1.05))
        axes.legend(frameon=False)
    return axes


def proved(means: pd.DataFrame) -> list[tuple[pd.DataFrame, str, str]]:
    """The means that one bound holds for, with its colour and words: a budget on average may exceed the first."""
    every = means["over"] == ACCESS
    over = "".join(means.loc[~every, "over"].iloc[:1])
    bounds = [
        (means[every], ORANGE, "proved: none with a budget at every access keeps more"),
        (means[~every], COLOURS[3], f"proved: none with a budget over {over}, on average, keeps more"),
    ]
    return [one for one in bounds if len(one[0])]


def draw_planners(axes: Axes, users: pd.DataFrame, means: pd.DataFrame) -> None:
    """One bar per planner, with the users on it, under what is proved."""
    known = [name for name in PLANNERS if name in set(means["name"])]
    names = known + [name for name in means["name"] if name not in PLANNERS]
    colours = [PLANNERS.get(name, WINDOWED) for name in names]
    means = means.set_index("name").loc[names]
    across = np.arange(len(names))
    axes.bar(across, means["kept"], 0.72, color=colours, alpha=0.35)
    for column, name, colour in zip(across, names, colours, strict=True):
        kept = users.loc[users["name"] == name, "kept"]
        aside = np.linspace(-0.25, 0.25, len(kept) + 2)[1:-1]
        look: Any = {"markersize": 4, "alpha": 0.7, "markeredgewidth": 0, "color": colour}
        axes.plot(column + aside, kept, "o", **look, label="a user" if name == "far-sighted" else None)
        below: Any = {"xytext": (0, -13), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{means['kept'][name]:.0%}", (column, 0), weight="bold", fontsize=11, **below)
    reach = [means["kept"] - means["kept_low"], means["kept_high"] - means["kept"]]
    axes.errorbar(across, means["kept"], reach, fmt="_", color=DARK, markersize=14, label="average, 95 % interval")
    ends = (-0.45, len(names) - 0.55)
    axes.hlines(1, *ends, color=DARK, linewidth=1, linestyle="--", label="ceiling: the best if nothing were remembered")
    for own, colour, words in proved(means):
        at, limit = [names.index(str(name)) for name in own.index], float(own["limit"].iloc[0])
        axes.hlines(limit, at[0] - 0.45, at[-1] + 0.45, color=colour, linewidth=2, label=words)
        above: Any = {"xytext": (0, 3), "textcoords": "offset points", "color": colour}
        axes.annotate(f"{limit:.0%}", (at[0] - 0.45, limit), weight="bold", **above)
    axes.set_xticks(across, labels=[name.replace("-", "-\n").replace(", ", ",\n") for name in names])
    axes.tick_params(axis="x", length=0, pad=16)
    axes.set(xlim=(-0.5, len(names)), ylim=(0, 1.05))
