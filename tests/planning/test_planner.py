"""Planners: bounds that are concave and positively homogeneous, over the states of one game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import MarkovProfile, ParameterError, plan
from hideseek.errors import PlanError
from hideseek.planning import BeliefGame
from hideseek.planning.player import Player
from tests.support.tiny_games import game, trained

weights = st.lists(st.floats(0, 10), min_size=3, max_size=3).map(np.array)


@given(weights, weights, st.floats(0, 100))
@settings(max_examples=40)
def test_the_bound_of_the_future_is_concave_and_positively_homogeneous(one, other, factor):
    planner = trained("line")
    assert planner.value(factor * one) == pytest.approx(factor * planner.value(one), rel=1e-12, abs=1e-12)
    assert planner.value(one + other) >= planner.value(one) + planner.value(other) - 1e-9


def test_a_planner_of_another_game_is_not_used():
    for other in ("sacrifice", "every second", "next"):
        with pytest.raises(PlanError, match="Make a new plan"):
            Player(game(other), trained("line"))


def test_what_is_no_measure_over_the_states_has_no_value():
    chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    planner = plan(chain, privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1, walks=1)
    for wrong in ([1.0], [0.5, 0.25, 0.25], [np.nan, 1.0], [-1.0, 2.0]):
        with pytest.raises(ParameterError, match="belief"):
            planner.value(np.array(wrong))


@pytest.mark.parametrize("cuts", [np.zeros(2), np.full((1, 2), np.nan), np.full((1, 2), np.inf)])
def test_cuts_that_are_none_are_refused(cuts):
    chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    planner = plan(chain, privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1, walks=1)
    with pytest.raises(PlanError, match="cuts"):
        replace(planner, cuts=cuts)


def test_cuts_over_other_states_are_refused():
    chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    game = BeliefGame.of(chain, privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
    with pytest.raises(PlanError, match="planner"):
        Player(game, replace(plan(game, walks=1), cuts=np.zeros((2, 5))))


def test_games_and_planners_show_themselves_in_one_line_and_a_small_table():
    own = game("two")
    for thing, words in ((own, "BeliefGame(states=2, "), (trained("two"), "Planner(outlook=far-sighted, ")):
        assert repr(thing).startswith(words)
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 150
        assert "<table>" in thing._repr_html_()
