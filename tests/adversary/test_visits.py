"""Visits that are drawn backward: held against enumeration of all places and releases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hideseek import MarkovProfile
from hideseek.adversary.visits import named_on_visits
from hideseek.metrics import from_matrix
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame

METRES = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
MOVES = np.array([[0.7, 0.29, 0.01], [0.05, 0.65, 0.3], [0.5, 0.02, 0.48]])  # far from the same backward
PROFILE = MarkovProfile.from_matrix(MOVES)
GAME = BeliefGame.of(PROFILE, privacy=from_matrix(METRES), quality=from_matrix(METRES), budget=1.0)
ACCESSES = 4


def choose(belief):
    """Noise towards what is believed, and more of it where that is nearly known."""
    noise = 0.2 + 0.6 * belief.max()
    return (1 - noise) * np.eye(3) + noise * (belief + 0.1) / 1.3


def rate_by_enumeration(place):
    """The probability that the least expected error names the place, given that the person is there at an access."""
    hit = np.zeros(ACCESSES)
    for drawn in itertools.product(range(3), repeat=ACCESSES):
        belief, weight = PROFILE.stationary, np.diag(PROFILE.stationary)  # [place at the start, place now]
        for n, release in enumerate(drawn):
            likely = choose(belief)[:, release]
            joint = belief * likely
            belief, weight = joint / joint.sum(), weight * likely
            if not any(drawn[n + 1 :]) and (METRES @ belief).argmin() == place:  # once for every history
                hit[n] += weight[:, place].sum()
            belief, weight = belief @ MOVES, weight @ MOVES
    return float(hit.mean() / PROFILE.stationary[place])


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_place_is_named_on_visits_as_often_as_by_enumeration(place):
    """Within one and a half half-widths of the interval: 2.9 standard errors."""
    found = named_on_visits(GAME, at_beliefs(choose), place, accesses=ACCESSES, visits=3000, seed=5)
    half = (found.interval[1] - found.interval[0]) / 2
    assert abs(found - rate_by_enumeration(place)) <= 1.5 * half
    assert half < 0.02
