"""The label for people: held against closed forms, and against a simulation with a filter of its own."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import MarkovProfile, Places, make_playbook, plan
from hideseek.adversary.person_label import person_label
from hideseek.adversary.visits import named_on_visits
from hideseek.metrics import distance, sensitive, squared
from hideseek.model import distances
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame

MOVES = np.array([[0.9, 0.08, 0.02], [0.15, 0.8, 0.05], [0.3, 0.2, 0.5]])
REGIONS = Places([46.52, 46.53, 46.55], [6.57, 6.60, 6.56], names=("home", "work", "clinic"))
PROFILE = MarkovProfile.from_matrix(MOVES, REGIONS)
METRIC = distance(REGIONS)
PLAIN = BeliefGame.of(PROFILE, privacy=METRIC, quality=squared(METRIC), budget="30%")
GAME = BeliefGame.of(PROFILE, privacy=sensitive(METRIC, {2: 5}), quality=squared(METRIC), budget="30%")
NAMES = {2: "clinic", 0: "home", 1: "work"}
ACCESSES = 40


@pytest.fixture(scope="module")
def playbook():
    return make_playbook(GAME, plan(GAME, walks=5))


@pytest.fixture(scope="module")
def label(playbook):
    return person_label(
        playbook,
        plain=PLAIN,
        bound=123.0,
        names=NAMES,
        sensitive=[2],
        accesses=ACCESSES,
        walks=60,
        visits=200,
    )


def simulated(playbook, walks):
    """Live, expose and attack, step by step: [walk, place] of the times there, named there and named elsewhere.

    The adversary's filter is this loop's own. Errors are in metres, also between them.
    """
    metres, generator = distances(REGIONS), np.random.default_rng(11)
    there, hit, wrong, error = (np.zeros((walks, 3)) for _ in range(4))
    for walk in range(walks):
        place, prior = generator.choice(3, p=PROFILE.stationary), PROFILE.stationary.copy()
        for _ in range(ACCESSES):
            table = playbook.play(prior).by_state
            release = generator.choice(3, p=table[place])
            posterior = np.array([prior[x] * table[x, release] for x in range(3)])
            posterior /= posterior.sum()
            guess = min(range(3), key=lambda g: sum(posterior[x] * metres[g, x] for x in range(3)))
            there[walk, place] += 1
            (hit if guess == place else wrong)[walk, guess] += 1
            error[walk, 0] += metres[guess, place] / ACCESSES
            prior = np.array([sum(posterior[x] * MOVES[x, y] for x in range(3)) for y in range(3)])
            place = generator.choice(3, p=MOVES[place])
    return there, hit, wrong, error[:, 0]


def test_rates_and_errors_are_those_of_a_simulation_with_its_own_filter(label, playbook):
    """Within four standard errors of both; those of a ratio by the scatter of part - rate * whole over walks."""
    walks = 150
    there, hit, wrong, error = simulated(playbook, walks)
    for one in label.places:
        place = one.protected.place
        for found, part, whole in (
            (one.protected.there, hit[:, place], there[:, place]),
            (one.protected.elsewhere, wrong[:, place], ACCESSES - there[:, place]),
        ):
            rate = part.sum() / whole.sum()
            seldom = 1 / whole.sum()  # what was never seen may happen as often as that
            own = max((part - rate * whole).std() / np.sqrt(walks) / whole.mean(), seldom)
            spread = (found.interval[1] - found.interval[0]) / 4
            assert abs(found - rate) <= 4 * np.hypot(own, spread)
            assert np.hypot(own, spread) < 0.05
    spread = (label.error.interval[1] - label.error.interval[0]) / 4
    assert abs(label.error - error.mean()) <= 4 * np.hypot(spread, error.std() / np.sqrt(walks))


def test_a_sensitive_place_has_its_rate_from_visits_to_it(label, playbook):
    """These are drawn as often as is asked for, however rare they are; test_visits holds them against enumeration."""
    found = named_on_visits(
        PLAIN, at_beliefs(lambda belief: playbook.play(belief).by_state), 2, accesses=ACCESSES, visits=200, seed=0
    )
    assert (label.places[0].protected.there, label.places[0].protected.there.interval) == (found, found.interval)


def test_with_nothing_exposed_the_same_place_is_always_named(label):
    metres = distances(REGIONS)
    guess = int((metres @ PROFILE.stationary).argmin())
    for one in label.places:
        assert (one.nothing.there, one.nothing.elsewhere) == (1.0 * (one.nothing.place == guess),) * 2
        assert one.nothing.share == pytest.approx(PROFILE.stationary[one.nothing.place])
    assert label.nothing == pytest.approx(float((metres @ PROFILE.stationary).min()))


def test_with_the_truth_exposed_every_place_is_named_there_and_only_there(label):
    assert [(one.truth.there, one.truth.elsewhere) for one in label.places] == [(1.0, 0.0)] * 3
    assert label.truth == 0


def test_places_come_in_the_order_of_their_names(label):
    assert [(one.name, one.sensitive) for one in label.places] == [("clinic", True), ("home", False), ("work", False)]


def test_people_are_told_metres_and_experts_what_the_plan_maximises(label):
    assert (label.unit, label.weighted_unit) == ("m", "weighted m")
    assert label.error < label.weighted
    assert label.kept == pytest.approx(min(label.weighted / GAME.ceiling.bound, 1.0))
    assert label.worst_loss <= label.budget * (1 + 1e-9)


def test_the_bound_is_never_above_the_ceiling(label):
    assert label.bound == 123.0 < label.ceiling
