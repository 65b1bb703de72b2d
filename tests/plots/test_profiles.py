"""Profiles as figures."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.support.profiles import SHOWN


@pytest.mark.parametrize("profile", SHOWN, ids=str)
def test_a_profile_draws_its_long_run_distribution(profile):
    axes = Figure().add_subplot()
    assert profile.plot(axes) is axes
    drawn = axes.collections[0].get_array() if profile.regions else [bar.get_height() for bar in axes.patches]
    np.testing.assert_allclose(drawn, profile.stationary)


def test_a_profile_draws_on_a_new_figure_where_none_is_given():
    axes = SHOWN[0].plot()
    assert axes.get_ylabel() == "latitude (degrees)"
