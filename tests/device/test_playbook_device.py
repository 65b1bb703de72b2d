"""A playbook's device: belief, label and budget are what enumeration says, over any gaps, and no solver is asked."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import ParameterError, Playbook, PlaybookDevice, Scenario, make_playbook
from hideseek.device.belief_device import SPARE
from hideseek.metrics import from_function
from hideseek.planning import plan
from hideseek.playbook.belief_table import BeliefTable
from tests.support.devices import FAR_AWAY, POINTS, resealed, told, when
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    WORDS,
    believed,
    drive,
    game_of,
    shares_of,
    worth,
)
from tests.support.playbooks import book_at_home, book_of, garbage, playing, with_tables

GAPS = {
    "now": [0, 1, 3, 4, 8],
    "transition": [0, 1, 2, 5, 6, 7],
    "long way": [0, 1, 2, 3, 5, 6],
    "in between": [0, 2, 5],
    "next": [0, 1, 3, 4],
}


def assert_belief_is_enumerated(device, scenario, happened, path):
    step = happened[-1][0]
    expected = {}
    for places, probability in believed(scenario, happened, step):
        state = tuple(places[step + offset] for offset in scenario.known)
        expected[state] = expected.get(state, 0) + probability
    found = dict(zip(map(tuple, device.playbook.states.tolist()), told(path)["belief"], strict=True))
    assert set(expected) <= set(found)
    for state, belief in found.items():
        assert abs(belief - expected.get(state, 0)) <= 1e-12  # rounding of a few sums and products


def assert_label_is_enumerated(label, scenario, happened):
    privacies, losses = zip(
        *(
            worth(scenario, columns, move, believed(scenario, happened[:number], step), step)
            for number, (step, columns, move, _) in enumerate(happened)
        ),
        strict=True,
    )
    assert (label.accesses, label.withheld) == (len(happened), 0)
    assert label.filter == pytest.approx(float(sum(privacies) / len(privacies)), abs=1e-12)
    assert label.worst_filter == pytest.approx(float(min(privacies)), abs=1e-12)
    assert label.quality_loss == pytest.approx(float(sum(losses) / len(losses)), abs=1e-12)
    assert label.worst_loss == pytest.approx(float(max(losses)), abs=1e-12)
    assert all(loss <= Fraction(label.budget) + Fraction(1e-15) for loss in losses)


@pytest.mark.parametrize("outlook", ["plain", "look-ahead", "far-sighted"])
@pytest.mark.parametrize("name", GAPS)
def test_the_belief_is_the_enumerated_posterior_over_any_gaps(path, words, moves, name, outlook):
    device, scenario = playing(path, name, outlook), LIVE_SCENARIOS[name]
    generator, happened = np.random.default_rng(len(name)), []
    for step in GAPS[name]:
        words[:] = [int(generator.integers(WORDS))]
        release = device.expose(*POINTS[generator.integers(3)], at=when(step)).place
        happened.append((step, *moves[-1], release))
        assert_belief_is_enumerated(device, scenario, happened, path)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["now", "transition", "next"])
def test_belief_and_label_are_right_after_random_gaps(path, words, moves, name, seed):
    waits = np.random.default_rng(seed).geometric(1 / 3, size=4)
    steps = [step for step in itertools.accumulate(waits.tolist()) if step - waits[0] <= 6]
    device, scenario = playing(path, name), LIVE_SCENARIOS[name]
    happened = drive(device, words, moves, steps, seed)
    assert all(release is not None for *_, release in happened)
    assert_belief_is_enumerated(device, scenario, happened, path)
    assert_label_is_enumerated(device.label(), scenario, happened)


@pytest.mark.parametrize("name", ["now", "transition", "in between", "next"])
def test_the_label_is_what_enumeration_says_of_what_happened(path, words, moves, name):
    device, scenario = playing(path, name), LIVE_SCENARIOS[name]
    happened = drive(device, words, moves, GAPS[name], seed=3)
    label = device.label()
    assert_label_is_enumerated(label, scenario, happened)
    assert label.ceiling == pytest.approx(game_of(scenario=scenario).ceiling.bound, rel=1e-9)
    assert label.kept == label.filter / label.ceiling
    assert playing(path, name).label() == label  # all of it is in the state


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize(("name", "steps"), [("now", [0, 1, 3]), ("transition", [0, 1, 3]), ("next", [0, 1, 4])])
def test_the_budget_holds_after_every_public_history(path, words, moves, name, steps, budget):
    scenario, device = LIVE_SCENARIOS[name], playing(path, name, budget=budget)

    def expose(before, step, places, word):
        """What follows a state in which the device was at these places; they are private, so any others will do."""
        path.unlink(missing_ok=True)
        if before is not None:
            remembered = dict(zip(before["places"], places, strict=False))
            path.write_text(resealed(json.dumps(before | {"places": remembered})))
            path.chmod(0o600)
        words[:] = [word]
        return device.expose(*POINTS[places[-1]], at=when(step)).place

    def ends(happened, before):
        """The probability of all that can be exposed from here on: 1, if nothing was left out."""
        if len(happened) == len(steps):
            return Fraction(1)
        step, reached = steps[len(happened)], Fraction(0)
        expose(before, step, [1, 1], 0)
        columns, move = moves[-1]
        law = believed(scenario, happened, step)
        _, loss = worth(scenario, columns, move, law, step)
        assert loss <= Fraction(budget) + Fraction(1e-15)  # the device's own belief is rounded to 53 bits
        for release in range(3):
            known = [[places[step + scenario.known[column]] for column in columns] for places, _ in law]
            chance = sum(p * shares_of(move, at)[release] for at, (_, p) in zip(known, law, strict=True))
            if chance:
                row = int(move.weights[:-1, release].argmax())
                word = int(move.weights[row, :release].sum())
                assert expose(before, step, move.inputs[row].tolist(), word) == release
                reached += chance * ends([*happened, (step, columns, move, release)], told(path))
        return reached

    assert ends([], None) == 1


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
    assert_belief_is_enumerated(device, scenario, happened, path)
    assert_label_is_enumerated(device.label(), scenario, happened)


# ------------------------------------------------------------------------------------------------- columns and reasons


def test_after_a_gap_the_mechanism_looks_at_the_places_it_has(path, moves):
    device = playing(path, "long way")
    for step in (0, 1, 2, 3, 5, 6, 7):
        assert device.expose(*POINTS[1], at=when(step)).status == "exposed"
    assert [columns for columns, _ in moves] == [[2], [1, 2], [0, 1, 2], [0, 1, 2], [0, 2], [1, 2], [0, 1, 2]]


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


def test_without_a_place_for_the_quality_an_answer_over_budget_is_withheld(path):
    before = from_function(lambda places, release: float(places[0] != release[0]), name="where you were")
    game = game_of(scenario=Scenario(target=(-1, 0), quality=(-1, 0)), budget=0.1, quality=before)
    device = PlaybookDevice(make_playbook(game, plan(game, walks=1), kilobytes=20), state=path)
    answers = [device.expose(*POINTS[1], at=when(step)) for step in (0, 0, 1, 2, 7, 8)]
    assert [answer.reason for answer in answers] == ["budget", "budget", "", "", "budget", ""]
    label = device.label()
    assert (label.accesses, label.withheld) == (3, 2)
    assert label.worst_loss <= 0.1


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
        assert told(path)["belief"] == belief.tolist()  # nothing was learned where nothing was told
        belief = chain.later(belief)
    label = device.label()
    assert set(reasons) == {"", "floor"}
    assert (label.accesses, label.withheld, label.kept) == (reasons.count(""), reasons.count("floor"), None)
    assert label.worst_filter >= floor


def test_a_floor_that_the_first_access_cannot_keep_is_refused(path):
    with pytest.raises(ParameterError, match=r"'floor' parameter of PlaybookDevice must be at most ([\d.]+),") as told:
        playing(path, floor=0.3)
    most = float(str(told.value).split("at most ")[1].split(",")[0])
    assert most == pytest.approx(0.2, rel=1e-3)  # the budget, as the error and the loss are the same
    assert playing(path, floor=most).expose(*POINTS[0], at=when(0)).status == "exposed"
    for floor in (-1.0, float("nan"), float("inf"), "much"):
        with pytest.raises(ParameterError, match="'floor'"):
            playing(path, floor=floor)


# ----------------------------------------------------------------------------------------------------------- any times


def test_after_half_an_eternity_nothing_is_remembered(path, moves):
    device = playing(path)
    device.expose(*POINTS[0], at=when(0))
    device.expose(*POINTS[0], at=datetime(9999, 12, 31, tzinfo=UTC))
    (_, first), (_, last) = moves
    assert last.privacy == pytest.approx(first.privacy, abs=1e-9)


def test_far_off_the_map_it_is_silent_and_recovers_at_the_next_step(path):
    device = playing(path)
    assert device.expose(*FAR_AWAY[0], at=when(0)).reason == "off the map"
    assert device.expose(*POINTS[0], at=when(1)).status == "exposed"
    before = path.read_bytes()
    assert device.expose(*FAR_AWAY[0], at=when(2)).reason == "off the map"
    assert path.read_bytes() == before
    assert device.expose(*POINTS[2], at=when(3)).status == "exposed"
    assert device.label().accesses == 2


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
