"""The command line: commands for one access, through time, and for many people. May import everything.

Only what help needs is imported here; a command imports the rest when it runs.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from typing import Annotated, Any, cast

import typer

from hideseek.cli import made_files, maps, protecting, through_time
from hideseek.cli import many_people as many
from hideseek.cli import one_access as once
from hideseek.cli.options import Group
from hideseek.cli.terminal import RUNNING, WRITTEN, in_options, note, print_json, this_command
from hideseek.errors import HideseekError, TraceWarning
from hideseek.util.threads import use_one_thread

UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])  # typer gives it no public name

STATUS = {
    0: "done",
    1: "nobody in a fleet could be protected",
    2: "wrong input, or a file that cannot be used or written",
    3: "nothing may be exposed now",
    130: "interrupted",
}
WRONG = 2

app = typer.Typer(
    name="hideseek",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Location privacy: provably the most you can have for the quality of service you need.",
    epilog="Start with: hideseek demo\n\n"
    f"Exit status: {'; '.join(f'{status} {meaning}' for status, meaning in STATUS.items())}.",
)
for part in (protecting, once, through_time, made_files, maps, many):  # the order of the help
    app.add_typer(part.commands)


def main() -> None:
    """Run the command line; an error that we raise on purpose is shown in one line, with exit status 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what a terminal cannot show is spelled out
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # to be ended is to be interrupted
    use_one_thread()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TraceWarning)
            warnings.showwarning = lambda message, *_, **__: note(f"note: {message}")
            status = app(standalone_mode=False)
        sys.stdout.flush()  # so that a full one is told, whether Python buffers or not
    except (HideseekError, OSError) as error:
        status = failed(error, in_options(str(error), this_command()))
    except UsageError as error:  # without a message, the help was shown instead
        message, where = error.format_message(), error.ctx.command_path if error.ctx else "hideseek"
        status = failed(error, f"{message} See {where} --help.") if message else WRONG
    raise SystemExit(status)


def failed(error: Exception, message: str) -> int:
    """Show what went wrong, and return the exit status."""
    try:
        if "--json" in sys.argv:
            print_json({"error": type(error).__name__, "message": message})
        sys.stdout.flush()
    except OSError:  # the standard output is full, and Python would try to write what is left at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    else:
        if "--json" in sys.argv:
            return WRONG
    note(("error:", "bold red"), f" {message}")
    return WRONG


def tell_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        from importlib.metadata import version

        typer.echo(version("hideseek"))
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Location privacy: provably the most you can have for the quality of service you need."""
    if context.invoked_subcommand is not None:
        RUNNING.set(context.invoked_subcommand)
        commands = cast("Any", context.command).commands
        WRITTEN.set({name: written_names(command.params) for name, command in commands.items()})


def written_names(parameters: Iterable[Any]) -> dict[str, str]:
    """How options and arguments are written, by the names of the parameters and by their own."""
    pairs = [(one.name, one.metavar if one.param_type_name == "argument" else one.opts[0]) for one in parameters]
    return dict(pairs) | {written.removeprefix("--").replace("-", "_"): written for _, written in pairs}
