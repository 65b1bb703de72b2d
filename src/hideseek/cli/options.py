"""Options and arguments that several commands share, with their help; those about traces are in ``reading``.

Their meaning is in :mod:`hideseek.cli.inputs`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hideseek.util.choices import MetricName, Protect

PROTECT = "What to protect: place (where you are at this access), next (this place and the next one)"
METRICS = "hamming (whether places differ), euclid (in metres), squared (in root mean square metres)"
BUDGET = (
    "a displacement such as 500m or 2km (root mean square under squared, mean under euclid), a number such as 0.3 "
    "under hamming, or a percentage of the saturating budget, at which releases reveal nothing"
)
TRACES = "Traces: a file, a folder or an archive"


class Command(TyperCommand):
    """A command in whose help flags have no type: they take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, that of the help too."""
        return without_type(super().get_params(ctx))


class Group(TyperGroup):
    """The same for the command line as a whole."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, that of the help too."""
        return without_type(super().get_params(ctx))


def without_type(parameters: list[Any]) -> list[Any]:
    """Parameters, of which flags have no type to be shown."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return parameters


class Commands(typer.Typer):
    """Some of the commands, in the order of the help."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Add a command, whose help is its docstring with lines as long as the terminal."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
            words = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
            return super(Commands, self).command(name, cls=Command, help=words, **settings)(function)

        return add


Data = Annotated[str, typer.Argument(metavar="DATA", help=f"{TRACES}; or a profile made by learn.")]
Traces = Annotated[str, typer.Argument(metavar="DATA", help=f"{TRACES}.")]
TracesOrCity = Annotated[
    str | None,
    typer.Argument(metavar="DATA", help=f"{TRACES}; a synthetic city if not given.", show_default=False),
]
CodebookFile = Annotated[Path, typer.Argument(metavar="CODEBOOK", help="A codebook made by design.")]

OneAccess = Annotated[Protect, typer.Option("--protect", help=f"{PROTECT}. The others need design or plan.")]
ThroughTime = Annotated[
    Protect,
    typer.Option(
        "--protect",
        help=f"{PROTECT}, way (this place and those of the remembered accesses), between (also the places between two "
        "accesses).",
    ),
]
Planned = Annotated[
    bool, typer.Option("--planned", help="The route is known in advance, with --protect next.", show_default=False)
]
Budget = Annotated[str, typer.Option(metavar="AMOUNT", help=f"Expected loss allowed per access: {BUDGET}.")]
Every = Annotated[int, typer.Option(help="Time steps from one access to the next, with --protect between.")]
Memory = Annotated[int, typer.Option(help="Releases that the adversary remembers, with --protect place and way.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
Privacy = Annotated[MetricName, typer.Option("--privacy", help=f"How the adversary's error is measured: {METRICS}.")]
Quality = Annotated[MetricName, typer.Option("--quality", help=f"How the loss of quality is measured: {METRICS}.")]
Sensitive = Annotated[
    list[str],
    typer.Option(
        show_default=False,
        metavar="NAME=LATITUDE,LONGITUDE",
        help="A place at which errors of the adversary count five times, or :WEIGHT times, within 200 m, or @RADIUS: "
        "clinic=46.52,6.63:5@200m; may be given several times.",
    ),
]
Walks = Annotated[int, typer.Option(help="Walks to simulate where there are too many sequences to enumerate.")]
Run = Annotated[int, typer.Option(help="Length of the run, in accesses.")]
Workers = Annotated[int | None, typer.Option(help="Processes; by default one per core.")]
Report = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the report.")]
