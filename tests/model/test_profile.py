"""Anything that gives the probabilities of sequences is a profile."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Game, MarkovProfile, Scenario, solve
from hideseek.metrics import hamming
from hideseek.model import Profile
from hideseek.model.profile import sample_places, sequence_probability
from tests.support.profiles import SHOWN
from tests.support.walks import Commuter


def test_any_model_with_probabilities_of_sequences_is_a_profile():
    commuter = Commuter()
    assert isinstance(commuter, Profile)
    assert sequence_probability(commuter, (0, 1, 0)) == 0.5
    assert sequence_probability(commuter, (0, 0)) == 0
    assert set(map(tuple, sample_places(commuter, 3, count=50).tolist())) == {(0, 1, 0), (1, 0, 1)}
    game = Game.from_scenario(
        commuter, scenario=Scenario.present_future(planned=True), privacy=hamming(), quality=hamming(), budget=0.2
    )
    assert game.inputs.tolist() == [[0, 1], [1, 0]]
    assert solve(game).privacy == pytest.approx(0.2)


def test_sampling_follows_the_distribution_and_the_seed():
    chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.3, 0.7]])
    walks = chain.sample(steps=200, count=500, seed=3)
    assert walks.shape == (500, 200)
    assert (walks == chain.sample(steps=200, count=500, seed=3)).all()
    assert (walks != chain.sample(steps=200, count=500, seed=4)).any()
    moves = (walks[:, :-1] == 0) & (walks[:, 1:] == 1)
    share = moves.sum() / (walks[:, :-1] == 0).sum()
    assert abs(share - 0.1) <= 5 * np.sqrt(0.1 * 0.9 / 70_000)


@pytest.mark.parametrize("profile", SHOWN, ids=str)
def test_a_profile_shows_its_size_in_a_line_and_a_table(profile):
    for shown in (repr(profile), profile._repr_html_()):
        assert len(shown) < 500
        assert str(profile.places) in shown
    assert "\n" not in repr(profile)
    assert profile._repr_html_().startswith("<table>")
