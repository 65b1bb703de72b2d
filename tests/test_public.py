"""What other people's scripts rely on."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import hideseek
from hideseek import errors

ROOT = Path(__file__).parents[1]


def test_public_names_are_sorted_exist_and_are_explained():
    assert hideseek.__all__ == sorted(hideseek.__all__)
    for name in hideseek.__all__:
        assert inspect.getdoc(getattr(hideseek, name)), name


def test_public_functions_have_a_runnable_example():
    for name in hideseek.__all__:
        value = getattr(hideseek, name)
        if inspect.isfunction(value) and name not in ("load_plan", "load_profile"):  # shown with save_...
            assert ">>>" in inspect.getdoc(value), name


def test_the_contract_of_names_and_parameters():
    assert list(inspect.signature(hideseek.solve).parameters)[:3] == ["game", "tolerance", "method"]
    assert list(inspect.signature(hideseek.Game).parameters)[:3] == ["error", "cost", "budget"]
    from_prior = ["prior", "privacy_metric", "quality_metric", "budget"]
    assert list(inspect.signature(hideseek.Game.from_prior).parameters) == from_prior
    assert list(inspect.signature(hideseek.Grid).parameters)[:6] == [
        "south",
        "north",
        "west",
        "east",
        "rows",
        "columns",
    ]
    scenario = ["target", "seen", "release", "quality", "known"]
    assert list(inspect.signature(hideseek.Scenario).parameters)[:5] == scenario
    assert list(inspect.signature(hideseek.MarkovProfile.fit).parameters)[:3] == ["traces", "regions", "step"]
    for name in ("privacy", "bound", "gap", "quality_loss", "mechanism", "attack", "price", "status", "iterations"):
        fields = {field.name for field in dataclasses.fields(hideseek.Solution)}
        assert name in fields or isinstance(getattr(hideseek.Solution, name), property)


def test_every_error_is_a_hideseek_error_and_stands_in_the_drawn_tree():
    for name, value in vars(errors).items():
        if inspect.isclass(value):
            assert issubclass(value, hideseek.HideseekError)
            assert name in (errors.__doc__ or "")
            assert getattr(hideseek, name) is value


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "hideseek").rglob("*.py")), ids=lambda path: path.stem)
def test_modules_are_explained_and_raise_rather_than_assert(path):
    source = path.read_text(encoding="utf-8")
    assert source.startswith('"""'), "a module says what it is"
    assert not re.search(r"\bassert\b(?! \w+,)", re.sub(r'"""[\s\S]*?"""|#.*', "", source)), (
        "errors are raised, not asserted"
    )


def test_the_version_is_told_once_in_each_file():
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.M)
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert version
    assert cited
    assert version.group(1) == cited.group(1)
