"""Draw docs/window.png from docs/windows.csv: the choice between two adversaries, and how much days vary."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

FOLDER = Path(__file__).parent
CHOICES = {"filter": "#0b7285", "both": "#1f2933", "log": "#b08968"}
PALE = "#c9d1d9"


def times(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """What each choice leaves of every person as a multiple of what is left at every access, [person, choice]."""
    errors = rows.pivot_table(index="person", columns="against", values=name)
    return errors[list(CHOICES)].div(errors["access"], axis=0)


def draw_choice(ax: Axes, rows: pd.DataFrame) -> None:
    """Each person as a line through the three choices, and the means over people."""
    now, later = times(rows, "filter"), times(rows, "smoother")
    for person in now.index:
        ax.plot(now.loc[person], later.loc[person], color=PALE, linewidth=1, zorder=1)
    for choice, colour in CHOICES.items():
        ax.scatter(now[choice], later[choice], s=14, color=colour, alpha=0.45, linewidths=0, zorder=2)
        ax.scatter(now[choice].mean(), later[choice].mean(), s=90, color=colour, zorder=3, label=f'against="{choice}"')
    ax.plot(now.mean(), later.mean(), color=CHOICES["both"], linewidth=2, zorder=2)
    ax.axhline(1, color=PALE, linewidth=1, zorder=0)
    ax.axvline(1, color=PALE, linewidth=1, zorder=0)
    ax.set(
        xlabel="error of an adversary who guesses at each access (filter),\n"
        "as a multiple of that with the budget at every access",
        ylabel="error of one who reads the log later (smoother)",
        title="The choice between two adversaries",
    )
    ax.legend(frameon=False, fontsize=9, loc="upper right")


def draw_days(ax: Axes, rows: pd.DataFrame) -> None:
    """Of every person, the mean loss and the mean privacy of a day, and how much days vary."""
    own = rows[rows["against"] == "both"].sort_values("loss").reset_index()
    height = np.arange(len(own))
    for shift, mean, spread, colour, words in (
        (0.15, own["loss"], own["loss_varies"], CHOICES["filter"], "loss of a day, in budgets"),
        (-0.15, own["loss"] * 0 + 1, own["privacy_varies"], CHOICES["log"], "privacy of a day, over its mean"),
    ):
        ax.hlines(height + shift, mean - spread, mean + spread, color=colour, linewidth=3, alpha=0.6)
        ax.scatter(mean, height + shift, color=colour, s=28, zorder=3, label=words)
    ax.axvline(1, color=PALE, linewidth=1, zorder=0)
    ax.set_yticks(
        height, [f"{person}, {places} places" for person, places in zip(own["person"], own["places"], strict=True)]
    )
    ax.set(xlim=(0, 2), title="How much days vary (one standard deviation)")
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0, -0.06), ncols=2)


def draw() -> None:
    """Ten synthetic people, squared loss, 20 % of the saturating budget."""
    rows = pd.read_csv(FOLDER / "windows.csv")
    own = rows[
        (rows["people"] == "synthetic") & (rows["quality"] == "squared") & (rows["share"] == "20%") & rows["cap"].isna()
    ]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    draw_choice(axes[0], own)
    draw_days(axes[1], own)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(FOLDER / "window.png", dpi=130)


if __name__ == "__main__":
    draw()
