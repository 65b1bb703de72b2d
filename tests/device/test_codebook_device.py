"""A device: one output a step whatever happens, exact draws, and a state that tells nobody anything."""

from __future__ import annotations

import ast
import dataclasses
import errno
import fcntl
import hashlib
import json
import logging
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import cache, partial
from itertools import accumulate, count
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import hideseek
from hideseek import (
    Codebook,
    Device,
    Grid,
    Hexagons,
    HideseekError,
    MarkovProfile,
    ParameterError,
    Places,
    Scenario,
    design,
)
from hideseek.device import Answer
from hideseek.device.step_device import random_word, random_words
from hideseek.errors import StateError
from hideseek.metrics import hamming
from tests.support.fuzz_sealed import put_together, taken_apart
from tests.support.processes import assert_all_expose_the_same

# three cells in a row, from west to east; from the first nobody goes to the third at once
GRID = Grid(46.0, 47.0, 6.0, 9.0, 1, 3)
MOVES = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]]
POINTS = [(46.5, 6.5), (46.4, 7.3), (46.9, 8.9)]
OFF_THE_GRID = [(50.0, 0.0), (46.5, 7.0 - 90), (-10.0, 120.0)]
STEP = timedelta(minutes=5)
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
SCENARIOS = {
    "sporadic": Scenario.sporadic(),
    "past": Scenario.past_present(1),
    "transition": Scenario.past_present(1, "transition"),
    "long past": Scenario.past_present(2),
    "in between": Scenario.in_between(2),
    "unplanned": Scenario.present_future("unknown"),
    "planned": Scenario.present_future("planned"),
}
GAPS = {"past": 3, "transition": 2, "long past": 3, "in between": 2}  # accesses


@cache
def book(name, budget=0.2):
    profile = MarkovProfile.from_matrix(MOVES, GRID, step="5min")
    return design(
        profile, SCENARIOS[name], privacy=hamming(), quality=hamming(), budget=budget, gaps=GAPS.get(name, 1), workers=1
    )


def when(step):
    return BEGIN + step * STEP


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.json"


@pytest.fixture
def words(monkeypatch):
    """Put words here, and the device draws with them."""
    queue = []
    monkeypatch.setattr("hideseek.device.codebook_device.random_word", lambda: queue.pop(0))
    return queue


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


# ---------------------------------------------------------------------------------------------------- the draw is exact


@pytest.mark.parametrize("name", ["past", "transition", "unplanned"])
def test_a_draw_follows_the_stored_integers_at_every_boundary(path, words, name):
    device = Device(book(name), path)
    for number, stage in enumerate(device.codebook.stages):
        for position, table in enumerate(stage.tables):
            width = len(stage.known_at(position))
            length = len(stage.scenario.seen) + position + width
            for row, code in enumerate(table.codes.tolist()):
                key = [code // 4**k % 4 for k in reversed(range(length))]
                first, last = int(table.start[row]), int(table.start[row + 1])
                ends = list(accumulate(w or 2**32 for w in table.weights[first:last].tolist()))
                assert ends[-1] == 2**32
                # the first and the last word of every share: then each release has as many words as its weight says
                for release, begin, end in zip(table.releases[first:last], [0, *ends], ends, strict=False):
                    words[:] = [begin, end - 1]
                    drawn = [device.draw(number, position, key[: length - width], key[length - width :]) for _ in "ab"]
                    assert drawn == [release, release]
                    assert table.draw(np.array([row, row]), np.array([begin, end - 1])).tolist() == drawn


def test_the_words_are_the_operating_systems_whole_32_bits(monkeypatch):
    asked = []
    monkeypatch.setattr("os.urandom", lambda size: asked.append(size) or bytes(range(249, 249 + 4)) * (size // 4))
    assert random_word() == 0xF9FAFBFC
    assert random_words(3).tolist() == [int.from_bytes(bytes([249, 250, 251, 252]), sys.byteorder)] * 3
    assert asked == [4, 12]


@pytest.mark.parametrize("name", SCENARIOS)
@given(data=st.data())
@settings(max_examples=10)
def test_step_by_step_the_device_exposes_what_the_codebook_simulates(name, data):
    walk = data.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))
    drawn = data.draw(st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8))
    codebook, one, many = book(name), iter(drawn), iter(drawn)
    expected = codebook.simulate(np.array([walk]), lambda size: np.array([next(many)], np.uint32))[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("hideseek.device.codebook_device.random_word", one.__next__),
    ):
        device = Device(codebook, f"{folder}/state")
        for step, place in enumerate(walk):
            ahead = [POINTS[place] for place in walk[step + 1 :]]
            answer = device.expose(*POINTS[place], at=when(step), ahead=ahead)
            assert (-1 if answer.place is None else answer.place) == expected[step]


@pytest.mark.parametrize(("name", "gap"), [(name, gap) for name, most in GAPS.items() for gap in range(2, most + 1)])
def test_after_a_gap_its_own_table_draws_and_then_the_way_back(path, words, name, gap):
    codebook = book(name)
    every, device = codebook.scenario.every, Device(codebook, path)
    steps = [0, every, 2 * every, (2 + gap) * every, (3 + gap) * every]
    numbers = [0, 1, 2, codebook.gaps[gap - 2], codebook.stages[codebook.gaps[gap - 2]].then]
    exposed = {}
    for step, number, word in zip(steps, numbers, range(0, 2**32, 2**30 - 7), strict=False):
        words[:] = [word]
        stage, place = codebook.stages[number], step % 3
        seen = np.array([[exposed[step + offset] for offset in stage.scenario.seen]], int).reshape(1, -1)
        known = np.array([[(step + offset) % 3 for offset in stage.scenario.known]])
        row = stage.tables[0].rows(seen, known)
        exposed[step] = device.expose(*POINTS[place], at=when(step)).place
        assert exposed[step] == stage.tables[0].draw(row, np.array([word]))[0]
        assert told(path)["access"]["stage"] == number


def test_what_was_never_seen_in_training_is_drawn_from_the_row_of_its_past(path, words):
    codebook, far = book("past", 0.0), 2**32 - 1  # with no budget the true place is exposed, wherever it can be
    device = Device(codebook, path)
    words[:] = [0, far]
    assert device.expose(*POINTS[0], at=when(0)).place == 0
    table = codebook.stages[1].tables[0]
    assert set(table.codes.tolist()) & {4 * 0 + place for place in range(4)} == {0, 1, 3}  # not place 2 after 0
    default = table.rows(np.array([[0]]), np.array([[3]]))
    assert device.expose(*POINTS[2], at=when(1)).place == table.draw(default, np.array([far]))[0] == 1


def test_an_unseen_transition_is_drawn_from_the_row_of_its_past(path, words):
    codebook = book("transition")
    device, table = Device(codebook, path), codebook.stages[1].tables[0]
    for step, word in enumerate(range(0, 2**32, 2**28 + 1)):
        words[:] = [0, word]
        first = device.expose(*POINTS[0], at=when(2 * step)).place
        own, default = table.rows(np.array([[first]] * 2), np.array([[0, 2], [3, 3]]))
        assert own == default >= 0
        assert (
            device.expose(*POINTS[2], at=when(2 * step + 1)).place == table.draw(np.array([own]), np.array([word]))[0]
        )
        device.restart()


def test_off_the_grid_the_nearest_place_counts(path):
    device = Device(book("past", 0.0), path)
    assert device.expose(46.5, 5.0, at=when(0)).place == 0
    assert device.expose(90.0, 7.5, at=when(1)).place == 1
    assert device.expose(-46.5, 9.001, at=when(2)).place == 2


# ------------------------------------------------------------------------------------------------- one output, one step


class Killed(BaseException):
    """Stands for the end of the process."""


class Day(RuleBasedStateMachine):
    """Two devices on one state through anything, beside a model that knows times only."""

    name = "past"
    furthest = 3  # accesses
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
        accesses, between = divmod(step - self.start, SCENARIOS[self.name].every)
        return ("not due", False) if between else ("gap", False) if accesses > self.furthest else ("", True)

    def answered(self, step):
        """The state has moved to this step."""
        if self.start is None or step - self.start >= len(SCENARIOS[self.name].release):
            self.start = step
        self.last = step

    def check(self, step, answer):
        reason, new = self.expected(step)
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

    @rule(which=st.integers(0, 1), forward=st.integers(-3, 7), point=st.sampled_from(POINTS + OFF_THE_GRID))
    def ask(self, which, forward, point):
        self.now += forward
        self.check(self.now, self.asking(self.devices[which], point))

    @rule(which=st.integers(0, 1), point=st.sampled_from(POINTS))
    def ask_right_after(self, which, point):
        self.now = self.now if self.last is None else self.last + 1
        self.check(self.now, self.asking(self.devices[which], point))

    @rule(which=st.integers(0, 1), point=st.sampled_from(POINTS + OFF_THE_GRID))
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

    @rule(which=st.integers(0, 1))
    def restart(self, which):
        self.devices[which].restart()
        self.start = None

    @rule()
    def look(self):
        there = {file.name for file in Path(self.folder.name).iterdir()}
        assert there <= {"state"}
        assert ("state" in there) == (self.last is not None)


def every_so_often(name, furthest):
    class Other(Day):
        pass

    Other.name, Other.furthest = name, furthest
    return Other


@pytest.mark.parametrize(("name", "furthest"), [*GAPS.items(), ("planned", 10**6)])
def test_at_most_one_output_a_step_through_retries_crashes_and_clocks(name, furthest):
    run_state_machine_as_test(
        lambda: every_so_often(name, furthest)(),
        settings=settings(max_examples=25, stateful_step_count=25),
    )


def test_a_first_release_without_the_second_is_forgotten_where_it_is_not_needed_and_withheld_where_it_is(path):
    both = Scenario(target=(0, 1), seen=(-2, -1), release=(0, 1), causal=True)
    profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Grid(0, 1, 0, 2, 1, 2))
    device = Device(design(profile, both, privacy=hamming(), quality=hamming(), budget=0.5, gaps=2, workers=1), path)
    assert device.expose(0.5, 0.5, at=when(0)).status == "exposed"
    before = path.read_bytes()
    assert device.expose(0.5, 1.5, at=when(2)).reason == "history"
    assert path.read_bytes() == before
    assert device.expose(0.5, 1.5, at=when(3)).reason == "not due"
    assert device.expose(0.5, 1.5, at=when(6)).reason == "gap"
    device.restart()
    assert [device.expose(0.5, 1.5, at=when(step)).status for step in (6, 7, 8, 9)] == ["exposed"] * 4


def test_without_a_row_for_what_was_seen_nothing_is_exposed(path, words):
    codebook = book("past")
    table = codebook.stages[1].tables[0]
    own = table.codes >= 4 * 2  # only what comes after the third place
    first = int(table.start[own.argmax()])
    cut = dataclasses.replace(
        table,
        codes=table.codes[own],
        start=table.start[own.argmax() :] - first,
        releases=table.releases[first:],
        weights=table.weights[first:],
    ).checked()
    stages = [dataclasses.replace(stage, tables=(cut,)) for stage in codebook.stages[1:]]
    device = Device(dataclasses.replace(codebook, stages=(codebook.stages[0], *stages), checksum="0" * 64), path)
    words[:] = [0]
    assert device.expose(*POINTS[0], at=when(0)).place == 0
    assert device.expose(*POINTS[0], at=when(1)).reason == "history"


KILL = """
import json, os, signal, sys, tempfile
from hideseek import Codebook, Device

codebook, folder = Codebook.load(sys.argv[1]), sys.argv[2]
state = folder + "/state"

def ask(step, latitude):
    return Device(codebook, state).expose(latitude, 6.5, at=f"2026-01-05T{8 + step // 60:02}:{step % 60:02}:00Z").place

def child(fatal, step, pipe):
    calls = 0
    def deadly(function):
        def wrapped(*arguments, **options):
            nonlocal calls
            for moment in ("before", "after"):
                calls += 1
                if calls == fatal:
                    os.kill(os.getpid(), signal.SIGKILL)
                if moment == "before":
                    result = function(*arguments, **options)
            return result
        return wrapped
    tempfile.mkstemp, os.fdopen, os.fsync, os.replace = map(
        deadly, (tempfile.mkstemp, os.fdopen, os.fsync, os.replace)
    )
    os.write(pipe, b"%d" % ask(step, 46.5))
    os._exit(0)

found = []
for fatal in range(1, 100):
    before = open(state, "rb").read() if os.path.exists(state) else None
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        child(fatal, 5 * fatal, writer)
    os.close(writer)
    said = os.read(reader, 10).decode()
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    moved = (open(state, "rb").read() if os.path.exists(state) else None) != before
    again = [ask(5 * fatal, 46.1), ask(5 * fatal, 46.9)]
    found.append({"killed": os.WIFSIGNALED(status) and os.WTERMSIG(status), "said": said, "moved": moved,
                  "again": again})
    if not os.WIFSIGNALED(status):
        break
print(json.dumps(found))
"""


def test_killed_at_any_moment_the_same_output_follows_or_none_was_given(tmp_path):
    book("past").save(tmp_path / "codebook")
    (tmp_path / "device").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", KILL, tmp_path / "codebook", tmp_path / "device"], capture_output=True, check=True
    )
    found = json.loads(done.stdout)
    assert [case["killed"] for case in found] == [signal.SIGKILL] * 10 + [False]  # two moments in each of five calls
    assert [case["moved"] for case in found] == [False] * 7 + [True] * 4  # from the renaming on
    for case in found:
        assert case["again"][0] in range(3)
        assert case["again"] == [case["again"][0]] * 2
        assert case["said"] in ("", str(case["again"][0]))
    assert found[-1]["said"]
    assert [file.name for file in (tmp_path / "device").iterdir()] == ["state"]


ASK = """
import sys
from hideseek import Codebook, Device

device = Device(Codebook.load(sys.argv[1]), sys.argv[2])
for line in sys.stdin:
    answer = device.expose(46.5, float(sys.argv[3]), at=line.strip())
    print(answer.status, answer.place, flush=True)
"""


def test_two_processes_agree_at_every_step(tmp_path):
    book("past").save(tmp_path / "codebook")
    (tmp_path / "device").mkdir()
    own = [(tmp_path / "codebook", tmp_path / "device/state", longitude) for longitude in (6.5, 8.5)]
    assert_all_expose_the_same(ASK, own, map(when, range(150)))


def delete_others(folder):
    for file in folder.iterdir():
        if file.name != "state" and not file.name.startswith("."):
            file.unlink()


def put_copy(folder):
    """As a backup or an editor does."""
    if (folder / "state").exists():
        shutil.copy2(folder / "state", folder / "copy")
        (folder / "copy").rename(folder / "state")


def put_copy_of_folder(folder):
    folder.rename(folder.with_name(f"{folder.name}-moved"))
    shutil.copytree(folder.with_name(f"{folder.name}-moved"), folder)


def make_folder_anew(folder):
    folder.rename(folder.with_name(f"{folder.name}-moved"))
    folder.mkdir()


def delete_state(folder):
    (folder / "state").unlink(missing_ok=True)


def move_state_away(folder):
    if (folder / "state").exists():
        (folder / "state").rename(folder / "state.bak")


def meet(folder, step, moment, meanwhile):
    """All that two devices tell of a step if the second asks at some moment of the first one's answer, and then again.

    At this moment something happens to the folder. Who would have to wait gives up; if there is no such moment, nobody
    meets and nothing is told.
    """
    names = (
        "os.open",
        "os.fstat",
        "os.fdopen",
        "os.fsync",
        "os.replace",
        "os.close",
        "tempfile.mkstemp",
        "fcntl.flock",
    )
    one, other = (Device(book("past", 0.0), folder / "state") for _ in range(2))  # they expose where they are
    for before in range(step):
        one.expose(*POINTS[0], at=when(before))
    answers, left, flock = [], moment, fcntl.flock

    def ask(device, point):
        with suppress(StateError):
            answers.append(device.expose(*point, at=when(step)).place)

    def meeting(function, *arguments, **options):
        nonlocal left
        for when_asked in ("before", "after"):
            left -= 1
            if left == 0:
                meanwhile(folder)
                ask(other, POINTS[1])
            if when_asked == "before":
                result = function(*arguments, **options)
        return result

    with ExitStack() as stack:
        stack.enter_context(mock.patch("fcntl.flock", lambda handle, kind: flock(handle, kind | fcntl.LOCK_NB)))
        for name in names:
            original = getattr(sys.modules[name.split(".")[0]], name.split(".")[1])
            stack.enter_context(mock.patch(name, partial(meeting, original)))
        ask(one, POINTS[0])
    if left > 0:
        return []
    ask(other, POINTS[1])
    ask(one, POINTS[0])
    return answers


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("meanwhile", [delete_others, put_copy, put_copy_of_folder])
def test_whatever_is_deleted_beside_a_state_or_copied_in_its_place_two_devices_tell_the_same(tmp_path, step, meanwhile):
    ends = []
    for moment in count(1):
        folder = tmp_path / str(moment)
        folder.mkdir()
        answers = meet(folder, step, moment, meanwhile)
        if not answers:
            break
        assert len(set(answers)) == 1, moment
        ends.append(answers[0])
    assert len(ends) > 20
    assert set(ends) == {0, 1}  # either was first at some moment


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("meanwhile", [put_copy, put_copy_of_folder, make_folder_anew, delete_state, move_state_away])
def test_whatever_becomes_of_a_state_before_it_is_written_two_devices_tell_the_same(
    tmp_path, monkeypatch, step, meanwhile
):
    folder, answers, flock = tmp_path / "own", [], fcntl.flock
    folder.mkdir()
    one, other = (Device(book("past", 0.0), folder / "state") for _ in range(2))  # they expose where they are
    for before in range(step):
        one.expose(*POINTS[0], at=when(before))

    def ask(device, point):
        with suppress(StateError):
            answers.append(device.expose(*point, at=when(step)).place)

    def draw():
        monkeypatch.setattr("hideseek.device.codebook_device.random_word", random_word)
        meanwhile(folder)
        ask(other, POINTS[1])
        return random_word()

    monkeypatch.setattr("fcntl.flock", lambda handle, kind: flock(handle, kind | fcntl.LOCK_NB))
    monkeypatch.setattr("hideseek.device.codebook_device.random_word", draw)
    ask(one, POINTS[0])
    ask(other, POINTS[1])
    ask(one, POINTS[0])
    assert len(answers) >= 3
    assert len(set(answers)) == 1


def test_what_was_replaced_meanwhile_is_told(used, monkeypatch):
    def draw():
        used.path.rename(used.path.with_name("moved"))
        return 0

    monkeypatch.setattr("hideseek.device.codebook_device.random_word", draw)
    with pytest.raises(StateError, match=r"state\.json was moved or replaced meanwhile\. Nothing is exposed"):
        used.expose(*POINTS[0], at=when(3))
    assert not used.path.exists()


FORK = """
import fcntl, json, os, signal, subprocess, sys
from hideseek import Codebook, Device
from hideseek.device import codebook_device
from hideseek.errors import StateError

device, flock, draw = Device(Codebook.load(sys.argv[1]), sys.argv[2]), fcntl.flock, codebook_device.random_word
fcntl.flock = lambda handle, kind: flock(handle, kind | fcntl.LOCK_NB)  # who would have to wait fails
stay, end = os.pipe()
ready, say = os.pipe()

def ask(step, meanwhile=lambda: None):
    codebook_device.random_word = lambda: meanwhile() or draw()
    try:
        return device.expose(46.5, 6.5, at=f"2026-01-05T08:{5 * step:02}:00Z").status
    except StateError as error:
        return str(error)

def fork():
    if not os.fork():
        os.close(end)
        os.write(say, b"!")
        os.read(stay, 1)
        os._exit(0)
    os.read(ready, 1)

def start():
    subprocess.Popen(["cat"], stdin=stay, close_fds=False)

def fork_and_die():
    fork()
    os.kill(os.getpid(), signal.SIGKILL)

said = [ask(0, fork), ask(1, start), ask(2)]
parent = os.fork()
if not parent:
    ask(3, fork_and_die)
os.waitpid(parent, 0)
print(json.dumps([*said, ask(3)]))
os.close(end)
"""


def test_nobody_who_was_forked_or_started_in_the_midst_keeps_the_lock(tmp_path):
    book("past").save(tmp_path / "codebook")
    (tmp_path / "device").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", FORK, tmp_path / "codebook", tmp_path / "device/state"], capture_output=True, check=True
    )
    assert json.loads(done.stdout) == ["exposed"] * 4


# ------------------------------------------------------------------------------------------------------------ the state


def test_the_state_is_for_its_owner_only(path):
    before = os.umask(0)
    try:
        Device(book("past"), path).expose(*POINTS[0], at=when(0))
    finally:
        os.umask(before)
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {"state.json": 0o600}


@pytest.mark.parametrize(
    ("name", "after", "releases", "places"),
    [
        ("sporadic", 7, [], []),
        ("past", 7, [7], []),
        ("transition", 7, [7], [7]),
        ("long past", 7, [6, 7], []),
        ("in between", 8, [8], [8]),
        ("unplanned", 8, [8], [8]),
        ("unplanned", 9, [], []),
        ("planned", 8, [8], [8]),
        ("planned", 9, [], []),
    ],
)
def test_the_state_keeps_what_the_codebook_can_still_need(path, name, after, releases, places):
    device = Device(book(name), path)
    for step in range(after + 1):
        device.expose(*POINTS[1], at=when(step), ahead=[POINTS[1]])
    state, zero = told(path), (BEGIN - datetime(1970, 1, 1, tzinfo=UTC)) // STEP
    assert set(state) == {"seal", "hideseek_state", "sha256", "last", "release", "access"}
    assert set(state["access"]) == {"stage", "start", "releases", "places"}
    assert state["last"] == zero + after
    assert [int(step) - zero for step in state["access"]["releases"]] == releases
    assert [int(step) - zero for step in state["access"]["places"]] == places
    assert set(state["access"]["places"].values()) <= {1}


def test_a_restart_keeps_the_last_answer_and_forgets_the_rest(path):
    device = Device(book("transition"), path)
    device.restart()
    assert not path.exists()
    answers = [device.expose(*POINTS[0], at=when(step)) for step in range(3)]
    device.restart()
    assert told(path)["access"] is None
    assert device.expose(*POINTS[2], at=when(2)) == answers[2]
    assert device.expose(*POINTS[2], at=when(1)).reason == "clock"
    assert device.expose(*POINTS[2], at=when(50)).status == "exposed"
    assert told(path)["access"]["stage"] == 0


@pytest.fixture
def used(path):
    """A state with everything in it."""
    device = Device(book("transition"), path)
    for step in range(3):
        device.expose(*POINTS[1], at=when(step))
    return device


def refuses(device, match):
    """Nothing is exposed, nothing is changed, nothing is left behind."""
    path = device.path
    there = path.exists() and path.is_file()
    before = path.read_bytes() if there else None
    names = {file.name for file in path.parent.iterdir()}
    for step in range(4):
        with pytest.raises(StateError, match=match) as caught:
            device.expose(*POINTS[0], at=when(step))
        assert path.name in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    with pytest.raises(StateError, match=match):
        device.restart()
    assert (path.read_bytes() if there else None) == before
    assert {file.name for file in path.parent.iterdir()} <= names


def within(document, **changes):
    document["access"].update(changes)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(hideseek_state="1"),
        lambda d: d.update(extra=1),
        lambda d: d.pop("last"),
        lambda d: d.pop("access"),
        lambda d: d.update(sha256=None),
        lambda d: d.update(release=3),
        lambda d: d.update(release=-1),
        lambda d: d.update(release=None),
        lambda d: d.update(release=0.5),
        lambda d: d.update(release=(d["release"] + 1) % 3),
        lambda d: d.update(last=d["last"] + 1),
        lambda d: d.update(last=d["last"] - 1),
        lambda d: d.update(last=10**30),
        lambda d: d.update(last=-(10**30)),
        lambda d: d.update(last="1"),
        lambda d: d.update(access=[]),
        lambda d: d["access"].pop("places"),
        lambda d: within(d, more=1),
        lambda d: within(d, stage=-1),
        lambda d: within(d, stage=10**6),
        lambda d: within(d, stage=10**30),
        lambda d: within(d, stage=None),
        lambda d: within(d, start=d["last"] + 1),
        lambda d: within(d, start=d["last"] - 1),
        lambda d: within(d, start=10**30),
        lambda d: within(d, places={str(d["last"]): 987654}),
        lambda d: within(d, places={str(d["last"]): -1}),
        lambda d: within(d, places={str(d["last"]): 10**30}),
        lambda d: within(d, places={str(d["last"] - 1): 1}),
        lambda d: within(d, places={str(d["last"] + 1): 1}),
        lambda d: within(d, places={"here": 1}),
        lambda d: within(d, places=[1]),
        lambda d: within(d, releases={str(d["last"]): 987654}),
        lambda d: within(d, releases={str(d["last"] - 1): 1, str(d["last"]): d["release"]}),
        lambda d: within(d, releases={str(d["last"] + 1): 1}),
        lambda d: within(d, releases={str(d["last"]): None}),
    ],
)
def test_an_impossible_state_is_refused(used, change):
    document = told(used.path)
    change(document)
    used.path.write_text(resealed(json.dumps(document)))
    with pytest.raises(StateError) as caught:
        used.expose(*POINTS[0], at=when(3))
    assert "987654" not in str(caught.value)
    refuses(used, "is damaged")


@pytest.mark.parametrize("version", [0, 3, 10**30])
def test_a_state_of_another_version_is_refused(used, version):
    used.path.write_text(resealed(json.dumps(told(used.path) | {"hideseek_state": version})))
    refuses(used, f"version {version}")


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


@pytest.mark.parametrize("restarted", [False, True])
def test_no_bit_of_a_state_can_be_flipped(used, restarted):
    if restarted:
        used.restart()
    assert_no_bit_can_be_flipped(used.path, lambda: used.expose(*POINTS[0], at=when(0)))


def test_a_state_without_a_seal_is_one_of_0_1_0_and_gets_it_with_the_next_answer(used, words):
    sealed = told(used.path)
    before_seals(used.path)
    assert used.expose(*POINTS[0], at=when(2)).place == sealed["release"]
    assert "seal" not in told(used.path)
    words[:] = [7]
    used.expose(*POINTS[0], at=when(3))
    assert told(used.path)["hideseek_state"] == 2
    refused = used.path.read_bytes()
    before_seals(used.path)
    used.restart()
    assert told(used.path)["hideseek_state"] == 2
    assert "seal" in told(used.path)
    # and one that lost its seal, or its version, is not
    for text in (
        json.dumps({name: value for name, value in json.loads(refused).items() if name != "seal"}),
        refused.decode().replace('"hideseek_state":2', '"hideseek_state":1'),
        resealed(refused.decode().replace('"hideseek_state":2', '"hideseek_state":1')),
    ):
        used.path.write_text(text)
        refuses(used, "is damaged")


def test_a_state_of_another_codebook_is_refused(used):
    refuses(Device(book("past"), used.path), "another codebook")


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 10**5, b" " * (2**20 + 1)])
def test_garbage_is_refused(used, content):
    used.path.write_bytes(content)
    refuses(used, "is damaged|larger")


def test_a_state_cut_anywhere_is_refused(used):
    content = used.path.read_bytes()
    for length in range(0, len(content), 7):
        used.path.write_bytes(content[:length])
        with pytest.raises(StateError, match="is damaged"):
            used.expose(*POINTS[0], at=when(3))


@given(data=st.data())
@settings(max_examples=60)
def test_a_flipped_byte_never_escapes_as_another_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "state"
    device = Device(book("transition"), path)
    device.expose(*POINTS[0], at=when(0))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    with suppress(StateError):
        device.expose(*POINTS[0], at=when(1))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o666])
def test_a_state_open_to_others_is_refused(used, mode):
    used.path.chmod(mode)
    refuses(used, "mode 600")


def test_a_state_of_somebody_else_is_refused(used, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: used.path.stat().st_uid + 1)
    refuses(used, "must be yours")


def test_a_link_is_refused_wherever_it_leads(used):
    real = used.path.rename(used.path.with_name("elsewhere"))
    used.path.symlink_to(real)
    refuses(used, os.strerror(errno.ELOOP))
    used.path.unlink()
    used.path.symlink_to("nowhere")
    refuses(used, os.strerror(errno.ELOOP))
    used.path.unlink()


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(path, make):
    make(path)
    refuses(Device(book("past"), path), "is no file|Is a directory")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    folder = tmp_path / "nowhere" / "at all"
    words = f"The state state.json has no folder: create {folder}, or give another path. Nothing is exposed."
    with pytest.raises(StateError, match=f"^{re.escape(words)}$"):
        Device(book("past"), folder / "state.json").expose(*POINTS[0], at=when(0))
    assert not list(tmp_path.iterdir())


class Full:
    """A file on a full disk."""

    def __init__(self, handle, mode):
        os.close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("name", ["os.fdopen", "os.fsync", "os.replace", "tempfile.mkstemp", "fcntl.flock"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO])
def test_what_cannot_be_written_is_not_exposed(used, monkeypatch, name, number):
    def broken(*arguments, **_):
        raise OSError(number, os.strerror(number), "a name")

    before = used.path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(name, Full if (name, number) == ("os.fdopen", errno.ENOSPC) else broken)
        with pytest.raises(StateError, match=rf"state\.json .*{os.strerror(number)}"):
            used.expose(*POINTS[0], at=when(3))
    assert used.path.read_bytes() == before
    assert list(used.path.parent.iterdir()) == [used.path]
    assert used.expose(*POINTS[0], at=when(3)).status == "exposed"


def test_what_cannot_be_read_is_not_exposed(used, monkeypatch):
    original = os.open

    def closed(path, *rest):
        if Path(path) == used.path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return original(path, *rest)

    monkeypatch.setattr("os.open", closed)
    with pytest.raises(StateError, match="Permission denied"):
        used.expose(*POINTS[0], at=when(3))


def test_an_answer_is_given_again_only_when_the_folder_is_on_disk(used, monkeypatch):
    # who renamed the state may have died before the folder was written; a second output could follow a power failure
    synced = []
    monkeypatch.setattr("os.fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)))
    used.expose(*POINTS[0], at=when(2))
    assert synced == [True]
    used.expose(*POINTS[0], at=when(3))
    assert synced == [True, False, True]


# ----------------------------------------------------------------------------------------------------- nothing is told


def test_an_answer_has_only_the_allowed_fields(path):
    device = Device(book("past"), path)
    exposed, withheld = device.expose(*POINTS[2], at=when(0)), device.expose(*POINTS[2], at=when(-1))
    assert {field.name for field in dataclasses.fields(Answer)} == {
        *("status", "at", "latitude", "longitude", "place", "reason"),
    }
    assert json.loads(json.dumps(dataclasses.asdict(exposed))) == {
        "status": "exposed",
        "at": "2026-01-05T08:00:00+00:00",
        "latitude": 46.5,
        "longitude": 6.5 + exposed.place,
        "place": exposed.place,
        "reason": "",
    }
    assert type(exposed.place) is int
    assert dataclasses.asdict(withheld) == {
        "status": "withheld",
        "at": "2026-01-05T07:55:00+00:00",
        "latitude": None,
        "longitude": None,
        "place": None,
        "reason": "clock",
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        exposed.place = 0


def test_coordinates_appear_nowhere(tmp_path, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / "device"
    folder.mkdir()
    latitude, longitude, said = 46.5287391, 6.5734219, []

    def run(action, *arguments):
        try:
            said.append(repr(action(*arguments)))
        except HideseekError as error:
            while error is not None:
                said.append(f"{error!r} {error}")
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

    for name in SCENARIOS:
        device = Device(book(name), folder / name)
        said.append(repr(device))
        for step in (0, 1, 2, 4, 30, 3):
            run(device.expose, latitude, longitude, when(step), [(latitude, longitude)])
        run(device.expose, latitude, longitude, when(40))
        run(device.expose, latitude, longitude, when(40).replace(tzinfo=None))
        run(device.expose, latitude, longitude, latitude)
        run(device.expose, latitude, longitude, f"{latitude}")
        run(device.expose, 100 + latitude, longitude, when(41))
        run(device.expose, latitude, 1000 + longitude, when(41))
        run(device.expose, str(latitude), longitude, when(41))
        run(device.expose, [latitude], longitude, when(41))
        run(device.expose, latitude, longitude, when(42), [(100 + latitude, longitude)])
        run(device.expose, latitude, longitude, when(42), [latitude, longitude])
        run(device.expose, latitude, longitude, when(42), f"{latitude}")
        run(device.simulate, [[latitude, longitude]])
        run(device.restart)
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", lambda _: os.open(tmp_path / "nowhere", os.O_RDONLY))
            run(device.restart)
            run(device.expose, latitude, longitude, when(43), [(latitude, longitude)])
        run(device.expose, latitude, longitude, when(43), [(latitude, longitude)])
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1])
        run(device.expose, latitude, longitude, when(44), [(latitude, longitude)])
        (folder / name).write_bytes(content)
    assert sum("ParameterError" in text for text in said) >= 8 * len(SCENARIOS)
    assert sum("StateError" in text for text in said) >= 3 * len(SCENARIOS)
    everything = [*said, caplog.text, *capfd.readouterr(), *(file.read_text() for file in folder.iterdir())]
    everything += [file.name for file in tmp_path.rglob("*")]
    for text in everything:
        assert "5287391" not in text
        assert "5734219" not in text


def test_what_a_killed_writer_left_is_cleared_away(path, monkeypatch):
    device = Device(book("past"), path)
    device.expose(*POINTS[0], at=when(0))
    with monkeypatch.context() as patch:
        patch.setattr("os.replace", mock.Mock(side_effect=Killed))
        patch.setattr("pathlib.Path.unlink", mock.Mock())  # who is killed clears nothing away
        with pytest.raises(Killed):
            device.expose(*POINTS[0], at=when(1))
    (leftover,) = path.parent.glob(f".{path.name}.*")
    device.expose(*POINTS[0], at=when(1))
    assert not leftover.exists()


def test_nobody_elses_files_are_touched(path):
    name = path.name
    others = [f"{name}.bak", f"{name}~", f"{name}.lock", f".{name}", "notes", "other", f".{name}.d"]
    others += [
        f".{name}.{end}" for end in ("bak", "swp", "20260105", "k1ll3d_x", "notes_01.tmp", "k1ll3d.hideseek-tmp")
    ]
    others += [f".{name}x.k1ll3d_x.hideseek-tmp", f".{name}.x.k1ll3d_x.hideseek-tmp", f"{name}.k1ll3d_x.hideseek-tmp"]
    for other in others:
        path.with_name(other).write_text("mine")
    device = Device(book("past"), path)
    for step in range(3):
        device.expose(*POINTS[0], at=when(step))
    device.restart()
    assert {file.name for file in path.parent.iterdir()} == {name, *others}
    assert {path.with_name(other).read_text() for other in others} == {"mine"}


def test_devices_whose_states_have_like_names_answer_once_each(path, words):
    one, other = Device(book("past"), path), Device(book("past"), path.with_name(f".{path.name}.json"))
    words[:] = [0]
    first = other.expose(*POINTS[0], at=when(0))
    words[:] = [0]
    one.expose(*POINTS[0], at=when(0))
    words[:] = [2**32 - 1]
    assert other.expose(*POINTS[2], at=when(0)) == first


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
        device.expose(*points[0], at=when(0), ahead=points[:1] if ahead else [])
        asked = partial(device.expose, at=when(1), ahead=[point] if ahead else [])
        work.append(lines_run(asked, *point))
    _, first, *others = work
    assert len(first) > 50
    assert others == [first] * len(others)


# from the first place nobody goes to the third
@pytest.mark.parametrize(
    "regions", [GRID, Places(*zip(*GRID.centres, strict=True)), Hexagons.around(*GRID.centres.T, 3)]
)
@pytest.mark.parametrize("name", ["past", "transition", "planned"])
def test_the_same_is_done_on_and_off_the_map_and_at_what_was_never_seen(tmp_path, words, name, regions):
    profile = MarkovProfile.from_matrix(MOVES, regions, step="5min")
    codebook = design(profile, SCENARIOS[name], privacy=hamming(), quality=hamming(), budget=0.2, workers=1)
    words[:] = [0] * 100
    points = [*GRID.centres.tolist(), *OFF_THE_GRID]
    assert_same_work(tmp_path, lambda path: Device(codebook, path), points, ahead=True)


def test_the_state_in_memory_does_not_show_the_true_place(used):
    with used._locked() as (_, state):
        assert "places" not in repr(state)


def test_online_modules_draw_from_nothing_but_the_operating_system():
    root, seen, waiting = Path(hideseek.__file__).parent, set(), ["device"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        tree = ast.parse((root / f"{name}.py").read_text())
        for node in ast.walk(tree):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            elif isinstance(node, ast.Attribute):
                assert node.attr not in ("random", "default_rng"), name
            for module in modules:
                assert "random" not in module.split("."), name
                parts = module.split(".")
                if parts[0] == "hideseek" and len(parts) > 1 and (root / f"{parts[1]}.py").exists():
                    waiting.append(parts[1])
    assert seen == {
        *(
            "device",
            "codebook",
            "stage",
            "table",
            "metrics",
            "scenario",
            "regions",
            "files",
            "arrays",
            "boundary",
            "errors",
        ),
        *("users", "traces", "documents", "sealed", "boundary"),
    }


# ----------------------------------------------------------------------------------------------------------- parameters


def test_a_step_is_the_same_in_every_zone_and_notation(path):
    device = Device(book("past"), path)
    first = device.expose(*POINTS[0], at=BEGIN)
    for same in (
        BEGIN + STEP - timedelta(microseconds=1),
        BEGIN.astimezone(timezone(timedelta(hours=-9, minutes=-30))),
        "2026-01-05T08:00:00Z",
        "2026-01-05 09:04:59.999999+01:00",
        pd.Timestamp("2026-01-05T08:01", tz="Europe/Zurich") + pd.Timedelta("1h"),
    ):
        assert device.expose(*POINTS[2], at=same) == first
    assert device.expose(*POINTS[0], at=BEGIN - timedelta(microseconds=1)).reason == "clock"
    assert device.expose(*POINTS[0], at=BEGIN + STEP).at == "2026-01-05T08:05:00+00:00"


def test_steps_before_1970_are_rounded_down_too(path):
    answer = Device(book("past"), path).expose(*POINTS[0], at="1969-12-31T23:59:59Z")
    assert answer.at == "1969-12-31T23:55:00+00:00"
    assert told(path)["last"] == -1


@pytest.mark.parametrize(
    "at",
    [
        BEGIN.replace(tzinfo=None),
        "2026-01-05T08:00:00",
        "2026-01-05",
        "soon",
        "",
        None,
        0,
        1767600000.0,
        BEGIN.date(),
        pd.NaT,
        datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    ],
)
def test_a_time_without_an_offset_is_a_broken_rule(path, at):
    with pytest.raises(ParameterError, match=r"'at' parameter of Device\.expose"):
        Device(book("past"), path).expose(*POINTS[0], at=at)
    assert not list(path.parent.iterdir())


@pytest.mark.parametrize(
    "point",
    [(90.1, 0.0), (0.0, -180.1), (float("nan"), 0.0), (0.0, float("inf")), ("46", 6.0), (None, 6.0), (True, 6.0)],
)
def test_a_point_that_is_none_is_a_broken_rule(path, point):
    device = Device(book("planned"), path)
    with pytest.raises(ParameterError, match=r"'latitude( and longitude)?' parameter"):
        device.expose(*point, at=when(0), ahead=[POINTS[0]])
    with pytest.raises(ParameterError, match="'ahead'"):
        device.expose(*POINTS[0], at=when(0), ahead=[point])
    assert not path.exists()


def test_a_planned_route_must_be_given_where_a_table_looks_at_it(path):
    device = Device(book("planned"), path)
    for ahead in ((), 5, [5], [(1.0,)], [(1.0, 2.0, 3.0)], "soon"):
        with pytest.raises(ParameterError, match="'ahead'"):
            device.expose(*POINTS[0], at=when(0), ahead=ahead)
    assert device.expose(*POINTS[0], at=when(0), ahead=np.array([POINTS[1]])).status == "exposed"
    assert device.expose(*POINTS[0], at=when(0)).status == "exposed"  # answered already
    assert device.expose(*POINTS[2], at=when(1)).status == "exposed"  # the next place is here
    assert Device(book("unplanned"), path.with_name("other")).expose(*POINTS[0], at=when(0)).status == "exposed"


def test_a_device_needs_a_codebook_with_places_on_the_map_and_steps(path):
    codebook = book("past")
    every_other = dataclasses.replace(codebook.scenario, every=2, seen=(-2,))
    for wrong in (
        None,
        dataclasses.replace(codebook, regions=None),
        dataclasses.replace(codebook, step="soon"),
        dataclasses.replace(codebook, step="0min"),
        dataclasses.replace(codebook, step=""),
        dataclasses.replace(codebook, scenario=every_other),
    ):
        with pytest.raises(ParameterError, match="parameter of Device"):
            Device(wrong, path)


@pytest.mark.parametrize("state", ["", "a\0b", "\ud800", 5, None])
def test_a_state_needs_a_path(state):
    with pytest.raises(ParameterError, match="'state' parameter of Device"):
        Device(book("past"), state)


def test_the_state_stays_where_it_was_when_the_process_moves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    device = Device(book("past"), "state")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    device.expose(*POINTS[0], at=when(0))
    assert (tmp_path / "state").exists()


# -------------------------------------------------------------------------------------------------------------- in bulk


def test_a_simulation_follows_the_codebook_and_touches_no_state(path, monkeypatch):
    device = Device(book("past"), path)
    walks = np.array([[0, 1, 2, 1], [2, 2, 1, 0]], np.uint8)
    monkeypatch.setattr(
        "hideseek.device.codebook_device.random_words", lambda size: np.arange(size, dtype=np.uint32) * 2**31
    )
    expected = device.codebook.simulate(walks.astype(np.int64), lambda size: np.arange(size, dtype=np.uint32) * 2**31)
    np.testing.assert_array_equal(device.simulate(walks), expected)
    np.testing.assert_array_equal(device.simulate(walks.tolist()), expected)
    assert device.simulate(np.zeros((0, 5), int)).shape == (0, 5)
    assert not list(path.parent.iterdir())


@pytest.mark.parametrize(
    "walks", [[0, 1], [[0, 1], [2]], [[0, 3]], [[-1, 0]], [[0.5, 1.0]], [[True, False]], [["home"]], None, [[2**63]]]
)
def test_walks_of_anything_but_places_are_a_broken_rule(path, walks):
    with pytest.raises(ParameterError, match=r"'walks' parameter of Device\.simulate"):
        Device(book("past"), path).simulate(walks)


def test_a_codebook_from_its_file_works_as_the_one_it_was_saved_from(path, tmp_path):
    book("past").save(tmp_path / "codebook")
    first = Device(book("past"), path).expose(*POINTS[0], at=when(0))
    loaded = Device(Codebook.load(tmp_path / "codebook"), path)
    assert loaded.expose(*POINTS[0], at=when(0)) == first
    assert loaded.expose(*POINTS[1], at=when(1)).status == "exposed"


OVERWRITE = """
import sys
from hideseek import Codebook, Device

device = Device(Codebook.load(sys.argv[1]), sys.argv[2])
with open(sys.argv[1], "r+b") as stream:
    stream.write(open(sys.argv[3], "rb").read())
    stream.truncate()
print([device.expose(46.5, 6.5, at=f"2026-01-05T08:{5 * step:02}:00Z").place for step in range(4)])
"""


@pytest.mark.parametrize("becomes", ["empty", "another"])
def test_what_becomes_of_a_file_does_not_change_the_codebook_that_was_read_from_it(tmp_path, becomes):
    book("past", 0.0).save(tmp_path / "codebook")  # exposes where you are
    document, tensors = taken_apart((tmp_path / "codebook").read_bytes())
    for name in tensors:
        if name.endswith("releases"):
            tensors[name][2] = (2).to_bytes(2, "little") * (len(tensors[name][2]) // 2)
    (tmp_path / "another").write_bytes(put_together(document, tensors))
    (tmp_path / "empty").touch()
    done = subprocess.run(
        [sys.executable, "-c", OVERWRITE, *(tmp_path / name for name in ("codebook", "state", becomes))],
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (0, b"[0, 0, 0, 0]\n"), done.stderr
