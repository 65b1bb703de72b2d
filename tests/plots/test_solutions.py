"""Solutions and curves as figures."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hideseek import Game, MarkovProfile, Places, Scenario, solve
from hideseek.metrics import distance
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


def test_plots_and_texts_have_the_units_of_the_metrics():
    places = Places([46.5, 46.51, 46.52], [6.6, 6.61, 6.63])
    profile = MarkovProfile.from_matrix(np.full((3, 3), 1 / 3), regions=places)
    game = Game.from_scenario(profile, Scenario.sporadic(), privacy="euclid", quality="squared")
    solution, curve = solve(game), trade_off(game)
    assert solution.plot().get_title("left") == f"Privacy {solution.privacy:.4g} m, of at most {solution.bound:.4g} m"
    axes = curve.plot()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("quality loss allowed (m, root mean square)", "privacy (m)")
    metres = f"quality loss {solution.quality_loss**0.5:.6g} of {game.budget**0.5:.6g} m (root mean square)"
    assert metres in repr(solution)
    assert f"prior risk {game.prior_risk:.6g} m" in repr(game)
    assert repr(curve).splitlines()[0].endswith(" m")
    metres = distance(places)
    assert Game.from_prior([0.5, 0.3, 0.2], privacy=metres, quality="hamming", budget=1).units == ("m", "")
