"""Noise and Voronoi cells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from hideseek import MarkovProfile, Mechanism, ParameterError, Places
from hideseek.baselines.cells import mean_tail, voronoi_edges
from hideseek.baselines.information import blahut_arimoto
from hideseek.baselines.laplace import remapped
from hideseek.baselines.through_time import DeltaLocationSet
from tests.support.rivals import (
    CITY,
    SETTING,
)


def test_noise_along_a_line_counts_a_tie_once():
    """Places on both sides of the line, equally far from it."""
    square = Places([0.0, 0.0, 0.01, -0.01, 0.01, -0.01], [0.0, 0.01, 0.03, 0.03, -0.02, -0.02])
    policy = DeltaLocationSet(MarkovProfile.from_matrix(np.full((6, 6), 1 / 6), square), epsilon=1.0, delta=0.0)
    (table,), _ = policy.tables(np.array([[0.5, 0.5, 0, 0, 0, 0]]))
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("start", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("step", [0.0, 1e-14, 1e-9, 1e-6, 3e-4, 0.9e-3, 1.1e-3, 0.1, 5.0])
def test_the_mean_of_a_tail_is_its_integral_also_between_nearly_equal_ends(start, step):
    """In units of the start, or of 1 where that is less: where the closed form would be a difference of equals."""
    end = start + step * min(1, start)

    def tail(t):
        return (1 + t) * np.exp(-t) / t**2

    mean = quad(tail, start, end, epsabs=0, epsrel=1e-13)[0] / (end - start) if end > start else tail(start)
    for ends in ((start, end), (end, start)):
        assert mean_tail(*map(np.atleast_1d, ends)) == pytest.approx(mean, rel=1e-11)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: voronoi_edges(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]])), "two or more different points"),
        (lambda: voronoi_edges(np.array([[0.0, 1.0]])), "two or more different points"),
        (lambda: voronoi_edges(np.zeros((2, 3))), "two or more different points"),
        (lambda: blahut_arimoto([0.5, 0.5], np.ones((3, 3)), slope=1.0), "a row for each of the 2 places"),
        (lambda: blahut_arimoto([0.5, 0.5], np.ones(2), slope=1.0), "'loss' parameter of blahut_arimoto"),
        (lambda: blahut_arimoto([0.5, 0.6], np.ones((2, 2)), slope=1.0), "'prior' parameter of blahut_arimoto"),
        (lambda: remapped(SETTING.game, Mechanism(np.eye(3))), "'mechanism' parameter of remapped"),
        (lambda: remapped(SETTING.game, Mechanism(np.full((CITY.places, 2), 0.5))), "a table of the shape"),
    ],
)
def test_points_and_tables_that_do_not_fit_are_refused(make, match):
    with pytest.raises(ParameterError, match=match):
        make()
