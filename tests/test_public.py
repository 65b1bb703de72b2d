"""What other people's scripts rely on."""

from __future__ import annotations

import dataclasses
import enum
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hideseek
from hideseek import errors
from tests.support.public_names import RESULTS

ROOT = Path(__file__).parents[1]


ROOMS = [getattr(hideseek, name) for name in hideseek.__all__ if inspect.ismodule(getattr(hideseek, name))]
NAMES = [(space, name) for space in (hideseek, *ROOMS) if hasattr(space, "__all__") for name in space.__all__]
# the box that it divides: south, north, west, east; a name and where it is
SUBJECTS = {"Grid": 4, "SensitivePlace": 3}
CHAIN_FIRST = {"BeliefGame", "Playbook"}  # made by functions: their fields come after those of their chain


def test_at_most_45_names_are_public_and_the_rest_is_in_named_rooms():
    assert len(hideseek.__all__) <= 45
    assert {"metrics", "solvers", "adversary", "planning", "experiments", "fleet", "errors"} <= set(hideseek.__all__)


@pytest.mark.parametrize("space", [hideseek, *ROOMS], ids=lambda space: space.__name__)
def test_public_names_are_sorted_exist_and_are_explained(space):
    names = getattr(space, "__all__", [])
    assert list(names) == sorted(names)
    for name in names:
        assert inspect.getdoc(getattr(space, name)), name


def test_public_functions_have_a_runnable_example():
    for space, name in NAMES:
        value = getattr(space, name)
        if inspect.isfunction(value) and name not in ("load_plan", "load_profile"):  # shown with save_...
            assert ">>>" in inspect.getdoc(value), name


def test_no_name_hides_a_package_or_a_module():
    for space, name in NAMES:
        if hasattr(space, "__path__") and not inspect.ismodule(getattr(space, name)):
            assert importlib.util.find_spec(f"{space.__name__}.{name}") is None, name


def public_calls():
    """By name: every public function, and the constructor and public methods of every public class."""
    found = {}
    for space, name in NAMES:
        value = getattr(space, name)
        if inspect.isfunction(value):
            found[name] = value
        elif inspect.isclass(value) and not issubclass(value, Exception | enum.Enum):
            own = {} if name in RESULTS else {name: value}
            methods = inspect.getmembers(value, lambda one: inspect.isfunction(one) or inspect.ismethod(one))
            found |= own | {f"{name}.{called}": method for called, method in methods if not called.startswith("_")}
    return found


@pytest.mark.parametrize("name", public_calls())
def test_after_the_subject_arguments_are_given_by_name_in_one_order(name):
    """The subject is one thing or two: a profile and a scenario, a game and a planner."""
    signature = inspect.signature(public_calls()[name]).parameters.values()
    parameters = [one for one in signature if one.name != "self"]
    positional = [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY]
    assert len(positional) <= SUBJECTS.get(name, 2)
    order = ["profile", "scenario", "privacy", "quality", "budget"]
    given = [one.name for one in parameters if one.name in order]
    assert name in CHAIN_FIRST or given == sorted(given, key=order.index)


def test_importing_hideseek_loads_nothing_until_it_is_used():
    heavy = ("numpy", "pandas", "scipy", "matplotlib", "pyproj", "highspy", "pyarrow", "rich", "typer")
    program = f"import sys, hideseek; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_contract_of_names_and_parameters():
    assert list(inspect.signature(hideseek.solve).parameters)[:3] == ["game", "tolerance", "method"]
    assert list(inspect.signature(hideseek.Game).parameters)[:3] == ["error", "cost", "budget"]
    from_prior = ["prior", "privacy", "quality", "budget"]
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
    for name in (
        "privacy",
        "bound",
        "optimality_gap",
        "quality_loss",
        "mechanism",
        "attack",
        "price",
        "status",
        "iterations",
    ):
        fields = {field.name for field in dataclasses.fields(hideseek.solvers.Solution)}
        assert name in fields or isinstance(getattr(hideseek.solvers.Solution, name), property)


def test_every_error_is_a_hideseek_error_and_stands_in_the_drawn_tree():
    for name, value in vars(errors).items():
        if inspect.isclass(value):
            assert issubclass(value, hideseek.HideseekError | Warning)
            assert name in (errors.__doc__ or "")


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
