"""How long work will take, roughly, said before it starts or as soon as it can be known."""

from __future__ import annotations

import time

from hideseek.cli.terminal import tell_expected
from hideseek.model.scenario import Scenario
from hideseek.util.progress import Advance

LONG = 30  # seconds from which it is worth a word
# seconds on one idle core, with one release remembered: a design took 3.1 s for a walker of 25 places, 6.8 s for one
# person of 18, and 10 s to two minutes for cabs of 70 to 105; a comparison at 30 places took 134 s, shared by two
# cores, of which the live planner, the playbook and the far-sighted codebook took 50
# a playbook of a cab with 25 places took 10 to 30 s, with its plan and what it reaches
DESIGN, COMPARISON, PLAYBOOK = 3.0, 70.0, 25.0
# each place more on the way takes four times as long (5 s for 16 places), steps between accesses far longer (27 s for
# 16, up to three minutes for 20); two places drawn one after the other took 1.2 s for 11, 4.6 s for 16 and 8 s for 20
ON_THE_WAY, BETWEEN, IN_TURN = 4.0, 250.0, 15.0


def design_seconds(places: int, scenario: Scenario) -> float:
    """How long a design takes.

    >>> design_seconds(25, Scenario.past_present(1)), design_seconds(50, Scenario.past_present(2))
    (3.0, 600.0)
    >>> design_seconds(25, Scenario.past_present(1, protect="way")), design_seconds(25, Scenario.in_between(2))
    (12.0, 250.0)
    >>> design_seconds(25, Scenario.present_future()), design_seconds(25, Scenario.present_future(planned=True))
    (15.0, 3.0)
    """
    size, remembered = places / 25, len(scenario.seen)
    if len(scenario.release) > 1:
        alone = IN_TURN * size**3 if scenario.causal else DESIGN * size**2
    elif scenario.every > 1:
        alone = BETWEEN * size**4 * float(places) ** (scenario.every - 2)
    else:
        alone = DESIGN * size**2 * float(places) ** max(remembered - 1, 0) * ON_THE_WAY ** (len(scenario.target) - 1)
    return alone


def playbook_seconds(states: int) -> float:
    """How long a playbook takes, with its plan and its label.

    >>> playbook_seconds(25), playbook_seconds(50)
    (25.0, 200.0)
    """
    return PLAYBOOK * (states / 25) ** 3


def comparison_seconds(places: int, accesses: int, walks: int) -> float:
    """How long a comparison takes.

    >>> comparison_seconds(60, accesses=50, walks=200)
    560.0
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
