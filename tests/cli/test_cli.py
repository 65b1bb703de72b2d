"""The command line, run as a user runs it."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hideseek import Codebook, MarkovProfile, Places, load_profile, save_profile, synthetic_city
from hideseek.model import distances

TRACES = synthetic_city(people=2, days=4, seed=1)
COMMANDS = (
    *("demo", "learn", "solve", "curve", "design", "inspect", "evaluate", "expose", "plan"),
    *("reproduce", "compare", "study", "fleet"),
)


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "city.csv"
    TRACES.to_csv(path, index=False)
    return str(path)


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
    assert solved["gap"] <= 1e-6
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
    curve = json.loads(out)
    privacy = [point["privacy"] for point in curve["points"]]
    assert privacy == sorted(privacy)
    assert privacy[-1] == pytest.approx(curve["prior_risk"])
    assert len(pd.read_csv(tmp_path / "c.csv")) == 6
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_several_files_of_one_person_are_joined(run, tmp_path):
    one = TRACES[TRACES["user_id"] == "person-000"].drop(columns="user_id")
    (tmp_path / "days").mkdir()
    for day, part in one.groupby(one["tracked_at"].dt.date):
        part.to_csv(tmp_path / "days" / f"{day}.csv", index=False)
    status, out, err = run("learn", "days", "--one-person", "--grid", "6x6", "--json")
    assert status == 0, err
    assert json.loads(out)["user"] == "days"
    status, out, _ = run("learn", "days", "--grid", "6x6", "--out", "q.json", "--json")
    assert status == 0
    assert load_profile("profile.json").places > load_profile("q.json").places


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


def test_the_version_is_told(run):
    assert run("--version")[1].strip() == version("hideseek")


def test_traces_go_straight_into_solve(run, traces):
    status, out, err = run(
        "solve", traces, "--grid", "4x4", "--privacy", "hamming", "--quality", "hamming", "--budget", "0.1"
    )
    assert status == 0, err
    assert "closed form" in out
    assert "0.1" in out
    assert "2 users, told apart by column; took person-" in err


@pytest.mark.parametrize("protect", ["next", "planned"])
def test_transitions_are_protected_too(run, traces, protect):
    status, out, err = run("solve", traces, "--grid", "4x4", "--protect", protect, "--json", "--out", "m.csv")
    assert status == 0, err
    assert json.loads(out)["gap"] <= 1e-6


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
    words = ("solve", traces, "--grid", "4x6", "--budget", "50%", "--radius", "2e6")
    status, out, err = run(*words, "--json")
    assert status == 0, err
    found = json.loads(out)
    assert found["radius"] == 2e6
    assert found["status"] == "optimal within the radius"
    assert found["bound_within_radius"] == pytest.approx(found["privacy"], rel=1e-5)
    assert found["gap"] == pytest.approx(1 - found["privacy"] / found["bound"])
    status, out, err = run(*words)
    assert status == 0, err
    assert "2e+06 m²" in out
    assert f"{found['gap']:.2%} of what could be" in out


def test_a_radius_that_allows_the_truth_only_is_told_as_such(run, traces):
    status, out, err = run("solve", traces, "--grid", "4x6", "--radius", "1")
    assert status == 0, err
    assert "the radius costs at most" in out
    assert "100.00% of what could be" in out


def test_breakpoints_on_request(run, traces):
    status, out, err = run("curve", traces, "--grid", "3x3", "--breakpoints", "--json")
    assert status == 0, err
    found = json.loads(out)
    assert found["width"] <= 1e-8 * found["prior_risk"]


@pytest.fixture(scope="module")
def designed(traces, tmp_path_factory):
    """A folder with a profile and a codebook, made by the command line."""
    folder = tmp_path_factory.mktemp("designed")
    command = [sys.executable, "-m", "hideseek"]
    learn = ["learn", traces, "--user", "person-001", "--grid", "4x4", "--out", "p.json"]
    design = ["design", "p.json", "--budget", "30%", "--gaps", "2", "--out", "p.hideseek", "--json"]
    subprocess.run([*command, *learn], cwd=folder, check=True, capture_output=True)
    out = subprocess.run([*command, *design], cwd=folder, check=True, capture_output=True, text=True).stdout
    return folder, json.loads(out)


def test_design_then_inspect_then_evaluate(run, designed):
    folder, facts = designed
    assert facts["deployed"]["worst_loss"] <= facts["budget"]
    assert facts["stages"][0]["used"] == "access 1"
    assert stat.S_IMODE((folder / "p.hideseek").stat().st_mode) == 0o600
    status, out, err = run("inspect", folder / "p.hideseek", "--json")
    assert status == 0, err
    inspected = json.loads(out)
    assert {name: inspected[name] for name in ("sha256", "stages", "deployed", "scenario")} == {
        name: facts[name] for name in ("sha256", "stages", "deployed", "scenario")
    } | {"scenario": inspected["scenario"]}
    status, out, _ = run("inspect", folder / "p.hideseek")
    assert "where its user goes" in out
    assert "Keep it private" in out
    for stage in facts["stages"]:
        (line,) = (line for line in out.splitlines() if line.startswith(f"│ {stage['used']} "))
        assert all(f" {stage[name]:.6g} " in line for name in ("privacy", "bound", "worst_loss"))
    deployed = facts["deployed"]
    plain = f"the solver's own {deployed['plain_second_privacy']:.6g}, not verified"
    assert f"{deployed['second_privacy']:.6g} at access 2; {plain}" in " ".join(out.replace("│", " ").split())
    status, out, err = run(
        "evaluate", folder / "p.hideseek", folder / "p.json", "--accesses", 40, "--walks", 50, "--json"
    )
    assert status == 0, err
    label = json.loads(out)
    assert set(label["intervals"]) == {"filter", "smoother", "viterbi", "predictor", "over_budget", "kept"}
    low, high = label["intervals"]["filter"]
    assert low <= label["filter"] <= high
    assert label["quality_loss"] <= facts["budget"]
    status, out, _ = run("evaluate", folder / "p.hideseek", folder / "p.json", "--accesses", 40, "--walks", 50)
    for name, words in (("filter", "(filter)"), ("window", "of the window"), ("smoother", "(smoother)")):
        (line,) = (line for line in out.splitlines() if words in line)
        assert f" {label[name]:.6g} " in line
        assert f" {label['hit_rates'][name]:.1%} " in line
        if name in label["intervals"]:
            low, high = label["intervals"][name]
            assert f"± {(high - low) / 2:.2g} " in line
    assert f"Quality lost: {label['quality_loss']:.6g} of {facts['budget']:.6g}" in out.replace("\n", " ")
    assert f"{label['kept']:.6g}" in out


def test_expose_answers_once_a_step(run, designed, monkeypatch, tmp_path):
    book = designed[0] / "p.hideseek"
    here = ["--latitude", "45.03", "--longitude", "-4.91"]
    answers = []
    for minute in (0, 3, 7):
        at = f"2026-01-05T08:0{minute}:00+00:00"
        status, out, err = run("expose", book, "--state", "s", *here, "--at", at, "--json")
        assert status == 0, err
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
    assert answers[2]["at"] == "2026-01-05T08:05:00+00:00"
    assert set(answers[0]) == {"status", "at", "latitude", "longitude", "place", "reason"}
    status, out, err = run("expose", book, "--state", "s", *here, "--at", "2026-01-05T07:00:00+00:00")
    assert (status, out) == (3, "")
    assert "withheld: a later step was answered already" in err
    status, out, err = run("expose", book, "--state", "s", *here, "--at", "2026-01-06T08:00:00+00:00")
    assert status == 3
    assert "--restart" in err
    status, out, err = run("expose", book, "--state", "s", *here, "--at", "2026-01-06T08:00:00+00:00", "--restart")
    assert status == 0, err
    assert len(out.split(",")) == 2
    assert run("expose", book, "--state", "other", "--latitude", "45.03")[0] == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("45.03,-4.91\n"))
    assert run("expose", book, "--state", "other")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("45.0311,here\n"))
    status, out, err = run("expose", book, "--state", "another")
    assert status == 2
    assert "45.0311" not in out + err


@pytest.mark.parametrize("given", [None, "0" * 10**6, b"\xff\n"])
def test_what_is_no_line_with_a_point_is_refused(run, designed, monkeypatch, given):
    """Nothing at all, a line without end and what is no text."""
    text = io.TextIOWrapper(io.BytesIO(given), "utf-8") if isinstance(given, bytes) else given and io.StringIO(given)
    monkeypatch.setattr(sys, "stdin", text)
    status, _, err = run("expose", designed[0] / "p.hideseek", "--state", "s")
    assert status == 2
    assert "LATITUDE,LONGITUDE" in err
    if isinstance(text, io.StringIO):
        assert text.tell() < 1000


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it is a device of Linux")
@pytest.mark.parametrize("as_json", [False, True])
def test_a_full_standard_output_is_told_on_the_other_one(designed, as_json):
    command = [sys.executable, "-c", "from hideseek.cli import main; main()", "inspect", designed[0] / "p.hideseek"]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            command + ["--json"] * as_json, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr


def test_a_damaged_codebook_is_refused_in_one_line(run, designed, tmp_path):
    content = bytearray((designed[0] / "p.hideseek").read_bytes())
    content[-1] ^= 1
    (tmp_path / "bad.hideseek").write_bytes(content)
    for words in (["inspect"], ["expose", "--state", "s", "--latitude", "1", "--longitude", "1"]):
        status, out, err = run(words[0], "bad.hideseek", *words[1:])
        assert (status, out) == (2, "")
        assert "checksum" in err
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize("protect", ["place", "trajectory", "next", "planned", "between"])
def test_everything_can_be_protected_through_time(run, tmp_path, protect):
    places = Places([45.0, 45.01, 45.02], [5.0, 5.01, 5.0])
    matrix = [[0.8, 0.2, 0.0], [0.3, 0.4, 0.3], [0.1, 0.2, 0.7]]
    save_profile(MarkovProfile.from_matrix(matrix, places, step="10min"), tmp_path / "p.json")
    status, out, err = run("design", "p.json", "--protect", protect, "--privacy", "hamming", "--json")
    assert status == 0, err
    facts = json.loads(out)
    assert facts["step"] == "10min"
    assert facts["deployed"]["worst_loss"] <= facts["budget"]
    assert facts["deployed"]["privacy"] > 0


def test_demo_writes_a_report_that_stands_alone(run, tmp_path):
    status, out, err = run("demo", "--json", "--out", "seen")
    assert status == 0, err
    rows = json.loads(out)["rows"]
    assert {row["scenario"] for row in rows} == {"now", "now and next"}
    for row in rows:
        assert row["privacy"] <= row["bound"]
        assert row["gap"] <= 1e-6
        assert row["attacked"] == pytest.approx(row["privacy"], rel=1e-6)
        assert row["lost"] <= row["allowed"] * (1 + 1e-9)
        if row["scenario"] == "now":
            assert row["remembering"] <= row["attacked"] * (1 + 1e-9)
    label = json.loads(out)["label"]
    assert label["smoother"] <= label["filter"] + 10 <= label["window"] + 20 <= label["prior_risk"]  # metres of chance
    assert 0 < label["kept"] <= 1
    page = (tmp_path / "seen" / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 5
    for heading in ("A day through a device", "What the adversary made of it", "The label", "Planning ahead"):
        assert heading in page
    book = Codebook.load(tmp_path / "seen" / "person.hideseek")
    assert book.deployed.worst_loss <= book.budget
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "nowhere"], "nowhere"),
        (["learn", "TRACES", "--user", "nobody"], "'user' parameter"),
        (["learn", "TRACES", "--grid", "ten"], "'grid' parameter"),
        (["learn", "TRACES", "--grid", "0x5"], "'rows' parameter"),
        (["learn", "TRACES", "--box", "1,2,3"], "'box' parameter"),
        (["learn", "TRACES", "--box", "1,2,3,4"], "around at least one fix"),
        (["learn", "TRACES", "--places", "none.csv"], "'places' parameter"),
        (["learn", "TRACES", "--h3", "99"], "'resolution' parameter"),
        (["learn", "TRACES", "--step", "never"], "'step' parameter"),
        (["learn", "TRACES", "--h3", "5", "--places", "p.csv"], "'places, h3, grid' parameter"),
        (["learn", "TRACES", "--h3", "5", "--grid", "3x3"], "'places, h3, grid' parameter"),
        (["learn", "TRACES", "--grid", "100000x100000"], "A grid of 100000 x 100000 cells would need"),
        (["learn", "TRACES", "--format", "kml"], "'format' parameter"),
        (["learn", "TRACES", "--grid", "1x1"], "two or more places"),
        (["learn", "TRACES", "--order", "1" + "0" * 20], "'order' parameter"),
        (["learn", "TRACES", "--order", "62"], "'order' parameter"),
        (["solve", "TRACES", "--budget", "lots"], "'budget' parameter"),
        (["solve", "TRACES", "--budget", "-5%"], "'budget' parameter"),
        (["solve", "TRACES", "--budget", "nan"], "'budget' parameter"),
        (["solve", "TRACES", "--tolerance", "0"], "'tolerance' parameter"),
        (["curve", "TRACES", "--points", "1"], "'points' parameter"),
        (["curve", "TRACES", "--figure", "c.exe", "--out", "c.csv", "--grid", "2x2"], "'figure' parameter"),
        (["learn", "[/x]"], "[/x]"),
        (["solve", "TRACES", "--grid", "3x3", "--out", "/proc/nowhere/m.csv"], "nowhere"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_bad_input_is_told_in_a_line_and_nothing_is_written(run, traces, tmp_path, words, said, as_json):
    words = [traces if word == "TRACES" else word for word in words] + ["--json"] * as_json
    status, out, err = run(*words)
    assert status == 2
    assert "Traceback" not in out + err
    if as_json:
        assert said in json.loads(out)["message"]
    else:
        assert said in " ".join(err.split())
    assert not list(tmp_path.iterdir())


def test_skipped_rows_are_told(run, tmp_path):
    spoilt = TRACES.head(500).astype({"latitude": str})
    spoilt.loc[3, "latitude"] = "north"
    spoilt.to_csv(tmp_path / "spoilt.csv", index=False)
    status, _, err = run("learn", "spoilt.csv", "--grid", "8x8", "--json")
    assert status == 0
    assert "note:" in err
    assert "1 " in err


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_an_example(command):
    text = subprocess.run(
        [sys.executable, "-m", "hideseek", *command, "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "hideseek " in text
    if command:
        assert f"Example: hideseek {command[0]}" in text


def test_shell_completion_is_offered():
    text = subprocess.run(
        [sys.executable, "-m", "hideseek", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "--install-completion" in text
