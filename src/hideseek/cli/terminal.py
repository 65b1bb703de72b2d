"""What the command line shows: tables, words and JSON; results on the standard output, notes on the standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from hideseek.util.harmless import visible

if TYPE_CHECKING:
    from hideseek.adversary.label import Label

out = Console()
err = Console(stderr=True)
RUNNING = ContextVar("RUNNING", default="the command")
WRITTEN: ContextVar[Mapping[str, Mapping[str, str]]] = ContextVar("WRITTEN")  # by command and parameter
RULE = re.compile(r"The '(?P<parameters>[^']+)' parameter of (?P<owner>.+?) (?=must be )")
# what functions call an option, where that is another name; with the function where the name is also that of an option
ALSO = {
    "about": "places_about", "believes": "as", "budgets": "budget", "profile": "data", "traces": "data",
    "south": "box", "north": "box", "west": "box", "east": "box", "rows": "grid", "Grid.columns": "grid",
}  # fmt: skip


def this_command() -> str:
    """The command that runs, for errors about its options."""
    return RUNNING.get()


def in_options(message: str, command: str) -> str:
    """A message about a broken rule, in which parameters have their names as options of a command.

    >>> token = WRITTEN.set({"learn": {"grid": "--grid", "places_about": "--places-about", "data": "DATA"}})
    >>> in_options("The 'grid, about' parameter of the map must be given one at a time.", "learn")
    'The options --grid, --places-about of learn must be given one at a time.'
    >>> in_options("The 'traces' parameter of MarkovProfile.fit must be long.", "learn")
    'The argument DATA of learn must be long.'
    >>> WRITTEN.reset(token)
    """
    rule = RULE.match(message)
    if rule is None:
        return message
    written, names = WRITTEN.get({}).get(command, {}), []
    for name in re.split(", | and ", rule["parameters"]):
        meant = ALSO.get(f"{rule['owner']}.{name}") or (name if name in written else ALSO.get(name, name))
        names.append(name if name.startswith("--") else written.get(meant, ""))
    if not all(names):  # what a command has no option for
        return f"The '{rule['parameters']}' parameter of {command} {message[rule.end() :]}"
    names = list(dict.fromkeys(names))
    kind = "option" if names[0].startswith("--") else "argument"
    return f"The {kind}{'s' * (len(names) > 1)} {', '.join(names)} of {command} {message[rule.end() :]}"


def harmless(*parts: str | tuple[str, str]) -> Text:
    """Words in which nothing is markup or a command to the terminal; a part may have a style."""
    pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
    return Text.assemble(*((visible(words), style) for words, style in pairs))


def say(*parts: str | tuple[str, str]) -> None:
    """A result in words."""
    put(out, harmless(*parts))


def note(*parts: str | tuple[str, str]) -> None:
    """A remark that is not a result: on the standard error."""
    put(err, harmless(*parts))


def put(console: Console, words: Text) -> None:
    """One line, which is broken for people only."""
    console.print(words, soft_wrap=not console.is_terminal)


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> None:
    """A table on the terminal, whose first columns hold words and the others numbers."""
    from rich.table import Table

    table = Table(title=harmless(title), title_justify="left", show_header=any(header))
    for k, name in enumerate(header):
        table.add_column(harmless(name), justify="left" if k < words else "right")
    for row in rows:
        table.add_row(*map(harmless, row))
    out.print(table)


def print_json(facts: object) -> None:
    """One JSON object on the standard output, in ASCII."""
    typer.echo(
        json.dumps(facts, indent=2).replace("\x7f", "\\u007f")
    )  # the one control character that JSON lets through


def print_label(label: Label, unit: str) -> None:
    """A label on the terminal."""
    from hideseek.experiments.wording import label_table

    table = label_table(label, unit)
    print_table(f"On average over {label.accesses} accesses", table.header, table.rows)


def tell_expected(seconds: float) -> None:
    """Say how long something will take, so that the user can decide whether to wait."""
    minutes = round(seconds / 60)
    words = f"about {minutes} minutes" if minutes > 1 else "about a minute" if seconds > 30 else "less than a minute"
    note(f"note: {words}, if the machine is idle")
