"""A live device: its belief is the enumerated posterior, and its budget holds after every history."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from hideseek import (
    LiveDevice,
    MarkovProfile,
    ParameterError,
    Scenario,
    load_plan,
    save_plan,
)
from hideseek.device import LiveLabel
from hideseek.device.live_device import BeliefTable
from hideseek.errors import PlanError
from hideseek.metrics import from_function, hamming
from hideseek.planning import BeliefGame, plan
from tests.support.devices import (
    BEGIN,
    GRID,
    MOVES,
    POINTS,
    Day,
    resealed,
    told,
    when,
)
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    PROFILE,
    WORDS,
    believed,
    drive,
    game_of,
    live,
    planned,
    shares_of,
    worth,
)
from tests.support.processes import assert_all_expose_the_same

# ------------------------------------------------------------------------------------------------ belief, budget, label

ACCESSES = {
    "now": [0, 1, 3, 4, 8],
    "transition": [0, 1, 2, 5, 6, 7],
    "long way": [0, 1, 2, 3, 5, 6],
    "in between": [0, 2, 5],
    "next": [0, 1, 3, 4],
}


@pytest.mark.parametrize("outlook", ["plain", "look-ahead", "far-sighted"])
@pytest.mark.parametrize("name", LIVE_SCENARIOS)
def test_the_belief_is_the_enumerated_posterior_over_any_gaps(path, words, moves, name, outlook):
    device, scenario = live(path, name, outlook), LIVE_SCENARIOS[name]
    generator, happened = np.random.default_rng(len(name)), []
    for step in ACCESSES[name]:
        words[:] = [int(generator.integers(WORDS))]
        release = device.expose(*POINTS[generator.integers(3)], at=when(step)).place
        happened.append((step, *moves[-1], release))
        expected = {}
        for places, probability in believed(scenario, happened, step):
            state = tuple(places[step + offset] for offset in scenario.known)
            expected[state] = expected.get(state, 0) + probability
        found = dict(zip(map(tuple, device.game.states.tolist()), told(path)["belief"], strict=True))
        assert set(expected) <= set(found)
        for state, belief in found.items():
            assert abs(belief - expected.get(state, 0)) <= 1e-12  # rounding of a few sums and products


@pytest.mark.parametrize("name", ["now", "transition", "in between", "next"])
def test_the_label_is_what_enumeration_says_of_what_happened(path, words, moves, name):
    device, scenario = live(path, name), LIVE_SCENARIOS[name]
    happened = drive(device, words, moves, ACCESSES[name], seed=3)
    privacies, losses = zip(
        *(
            worth(scenario, columns, move, believed(scenario, happened[:number], step), step)
            for number, (step, columns, move, _) in enumerate(happened)
        ),
        strict=True,
    )
    label = device.label()
    assert (label.accesses, label.withheld, label.budget) == (len(happened), 0, 0.2)
    assert label.filter == pytest.approx(float(sum(privacies) / len(privacies)), abs=1e-12)
    assert label.worst_filter == pytest.approx(float(min(privacies)), abs=1e-12)
    assert label.quality_loss == pytest.approx(float(sum(losses) / len(losses)), abs=1e-12)
    assert label.worst_loss == pytest.approx(float(max(losses)), abs=1e-12)
    assert label.ceiling == device.game.ceiling.bound
    assert label.kept == label.filter / label.ceiling
    assert live(path, name).label() == label  # all of it is in the state


def test_a_label_without_an_access_says_so(path):
    label = live(path).label()
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
def test_the_budget_holds_after_every_public_history(path, words, moves, name, steps, budget):
    scenario, device = LIVE_SCENARIOS[name], live(path, name, budget=budget)

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


def test_rounding_that_breaks_the_budget_is_mended_by_what_is_cheapest():
    # thirds of 2^32 round up for the dear release of every row
    game = BeliefGame.of(PROFILE, privacy=hamming(), quality=hamming(), budget=2 / 3)
    belief = np.array([0.25, 0.5, 0.25])
    table = np.array([[1 / 3 - 1e-11, 2 / 3 + 1e-11, 0], [0, 1 / 3, 2 / 3], [2 / 3, 0, 1 / 3]])
    assert np.vdot(game.cost * belief[:, None], table) > 2 / 3
    move = BeliefTable.of(game, belief, [0], table)
    exact = sum(
        Fraction(float(belief[place])) * Fraction(int(move.weights[place, release]), WORDS)
        for place, release in itertools.product(range(3), repeat=2)
        if place != release
    )
    assert exact <= Fraction(2 / 3)
    assert move.weights.sum(axis=1).tolist() == [WORDS] * 4
    assert move.by_state == pytest.approx(table, abs=1e-9)


def test_states_that_look_alike_get_the_row_of_the_likeliest():
    game = BeliefGame.of(
        PROFILE, scenario=LIVE_SCENARIOS["transition"], privacy=hamming(), quality=hamming(), budget=1.0
    )
    assert game.states[[0, 2]].tolist() == [[0, 0], [1, 0]]
    belief, table = np.full(len(game.states), 1 / 6), np.tile([0.25, 0.5, 0.25], (len(game.states), 1))
    belief[0], table[0] = 0.0, [1.0, 0.0, 0.0]  # nobody is there, so its row may be anything
    move = BeliefTable.of(game, belief, [1], table)
    assert move.inputs.tolist() == [[0], [1], [2]]
    assert (move.weights == [2**30, 2**31, 2**30]).all()
    assert (move.by_state == [0.25, 0.5, 0.25]).all()


@given(seed=st.integers(0, 10**6), share=st.floats(0.01, 0.99))
@settings(max_examples=60)
def test_a_move_keeps_the_budget_and_is_judged_by_its_weights(seed, share):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 6))
    chain = generator.dirichlet(np.ones(size), size=size)
    metric = generator.random((size, size)) * (1 - np.eye(size)) * 1e4
    budget = share * float(metric.max())
    game = BeliefGame.of(MarkovProfile.from_matrix(chain), privacy=metric, quality=metric, budget=budget)
    belief = generator.dirichlet(np.ones(size))
    belief[generator.integers(size)] = 0
    belief /= belief.sum()
    table = generator.dirichlet(np.ones(size), size=size)
    loss = np.vdot(game.cost * belief[:, None], table)
    if loss > budget:
        table = table + min(1, (loss - budget) / loss) * (np.eye(size) - table)  # the true place costs nothing
    move = BeliefTable.of(game, belief, [0], table)
    assert (move.weights.sum(axis=1) == WORDS).all()
    assert (move.weights >= 0).all()
    exact = sum(
        Fraction(float(belief[i])) * Fraction(float(game.cost[i, o])) * Fraction(int(move.weights[i, o]), WORDS)
        for i in range(size)
        for o in range(size)
    )
    assert exact <= Fraction(budget) * (1 + Fraction(1e-15))
    assert move.loss == pytest.approx(float(exact), rel=1e-12)
    joint = belief[:, None] * move.weights[:-1] / WORDS
    assert move.privacy == pytest.approx((game.error @ joint).min(axis=0).sum(), rel=1e-12)
    off = np.abs(move.by_state - table)[belief > 0].max()
    assert off <= 1e-5  # a word, and a mix of at most the spare loss
    nowhere = belief == 0
    assert (move.weights[:-1][nowhere] == move.weights[-1]).all()
    assert np.abs(move.weights[-1] / WORDS - belief @ move.by_state).max() <= 1 / WORDS


# ------------------------------------------------------------------------------------------------------- exact draws


def test_a_draw_follows_the_weights_at_every_boundary():
    game = BeliefGame.of(
        PROFILE, scenario=LIVE_SCENARIOS["transition"], privacy=hamming(), quality=hamming(), budget=0.3
    )
    table = np.random.default_rng(0).dirichlet(np.ones(3), size=len(game.states))
    table[0] = [0, 0.5, 0.5]
    move = BeliefTable.of(game, game.start, [0, 1], table)
    for known, weights in zip([*move.inputs.tolist(), [0, 2]], move.weights.tolist(), strict=True):
        ends = list(itertools.accumulate(weights))
        assert ends[-1] == WORDS
        for release, (begin, end) in enumerate(itertools.pairwise([0, *ends])):
            if end > begin:  # the first and the last word: then each release has as many words as its weight says
                assert [move.draw(known, word) for word in (begin, end - 1)] == [release, release]


@pytest.mark.parametrize("name", ["now", "transition"])
def test_the_device_exposes_what_its_move_draws(path, words, moves, name):
    device, generator = live(path, name), np.random.default_rng(1)
    for step in range(6):
        words[:] = [word] = [int(generator.integers(WORDS))]
        place = device.expose(*POINTS[step % 3], at=when(step)).place
        columns, move = moves[-1]
        known = [(step + LIVE_SCENARIOS[name].known[column]) % 3 for column in columns]
        assert place == move.draw(known, word)


def test_what_cannot_be_is_exposed_as_the_rest_on_the_whole(path, words, moves):
    device = live(path, "transition")
    words[:] = [0, 0, 0]
    device.expose(*POINTS[0], at=when(0))
    place = device.expose(*POINTS[2], at=when(1)).place  # nobody goes from 0 to 2 at once
    _, move = moves[-1]
    assert [0, 2] not in move.inputs.tolist()
    assert place == int(np.flatnonzero(move.weights[-1])[0])
    assert device.expose(*POINTS[2], at=when(2)).status == "exposed"


# ---------------------------------------------------------------------------------------------- one output, one step


class LiveDay(Day):
    """Two live devices on one state through anything."""

    def fresh(self):
        return live(Path(self.folder.name) / "state")

    def asking(self, device, point):
        return device.expose(*point, at=when(self.now) + (when(1) - when(0)) / 3)


def test_at_most_one_output_a_step_through_retries_crashes_and_clocks():
    run_state_machine_as_test(LiveDay, settings=settings(max_examples=25, stateful_step_count=25))


@pytest.mark.parametrize("outlook", ["plain", "secondary", "look-ahead", "far-sighted"])
@pytest.mark.parametrize("name", ["now", "transition"])
def test_a_new_process_goes_on_to_the_last_bit(tmp_path, words, moves, name, outlook):
    steps = [0, 1, 2, 4, 5, 11, 12]
    device = live(tmp_path / "one", name, outlook)
    for number, step in enumerate(steps):
        answers = []
        for each in (device, live(tmp_path / "two", name, outlook)):
            words[:] = [number * 2**28 + 12345]
            answers.append(each.expose(*POINTS[number % 3], at=when(step)))
        assert answers[0] == answers[1]
        (_, one), (_, two) = moves[-2:]
        assert (one.weights == two.weights).all()
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


ASK = """
import sys
from tests.support.live_devices import live

device = live(sys.argv[1])
for line in sys.stdin:
    answer = device.expose(46.5, float(sys.argv[2]), at=line.strip())
    print(answer.status, answer.place, flush=True)
"""


def test_two_processes_agree_at_every_step(path):
    assert_all_expose_the_same(ASK, [(path, 6.5), (path, 8.5)], map(when, range(60)))


def test_steps_not_due_and_clocks_that_go_back_leave_the_state_alone(path):
    device = live(path, "in between")
    first = device.expose(*POINTS[0], at=when(0))
    before = path.read_bytes()
    assert device.expose(*POINTS[1], at=when(1)).reason == "not due"
    assert device.expose(*POINTS[1], at=when(-1)).reason == "clock"
    assert device.expose(*POINTS[1], at=when(0)) == first
    assert path.read_bytes() == before
    assert device.expose(*POINTS[1], at=when(3)).status == "exposed"


def test_off_the_grid_the_nearest_place_counts(path):
    device = live(path, budget=0.0)
    assert [device.expose(46.5, 5.0, at=when(0)).place, device.expose(47.2, 7.5, at=when(1)).place] == [0, 1]
    before = path.read_bytes()
    assert device.expose(90.0, 7.5, at=when(2)).reason == "off the map"
    assert path.read_bytes() == before
    assert device.expose(46.5, 6.5, at=when(3)).status == "exposed"
    assert device.label().accesses == 3


def test_after_half_an_eternity_nothing_is_remembered(path, moves):
    device = live(path)
    device.expose(*POINTS[0], at=when(0))
    device.expose(*POINTS[0], at=datetime(9999, 12, 31, tzinfo=UTC))
    (_, first), (_, last) = moves
    assert last.privacy == pytest.approx(first.privacy, abs=1e-9)


# ---------------------------------------------------------------------------------------- what a scenario looks back at


def test_true_places_are_kept_only_while_an_access_may_look_at_them(path, moves):
    zero = (BEGIN - datetime(1970, 1, 1, tzinfo=UTC)) // (when(1) - when(0))
    for name, expected in {
        "now": {0: [], 1: [], 2: [], 6: []},
        "next": {0: [], 1: [], 2: [], 6: []},
        "transition": {0: [0], 1: [1], 2: [2], 6: [6]},
        "long way": {0: [0], 1: [0, 1], 2: [1, 2], 6: [6]},
        "in between": {0: [0], 2: [2], 5: [5]},
    }.items():
        file = path.with_name(name)
        device = live(file, name)
        for step, places in expected.items():
            device.expose(*POINTS[1], at=when(step))
            assert [int(when) - zero for when in told(file)["places"]] == places
            assert set(told(file)["places"].values()) <= {1}


def test_after_a_gap_the_mechanism_looks_at_the_places_it_has(path, moves):
    device = live(path, "long way")
    for step in (0, 1, 2, 3, 5, 6, 7):
        device.expose(*POINTS[1], at=when(step))
    assert [columns for columns, _ in moves] == [[2], [1, 2], [0, 1, 2], [0, 1, 2], [0, 2], [1, 2], [0, 1, 2]]


def test_without_a_place_for_the_quality_an_answer_over_budget_is_withheld(path):
    before = from_function(lambda places, release: float(places[0] != release[0]), name="where you were")
    scenario = Scenario(target=(-1, 0), quality=(-1, 0))
    game = game_of(scenario=scenario, budget=0.1, quality=before)
    device = LiveDevice(game, plan(game, walks=1), state=path)
    answers = [device.expose(*POINTS[1], at=when(step)) for step in (0, 0, 1, 2, 7, 8)]
    assert [answer.reason for answer in answers] == ["budget", "budget", "", "", "budget", ""]
    label = device.label()
    assert (label.accesses, label.withheld) == (3, 2)
    assert label.worst_loss <= 0.1


# ----------------------------------------------------------------------------------------------------------- parameters


def test_a_planner_of_another_game_is_refused(path):
    for profile, budget, scenario in (
        (PROFILE, 0.3, None),
        (PROFILE, 0.2, LIVE_SCENARIOS["transition"]),
        (MarkovProfile.from_matrix(np.roll(MOVES, 1, axis=(0, 1)), GRID, step="5min"), 0.2, None),
    ):
        with pytest.raises(PlanError, match="'planner'"):
            LiveDevice(game_of(profile, scenario, budget), planned("now"), state=path)
    with pytest.raises(ParameterError, match="'planner'"):
        LiveDevice(game_of(), "far-sighted", state=path)
    assert not list(path.parent.iterdir())


def test_a_profile_without_a_map_is_refused(path):
    game = game_of(MarkovProfile.from_matrix(MOVES))
    with pytest.raises(ParameterError, match="'regions'"):
        LiveDevice(game, plan(game, walks=1), state=path)


def test_errors_name_the_device_that_was_asked(path):
    with pytest.raises(ParameterError, match=r"'at' parameter of LiveDevice\.expose"):
        live(path).expose(*POINTS[0], at="soon")
    with pytest.raises(ParameterError, match="'state' parameter of LiveDevice"):
        live("")
    assert repr(live(path)).startswith("LiveDevice(plan=")


def test_a_device_with_a_loaded_plan_plays_the_same(tmp_path, words):
    save_plan(game_of(), planned("now"), path=tmp_path / "plan")
    loaded = load_plan(tmp_path / "plan")
    one, two = LiveDevice(*loaded, state=tmp_path / "one", floor=0.1), live(tmp_path / "two", floor=0.1)
    for device in (one, two):
        words[:] = [7]
        device.expose(*POINTS[0], at=when(0))
    assert one.path.read_bytes() == two.path.read_bytes()
