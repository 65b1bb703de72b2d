"""Scenarios: the paper's cases, and offsets that make no sense."""

from __future__ import annotations

import pytest

from hideseek import ParameterError, Scenario


def test_the_paper_s_cases():
    assert Scenario.sporadic() == Scenario(target=(0,), seen=(), release=(0,), quality=(0,), known=(0,))
    location = Scenario.past_present(2)
    assert (location.target, location.seen, location.release, location.known) == ((0,), (-2, -1), (0,), (0,))
    whole = Scenario.past_present(2, protect="way")
    assert (whole.target, whole.seen, whole.known) == ((-2, -1, 0), (-2, -1), (-2, -1, 0))
    planned, unknown = Scenario.present_future(planned=True), Scenario.present_future()
    assert planned.target == planned.release == planned.known == unknown.release == (0, 1)
    assert (planned.causal, unknown.causal) == (False, True)
    between = Scenario.in_between(2)
    assert (between.target, between.seen, between.release) == ((-2, -1, 0), (-2,), (0,))


def test_known_defaults_to_target_and_quality_to_release():
    scenario = Scenario(target=(-1, 0, 1), release=(0, 2))
    assert scenario.known == (-1, 0, 1)
    assert scenario.quality == (0, 2)


def test_offsets_cover_everything_that_matters():
    scenario = Scenario(target=(3,), seen=(-2,), release=(0,), quality=(1,), known=(-5, 0))
    assert scenario.offsets == (-5, -2, 0, 1, 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"target": ()}, "'target' parameter of Scenario must be at least one offset"),
        ({"target": (0, 0)}, "in increasing order, none twice"),
        ({"target": (1, 0)}, "in increasing order, none twice"),
        ({"target": (0.5,)}, r"a sequence \(each an integer\)"),
        ({"target": (True,)}, r"a sequence \(each an integer\)"),
        ({"target": 0}, r"a sequence \(each an integer\)"),
        ({"target": (0,), "seen": (0,)}, "offsets < 0"),
        ({"target": (0,), "release": (-1, 0)}, "offsets >= 0"),
        ({"target": (0,), "release": ()}, "at least one offset"),
    ],
)
def test_bad_offsets_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        Scenario(**options)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Scenario.past_present(-1),
        lambda: Scenario.past_present(1.5),
        lambda: Scenario.past_present(1, protect="home"),
        lambda: Scenario.present_future(planned="guessed"),
        lambda: Scenario.in_between(0),
    ],
)
def test_bad_words_are_refused(make):
    with pytest.raises(ParameterError, match=r"must be .* Got"):
        make()
