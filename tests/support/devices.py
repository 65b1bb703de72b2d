"""Codebook devices on three cells in a row, what is asked of them, and what all devices must keep to."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import hideseek
from hideseek import (
    Device,
    Grid,
    MarkovProfile,
    Scenario,
    design,
)
from hideseek.errors import StateError
from hideseek.metrics import hamming

# three cells in a row, from west to east; from the first nobody goes to the third at once
GRID = Grid(46.0, 47.0, 6.0, 9.0, rows=1, columns=3)
MOVES = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
POINTS = [(46.5, 6.5), (46.4, 7.3), (46.9, 8.9)]
OFF_THE_GRID = [(46.5, 5.0), (45.3, 6.5), (47.5, 9.2)]  # within 154 km, twice the width of a cell, of a centre
FAR_AWAY = [(50.0, 0.0), (46.5, 7.0 - 90), (-10.0, 120.0)]
STEP = timedelta(minutes=5)
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
SCENARIOS = {
    "sporadic": Scenario.sporadic(),
    "past": Scenario.past_present(1),
    "transition": Scenario.past_present(1, protect="way"),
    "long past": Scenario.past_present(2),
    "in between": Scenario.in_between(2),
    "unplanned": Scenario.present_future(),
    "planned": Scenario.present_future(planned=True),
}


@cache
def book(name, budget=0.2):
    profile = MarkovProfile.from_matrix(MOVES, GRID, step="5min")
    return design(profile, SCENARIOS[name], privacy=hamming(), quality=hamming(), budget=budget, workers=1)


def when(step):
    return BEGIN + step * STEP


def told(path):
    return json.loads(path.read_bytes())


def resealed(text):
    """A state as JSON, whatever it says, with the right checksum."""
    bare = json.dumps({name: value for name, value in json.loads(text).items() if name != "seal"})
    return f'{{"seal":"{hashlib.sha256(bare.encode()).hexdigest()}",{bare[1:]}'


def before_seals(path):
    """Make of a state what hideseek 0.1.0 has written."""
    path.write_text(
        json.dumps({name: value for name, value in told(path).items() if name != "seal"} | {"hideseek_state": 1})
    )


class Killed(BaseException):
    """Stands for the end of the process."""


class Day(RuleBasedStateMachine):
    """Two devices on one state through anything, beside a model that knows times only."""

    name = "past"
    deaths = (("tempfile.mkstemp", 1), ("os.fdopen", 1), ("os.fsync", 1), ("os.replace", 1), ("os.fsync", 2))

    @initialize()
    def wake(self):
        self.folder = tempfile.TemporaryDirectory()
        self.devices = [self.fresh(), self.fresh()]
        self.now, self.last, self.start = 0, None, None
        self.outputs = {}

    def fresh(self):
        return Device(book(self.name), Path(self.folder.name) / "state")

    def teardown(self):
        self.folder.cleanup()

    def expected(self, step):
        """What the answer must be, and whether the step is a new one."""
        if self.last is None:
            return "", True
        if step <= self.last:
            return ("clock", False) if step < self.last else ("", False)
        if self.start is None or step - self.start < len(SCENARIOS[self.name].release):
            return "", True
        return ("not due", False) if (step - self.start) % SCENARIOS[self.name].every else ("", True)

    def answered(self, step):
        """The state has moved to this step."""
        if self.start is None or step - self.start >= len(SCENARIOS[self.name].release):
            self.start = step
        self.last = step

    def check(self, step, answer, is_far=False):
        reason, new = self.expected(step)
        if new and is_far:
            reason = "off the map"
        assert answer.reason == reason
        assert answer.status == ("withheld" if reason else "exposed")
        assert answer.at == when(step).isoformat()
        if reason:
            assert (answer.place, answer.latitude, answer.longitude) == (None, None, None)
            return
        assert self.outputs.setdefault(step, answer.place) == answer.place  # at most one output a step, ever
        assert (answer.latitude, answer.longitude) == (46.5, 6.5 + answer.place)
        if new:
            self.answered(step)

    def asking(self, device, point):
        return device.expose(*point, at=when(self.now) + STEP / 3, ahead=[point])

    @rule(which=st.integers(0, 1), forward=st.integers(-3, 7), point=st.sampled_from(POINTS + OFF_THE_GRID + FAR_AWAY))
    def ask(self, which, forward, point):
        self.now += forward
        self.check(self.now, self.asking(self.devices[which], point), point in FAR_AWAY)

    @rule(which=st.integers(0, 1), point=st.sampled_from(POINTS))
    def ask_right_after(self, which, point):
        self.now = self.now if self.last is None else self.last + 1
        self.check(self.now, self.asking(self.devices[which], point))

    @rule(which=st.integers(0, 1), point=st.sampled_from(POINTS + OFF_THE_GRID + FAR_AWAY))
    @precondition(lambda self: self.last is not None)
    def ask_again(self, which, point):
        self.now = self.last
        self.check(self.now, self.asking(self.devices[which], point))

    @rule(forward=st.integers(0, 2), death=st.sampled_from(deaths), sudden=st.booleans())
    def die_while_writing(self, forward, death, sudden):
        self.now += forward
        (name, fatal), calls = death, count(1)
        original = {"tempfile": tempfile, "os": os}[name.split(".")[0]].__dict__[name.split(".")[1]]

        def deadly(*arguments, **options):
            if next(calls) == fatal:
                raise Killed if sudden else OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return original(*arguments, **options)

        try:
            with mock.patch(name, deadly):
                answer = self.asking(self.devices[0], POINTS[0])
        except (Killed, StateError):
            reason, new = self.expected(self.now)
            assert reason == ""  # who exposes nothing writes nothing
            if new and death == ("os.fsync", 2):
                self.answered(self.now)  # the state is in its place, only the answer was not given
            self.devices[0] = self.fresh()
        else:
            self.check(self.now, answer)

    @rule()
    def look(self):
        there = {file.name for file in Path(self.folder.name).iterdir()}
        assert there <= {"state"}
        assert ("state" in there) == (self.last is not None)


def assert_no_bit_can_be_flipped(path, read):
    """Nothing is read from a state in which one bit is another."""
    content = path.read_bytes()
    with path.open("r+b", buffering=0) as stream:
        for at, byte in enumerate(content):
            for bit in range(8):
                os.pwrite(stream.fileno(), bytes([byte ^ 1 << bit]), at)
                with pytest.raises(StateError):
                    read()
            os.pwrite(stream.fileno(), bytes([byte]), at)
    assert path.read_bytes() == content
    read()


def assert_state_is_refused(device, match):
    """Nothing is exposed, nothing is changed, nothing is left behind."""
    before = device.path.read_bytes()
    for action in (device.label, *(lambda step=step: device.expose(*POINTS[0], at=when(step)) for step in range(4))):
        with pytest.raises(StateError, match=match) as caught:
            action()
        assert device.path.name in str(caught.value)
        assert "987654" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert device.path.read_bytes() == before
    assert list(device.path.parent.iterdir()) == [device.path]


def lines_run(action, *arguments):
    """The lines of hideseek that an action runs, in their order."""
    lines, root = [], str(Path(hideseek.__file__).parent)

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(root):
            return None
        if event == "line":
            lines.append((frame.f_code.co_name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action(*arguments)
    finally:
        sys.settrace(before)
    return lines


def assert_same_work(folder, fresh, points, *, ahead):
    """After a first step at the first point, fresh devices do the same in the next one at whichever point they are."""
    work = []
    for number, point in enumerate([points[0], *points]):  # the first once more, as something may be kept in memory
        (folder / str(number)).mkdir()
        device = fresh(folder / str(number) / "state")
        device.expose(*points[0], at=when(0), **({"ahead": points[:1]} if ahead else {}))
        asked = partial(device.expose, at=when(1), **({"ahead": [point]} if ahead else {}))
        work.append(lines_run(asked, *point))
    _, first, *others = work
    assert len(first) > 50
    assert others == [first] * len(others)
