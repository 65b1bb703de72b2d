"""When a joint distribution counts as settled."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek.codebook.joint_distribution import Joint


def test_a_rare_history_that_changes_is_not_settled():
    before = Joint(np.array([[0], [1]]), np.array([[0], [1]]), np.array([[0.6, 1e-14], [0.4, 0.0]]), 0)
    after = Joint(before.windows, before.histories, np.array([[0.6, 0.0], [0.4, 1e-14]]), 0)
    assert before.change(after) == pytest.approx(1.0)
    assert before.change(before) == 0
    assert before.change(Joint(before.windows, before.histories[:1], before.mass[:, :1], 0)) == np.inf
