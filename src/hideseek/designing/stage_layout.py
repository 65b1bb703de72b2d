"""Which stage of a codebook is used at which access, after which gap, and what it remembers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hideseek.codebook.stage import Stage
from hideseek.model.scenario import Scenario, since_start


@dataclass(frozen=True)
class StageLayout:
    """The stages of a codebook by number, without their tables.

    Stages 0, 1, ... are for the first accesses, until one repeats. ``scenarios[n]`` has the offsets of stage n, those
    it remembers included, and ``then[n]`` is the stage that follows it when no access is missed. Files of hideseek
    0.2.0 may have more: ``gaps`` holds the stage for a gap of 2, 3, ... accesses since the last one, that is for 1, 2,
    ... missed accesses; the stages that are left lead from there back to the one that repeats.

    >>> layout = StageLayout.of(Scenario.past_present(2), first_stages=2)
    >>> layout.then, layout.repeating, layout.gaps
    ((1, 2, 2), 2, ())
    >>> [scenario.seen for scenario in layout.scenarios]
    [(), (-1,), (-2, -1)]
    """

    scenarios: tuple[Scenario, ...]
    then: tuple[int, ...]
    gaps: tuple[int, ...]

    @classmethod
    def of(cls, scenario: Scenario, first_stages: int) -> StageLayout:
        """The stages of a design with so many first ones."""
        scenarios = tuple(since_start(scenario, accesses) for accesses in range(first_stages + 1))
        return cls(scenarios, tuple(min(number + 1, first_stages) for number in range(len(scenarios))), ())

    @classmethod
    def from_stages(cls, stages: Sequence[Stage], gaps: tuple[int, ...]) -> StageLayout:
        """The layout of stages that are made."""
        return cls(tuple(stage.scenario for stage in stages), tuple(stage.then for stage in stages), gaps)

    @property
    def repeating(self) -> int:
        """The number of the stage that repeats."""
        return next(number for number, then in enumerate(self.then) if then == number)

    @property
    def scenario(self) -> Scenario:
        """The scenario of the stage that repeats, which is that of the codebook."""
        return self.scenarios[self.repeating]

    @property
    def recovering(self) -> int:
        """How many stages lie between that of a gap and the one that repeats."""
        return len(self.scenarios) - self.repeating - 1 - len(self.gaps)

    def occasion(self, number: int) -> str:
        """When a stage is used, for a progress bar."""
        if number < self.repeating:
            return f"access {number + 1}"
        return f"from access {number + 1} on"
