"""Live devices on three cells in a row, and the belief and privacy that enumeration gives for them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from hideseek import (
    LiveDevice,
    MarkovProfile,
    Scenario,
)
from hideseek.metrics import hamming
from hideseek.planning import BeliefGame
from hideseek.planning.training import plan
from tests.support.devices import (
    GRID,
    MOVES,
    POINTS,
    told,
    when,
)

WORDS = 2**32
LONG_RUN = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))  # of MOVES, which are fractions of 2: all exact
LIVE_SCENARIOS = {
    "now": Scenario.sporadic(),
    "transition": Scenario(target=(-1, 0)),
    "long way": Scenario(target=(-2, -1, 0)),
    "in between": Scenario.in_between(2),
    "next": Scenario(target=(0, 1), known=(0,)),
}
PROFILE = MarkovProfile.from_matrix(MOVES, GRID, step="5min")


def game_of(profile=PROFILE, scenario=None, budget=0.2, quality=None):
    quality = hamming() if quality is None else quality
    return BeliefGame.of(profile, privacy=hamming(), quality=quality, budget=budget, scenario=scenario)


@cache
def planned(name, outlook="far-sighted", budget=0.2):
    return plan(game_of(scenario=LIVE_SCENARIOS[name], budget=budget), outlook=outlook, walks=2)


def live(path, name="now", outlook="far-sighted", budget=0.2, floor=0.0):
    game = game_of(scenario=LIVE_SCENARIOS[name], budget=budget)
    return LiveDevice(game, planned(name, outlook, budget), state=path, floor=floor)


def shares_of(move, known):
    """The stored integers for some known places, as exact fractions."""
    rows = {tuple(places): row for places, row in zip(move.inputs.tolist(), move.weights.tolist(), strict=False)}
    return [Fraction(weight, WORDS) for weight in rows[tuple(known)]]


def paths_between(first, last):
    """All paths of the chain over these steps with their exact probabilities."""
    for places in itertools.product(range(3), repeat=last - first + 1):
        probability = LONG_RUN[places[0]]
        for here, there in itertools.pairwise(places):
            probability *= Fraction(MOVES[here][there])
        if probability:
            yield dict(zip(range(first, last + 1), places, strict=True)), probability


def believed(scenario, happened, now):
    """Pr(path | what was exposed) with all that matters at step ``now``, by enumeration."""
    law = []
    begin = min([now, *(step for step, *_ in happened)]) + scenario.offsets[0]
    for path, probability in paths_between(begin, now + max(0, scenario.offsets[-1])):
        for step, columns, move, release in happened:
            probability *= shares_of(move, [path[step + scenario.known[column]] for column in columns])[release]
        if probability:
            law.append((path, probability))
    total = sum(probability for _, probability in law)
    return [(path, probability / total) for path, probability in law]


def worth(scenario, columns, move, law, step):
    """The expected error of the best guesses at a release, and its expected loss; Hamming, by enumeration."""
    guesses = list(itertools.product(range(3), repeat=len(scenario.target)))
    error = {(release, guess): Fraction(0) for release in range(3) for guess in guesses}
    loss = Fraction(0)
    for path, probability in law:
        chances = shares_of(move, [path[step + scenario.known[column]] for column in columns])
        target = tuple(path[step + offset] for offset in scenario.target)
        for release, chance in enumerate(chances):
            loss += probability * chance * (release != path[step])
            for guess in guesses:
                error[release, guess] += probability * chance * (guess != target)
    return sum(min(error[release, guess] for guess in guesses) for release in range(3)), loss


def drive(device, words, moves, steps, seed=0):
    """A walk with random places and words; what happened, as (step, columns, move, release)."""
    generator = np.random.default_rng(seed)
    happened = []
    for step in steps:
        words[:] = [int(generator.integers(WORDS))]
        release = device.expose(*POINTS[generator.integers(3)], at=when(step)).place
        happened.append((step, *moves[-1], release))
    return happened


def assert_belief_is_enumerated(device, scenario, happened):
    step = happened[-1][0]
    expected = {}
    for places, probability in believed(scenario, happened, step):
        state = tuple(places[step + offset] for offset in scenario.known)
        expected[state] = expected.get(state, 0) + probability
    found = dict(zip(map(tuple, device._chain.states.tolist()), told(device.path)["belief"], strict=True))
    assert set(expected) <= set(found)
    for state, belief in found.items():
        assert abs(belief - expected.get(state, 0)) <= 1e-12  # rounding of a few sums and products


def assert_label_is_enumerated(label, scenario, happened):
    privacies, losses = zip(
        *(
            worth(scenario, columns, move, believed(scenario, happened[:number], step), step)
            for number, (step, columns, move, _) in enumerate(happened)
        ),
        strict=True,
    )
    assert (label.accesses, label.withheld) == (len(happened), 0)
    assert label.filter == pytest.approx(float(sum(privacies) / len(privacies)), abs=1e-12)
    assert label.worst_filter == pytest.approx(float(min(privacies)), abs=1e-12)
    assert label.quality_loss == pytest.approx(float(sum(losses) / len(losses)), abs=1e-12)
    assert label.worst_loss == pytest.approx(float(max(losses)), abs=1e-12)
    assert all(loss <= Fraction(label.budget) + Fraction(1e-15) for loss in losses)


@cache
def stay_at_home():
    """A chain so slow that what is exposed soon tells more than a floor allows, and its plan."""
    profile = MarkovProfile.from_matrix([[0.75, 0.25, 0], [0.125, 0.75, 0.125], [0, 0.25, 0.75]], GRID, step="5min")
    game = game_of(profile, budget=0.3)
    return game, plan(game, outlook="plain")


def floored(path, floor=0.28):
    return LiveDevice(*stay_at_home(), state=path, floor=floor)
