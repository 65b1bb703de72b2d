"""Documents of scenarios, metrics and regions need nothing but small packages to be read."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("pandas", "scipy", "pyproj", "matplotlib", "joblib", "highspy")
PROGRAM = f"""
import sys
import hideseek.storage.documents, hideseek.storage.sealed_file, hideseek.util.display
from hideseek.model.regions import Grid, Places
Grid(0.0, 1.0, 0.0, 1.0, rows=4, columns=4).nearest(0.5, 0.5), Places([0.0, 0.1], [0.0, 0.1]).locate([0.1], [0.2])
print([name for name in {HEAVY} if name in sys.modules])
"""


def test_documents_and_maps_load_no_large_package():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("name", HEAVY)
def test_what_must_not_be_loaded_exists(name):
    """Or the test above would say nothing."""
    assert subprocess.run([sys.executable, "-c", f"import {name}"], check=False).returncode == 0
