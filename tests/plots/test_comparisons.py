"""Comparisons and studies as figures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from tests.support.results import COMPARISON, STUDY


@pytest.mark.parametrize("result", [COMPARISON, STUDY])
def test_a_result_is_drawn_into_given_axes_or_into_new_ones(result):
    axes = Figure().add_subplot()
    assert result.plot(axes) is axes
    assert axes.get_legend() is not None
    assert result.plot() is not axes


def test_a_comparison_names_its_unit_and_no_reference_where_there_is_none():
    own = replace(COMPARISON, rows=(replace(COMPARISON.rows[0], reference=""), COMPARISON.rows[1]), unit="m")
    axes = own.plot()
    assert axes.get_xlabel() == "privacy: the adversary's error (m)"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["<b>best</b>", "truth (Nobody 2000)"]
