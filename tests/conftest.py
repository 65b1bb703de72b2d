"""What several test files need."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

from hideseek.cli import main
from hideseek.fleet import run_fleet
from tests.support.fleets import CITY, JOB

# how long an example takes tells how busy the machine is, not whether a claim holds
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


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


@pytest.fixture(scope="session")
def city(tmp_path_factory):
    """The traces of the small city."""
    path = tmp_path_factory.mktemp("data") / "city.csv"
    CITY.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def undisturbed(city, tmp_path_factory):
    """What a fleet that nothing happens to gives."""
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    run_fleet(city, folder, job=JOB, workers=2)
    return folder
