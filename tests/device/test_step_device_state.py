"""The state of a device is for its owner only, and refused unless a device wrote it."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import (
    Device,
)
from hideseek.errors import StateError
from tests.support.devices import (
    BEGIN,
    POINTS,
    STEP,
    assert_no_bit_can_be_flipped,
    before_seals,
    book,
    resealed,
    told,
    when,
)

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


def forget(path):
    """Make of a state what hideseek 0.2.0 wrote when it was told to forget the history."""
    path.write_text(resealed(json.dumps(told(path) | {"access": None})))


def test_a_state_without_its_history_is_followed_by_a_first_access(used):
    before = used.expose(*POINTS[0], at=when(2))
    forget(used.path)
    assert used.expose(*POINTS[2], at=when(2)) == before
    assert used.expose(*POINTS[2], at=when(1)).reason == "clock"
    assert used.expose(*POINTS[2], at=when(3)).status == "exposed"
    assert told(used.path)["access"]["stage"] == 0


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


@pytest.mark.parametrize("forgotten", [False, True])
def test_no_bit_of_a_state_can_be_flipped(used, forgotten):
    if forgotten:
        forget(used.path)
    assert_no_bit_can_be_flipped(used.path, lambda: used.expose(*POINTS[0], at=when(0)))


def test_a_state_of_0_1_0_has_no_seal_and_gets_it_with_the_next_answer(used, words):
    sealed = told(used.path)
    before_seals(used.path)
    assert used.expose(*POINTS[0], at=when(2)).place == sealed["release"]
    assert "seal" not in told(used.path)
    words[:] = [7]
    used.expose(*POINTS[0], at=when(3))
    assert told(used.path)["hideseek_state"] == 2
    refused = used.path.read_bytes()
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
