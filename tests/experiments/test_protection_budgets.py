"""Budgets beside the chosen one: which they are, and what is said about each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, Places
from hideseek.experiments.protection_budgets import DRAFT, Person, budgets_around, made_beside
from hideseek.metrics import distance, squared
from hideseek.planning import BeliefGame

REGIONS = Places([46.5, 46.5, 46.51], [6.5, 6.51, 6.5], names=("home", "work", "clinic"))
PROFILE = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.3, 0.1, 0.6]], REGIONS)
METRES = distance(REGIONS)
GAME = BeliefGame.of(PROFILE, privacy=METRES, quality=squared(METRES), budget="400m")
SATURATING = min(float(PROFILE.stationary @ column) for column in GAME.cost.T)  # one place for all
PERSON = Person(GAME, GAME, {2: "clinic", 0: "home"}, {2: "clinic"}, seed=0)


def budgets(metres, cost=None):
    game = replace(GAME, budget=float(metres) ** 2)
    found = budgets_around(game if cost is None else replace(game, cost=cost))
    return [round(budget**0.5, 6) for budget in found]


def test_displacements_are_quartered_halved_doubled_and_merged_at_saturation():
    assert budgets(100) == [25, 50, 200, 400]
    assert budgets(400) == [100, 200, round(SATURATING**0.5, 6)]
    assert budgets(10_000) == [], "all of them reveal nothing, as the chosen one does"
    assert budgets(0) == []


def test_budgets_that_cannot_be_kept_at_some_place_are_left_out():
    assert budgets(100, cost=GAME.cost + 50.0**2) == [50, 200, 400]


def test_every_number_is_that_of_a_mechanism_made_for_its_budget():
    made, others = made_beside(PERSON, 1, None)
    labels = [others[0], others[1], made.label, others[2]]
    assert [label.budget for label in labels] == sorted([GAME.budget, *budgets_around(GAME)])
    for label in labels:
        assert label.worst_loss <= label.budget * (1 + 1e-9)
        assert label.error <= label.ceiling * (1 + 1e-9)
    assert made.playbook.budget == GAME.budget
    # at the saturating budget nothing is revealed, but what sums that round past the budget do
    assert labels[-1].error == pytest.approx(GAME.prior_risk, rel=1e-5)
    assert made.label.walks > others[0].walks == DRAFT.label_walks


def test_two_processes_find_what_one_does():
    one, two = (made_beside(PERSON, workers, None) for workers in (1, 2))
    assert one[1] == two[1]
    assert one[0].label == two[0].label
    assert one[0].playbook.sha256 == two[0].playbook.sha256


def test_how_often_the_true_place_is_told_is_what_a_device_does():
    made = PERSON.made(GAME.budget, DRAFT)
    generator, told = np.random.default_rng(5), []
    for _ in range(40):
        belief, place = PROFILE.stationary, generator.choice(3, p=PROFILE.stationary)
        hits = 0
        for _ in range(made.label.accesses):
            table = made.playbook.play(belief).by_state
            release = generator.choice(3, p=table[place] / table[place].sum())
            hits += release == place
            belief = belief * table[:, release] / (belief @ table[:, release]) @ PROFILE.transition
            place = generator.choice(3, p=PROFILE.transition[place])
        told.append(hits / made.label.accesses)
    apart = float(np.mean(told)) - made.label.told
    # each has a standard error; four of the difference, and seeds are fixed
    spread = np.std(told) / np.sqrt(len(told)) + (made.label.told.interval[1] - made.label.told) / 2
    assert abs(apart) < 4 * spread
    assert 0.1 < made.label.told < 0.99
