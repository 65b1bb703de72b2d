"""The command line as a whole: help, version, errors."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from hideseek.cli import STATUS
from tests.support.two_people import TRACES

COMMANDS = (
    *("protect", "demo", "learn", "solve", "curve", "design", "inspect", "evaluate", "expose", "plan"),
    *("reproduce", "compare", "study", "fleet"),
)


def test_the_version_is_told(run):
    assert run("--version")[1].strip() == version("hideseek")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare", "--grid", "ten"), "option --grid of compare"),
        (("study", "--users", "0", "--out"), "option --users of study"),
        (("reproduce", "--users", "0", "--out"), "option --users of reproduce"),
    ],
)
def test_an_error_names_the_command_that_has_the_option(run, traces, tmp_path, words, said):
    assert said in run(*words, traces if words[0] == "compare" else tmp_path / "out")[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["learn", "nowhere"], "nowhere"),
        (["learn", "TRACES", "--user", "nobody"], "option --user of learn"),
        (["learn", "TRACES", "--grid", "ten"], "option --grid of learn"),
        (["design", "TRACES", "--grid", "ten", "--out", "c"], "option --grid of design"),
        (["fleet", "TRACES", "--box", "1,2,3", "--out", "f"], "option --box of fleet"),
        (["solve", "TRACES", "--protect", "between"], "option --protect of solve"),
        (["curve", "TRACES", "--protect", "way"], "option --protect of curve"),
        (["learn", "TRACES", "--grid", "0x5"], "option --grid of learn must be an integer >= 1"),
        (["learn", "TRACES", "--grid", "5x0"], "option --grid of learn must be an integer >= 1"),
        (["learn", "TRACES", "--box", "9,2,3,4"], "option --box of learn must be degrees"),
        (["learn", "TRACES", "--places-about", "1"], "option --places-about of learn"),
        (["fleet", "TRACES", "--budget", "20%", "--budget", "20%", "--out", "f"], "option --budget of fleet"),
        (["fleet", "TRACES", "--user", "x", "--out", "f"], "option --user of fleet"),
        (["inspect", "nowhere"], "nowhere cannot be read"),
        (["learn", "TRACES", "--box", "1,2,3"], "option --box"),
        (["learn", "TRACES", "--box", "1,2,3,4"], "around at least one fix"),
        (["learn", "TRACES", "--places", "none.csv"], "option --places"),
        (["learn", "TRACES", "--h3", "99"], "option --h3"),
        (["learn", "TRACES", "--cell", "500"], "option --cell"),
        (["learn", "TRACES", "--cell", "10cm"], "option --cell"),
        (["learn", "TRACES", "--cell", "0.5m"], "option --cell"),
        (["learn", "TRACES", "--box", "1,2,3,4", "--h3", "5"], "option --box"),
        (["learn", "TRACES", "--one-person", "--user", "person-000"], "options --user, --one-person"),
        (["solve", "TRACES", "--protect", "way"], "Use design or plan"),
        (["solve", "TRACES", "--planned"], "option --planned"),
        (["study", "TRACES", "--timezone", "Atlantis/Capital"], "option --timezone"),
        (["study", "--user", "person-000"], "given with traces only"),
        (["learn", "TRACES", "--step", "never"], "option --step"),
        (["learn", "TRACES", "--h3", "5", "--cell", "1km"], "options --grid, --cell, --h3, --places, --places-about"),
        (["learn", "TRACES", "--h3", "5", "--grid", "3x3"], "options --grid, --cell, --h3, --places, --places-about"),
        (["learn", "TRACES", "--grid", "100000x100000"], "A grid of 100000 x 100000 cells would need"),
        (["learn", "TRACES", "--format", "none"], "option --format"),
        (["learn", "TRACES", "--grid", "1x1"], "argument DATA of learn must be traces that visit two or more places"),
        (["learn", "TRACES", "--order", "1" + "0" * 20], "option --order"),
        (["learn", "TRACES", "--order", "62"], "option --order"),
        (["solve", "TRACES", "--budget", "lots"], "option --budget"),
        (["solve", "TRACES", "--budget", "-5%"], "option --budget"),
        (["solve", "TRACES", "--budget", "nan"], "option --budget"),
        (["solve", "TRACES", "--tolerance", "0"], "option --tolerance"),
        (["curve", "TRACES", "--points", "1"], "option --points"),
        (["curve", "TRACES", "--figure", "c.exe", "--out", "c.csv", "--grid", "2x2"], "option --figure"),
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


def test_the_exit_codes_of_the_help_and_of_the_page_are_the_same(run):
    told = " ".join(run("--help")[1].split())
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE)
    assert {int(status): meaning for status, meaning in rows} == STATUS
    assert all(f"{status} {meaning}" in told for status, meaning in STATUS.items())


def test_every_exit_code_is_that_of_the_page(run, traces):
    """0, 2 and 3 here; 1 and 130 are those of a fleet, in test_many_people."""
    assert run("learn", traces, "--user", "person-001", "--grid", "2x2", "--out", "p.json")[0] == 0
    assert run("design", "p.json", "--privacy", "hamming", "--quality", "hamming", "--out", "p.hideseek")[0] == 0
    here = ("--latitude", "45.03", "--longitude", "-4.91", "--state", "s")
    assert run("expose", "p.hideseek", *here, "--at", "2026-01-05T08:00:00+00:00")[0] == 0
    assert run("expose", "p.hideseek", *here, "--at", "2026-01-05T07:00:00+00:00")[0] == 3
    for wrong in (
        ("learn", "nowhere"),
        ("learn", traces, "--nonsense"),
        ("nonsense",),
        ("inspect", "p.hideseek", "more"),
    ):
        assert run(*wrong)[0] == 2


def test_shell_completion_is_offered():
    text = subprocess.run(
        [sys.executable, "-m", "hideseek", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert "--install-completion" in text


def test_to_be_ended_is_to_be_interrupted(run, monkeypatch):
    def ended(*_):
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("hideseek.experiments.demo.demo_person", ended)
    assert run("demo") == (130, "", "")


@pytest.mark.parametrize("command", [[], *([name] for name in (*COMMANDS, "map"))], ids=" ".join)
def test_help_tells_no_types_of_a_programming_language(run, command):
    words = re.findall(r"<([^>]*)>|(\b(?:INTEGER|FLOAT|TEXT|PATH)\b)", run(*command, "--help")[1])
    assert all("|" in choices and "[" not in choices for choices, _ in words)
