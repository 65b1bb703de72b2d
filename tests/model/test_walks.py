"""Traces become one place per step."""

from __future__ import annotations

import numpy as np

from hideseek import MarkovProfile
from hideseek.model.profile import regions_of
from tests.support.walks import LINE, walk


def test_only_the_first_fix_of_a_step_counts():
    fast = walk([0, 3, 1, 3, 0, 3], step="150s")
    profile = MarkovProfile.fit(fast, LINE)
    np.testing.assert_allclose(regions_of(profile).centres[:, 1], [0, 1])


def test_gaps_are_bridged_by_closing_and_interrupt_without():
    gapped = [0, 1, 0, None, None, 2, 0, 1]
    closed = MarkovProfile.fit(walk(gapped), LINE)
    np.testing.assert_allclose(closed.transition[0], [0, 2 / 3, 1 / 3])
    returning = [0, 1, 2, 1, 0, None, 2, 1, 0]
    open_ended = MarkovProfile.fit(walk(returning), LINE, close=False)
    np.testing.assert_allclose(open_ended.transition, [[0, 1, 0], [2 / 3, 0, 1 / 3], [0, 1, 0]])
