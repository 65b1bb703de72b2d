"""Draws day.png, a day of the person of ``make demo``: ``python docs/draw_day.py`` (half a minute)."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from hideseek import protect
from hideseek.experiments.demo import BUDGET, demo_person
from hideseek.experiments.exposed_day import ExposedDay
from hideseek.model.geodesy import distances
from hideseek.model.stay_map import StayMap
from hideseek.plots.style import DARK, ORANGE, STYLE
from hideseek.util.arrays import FloatArray, IntArray

PICTURE = Path(__file__).parent / "day.png"
NEAR = 0.45  # the height of a lane for the cells near a stay; that of the stay itself is 1
NAVY = "#003a6b"
BELIEF = LinearSegmentedColormap.from_list("belief", ["#f7f9fb", "#56b4e9"])


class Lanes:
    """Where places stand in the picture, from the top: each stay of the day, and below it the cells nearest to it."""

    def __init__(self, regions: StayMap, day: ExposedDay) -> None:
        on_day = np.unique(np.concatenate([day.true, day.guess]))
        self.stays = on_day[regions.is_stay[on_day]]  # sensitive ones come first on a map
        self.lane = distances(regions)[:, self.stays].argmin(axis=1)  # of each place: that of the nearest stay
        self.is_stay = np.isin(np.arange(len(regions)), self.stays)
        self.names = [regions.names[stay] for stay in self.stays]

    def heights(self, places: IntArray) -> FloatArray:
        """The middle of the lane of each place."""
        return self.lane[places] * (1 + NEAR) + np.where(self.is_stay[places], 0.5, 1 + NEAR / 2)

    def words(self, place: int) -> str:
        """The name of the lane of a place."""
        return ("" if self.is_stay[place] else "near ") + self.names[self.lane[place]]


def draw_belief(ax: Axes, lanes: Lanes, belief: FloatArray, ends: FloatArray) -> None:
    """How likely the adversary holds each lane to be, as shading; its name beside it."""
    for number, name in enumerate(lanes.names):
        own, top = lanes.lane == number, number * (1 + NEAR)
        for places, begin, size in ((own & lanes.is_stay, top, 1.0), (own & ~lanes.is_stay, top + 1, NEAR)):
            edges = [begin + 0.03, begin + size - 0.03]
            shade = belief[:, places].sum(axis=1)[None]
            ax.pcolormesh(ends, edges, shade, cmap=BELIEF, vmin=0, vmax=1, rasterized=True)
        ax.text(-0.2, top + 0.5, name, ha="right", va="center", weight="bold")
        ax.text(-0.2, top + 1 + NEAR / 2, f"near {name}", ha="right", va="center", size=7, color="0.45")


def draw_day(ax: Axes, lanes: Lanes, day: ExposedDay) -> None:
    """The truth, what was exposed and what the adversary says, over the hours."""
    hours = day.minutes / 60
    ends = np.append(hours, 24.0)
    draw_belief(ax, lanes, day.belief, ends)
    ways = (
        (day.true, 0.0, DARK, 4.5, "where the person is"),
        (day.exposed, -0.22, ORANGE, 3.0, "what the app is told"),
        (day.guess, 0.22, NAVY, 3.0, "what the adversary says"),
    )
    for places, off, colour, width, words in ways:
        at = lanes.heights(places) + off * np.where(lanes.is_stay[places], 1, NEAR)
        ax.step(hours, at, where="post", color=colour, linewidth=0.6, alpha=0.6)
        begins = np.flatnonzero(np.diff(places, prepend=-1))
        ax.hlines(
            at[begins], hours[begins], ends[np.append(begins[1:], -1)], color=colour, linewidth=width, label=words
        )
    visit = np.flatnonzero(day.true == 0)  # the sensitive place
    told, said = (lanes.words(np.bincount(which[visit]).argmax()) for which in (day.exposed, day.guess))
    words = f"At {lanes.names[0]}: the app is told “{told}”, the adversary says “{said}”."
    ax.text(hours[visit[0]] - 0.3, 0.5, words, ha="right", va="center")
    ax.set_ylim(len(lanes.names) * (1 + NEAR), 0)
    ax.set_yticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(bottom=False)


def picture() -> Figure:
    """The whole picture."""
    traces, clinic = demo_person()
    made = protect(traces, budget=BUDGET, sensitive=[clinic])
    return figure_of(made.profile.regions, made.day)


def figure_of(regions: StayMap, day: ExposedDay) -> Figure:
    """A day over its hours, and below it how far off the adversary is."""
    lanes, hours = Lanes(regions, day), day.minutes / 60
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10, 6), layout="constrained")
        above, below = figure.subplots(2, sharex=True, height_ratios=[5.2, 1])
        draw_day(above, lanes, day)
        off = distances(regions)[day.guess, day.true] / 1000
        below.fill_between(hours, off, step="post", color=NAVY, linewidth=0)
        below.set_title("how far off the adversary is (km)", fontsize=10, fontweight="normal")
        below.set_xlim(0, 24)
        below.set_xticks(range(0, 25, 3), [f"{hour}:00" for hour in range(0, 25, 3)])
        shading = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 100), BELIEF)
        figure.colorbar(shading, ax=above, label="what the adversary believes (%)", pad=0.01, aspect=40)
        figure.legend(loc="outside upper center", frameon=False, ncols=3, fontsize=11)
    return figure


if __name__ == "__main__":
    picture().savefig(PICTURE, dpi=110)
