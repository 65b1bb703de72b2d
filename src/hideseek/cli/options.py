"""Options that several commands share, with their help; their meaning is in :mod:`hideseek.cli.inputs`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hideseek.util.choices import MetricName


class Protect(StrEnum):
    """What to protect."""

    PLACE = "place"
    NEXT = "next"
    PLANNED = "planned"
    TRAJECTORY = "trajectory"
    BETWEEN = "between"


GRID, STEP = "10x25", "5min"
PROTECT = (
    "What to protect: place (where you are at this access), next (this place and the next one), planned (the same, on "
    "a route that is known in advance)"
)
METRICS = "hamming (whether places differ), euclid (in metres), squared (in root mean square metres)"
BUDGET = (
    "a displacement such as 500m or 2km (root mean square under squared, mean under euclid), a number such as 0.3 "
    "under hamming, or a percentage of the saturating budget, at which releases reveal nothing"
)

OneAccess = Annotated[Protect, typer.Option("--protect", help=f"{PROTECT}. The others need design or plan.")]
ThroughTime = Annotated[
    Protect,
    typer.Option(
        "--protect",
        help=f"{PROTECT}, trajectory (this place and those of the remembered accesses), between (also the places "
        "between two accesses).",
    ),
]
Budget = Annotated[str, typer.Option(help=f"Expected loss allowed per access: {BUDGET}.")]
Every = Annotated[int, typer.Option(help="Steps from one access to the next, with --protect between.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="Traces (a file, a folder, an archive), or a profile made by learn.")
]
CodebookFile = Annotated[Path, typer.Argument(metavar="CODEBOOK", help="A codebook made by design.")]
User = Annotated[str | None, typer.Option(help="Whose traces; by default the user with the most fixes.")]
GridSize = Annotated[str | None, typer.Option("--grid", help=f"ROWSxCOLUMNS around the traces; {GRID} if not given.")]
Step = Annotated[str | None, typer.Option(help=f"Length of a time step; {STEP} if not given.")]
Box = Annotated[
    str | None, typer.Option(help="SOUTH,NORTH,WEST,EAST of the grid, in degrees; the Bay area if not given.")
]
Privacy = Annotated[MetricName, typer.Option("--privacy", help=f"How the adversary's error is measured: {METRICS}.")]
Quality = Annotated[MetricName, typer.Option("--quality", help=f"How the loss of quality is measured: {METRICS}.")]
Workers = Annotated[int | None, typer.Option(help="Processes; by default one per core.")]
Report = Annotated[Path, typer.Option("--out", help="Folder for the report.")]
