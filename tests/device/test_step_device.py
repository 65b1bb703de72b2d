"""One output per step, whatever happens: retries, crashes, other processes, copies."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import pkgutil
import shutil
import subprocess
import sys
from contextlib import ExitStack, suppress
from functools import partial
from itertools import count
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from hideseek import (
    Device,
    Grid,
    MarkovProfile,
    Scenario,
    design,
)
from hideseek.device.step_device import random_word
from hideseek.errors import StateError
from hideseek.metrics import hamming
from tests.support.devices import (
    FAR_AWAY,
    POINTS,
    SCENARIOS,
    Day,
    book,
    told,
    when,
)
from tests.support.processes import assert_a_kill_changes_no_output, assert_all_expose_the_same


def of_scenario(name):
    class Other(Day):
        pass

    Other.name = name
    return Other


@pytest.mark.parametrize("name", SCENARIOS)
def test_one_output_at_every_access_through_gaps_retries_crashes_and_clocks(name):
    run_state_machine_as_test(
        lambda: of_scenario(name)(),
        settings=settings(max_examples=20, stateful_step_count=25),
    )


def test_without_a_release_that_a_table_looks_at_the_access_is_a_first_one(path):
    both = Scenario(target=(0, 1), seen=(-2, -1), release=(0, 1), causal=True)
    profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Grid(0, 1, 0, 2, rows=1, columns=2))
    device = Device(design(profile, both, privacy=hamming(), quality=hamming(), budget=0.5, workers=1), path)
    stages = {}
    for step in (0, 2, 3, 4, 6, 12, 13, 14):  # not 1, not 5, and neither 7 to 11
        assert device.expose(0.5, 1.5, at=when(step)).status == "exposed"
        stages[step] = told(path)["access"]["stage"]
    assert stages == {0: 0, 2: 0, 3: 0, 4: 1, 6: 0, 12: 0, 13: 0, 14: 1}


def test_without_a_row_for_what_was_seen_the_access_is_a_first_one(path, words):
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
    words[:] = [0, 0]
    assert device.expose(*POINTS[0], at=when(0)).place == 0
    assert device.expose(*POINTS[0], at=when(1)).place == 0
    assert told(path)["access"]["stage"] == 0


@pytest.mark.parametrize("name", ["past", "transition", "long past", "in between"])
def test_far_off_the_map_nothing_is_exposed_and_the_next_access_is_answered(path, name):
    device, every = Device(book(name), path), SCENARIOS[name].every
    for point in FAR_AWAY:
        assert device.expose(*point, at=when(0)).reason == "off the map"
    assert not path.exists()
    answers = [device.expose(*POINTS[0], at=when(step)) for step in (0, every)]
    before = path.read_bytes()
    for point in FAR_AWAY:
        assert device.expose(*point, at=when(2 * every)).reason == "off the map"
        assert device.expose(*point, at=when(every)) == answers[1]  # what was told is told again, wherever one is
        assert device.expose(*point, at=when(0)).reason == "clock"
    assert path.read_bytes() == before
    assert device.expose(*POINTS[1], at=when(3 * every)).status == "exposed"
    assert told(path)["access"]["stage"] == 0


def test_killed_at_any_moment_the_same_output_follows_or_none_was_given(tmp_path):
    book("past").save(tmp_path / "rule")
    assert_a_kill_changes_no_output("codebook", tmp_path)


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
            original = pkgutil.resolve_name(name)
            stack.enter_context(mock.patch(name, partial(meeting, original)))
        ask(one, POINTS[0])
    if left > 0:
        return []
    ask(other, POINTS[1])
    ask(one, POINTS[0])
    return answers


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("meanwhile", [delete_others, put_copy, put_copy_of_folder])
def test_two_devices_agree_whatever_is_deleted_or_copied_beside_a_state(tmp_path, step, meanwhile):
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
def test_two_devices_agree_whatever_happens_before_a_state_is_written(tmp_path, monkeypatch, step, meanwhile):
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
