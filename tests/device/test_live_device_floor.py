"""The floor of a live device: kept at every access, and withheld by public things alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hideseek import (
    Grid,
    LiveDevice,
    MarkovProfile,
    ParameterError,
    save_plan,
    solve,
)
from hideseek.device.live_device import SPARE, BeliefTable
from hideseek.planning import BeliefGame
from hideseek.planning.training import plan
from tests.support.devices import (
    POINTS,
    told,
    when,
)
from tests.support.live_devices import (
    WORDS,
    floored,
    live,
    stay_at_home,
)


def test_a_floor_holds_and_withholds_only_where_no_table_keeps_it(path, words, moves):
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
            belief = device.game.learned(belief, move.by_state, release=answer.place)
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
    profile = MarkovProfile.from_matrix(chain, Grid(46.0, 47.0, 6.0, 11.0, rows=1, columns=5))
    off = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    loss = np.where(off == 4, 1e5, off > 0)  # a word of what costs so much is far more than the budget's last digit
    game = BeliefGame.of(profile, privacy=off, quality=loss, budget=0.4)
    device, generator, found = (
        LiveDevice(game, plan(game, walks=4), state=path, floor=floor),
        np.random.default_rng(0),
        [],
    )
    belief = game.start
    for step in range(steps):
        words[:] = [int(generator.integers(WORDS))]
        reason = device.expose(46.5, 6.5 + generator.integers(5), at=when(step)).reason
        found.append((solve(game.at(belief)).privacy, reason))
        belief = game.later(np.array(told(path)["belief"]))
    return device, found


def test_trading_privacy_of_now_stops_at_the_floor_and_no_earlier(path, words, moves):
    device, found = trading(path, words)
    for best, reason in found:
        assert reason == ("floor" if best < 1.08 * (1 + SPARE) else "")
    assert {reason for _, reason in found} == {"", "floor"}
    traded = [move.privacy for _, move in moves if isinstance(move, BeliefTable)]
    assert min(traded) < 1.08 * (1 + 2 * SPARE)  # the floor is what stopped it
    assert device.label().worst_filter >= 1.08


def test_what_rounding_takes_below_the_floor_is_withheld(path, monkeypatch):
    floor = 0.3 * (1 - 1e-12)  # the optimum has it, but not in whole weights
    monkeypatch.setattr("hideseek.device.belief_device.SPARE", 0.0)
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


def test_a_floor_may_need_a_place_that_only_the_second_access_knows(path):
    # of the way, 0.7 can be kept by who knows its end alone, and 0.75 by who knows both
    device = live(path, "transition", budget=0.4, floor=0.72)
    assert [device.expose(*POINTS[1], at=when(step)).reason for step in (0, 0, 1)] == ["floor", "floor", ""]
    assert device.label().worst_filter >= 0.72
    assert [device.expose(*POINTS[1], at=when(step)).reason for step in (9, 10)] == ["floor", ""]


# ---------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def plan_file(tmp_path):
    save_plan(*stay_at_home(), path=tmp_path / "me.plan")
    return "me.plan"


def asking(step, *more):
    return ("--state", "s", "--latitude", "46.5", "--longitude", "7.5", "--at", when(step).isoformat(), *more)


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
        assert len(out.split(",")) == 2 if status == 0 else "no release keeps as much privacy as --floor asks" in err
    status, out, _ = run("expose", plan_file, *asking(12, "--floor", "0.31", "--json"))
    assert status == 2
    assert "at most 0.29" in json.loads(out)["message"]
    assert json.loads(run("expose", plan_file, *asking(11, "--floor", "0.28", "--json"))[1])["label"]["kept"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (asking(0, "--ahead", "46.5,7.5"), "given with a codebook only"),
        (asking(0, "--floor", "-1"), "option --floor"),
    ],
)
def test_expose_refuses_what_does_not_fit_together(run, plan_file, words, said, tmp_path):
    status, out, err = run("expose", plan_file, *words)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())
    assert not (tmp_path / "s").exists()
