"""The pages name what exists: packages, functions, formats, options, words, the picture of the layers."""

from __future__ import annotations

import re
import runpy
import shlex
from dataclasses import fields
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import hideseek
from hideseek.cli.reading import Reading, names_of
from hideseek.experiments.exposed_day import ExposedDay
from hideseek.model.stay_map import Disc, StayMap
from hideseek.traces.formats import FORMATS
from hideseek.traces.table import ALIASES, KEYS
from tests.support.timeline_generator import write_timeline

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TERMS = """Place Fix Accuracy Visit_(stretch) Stay Place_of_a_person Sensitive_place Displacement Step Access Release
Exposed_history Gap_(missed_accesses) Budget Saturating_budget Prior_risk Optimality_gap Window Filter Smoother
Predictor Stage Codebook Plan Playbook Ceiling Kept"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_and_file_on_a_page_exists(page):
    text = page.read_text()
    for name in re.findall(r"`(?:hideseek|hs)\.([A-Za-z_.]*[A-Za-z_])", text):
        assert reduce(getattr, name.split("."), hideseek), name
    folders = r"|`([a-z_/]+)/`" if page.stem in ("CONTRIBUTING", "architecture") else ""
    for path in re.findall(r"`([a-z_/]+\.py)`" + folders, text):
        path = "".join(path)
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "src" / "hideseek")), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page):
    written = {"contributing.md": "../CONTRIBUTING.md"}  # on the site, a page that holds the other
    for link in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page.read_text()):
        assert (page.parent / written.get(link, link)).exists(), link


def test_the_glossary_explains_each_term_once():
    explained = re.findall(r"^\*\*(.+?)\.?\*\*", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert len(explained) == len(set(explained))
    assert {term.replace("_", " ") for term in TERMS.split()} <= set(explained)


def test_the_picture_shows_the_layers_that_are_checked():
    drawing = runpy.run_path(str(ROOT / "docs" / "draw_architecture.py"))
    assert drawing["PICTURE"].read_text() == drawing["picture"](), "run python docs/draw_architecture.py"


def test_the_picture_of_a_day_draws_every_place_in_its_lane():
    """From the top: the clinic, cells near it, home, cells near home."""
    clinic, home = (
        Disc(name, latitude=46.52, longitude=longitude, radius=150.0)
        for name, longitude in (("clinic", 6.57), ("home", 6.6))
    )
    tiles = tuple((14, int((longitude + 180) / 360 * 2**14), 5793) for longitude in (6.575, 6.62))
    regions = StayMap((clinic, home), tiles)
    true, exposed, guess = np.array([1, 0, 0, 1]), np.array([3, 2, 2, 1]), np.array([1, 1, 1, 1])
    day = ExposedDay("a day", np.arange(0, 1440, 360.0), true, true >= 0, exposed, guess, np.eye(4)[guess])
    figure = runpy.run_path(str(ROOT / "docs" / "draw_day.py"))["figure_of"](regions, day)
    above = figure.axes[0]
    truth, told, said = (line.get_ydata() for line in above.lines)
    assert truth.tolist() == [1.95, 0.5, 0.5, 1.95]
    assert ((told > [2.45, 1, 1, 1.45]) & (told < [2.9, 1.45, 1.45, 2.45])).all()
    assert ((said > 1.45) & (said < 2.45)).all()
    assert "At clinic: the app is told “near clinic”, the adversary says “home”." in [
        text.get_text() for text in above.texts
    ]


def test_your_data_tells_of_every_format_and_every_name_of_a_column():
    page = (ROOT / "docs" / "data.md").read_text()
    rows = {row.split("`")[1]: row for row in page.splitlines() if row.startswith("| `")}
    assert set(FORMATS) <= set(rows)
    told = {KEYS[key]: re.findall(r"`(\w+)`", rows[key].split("|")[-2]) for key in KEYS if key in rows}
    assert told == {column: list(names) for column, names in ALIASES.items()}


@pytest.mark.parametrize("option", [names_of([each.name]) for each in fields(Reading)])
def test_the_pages_explain_every_option_for_reading_traces(option):
    for page in ("command-line.md", "data.md"):
        if page == "data.md" and option == "--step":  # of time, not of the data
            continue
        assert re.search(rf"`{option}\b(?!-)", (ROOT / "docs" / page).read_text()), page


def test_the_first_commands_of_the_readme_run_from_a_timeline(run, tmp_path):
    blocks = re.findall(r"^```\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    commands = next(block for block in blocks if "Timeline.json" in block).splitlines()
    with (tmp_path / "Timeline.json").open("wb") as file:
        write_timeline(file, days=8)
    for command in commands:
        program, *words = shlex.split(command, comments=True)
        assert program == "hideseek"
        status, _, told = run(*words)
        assert status == 0, told
    assert (tmp_path / "map.html").stat().st_size > 0


def test_the_synthetic_person_of_the_readme_can_be_learned(run):
    (code,) = re.findall(r'^python -c "(.*)"$', (ROOT / "README.md").read_text(), re.M)
    assert run("learn", "city.csv")[0] == 2
    exec(code)
    assert run("learn", "city.csv")[0] == 0
