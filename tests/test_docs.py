"""The pages name what exists: packages, modules and functions, the words of the glossary, the picture of the layers."""

from __future__ import annotations

import re
import runpy
from functools import reduce
from pathlib import Path

import pytest

import hideseek

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TERMS = """Place Step Access Release Exposed_history Gap_(missed_accesses) Budget Saturating_budget Prior_risk
Optimality_gap Window Filter Smoother Predictor Stage Codebook Plan Ceiling Kept"""


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
