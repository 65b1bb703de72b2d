"""design, inspect, evaluate and expose, run as a user runs them."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hideseek import MarkovProfile, Places, save_profile


@pytest.fixture(scope="module")
def designed(traces, tmp_path_factory):
    """A folder with a profile and a codebook, made by the command line."""
    folder = tmp_path_factory.mktemp("designed")
    command = [sys.executable, "-m", "hideseek"]
    learn = ["learn", traces, "--user", "person-001", "--grid", "4x4", "--out", "p.json"]
    design = ["design", "p.json", "--memory", "1", "--budget", "30%", "--out", "p.hideseek", "--json"]
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
        assert all(f" {stage[name]:.6g} " in line for name in ("privacy", "bound", "worst_loss_metres"))
        assert stage["worst_loss_metres"] == pytest.approx(stage["worst_loss"] ** 0.5)
    deployed = facts["deployed"]
    plain = f"the solver's own {deployed['plain_second_privacy']:.6g} m, not verified"
    assert f"{deployed['second_privacy']:.6g} m by choice; {plain}" in " ".join(out.replace("│", " ").split())
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
    lost = f"Quality lost: {label['quality_loss'] ** 0.5:.6g} of {facts['budget'] ** 0.5:.6g} m (root mean square)"
    assert lost in out.replace("\n", " ")
    assert f"{label['kept']:.6g}" in out


def test_a_codebook_says_that_its_budget_holds_on_average(run, designed, monkeypatch):
    folder, each = designed
    monkeypatch.chdir(folder)
    words = ("--memory", "1", "--budget", "30%", "--over", "histories", "--out", "shared.hideseek", "--json")
    status, out, err = run("design", "p.json", *words)
    assert status == 0, err
    facts = json.loads(out)
    assert (facts["over"], each["over"]) == ("histories", "access")
    assert facts["deployed"]["quality_loss"] <= facts["deployed"]["worst_average_loss"] <= facts["budget"] * (1 + 1e-9)
    assert facts["deployed"]["worst_loss"] > facts["budget"]
    status, out, err = run("inspect", "shared.hideseek")
    assert status == 0, err
    told = " ".join(out.replace("│", " ").split())
    assert "at every access, on average over what was exposed before" in told
    assert "which the budget does not limit" in told
    assert "keeps the budget on average over the releases since" in told
    assert "above the budget" not in told
    status, out, err = run("evaluate", "shared.hideseek", "p.json", "--accesses", 20, "--walks", 20)
    assert status == 0, err
    assert "on average over what was exposed before, within the budget" in " ".join(out.split())
    here = ["--latitude", "45.03", "--longitude", "-4.95", "--at", "2026-01-05T08:00:00+00:00"]
    assert run("expose", "shared.hideseek", "--state", "shared.state", *here)[0] == 0


def test_expose_answers_once_a_step(run, designed, monkeypatch, tmp_path):
    book = designed[0] / "p.hideseek"
    here = ["--latitude", "45.03", "--longitude", "-4.95"]
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
    assert status == 0, err
    assert len(out.split(",")) == 2
    status, out, err = run("expose", book, "--state", "away", "--latitude", "46.03", "--longitude", "-4.95")
    assert (status, out) == (3, "")
    assert "withheld: you are far from every place" in err
    assert run("expose", book, "--state", "other", "--latitude", "45.03")[0] == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("45.03,-4.95\n"))
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


@pytest.mark.parametrize("protect", ["place --memory 1", "way", "next", "next --planned", "between"])
def test_everything_can_be_protected_through_time_by_a_codebook(run, tmp_path, protect):
    places = Places([45.0, 45.01, 45.02], [5.0, 5.01, 5.0])
    matrix = [[0.8, 0.2, 0.0], [0.3, 0.4, 0.3], [0.1, 0.2, 0.7]]
    save_profile(MarkovProfile.from_matrix(matrix, places, step="10min"), tmp_path / "p.json")
    status, out, err = run("design", "p.json", "--protect", *protect.split(), "--privacy", "hamming", "--json")
    assert status == 0, err
    facts = json.loads(out)
    assert facts["step"] == "10min"
    assert facts["deployed"]["worst_loss"] <= facts["budget"]
    assert facts["deployed"]["privacy"] > 0
