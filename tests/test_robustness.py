"""What is left of a claim on other days: each part against loops over the definition."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import (
    Game,
    Grid,
    MarkovProfile,
    Mechanism,
    ParameterError,
    Scenario,
    expected_error,
    from_matrix,
)
from hideseek.data import synthetic_city
from hideseek.reproduce.robustness import (
    Left,
    drawn,
    error_alone,
    error_of_filter,
    kept_of_claim,
    learned,
    robustness,
)

METRES = from_matrix([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
PROFILE = MarkovProfile.from_matrix([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
TABLE = np.array([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])


def test_a_day_like_the_profile_leaves_what_was_claimed():
    game = Game.from_scenario(PROFILE, Scenario.sporadic(), METRES, METRES)
    usual_day = np.array([0, 1, 0, 2])
    claimed = expected_error(game, Mechanism(TABLE))
    assert error_alone(Mechanism(TABLE), PROFILE, METRES, usual_day) == pytest.approx(claimed, abs=1e-12)


def test_another_day_is_guessed_as_the_profile_has_it():
    d_p = METRES.between(np.arange(3)[:, None], np.arange(3)[:, None], np.zeros(0, int))
    day, total = [2, 2, 1], 0.0
    for place in day:
        for release in range(3):
            guess = min(range(3), key=lambda g: sum(PROFILE.stationary * TABLE[:, release] * d_p[g]))
            total += TABLE[place, release] * d_p[guess, place] / len(day)
    found = error_alone(Mechanism(TABLE), PROFILE, METRES, np.array(day))
    assert found == pytest.approx(total, abs=1e-12)


def test_the_filter_is_bayes_rule_step_by_step():
    chain = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]])
    d_p = METRES.between(np.arange(3)[:, None], np.arange(3)[:, None], np.zeros(0, int))
    day, exposed = np.array([0, 1, 1, 2]), np.array([[0, 1, 2, 2], [2, 0, 0, 1]])
    total = 0.0
    for sequence in exposed:
        belief = chain.stationary
        for n, release in enumerate(sequence):
            belief = (belief @ chain.transition if n else belief) * TABLE[:, release]
            belief = belief / belief.sum()
            total += d_p[(d_p @ belief).argmin(), day[n]] / exposed.size
    found = error_of_filter(Mechanism(TABLE), chain, METRES, day, exposed)
    assert found == pytest.approx(total, abs=1e-12)


def test_a_profile_of_few_days_covers_the_places_it_never_saw():
    profile = learned((np.array([0, 1, 0, 1, 1]), np.arange(5)), 3, "5min")
    anywhere = np.array([3, 4, 1]) / 8
    assert profile.transition[2] == pytest.approx(anywhere)
    # from 0 always to 1; from 1 once to 0, once to 1, and at the end back to the start
    assert profile.transition[0] == pytest.approx(0.95 * np.array([0, 1, 0]) + 0.05 * anywhere)
    assert profile.transition[1] == pytest.approx(0.95 * np.array([2, 1, 0]) / 3 + 0.05 * anywhere)


def test_releases_are_drawn_from_the_law_of_their_step():
    laws = np.tile([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]], (2000, 1))
    releases = drawn(laws, np.random.default_rng(0))
    assert (releases[:, 1::2] == 0).all()
    assert (releases[:, ::2] > 0).all()
    assert (releases[:, ::2] == 1).mean() == pytest.approx(0.5, abs=0.02)  # five standard errors


def test_robustness_of_the_synthetic_city():
    city = synthetic_city(people=2, days=8)
    grid = Grid.covering(city, rows=5, columns=5)
    found = robustness(city, grid, days=(1, 3), attacked=3, workers=1)
    assert list(found.columns) == list(Left._fields)
    assert len(found) == 2 * 2 * 2 * 2
    assert ((found["low"] <= found["privacy"]) & (found["privacy"] <= found["high"])).all()
    # one claim, one loss and one budget for each user and number of days
    assert (found.groupby(["user", "days"])[["quality_loss", "budget"]].nunique() == 1).all(axis=None)
    assert set(kept_of_claim(found)["count"]) == {2}


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"days": ()}, "'days'"),
        ({"days": (0,)}, "'days'"),
        ({"attacked": 1}, "'attacked'"),
    ],
)
def test_what_cannot_be_learned_or_attacked_is_refused(wrong, match):
    city = synthetic_city(people=1, days=4)
    with pytest.raises(ParameterError, match=match):
        robustness(city, Grid.covering(city, rows=5, columns=5), **{"attacked": 2, "workers": 1, **wrong})


def test_users_with_too_few_days_are_left_out():
    city = synthetic_city(people=1, days=4)
    assert not len(robustness(city, Grid.covering(city, rows=5, columns=5), days=(9,), attacked=2, workers=1))
