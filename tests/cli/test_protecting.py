"""protect and demo, run as a user runs them."""

from __future__ import annotations

import json
import stat
from math import ceil

import pytest

from hideseek import Playbook, synthetic_city
from hideseek.experiments.demo import demo_person
from hideseek.experiments.protection_folder import WRITTEN
from hideseek.planning import load_plan
from hideseek.planning.steering_training import WEIGHTS
from hideseek.util.choices import Against
from tests.support.two_people import TRACES

SMALL = ("--user", "person-001", "--grid", "2x2", "--over", "2h", "--budget", "1km")
CENTRE = TRACES[TRACES["user_id"] == "person-001"][["latitude", "longitude"]].median()
HOSPITAL = f"hospital={CENTRE['latitude']},{CENTRE['longitude']}:5@50m"


def stopped(*_, **__):
    raise KeyboardInterrupt


def test_protect_writes_private_files_and_says_it_in_five_sentences(run, traces, tmp_path):
    status, out, err = run("protect", traces, *SMALL, "--sensitive", HOSPITAL)
    assert status == 0, err
    assert "hospital" in out.split("When you are")[0]
    *_, app, named, wrong, share, then = out.strip().splitlines()
    assert "at most 1000 m (root mean square) away on average" in app
    assert named.startswith("When you are at hospital, an adversary who knows your habits and remembers every release")
    assert "of the time (with the true place 100 %, with nothing " in named
    assert "with the truth by 0 m" in wrong
    assert "of what any mechanism can reach, with sensitive places counting for more (the ceiling)" in share
    assert "hideseek expose me/me.playbook --state me/me.state" in then
    assert {path.name for path in (tmp_path / "me").iterdir()} == {*WRITTEN}
    assert stat.S_IMODE((tmp_path / "me").stat().st_mode) == 0o700
    assert str(CENTRE["latitude"]) not in out + err


def test_protect_for_machines_has_every_rate_with_its_interval(run, traces, tmp_path):
    status, out, err = run(
        "protect", traces, *SMALL, "--over", "1day", "--sensitive", HOSPITAL, "--json", "--out", "mine"
    )
    assert status == 0, err
    found = json.loads(out)
    label, hospital = found["label"], found["label"]["places"][0]
    assert (hospital["name"], hospital["sensitive"]) == ("hospital", True)
    low, high = hospital["protected"]["there_interval"]
    assert 0 <= low <= hospital["protected"]["there"] <= high <= 1
    assert (hospital["truth"]["there"], hospital["truth"]["elsewhere"]) == (1, 0)
    assert 0 == label["truth"] < label["error"] <= label["nothing"]
    assert label["share_of_nothing"] == pytest.approx(label["error"] / label["nothing"])
    assert label["budget_metres"] == pytest.approx(1000)
    assert label["window"] == 288
    assert label["worst_window"] <= 2 * label["budget"]
    assert Playbook.load(found["files"]["me.playbook"]).sha256 == found["playbook"]


def test_run_again_it_says_what_becomes_of_the_device_s_state(run, traces, tmp_path):
    run("protect", traces, *SMALL)
    (tmp_path / "me" / "me.state").write_text("")
    assert "me.state" not in run("protect", traces, *SMALL)[2], "the same data give the same playbook"
    status, _, err = run("protect", traces, *SMALL[:-1], "1.5km")
    assert status == 0, err
    assert "replace those of an earlier run" in err
    assert "me.state belongs to the old playbook. Delete it, and let the device be silent for " in err


def test_a_narrow_budget_is_told_before_the_long_work(run, traces, monkeypatch):
    monkeypatch.setattr("hideseek.experiments.protection.protect", stopped)
    err = run("protect", traces, *SMALL[:-1], "1m")[2]
    assert "A budget of 1 m is far below the width of a place" in " ".join(err.split())


def test_another_name_and_files_of_two_runs_are_told_before_the_work(run, traces, tmp_path, monkeypatch):
    run("protect", traces, *SMALL)
    (tmp_path / "me" / "report.html").write_text("of another run")
    about = json.loads((tmp_path / "me" / "protection.json").read_text())
    (tmp_path / "me" / "protection.json").write_text(json.dumps(about | {"user": "ann"}))
    monkeypatch.setattr("hideseek.experiments.protection.protected", stopped)
    err = " ".join(run("protect", traces, "--user", "person-001", "--grid", "2x2", "--budget", "1m")[2].split())
    assert "were made for ann, and these traces are of person-001" in err
    assert "give another --out" in err
    assert "report.html in me is not of the run that finished there last" in err


def test_no_folder_remains_where_the_data_cannot_be_read(run, tmp_path):
    assert run("protect", "nowhere.csv")[0] != 0
    assert not (tmp_path / "me").exists()


def test_inspect_explains_what_protect_prints_and_writes(run, traces, tmp_path):
    status, printed, err = run("protect", traces, *SMALL, "--sensitive", HOSPITAL, "--json")
    assert status == 0, err
    (tmp_path / "printed.json").write_text(printed)
    for name in ("printed.json", "me/protection.json", "me"):
        status, out, err = run("inspect", name, "--json")
        assert status == 0, err
        told = json.loads(out)
        assert told["kind"] == "protection of a person"
        assert told["label"] == json.loads(printed)["label"]
        words = run("inspect", name)[1]
        assert "hospital" in words
        assert "At other budgets, in drafts" in words
        assert "Keep it private" in words
        # 24 answers: a budget each and 23 that were saved before them, of squares; rounded up
        assert f"any 24 answers in a row at most {ceil(1000 * (1 + 23 / 24) ** 0.5)} m" in " ".join(words.split())
        assert f"by one at most {ceil(1000 * 24**0.5)} m" in " ".join(words.split())
    assert json.loads(run("inspect", "me", "--json")[1])["of_other_runs"] == []
    (tmp_path / "me" / "me.plan").write_bytes(b"another")
    assert "me.plan is not of the run that finished last" in run("inspect", "me")[1]
    for broken in ({}, {"label": 3}, {"label": {"places": [{}]}}):
        (tmp_path / "printed.json").write_text(json.dumps({"hideseek_protection": 1} | broken))
        status, out, err = run("inspect", "printed.json")
        assert (status, out) == (2, "")
        assert "tells no protection of a person" in " ".join(err.split())


def test_inspect_says_that_a_budget_holds_at_every_answer(run, traces):
    run("protect", traces, *SMALL, "--over", "access")
    words = " ".join(run("inspect", "me")[1].split())
    assert "The budget, 1000 m (root mean square), holds at every answer, whatever was told before." in words


def test_inspect_explains_what_evaluate_prints_about_a_playbook(run, traces, tmp_path):
    run("protect", traces, *SMALL)
    printed = run("evaluate", "me/me.playbook", "--accesses", 5, "--walks", 2, "--json")[1]
    (tmp_path / "label.json").write_text(printed)
    told = json.loads(run("inspect", "label.json", "--json")[1])
    assert told["kind"] == "label of a playbook"
    assert told["filter"] == json.loads(printed)["filter"]
    words = run("inspect", "label.json")[1].split("On average over")[1]
    shown = run("evaluate", "me/me.playbook", "--accesses", 5, "--walks", 2)[1].split("On average over")[1]
    assert shown.split("Kept")[0].split() == words.split("Keep")[0].split()


def test_a_folder_of_others_is_refused_before_anything_is_read(run, tmp_path):
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / "thesis.tex").write_text("")
    status, out, err = run("protect", "nowhere.csv")
    assert (status, out) == (2, "")
    assert "option --out of protect" in err
    assert "thesis.tex" in err


def test_the_demo_protects_a_synthetic_person_who_visits_a_clinic(run, monkeypatch, tmp_path):
    traces, clinic = demo_person()
    assert traces["tracked_at"].dt.date.nunique() == 14
    short = synthetic_city(people=1, days=2)
    monkeypatch.setattr("hideseek.experiments.demo.demo_person", lambda _: (short, clinic))
    status, out, err = run("demo", "--json", "--out", "seen")
    assert status == 0, err
    first, *others = (place["name"] for place in json.loads(out)["label"]["places"])
    assert first == "clinic"
    assert {"home", "work"} <= {*others}
    page = (tmp_path / "seen" / "report.html").read_text()
    assert "A day" in page
    assert "http" not in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--over", "access", "--against", "log"), "--against"),
        (("--against", "smoother"), "--against"),
        (("--over", "1min"), "--over"),
        (("--over", "access", "--cap", "4"), "--cap"),
    ],
)
def test_what_a_budget_does_not_have_is_refused_before_anything_is_written(run, traces, tmp_path, options, words):
    status, out, err = run("protect", traces, *SMALL, *options)
    assert (status, out) == (2, "")
    assert words in err
    assert not (tmp_path / "me").exists()


def test_protect_knows_one_adversary_over_a_window(run, traces, tmp_path):
    status, _, err = run("protect", traces, *SMALL, "--against", "log")
    assert status == 0, err
    log, _ = load_plan(tmp_path / "me" / "me.plan")
    assert log.window == 24
    assert Playbook.load(tmp_path / "me" / "me.playbook").steering.log == WEIGHTS[Against.LOG][1]
