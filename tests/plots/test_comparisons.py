"""Comparisons and studies as figures."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from tests.support.results import COMPARISON, STUDY


@pytest.mark.parametrize("result", [COMPARISON, STUDY])
def test_a_result_is_drawn_into_given_axes_or_into_new_ones(result):
    axes = Figure().add_subplot()
    assert result.plot(axes) is axes
    assert axes.get_legend() is not None
    assert result.plot() is not axes
