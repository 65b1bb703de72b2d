"""A playbook's device through gaps, crashes and clocks: never silent, never over budget, one answer per step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from hideseek import Device, PlaybookDevice
from hideseek.errors import StateError
from tests.support.devices import (
    OFF_THE_GRID,
    POINTS,
    Day,
    assert_no_bit_can_be_flipped,
    assert_same_work,
    book,
    resealed,
    told,
    when,
)
from tests.support.live_devices import LIVE_SCENARIOS, live
from tests.support.playbooks import book_of, garbage, playing
from tests.support.processes import assert_a_kill_changes_no_output, assert_all_expose_the_same

NIGHT = 96  # steps of five minutes


class PlaybookDay(Day):
    """Two devices on one state through anything; every new step on the map is answered, whatever was missed."""

    scenario = "now"

    def fresh(self):
        return playing(Path(self.folder.name) / "state", self.scenario)

    def asking(self, device, point):
        return device.expose(*point, at=when(self.now) + (when(1) - when(0)) / 3)

    @rule(which=st.integers(0, 1), gap=st.sampled_from([1, 2, 3, 5, NIGHT, 10**5]), point=st.sampled_from(POINTS))
    def ask_after_a_gap(self, which, gap, point):
        self.now = gap + (self.now if self.last is None else self.last)
        self.check(self.now, self.asking(self.devices[which], point))
        assert self.last == self.now

    @invariant()
    def every_answer_is_counted_and_within_the_budget(self):
        if getattr(self, "last", None) is not None:
            label = self.devices[1].label()
            assert label.accesses >= len(self.outputs)  # more where an answer was stored and not given
            assert label.withheld == 0
            assert label.worst_loss <= label.budget


class WayDay(PlaybookDay):
    """The same where the true places of before are looked at, if they were recorded."""

    scenario = "transition"


@pytest.mark.parametrize("day", [PlaybookDay, WayDay])
def test_one_answer_a_step_through_gaps_retries_crashes_and_clocks(day):
    run_state_machine_as_test(day, settings=settings(max_examples=25, stateful_step_count=25))


@pytest.mark.parametrize("name", ["now", "transition"])
def test_killed_at_any_moment_the_same_output_follows_or_none_was_given(tmp_path, name):
    book_of(name).save(tmp_path / "rule")
    assert_a_kill_changes_no_output("playbook", tmp_path)


ASK = """
import sys
from hideseek import Playbook, PlaybookDevice

device = PlaybookDevice(Playbook.load(sys.argv[1]), state=sys.argv[2])
for line in sys.stdin:
    answer = device.expose(46.5, float(sys.argv[3]), at=line.strip())
    print(answer.status, answer.place, flush=True)
"""


def test_two_processes_agree_at_every_step(tmp_path, path):
    book_of().save(tmp_path / "book")
    own = [(tmp_path / "book", path, longitude) for longitude in (6.5, 8.5)]
    assert_all_expose_the_same(ASK, own, (when(step * step) for step in range(60)))


def refuses(device, match):
    before = device.path.read_bytes()
    with pytest.raises(StateError, match=match):
        device.expose(*POINTS[0], at=when(9))
    assert device.path.read_bytes() == before


def test_a_state_of_another_playbook_a_plan_or_a_codebook_is_refused(path):
    playing(path).expose(*POINTS[0], at=when(0))
    refuses(playing(path, budget=0.4), "another playbook")
    refuses(playing(path, "transition"), "another playbook")
    refuses(live(path), "another plan")
    refuses(Device(book("past"), path), "another codebook")
    path.unlink()
    live(path).expose(*POINTS[0], at=when(0))
    refuses(playing(path), "another playbook")


@pytest.mark.parametrize(
    "change",
    [
        {"belief": [0.5, 0.25]},
        {"belief": [0.5, 0.5, 0.5]},
        {"belief": [1.5, -0.5, 0.0]},
        {"release": 3},
        {"release": None},
        {"reason": "floor"},
        {"places": {"1": 1}},
        {"run": {"accesses": 1, "withheld": 0, "privacy": 0.1, "worst_privacy": 0.1, "loss": 0.3, "worst_loss": 0.3}},
        {"run": {"accesses": 1, "withheld": 0, "privacy": 9.0, "worst_privacy": 9.0, "loss": 0.1, "worst_loss": 0.1}},
    ],
    ids=str,
)
def test_an_impossible_state_is_refused(path, change):
    device = playing(path)
    device.expose(*POINTS[0], at=when(0))
    path.write_text(resealed(json.dumps(told(path) | change)))
    refuses(device, "is damaged")


def test_no_bit_of_a_state_can_be_flipped(path):
    device = playing(path)
    device.expose(*POINTS[1], at=when(0))
    assert_no_bit_can_be_flipped(path, device.label)


@pytest.mark.parametrize("name", ["now", "transition"])
def test_the_same_is_done_wherever_one_is(tmp_path, words, name):
    words[:] = [0] * 100
    chosen = book_of(name)
    points = [*chosen.regions.centres.tolist(), *OFF_THE_GRID]  # from the first nobody goes to the third
    assert_same_work(tmp_path, lambda path: playing(path, name), points, ahead=False)


@pytest.mark.parametrize("name", LIVE_SCENARIOS)
def test_true_places_are_kept_only_while_an_access_may_look_at_them(path, name):
    device, needed = playing(path, name), -LIVE_SCENARIOS[name].known[0]
    for step in (0, 3, 6, 9, 40):
        device.expose(*POINTS[1], at=when(step))
        last = told(path)["last"]
        assert all(int(when) > last - needed for when in told(path)["places"])


def test_a_bad_playbook_answers_every_access_too(path):
    device = PlaybookDevice(garbage(book_of(), 3), state=path)
    assert all(device.expose(*POINTS[step % 3], at=when(step * step)).status == "exposed" for step in range(30))
    assert device.label().worst_loss <= 0.2
