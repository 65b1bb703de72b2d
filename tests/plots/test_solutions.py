"""Solutions and curves as figures."""

from __future__ import annotations

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hideseek import solve
from hideseek.solvers import trade_off
from tests.support.games import euclid_game

GAME = euclid_game(3, 3, 0.4)
SOLUTION = solve(GAME)
SHOWN = {"solution": SOLUTION, "curve": trade_off(GAME, budgets=[0.1, 0.2])}


@pytest.mark.parametrize("name", SHOWN)
def test_a_plot_is_drawn_on_the_axes_given_or_on_new_ones(name):
    own = Figure().add_subplot()
    assert SHOWN[name].plot(own) is own
    assert own.has_data()
    other = SHOWN[name].plot()
    assert isinstance(other, Axes)
    assert other is not own
    assert other.get_xlabel()
    assert other.get_ylabel()


def test_the_picture_of_a_solution_is_its_table():
    image = SOLUTION.plot().images[0]
    assert (image.get_array() == SOLUTION.mechanism.table).all()
