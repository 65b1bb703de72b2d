"""How far long work is, shown in a terminal, a notebook and a log."""

from __future__ import annotations

import importlib
import inspect
import io
import pkgutil
import re
from types import SimpleNamespace

import nbclient
import nbformat
import pytest
from rich.console import Console

import hideseek
from hideseek.util import progress


@pytest.fixture
def now(monkeypatch):
    """A clock that stands still until it is told the time."""
    seconds = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    return seconds


def test_where_nobody_watches_progress_is_a_line_per_minute(capsys, now):
    with progress.bar("fleet") as advance:
        for seconds, *news in ((1, "reading", 3, 0), (61, "reading", 9, 0), (62, "users", 0, 5), (130, "users", 2, 5)):
            now[0] = seconds
            advance(*news)
    assert capsys.readouterr().err.splitlines() == [
        "fleet: reading 9",
        "fleet: users 2 of 5, 1.8 per minute, 1:42 left",
    ]


def test_the_rate_is_counted_anew_for_other_work(now):
    pace = progress.Pace()
    assert pace.words(0, 10) == "0 of 10"
    now[0] = 60
    assert pace.words(5, 10) == "5 of 10, 5.0 per minute, 1:00 left"
    assert pace.words(0, 4) == "0 of 4"
    now[0] = 61
    assert pace.words(1, 4) == "1 of 4, 60.0 per minute, 0:03 left"
    assert pace.words(4, 4) == "4 of 4"


def test_a_terminal_gets_a_bar_in_which_nothing_is_a_command(now):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    with progress.terminal_bar("learning", console) as advance:
        advance("[bold]new\x1b[2J", 1, 2)
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown.getvalue())
    assert r"learning: [bold]new\x1b[2J 1 of 2" in text


def test_a_notebook_gets_a_bar_of_its_own():
    code = """
from hideseek.util.progress import bar
with bar("counting <b>") as advance:
    for number in range(3):
        advance("numbers", number + 1, 3)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    page = output["data"]["text/html"]
    assert page == '<div><progress value="3" max="3"></progress> counting &lt;b&gt;: numbers 3 of 3</div>'


def test_every_function_of_hideseek_tells_progress_the_same_way():
    """A bar can be given to all of them: no module has another type of its own."""
    found = set()
    for module in pkgutil.walk_packages(hideseek.__path__, "hideseek."):
        own = vars(importlib.import_module(module.name)) if "__main__" not in module.name else {}
        for function in filter(inspect.isfunction, own.values()):
            parameter = inspect.signature(function).parameters.get("progress")
            if parameter is not None:
                found.add(function.__name__)
                assert parameter.annotation in ("Advance", "Advance | None"), function
    assert found >= {"solve", "trade_off", "plan", "follow", "design", "verify", "evaluate", "run_fleet", "spooled"}
