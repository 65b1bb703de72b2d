"""Metrics by name, wherever one is taken."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Game, MarkovProfile, Mechanism, ParameterError, Places, Scenario, design, plan
from hideseek.adversary import attack, correlation_aware_error
from hideseek.metrics import (
    distance,
    hamming,
    squared,
    total,
)
from hideseek.planning import BeliefGame

MAP = Places([46.50, 46.51, 46.53], [6.57, 6.57, 6.59])
CHAIN = [[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]]
BY_NAME = {"hamming": hamming(), "euclid": distance(MAP), "squared": total(squared(distance(MAP)))}
TAKERS = {
    "Game.from_scenario": lambda profile, d: Game.from_scenario(
        profile, scenario=Scenario.sporadic(), privacy=d, quality=d
    ).error.tolist(),
    "BeliefGame": lambda profile, d: BeliefGame.of(profile, privacy=d, quality=d, budget=1e6).error.tolist(),
    "plan": lambda profile, d: plan(profile, privacy=d, quality=d, budget=1e6, outlook="plain").bound,
    "attack": lambda profile, d: attack(Mechanism(np.eye(3)), profile, adversary="window", privacy=d, accesses=2),
    "correlation_aware_error": lambda profile, d: correlation_aware_error(profile, Mechanism(np.eye(3)), privacy=d),
    "design": lambda profile, d: design(
        profile, scenario=Scenario.sporadic(), privacy=d, quality=d, budget=0.5
    ).privacy.recipe[0],
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_stands_for_its_metric_wherever_one_is_taken(taker, name):
    profile = MarkovProfile.from_matrix(CHAIN, MAP)
    assert TAKERS[taker](profile, name) == TAKERS[taker](profile, BY_NAME[name])


@pytest.mark.parametrize("taker", TAKERS)
def test_an_unknown_name_of_a_metric_is_refused(taker):
    with pytest.raises(ParameterError, match=r"'privacy' .* one of 'hamming', 'euclid', 'squared'. Got 'metres'"):
        TAKERS[taker](MarkovProfile.from_matrix(CHAIN, MAP), "metres")


@pytest.mark.parametrize("name", ["euclid", "squared"])
def test_metres_by_name_need_the_regions_of_the_profile(name):
    with pytest.raises(ParameterError, match=r"'privacy' parameter of Game.from_scenario .* the profile has none"):
        TAKERS["Game.from_scenario"](MarkovProfile.from_matrix(CHAIN), name)
