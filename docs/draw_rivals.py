"""Draw docs/rivals.png from docs/rivals.csv: what every mechanism leaves of the ceiling, on average over people."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hideseek.util.estimates import Estimate

FOLDER = Path(__file__).parent
OURS = ("live planner", "playbook", "codebook, far-sighted", "codebook", "optimal sporadic")
INK, ACCENT, RIVAL = "#1f2933", "#0b7285", "#b08968"
PANELS = {"squared": "loss: squared displacement", "hamming": "loss: how often the place is not the true one"}
READERS = {"filter": "guesses at each access", "smoother": "reads the whole log later"}


def shares(errors: pd.DataFrame, quality: str, reader: str) -> dict[str, Estimate]:
    """Of every mechanism, the mean over people of the share of the ceiling that is left, with its interval."""
    own = errors[errors["quality"] == quality]
    by_mechanism = (own[reader] / own["ceiling"]).groupby(own["mechanism"])
    return {str(name): Estimate.mean_of(values.to_numpy()) for name, values in by_mechanism}


def draw() -> None:
    """One panel for each measure of quality."""
    errors = pd.read_csv(FOLDER / "rivals.csv")
    first = shares(errors, "squared", "filter")
    order = sorted(first, key=first.__getitem__)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), sharey=True, layout="constrained")
    for ax, (quality, title) in zip(axes, PANELS.items(), strict=True):
        rows = np.arange(len(order))
        for reader, marker in zip(READERS, ("o", "D"), strict=True):
            by_name = shares(errors, quality, reader)
            found = [by_name[name] for name in order]
            low, high = np.array([one.interval for one in found]).T
            colours = [ACCENT if name in OURS else RIVAL for name in order]
            height = rows + (0.14 if reader == "filter" else -0.14)
            ax.hlines(height, low, high, color=colours, linewidth=2, alpha=0.45)
            faces = colours if reader == "filter" else "white"
            ax.scatter(found, height, c=faces, edgecolors=colours, marker=marker, s=38, zorder=3)
        ax.axvline(1, color=INK, linewidth=1)
        ax.set(title=title, xlim=(-0.02, 1.06), xlabel="error left to the adversary, as a share of the ceiling")
        ax.set_yticks(rows, order)
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.grid(axis="x", alpha=0.25)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    for label in axes[0].get_yticklabels():
        label.set_color(ACCENT if label.get_text() in OURS else INK)
    for (_, words), marker, face in zip(READERS.items(), ("o", "D"), (INK, "white"), strict=True):
        axes[1].scatter([], [], c=face, edgecolors=INK, marker=marker, label=f"adversary who {words}")
    axes[1].legend(loc="center right", bbox_to_anchor=(0.95, 0.5), frameon=False, fontsize=9)
    figure.savefig(FOLDER / "rivals.png", dpi=130)


if __name__ == "__main__":
    draw()
