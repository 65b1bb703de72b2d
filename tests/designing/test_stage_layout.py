"""Which stage is used when: followed access by access, whatever is missed."""

from __future__ import annotations

import pytest

from hideseek import design
from hideseek.designing.stage_layout import StageLayout
from hideseek.metrics import hamming
from tests.support.designs import PAIR, SCENARIOS


@pytest.mark.parametrize("gaps", [1, 2, 4])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_stage_remembers_only_what_was_exposed_before_it(name, gaps):
    scenario = SCENARIOS[name]
    layout = StageLayout.of(scenario, first_stages=3, gaps=gaps)
    starts = [(0, set()), *((layout.repeating, set(range(-99, 0))),)]
    for number, exposed in starts:
        follow(layout, number, exposed)
    for gap, number in enumerate(layout.gaps, start=2):
        last = {offset - gap * scenario.every for offset in scenario.release}
        follow(layout, number, last)


def follow(layout, number, exposed):
    """Go from a stage to the one that repeats, with what was exposed so far by offset from the access."""
    every, release = layout.scenario.every, layout.scenario.release
    for _ in range(len(layout.then) + 1):
        assert set(layout.scenarios[number].seen) <= exposed
        exposed = {offset - every for offset in (*exposed, *release)}
        number = layout.then[number]
    assert number == layout.repeating


def test_the_layout_of_a_codebook_is_the_one_it_was_designed_with():
    scenario = SCENARIOS["location, two seen"]
    options = {"privacy": hamming(), "quality": hamming(), "budget": 0.1}
    codebook = design(PAIR, scenario, **options, first_stages=2, gaps=3)
    layout = StageLayout.of(scenario, first_stages=2, gaps=3)
    assert StageLayout.from_stages(codebook.stages, codebook.gaps) == layout
    assert (layout.repeating, layout.gaps, layout.recovering) == (2, (3, 4), 1)
    told = ["access 1", "access 2", "from access 3 on", *["after a gap"] * 3]
    assert [layout.occasion(number) for number in range(6)] == told
