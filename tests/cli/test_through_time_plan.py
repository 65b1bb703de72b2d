"""hideseek plan, run as a user runs it."""

from __future__ import annotations

import json
import re
import stat
from contextlib import contextmanager

import numpy as np
import pytest

from hideseek import MarkovProfile, Places, load_plan, load_profile, save_profile, synthetic_city
from hideseek.model.regions import Grid

CHAIN = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
QUICK = ("--walks", "2", "--accesses", "100")


@pytest.fixture
def profile(tmp_path):
    regions = Places([46.50, 46.51, 46.53], [6.50, 6.52, 6.55])
    save_profile(MarkovProfile.from_matrix(CHAIN, regions), tmp_path / "me.json")
    return "me.json"


def test_plan_trains_simulates_and_writes_what_it_says(run, profile, tmp_path):
    status, out, err = run("plan", profile, "--budget", "40%", "--out", "me.plan", "--seed", "3", "--json", *QUICK)
    assert status == 0, err
    facts = json.loads(out)
    low, high = facts["filter_interval"]
    assert low <= facts["filter"] <= high
    assert facts["certified"] == pytest.approx(low / facts["bound"])
    assert facts["certified"] <= facts["filter"] / facts["bound"] <= 1 + (high - low) / facts["bound"]
    assert facts["smoother"] <= facts["ceiling"]
    assert facts["bound"] <= facts["ceiling"] * (1 + 1e-9)
    assert facts["kept"] == pytest.approx(min(facts["filter"] / facts["ceiling"], 1))
    assert facts["quality_loss"] <= facts["worst_loss"] <= facts["budget"] * (1 + 1e-9)
    assert facts["accesses"] == 100
    assert facts["seconds"] > 0
    assert stat.S_IMODE((tmp_path / "me.plan").stat().st_mode) == 0o600
    game, planner = load_plan(tmp_path / "me.plan", profile=load_profile(tmp_path / profile))
    assert (facts["budget"], facts["cuts"], facts["sha256"]) == (game.budget, len(planner.cuts), planner.sha256)
    assert (facts["planner"], facts["mode"], facts["seed"]) == ("far-sighted", "trade-off", planner.seed)
    # 40 % of what the best constant release loses, in metres squared
    loss = game.profile.stationary @ game.cost
    assert game.budget == pytest.approx(0.4 * loss.min())


def test_plan_tells_it_in_words_too(run, profile):
    status, out, err = run("plan", profile, *QUICK)
    assert status == 0, err
    assert re.search(r"at least \d+\.\d% of what any mechanism can reach that keeps this budget given every rel", out)
    for word in (
        "bound of the cuts",
        "ceiling",
        "kept of the ceiling",
        "cuts",
        " ± ",
    ):
        assert word in out
    assert "reveals where its user goes" in out


def test_the_two_bounds_are_shown_while_they_converge(run, profile, monkeypatch):
    told = []

    @contextmanager
    def bar(what):
        yield lambda news, done, count: told.append((what, news, done, count))

    monkeypatch.setattr("hideseek.cli.through_time.bar", bar)
    assert run("plan", profile, "--walks", "3", "--accesses", "100")[0] == 0
    training = [(news, done, count) for what, news, done, count in told if what == "planning"]
    assert [(done, count) for _, done, count in training] == [(1, 3), (2, 3), (3, 3)]
    pairs = [re.fullmatch(r"(\d\.\d+) to (\d\.?\d*) of the ceiling, walks", news).groups() for news, *_ in training]
    bounds = [float(bound) for _, bound in pairs]
    assert bounds == sorted(bounds, reverse=True)
    assert [(done, count) for what, _, done, count in told if what == "simulating"][-1] == (100, 100)


@pytest.mark.parametrize(
    ("protect", "target", "known"),
    [("place", [0], [0]), ("way", [-1, 0], [-1, 0]), ("next", [0, 1], [0]), ("between", [-2, -1, 0], [-2, 0])],
)
def test_everything_can_be_protected_that_a_device_can_know(run, profile, protect, target, known):
    hamming = ("--privacy", "hamming", "--quality", "hamming")
    status, out, err = run("plan", profile, "--protect", protect, "--outlook", "plain", "--json", *hamming, *QUICK)
    assert status == 0, err
    facts = json.loads(out)
    assert (facts["scenario"]["target"], facts["scenario"]["known"]) == (target, known)
    assert facts["cuts"] == 0


@pytest.mark.parametrize(("words", "lag"), [((), 1), (("--lag", "2"), 2)])
def test_a_plan_may_be_against_guesses_some_steps_later(run, profile, words, lag):
    status, out, err = run("plan", profile, "--against", "smoother", *words, "--json", *QUICK)
    assert status == 0, err
    scenario = json.loads(out)["scenario"]
    assert (scenario["target"], scenario["known"]) == ([-lag], list(range(-lag, 1)))


@pytest.mark.parametrize(("protect", "known"), [("place", [-1, 0]), ("way", [-1, 0]), ("next", [-1, 0])])
def test_a_chain_of_second_order_looks_back_twice(run, tmp_path, protect, known):
    traces = synthetic_city(people=1, days=2)
    save_profile(MarkovProfile.fit(traces, Grid.covering(traces, rows=2, columns=2), order=2), tmp_path / "two.json")
    status, out, err = run("plan", "two.json", "--protect", protect, "--outlook", "plain", "--json", *QUICK)
    assert status == 0, err
    assert json.loads(out)["scenario"]["known"] == known


def test_the_same_seed_gives_the_same_plan_and_another_seed_another(run, profile, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run("plan", profile, "--seed", seed, "--out", f"{name}.plan", *QUICK)[0] == 0
    first, second, third = ((tmp_path / f"{name}.plan").read_bytes() for name in "abc")
    assert first == second != third


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (("--discount", "1"), "ParameterError", "option --discount"),
        (("--discount", "-0.1"), "ParameterError", "option --discount"),
        (("--walks", "0"), "ParameterError", "option --walks"),
        (("--accesses", "3"), "ParameterError", "option --accesses"),
        (("--seed", "-1"), "ParameterError", "option --seed"),
        (("--budget", "lots"), "ParameterError", "option --budget"),
        (("--lag", "1"), "ParameterError", "option --lag"),
        (("--against", "smoother", "--lag", "0"), "ParameterError", "option --lag"),
        (("--against", "smoother", "--protect", "way"), "ParameterError", "option --against"),
        (("--protect", "next", "--planned"), "NoSuchOption", "--planned"),
        (("--protect", "between", "--every", "0"), "ParameterError", "option --every"),
        (("--grid", "3x3"), "ParameterError", "given with traces only"),
        (("--out", "/proc/nowhere/me.plan"), "FileNotFoundError", "nowhere"),
    ],
)
def test_bad_input_is_told_in_a_line_and_nothing_is_written(run, profile, tmp_path, words, error, said):
    status, out, _ = run("plan", profile, "--json", *words)
    assert status == 2
    told = json.loads(out)
    assert told["error"] == error
    assert said in told["message"]
    assert [path.name for path in tmp_path.iterdir()] == [profile]


def test_traces_go_straight_into_plan(run, tmp_path):
    synthetic_city(people=1, days=3).to_csv(tmp_path / "city.csv", index=False)
    status, _, err = run("plan", "city.csv", "--grid", "3x3", "--outlook", "secondary", "--json", *QUICK)
    assert status == 0, err
    game, planner = load_plan(tmp_path / "me.plan")
    np.testing.assert_array_equal(planner.cuts, game.error)
