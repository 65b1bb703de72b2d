"""What several test files need."""

from __future__ import annotations

import sys

import pytest

from hideseek.cli import main


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder: its exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["hideseek", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    return command
