"""What is a live device's own: its plan, and a solver whose answers depend on nothing but the belief."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hideseek import (
    LiveDevice,
    MarkovProfile,
    ParameterError,
    load_plan,
    save_plan,
)
from hideseek.errors import PlanError
from hideseek.planning import Mode, plan
from tests.support.devices import (
    GRID,
    MOVES,
    POINTS,
    assert_state_is_refused,
    before_seals,
    told,
    when,
)
from tests.support.live_devices import (
    LIVE_SCENARIOS,
    PROFILE,
    game_of,
    live,
    planned,
)


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


def test_a_device_with_a_loaded_plan_plays_the_same(tmp_path, words):
    save_plan(game_of(), planned("now"), path=tmp_path / "plan")
    loaded = load_plan(tmp_path / "plan")
    one, two = LiveDevice(*loaded, state=tmp_path / "one", floor=0.1), live(tmp_path / "two", floor=0.1)
    for device in (one, two):
        words[:] = [7]
        device.expose(*POINTS[0], at=when(0))
    assert one.path.read_bytes() == two.path.read_bytes()


def test_a_state_of_another_plan_game_or_map_is_refused(path):
    live(path).expose(*POINTS[0], at=when(0))
    assert_state_is_refused(live(path, outlook="plain"), "another plan")
    assert_state_is_refused(live(path, outlook="look-ahead"), "another plan")
    assert_state_is_refused(live(path, budget=0.3), "another plan")
    assert_state_is_refused(live(path, "transition"), "another plan")
    planner = planned("now")
    for other in (
        dataclasses.replace(planner, mode=Mode.LEXICOGRAPHIC),
        dataclasses.replace(planner, discount=0.5),
        dataclasses.replace(planner, cuts=planner.cuts * 2),
    ):
        assert_state_is_refused(LiveDevice(game_of(), other, state=path), "another plan")
    for regions, step in ((GRID, "10min"), (dataclasses.replace(GRID, south=45.0), "5min")):
        profile = MarkovProfile.from_matrix(MOVES, regions, step=step)
        assert_state_is_refused(LiveDevice(game_of(profile), planned("now"), state=path), "another plan")


def test_a_state_of_0_1_0_has_no_seal_and_gets_it_with_the_next_answer(path):
    used = live(path, "long way")
    used.expose(*POINTS[1], at=when(0))
    before_seals(path)
    assert used.label().accesses == 1
    used.expose(*POINTS[0], at=when(3))
    assert told(path)["hideseek_state"] == 2
    path.write_text(path.read_text().replace('"hideseek_state":2', '"hideseek_state":1'))
    assert_state_is_refused(used, "is damaged")
