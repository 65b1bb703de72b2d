"""What is released where, held against the certificates, which other code computes, and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import MarkovProfile, Places, Scenario, design, make_playbook, plan
from hideseek.maps.releases import best_guess, of_codebook, of_plan, of_playbook
from hideseek.metrics import from_matrix, hamming
from hideseek.planning import BeliefGame
from tests.support.designs import CHAIN, LINE, SCENARIOS, SECOND_ORDER, made

NUMBERS = 1e-6  # the certificate is rounded against us, and the planner's table is exact to as much


@pytest.mark.parametrize("name", SCENARIOS)
def test_places_add_up_to_the_certificate_of_the_stage(name):
    codebook = made(CHAIN, SCENARIOS[name], budget=0.3)
    found, worth = of_codebook(codebook), codebook.worths()[codebook.repeating]
    assert found.share.sum() == pytest.approx(1)
    assert found.table.sum(axis=1) == pytest.approx(1)
    assert found.share @ found.error == pytest.approx(worth.weight @ worth.privacy, abs=NUMBERS)
    assert found.share @ found.loss == pytest.approx(worth.weight @ worth.loss, abs=NUMBERS)


def test_under_hamming_the_adversary_is_right_unless_in_error():
    codebook = design(CHAIN, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.2)
    found = of_codebook(codebook)
    assert found.right == pytest.approx(1 - found.error)
    # and the loss is how often the release is not the truth
    assert found.loss == pytest.approx(1 - np.diag(found.table))


def test_one_access_is_counted_by_hand():
    codebook = design(CHAIN, Scenario.sporadic(), privacy=from_matrix(LINE), quality=from_matrix(LINE), budget=0.3)
    found, share = of_codebook(codebook), CHAIN.stationary
    stage = codebook.stages[codebook.repeating]
    table = stage.distributions(np.zeros((3, 0), np.int64), np.arange(3)[:, None])
    error, right = np.zeros(3), np.zeros(3)
    for release in range(3):
        joint = share * table[:, release]
        errors = [sum(LINE[guess, truth] * joint[truth] for truth in range(3)) for guess in range(3)]
        best = [guess for guess in range(3) if errors[guess] <= min(errors) + 1e-6 * LINE.max() * joint.sum()]
        guess = max(best, key=lambda one: joint[one])
        for truth in range(3):
            error[truth] += table[truth, release] * LINE[guess, truth]
            right[truth] += table[truth, release] * (guess == truth)
    assert found.table == pytest.approx(table)
    assert found.share == pytest.approx(share)
    assert found.error == pytest.approx(error)
    assert found.right == pytest.approx(right)
    assert found.loss == pytest.approx((table * LINE).sum(axis=1))


@pytest.mark.parametrize("profile", [CHAIN, SECOND_ORDER], ids=["first order", "second order"])
def test_a_game_without_a_planner_has_the_privacy_of_its_ceiling(profile):
    known = tuple(range(1 - profile.memory, 1))
    game = BeliefGame.of(
        profile, scenario=Scenario((0,), known=known), privacy=hamming(), quality=hamming(), budget=0.2
    )
    found = of_plan(game, None)
    assert found.share == pytest.approx(profile.stationary)
    assert found.share @ found.error == pytest.approx(game.ceiling.privacy, abs=NUMBERS)
    assert found.right == pytest.approx(1 - found.error)
    assert found.share @ found.loss <= 0.2 + NUMBERS


def test_a_planner_keeps_the_budget_and_never_exceeds_the_ceiling():
    game = BeliefGame.of(CHAIN, privacy=from_matrix(LINE), quality=from_matrix(LINE), budget=0.3)
    found = of_plan(game, plan(game, walks=2))
    assert found.table.sum(axis=1) == pytest.approx(1)
    assert found.share @ found.loss <= 0.3 + NUMBERS
    assert 0 < found.share @ found.error <= game.ceiling.bound + NUMBERS


def test_a_playbook_releases_by_the_table_of_its_first_access():
    """With one table, made for the first access, as the best mechanism there: its privacy is that of the ceiling."""
    places = Places([46.52, 46.53, 46.54], [6.57, 6.58, 6.59])
    profile = MarkovProfile.from_matrix(CHAIN.transition, places)
    game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.2)
    found = of_playbook(make_playbook(game, plan(game, outlook="plain")))
    assert found.share == pytest.approx(CHAIN.stationary)
    assert found.share @ found.error == pytest.approx(game.ceiling.privacy, abs=NUMBERS)
    assert found.right == pytest.approx(1 - found.error)
    assert found.loss == pytest.approx(1 - np.diag(found.table))
    assert found.share @ found.loss <= 0.2


def test_where_more_than_the_place_is_protected_nobody_is_right_about_it():
    profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    scenario = Scenario(target=(0, 1), known=(0,))
    game = BeliefGame.of(profile, scenario=scenario, privacy=hamming(), quality=hamming(), budget=0.2)
    found = of_plan(game, None)
    assert found.right is None
    assert found.share @ found.error == pytest.approx(game.ceiling.privacy, abs=NUMBERS)


def test_of_equally_good_guesses_the_likelier_truth_is_taken():
    error, joint = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.25], [0.5]])
    assert (error @ joint).ravel().tolist() == [0.5, 0.5]
    assert best_guess(error, joint, np.arange(2)).tolist() == [1]
