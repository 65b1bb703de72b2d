"""Devices whose budget holds over a window: the account survives gaps, restarts and crashes, and cannot be forged."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hideseek import LiveDevice, MarkovProfile, Places, Playbook, PlaybookDevice, Scenario, make_playbook, plan
from hideseek.device.step_device import sealed
from hideseek.errors import ParameterError, PlaybookError, StateError
from hideseek.model.steering import Standing, Steering
from hideseek.planning import BeliefGame
from hideseek.planning import steering_training as training

PLACES = Places([46.52, 46.53, 46.55], [6.57, 6.58, 6.57])
MOVES = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]]
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
STEP = timedelta(minutes=10)


@pytest.fixture(scope="module")
def played():
    profile = MarkovProfile.from_matrix(MOVES, PLACES, step="10min")
    game = BeliefGame.of(profile, privacy="euclid", quality="squared", budget="40%", over="2 hours", cap=3.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "ROUNDS", 1)
        patch.setattr(training, "ROUND", 24)
        planner = plan(game, walks=2)
    return game, planner, make_playbook(game, planner)


@pytest.fixture(params=["live", "playbook"])
def device(request, played, tmp_path):
    """A function that opens the device again."""
    game, planner, book = played

    def opened(**options):
        if request.param == "live":
            return LiveDevice(game, planner, state=tmp_path / "state", **options)
        return PlaybookDevice(book, state=tmp_path / "state", **options)

    return opened


def asked(device, step, place=0):
    return device.expose(*PLACES.centres[place].tolist(), at=BEGIN + step * STEP)


def told(path):
    return json.loads(path.read_bytes())


def forged(path, **change):
    content = told(path)
    del content["seal"]
    path.write_bytes(sealed(json.dumps(content | change, separators=(",", ":")).encode()))
    path.chmod(0o600)


def test_the_account_is_what_the_tables_told_with_gaps_and_restarts(device, played, tmp_path):
    """Followed beside the device from what is public: its own answers, and when they were asked for."""
    game, _, _ = played
    generator, standing, step, before = np.random.default_rng(0), Standing.first(game), 0, None
    chosen = []
    for _ in range(40):
        gap = int(generator.integers(1, 9))
        one = device()  # as after a crash
        ask = one._table_for
        one._table_for = lambda *what, ask=ask: chosen.append(ask(*what)) or chosen[-1]
        if before is not None:
            standing = standing.later(game, gap)
        answer = asked(one, step := step + gap, int(generator.integers(3)))
        table = chosen[-1]
        assert table.loss <= float(game.account.limit(standing.saved)[0])
        standing = standing.exposed(game, table.by_state[None], np.array([answer.place]), log=True)
        assert told(tmp_path / "state")["saved"] == pytest.approx(float(standing.saved[0]), rel=1e-6)
        assert asked(device(), step, 2) == answer  # asked again, the same, and nothing is spent
        before = answer
    label = device().label()
    assert (label.accesses, label.window) == (40, 12)
    assert label.saved == pytest.approx(float(standing.saved[0]), rel=1e-6)
    assert label.quality_loss * 40 + label.saved <= 40 * game.budget + game.account.half * (1 + 1e-9)
    assert label.worst_loss <= 3 * game.budget
    assert "saved=" in repr(label)


def test_a_crash_before_the_file_is_in_its_place_spends_nothing(device, tmp_path, monkeypatch):
    asked(device(), 0)
    before = (tmp_path / "state").read_bytes()

    def pulled(*_, **__):
        raise OSError(5, "the plug was pulled")

    with monkeypatch.context() as patch:
        patch.setattr("hideseek.device.step_device.write_into", pulled)
        with pytest.raises(StateError):
            asked(device(), 1)
    assert (tmp_path / "state").read_bytes() == before
    assert asked(device(), 1).status == "exposed"


def test_states_that_no_such_device_wrote_are_refused(device, played, tmp_path):
    game, path = played[0], tmp_path / "state"
    for step in range(5):
        asked(device(), step)
    good, content = path.read_bytes(), told(path)
    past = np.frombuffer(base64.b64decode(content["past"]), np.float32)
    assert len(past) == 9 * len(content["ages"])

    def packed(numbers):
        return base64.b64encode(np.asarray(numbers, np.float32).tobytes()).decode()

    hostile = [
        {"saved": game.account.most * 1.01},
        {"saved": game.account.most},  # more than five accesses could have saved
        {"saved": -1.0},
        {"ages": content["ages"][:-1]},
        {"ages": [*content["ages"][:-1], 64]},
        {"ages": content["ages"][::-1]},
        {"ages": [age + 1 for age in content["ages"]]},
        {"past": packed(past[:-1])},
        {"past": packed(past * 1.1)},
        {"past": packed(-past)},
        {"past": packed(np.full_like(past, np.nan))},
        {"run": content["run"] | {"loss": content["run"]["loss"] + 6 * game.budget}},
        {"run": content["run"] | {"worst_loss": 4 * game.budget}},
        {"past": "", "ages": []},
        {"more": 1},
    ]
    for change in hostile:
        path.write_bytes(good)
        forged(path, **change)
        with pytest.raises(StateError, match="is damaged"):
            asked(device(), 5)
    path.write_bytes(good)
    assert asked(device(), 5).status == "exposed"


def test_where_nothing_keeps_the_floor_nothing_is_spent(device, tmp_path):
    own = device(floor=1e-9)
    own._table_for = lambda *_: "floor"
    assert asked(own, 0).reason == "floor"
    assert "saved" in told(tmp_path / "state")
    assert told(tmp_path / "state")["run"]["accesses"] == 0


def test_a_floor_that_the_first_access_cannot_keep_is_refused(device):
    with pytest.raises(ParameterError, match=r"'floor' parameter of (Live|Playbook)Device"):
        device(floor=1e9)


def test_a_state_at_every_access_holds_nothing_of_an_account(tmp_path):
    profile = MarkovProfile.from_matrix(MOVES, PLACES)
    game = BeliefGame.of(profile, privacy="euclid", quality="squared", budget="40%")
    asked(PlaybookDevice(make_playbook(game, plan(game, walks=1)), state=tmp_path / "state"), 0)
    assert not {"saved", "ages", "past"} & told(tmp_path / "state").keys()


def test_a_playbook_over_a_window_survives_a_file(played, tmp_path):
    _, planner, book = played
    book.save(tmp_path / "me.playbook")
    again = Playbook.load(tmp_path / "me.playbook")
    assert (again.window, again.cap, again.steering) == (12, 3.0, planner.steering)
    assert np.array_equal(again.guided.future, planner.steering.future)
    assert not len(again.anchors)
    assert again.content == book.content
    for standing in (Standing.first(again), Standing.at(again.start)):
        one, other = again.play(standing), book.play(standing)
        assert np.array_equal(one.weights, other.weights)
    assert "window=12 accesses" in repr(again)


@pytest.mark.parametrize(
    "steering", [Steering(0.0, 1.0, 0.0), Steering(1.0, float("inf"), 0.0), Steering(1.0, 1.0, -1.0)]
)
def test_a_playbook_with_a_steering_that_cannot_be_is_refused(played, tmp_path, steering):
    with pytest.raises(PlaybookError):
        replace(played[2], steering=steering).save(tmp_path / "book")


def test_places_that_were_not_recorded_are_averaged_over(tmp_path):
    """The quality depends on the place before too; after a gap only the current one is known."""
    profile = MarkovProfile.from_matrix(MOVES, PLACES, step="10min")
    scenario = Scenario(target=(-1,), known=(-1, 0))
    game = BeliefGame.of(profile, scenario=scenario, privacy="euclid", quality="squared", budget="40%", over="2 hours")
    planner = replace(plan(game, walks=1), steering=Steering(1e-3, 100.0, 0.1))
    device = LiveDevice(game, planner, state=tmp_path / "state")
    for step in (0, 1, 2, 9, 10, 30):
        assert asked(device, step, step % 3).status == "exposed"
    label = device.label()
    assert label.worst_loss <= game.account.largest
    assert label.accesses == 6
