"""Which stage is used when: followed access by access, whatever is missed."""

from __future__ import annotations

import pytest

from hideseek import design
from hideseek.designing.stage_layout import StageLayout
from hideseek.metrics import hamming
from tests.support.designs import PAIR, SCENARIOS
from tests.support.saved_codebooks import with_gaps


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_stage_remembers_only_what_was_exposed_before_it(name):
    layout = StageLayout.of(SCENARIOS[name], first_stages=3)
    follow(layout, 0, set())
    follow(layout, layout.repeating, set(range(-99, 0)))


@pytest.mark.parametrize("name", ["past", "transition", "long-past", "in-between"])
def test_a_stage_after_a_gap_remembers_only_the_access_before_it(name):
    codebook = with_gaps(name)
    layout = StageLayout.from_stages(codebook.stages, codebook.gaps)
    for gap, number in enumerate(layout.gaps, start=2):
        follow(layout, number, {offset - gap * layout.scenario.every for offset in layout.scenario.release})


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
    codebook = design(PAIR, scenario, **options, first_stages=2)
    layout = StageLayout.of(scenario, first_stages=2)
    assert StageLayout.from_stages(codebook.stages, codebook.gaps) == layout
    assert (layout.repeating, layout.gaps, layout.recovering) == (2, (), 0)
    assert [layout.occasion(number) for number in range(3)] == ["access 1", "access 2", "from access 3 on"]
