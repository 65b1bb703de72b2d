"""Budgets in words."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Game, ParameterError
from hideseek.game.budget import budget_of


def test_a_percentage_is_never_below_the_least_possible_loss():
    game = Game.from_prior(
        [0.5, 0.5], privacy=1 - np.eye(2), quality=[[1.0, 3.0], [3.0, 1.0]], budget=4.0
    )  # the truth loses 1, a constant 2
    budgets = {text: budget_of(text, game, "design") for text in ("80%", "1%", "0.1")}
    assert budgets == {"80%": pytest.approx(1.6), "1%": 1.0, "0.1": 0.1}
    for text, rule in (("-5%", "a percentage >= 0"), ("some", "a number, or a percentage such as 20%")):
        with pytest.raises(ParameterError, match=rf"'budget' parameter of design must be {rule}\."):
            budget_of(text, game, "design")
