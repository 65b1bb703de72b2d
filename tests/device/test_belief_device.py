"""What live devices and devices with a playbook share: belief, label and budget are what enumeration says."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from hideseek import LiveDevice, ParameterError, PlaybookDevice, Scenario, make_playbook
from hideseek.device import LiveLabel
from hideseek.metrics import from_function
from hideseek.planning import plan
from tests.support.devices import BEGIN, FAR_AWAY, POINTS, resealed, told, when
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    WORDS,
    assert_belief_is_enumerated,
    assert_label_is_enumerated,
    believed,
    drive,
    game_of,
    shares_of,
    worth,
)

ACCESSES = {
    "now": [0, 1, 3, 4, 8],
    "transition": [0, 1, 2, 5, 6, 7],
    "long way": [0, 1, 2, 3, 5, 6],
    "in between": [0, 2, 5],
    "next": [0, 1, 3, 4],
}

# ------------------------------------------------------------------------------------------------ belief, budget, label


@pytest.mark.parametrize("outlook", ["plain", "look-ahead", "far-sighted"])
@pytest.mark.parametrize("name", ACCESSES)
def test_the_belief_is_the_enumerated_posterior_over_any_gaps(fresh, path, words, moves, name, outlook):
    device, scenario = fresh(path, name, outlook), LIVE_SCENARIOS[name]
    generator, happened = np.random.default_rng(len(name)), []
    for step in ACCESSES[name]:
        words[:] = [int(generator.integers(WORDS))]
        release = device.expose(*POINTS[generator.integers(3)], at=when(step)).place
        happened.append((step, *moves[-1], release))
        assert_belief_is_enumerated(device, scenario, happened)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["now", "transition", "next"])
def test_belief_and_label_are_right_after_random_gaps(fresh, path, words, moves, name, seed):
    waits = np.random.default_rng(seed).geometric(1 / 3, size=4)
    steps = [step for step in itertools.accumulate(waits.tolist()) if step - waits[0] <= 6]
    device, scenario = fresh(path, name), LIVE_SCENARIOS[name]
    happened = drive(device, words, moves, steps, seed)
    assert all(release is not None for *_, release in happened)
    assert_belief_is_enumerated(device, scenario, happened)
    assert_label_is_enumerated(device.label(), scenario, happened)


@pytest.mark.parametrize("name", ["now", "transition", "in between", "next"])
def test_the_label_is_what_enumeration_says_of_what_happened(fresh, path, words, moves, name):
    device, scenario = fresh(path, name), LIVE_SCENARIOS[name]
    happened = drive(device, words, moves, ACCESSES[name], seed=3)
    label = device.label()
    assert_label_is_enumerated(label, scenario, happened)
    assert label.ceiling == pytest.approx(game_of(scenario=scenario).ceiling.bound, rel=1e-9)
    assert label.budget == 0.2
    assert label.kept == label.filter / label.ceiling
    assert fresh(path, name).label() == label  # all of it is in the state


def test_a_label_without_an_access_says_so(fresh, path):
    label = fresh(path).label()
    assert (label.accesses, label.withheld) == (0, 0)
    assert all(math.isnan(number) for number in (label.filter, label.worst_filter, label.quality_loss, label.kept))
    assert not path.exists()
    with pytest.raises(dataclasses.FrozenInstanceError):
        label.filter = 1.0
    assert isinstance(label, LiveLabel)
    assert repr(label).startswith("LiveLabel(no access yet, accesses=0, withheld=0, budget=")
    for shown in (repr(label), label._repr_html_()):
        assert "no access yet" in shown
        assert "nan" not in shown


def test_a_label_is_told_with_four_digits():
    label = LiveLabel(12345, 0, 1 / 3, 0.25, 0.1, 0.2, 0.2, 2 / 3, 0.5)
    told = "accesses=12345, withheld=0, filter=0.3333, worst_filter=0.25, quality_loss=0.1, worst_loss=0.2"
    assert repr(label) == f"LiveLabel({told}, budget=0.2, ceiling=0.6667, kept=0.5)"


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize(("name", "steps"), [("now", [0, 1, 3]), ("transition", [0, 1, 3]), ("next", [0, 1, 4])])
def test_the_budget_holds_after_every_public_history(fresh, path, words, moves, name, steps, budget):
    scenario, device = LIVE_SCENARIOS[name], fresh(path, name, budget=budget)

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


# ---------------------------------------------------------------------------------------------------------- the draws


@pytest.mark.parametrize("name", ["now", "transition"])
def test_the_device_exposes_what_its_move_draws(fresh, path, words, moves, name):
    device, generator = fresh(path, name), np.random.default_rng(1)
    for step in range(6):
        words[:] = [word] = [int(generator.integers(WORDS))]
        place = device.expose(*POINTS[step % 3], at=when(step)).place
        columns, move = moves[-1]
        known = [(step + LIVE_SCENARIOS[name].known[column]) % 3 for column in columns]
        assert place == move.draw(known, word)


def test_what_cannot_be_is_exposed_as_the_rest_on_the_whole(fresh, path, words, moves):
    device = fresh(path, "transition")
    words[:] = [0, 0, 0]
    device.expose(*POINTS[0], at=when(0))
    place = device.expose(*POINTS[2], at=when(1)).place  # nobody goes from 0 to 2 at once
    _, move = moves[-1]
    assert [0, 2] not in move.inputs.tolist()
    assert place == int(np.flatnonzero(move.weights[-1])[0])
    assert device.expose(*POINTS[2], at=when(2)).status == "exposed"


# ---------------------------------------------------------------------------------------------------------- any times


def test_steps_not_due_and_clocks_that_go_back_leave_the_state_alone(fresh, path):
    device = fresh(path, "in between")
    first = device.expose(*POINTS[0], at=when(0))
    before = path.read_bytes()
    assert device.expose(*POINTS[1], at=when(1)).reason == "not due"
    assert device.expose(*POINTS[1], at=when(-1)).reason == "clock"
    assert device.expose(*POINTS[1], at=when(0)) == first
    assert path.read_bytes() == before
    assert device.expose(*POINTS[1], at=when(3)).status == "exposed"


def test_off_the_grid_the_nearest_place_counts(fresh, path):
    device = fresh(path, budget=0.0)
    assert [device.expose(46.5, 5.0, at=when(0)).place, device.expose(47.2, 7.5, at=when(1)).place] == [0, 1]
    before = path.read_bytes()
    assert device.expose(90.0, 7.5, at=when(2)).reason == "off the map"
    assert path.read_bytes() == before
    assert device.expose(46.5, 6.5, at=when(3)).status == "exposed"
    assert device.label().accesses == 3


def test_far_off_the_map_it_is_silent_and_recovers_at_the_next_step(fresh, path):
    device = fresh(path)
    assert device.expose(*FAR_AWAY[0], at=when(0)).reason == "off the map"
    assert device.expose(*POINTS[0], at=when(1)).status == "exposed"
    before = path.read_bytes()
    assert device.expose(*FAR_AWAY[0], at=when(2)).reason == "off the map"
    assert path.read_bytes() == before
    assert device.expose(*POINTS[2], at=when(3)).status == "exposed"
    assert device.label().accesses == 2


def test_after_half_an_eternity_nothing_is_remembered(fresh, path, moves):
    device = fresh(path)
    device.expose(*POINTS[0], at=when(0))
    device.expose(*POINTS[0], at=datetime(9999, 12, 31, tzinfo=UTC))
    (_, first), (_, last) = moves
    assert last.privacy == pytest.approx(first.privacy, abs=1e-9)


# ---------------------------------------------------------------------------------------- what a scenario looks back at


def test_true_places_are_kept_only_while_an_access_may_look_at_them(fresh, path):
    zero = (BEGIN - datetime(1970, 1, 1, tzinfo=UTC)) // (when(1) - when(0))
    for name, expected in {
        "now": {0: [], 1: [], 2: [], 6: []},
        "next": {0: [], 1: [], 2: [], 6: []},
        "transition": {0: [0], 1: [1], 2: [2], 6: [6]},
        "long way": {0: [0], 1: [0, 1], 2: [1, 2], 6: [6]},
        "in between": {0: [0], 2: [2], 5: [5]},
    }.items():
        file = path.with_name(name)
        device = fresh(file, name)
        for step, places in expected.items():
            device.expose(*POINTS[1], at=when(step))
            assert [int(when) - zero for when in told(file)["places"]] == places
            assert set(told(file)["places"].values()) <= {1}


def test_after_a_gap_the_mechanism_looks_at_the_places_it_has(fresh, path, moves):
    device = fresh(path, "long way")
    for step in (0, 1, 2, 3, 5, 6, 7):
        assert device.expose(*POINTS[1], at=when(step)).status == "exposed"
    assert [columns for columns, _ in moves] == [[2], [1, 2], [0, 1, 2], [0, 1, 2], [0, 2], [1, 2], [0, 1, 2]]


@pytest.mark.parametrize("kind", [LiveDevice, PlaybookDevice])
def test_without_a_place_for_the_quality_an_answer_over_budget_is_withheld(path, kind):
    before = from_function(lambda places, release: float(places[0] != release[0]), name="where you were")
    scenario = Scenario(target=(-1, 0), quality=(-1, 0))
    game = game_of(scenario=scenario, budget=0.1, quality=before)
    rule = game, plan(game, walks=1)
    device = kind(*(rule if kind is LiveDevice else [make_playbook(*rule, kilobytes=20)]), state=path)
    answers = [device.expose(*POINTS[1], at=when(step)) for step in (0, 0, 1, 2, 7, 8)]
    assert [answer.reason for answer in answers] == ["budget", "budget", "", "", "budget", ""]
    label = device.label()
    assert (label.accesses, label.withheld) == (3, 2)
    assert label.worst_loss <= 0.1


# ----------------------------------------------------------------------------------------------------------- parameters


def test_a_floor_that_the_first_access_cannot_keep_is_refused_with_what_can(fresh, path):
    with pytest.raises(ParameterError, match=r"'floor' parameter of \w+Device must be at most [\d.]+, the") as caught:
        fresh(path, floor=0.21)
    most = float(str(caught.value).split("at most ")[1].split(",")[0])
    assert 0.2 * (1 - 3e-4) <= most <= 0.2  # Hamming/Hamming: the ceiling is the budget
    assert fresh(path, floor=most).expose(*POINTS[0], at=when(0)).status == "exposed"
    for floor in (-1.0, float("nan"), float("inf"), "much"):
        with pytest.raises(ParameterError, match="'floor'"):
            fresh(path, floor=floor)


def test_errors_name_the_device_that_was_asked(fresh, path):
    name = type(fresh(path)).__name__
    with pytest.raises(ParameterError, match=rf"'at' parameter of {name}\.expose"):
        fresh(path).expose(*POINTS[0], at="soon")
    with pytest.raises(ParameterError, match=f"'state' parameter of {name}"):
        fresh("")
    assert repr(fresh(path)).startswith(f"{name}({'plan' if name == 'LiveDevice' else 'playbook'}=")
