"""How all figures look."""

from __future__ import annotations

from matplotlib import pyplot as plt

from hideseek.plots.codebooks import draw_stages
from hideseek.plots.labels import draw_label
from hideseek.plots.profiles import draw_profile
from hideseek.plots.solutions import draw_mechanism
from hideseek.util.estimates import Estimate


def test_a_notebook_shows_every_figure_that_is_made_for_new_axes():
    drawn = (
        draw_stages(["access 1"], [0.3], [0.3]),
        draw_label({"filter": Estimate(0.2)}, 0.5, 0.4),
        draw_profile([0.5, 0.5], None),
        draw_mechanism([[1.0, 0.0], [0.0, 1.0]], "truth"),
    )
    assert [axes.figure for axes in drawn] == [plt.figure(number) for number in plt.get_fignums()]
