"""Which game a history plays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, Scenario
from hideseek.codebook.joint_distribution import NEVER
from hideseek.designing.designer import _Designer
from hideseek.designing.history_games import HistoryGames, recurring_game, recurs
from hideseek.designing.history_solver import HistorySolver
from hideseek.designing.stage_draft import Choice
from hideseek.designing.stage_layout import StageLayout
from hideseek.metrics import from_function, from_matrix, hamming, total
from hideseek.planning import BeliefGame
from tests.support.designs import CHAIN, LINE, SCENARIOS, SECOND_ORDER


def games_of(games):
    """The games of all histories after one access, and what decides among their optima."""
    designer = _Designer(StageLayout.of(games.scenario, 2), HistorySolver(games, Choice.UNINFORMATIVE, 1, None))
    access, joint = designer.at(2, designer.deployment.run(0, NEVER, accesses=1)[1])
    assert (games.recurring_at(access) is None) == (games.recurring is None)
    return [
        (past, game, games.next(game, access, joint, k))
        for k, (past, game) in enumerate(games.now(access, joint).items())
    ]


@pytest.mark.parametrize("name", ["location", "transition", "in between", "next, not released"])
def test_the_recurring_game_is_that_of_the_scenario(name):
    """Made from the belief about the states, and from the distribution of all places that matter."""
    metric = total(from_matrix(LINE))
    recurring = HistoryGames.of(CHAIN, SCENARIOS[name], metric, metric, 0.3, planner=None)
    found = games_of(recurring), games_of(replace(recurring, recurring=None))
    for (past, game, after), (other_past, other, other_after) in zip(*found, strict=True):
        assert past == other_past
        np.testing.assert_array_equal(game.inputs, other.inputs)
        for one, two in ((game, other), (after, other_after)):
            np.testing.assert_allclose(one.error, two.error, rtol=1e-9, atol=1e-15)
            np.testing.assert_allclose(one.cost, two.cost, rtol=1e-12, atol=1e-15)


OTHERS = {
    "looks far back": Scenario(target=(0,), known=(-3, 0)),
    "protects what it does not know": Scenario(target=(-1, 0), known=(0,)),
    "quality of a place it does not know": Scenario(target=(0,), quality=(-1, 0), known=(0,)),
    "rare": Scenario(target=(-1, 0), known=(-1, 0), every=3),
}


@pytest.mark.parametrize("name", [*SCENARIOS, *OTHERS])
@pytest.mark.parametrize("profile", [CHAIN, SECOND_ORDER], ids=["first order", "second order"])
def test_a_scenario_recurs_where_a_belief_game_takes_it(name, profile):
    scenario = (SCENARIOS | OTHERS)[name]
    try:
        BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=2.0, scenario=scenario)
        taken = True
    except ParameterError:
        taken = False
    assert recurs(scenario, profile.memory) == taken


def test_designs_do_without_a_recurring_game_unless_it_is_needed():
    dear = from_matrix([[0.1, 0.5], [0.5, 0.3]])  # nothing costs less than 0.3 at the second place
    back = from_function(lambda place, release, seen: 0.0)
    chain = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
    for scenario, quality, budget in (
        (Scenario.present_future(), hamming(), 1.0),
        (Scenario.past_present(1), back, 1.0),
        (Scenario.past_present(1), dear, 0.29),
    ):
        asked = chain, scenario, hamming(), quality, budget
        assert recurring_game(*asked, needed=False) is None
        with pytest.raises(ParameterError):
            recurring_game(*asked, needed=True)
    assert recurring_game(chain, Scenario.past_present(1), hamming(), dear, 0.3, needed=False) is not None
