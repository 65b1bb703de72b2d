"""A live device: its belief is the enumerated posterior, its budget holds after every history, its state is public."""

from __future__ import annotations

import dataclasses
import itertools
import json
import logging
import math
import os
import stat
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from hideseek import (
    Grid,
    HideseekError,
    LiveDevice,
    MarkovProfile,
    ParameterError,
    Scenario,
    load_plan,
    save_plan,
    solve,
)
from hideseek.device import Answer, LiveLabel
from hideseek.device.live_device import SPARE, BeliefTable
from hideseek.errors import PlanError, StateError
from hideseek.metrics import from_function, hamming
from hideseek.planning import BeliefGame, Mode
from hideseek.planning.planner import train
from tests.device.test_codebook_device import (
    BEGIN,
    GRID,
    MOVES,
    OFF_THE_GRID,
    POINTS,
    Day,
    assert_no_bit_can_be_flipped,
    assert_same_work,
    before_seals,
    resealed,
    told,
    when,
)
from tests.support.processes import assert_all_expose_the_same

WORDS = 2**32
LONG_RUN = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))  # of MOVES, which are fractions of 2: all exact
SCENARIOS = {
    "now": Scenario.sporadic(),
    "transition": Scenario(target=(-1, 0)),
    "long way": Scenario(target=(-2, -1, 0)),
    "in between": Scenario.in_between(2),
    "next": Scenario(target=(0, 1), known=(0,)),
}
PROFILE = MarkovProfile.from_matrix(MOVES, GRID, step="5min")


def game_of(profile=PROFILE, scenario=None, budget=0.2, quality=None):
    quality = hamming() if quality is None else quality
    return BeliefGame.of(profile, privacy=hamming(), quality=quality, budget=budget, scenario=scenario)


@cache
def planned(name, outlook="far-sighted", budget=0.2):
    return train(game_of(scenario=SCENARIOS[name], budget=budget), outlook=outlook, walks=2)


def live(path, name="now", outlook="far-sighted", budget=0.2, floor=0.0):
    game = game_of(scenario=SCENARIOS[name], budget=budget)
    return LiveDevice(game, planned(name, outlook, budget), path, floor=floor)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "live.json"


@pytest.fixture
def words(monkeypatch):
    """Put words here, and the device draws with them."""
    queue = []
    monkeypatch.setattr("hideseek.device.live_device.random_word", lambda: queue.pop(0))
    return queue


@pytest.fixture
def moves(monkeypatch):
    """What devices have played, access after access: a move, or why none; with the columns that were known."""
    played = []
    original = LiveDevice._table_for

    def watched(self, belief, columns):
        played.append((columns, original(self, belief, columns)))
        return played[-1][1]

    monkeypatch.setattr(LiveDevice, "_table_for", watched)
    return played


def law_of(move, known):
    """The stored integers for some known places, as exact fractions."""
    rows = {tuple(places): row for places, row in zip(move.inputs.tolist(), move.weights.tolist(), strict=False)}
    return [Fraction(weight, WORDS) for weight in rows[tuple(known)]]


def paths_between(first, last):
    """All paths of the chain over these steps with their exact probabilities."""
    for places in itertools.product(range(3), repeat=last - first + 1):
        probability = LONG_RUN[places[0]]
        for here, there in itertools.pairwise(places):
            probability *= Fraction(MOVES[here][there])
        if probability:
            yield dict(zip(range(first, last + 1), places, strict=True)), probability


def believed(scenario, happened, now):
    """Pr(path | what was exposed) with all that matters at step ``now``, by enumeration."""
    law = []
    begin = min([now, *(step for step, *_ in happened)]) + scenario.offsets[0]
    for path, probability in paths_between(begin, now + max(0, scenario.offsets[-1])):
        for step, columns, move, release in happened:
            probability *= law_of(move, [path[step + scenario.known[column]] for column in columns])[release]
        if probability:
            law.append((path, probability))
    total = sum(probability for _, probability in law)
    return [(path, probability / total) for path, probability in law]


def worth(scenario, columns, move, law, step):
    """The expected error of the best guesses at a release, and its expected loss; Hamming, by enumeration."""
    guesses = list(itertools.product(range(3), repeat=len(scenario.target)))
    error = {(release, guess): Fraction(0) for release in range(3) for guess in guesses}
    loss = Fraction(0)
    for path, probability in law:
        chances = law_of(move, [path[step + scenario.known[column]] for column in columns])
        target = tuple(path[step + offset] for offset in scenario.target)
        for release, chance in enumerate(chances):
            loss += probability * chance * (release != path[step])
            for guess in guesses:
                error[release, guess] += probability * chance * (guess != target)
    return sum(min(error[release, guess] for guess in guesses) for release in range(3)), loss


def drive(device, words, moves, steps, seed=0):
    """A walk with random places and words; what happened, as (step, columns, move, release)."""
    generator = np.random.default_rng(seed)
    happened = []
    for step in steps:
        words[:] = [int(generator.integers(WORDS))]
        release = device.expose(*POINTS[generator.integers(3)], at=when(step)).place
        happened.append((step, *moves[-1], release))
    return happened


# ------------------------------------------------------------------------------------------------ belief, budget, label

ACCESSES = {
    "now": [0, 1, 3, 4, 8],
    "transition": [0, 1, 2, 5, 6, 7],
    "long way": [0, 1, 2, 3, 5, 6],
    "in between": [0, 2, 5],
    "next": [0, 1, 3, 4],
}


@pytest.mark.parametrize("outlook", ["plain", "look-ahead", "far-sighted"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_belief_is_the_enumerated_posterior_over_any_gaps(path, words, moves, name, outlook):
    device, scenario = live(path, name, outlook), SCENARIOS[name]
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
    device, scenario = live(path, name), SCENARIOS[name]
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


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.2, 0.4])
@pytest.mark.parametrize(("name", "steps"), [("now", [0, 1, 3]), ("transition", [0, 1, 3]), ("next", [0, 1, 4])])
def test_the_budget_holds_after_every_public_history(path, words, moves, name, steps, budget):
    scenario, device = SCENARIOS[name], live(path, name, budget=budget)

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
            chance = sum(p * law_of(move, at)[release] for at, (_, p) in zip(known, law, strict=True))
            if chance:
                row = int(move.weights[:-1, release].argmax())
                word = int(move.weights[row, :release].sum())
                assert expose(before, step, move.inputs[row].tolist(), word) == release
                reached += chance * ends([*happened, (step, columns, move, release)], told(path))
        return reached

    assert ends([], None) == 1


def test_rounding_that_breaks_the_budget_is_mended_by_what_is_cheapest():
    # thirds of 2^32 round up for the dear release of every row
    game = BeliefGame.of(PROFILE, hamming(), hamming(), 2 / 3)
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
    game = BeliefGame.of(PROFILE, hamming(), hamming(), 1.0, SCENARIOS["transition"])
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
    game = BeliefGame.of(MarkovProfile.from_matrix(chain), metric, metric, budget)
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
    game = BeliefGame.of(PROFILE, hamming(), hamming(), 0.3, SCENARIOS["transition"])
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
        known = [(step + SCENARIOS[name].known[column]) % 3 for column in columns]
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
    """Two live devices on one state through anything; no gap is too long."""

    furthest = 10**9

    def fresh(self):
        return live(Path(self.folder.name) / "state")

    def asking(self, device, point):
        return device.expose(*point, at=when(self.now) + (when(1) - when(0)) / 3)

    def restart(self):
        """A live device has nothing to forget."""


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
from tests.device.test_live_device import live

device = live(sys.argv[1])
for line in sys.stdin:
    answer = device.expose(46.5, float(sys.argv[2]), at=line.strip())
    print(answer.status, answer.place, flush=True)
"""


def test_two_processes_agree_at_every_step(path):
    assert_all_expose_the_same(ASK, [(path, 6.5), (path, 8.5)], map(when, range(60)))


def test_steps_that_are_not_due_and_clocks_that_go_back_leave_the_state_alone(path):
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
    assert [device.expose(46.5, 5.0, at=when(0)).place, device.expose(90.0, 7.5, at=when(1)).place] == [0, 1]


def test_after_half_an_eternity_nothing_is_remembered(path, moves):
    device = live(path)
    device.expose(*POINTS[0], at=when(0))
    device.expose(*POINTS[0], at=datetime(9999, 12, 31, tzinfo=UTC))
    (_, first), (_, last) = moves
    assert last.privacy == pytest.approx(first.privacy, abs=1e-9)


# --------------------------------------------------------------------------------------------------------- the floor


@cache
def stay_at_home():
    """A chain so slow that what is exposed soon tells more than a floor allows, and its plan."""
    profile = MarkovProfile.from_matrix([[0.75, 0.25, 0], [0.125, 0.75, 0.125], [0, 0.25, 0.75]], GRID, step="5min")
    game = game_of(profile, budget=0.3)
    return game, train(game, outlook="plain")


def floored(path, floor=0.28):
    return LiveDevice(*stay_at_home(), path, floor=floor)


def test_a_floor_holds_at_every_access_and_withholds_only_where_no_table_keeps_it(path, words, moves):
    floor = 0.28
    device, generator = floored(path, floor), np.random.default_rng(0)
    moves.clear()  # of the first check
    withheld, belief = 0, device.game.start
    for step in range(60):
        words[:] = [int(generator.integers(WORDS))]
        answer = device.expose(*POINTS[generator.integers(3)], at=when(step))
        best = solve(device.game.at(belief))
        _, move = moves[-1]
        if answer.reason:
            withheld += 1
            assert (answer.status, answer.reason, answer.place, move) == ("withheld", "floor", None, "floor")
            assert best.privacy < floor * (1 + 2 * SPARE)
        else:
            assert move.privacy >= floor
            belief = device.game.learned(belief, move.by_state, answer.place)
        assert told(path)["belief"] == belief.tolist()  # nothing was learned where nothing was told
        assert (
            device.expose(*POINTS[0], at=when(step)) == answer == floored(path, 0.0).expose(*POINTS[1], at=when(step))
        )
        belief = device.game.later(belief)
    label = device.label()
    assert 0 < withheld < 60
    assert (label.accesses, label.withheld) == (60 - withheld, withheld)
    assert label.worst_filter >= floor


def trading(path, words, steps=40, floor=1.08):
    """A planner that gives up privacy of now: its device, and of every access the best privacy and the reason."""
    chain = 0.9 * np.random.default_rng(2).dirichlet(np.full(5, 0.3), size=5) + 0.02
    profile = MarkovProfile.from_matrix(chain, Grid(46.0, 47.0, 6.0, 11.0, 1, 5))
    off = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    loss = np.where(off == 4, 1e5, off > 0)  # a word of what costs so much is far more than the budget's last digit
    game = BeliefGame.of(profile, off, loss, 0.4)
    device, generator, found = LiveDevice(game, train(game, walks=4), path, floor=floor), np.random.default_rng(0), []
    belief = game.start
    for step in range(steps):
        words[:] = [int(generator.integers(WORDS))]
        reason = device.expose(46.5, 6.5 + generator.integers(5), at=when(step)).reason
        found.append((solve(game.at(belief)).privacy, reason))
        belief = game.later(np.array(told(path)["belief"]))
    return device, found


def test_a_planner_that_trades_privacy_of_now_stops_at_the_floor_and_no_earlier(path, words, moves):
    device, found = trading(path, words)
    for best, reason in found:
        assert reason == ("floor" if best < 1.08 * (1 + SPARE) else "")
    assert {reason for _, reason in found} == {"", "floor"}
    traded = [move.privacy for _, move in moves if isinstance(move, BeliefTable)]
    assert min(traded) < 1.08 * (1 + 2 * SPARE)  # the floor is what stopped it
    assert device.label().worst_filter >= 1.08


def test_what_rounding_takes_below_the_floor_is_withheld(path, monkeypatch):
    floor = 0.3 * (1 - 1e-12)  # the optimum has it, but not in whole weights
    monkeypatch.setattr("hideseek.device.live_device.SPARE", 0.0)
    with pytest.raises(ParameterError, match="'floor'"):
        floored(path, floor)
    assert solve(floored(path).game.at(floored(path).game.start)).privacy > floor


def test_the_floor_withholds_by_public_outputs_alone(tmp_path, words, moves):
    # another walk, with the words that lead to the same releases
    one, other, differ = floored(tmp_path / "one"), floored(tmp_path / "other"), 0
    for step in range(40):
        words[:] = [step * 2654435761 % WORDS]
        place = step * step % 3
        answer = one.expose(*POINTS[place], at=when(step))
        _, move = moves[-1]
        if isinstance(move, str):
            elsewhere, words[:] = (place + 1) % 3, []
        else:
            possible = [row for row in range(3) if move.weights[row, answer.place] > 0]
            elsewhere = next((row for row in possible if row != place), place)
            words[:] = [int(move.weights[elsewhere, : answer.place].sum())]
        differ += elsewhere != place
        assert other.expose(*POINTS[elsewhere], at=when(step)) == answer
        # what looks at now only keeps nothing but what is public: the true place is not in the state, in any form
        assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert one.label().withheld > 0
    assert differ >= 10


def test_a_floor_that_would_withhold_for_ever_is_refused_with_what_can_be_kept(path):
    with pytest.raises(
        ParameterError, match=r"'floor' parameter of LiveDevice must be at most 0\.19\d+, what"
    ) as caught:
        live(path, floor=0.2)
    most = float(str(caught.value).split("at most ")[1].split(",")[0])
    assert 0.2 * (1 - 3e-4) <= most <= 0.2  # Hamming/Hamming: the ceiling is the budget
    assert live(path, floor=most).expose(*POINTS[0], at=when(0)).status == "exposed"
    for floor in (-1.0, float("nan"), float("inf"), "much"):
        with pytest.raises(ParameterError, match="'floor'"):
            live(path, floor=floor)


def test_a_floor_may_ask_for_the_place_before_which_only_the_second_access_knows(path):
    # of the way, 0.7 can be kept by who knows its end alone, and 0.75 by who knows both
    device = live(path, "transition", budget=0.4, floor=0.72)
    assert [device.expose(*POINTS[1], at=when(step)).reason for step in (0, 0, 1)] == ["floor", "floor", ""]
    assert device.label().worst_filter >= 0.72
    assert [device.expose(*POINTS[1], at=when(step)).reason for step in (9, 10)] == ["floor", ""]


# ---------------------------------------------------------------------------------------- what a scenario looks back at


def test_true_places_are_remembered_only_as_long_as_an_access_may_look_at_them(path, moves):
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


def test_without_a_place_that_the_quality_depends_on_the_answer_is_withheld_where_no_release_keeps_the_budget(path):
    before = from_function(lambda places, release: float(places[0] != release[0]), "where you were")
    scenario = Scenario(target=(-1, 0), quality=(-1, 0))
    game = game_of(scenario=scenario, budget=0.1, quality=before)
    device = LiveDevice(game, train(game, walks=1), path)
    answers = [device.expose(*POINTS[1], at=when(step)) for step in (0, 0, 1, 2, 7, 8)]
    assert [answer.reason for answer in answers] == ["budget", "budget", "", "", "budget", ""]
    label = device.label()
    assert (label.accesses, label.withheld) == (3, 2)
    assert label.worst_loss <= 0.1


# ------------------------------------------------------------------------------------------------------------ the state


def test_the_state_holds_what_is_needed_and_is_for_its_owner_only(path):
    before = os.umask(0)
    try:
        live(path, "transition").expose(*POINTS[1], at=when(0))
    finally:
        os.umask(before)
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {"live.json": 0o600}
    state = told(path)
    assert set(state) == {"seal", "hideseek_state", "sha256", "last", "release", "reason", "belief", "places", "run"}
    assert set(state["run"]) == {"accesses", "withheld", "privacy", "worst_privacy", "loss", "worst_loss"}


@pytest.fixture
def used(path):
    """A state with everything in it."""
    device = live(path, "long way")
    for step in range(3):
        device.expose(*POINTS[1], at=when(step))
    return device


def refuses(device, match):
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
    refuses(used, "is damaged")


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 10**5, b" " * (2**20 + 1)])
def test_garbage_is_refused(used, content):
    used.path.write_bytes(content)
    refuses(used, "is damaged|larger")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e400", "1e308", "-1e-300"])
def test_a_belief_with_something_that_is_no_probability_is_refused(used, value):
    document = told(used.path)
    document["belief"][0] = "here"
    used.path.write_text(resealed(json.dumps(document).replace('"here"', value)))
    refuses(used, "is damaged")


def test_a_state_of_another_version_is_refused(used):
    used.path.write_text(resealed(json.dumps(told(used.path) | {"hideseek_state": 3})))
    refuses(used, "version 3")


def test_no_bit_of_a_state_can_be_flipped(path):
    device = live(path, "transition")
    device.expose(*POINTS[1], at=when(0))
    assert_no_bit_can_be_flipped(path, device.label)


def test_a_state_without_a_seal_is_one_of_0_1_0_and_gets_it_with_the_next_answer(used):
    before_seals(used.path)
    assert used.label().accesses == 3
    used.expose(*POINTS[0], at=when(3))
    assert told(used.path)["hideseek_state"] == 2
    used.path.write_text(used.path.read_text().replace('"hideseek_state":2', '"hideseek_state":1'))
    refuses(used, "is damaged")


def test_a_state_of_another_plan_game_or_map_is_refused(path):
    live(path).expose(*POINTS[0], at=when(0))
    refuses(live(path, outlook="plain"), "another plan")
    refuses(live(path, outlook="look-ahead"), "another plan")
    refuses(live(path, budget=0.3), "another plan")
    refuses(live(path, "transition"), "another plan")
    planner = planned("now")
    for other in (
        dataclasses.replace(planner, mode=Mode.LEXICOGRAPHIC),
        dataclasses.replace(planner, discount=0.5),
        dataclasses.replace(planner, cuts=planner.cuts * 2),
    ):
        refuses(LiveDevice(game_of(), other, path), "another plan")
    for regions, step in ((GRID, "10min"), (dataclasses.replace(GRID, south=45.0), "5min")):
        profile = MarkovProfile.from_matrix(MOVES, regions, step=step)
        refuses(LiveDevice(game_of(profile), planned("now"), path), "another plan")


def test_a_codebooks_state_is_refused_and_left_alone(path):
    from tests.device.test_codebook_device import Device, book

    Device(book("past"), path).expose(*POINTS[0], at=when(0))
    refuses(live(path), "another plan")
    path.unlink()
    live(path).expose(*POINTS[0], at=when(0))
    with pytest.raises(StateError, match="another codebook"):
        Device(book("past"), path).expose(*POINTS[0], at=when(1))


@given(data=st.data())
@settings(max_examples=60)
def test_a_flipped_byte_never_escapes_as_another_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flip") / "state"
    device = live(path, "transition")
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


def test_coordinates_and_true_places_appear_nowhere(tmp_path, caplog, capfd, monkeypatch):
    caplog.set_level(logging.DEBUG)
    folder, said = tmp_path / "device", []
    folder.mkdir()
    latitude, longitude = 46.5287391, 6.5734219

    def run(action, *arguments):
        try:
            said.append(repr(action(*arguments)))
        except HideseekError as error:
            while error is not None:
                said.append(f"{error!r} {error}")
                error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

    for name in SCENARIOS:
        device = live(folder / name, name)
        said.append(repr(device))
        for step in (0, 1, 2, 4, 30, 3):
            run(device.expose, latitude, longitude, when(step))
        with device._locked() as (_, state):
            said.append(repr(state))
        run(device.label)
        run(device.expose, latitude, longitude, when(40).replace(tzinfo=None))
        run(device.expose, latitude, longitude, f"{latitude}")
        run(device.expose, 100 + latitude, longitude, when(41))
        run(device.expose, str(latitude), longitude, when(41))
        with monkeypatch.context() as patch:
            patch.setattr("os.fsync", lambda _: os.open(tmp_path / "nowhere", os.O_RDONLY))
            run(device.expose, latitude, longitude, when(43))
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1])
        run(device.expose, latitude, longitude, when(44))
        (folder / name).write_bytes(content)
    assert sum("ParameterError" in text for text in said) >= 4 * len(SCENARIOS)
    assert sum("StateError" in text for text in said) >= 2 * len(SCENARIOS)
    assert not any("places" in text for text in said)
    everything = [*said, caplog.text, *capfd.readouterr(), *(file.read_text() for file in folder.iterdir())]
    for text in everything:
        assert "5287391" not in text
        assert "5734219" not in text


@pytest.mark.parametrize("name", ["now", "transition"])
def test_the_same_is_done_on_and_off_the_map_and_at_what_cannot_be(tmp_path, words, name):
    words[:] = [0] * 100
    points = [*GRID.centres.tolist(), *OFF_THE_GRID]  # from the first nobody goes to the third
    assert_same_work(tmp_path, lambda path: live(path, name), points, ahead=False)


def test_an_answer_has_only_the_allowed_fields(path):
    answer = live(path, floor=0.1).expose(*OFF_THE_GRID[0], at=when(0))
    assert type(answer) is Answer
    assert type(answer.place) is int


# ----------------------------------------------------------------------------------------------------------- parameters


def test_a_planner_of_another_game_is_refused(path):
    for profile, budget, scenario in (
        (PROFILE, 0.3, None),
        (PROFILE, 0.2, SCENARIOS["transition"]),
        (MarkovProfile.from_matrix(np.roll(MOVES, 1, axis=(0, 1)), GRID, step="5min"), 0.2, None),
    ):
        with pytest.raises(PlanError, match="'planner'"):
            LiveDevice(game_of(profile, scenario, budget), planned("now"), path)
    with pytest.raises(ParameterError, match="'planner'"):
        LiveDevice(game_of(), "far-sighted", path)
    assert not list(path.parent.iterdir())


def test_a_profile_without_a_map_is_refused(path):
    game = game_of(MarkovProfile.from_matrix(MOVES))
    with pytest.raises(ParameterError, match="'regions'"):
        LiveDevice(game, train(game, walks=1), path)


def test_errors_name_the_device_that_was_asked(path):
    with pytest.raises(ParameterError, match=r"'at' parameter of LiveDevice\.expose"):
        live(path).expose(*POINTS[0], at="soon")
    with pytest.raises(ParameterError, match="'state' parameter of LiveDevice"):
        live("")
    assert repr(live(path)).startswith("LiveDevice(plan=")


def test_a_device_with_a_loaded_plan_plays_the_same(tmp_path, words):
    save_plan(game_of(), planned("now"), tmp_path / "plan")
    loaded = load_plan(tmp_path / "plan")
    one, two = LiveDevice(*loaded, tmp_path / "one", floor=0.1), live(tmp_path / "two", floor=0.1)
    for device in (one, two):
        words[:] = [7]
        device.expose(*POINTS[0], at=when(0))
    assert one.path.read_bytes() == two.path.read_bytes()


# ---------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def plan_file(tmp_path):
    save_plan(*stay_at_home(), tmp_path / "me.plan")
    return "me.plan"


def asking(step, *more):
    return ("--live", "--state", "s", "--latitude", "46.5", "--longitude", "7.5", "--at", when(step).isoformat(), *more)


def test_expose_live_answers_once_a_step_and_after_any_gap(run, plan_file):
    answers = []
    for step in (0, 0, 1, 5000):
        status, out, err = run("expose", plan_file, *asking(step, "--json"))
        assert status == 0, err
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
    assert set(answers[0]) == {"status", "at", "latitude", "longitude", "place", "reason", "label"}
    assert [answer["label"]["accesses"] for answer in answers] == [1, 1, 2, 3]
    status, out, err = run("expose", plan_file, *asking(1))
    assert (status, out) == (3, "")
    assert "withheld: a later step was answered already" in err
    assert floored("s", 0.0).label().accesses == 3


def test_expose_live_withholds_below_the_floor(run, plan_file, words):
    words[:] = [step * 2654435761 % WORDS for step in range(12)]
    ended = [run("expose", plan_file, *asking(step, "--floor", "0.28")) for step in range(12)]
    assert {status for status, *_ in ended} == {0, 3}
    for status, out, err in ended:
        assert len(out.split(",")) == 2 if status == 0 else "allows no release with so much privacy" in err
    status, out, _ = run("expose", plan_file, *asking(12, "--floor", "0.31", "--json"))
    assert status == 2
    assert "at most 0.29" in json.loads(out)["message"]
    assert json.loads(run("expose", plan_file, *asking(11, "--floor", "0.28", "--json"))[1])["label"]["kept"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (asking(0, "--restart"), "without --ahead and --restart"),
        (asking(0, "--ahead", "46.5,7.5"), "without --ahead and --restart"),
        (asking(0, "--floor", "0.1")[1:], "with --live only"),
        (asking(0, "--floor", "-1"), "'floor'"),
        (asking(0)[1:], "codebook"),
    ],
)
def test_expose_refuses_what_does_not_fit_together(run, plan_file, words, said, tmp_path):
    status, out, err = run("expose", plan_file, *words)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())
    assert not (tmp_path / "s").exists()
