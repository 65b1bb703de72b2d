"""What the command line shows: tables, bars, JSON; results on the standard output, all else on the other one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from hideseek.adversary.label import Label
from hideseek.util.harmless import visible

MINUTE = 60
out = Console()
err = Console(stderr=True)


def harmless(*parts: str | tuple[str, str]) -> Text:
    """Words in which nothing is markup or a command to the terminal; a part may have a style."""
    pairs = (part if isinstance(part, tuple) else (part, "") for part in parts)
    return Text.assemble(*((visible(words), style) for words, style in pairs))


def say(*parts: str | tuple[str, str]) -> None:
    """A result in words."""
    put(out, harmless(*parts))


def note(*parts: str | tuple[str, str]) -> None:
    """What is no result: on the other stream."""
    put(err, harmless(*parts))


def put(console: Console, words: Text) -> None:
    """One line, which is broken for people only."""
    console.print(words, soft_wrap=not console.is_terminal)


class WordsColumn(ProgressColumn):
    """What is being done."""

    def render(self, task: Task) -> Text:
        """In words."""
        return harmless(task.description)


BAR = (SpinnerColumn(), WordsColumn(), BarColumn(), TimeElapsedColumn())


@contextmanager
def counting_bar(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar that is told what is being done, how much is done and how much there is."""
    columns = (
        SpinnerColumn(),
        WordsColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda news, done, count: bar.update(task, description=f"{what}: {news}", completed=done, total=count)


class RateColumn(ProgressColumn):
    """How much gets done in a minute."""

    def render(self, task: Task) -> Text:
        """In words."""
        return Text("" if task.speed is None else f"{60 * task.speed:.1f} a minute")


class Log:
    """Says how far something is, at most once a minute."""

    def __init__(self, what: str) -> None:
        self.what, self.told = what, time.monotonic()

    def __call__(self, news: str, done: int, count: int) -> None:
        """This much is done, of so much (0: not known)."""
        if time.monotonic() >= self.told + MINUTE:
            self.told = time.monotonic()
            note(f"{self.what}: {news} {done}{f' of {count}' * bool(count)}")


@contextmanager
def rate_bar(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """As :func:`counting_bar`, for long work: with the rate and the time left, both counted anew for other work.

    Where nobody watches, as in a log, it is a line a minute.
    """
    if not err.is_terminal:
        yield Log(what)
        return
    columns = (*BAR[:-1], MofNCompleteColumn(), RateColumn(), TimeRemainingColumn(elapsed_when_finished=True))
    # a user may take minutes, and rich forgets after half of one by default
    with Progress(*columns, console=err, transient=True, speed_estimate_period=3600) as bar:
        task = bar.add_task(what, total=None)

        def advance(news: str, done: int, count: int) -> None:
            description = f"{what}: {news}"
            if bar.tasks[0].description != description:
                bar.reset(task, description=description, completed=done, total=count or None)
            bar.update(task, completed=done, total=count or None)

        yield advance


@contextmanager
def progress_bar(what: str, steps: int | None = None) -> Iterator[Callable[[str], None]]:
    """A bar (or a spinner, where the number of steps is not known) that goes away when the work is done."""
    with Progress(*BAR, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=steps)

        def tell(news: str) -> None:
            bar.update(task, description=f"{what}: {news}", advance=1 if steps else 0)

        yield tell


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> None:
    """A table on the terminal, whose first columns hold words and the others numbers."""
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
    from hideseek.experiments.report import label_table

    table = label_table(label, unit)
    print_table(f"On average over {label.accesses} accesses", table.header, table.rows)
