"""Profiles as figures."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from hideseek import Grid, MarkovProfile, PeriodicProfile, Places

SHOWN = [
    MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], Places([46.5, 46.6], [6.5, 6.6])),
    MarkovProfile.from_matrix(np.full((30, 30), 1 / 30), Grid(0.0, 1.0, 0.0, 1.0, rows=5, columns=6)),
    MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]),
    PeriodicProfile(np.full((4, 3, 3), 1 / 3), steps_a_slot=72, regions=Places([0.0, 0.1, 0.2], [0.0, 0.1, 0.3])),
]


@pytest.mark.parametrize("profile", SHOWN, ids=str)
def test_a_profile_draws_its_long_run_distribution(profile):
    axes = Figure().add_subplot()
    assert profile.plot(axes) is axes
    drawn = axes.collections[0].get_array() if profile.regions else [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(drawn, profile.stationary)


def test_a_profile_draws_on_a_new_figure_where_none_is_given():
    axes = SHOWN[0].plot()
    assert axes.get_ylabel() == "latitude (degrees)"
