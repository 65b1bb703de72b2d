"""What is a playbook device's own: whatever its file holds, the label is right, and no solver is asked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Playbook, PlaybookDevice
from hideseek.device.belief_device import SPARE
from hideseek.playbook.belief_table import BeliefTable
from tests.support.devices import POINTS, assert_state_is_refused, told, when
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    WORDS,
    assert_belief_is_enumerated,
    assert_label_is_enumerated,
    live,
)
from tests.support.playbooks import book_at_home, book_of, garbage, playing, with_tables
from tests.support.processes import assert_a_kill_changes_no_output

# ---------------------------------------------------------------------------------------------------- whatever it holds


@given(seed=st.integers(0, 10**6), name=st.sampled_from(["now", "transition", "next"]), start=st.integers(0, 40))
@settings(max_examples=25)
def test_whatever_tables_a_file_holds_the_label_is_right(tmp_path_factory, seed, name, start):
    """A file may choose as badly as it likes: the budget holds, and the label says what is left."""
    path, happened, steps = tmp_path_factory.mktemp("forged") / "state", [], [start]
    generator, scenario = np.random.default_rng(seed), LIVE_SCENARIOS[name]
    device = PlaybookDevice(garbage(book_of(name), seed), state=path)
    played, original = [], device._table_for
    device._table_for = lambda belief, columns: played.append((columns, original(belief, columns))) or played[-1][1]
    for wait in generator.geometric(1 / 2, size=3).tolist():
        steps.append(min(steps[-1] + wait, start + 5))
    for step in dict.fromkeys(steps):
        answer = device.expose(*POINTS[generator.integers(3)], at=when(step))
        assert answer.status == "exposed"
        happened.append((step, *played[-1], answer.place))
    assert_belief_is_enumerated(device, scenario, happened)
    assert_label_is_enumerated(device.label(), scenario, happened)


# ------------------------------------------------------------------------------------------------- columns and reasons


def test_after_the_truth_and_a_gap_what_cannot_be_has_a_row_too(path, moves):
    device = playing(path, "long way", budget=0.0)  # the truth is exposed
    for step in (0, 1, 2, 4):
        assert device.expose(*POINTS[0], at=when(step)).place == 0
    columns, move = moves[-1]
    assert columns == [0, 2]
    assert (move.weights.sum(axis=1) == WORDS).all()
    assert (move.weights >= 0).all()


def test_who_is_where_hardly_anybody_can_be_is_answered_all_the_same(path, words):
    """Who is at the last place releases what nobody else does, with half of a probability that has no half."""
    table = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.375, 0.625]])
    stay = replace(book_of(), start=np.array([1.0, 1e-300, 5e-324]), moves=np.eye(3), wait=np.eye(3))
    device = PlaybookDevice(with_tables(stay, [table], [stay.start]), state=path)
    for step in (0, 1, 2, 9, 10**6):
        words[:] = [0]
        assert device.expose(*POINTS[2], at=when(step)).status == "exposed"
    assert device.label().worst_loss <= 0.2


def test_an_answer_is_withheld_exactly_where_the_table_is_below_the_floor(path, words, moves):
    floor = 0.28
    device, generator = PlaybookDevice(book_at_home(), state=path, floor=floor), np.random.default_rng(0)
    moves.clear()  # of the first check
    chain, reasons = device.playbook, []
    belief = chain.start
    for step in range(60):
        words[:] = [int(generator.integers(WORDS))]
        answer = device.expose(*POINTS[generator.integers(3)], at=when(step))
        reasons.append(answer.reason)
        played = chain.play(belief, floor=floor * (1 + SPARE))
        assert answer.reason == ("floor" if played.privacy < floor else "")
        if not answer.reason:
            assert isinstance(moves[-1][1], BeliefTable)
            belief = chain.learned(belief, played.by_state, release=answer.place)
        assert told(path)["belief"] == pytest.approx(belief, rel=1e-12)  # nothing was learned where nothing was told
        belief = chain.later(belief)
    label = device.label()
    assert set(reasons) == {"", "floor"}
    assert (label.accesses, label.withheld, label.kept) == (reasons.count(""), reasons.count("floor"), None)
    assert label.worst_filter >= floor


@pytest.mark.parametrize("name", ["now", "transition"])
def test_a_loaded_playbook_goes_on_to_the_last_bit(tmp_path, words, moves, name):
    book_of(name).save(tmp_path / "book")
    device = playing(tmp_path / "one", name)
    for number, step in enumerate([0, 1, 2, 4, 5, 11, 12]):
        for each in (device, PlaybookDevice(Playbook.load(tmp_path / "book"), state=tmp_path / "two")):
            words[:] = [number * 2**28 + 12345]
            each.expose(*POINTS[number % 3], at=when(step))
        (_, one), (_, two) = moves[-2:]
        assert (one.weights == two.weights).all()
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_device_loads_no_solver(tmp_path):
    book_of().save(tmp_path / "book")
    program = (
        "import sys; from hideseek import Playbook, PlaybookDevice\n"
        "device = PlaybookDevice(Playbook.load(sys.argv[1]), state=sys.argv[2])\n"
        "assert device.expose(46.5, 6.5, at='2026-01-05T08:00:00+00:00').status == 'exposed'\n"
        "print(device.label().accesses, [name for name in ('scipy', 'highspy', 'pandas') if name in sys.modules])"
    )
    asked = [sys.executable, "-c", program, tmp_path / "book", tmp_path / "state"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "1 []\n"


@pytest.mark.parametrize("name", ["now", "transition"])
def test_killed_at_any_moment_the_same_output_follows_or_none_was_given(tmp_path, name):
    book_of(name).save(tmp_path / "rule")
    assert_a_kill_changes_no_output("playbook", tmp_path)


def test_a_state_of_another_playbook_or_of_a_plan_is_refused(path):
    playing(path).expose(*POINTS[0], at=when(0))
    assert_state_is_refused(playing(path, budget=0.4), "another playbook")
    assert_state_is_refused(playing(path, "transition"), "another playbook")
    assert_state_is_refused(live(path), "another plan")
    path.unlink()
    live(path).expose(*POINTS[0], at=when(0))
    assert_state_is_refused(playing(path), "another playbook")


def test_a_bad_playbook_answers_every_access_too(path):
    device = PlaybookDevice(garbage(book_of(), 3), state=path)
    assert all(device.expose(*POINTS[step % 3], at=when(step * step)).status == "exposed" for step in range(30))
    assert device.label().worst_loss <= 0.2
