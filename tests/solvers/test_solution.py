"""Solutions show themselves: in a line or two, in a notebook, and as a picture."""

from __future__ import annotations

import pytest

from hideseek import solve
from hideseek.game import Alternatives
from hideseek.solvers import trade_off
from tests.support.games import euclid_game, random_game

GAME = euclid_game(3, 3, 0.4)
SOLUTION = solve(GAME)
SHOWN = {
    "game": GAME,
    "several games": Alternatives((GAME, GAME), objective="minimum"),
    "mechanism": SOLUTION.mechanism,
    "solution": SOLUTION,
    "solution of several games": solve(Alternatives((random_game(0, 3, 3, 3, 0.5),) * 2)),
    "curve": trade_off(GAME, budgets=[0.1, 0.2]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_describes_itself_in_three_lines_without_arrays(name):
    lines = repr(SHOWN[name]).splitlines()
    assert 1 <= len(lines) <= 3
    assert all(len(line) <= 120 and "array" not in line and "[" not in line for line in lines)


@pytest.mark.parametrize("name", ["game", "mechanism", "solution", "solution of several games", "curve"])
def test_a_notebook_shows_a_small_table(name):
    page = SHOWN[name]._repr_html_()
    assert page.startswith("<table>")
    assert len(page) < 2000


def test_a_solution_says_what_was_proved():
    text = repr(SOLUTION)
    for number in (SOLUTION.privacy, SOLUTION.bound, SOLUTION.quality_loss, GAME.budget):
        assert f"{number:.6g}" in text
    assert "optimal" in text
