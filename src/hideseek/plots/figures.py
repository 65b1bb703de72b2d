"""Figures: maps, the privacy-quality curve, a day as it was and as it seemed. Colours are safe for all eyes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import Collection, PolyCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.private_files import write_privately

ORANGE = "#d55e00"
COLOURS = ("#0072b2", ORANGE, "#009e73", "#cc79a7", "#56b4e9", "#e69f00")  # Okabe and Ito's, for all eyes
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name with two dollar signs is a name
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


class Envelopes(Protocol):
    """A curve that is known at some budgets, and bounded from both sides at all others."""

    @property
    def budget(self) -> FloatArray:
        """The budgets at which it is known."""

    @property
    def privacy(self) -> FloatArray:
        """What is reached there."""

    def lower(self, budget: FloatArray) -> FloatArray:
        """What is surely reached."""

    def upper(self, budget: FloatArray) -> FloatArray:
        """What nothing exceeds."""


def curve_figure(curves: Mapping[str, Envelopes], privacy: str, quality: str) -> Figure:
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


PAPER: Any = STYLE | {"axes.titlesize": 10, "legend.fontsize": 8.5, "pdf.fonttype": 42}
MARKS = ("o", "s", "^", "D")
ENTROPY = ListedColormap(mpl.colormaps["viridis"](np.linspace(0.88, 0, 256)))  # without the yellow that paper swallows
BUDGET, PRIVACY = "quality loss allowed (probability)", "privacy (probability of error)"


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PDF and as PNG, readable by the owner only; the path is without a suffix."""
    paths = []
    for suffix, options in (("pdf", {"metadata": {"CreationDate": None}}), ("png", {"dpi": 200})):
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, **options)
        paths.append(path.with_name(f"{path.name}.{suffix}"))
        write_privately(paths[-1], stream.getvalue())
    return paths


def draw_users(axes: Axes, table: pd.DataFrame, across: str, up: str, entropy_rate: pd.Series[float]) -> None:
    """One line a user, coloured by the entropy rate, with a colour bar; the table has a column ``user``."""
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
        users.set_title("One line a user, one dot a budget")
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
        optima.set_title("The same, by optimum: mean and range")
        optima.legend(frameon=False, loc="lower right")
    return figure


def transition_figure(lines: pd.DataFrame, everybody: pd.DataFrame, entropy_rate: pd.Series[float]) -> Figure:
    """The privacy of this place and the next against the budget, by user; and everybody's plateaus, by entropy rate.

    ``everybody`` has the columns ``entropy_rate``, ``prior_risk`` and ``pair_risk``.
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
            predictable.plot(everybody["entropy_rate"], everybody[column], mark, **look)
        predictable.set_xlabel("entropy rate (bits per step)")
        predictable.set_title(f"The plateaus of all {len(everybody)} users")
        predictable.legend(frameon=False, loc="lower right")
    return figure


def robustness_figure(kept: pd.DataFrame) -> Figure:
    """What is left of the claim on other days, against the days that the profile was learned from."""
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 4.0), layout="constrained")
        panels = {"one": "He guesses from one release", "all": "He remembers everything exposed"}
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


def comparison_figure(table: pd.DataFrame, unit: str) -> Figure:
    """Every mechanism of a comparison on one line: the errors of four adversaries, under the ceiling.

    The table has the columns ``mechanism``, ``reference``, ``ceiling`` and, for each adversary, his error with the ends
    of its interval, as ``filter``, ``filter_low`` and ``filter_high``.
    """
    looks = {
        "window": ("o", COLOURS[4]),
        "filter": ("D", COLOURS[0]),
        "smoother": ("s", COLOURS[2]),
        "viterbi": ("^", ORANGE),
    }
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 0.36 * len(table) + 1.5), layout="constrained")
        axes = figure.add_subplot()
        height = np.arange(len(table))[::-1]
        axes.hlines(height, 0, table["ceiling"], color="#e3e7eb", linewidth=1, zorder=0)
        axes.plot(table["ceiling"], height, "|", color="#1b1f24", markersize=16, label="no mechanism exceeds")
        for name, (mark, colour) in looks.items():
            reach = [table[name] - table[f"{name}_low"], table[f"{name}_high"] - table[name]]
            axes.errorbar(table[name], height, xerr=reach, fmt=mark, color=colour, markersize=5.5, label=name)
        axes.set_yticks(height, labels=table["mechanism"] + " (" + table["reference"] + ")")
        axes.set(xlabel=f"privacy: the adversary's error{f' ({unit})' if unit else ''}", xlim=(0, None))
        axes.tick_params(axis="y", length=0)
        figure.suptitle("What is left at equal loss of quality", x=0.01, ha="left", fontsize=10, weight="bold")
        axes.legend(
            frameon=False, ncols=5, loc="lower right", bbox_to_anchor=(1, 1), columnspacing=1.2, handletextpad=0.3
        )
    return figure


PLANNERS = {"plain": "#8a949e", "secondary": COLOURS[4], "look-ahead": COLOURS[5], "far-sighted": COLOURS[0]}
DARK = "#1b1f24"


def foresight_figure(users: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """The share of the ceiling that each planner keeps, a panel a budget: users as dots, their mean, and the bound.

    Both tables have the columns ``budget``, ``planner`` and ``kept``; that of the means also the ends of its interval,
    ``kept_low`` and ``kept_high``, and ``limit``, the share of the ceiling that none can exceed.
    """
    kept = means.groupby("planner")["kept"].mean()
    title = f"Planning ahead keeps {kept['far-sighted']:.0%} of the ceiling, the plain optimum {kept['plain']:.0%}"
    with mpl.rc_context(PAPER):
        budgets = means.groupby("budget")
        figure = Figure(figsize=(3.0 * len(budgets) + 0.9, 4.4), layout="constrained")
        panels = figure.subplots(1, len(budgets), sharey=True, squeeze=False)[0]
        for axes, (budget, own) in zip(panels, budgets, strict=True):
            draw_planners(axes, users[users["budget"] == budget], own)
            axes.set_title(f"{budget:.0%} of the saturating budget", weight="normal")
        panels[0].set_ylabel("privacy kept against\nwho remembers everything")
        panels[0].yaxis.set_major_formatter(PercentFormatter(1))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11.5, weight="bold")
        figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, ncols=4, loc="outside lower center")
    return figure


def draw_planners(axes: Axes, users: pd.DataFrame, means: pd.DataFrame) -> None:
    """One bar a planner, with the users on it, under what is proved."""
    names, limit = [name for name in PLANNERS if name in set(means["planner"])], float(means["limit"].iloc[0])
    means = means.set_index("planner").loc[names]
    across = np.arange(len(names))
    axes.bar(across, means["kept"], 0.72, color=[PLANNERS[name] for name in names], alpha=0.35)
    for column, name in zip(across, names, strict=True):
        kept = users.loc[users["planner"] == name, "kept"]
        aside = np.linspace(-0.25, 0.25, len(kept) + 2)[1:-1]
        look: Any = {"markersize": 4, "alpha": 0.7, "markeredgewidth": 0, "color": PLANNERS[name]}
        axes.plot(column + aside, kept, "o", **look, label="a user" if name == "far-sighted" else None)
        below: Any = {"xytext": (0, -13), "textcoords": "offset points", "ha": "center"}
        axes.annotate(f"{means['kept'][name]:.0%}", (column, 0), weight="bold", fontsize=11, **below)
    reach = [means["kept"] - means["kept_low"], means["kept_high"] - means["kept"]]
    axes.errorbar(across, means["kept"], reach, fmt="_", color=DARK, markersize=14, label="mean, 95 % interval")
    ends = (-0.45, len(names) - 0.55)
    axes.hlines(1, *ends, color=DARK, linewidth=1, linestyle="--", label="ceiling: the best if nothing were remembered")
    axes.hlines(limit, *ends, color=ORANGE, linewidth=2, label="proved: no planner keeps more, in the mean")
    axes.annotate(f"{limit:.0%}", (ends[1] + 0.05, limit), va="center", color=ORANGE, weight="bold")
    axes.set_xticks(across, labels=[name.replace("-", "-\n") for name in names])
    axes.tick_params(axis="x", length=0, pad=16)
    axes.set(xlim=(-0.5, len(names)), ylim=(0, 1.05))


def memory_figure(
    errors: Mapping[str, FloatArray], kept: Mapping[str, float], bound: float, ceiling: float, unit: str
) -> Figure:
    """His error who remembers everything, access after access: of the plain optimum, and of who plans ahead.

    ``errors`` are the means at each access, and ``kept`` the shares of the ceiling in the long run, by planner.
    """
    with mpl.rc_context(PAPER):
        figure = Figure(figsize=(9.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for name, error in errors.items():
            axes.plot(np.arange(1, len(error) + 1), error, ".-", color=PLANNERS[name], linewidth=2, markersize=6)
        last, plain, ahead = len(errors["plain"]), float(errors["plain"][-1]), float(errors["far-sighted"][-1])
        for words, at, aside, side, colour in (
            ("ceiling: the best if nothing were remembered", (2, ceiling), 6, "left", DARK),  # the bound may be near it
            ("proved: in the long run no planner keeps more", (last, bound), 8, "right", ORANGE),
            ("far-sighted planner", (last, ahead), -20, "right", PLANNERS["far-sighted"]),
            ("plain optimum", (last, plain), 14, "right", "#57606a"),
        ):
            look: Any = {"textcoords": "offset points", "ha": side, "color": colour, "weight": "bold"}
            axes.annotate(words, at, (0, aside), **look)
        axes.axhline(ceiling, color=DARK, linewidth=1, linestyle="--", zorder=0)
        axes.axhline(bound, color=ORANGE, linewidth=2, zorder=0)
        axes.set(xlabel="access", ylabel=f"privacy: the adversary's error ({unit})", ylim=(0, 1.15 * ceiling))
        shares = f"planning ahead keeps {kept['far-sighted']:.0%} of the ceiling, the plain optimum {kept['plain']:.0%}"
        axes.set_title(f"Against who remembers everything, {shares}")
    return figure
