"""The privacy-quality curve as a figure."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek.plots.curves import curve_figure
from hideseek.solvers import Curve


def line(budget, privacy, units=("m", "m²")):
    """A curve of two points, straight in the unit of the budget."""
    slope = (privacy[1] - privacy[0]) / (budget[1] - budget[0])
    return Curve(*map(np.array, (budget, privacy, privacy, [slope, slope], budget)), units=units)


def test_square_metres_lie_at_their_roots_on_the_axis():
    axes = line([0.0, 1e6], [0.0, 500.0]).plot()
    (drawn, _, points) = axes.lines
    assert points.get_xdata().tolist() == [0.0, 1000.0]
    across = drawn.get_xdata()
    assert across[-1] == 1000.0
    np.testing.assert_allclose(drawn.get_ydata(), across**2 / 2000, atol=1e-9)  # half a metre for 1,000 square metres
    assert axes.get_xlabel() == "quality loss allowed (m, root mean square)"


def test_privacy_in_square_metres_lies_at_its_root_too():
    axes = line([0.0, 0.5], [0.0, 1e6], units=("m²", "")).plot()
    assert axes.lines[2].get_ydata().tolist() == [0.0, 1000.0]
    assert axes.get_ylabel() == "privacy (m, root mean square)"


@pytest.mark.parametrize("larger", [0, 1])
def test_every_curve_of_a_figure_lies_within_its_axes(larger):
    curves = [line([0.0, 1e6], [0.0, 500.0]), line([0.0, 4e6], [0.0, 900.0])]
    axes = curve_figure({"one": curves[larger], "other": curves[1 - larger]}, "m", "m").axes[0]
    assert axes.get_xlim()[1] >= 2000
    assert axes.get_ylim()[1] >= 900


def entries(axes):
    """The style of every line in the legend, by its words."""
    return {line.get_label(): line.get_linestyle() for line in axes.get_legend().legend_handles}


def test_the_legend_tells_what_is_reached_from_what_is_not_exceeded():
    """The curve is min(budget, 1): its tangents at 0 and 2 meet above the chord."""
    ends = map(np.array, ([0.0, 2.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.0, 2.0]))
    curve = Curve(*ends, units=("", ""))
    reached, exceeded = "what the best mechanism certainly reaches", "what no mechanism exceeds"
    for axes in (curve.plot(), curve_figure({"": curve}, "p", "q").axes[0]):
        assert list(entries(axes)) == [reached, exceeded]
        lower, upper, _ = axes.lines
        assert [lower.get_linestyle(), upper.get_linestyle()] == list(entries(axes).values())
        across = lower.get_xdata()
        np.testing.assert_allclose(lower.get_ydata(), across / 2, atol=1e-9)
        np.testing.assert_allclose(upper.get_ydata(), np.minimum(across, 1), atol=1e-9)
    both = curve_figure({"one": curve, "other": curve}, "p", "q").axes[0]
    assert list(entries(both)) == ["one", "other", reached, exceeded]
