"""How long work will take, roughly, said before it starts or as soon as it can be known."""

from __future__ import annotations

import time

from hideseek.cli.terminal import tell_expected
from hideseek.util.progress import Advance

LONG = 30  # seconds from which it is worth a word
# seconds on one idle core, with one release remembered: a design took 3.1 s for a walker of 25 places, 6.8 s for one
# person of 18, and 10 s to two minutes for cabs of 70 to 105; a comparison is meant to take a minute at 30 places
DESIGN, COMPARISON = 3.0, 50.0


def design_seconds(places: int, memory: int) -> float:
    """How long a design that protects a place takes.

    >>> design_seconds(25, memory=1), design_seconds(50, memory=2)
    (3.0, 600.0)
    """
    return DESIGN * (places / 25) ** 2 * float(places) ** max(memory - 1, 0)


def comparison_seconds(places: int, accesses: int, walks: int) -> float:
    """How long a comparison takes.

    >>> comparison_seconds(60, accesses=50, walks=200)
    400.0
    """
    return COMPARISON * (places / 30) ** 3 * max(1.0, accesses * walks / 10_000)


def tell_if_long(seconds: float) -> None:
    """Say how long something will take, unless it is soon done."""
    if seconds >= LONG:
        tell_expected(seconds)


class Telling:
    """Passes on how far work is, and says once how long the rest will take, when the pace is known."""

    def __init__(self, advance: Advance, what: str) -> None:
        self.advance, self.what, self.told = advance, what, False
        self.first, self.start = -1, 0.0

    def __call__(self, news: str, done: int, count: int) -> None:
        """Hear how far it is."""
        self.advance(news, done, count)
        if news != self.what or self.told:
            return
        now = time.monotonic()
        if self.first < 0:
            self.first, self.start = done, now
        elif done > self.first:
            self.told = True
            tell_if_long((now - self.start) / (done - self.first) * (count - done))
