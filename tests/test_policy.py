"""Policies under attack: a policy that never adapts is a mechanism, one that does is held against enumeration."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek import MarkovProfile, Mechanism, ParameterError, attack, from_matrix
from hideseek.adversaries import policy_loss
from hideseek.course import Course

HAMMING = 1 - np.eye(3)
METRES = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])


@dataclass(frozen=True, eq=False)
class Always:
    """A mechanism in the clothes of a policy."""

    table: np.ndarray

    @property
    def symbols(self) -> int:
        return self.table.shape[1]

    def start(self, sequences):
        return np.zeros(sequences)

    def tables(self, state):
        return self.table[None], np.zeros(len(state), np.int64)

    def after(self, state, exposed):
        return state


@dataclass(frozen=True, eq=False)
class Echo(Always):
    """After the release 0 one table, after any other the second; it remembers one release."""

    second: np.ndarray

    def tables(self, state):
        return np.array([self.table, self.second]), (state > 0).astype(np.int64)

    def after(self, state, exposed):
        return exposed


def stochastic(seed: int, *shape: int) -> np.ndarray:
    table = np.random.default_rng(seed).random(shape)
    return table / table.sum(axis=-1, keepdims=True)


def law_of_runs(profile: MarkovProfile, echo: Echo, accesses: int):
    """Every run of places and releases with its probability, by the definition."""
    for places in itertools.product(range(3), repeat=accesses):
        for drawn in itertools.product(range(3), repeat=accesses):
            weight, before = profile.stationary[places[0]], 0
            for n, (place, release) in enumerate(zip(places, drawn, strict=True)):
                weight *= profile.transition[places[n - 1], place] if n else 1.0
                weight *= (echo.second if before else echo.table)[place, release]
                before = release
            yield places, drawn, weight


@given(st.integers(0, 10**6))
def test_a_policy_that_never_adapts_is_the_mechanism(seed):
    profile, table = MarkovProfile.from_matrix(stochastic(seed, 3, 3)), stochastic(seed + 1, 3, 3)
    for adversary in ("window", "filter", "smoother", "viterbi", "predictor"):
        window = 1 if adversary == "window" else None
        found, known = (
            attack(exposer, profile, adversary, privacy=METRES, accesses=4, window=window)
            for exposer in (Always(table), Mechanism(table))
        )
        assert found.exact
        assert found == pytest.approx(known, abs=1e-12)
        assert found.hit_rate == pytest.approx(known.hit_rate, abs=1e-12)


@given(st.integers(0, 10**6))
def test_the_filter_against_an_adapting_policy_is_bayes_rule_over_all_runs(seed):
    profile, echo = MarkovProfile.from_matrix(stochastic(seed, 3, 3)), Echo(*stochastic(seed + 1, 2, 3, 3))
    joint: dict = {}
    lost = 0.0
    for places, drawn, weight in law_of_runs(profile, echo, 3):
        lost += weight * sum(METRES[place, release] for place, release in zip(places, drawn, strict=True)) / 3
        for n in range(3):
            joint.setdefault((n, drawn[: n + 1]), np.zeros(3))[places[n]] += weight
    error = sum((METRES @ law).min() for law in joint.values()) / 3
    assert attack(echo, profile, "filter", privacy=METRES, accesses=3) == pytest.approx(error, abs=1e-12)
    course = Course(echo, profile, METRES, 3)
    assert policy_loss(course, from_matrix(METRES)) == pytest.approx(lost, abs=1e-12)


@given(st.integers(0, 10**6))
def test_the_window_against_a_policy_pools_the_accesses(seed):
    profile, echo = MarkovProfile.from_matrix(stochastic(seed, 3, 3)), Echo(*stochastic(seed + 1, 2, 3, 3))
    joint: dict = {}
    for places, drawn, weight in law_of_runs(profile, echo, 3):
        for n in range(3):
            joint.setdefault(drawn[max(0, n - 1) : n + 1], np.zeros(3))[places[n]] += weight
    error = sum((METRES @ law).min() for law in joint.values()) / 3
    assert attack(echo, profile, "window", privacy=METRES, accesses=3, window=1) == pytest.approx(error, abs=1e-12)


def test_simulated_numbers_agree_with_the_exact_ones():
    profile, echo = MarkovProfile.from_matrix(stochastic(5, 3, 3)), Echo(*stochastic(6, 2, 3, 3))
    course = Course(echo, profile, METRES, 60)
    table = stochastic(7, 3, 3)
    for window in (0, 1):
        exact = attack(Mechanism(table), profile, "window", privacy=METRES, accesses=60, window=window)
        found = attack(Always(table), profile, "window", METRES, 60, walks=1000, window=window)
        assert not found.exact
        width = found.interval[1] - found.interval[0]
        assert abs(found - exact) < width  # twice the half-width
    # between one access and the long run, the loss of a chain that settles is nearly that of the long run
    loss = policy_loss(course, from_matrix(METRES), walks=1000)
    pairs = np.tile(profile.stationary[:, None] / 2, 2)  # [place, whether the release before was not 0]
    for _ in range(200):
        ahead = np.zeros((3, 2))
        for before, own in enumerate((echo.table, echo.second)):
            drawn = (profile.transition.T @ pairs[:, before])[:, None] * own
            ahead[:, 0] += drawn[:, 0]
            ahead[:, 1] += drawn[:, 1:].sum(axis=1)
        pairs = ahead
    lost = sum(
        ((profile.transition.T @ pairs[:, before])[:, None] * own * METRES).sum()
        for before, own in enumerate((echo.table, echo.second))
    )
    assert abs(loss - lost) < (loss.interval[1] - loss.interval[0]) + 0.01


def test_what_is_no_exposer_is_refused():
    profile = MarkovProfile.from_matrix(stochastic(1, 3, 3))
    with pytest.raises(ParameterError, match="a Mechanism, a Policy or a Codebook"):
        attack("anything", profile, "filter", privacy=HAMMING)
    with pytest.raises(ParameterError, match="'privacy'"):
        attack(Always(stochastic(1, 3, 3)), profile, "filter")
    with pytest.raises(ParameterError, match="'walks'"):
        attack(Always(stochastic(1, 3, 3)), profile, "window", privacy=HAMMING, walks=1)
