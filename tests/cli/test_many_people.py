"""hideseek fleet, run as a user runs it."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from hideseek.cli import many_people
from hideseek.fleet import Fleet, Job
from hideseek.fleet import run as running
from tests.support.fleets import CITY, WORDS


def test_a_user_of_a_fleet_has_what_learn_design_and_evaluate_give(run, city):
    status, out, err = run(
        "fleet",
        city,
        "--out",
        "all",
        "--grid",
        "1x2",
        "--budget",
        "20%",
        "--budget",
        "0.3 km",
        "--memory",
        1,
        "--workers",
        2,
        "--json",
    )
    assert status == 0, err
    facts = json.loads(out)
    assert facts["labels"] == str(Path("all", "labels.parquet").absolute())
    table = pd.read_parquet(facts["labels"])
    assert table["asked"].tolist() == ["20%", "300m"] * 4
    assert (facts["users"], facts["codebooks"], facts["reused"], facts["unusable"]) == (4, 8, 0, 0)
    assert facts["told_apart_by"] == "column"
    assert facts["kept"] == pytest.approx(table["kept"].mean())
    assert facts["seconds"] == pytest.approx(table["seconds"].sum() / 4)
    row = table.iloc[6]
    assert run("learn", city, "--user", row["user"], "--grid", "1x2", "--out", "p.json")[0] == 0
    words = ("--budget", row["asked"], "--memory", 1, "--out", "p.hideseek", "--json")
    book = json.loads(run("design", "p.json", *words)[1])
    assert Path("all", row["codebook"]).read_bytes() == Path("p.hideseek").read_bytes()
    assert (row["bytes"], row["places"]) == (Path("p.hideseek").stat().st_size, book["places"])
    assert (row["budget"], row["worst_loss"]) == (book["budget"], book["deployed"]["worst_loss"])
    optimality_gaps = [1 - stage["privacy"] / stage["bound"] for stage in book["stages"]]
    assert row["optimality_gap"] == pytest.approx(max(optimality_gaps), abs=1e-12)
    label = json.loads(run("evaluate", "p.hideseek", "p.json", "--json")[1])
    for name, (low, high) in label.pop("intervals").items():
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (low, high)
    del label["hit_rates"], label["assumption"], label["unit"], label["loss_unit"]
    for name in ("worst_loss", "worst_loss_metres"):
        assert label.pop(name) == pytest.approx(row[name], rel=1e-9)
    assert {name: row[name] for name in label} == label
    assert row["fixes"] == (CITY["user_id"] == row["user"]).sum()


def test_the_fleet_is_told_in_words(run, undisturbed, city):
    status, out, err = run("fleet", city, "--out", undisturbed, *WORDS)
    assert status == 0, err
    assert "4 users, 4 codebooks" in out
    assert re.search(r"done by an earlier run\s*│\s*4", out)
    assert "kept of the ceiling" in out
    assert "labels.parquet" in out
    assert str(undisturbed / "report.html") in out
    assert (undisturbed / "report.html").read_text().count('<td class="words">person-00') >= 4
    assert stat.S_IMODE((undisturbed / "report.html").stat().st_mode) == 0o600
    assert re.search(r"places, on average\s*│\s*2, [\d.]+ k?m wide \(median\)", out)
    assert re.search(r"fixes outside, on average\s*│\s*0 %", out)
    assert re.search(r"covered, on average\s*│\s*\d+ hours on 1 days", out)
    assert "warning: Traces of fewer than 7 days, too few to learn habits from: 4 of 4 users." in err
    assert "far below" not in err  # a probability has no width to be below
    facts = json.loads(run("fleet", city, "--out", undisturbed, *WORDS, "--json")[1])
    for told in (" ".join(out.split()), facts["assumption"]):
        assert "times of the accesses reveal nothing about the place" in told


@pytest.fixture
def no_report(monkeypatch):
    """Fleets that were not run have no table to make a page from."""
    monkeypatch.setattr(many_people, "write_report", lambda *_: "report.html")


@pytest.mark.usefixtures("no_report")
def test_a_fleet_warns_of_narrow_budgets_and_few_days_whatever_is_printed(run, monkeypatch):
    found = Fleet("x", 5, 0, 0, {}, 0, 10, 0.5, 1.0, "folder", 20.0, 900.0, 0.1, 99.0, 8.0, few_days=2, narrow=3)
    monkeypatch.setattr(running, "run_fleet", lambda *_, **__: found)
    for options in ([], ["--json"]):
        status, out, err = run("fleet", "data", "--out", "o", *options)
        assert status == 0, err
        assert "too few to learn habits from: 2 of 5 users." in err
        assert "nearly every release will be the true place: 3 of 10 codebooks." in err
        assert "warning" not in out
    monkeypatch.setattr(running, "run_fleet", lambda *_, **__: replace(found, few_days=0, narrow=0))
    assert "warning" not in run("fleet", "data", "--out", "o")[2]


@pytest.mark.usefixtures("no_report")
def test_the_command_hands_every_option_over(run, monkeypatch):
    calls = []

    def noted(data, out, **options):
        calls.append((data, out, {name: options[name] for name in ("job", "workers", "engine")}))
        return Fleet("x", 5, 1, 2, {}, 3, 6, None, None, "folder")

    monkeypatch.setattr(running, "run_fleet", noted)
    words = "--grid 3x4 --box 1,2,3,4 --step 10min --memory 2 --quality euclid --budget 5 --privacy hamming"
    status, out, err = run("fleet", "data", "--out", "o", *words.split(), "--workers", 7, "--engine", "dask://h:1")
    assert status == 0, err
    job = Job(
        grid=(3, 4),
        box=(1, 2, 3, 4),
        step="10min",
        memory=2,
        privacy=("hamming",),
        quality="euclid",
        budgets=("5",),
    )
    assert calls == [("data", "o", {"job": job, "workers": 7, "engine": "dask://h:1"})]
    assert "3 users, 6 codebooks" in out
    assert re.search(r"told apart by\s*│\s*folder", out)
    assert re.search(r"no longer in the data, files still there\s*│\s*3", out)


@pytest.mark.usefixtures("no_report")
def test_options_of_a_window_reach_the_job_and_its_loss_is_told(run, monkeypatch):
    jobs = []

    def noted(data, out, **options):
        jobs.append(options["job"])
        made = {"playbooks": 4, "over": jobs[-1].over, "worst_window": 1.3125}
        return Fleet("x", 4, 0, 0, {}, 0, 0, 0.9, 1.0, "folder", **made)

    monkeypatch.setattr(running, "run_fleet", noted)
    told = [
        run("fleet", "data", "--out", "o", *words.split())[1]
        for words in ("--over 1day --cap 4 --against log", "--over access", "")
    ]
    assert jobs == [Job(over="1 day", cap=4.0, against="log"), Job(over="access"), Job()]
    assert re.search(r"budgets hold\s*│\s*over 1 day on average, after every history", told[0])
    assert re.search(r"lost in the worst window\s*│\s*1.31 budgets on average, of 2 at most", told[0])
    assert "budgets" not in told[1]


@pytest.mark.usefixtures("no_report")
def test_who_could_not_protect_anybody_says_so_by_the_status(run, monkeypatch):
    none = Fleet("x", 5, 0, 5, {"still": 5}, 0, 0, None, None, "folder")
    monkeypatch.setattr(running, "run_fleet", lambda *_, **__: none)
    assert run("fleet", "data", "--out", "o")[0] == 1


def test_an_interrupted_run_says_how_to_go_on(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_fleet", interrupted)
    status, _, err = run("fleet", "data", "--out", "o")
    assert status == 130
    assert "Run the same command again" in err


@pytest.mark.parametrize(
    ("words", "error", "said"),
    [
        (["nowhere", "--out", "o"], "TraceError", "nowhere"),
        (
            ["CITY", "--out", "/proc/nowhere"],
            "OutputError",
            "/proc/nowhere/ for the results cannot be used: No such file",
        ),
        (["CITY", "--out", ""], "ParameterError", "option --out of fleet"),
        (["CITY", "--out", "nope://x"], "ParameterError", "Protocol not known: nope"),
        (["CITY", "--out", "CITY"], "ParameterError", "city.csv"),
        (["CITY", "--out", "o", "--engine", "spark"], "ParameterError", "'joblib' or 'dask://HOST:PORT'"),
        (["CITY", "--out", "o", "--engine", "dask://host"], "ParameterError", "'joblib' or 'dask://HOST:PORT'"),
        (["CITY", "--out", "o", "--engine", "dask://127.0.0.1:1"], "EngineError", "127.0.0.1:1"),
        (
            ["CITY", "--out", "o", "--engine", "dask://127.0.0.1:1", "--workers", "2"],
            "ParameterError",
            "option --workers of fleet",
        ),
        (["CITY", "--out", "o", "--workers", "0"], "ParameterError", "option --workers of fleet"),
        (["CITY", "--out", "o", "--grid", "ten"], "ParameterError", "option --grid of fleet"),
        (["CITY", "--out", "o", "--grid", "0x5"], "ParameterError", "option --grid of fleet"),
        (["CITY", "--out", "o", "--box", "1,2,3"], "ParameterError", "option --box of fleet"),
        (["CITY", "--out", "o", "--box", "2,1,3,4"], "ParameterError", "option --box of fleet"),
        (["CITY", "--out", "o", "--step", "never"], "ParameterError", "option --step of fleet"),
        (["CITY", "--out", "o", "--memory", "-1"], "ParameterError", "option --memory of fleet"),
        (["CITY", "--out", "o", "--budget", "lots"], "ParameterError", "option --budget of fleet"),
        (["CITY", "--out", "o", "--over", "1min"], "ParameterError", "option --over of fleet must be"),
        (
            ["CITY", "--out", "o", "--over", "access", "--cap", "4"],
            "ParameterError",
            "option --cap of fleet must be left out",
        ),
        (["CITY", "--out", "o", "--over", "1day", "--cap", "0"], "ParameterError", "option --cap of fleet must be"),
        (["CITY", "--out", "o", "--over", "access", "--against", "log"], "ParameterError", "option --against of fleet"),
        (
            ["CITY", "--out", "o", "--over", "1day", "--against", "smoother"],
            "ParameterError",
            "option --against of fleet",
        ),
        (
            ["CITY", "--out", "o", "--memory", "1", "--over", "1day"],
            "ParameterError",
            "option --over of fleet must be left",
        ),
        (["CITY", "--out", "o", "--memory", "1", "--cap", "4"], "ParameterError", "option --cap of fleet must be left"),
        (["CITY", "--out", "o", "--budget", "20%", "--budget", "20.0%"], "ParameterError", "none of them twice"),
    ],
)
def test_bad_input_is_told_in_a_line_before_any_work(run, city, tmp_path, words, error, said):
    words = [str(city) if word == "CITY" else word for word in words]
    status, out, err = run("fleet", *words, "--json")
    assert status == 2, err
    told = json.loads(out)
    assert told["error"] == error
    assert said in told["message"]
    assert not list(tmp_path.iterdir())


NOT_INSTALLED = """
import sys

missing = sys.argv.pop(1)

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from hideseek.cli import main

main()
"""


@pytest.mark.parametrize(
    ("missing", "words", "said"),
    [
        ("distributed", ("--out", "o", "--engine", "dask://127.0.0.1:1"), "pip install 'hideseek[dask]'"),
        ("s3fs", ("--out", "s3://bucket/o"), "pip install 'hideseek[s3]'"),
    ],
)
def test_a_package_that_is_not_installed_is_named(city, tmp_path, missing, words, said):
    command = [sys.executable, "-c", NOT_INSTALLED, missing, "fleet", city, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (done.returncode, told["error"]) == (2, "MissingExtraError")
    assert said in told["message"]
    assert not list(tmp_path.iterdir())


def test_reasons_of_a_fleet_name_what_the_command_has(run, tmp_path):
    still = "tracked_at,user_id,latitude,longitude\n" + "".join(
        f"2026-01-{day:02}T{hour:02}:00:00Z,still,46.5,6.5\n" for day in range(1, 9) for hour in range(24)
    )
    (tmp_path / "still.csv").write_text(still)
    status, out, _ = run("fleet", "still.csv", "--out", "o", "--workers", "1", "--grid", "3x3")
    assert status == 1
    assert "argument DATA of fleet must be traces" in " ".join(out.split())
    assert "argument DATA of fleet must be traces" in " ".join(run("inspect", "o")[1].split())
    assert "argument DATA of fleet must be traces" in (tmp_path / "o" / "report.html").read_text()
