"""learn, solve and curve, run as a user runs them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hideseek import load_profile, synthetic_city
from hideseek.model import distances
from tests.support.two_people import TRACES


def test_learn_then_solve_then_curve(run, traces, tmp_path):
    status, out, err = run("learn", traces, "--user", "person-001", "--grid", "6x6", "--out", "p.json", "--json")
    assert status == 0, err
    learned = json.loads(out)
    assert learned["user"] == "person-001"
    assert 0 < sum(row["share"] for row in learned["busiest"]) <= 1 + 1e-9
    assert stat.S_IMODE((tmp_path / "p.json").stat().st_mode) == 0o600

    status, out, err = run("solve", "p.json", "--budget", "40%", "--out", "m.csv", "--attack", "a.csv", "--json")
    assert status == 0, err
    solved = json.loads(out)
    assert solved["status"] == "optimal"
    assert solved["privacy"] <= solved["bound"] <= solved["prior_risk"] * (1 + 1e-9)
    assert solved["optimality_gap"] <= 1e-6
    assert solved["quality_loss"] <= solved["budget"] == pytest.approx(0.4 * solved["saturation"])
    table = pd.read_csv(tmp_path / "m.csv")
    assert table.groupby("known_0")["probability"].sum().to_numpy() == pytest.approx(1)
    assert table["known_0"].nunique() == learned["places"]
    assert stat.S_IMODE((tmp_path / "m.csv").stat().st_mode) == 0o600
    attack = pd.read_csv(tmp_path / "a.csv")
    assert attack.groupby("release_0")["probability"].sum().to_numpy() == pytest.approx(1)
    # the two files together are the certified privacy: truth, release and guess, with distances between the centres
    joint = table.merge(attack, on="release_0", suffixes=("", "_guess"))
    profile = load_profile(tmp_path / "p.json")
    metres = distances(profile.regions)[joint["guess_0"], joint["known_0"]]
    weight = profile.stationary[joint["known_0"]] * joint["probability"] * joint["probability_guess"]
    assert (weight * metres).sum() == pytest.approx(solved["privacy"], rel=1e-5)

    status, out, err = run("curve", "p.json", "--points", "6", "--out", "c.csv", "--figure", "c.png", "--json")
    assert status == 0, err
    assert {stat.S_IMODE(Path(name).stat().st_mode) for name in ("c.csv", "c.png")} == {0o600}
    assert Path("c.png").read_bytes().startswith(b"\x89PNG")
    curve = json.loads(out)
    privacy = [point["privacy"] for point in curve["points"]]
    assert privacy == sorted(privacy)
    assert privacy[-1] == pytest.approx(curve["prior_risk"])
    assert len(pd.read_csv(tmp_path / "c.csv")) == 6
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


MODELS = ["first-order", "second-order", "clock", "calendar"]


def test_learn_compares_models_and_keeps_what_it_found(run, tmp_path):
    """A person of the synthetic city, who works by day: the table, the profile and inspect tell the same."""
    synthetic_city(people=1, days=21, seed=4).to_csv(tmp_path / "long.csv", index=False)
    status, out, err = run("learn", "long.csv", "--grid", "5x5", "--model", "auto", "--out", "p.json", "--json")
    assert status == 0, err
    learned = json.loads(out)
    assert [row["model"] for row in learned["models"]] == MODELS
    best = min(row["log_loss"] for row in learned["models"])
    chosen = next(row["model"] for row in learned["models"] if row["log_loss"] <= best * 1.001)
    assert chosen in ("clock", "calendar")
    profile = load_profile("p.json")
    assert learned["clock"] == {"timezone": profile.clock.zone, "slots": profile.clock.in_words()}
    for row in learned["models"]:
        low, high = row["intervals"]["log_loss"]
        assert low < row["log_loss"] < high
    told = json.loads(run("inspect", "p.json", "--json")[1])
    assert (told["models"], told["clock"]) == (learned["models"], learned["clock"])
    words = " ".join(run("inspect", "p.json")[1].split())
    assert f"{chosen} (chosen)" in words
    assert profile.clock.in_words() in words
    printed = " ".join(run("learn", "long.csv", "--grid", "5x5", "--model", "auto")[1].split())
    assert f"{chosen} (chosen)" in printed


def test_learn_takes_the_model_that_it_is_given(run, traces):
    for model, order, clock in (("first-order", 1, False), ("second-order", 2, False), ("calendar", 1, True)):
        words = ("learn", traces, "--user", "person-001", "--grid", "4x4", "--timezone", "Europe/Zurich")
        status, _, err = run(*words, "--model", model, "--out", "p.json")
        assert status == 0, err
        profile = load_profile("p.json")
        assert (profile.memory, hasattr(profile, "clock"), profile.candidates) == (order, clock, ())
        assert not clock or profile.clock.zone == "Europe/Zurich"
    assert "which follows a clock" in " ".join(run("solve", "p.json")[2].split())


def test_with_few_days_learn_says_that_nothing_was_compared(run, tmp_path):
    synthetic_city(people=1, days=2).to_csv(tmp_path / "short.csv", index=False)
    status, out, err = run("learn", "short.csv", "--grid", "4x4", "--model", "auto", "--out", "p.json")
    assert status == 0, err
    assert "There are fewer than 3 days, so no models were compared" in " ".join(out.split())
    assert load_profile("p.json").order == 1


@pytest.mark.parametrize("option", [("--order", 2), ("--smoothing", 0.1)])
def test_a_model_says_itself_how_moves_are_learned(run, traces, option):
    status, out, err = run("learn", traces, "--user", "person-001", "--model", "clock", *option)
    assert (status, out) == (2, "")
    assert f"The option {option[0]} of learn must be left out with --model" in " ".join(err.split())


def test_a_model_is_not_for_the_places_of_another_profile(run, traces):
    assert run("learn", traces, "--user", "person-001", "--grid", "4x4", "--out", "p.json")[0] == 0
    status, out, err = run("learn", traces, "--user", "person-001", "--places", "p.json", "--model", "clock")
    assert (status, out) == (2, "")
    assert "option --model of learn must be left out with the places of another profile" in " ".join(err.split())


def test_several_files_of_one_person_are_joined(run, tmp_path):
    one = TRACES[TRACES["user_id"] == "person-000"].drop(columns="user_id")
    (tmp_path / "days").mkdir()
    for day, part in one.groupby(one["tracked_at"].dt.date):
        part.to_csv(tmp_path / "days" / f"{day}.csv", index=False)
    status, out, err = run("learn", "days", "--grid", "6x6", "--json")
    assert status == 0, err
    assert json.loads(out)["user"] == "days"
    for day, name in zip(sorted((tmp_path / "days").iterdir()), ("ann", "bob", "eve", "joe"), strict=True):
        day.rename(day.with_stem(name))
    status, out, err = run("learn", "days", "--grid", "6x6", "--out", "q.json", "--json")
    assert status == 0, err
    assert json.loads(out)["user"] in ("ann", "bob", "eve", "joe")
    assert "told apart by file name" in err
    assert run("learn", "days", "--one-person", "--grid", "6x6", "--out", "r.json", "--json")[0] == 0
    joined = load_profile("profile.json").transition
    np.testing.assert_array_equal(load_profile("r.json").transition, joined)
    assert load_profile("q.json").transition.shape != joined.shape


def test_a_profile_keeps_its_own_grid(run, traces):
    assert run("learn", traces, "--grid", "4x4")[0] == 0
    for option in (("--grid", "5x5"), ("--user", "person-000"), ("--step", "10min")):
        status, _, err = run("solve", "profile.json", *option)
        assert status == 2
        assert "given with traces only" in " ".join(err.split())


def test_named_places_are_told_by_name(run, traces, tmp_path):
    pd.DataFrame({"latitude": [45.02, 45.05], "longitude": [-4.97, -4.92], "name": ["harbour", "hill"]}).to_csv(
        tmp_path / "places.csv", index=False
    )
    status, out, err = run("learn", traces, "--places", "places.csv")
    assert status == 0, err
    assert "harbour" in out
    assert "hill" in out


def test_traces_go_straight_into_solve(run, traces):
    status, out, err = run(
        "solve", traces, "--grid", "4x4", "--privacy", "hamming", "--quality", "hamming", "--budget", "0.1"
    )
    assert status == 0, err
    assert "closed form" in out
    assert "0.1" in out
    assert "2 users, told apart by column; took person-" in err


@pytest.mark.parametrize("planned", [[], ["--planned"]])
def test_transitions_are_protected_too(run, traces, planned):
    status, out, err = run("solve", traces, "--grid", "4x4", "--protect", "next", *planned, "--json", "--out", "m.csv")
    assert status == 0, err
    assert json.loads(out)["optimality_gap"] <= 1e-6


@pytest.mark.parametrize("choice", [("--h3", "7"), ("--places", "places.csv"), ("--box", "45.0,45.072,-5.0,-4.8985")])
def test_other_regions(run, traces, tmp_path, choice):
    latitude, longitude = np.meshgrid([45.02, 45.05], [-4.97, -4.92])
    frame = pd.DataFrame({"latitude": latitude.ravel(), "longitude": longitude.ravel(), "name": list("abcd")})
    frame.to_csv(tmp_path / "places.csv", index=False)
    status, out, err = run("learn", traces, *choice, "--order", "2", "--json")
    assert status == 0, err
    status, out, err = run("curve", "profile.json", "--tolerance", "0.05", "--quality", "hamming")
    assert status == 0, err
    assert "nothing can exceed" in out


def test_a_radius_is_in_the_unit_of_the_quality_and_its_cost_is_told(run, traces):
    words = ("solve", traces, "--grid", "4x6", "--budget", "50%", "--radius", "1.4km")
    status, out, err = run(*words, "--json")
    assert status == 0, err
    found = json.loads(out)
    assert (found["radius"], found["radius_metres"]) == pytest.approx((1.96e6, 1400))
    assert found["status"] == "optimal within the radius"
    assert found["bound_within_radius"] == pytest.approx(found["privacy"], rel=1e-5)
    assert found["optimality_gap"] == pytest.approx(1 - found["privacy"] / found["bound"])
    status, out, err = run(*words)
    assert status == 0, err
    assert "1.4km" in out
    assert "m²" not in out
    assert f"{found['optimality_gap']:.2%} of the bound" in out


def test_a_radius_that_allows_the_truth_only_is_told_as_such(run, traces):
    status, out, err = run("solve", traces, "--grid", "4x6", "--radius", "1m")
    assert status == 0, err
    assert "the radius costs at most" in out
    assert "100.00% of the bound" in out


def test_breakpoints_on_request(run, traces):
    status, out, err = run("curve", traces, "--grid", "3x3", "--breakpoints", "--json")
    assert status == 0, err
    found = json.loads(out)
    assert found["width"] <= 1e-8 * found["prior_risk"]
