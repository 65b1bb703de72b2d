"""Options and arguments that several commands share, with their help; those about traces are in ``reading``.

Their meaning is in :mod:`hideseek.cli.inputs`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from hideseek.util.choices import Against, MetricName, Protect

PROTECT = "What to protect: place (where you are at this access), next (this place and the next one)"
METRICS = "hamming (whether places differ), euclid (in metres), squared (in root mean square metres)"
BUDGET = (
    "a displacement such as 500m or 2km (root mean square under squared, mean under euclid), a number such as 0.3 "
    "under hamming, or a percentage of the saturating budget, at which releases reveal nothing"
)
TOGETHER = "Privacy is that of these places together, in metres their sum"
TRACES = "Traces: a file, a folder or an archive"
NUMBER = partial(typer.Option, metavar="NUMBER")
MEMORY, EVERY = 1, 2  # releases, steps: where nothing is said


class Command(TyperCommand):
    """A command whose help tells no types: flags take no value, arguments have a name and options a word for theirs."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, that of the help too."""
        return without_type(super().get_params(ctx))


class Group(TyperGroup):
    """The same for the command line as a whole."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All parameters, that of the help too."""
        return without_type(super().get_params(ctx))


def without_type(parameters: list[Any]) -> list[Any]:
    """Parameters, of which flags and arguments have no type to be shown."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
        if one.param_type_name == "argument":
            one.display_type_rich = lambda *_, **__: None  # only this keeps typer from writing DATA <str>
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
DataOrCity = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help=f"{TRACES}; or a profile made by learn. With --users, a synthetic city if not given.",
        show_default=False,
    ),
]

OneAccess = Annotated[
    Protect,  # all of them, so that the error can say which command knows the others
    typer.Option(
        "--protect", metavar=f"<{Protect.PLACE}|{Protect.NEXT}>", help=f"{PROTECT}. {TOGETHER}, and so is the budget."
    ),
]
ThroughTime = Annotated[
    Protect,
    typer.Option(
        "--protect",
        help=f"{PROTECT}, way (this place and those of the remembered accesses), between (also the places between two "
        f"accesses). {TOGETHER}; under next, design takes the budget so too.",
    ),
]
Planned = Annotated[
    bool, typer.Option("--planned", help="The route is known in advance, with --protect next.", show_default=False)
]
Budget = Annotated[str, typer.Option(metavar="AMOUNT", help=f"Expected loss allowed: {BUDGET}.")]
OF_WINDOW = typer.Option(
    "--over",
    metavar="LENGTH",
    help="Over how long the budget holds on average: access (at every access), or a length of time such as 1day, whose "
    "accesses may save up for each other.",
)
Over = Annotated[str, OF_WINDOW]
OverIfPlaybooks = Annotated[str | None, OF_WINDOW]
Cap = Annotated[float | None, NUMBER(help="The most budgets that an access may lose, with --over 1day or so.")]
OfPlaybooks = Annotated[
    Against | None,
    typer.Option(
        "--against",
        metavar=f"<{Against.FILTER}|{Against.LOG}|{Against.BOTH}>",
        help="The adversary, with --over 1day or so: filter guesses a place at its access, log when all has been "
        "released; both if not given.",
        show_default=False,
    ),
]
Every = Annotated[
    int | None,
    NUMBER(help=f"Time steps from one access to the next, with --protect between; {EVERY} if not given."),
]
Memory = Annotated[
    int | None,
    NUMBER(
        help="Make a codebook for an adversary who remembers so many releases, with --protect place or way; "
        f"{MEMORY} if not given with way."
    ),
]
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
Walks = Annotated[int, NUMBER(help="Walks to simulate where there are too many sequences to enumerate.")]
Run = Annotated[int, NUMBER(help="Length of the run, in accesses.")]
Workers = Annotated[int | None, NUMBER(help="Processes to work in; one per core if not given.")]
Report = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the report.")]
