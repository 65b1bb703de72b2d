"""What is said of the two bounds: the ceiling stands beside codebooks, that of the cuts says for whom it holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hideseek import Grid, MarkovProfile, Places, protect, save_profile, synthetic_city
from hideseek.cli import through_time
from hideseek.experiments.protection_pages import expert_sections
from hideseek.experiments.protection_words import person_facts
from hideseek.model import distances
from hideseek.planning import plan
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


def test_a_protection_says_for_whom_its_bound_holds():
    traces = synthetic_city(people=1, days=1)
    made = protect(
        traces, profile=MarkovProfile.fit(traces, Grid.covering(traces, rows=2, columns=2)), budget="20%", over="access"
    )
    assert made.label.bound == min(made.planner.bound, made.label.ceiling)
    told = [section.text for section in expert_sections(made)]
    assert EVERY in told[-1]
    assert "For a codebook only the ceiling holds." in told[-1]
    assert EVERY in person_facts(made.label)["bound_holds_for"]


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
