"""inspect, evaluate and expose: any of our files is known by its content."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hideseek import MarkovProfile, PeriodicProfile, Places, Playbook, load_profile, save_profile
from hideseek.adversary import against_profile, attack
from hideseek.codebook.codebook import Codebook
from hideseek.device.playbook_device import PlaybookDevice
from hideseek.experiments import planner_study_pages
from hideseek.model import Clock
from hideseek.planning import steering_training
from hideseek.storage.kinds import Kind
from tests.support.fleets import labels_of
from tests.support.results import STUDY

HERE = ("--latitude", "46.5", "--longitude", "6.5", "--at", "2026-01-05T08:00:00+00:00")
REGIONS = Places([46.50, 46.51, 46.53], [6.50, 6.52, 6.55])
CHAIN = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
OLD = Path(__file__).parents[1] / "data" / "0.1.0"


@pytest.fixture
def files(run, tmp_path):
    """One of each of our files."""
    save_profile(MarkovProfile.from_matrix(CHAIN, REGIONS), tmp_path / "me.json")
    quick = ("--walks", "2", "--accesses", "100", "--outlook", "plain")
    for words in (
        ("design", "me.json", "--budget", "30%", "--memory", "1", "--out", "me.hideseek"),
        ("design", "me.json", "--budget", "30%", "--out", "me.playbook"),
        ("plan", "me.json", "--out", "me.plan", *quick),
        ("solve", "me.json", "--out", "table.csv", "--attack", "attack.csv"),
        ("curve", "me.json", "--points", "4", "--out", "curve.csv"),
        ("expose", "me.hideseek", "--state", "me.state", *HERE),
        ("expose", "me.plan", "--state", "live.state", *HERE),
        ("expose", "me.playbook", "--state", "book.state", *HERE),
    ):
        status, _, err = run(*words)
        assert status == 0, err
    return {
        Kind.PROFILE: "me.json",
        Kind.CODEBOOK: "me.hideseek",
        Kind.PLAN: "me.plan",
        Kind.PLAYBOOK: "me.playbook",
        Kind.MECHANISM: "table.csv",
        Kind.ATTACK: "attack.csv",
        Kind.CURVE: "curve.csv",
        Kind.STATE: "me.state",
    }


def test_inspect_knows_what_every_command_writes(run, files, undisturbed):
    mark = next((undisturbed / "done").iterdir())
    files |= {Kind.FLEET: undisturbed, Kind.LABELS: undisturbed / "labels.parquet", Kind.MARK: mark}
    renamed = Path("whatever.bin")
    for kind, name in files.items():
        if Path(name).is_file():  # what a file is called does not matter
            renamed.write_bytes(Path(name).read_bytes())
            name = renamed
        status, out, err = run("inspect", name, "--json")
        assert status == 0, err
        assert json.loads(out)["kind"] == str(kind)
        status, out, err = run("inspect", name)
        assert status == 0, err
        assert len(out) > 100


def test_the_facts_of_each_file_are_those_that_are_in_it(run, files, undisturbed):
    def facts(name):
        return json.loads(run("inspect", name, "--json")[1])

    profile = load_profile("me.json")
    assert facts("me.json")["busiest"][0]["share"] == profile.stationary.max()
    plan = facts("me.plan")
    assert plan["places"] == 3
    assert plan["bound"] > 0
    book = Codebook.load("me.hideseek")
    state, live = facts("me.state"), facts("live.state")
    assert (state["of"], state["sha256"]) == ("codebook", book.sha256)
    assert (live["of"], live["accesses"], live["withheld"]) == ("plan or playbook", 1, 0)
    assert facts("book.state")["sha256"] == Playbook.load("me.playbook").sha256
    assert facts("curve.csv")["rows"] == 4
    fleet = facts(undisturbed)
    assert (fleet["users"], fleet["codebooks"], fleet["job"]["grid"]) == (4, 4, [1, 2])
    assert facts(undisturbed / "fleet.json") == fleet | {"file": str(undisturbed / "fleet.json")}
    mark = facts(undisturbed / "done" / "person-002.json")
    label = labels_of(undisturbed).loc["person-002"]
    assert (mark["user"], [row["kept"] for row in mark["rows"]]) == ("person-002", [label["kept"]])
    assert label["codebook"] in run("inspect", undisturbed / "done" / "person-002.json")[1].replace("\n", "")


def test_a_fleet_over_a_window_is_explained(run, tmp_path, city, monkeypatch):
    monkeypatch.setattr(steering_training, "ROUND", 24)
    words = (
        "--grid",
        "1x2",
        "--privacy",
        "hamming",
        "--quality",
        "hamming",
        "--over",
        "1h",
        "--cap",
        3,
        "--workers",
        1,
    )
    assert run("fleet", city, "--out", "all", *words)[0] == 0
    for at in ("all", "all/labels.parquet"):
        told = " ".join(run("inspect", at)[1].replace("│", " ").split())
        assert "budgets hold over 1 hour on average, after every history" in told
        assert "budgets on average, of 2 at most" in told
    facts = json.loads(run("inspect", "all", "--json")[1])
    worst = labels_of(tmp_path / "all")["worst_window"] / labels_of(tmp_path / "all")["budget"]
    assert (facts["over"], facts["worst_window"]) == ("1 hour", worst.max())
    assert (facts["job"]["over"], facts["job"]["cap"]) == ("1 hour", 3.0)
    assert "budgets over 1 hour" in (tmp_path / "all" / "report.html").read_text()


def test_no_true_place_is_shown_of_a_state(run, tmp_path):
    """The state holds the true places that later draws look at, and what is believed."""
    state = {"hideseek_state": 1, "sha256": "ab", "last": 7, "release": 0, "reason": "", "belief": [0.125, 0.875]}
    (tmp_path / "s").write_text(json.dumps(state | {"places": {"7": 4321}, "run": {"accesses": 5, "privacy": 0.625}}))
    for options in ([], ["--json"]):
        status, out, err = run("inspect", "s", *options)
        assert status == 0, err
        assert "5" in out
        for secret in ("4321", "0.125", "0.875", "0.625"):
            assert secret not in out


def test_a_playbook_is_evaluated_against_a_profile_with_a_clock(run, tmp_path):
    """As the library has it; and the same profile leaves what the playbook claims."""
    clock = Clock("Europe/Zurich", ((6, 20),), step="1h")
    rows = np.array([CHAIN, np.roll(CHAIN, 1, axis=1)])
    save_profile(PeriodicProfile(rows, clock.cycle, regions=REGIONS, step="1h", clock=clock), "clock.json")
    save_profile(MarkovProfile.from_matrix(rows.mean(axis=0), REGIONS, step="1h"), "me.json")
    assert run("design", "me.json", "--budget", "30%", "--out", "me.playbook")[0] == 0
    few = ("--accesses", 24, "--walks", 20)
    status, out, err = run("evaluate", "me.playbook", "clock.json", *few, "--json")
    assert status == 0, err
    told = json.loads(out)
    both = against_profile(Playbook.load("me.playbook"), load_profile("clock.json"), accesses=24, walks=20)
    for name, own in (("as_the_playbook_says", both.claimed), ("by_the_profile", both.found)):
        assert told[name]["filter"] == own.errors["filter"]
        assert tuple(told[name]["intervals"]["smoother"]) == own.errors["smoother"].interval
        assert told[name]["quality_loss"] == own.loss
    words = " ".join(run("evaluate", "me.playbook", "clock.json", *few)[1].split())
    assert "by clock.json" in words
    assert f"{both.found.errors['filter']:.6g}" in words
    same = json.loads(run("evaluate", "me.playbook", "me.json", *few, "--json")[1])
    assert same["by_the_profile"] == same["as_the_playbook_says"]


def test_what_is_saved_is_told_of_a_state_whose_budget_holds_over_a_window(run):
    run_of = ("design", "me.json", "--budget", "30%", "--over", "2h", "--out", "me.playbook")
    save_profile(MarkovProfile.from_matrix(CHAIN, REGIONS), "me.json")
    assert run(*run_of)[0] == 0
    assert run("expose", "me.playbook", "--state", "me.state", *HERE)[0] == 0
    saved = json.loads(run("inspect", "me.state", "--json")[1])["saved"]
    device = PlaybookDevice(Playbook.load("me.playbook"), state="me.state")
    assert saved == device.label().saved > 0
    assert f"{saved:.6g}, in the unit of the expected loss" in " ".join(
        run("inspect", "me.state")[1].replace("│", " ").split()
    )


def test_a_state_that_saved_no_number_is_damaged(run, tmp_path):
    state = {"hideseek_state": 1, "sha256": "ab", "last": 7, "belief": [1.0], "saved": "much"}
    (tmp_path / "s").write_text(json.dumps(state))
    status, out, err = run("inspect", "s")
    assert (status, out) == (2, "")
    assert "damaged" in err


def test_files_of_the_first_version_are_explained_too(run):
    for name, kind in (
        ("profile.json", "profile"),
        ("codebook.hideseek", "codebook"),
        ("plan.plan", "plan"),
        ("device.state", "device state"),
        ("live.state", "device state"),
    ):
        status, out, err = run("inspect", OLD / name, "--json")
        assert status == 0, err
        assert json.loads(out)["kind"] == kind


def test_a_report_is_known_as_a_page_and_as_a_folder(run, files):
    words = ("--accesses", "2", "--walks", "2", "--workers", "1", "--privacy", "hamming", "--quality", "hamming")
    assert run("compare", "me.json", *words, "--out", "rivals")[0] == 0
    for name in ("rivals", "rivals/report.html"):
        status, out, err = run("inspect", name, "--json")
        assert status == 0, err
        told = json.loads(out)
        assert told["kind"] == "report"
        assert told["title"]
        assert told["title"] in run("inspect", name)[1].replace("\n", " ")


def test_the_table_of_a_comparison_is_known(run, files):
    words = ("--accesses", "2", "--walks", "2", "--workers", "1", "--privacy", "hamming", "--quality", "hamming")
    assert run("compare", "me.json", *words, "--out", "rivals")[0] == 0
    status, out, err = run("inspect", "rivals/comparison.csv", "--json")
    assert status == 0, err
    told = json.loads(out)
    assert (told["kind"], told["rows"]) == ("comparison table", len(pd.read_csv("rivals/comparison.csv")))
    assert "private" not in run("inspect", "rivals/comparison.csv")[1]


def test_the_table_of_a_study_is_known(run, tmp_path):
    files = planner_study_pages.write_pages(STUDY, "people", tmp_path)
    status, out, err = run("inspect", files["rows"], "--json")
    assert status == 0, err
    told = json.loads(out)
    assert (told["kind"], told["rows"]) == ("planner table", 2)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"user,latitude,longitude,time\n",
        b"user,budget\n1,2\n",
        b"{",
        b"a,b\n1,2\n",
        b"PAR1",
        b"PAR1" + b"x" * 99,
        b"\x08\0\0\0\0\0\0\0{}      ",
        b"<!doctype html>",
        b"\0" * 99,
    ],
)
def test_what_is_none_of_ours_is_refused_with_a_list_of_what_is(run, tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    for words in (["inspect", "other"], ["expose", "other", "--state", "s", *HERE], ["inspect", "."]):
        status, out, _ = run(*words, "--json")
        assert status == 2
        told = json.loads(out)
        assert told["error"] == "TraceError"
        assert all(str(kind) in told["message"] for kind in Kind)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize(
    "content",
    [
        b'{"hideseek_state":2}',
        b'{"seal":"0","hideseek_state":2,"sha256":"x","last":1}',
        b'{"hideseek_state":"a","last":[]}',
    ],
)
def test_a_damaged_state_is_told(run, tmp_path, content):
    (tmp_path / "s").write_bytes(content)
    status, out, _ = run("inspect", "s", "--json")
    assert status == 2
    assert json.loads(out)["error"] == "StateError"


def test_a_damaged_fleet_is_told(run, tmp_path):
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "fleet.json").write_bytes(b'{"schema":')
    status, out, _ = run("inspect", "all", "--json")
    assert (status, json.loads(out)["error"]) == (2, "TraceError")
    (tmp_path / "all" / "fleet.json").write_bytes(b'{"schema": 2, "hideseek": "0.2.0"}')
    (tmp_path / "all" / "labels.parquet").write_bytes(b"PAR1 privacy_metric PAR1")
    status, out, _ = run("inspect", "all", "--json")
    assert (status, json.loads(out)["error"]) == (2, "TraceError")


@pytest.mark.parametrize("rows", [b"1", b'["x"]', b'[{"user":"a"}]', b"[" * 10_000])
def test_a_damaged_user_of_a_fleet_is_told(run, tmp_path, rows):
    (tmp_path / "ann.json").write_bytes(b'{"user":"ann","digest":"","rows":' + rows + b"}")
    status, out, _ = run("inspect", "ann.json", "--json")
    assert (status, json.loads(out)["error"]) == (2, "TraceError")


def test_expose_knows_which_options_go_with_which_file(run, files):
    for words, said in (
        (("me.plan", "--ahead", "46.5,6.5"), "given with a codebook only"),
        (("me.playbook", "--ahead", "46.5,6.5"), "given with a codebook only"),
        (("me.hideseek", "--floor", "1"), "given with a playbook or a plan only"),
        (("me.json",), "a playbook, a codebook or a plan"),
    ):
        status, out, _ = run("expose", *words, "--state", "new", *HERE, "--json")
        assert status == 2
        assert said in json.loads(out)["message"]
    assert not Path("new").exists()
    for name in ("me.plan", "me.playbook"):
        label = json.loads(run("expose", name, "--state", f"{name}.new", *HERE, "--json")[1])["label"]
        assert label["accesses"] == 1


def test_evaluate_as_somebody_who_believes_another_profile(run, files, tmp_path):
    other = MarkovProfile.from_matrix(np.full((3, 3), 1 / 3), REGIONS)
    save_profile(other, tmp_path / "other.json")
    words = ("evaluate", "me.hideseek", "me.json", "--accesses", "4")
    known = json.loads(run(*words, "--json")[1])
    status, out, err = run(*words, "--as", "other.json", "--json")
    assert status == 0, err
    misled = json.loads(out)
    assert ("believes" in known, misled["believes"]) == (False, "other.json")
    book, profile = Codebook.load("me.hideseek"), load_profile("me.json")
    for name in ("window", "filter", "smoother", "viterbi", "predictor"):
        assert misled[name] == attack(book, profile, adversary=name, accesses=4, believes=load_profile("other.json"))
    assert misled["filter"] > known["filter"]
    assert "believe other.json" in " ".join(run(*words, "--as", "other.json")[1].split())
    save_profile(MarkovProfile.from_matrix(CHAIN, Places([1, 2, 3], [1, 2, 3])), tmp_path / "far.json")
    status, out, _ = run(*words, "--as", "far.json", "--json")
    assert status == 2
    assert "option --as of evaluate" in json.loads(out)["message"]


def test_what_is_a_sum_over_two_places_is_told_where_numbers_are(run, tmp_path):
    profile = MarkovProfile.from_matrix([[0.6, 0.4], [0.3, 0.7]], Places([46.50, 46.51], [6.50, 6.52]))
    save_profile(profile, tmp_path / "me.json")
    said = "distance, m, of 2 places together, in sum"
    for words in (
        ("solve", "me.json", "--protect", "next"),
        ("design", "me.json", "--protect", "next", "--out", "me.hideseek"),
        ("inspect", "me.hideseek"),
        ("evaluate", "me.hideseek", "me.json", "--accesses", "5"),
    ):
        told = " ".join(run(*words)[1].replace("│", " ").split())  # a cell may go on in the next line
        assert f"root mean square {said}" in told
        assert told.count(said) == 2
    assert "together" not in run("solve", "me.json")[1]


def test_a_codebook_is_evaluated_over_whole_days_of_a_profile_with_a_clock(run):
    clock = Clock("Europe/Zurich", ((6, 20),), step="1h")
    rows = np.array([CHAIN, np.roll(CHAIN, 1, axis=1)])
    save_profile(PeriodicProfile(rows, clock.cycle, regions=REGIONS, step="1h", clock=clock), "clock.json")
    save_profile(MarkovProfile.from_matrix(rows.mean(axis=0), REGIONS, step="1h"), "me.json")
    assert run("design", "me.json", "--budget", "30%", "--memory", "1", "--out", "me.hideseek")[0] == 0
    words = ("evaluate", "me.hideseek", "clock.json", "--accesses", 30, "--walks", 20)
    assert json.loads(run(*words, "--json")[1])["accesses"] == 48
    assert "The adversaries know clock.json, which follows a clock: 48 accesses" in " ".join(run(*words)[1].split())
