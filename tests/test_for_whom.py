"""What is said of the two bounds: the ceiling stands beside codebooks, that of the cuts says for whom it holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from hideseek import MarkovProfile, Places, Scenario, design, evaluate, save_profile
from hideseek.cli import through_time
from hideseek.experiments.demo import Ahead, Demo, foresight_section
from hideseek.model import distances
from hideseek.planning import Foresight, Outlook, plan
from hideseek.util.estimates import Estimate
from tests.oracles.full_program import best_value

ROOT = Path(__file__).parents[1]
REGIONS = Places([46.50, 46.51, 46.53], [6.50, 6.52, 6.55])
PROFILE = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], REGIONS)
EVERY = "given every release"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
OF_THE_CUTS = re.compile(r"bound of (its|the) cuts|by the cuts\.|cuts (also )?prove|planner\.bound|proved: at", re.I)


@pytest.fixture
def planners(monkeypatch, tmp_path):
    """The planners that commands train, on two walks, for the profile in me.json."""
    save_profile(PROFILE, tmp_path / "me.json")
    trained = []

    def training(*words, **names):
        trained.append(plan(*words, **{"walks": 2} | names))
        return trained[-1]

    monkeypatch.setattr("hideseek.planning.training.plan", training)
    monkeypatch.setattr(through_time, "COMPARED", 5)
    return trained


def says(text, value):
    """Whether a number is in the text, to four digits."""
    return any(float(number) == pytest.approx(value, rel=1e-4) for number in NUMBER.findall(text))


def test_beside_a_codebook_stands_the_ceiling_never_the_bound_of_cuts(run, planners):
    codebook = ("--memory", 1, "--budget", "20%", "--farsighted", "--workers", 1)
    design = ("design", "me.json", *codebook, "--out", "me.hideseek")
    label = ("evaluate", "me.hideseek", "me.json", "--accesses", 5)
    outputs = {}
    for words in (design, ("inspect", "me.hideseek"), label):
        for command in (words, (*words, "--json")):
            status, outputs[command], err = run(*command)
            assert status == 0, err
    metres = distances(REGIONS)
    cost = metres**2
    budget = 0.2 * float((PROFILE.stationary @ cost).min())
    ceiling = best_value(metres, cost, budget, PROFILE.stationary)
    bound = planners[0].bound
    assert bound < 0.99 * ceiling, "or nothing could be told apart"
    for words in (label, (*label, "--json")):
        assert says(outputs[words], ceiling)
    for out in outputs.values():
        assert not says(out, bound)
        assert "cuts" not in out


def test_a_plan_says_for_whom_its_bound_holds(run, planners):
    words = ("plan", "me.json", "--budget", "20%", "--walks", 2, "--accesses", 20)
    status, out, err = run(*words)
    assert status == 0, err
    told = " ".join(out.split())
    assert f"can reach that keeps this budget {EVERY}" in told
    assert "For a codebook only the ceiling holds." in told
    facts = json.loads(run(*words, "--json")[1])
    assert facts["bound"] < facts["ceiling"]
    assert EVERY in facts["bound_holds_for"]
    assert "codebook" in facts["bound_holds_for"]
    assert f"none that keeps it {EVERY}" in " ".join(run("plan", "--help")[1].replace("│", "").split())


@pytest.fixture(scope="module")
def demo():
    """A demo with a codebook whose ceiling is 9.87e2, beside planners whose cuts prove 6.54e2."""
    reached, error = Estimate(600.0), 1 - np.eye(3)
    planned = Foresight(reached, reached, Estimate(1.0), 1.0, Estimate(0.6), bound=654.0, ceiling=987.0, accesses=10)
    codebook = design(PROFILE, Scenario.past_present(1), privacy=error, quality=error, budget=0.2)
    foresight = {Outlook.PLAIN: planned, Outlook.FAR_SIGHTED: planned}
    return Demo((), evaluate(codebook, PROFILE, accesses=3), foresight, Path("report.html"), Path("person.hideseek"))


def test_the_demo_shows_a_codebook_and_planners_and_says_whose_bound_it_is(run, demo, monkeypatch):
    monkeypatch.setattr("hideseek.experiments.demo.run_demo", lambda *_: demo)
    status, out, err = run("demo")
    assert status == 0, err
    label, planning = out.split("Planning ahead")
    assert says(label, demo.label.ceiling)
    assert not says(label, 654 / 987 * 100)
    assert says(planning, round(654 / 987 * 100, 1))
    assert EVERY in " ".join(planning.split())
    assert "For a codebook only the ceiling holds." in " ".join(planning.split())
    facts = json.loads(run("demo", "--json")[1])
    assert "bound" not in facts["label"]
    for planned in facts["foresight"].values():
        assert planned["bound"] == 654
        assert EVERY in planned["bound_holds_for"]


def test_the_demo_s_report_says_that_the_bound_is_not_of_the_codebook(demo):
    errors = np.full(4, 600.0)
    section = foresight_section({outlook: Ahead(one, errors) for outlook, one in demo.foresight.items()})
    assert f"no mechanism which keeps the budget {EVERY} keeps more than 66%, 654 of 987 m" in section.text
    assert "only given the release that it remembers, so this bound does not hold for it" in section.text


@pytest.mark.parametrize("path", ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_documents_say_for_whom_the_bound_of_the_cuts_holds(path):
    text = (ROOT / path).read_text().replace("*", "").replace("\n\n|", " |")  # a table belongs to what stands before
    for paragraph in text.split("\n\n"):
        if OF_THE_CUTS.search(told := " ".join(paragraph.split())):
            assert EVERY in told


def test_the_table_of_bounds_denies_codebooks_and_rivals_that_of_the_cuts():
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "foresight.md").read_text().splitlines()
        if line.startswith(("| codebook", "| rival", "| live device"))
    ]
    assert [(row[0].split()[0], row[2:]) for row in rows] == [
        ("live", ["yes", "yes, at regular times"]),
        ("live", ["yes", "no"]),
        ("live", ["no", "no"]),
        ("codebook,", ["yes", "no"]),
        ("rival", ["yes", "no"]),
    ]
