"""How far long work is: it calls a function, and :func:`bar` shows that in a terminal, a notebook or a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

from hideseek.util.harmless import visible

Advance = Callable[[str, int, int], None]  # what is being done, how much is done, and of how much (0: not known)
MINUTE = 60
REFRESH = 0.1  # seconds between two pictures of a bar in a notebook


def tell_bounds(progress: Advance | None, rounds: int, lower: float, upper: float) -> None:
    """Say, where somebody listens, what a value lies between after so many rounds; nobody knows how many are left.

    >>> tell_bounds(print, 7, 0.123, 0.124)
    0.123 to 0.124, round 7 0
    """
    if progress is not None:
        progress(f"{lower:.6g} to {upper:.6g}, round", rounds, 0)


@contextmanager
def bar(description: str) -> Iterator[Advance]:
    """Show how far long work is, until it is done.

    A bar in a terminal (on the standard error), one in a Jupyter notebook, and at most one line per minute where
    nobody watches, as in a log.

    Parameters
    ----------
    description : str
        What the work is, such as ``"designing"``.

    Yields
    ------
    callable
        Takes what is being done, how much is done, and of how much (0 where that is not known). Functions of hideseek
        that take long accept it as ``progress``.

    Examples
    --------
    >>> with bar("counting") as advance:
    ...     for number in range(3):
    ...         advance("numbers", number + 1, 3)
    """
    if in_notebook():
        with notebook_bar(description) as advance:
            yield advance
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with terminal_bar(description, console) as advance:
            yield advance
    else:
        yield Log(description)


@dataclass
class Pace:
    """How fast work goes; measured again from the start when other work begins."""

    count: int = -1
    first: int = 0
    start: float = 0.0

    def words(self, done: int, count: int) -> str:
        """How much is done, how fast, and how long the rest will take.

        >>> Pace().words(2, 8), Pace().words(0, 0)
        ('2 of 8', '')
        """
        now = time.monotonic()
        if count != self.count or done < self.first:
            self.count, self.first, self.start = count, done, now
        if not count:
            return f"{done}" if done else ""
        told, passed = f"{done} of {count}", now - self.start
        if self.first < done < count and passed > 0:
            rate = (done - self.first) / passed
            left = round((count - done) / rate)
            told += f", {MINUTE * rate:.1f} per minute, {left // MINUTE}:{left % MINUTE:02} left"
        return told


@contextmanager
def terminal_bar(description: str, console: Any) -> Iterator[Advance]:
    """A bar of rich, which goes away when the work is done."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), text, BarColumn(bar_width=24), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task, pace = shown.add_task(visible(description), total=None), Pace()

        def advance(news: str, done: int, count: int) -> None:
            words = visible(f"{description}: {news} {pace.words(done, count)}".rstrip())
            shown.update(task, description=words, completed=done, total=count or None)

        yield advance


@contextmanager
def notebook_bar(description: str) -> Iterator[Advance]:
    """A bar of plain HTML, which needs no widgets; the last picture stays."""
    from IPython.display import HTML, display

    handle, pace, drawn = display(HTML(bar_html(description, 0, 0)), display_id=True), Pace(), 0.0

    def advance(news: str, done: int, count: int) -> None:
        nonlocal drawn
        words = f"{description}: {news} {pace.words(done, count)}".rstrip()
        if done == count or time.monotonic() >= drawn + REFRESH:
            drawn = time.monotonic()
            handle.update(HTML(bar_html(words, done, count)))

    yield advance


def bar_html(words: str, done: int, count: int) -> str:
    """One picture of a bar; without an end where none is known.

    >>> bar_html("users 1 of 2", 1, 2)
    '<div><progress value="1" max="2"></progress> users 1 of 2</div>'
    """
    far = f' value="{done}" max="{count}"' if count else ""
    return f"<div><progress{far}></progress> {escape(visible(words))}</div>"


class Log:
    """Says how far work is, at most once per minute."""

    def __init__(self, description: str) -> None:
        self.description, self.told, self.pace = description, time.monotonic(), Pace()

    def __call__(self, news: str, done: int, count: int) -> None:
        """Hear how far it is."""
        words = self.pace.words(done, count)
        if time.monotonic() >= self.told + MINUTE:
            self.told = time.monotonic()
            print(visible(f"{self.description}: {news} {words}".rstrip()), file=sys.stderr, flush=True)  # noqa: T201


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel; IPython is not imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None
