"""The rooms: how large a file may be, how tests lie beside the source, and which words we do not use."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hideseek"
MODULES = sorted(SOURCE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
LINES, CLASS, FUNCTION = 450, 200, 60
TEST_LINES, TEST_NAME = 600, 72
# of STYLE's table: what may be looked for without reading the sentence
WORDS = (
    *("in the mean", "remembers everything", "what it takes to tell nothing", "made-up", "it says what cannot be"),
    *(r"by Hamming", r"by Euclid", r"\blaws?\b"),
)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def length(node: ast.ClassDef | ast.FunctionDef) -> int:
    return node.end_lineno - min(part.lineno for part in (node, *node.decorator_list)) + 1


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_a_module_a_class_and_a_function_have_a_size_that_can_be_read(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LINES
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            assert length(node) <= CLASS, node.name
        elif isinstance(node, ast.FunctionDef):
            assert length(node) <= FUNCTION, node.name


# tests of no single module: the whole package, what measures it, and the command line as one program
OF_NO_MODULE = ("tests/test_*.py", "tests/benchmarks/test_*.py", "tests/cli/test_main.py")


@pytest.mark.parametrize("path", TESTS, ids=named)
def test_tests_lie_as_the_source_does(path):
    """The tests of ``game/game.py`` are ``game/test_game.py``, or start so: ``game/test_game_budget.py``."""
    package = SOURCE / path.parent.relative_to(ROOT / "tests")
    modules = [module.stem for module in package.glob("*.py")]
    own = [name for name in modules if f"{path.stem}_".startswith(f"test_{name}_")]
    assert own or any(Path(named(path)).match(pattern) for pattern in OF_NO_MODULE)


@pytest.mark.parametrize("path", TESTS, ids=named)
def test_no_test_module_imports_another(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        assert not [name for name in modules if name.startswith("tests.") and ".test_" in name]


@pytest.mark.parametrize("path", TESTS, ids=named)
def test_no_test_touches_the_modules_that_are_loaded(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules"), node.lineno


@pytest.mark.parametrize("path", TESTS, ids=named)
def test_tests_have_a_size_that_can_be_read_and_a_name_that_fits_a_line(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= TEST_LINES
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            assert len(node.name) <= TEST_NAME, node.name


@pytest.mark.parametrize("path", [*MODULES, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=named)
def test_words_of_the_field_are_used(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall("|".join(WORDS), text)
