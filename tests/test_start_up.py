"""Nobody waits for what is not used: what is not imported before a command runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("IPython", "highspy", "joblib", "matplotlib", "msgspec", "numpy", "pandas", "pyarrow", "scipy", "torch")
OURS = ("adversary", "codebook", "designing", "experiments", "fleet", "game", "metrics", "model", "planning", "solvers")


def imported(code):
    """The modules that a new interpreter has imported after some code."""
    report = f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(ended.stderr.split())


HELP = """
import sys
from hideseek.cli import main
sys.argv = ["hideseek", {words}"--help"]
try:
    main()
except SystemExit as ended:
    assert not ended.code
"""


@pytest.mark.parametrize("words", ["", '"solve", ', '"design", ', '"plan", ', '"fleet", ', '"study", '])
def test_help_imports_no_library_for_numbers_nor_what_needs_one(words):
    modules = imported(HELP.format(words=words))
    assert not modules & set(HEAVY)
    assert not modules & {f"hideseek.{name}" for name in OURS}


def test_importing_hideseek_imports_nothing_heavy():
    assert not imported("import hideseek") & set(HEAVY)


def test_a_device_starts_without_what_it_needs_later_or_never():
    later = {"csv", "fractions", "html", "pyproj", "safetensors", "tempfile"}
    assert not imported("import hideseek.device.codebook_device") & (later | set(HEAVY) - {"msgspec", "numpy"})
