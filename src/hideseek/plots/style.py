"""How all figures look, and how they are written to files. Colours are safe for all eyes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hideseek.util.private_files import write_privately

ORANGE = "#d55e00"
DARK = "#1b1f24"
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
PAPER: Any = STYLE | {"axes.titlesize": 10, "legend.fontsize": 8.5, "pdf.fonttype": 42}
MARKS = ("o", "s", "^", "D")


def new_axes(width: float = 6.4, height: float = 4.2) -> Axes:
    """Axes of a new figure, which a notebook shows."""
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PDF and as PNG, readable by the owner only; the path is without a suffix."""
    paths = []
    for suffix, options in (("pdf", {"metadata": {"CreationDate": None}}), ("png", {"dpi": 200})):
        paths.append(path.with_name(f"{path.name}.{suffix}"))
        save_as(figure, paths[-1], **options)
    return paths


def save_as(figure: Figure, path: Path, **options: Any) -> None:
    """Write a figure in the format that the path ends in, readable by the owner only."""
    stream = io.BytesIO()
    figure.savefig(stream, format=path.suffix[1:].lower(), **options)
    write_privately(path, stream.getvalue())
