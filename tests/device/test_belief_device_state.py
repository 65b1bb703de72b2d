"""The state of what follows a belief: one answer per step through anything, public but for true places, and sealed."""

from __future__ import annotations

import json
import logging
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from hideseek import (
    Device,
    HideseekError,
    save_plan,
)
from hideseek.device import Answer
from hideseek.errors import StateError
from tests.support.devices import (
    GRID,
    OFF_THE_GRID,
    POINTS,
    Day,
    assert_no_bit_can_be_flipped,
    assert_same_work,
    assert_state_is_refused,
    book,
    resealed,
    told,
    when,
)
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    game_of,
    live,
    planned,
)
from tests.support.playbooks import book_of, playing
from tests.support.processes import assert_all_expose_the_same

# ---------------------------------------------------------------------------------------------- one output, one step

NIGHT = 96  # steps of five minutes


class BeliefDay(Day):
    """Two devices on one state through anything; every new step on the map is answered, whatever was missed."""

    made, scenario = staticmethod(live), "now"

    def fresh(self):
        return self.made(Path(self.folder.name) / "state", self.scenario)

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


class PlaybookDay(BeliefDay):
    """The same with a playbook."""

    made = staticmethod(playing)


class WayDay(PlaybookDay):
    """The same where the true places of before are looked at, if they were recorded."""

    scenario = "transition"


@pytest.mark.parametrize("day", [BeliefDay, PlaybookDay, WayDay])
def test_one_answer_a_step_through_gaps_retries_crashes_and_clocks(day):
    run_state_machine_as_test(day, settings=settings(max_examples=25, stateful_step_count=25))


ASK = """
import sys
from functools import partial
from hideseek import LiveDevice, Playbook, PlaybookDevice, load_plan

kind, rule, state, longitude = sys.argv[1:]
opened = partial(LiveDevice, *load_plan(rule)) if kind == "live" else partial(PlaybookDevice, Playbook.load(rule))
device = opened(state=state)
for line in sys.stdin:
    answer = device.expose(46.5, float(longitude), at=line.strip())
    print(answer.status, answer.place, flush=True)
"""


@pytest.mark.parametrize("kind", ["live", "playbook"])
def test_two_processes_agree_at_every_step(tmp_path, path, kind):
    file = tmp_path / "rule"
    if kind == "live":
        save_plan(game_of(), planned("now"), path=file)
    else:
        book_of().save(file)
    own = [(kind, file, path, longitude) for longitude in (6.5, 8.5)]
    assert_all_expose_the_same(ASK, own, (when(step * step) for step in range(60)))


# ------------------------------------------------------------------------------------------------------------ the state


def test_the_state_holds_what_is_needed_and_is_for_its_owner_only(fresh, path):
    before = os.umask(0)
    try:
        fresh(path, "transition").expose(*POINTS[1], at=when(0))
    finally:
        os.umask(before)
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {"state.json": 0o600}
    state = told(path)
    assert set(state) == {"seal", "hideseek_state", "sha256", "last", "release", "reason", "belief", "places", "run"}
    assert set(state["run"]) == {"accesses", "withheld", "privacy", "worst_privacy", "loss", "worst_loss"}


@pytest.fixture
def used(fresh, path):
    """A state with everything in it."""
    device = fresh(path, "long way")
    for step in range(3):
        device.expose(*POINTS[1], at=when(step))
    return device


def within(document, name, **changes):
    document[name].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(hideseek_state="1"),
        lambda d: d.update(extra=1),
        lambda d: d.pop("last"),
        lambda d: d.pop("belief"),
        lambda d: d.update(sha256=None),
        lambda d: d.update(release=3),
        lambda d: d.update(release=-1),
        lambda d: d.update(release=None),
        lambda d: d.update(release=0.5),
        lambda d: d.update(reason="floor"),
        lambda d: d.update(reason="gap"),
        lambda d: d.update(release=None, reason="floor"),
        lambda d: d.update(last=d["last"] + 1),
        lambda d: d.update(last=d["last"] - 1),
        lambda d: d.update(last=10**30),
        lambda d: d.update(last="1"),
        lambda d: d.update(belief=[]),
        lambda d: d.update(belief=d["belief"][:-1]),
        lambda d: d.update(belief=[*d["belief"], 0.0]),
        lambda d: d.update(belief=[value / 2 for value in d["belief"]]),
        lambda d: d.update(belief=[0.0] * len(d["belief"])),
        lambda d: d.update(belief=[1.5, -0.5, *[0.0] * (len(d["belief"]) - 2)]),
        lambda d: d.update(belief=[None, *d["belief"][1:]]),
        lambda d: d.update(belief=["0", *d["belief"][1:]]),
        lambda d: d.update(belief=[d["belief"]]),
        lambda d: d.update(places={}),
        lambda d: d.update(places=[1]),
        lambda d: within(d, "places", **{str(d["last"]): 987654}),
        lambda d: within(d, "places", **{str(d["last"]): -1}),
        lambda d: within(d, "places", **{str(d["last"]): 10**30}),
        lambda d: within(d, "places", **{str(d["last"] - 2): 1}),
        lambda d: within(d, "places", **{str(d["last"] + 1): 1}),
        lambda d: within(d, "places", here=1),
        lambda d: within(d, "run", accesses=0),
        lambda d: within(d, "run", accesses=-1),
        lambda d: within(d, "run", accesses=10**30),
        lambda d: within(d, "run", withheld=-1),
        lambda d: within(d, "run", privacy=-1.0),
        lambda d: within(d, "run", privacy=1e9),
        lambda d: within(d, "run", privacy=0.0),
        lambda d: within(d, "run", loss=1e9),
        lambda d: within(d, "run", worst_loss=0.3),
        lambda d: within(d, "run", worst_loss=0.0),
        lambda d: within(d, "run", worst_privacy=987654.0),
        lambda d: within(d, "run", more=1),
    ],
)
def test_an_impossible_state_is_refused(used, change):
    document = told(used.path)
    change(document)
    used.path.write_text(resealed(json.dumps(document)))
    assert_state_is_refused(used, "is damaged")


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 10**5, b" " * (2**20 + 1)])
def test_garbage_is_refused(used, content):
    used.path.write_bytes(content)
    assert_state_is_refused(used, "is damaged|larger")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e400", "1e308", "-1e-300"])
def test_a_belief_with_something_that_is_no_probability_is_refused(used, value):
    document = told(used.path)
    document["belief"][0] = "here"
    used.path.write_text(resealed(json.dumps(document).replace('"here"', value)))
    assert_state_is_refused(used, "is damaged")


def test_a_state_of_another_version_is_refused(used):
    used.path.write_text(resealed(json.dumps(told(used.path) | {"hideseek_state": 3})))
    assert_state_is_refused(used, "version 3")


def test_no_bit_of_a_state_can_be_flipped(fresh, path):
    device = fresh(path, "transition")
    device.expose(*POINTS[1], at=when(0))
    assert_no_bit_can_be_flipped(path, device.label)


def test_a_codebooks_state_is_refused_and_left_alone(fresh, path):
    Device(book("past"), path).expose(*POINTS[0], at=when(0))
    assert_state_is_refused(fresh(path), "another pla")
    path.unlink()
    fresh(path).expose(*POINTS[0], at=when(0))
    with pytest.raises(StateError, match="another codebook"):
        Device(book("past"), path).expose(*POINTS[0], at=when(1))


@given(data=st.data())
@settings(max_examples=60)
def test_a_flipped_byte_never_escapes_as_another_error(fresh, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "state"
    device = fresh(path, "transition")
    device.expose(*POINTS[0], at=when(0))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, 10**4)) % len(content)] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    for action in (device.label, lambda: device.expose(*POINTS[0], at=when(1))):
        try:
            action()
        except StateError:
            assert path.read_bytes() == bytes(content)


# ----------------------------------------------------------------------------------------------------- nothing is told


def test_coordinates_and_true_places_appear_nowhere(fresh, tmp_path, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    folder, said = tmp_path / "device", []
    folder.mkdir()
    latitude, longitude = 46.5287391, 6.5734219

    def run(action, *arguments, **named):
        try:
            said.append(repr(action(*arguments, **named)))
        except HideseekError as error:
            while error is not None:
                said.append(f"{error!r} {error}")
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

    for name in LIVE_SCENARIOS:
        device = fresh(folder / name, name)
        said.append(repr(device))
        for step in (0, 1, 2, 4, 30, 3):
            run(device.expose, latitude, longitude, at=when(step))
        with device._locked() as (_, state):
            said.append(repr(state))
        run(device.label)
        run(device.expose, latitude, longitude, at=when(40).replace(tzinfo=None))
        run(device.expose, latitude, longitude, at=f"{latitude}")
        run(device.expose, 100 + latitude, longitude, at=when(41))
        run(device.expose, str(latitude), longitude, at=when(41))
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", lambda _: os.open(tmp_path / "nowhere", os.O_RDONLY))
            run(device.expose, latitude, longitude, at=when(43))
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1])
        run(device.expose, latitude, longitude, at=when(44))
        (folder / name).write_bytes(content)
    assert sum("ParameterError" in text for text in said) >= 4 * len(LIVE_SCENARIOS)
    assert sum("StateError" in text for text in said) >= 2 * len(LIVE_SCENARIOS)
    assert not any("places" in text for text in said)
    everything = [*said, caplog.text, *capfd.readouterr(), *(file.read_text() for file in folder.iterdir())]
    for text in everything:
        assert "5287391" not in text
        assert "5734219" not in text


@pytest.mark.parametrize("name", ["now", "transition"])
def test_the_same_is_done_on_and_off_the_map_and_at_what_cannot_be(fresh, tmp_path, words, name):
    words[:] = [0] * 100
    points = [*GRID.centres.tolist(), *OFF_THE_GRID]  # from the first nobody goes to the third
    assert_same_work(tmp_path, lambda path: fresh(path, name), points, ahead=False)


def test_an_answer_has_only_the_allowed_fields(fresh, path):
    answer = fresh(path, floor=0.1).expose(*OFF_THE_GRID[0], at=when(0))
    assert type(answer) is Answer
    assert type(answer.place) is int
