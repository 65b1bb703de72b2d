"""A device with a codebook: exact draws, and answers for what it was asked."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import (
    Codebook,
    Device,
    ParameterError,
)
from hideseek.device.step_device import random_word, random_words
from tests.support.devices import (
    BEGIN,
    POINTS,
    SCENARIOS,
    STEP,
    book,
    told,
    when,
)
from tests.support.fuzz_sealed import put_together, taken_apart
from tests.support.saved_codebooks import with_gaps

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
                    drawn = [
                        device.draw(number, position, seen=key[: length - width], known=key[length - width :])
                        for _ in "ab"
                    ]
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


@pytest.mark.parametrize("gap", [2, 3, 4, 1000])
@pytest.mark.parametrize("name", ["past", "transition", "long past", "in between"])
def test_after_a_gap_the_first_tables_draw_again(path, words, name, gap):
    assert_drawn_by(book(name), path, words, gap, [0, 1, 2, 0, 1])


@pytest.mark.parametrize("name", ["past", "transition", "long past", "in between"])
def test_a_file_with_tables_for_gaps_draws_from_them_and_then_starts_afresh(path, words, name):
    codebook = with_gaps(name.replace(" ", "-"))
    for gap, own in enumerate(codebook.gaps, start=2):
        assert_drawn_by(codebook, path.with_name(f"{gap}"), words, gap, [0, 1, 2, own, codebook.stages[own].then])
    assert_drawn_by(codebook, path, words, len(codebook.gaps) + 2, [0, 1, 2, 0, 1])


def assert_drawn_by(codebook, path, words, gap, numbers):
    """Three accesses, a gap, and two more are drawn by the tables of these stages."""
    every, device = codebook.scenario.every, Device(codebook, path)
    steps = [0, every, 2 * every, (2 + gap) * every, (3 + gap) * every]
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
        first = device.expose(*POINTS[0], at=when(3 * step)).place
        own, default = table.rows(np.array([[first]] * 2), np.array([[0, 2], [3, 3]]))
        assert own == default >= 0
        assert (
            device.expose(*POINTS[2], at=when(3 * step + 1)).place == table.draw(np.array([own]), np.array([word]))[0]
        )


def test_off_the_grid_the_nearest_place_counts(path):
    device = Device(book("past", 0.0), path)
    assert device.expose(46.5, 5.0, at=when(0)).place == 0
    assert device.expose(47.2, 7.5, at=when(1)).place == 1
    assert device.expose(45.8, 9.001, at=when(2)).place == 2


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
def test_a_codebook_does_not_change_with_the_file_it_was_read_from(tmp_path, becomes):
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


def test_a_device_shows_its_codebook_and_its_state_and_nothing_else(path):
    device = Device(book("past"), path)
    assert repr(device) == f"Device(codebook={book('past').sha256[:12]}, state='state.json')"
    assert device._repr_html_().count("<tr>") == 4
