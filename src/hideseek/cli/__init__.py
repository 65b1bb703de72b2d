"""The command line: what is done once, through time, and for many people."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import version
from typing import Annotated

import typer
from rich.markup import escape

from hideseek.cli import many, once, through_time
from hideseek.errors import HideseekError
from hideseek.terminal import err, print_json
from hideseek.traces import TraceWarning

app = typer.Typer(
    name="hideseek",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Location privacy: provably the most that you can have for the quality you need.",
    epilog="Start with: hideseek demo",
)
for part in (once, through_time, many):  # the order of the help
    app.add_typer(part.commands)


def main() -> None:
    """Run the command line; what goes wrong on purpose is told in one line, with exit status 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TraceWarning)
            warnings.showwarning = lambda message, *_, **__: err.print(f"note: {escape(str(message))}", highlight=False)
            app()
    except (HideseekError, OSError) as error:
        if "--json" in sys.argv:
            print_json({"error": type(error).__name__, "message": str(error)})
        else:
            err.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(2) from None


def tell_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(version("hideseek"))
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Location privacy: provably the most that you can have for the quality you need."""
