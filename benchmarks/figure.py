"""Time and memory over the number of places, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report import best_peer
from benchmarks.results import Growth, Results, Row
from hideseek.plots.style import COLOURS, DARK, ORANGE, PAPER

LOOKS = {"hideseek": (COLOURS[0], "o"), "scipy": (ORANGE, "s"), "qif": (COLOURS[2], "^"), "cvxpy": (COLOURS[3], "D")}
LONGEST = 3e3  # seconds on the axis


def benchmark_figure(results: Results) -> Figure:
    """All solvers, their fitted growth, what was not finished as arrows, and how far the best peer is behind."""
    with mpl.rc_context(PAPER | {"text.parse_math": True}):  # its names are ours, with formulas
        figure = Figure(figsize=(10.4, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
        names: dict[str, str] = {}
        sizes: set[int] = set()
        for name in LOOKS:
            rows, growth = results.of(name), results.growth.get(name)
            if rows:
                names[name] = name if growth is None else f"{name}: $M^{{{growth.exponent:.1f}}}$"
                sizes |= {row.size for row in rows}
                draw_times(left, name, rows, growth)
                draw_memory(right, name, rows)
            draw_unfinished(left, name, [row for row in results.rows if row.case == name and "limit" in row.facts])
        draw_distance(left, results)
        draw_names(left, names)
        draw_names(right, {name: name for name in names})
        shown = sorted(sizes - {150})  # which would stand on the toes of 100
        for axes in (left, right):
            axes.set(xscale="log", yscale="log", xlabel="places", xlim=(0.8 * shown[0], 1.5 * shown[-1]))
            axes.set_xticks(shown, labels=[f"{size:,}" for size in shown])
            axes.minorticks_off()
            axes.grid(axis="y", color="#e3e7eb", linewidth=0.8, zorder=0)
        left.set_title("Time to a proved optimum, one core")
        times = {1e-3: "1 ms", 1e-2: "10 ms", 1e-1: "0.1 s", 1: "1 s", 10: "10 s", 60: "1 min", 600: "10 min"}
        left.set_yticks(list(times), labels=list(times.values()))
        left.set_ylim(3e-3, LONGEST)
        right.set_title("Peak memory")
        right.set_yticks(
            [100, 200, 500, 1000, 2000, 5000], labels=["100 MB", "200 MB", "500 MB", "1 GB", "2 GB", "5 GB"]
        )
        imported = results.of("hideseek")[0].facts["imported"]
        right.axhline(imported, color="#8a949e", linewidth=0.9, linestyle=":")
        beside: Any = {"textcoords": "offset points", "color": "#57606a", "fontsize": 8.5, "va": "top", "ha": "right"}
        right.annotate("Python and its libraries", (1.45 * shown[-1], imported), (0, -4), **beside)
        right.set_ylim(0.75 * imported, 4e3)
    return figure


def draw_times(axes: Axes, name: str, rows: list[Row], growth: Growth | None) -> None:
    """One solver: its times, and the line of its growth."""
    colour, _ = LOOKS[name]
    sizes = np.array([row.size for row in rows])
    seconds = np.array([row.facts["seconds"] for row in rows])
    draw_line(axes, name, sizes, seconds)
    if growth is not None:
        fitted = sizes >= growth.first
        level = np.exp(np.mean(np.log(seconds[fitted]) - growth.exponent * np.log(sizes[fitted])))
        ends = np.array([growth.first, 4 * growth.last])
        axes.plot(ends, level * ends**growth.exponent, color=colour, linewidth=1, linestyle=(0, (4, 3)), alpha=0.7)


def draw_memory(axes: Axes, name: str, rows: list[Row]) -> None:
    """The most memory that each process had."""
    draw_line(axes, name, [row.size for row in rows], [row.facts["megabytes"] for row in rows])


def draw_line(axes: Axes, name: str, across: npt.ArrayLike, up: npt.ArrayLike) -> None:
    """Marks with a line through them, ours bolder."""
    colour, mark = LOOKS[name]
    bold: Any = {"linewidth": 2.4, "markersize": 7.5} if name == "hideseek" else {"linewidth": 1.4, "markersize": 6}
    look: Any = {"color": colour, "marker": mark, "markeredgecolor": "white", "markeredgewidth": 0.7, "zorder": 3}
    axes.plot(across, up, **look, **bold)


def draw_names(axes: Axes, names: Mapping[str, str]) -> None:
    """Who is who, the slowest first, in their colours."""
    for line, (name, words) in enumerate(names.items()):
        colour, mark = LOOKS[name]
        height = 0.955 - 0.062 * (len(names) - 1 - line)
        axes.plot(0.035, height, mark, color=colour, markersize=6.5, transform=axes.transAxes, clip_on=False)
        look: Any = {"color": colour, "weight": "bold", "fontsize": 10, "va": "center", "transform": axes.transAxes}
        axes.text(0.06, height, words, **look)


def draw_unfinished(axes: Axes, name: str, rows: list[Row]) -> None:
    """Arrows upward from the time limit."""
    colour, mark = LOOKS[name]
    for row in rows:
        at = (row.size, row.facts["limit"])
        axes.plot(*at, mark, color="white", markeredgecolor=colour, markersize=6, zorder=4)
        arrow: Any = {"arrowstyle": "<|-", "color": colour, "linewidth": 1.4}
        axes.annotate("", at, (0, 20), textcoords="offset points", arrowprops=arrow)


def draw_distance(axes: Axes, results: Results) -> None:
    """How many times our time the best peer takes, at the largest size where there is one."""
    pairs = [(row, best_peer(results, row.size)) for row in results.of("hideseek")]
    known = [(row.size, row.facts["seconds"], best[1]) for row, best in pairs if best is not None]
    if not known:
        return
    size, seconds, ratio = known[-1]
    arrow: Any = {"arrowstyle": "<->", "color": DARK, "linewidth": 1.2, "shrinkA": 6, "shrinkB": 6}
    axes.annotate("", (size, seconds * ratio.value), (size, seconds), arrowprops=arrow)
    look: Any = {"color": DARK, "weight": "bold", "fontsize": 13, "va": "center"}
    axes.text(1.08 * size, seconds * ratio.value**0.75, f"{ratio}".replace("x", " times"), **look)
