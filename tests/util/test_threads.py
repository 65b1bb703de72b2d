"""One thread for the command line, asked for before numpy is loaded."""

from __future__ import annotations

import os
import subprocess
import sys

from hideseek.util.threads import ONE_THREAD, use_one_thread


def test_another_number_of_threads_that_was_asked_for_stays(monkeypatch):
    for name in ONE_THREAD:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    use_one_thread()
    assert {name: os.environ[name] for name in ONE_THREAD} == ONE_THREAD | {"OMP_NUM_THREADS": "3"}


def test_the_command_line_asks_before_numpy_is_loaded():
    code = "import hideseek.cli, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
