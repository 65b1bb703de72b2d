"""The reproduction of the paper: its tables are what they were, and its command."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import pytest

from hideseek import ParameterError, synthetic_city
from hideseek.experiments.reproduction.numbers import (
    Optimum,
)
from hideseek.experiments.reproduction.run import reproduce
from hideseek.experiments.user_days import CITY

GOLDEN = Path(__file__).parents[2] / "golden"
INSPECTED = {name: f"{name} table" for name in ("sporadic", "location", "transition", "robustness")} | {
    "users": "user table",
    "candidates": "user table",
    "programs": "program table",
}


@pytest.mark.parametrize("name", ["users", "sporadic", "location", "transition"])
def test_the_synthetic_reproduction_is_what_it_was(found, name):
    table = getattr(found, name)
    if "choice" in table:  # the other optima are where a solver happens to end
        table = table[table["choice"] == Optimum.COIN].reset_index(drop=True)
    golden = pd.read_csv(GOLDEN / f"reproduce_{name}.csv")
    pd.testing.assert_frame_equal(table, golden, check_dtype=False, rtol=0, atol=1e-9)


@pytest.mark.parametrize("compared", [(), (0.3,)])
def test_optima_are_compared_where_the_coin_is_known(compared):
    with pytest.raises(ParameterError, match="some of the 'budgets'"):
        reproduce(synthetic_city(1, days=1), CITY, users=1, budgets=(0.0, 1.0), compared=compared)


def test_the_command_leaves_figures_tables_and_a_report_that_stands_alone(run, tmp_path):
    status, out, err = run("reproduce", "--users", 2, "--out", "paper", "--workers", 1, "--json")
    assert status == 0, err
    facts = json.loads(out)
    assert [user["user"] for user in facts["users"]] == [1, 2]
    assert {type(finding["pass"]) for finding in facts["findings"]} == {bool}
    assert all(finding["name"] and finding["figure"] for finding in facts["findings"])
    for name, path in facts["files"].items():
        file = tmp_path / path
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, name
        start = {".pdf": b"%PDF", ".png": b"\x89PNG", ".csv": b'"user",', ".html": b"<!doctype html>"}[file.suffix]
        assert file.read_bytes().startswith(start)
        if file.suffix == ".csv":
            assert (name, json.loads(run("inspect", file, "--json")[1])["kind"]) == (name, INSPECTED[name])
    location = pd.read_csv(tmp_path / "paper" / "location.csv")
    assert list(location.columns) == ["user", "budget", "choice", "step", "privacy", "bound"]
    assert set(location["choice"]) == set(Optimum)
    report = (tmp_path / "paper" / "report.html").read_text()
    assert report.count("<img ") == 4
    assert "http" not in report  # nothing is fetched
    assert "person-0" not in report  # nobody is named
    assert all(finding["figure"].split("(")[0] in report for finding in facts["findings"])

    status, out, _ = run("reproduce", "--users", 1, "--out", "words", "--workers", 1)
    assert status == 0
    assert "PASS" in out
    assert "FAIL" not in out  # rank correlations are those of everybody who can be drawn
    assert "report.html" in out


def test_help_has_an_example(run):
    status, out, _ = run("reproduce", "--help")
    assert status == 0
    assert "Example: hideseek reproduce cabs" in out


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["nowhere"], "TraceError", "nowhere"),
        (["city.csv"], "ParameterError", "at most 1, the users with a day that covers 80% of its steps"),
        (["--users", "0"], "ParameterError", "users"),
        (["--seed", "-1"], "ParameterError", "seed"),
    ],
)
def test_what_cannot_be_reproduced_is_told(run, tmp_path, words, error, message):
    synthetic_city(people=1, days=1).to_csv(tmp_path / "city.csv", index=False)
    status, out, _ = run("reproduce", *words, "--json")
    assert status == 2
    assert json.loads(out)["error"] == error
    assert message in json.loads(out)["message"]
