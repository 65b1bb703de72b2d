"""Policies under attack: a policy that never adapts is a mechanism, one that does is held against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from hideseek import MarkovProfile, Mechanism, ParameterError
from hideseek.adversary import attack
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.policies import policy_loss
from hideseek.adversary.sequences import read_sequences
from hideseek.adversary.window import carry
from hideseek.baselines.through_time import predictive
from hideseek.metrics import distance, from_matrix
from hideseek.model import distances
from hideseek.model.geodesy import plane
from tests.support.policies import Always, Echo
from tests.support.rivals import town

HAMMING = 1 - np.eye(3)
METRES = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])


def stochastic(seed: int, *shape: int) -> np.ndarray:
    table = np.random.default_rng(seed).random(shape)
    return table / table.sum(axis=-1, keepdims=True)


def sticky(seed: int, *shape: int) -> np.ndarray:
    """Who is likely to stay, or to tell the truth, leaves much to be remembered."""
    return (np.eye(shape[-1]) + stochastic(seed, *shape)) / 2


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
            attack(exposer, profile, adversary=adversary, privacy=METRES, accesses=4, window=window)
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
    assert attack(echo, profile, adversary="filter", privacy=METRES, accesses=3) == pytest.approx(error, abs=1e-12)
    run = Run(echo, profile, privacy=METRES, accesses=3)
    assert policy_loss(run, from_matrix(METRES)) == pytest.approx(lost, abs=1e-12)


@given(st.integers(0, 10**6))
def test_the_window_against_a_policy_pools_the_accesses(seed):
    profile, echo = MarkovProfile.from_matrix(stochastic(seed, 3, 3)), Echo(*stochastic(seed + 1, 2, 3, 3))
    joint: dict = {}
    for places, drawn, weight in law_of_runs(profile, echo, 3):
        for n in range(3):
            joint.setdefault(drawn[max(0, n - 1) : n + 1], np.zeros(3))[places[n]] += weight
    error = sum((METRES @ law).min() for law in joint.values()) / 3
    assert attack(echo, profile, adversary="window", privacy=METRES, accesses=3, window=1) == pytest.approx(
        error, abs=1e-12
    )


def test_simulated_numbers_agree_with_the_exact_ones():
    profile, echo = MarkovProfile.from_matrix(stochastic(5, 3, 3)), Echo(*stochastic(6, 2, 3, 3))
    run = Run(echo, profile, privacy=METRES, accesses=60)
    table = stochastic(7, 3, 3)
    for window in (0, 1):
        exact = attack(Mechanism(table), profile, adversary="window", privacy=METRES, accesses=60, window=window)
        found = attack(
            Always(table), profile, adversary="window", privacy=METRES, accesses=60, walks=1000, window=window
        )
        assert not found.exact
        width = found.interval[1] - found.interval[0]
        assert abs(found - exact) < width  # twice the half-width
    # between one access and the long run, the loss of a chain that settles is nearly that of the long run
    loss = policy_loss(run, from_matrix(METRES), walks=1000)
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
        attack("anything", profile, adversary="filter", privacy=HAMMING)
    with pytest.raises(ParameterError, match="'privacy'"):
        attack(Always(stochastic(1, 3, 3)), profile, adversary="filter")
    with pytest.raises(ParameterError, match="'walks'"):
        attack(Always(stochastic(1, 3, 3)), profile, adversary="window", privacy=HAMMING, walks=1)


def laws_along(profile, echo, exposed):
    """Along one exposed sequence: the distribution of the place and the next release, given all before it."""
    belief, before = profile.stationary, 0
    for release in exposed:
        joint = belief[:, None] * (echo.second if before else echo.table)
        yield joint
        belief = joint[:, release] / joint[:, release].sum() @ profile.transition
        before = release


@pytest.mark.parametrize("seed", range(6))
def test_each_tenth_of_the_walks_is_guessed_from_the_others(seed):
    """After three releases that no other walk has shown, the guess rests on the current release alone."""
    profile, echo = MarkovProfile.from_matrix(sticky(seed, 3, 3)), Echo(*sticky(seed + 1, 2, 3, 3))
    run, walks = Run(echo, profile, privacy=METRES, accesses=12), 12
    ((read, _, _),) = read_sequences(run, walks, seed=0)
    exposed = read.exposed
    views = [
        [(tuple(walk[max(0, n - 3) : n]), joint) for n, joint in enumerate(laws_along(profile, echo, walk))]
        for walk in exposed
    ]
    errors, unseen = np.zeros(walks), 0
    for number, own in enumerate(views):
        shown, alone = {}, np.zeros((3, 3))
        for other, view in enumerate(views):
            for past, joint in view:
                if other % 10 != number % 10:
                    shown[past] = shown.get(past, 0) + joint
                    alone += joint
        for past, joint in own:
            unseen += past not in shown
            guess = (METRES @ shown.get(past, alone)).argmin(axis=0)
            errors[number] += sum(METRES[guess[release]] @ joint[:, release] for release in range(3)) / 12
    assert unseen
    found = attack(echo, profile, adversary="window", privacy=METRES, accesses=12, walks=walks, window=3)
    assert found == pytest.approx(errors.mean(), abs=1e-12)
    low, high = ttest_1samp(errors, 0).confidence_interval(0.95)
    assert found.interval == pytest.approx((low, high), abs=1e-12)


def test_a_window_against_a_policy_is_empty_unless_it_is_given():
    profile, echo = MarkovProfile.from_matrix(sticky(1, 3, 3)), Echo(*sticky(2, 2, 3, 3))
    joint = np.zeros((3, 3))  # place, release
    for places, drawn, weight in law_of_runs(profile, echo, 3):
        for place, release in zip(places, drawn, strict=True):
            joint[place, release] += weight / 3
    error = (METRES @ joint).min(axis=0).sum()
    assert attack(echo, profile, adversary="window", privacy=METRES, accesses=3) == pytest.approx(error, abs=1e-12)
    assert attack(echo, profile, adversary="window", privacy=METRES, accesses=3, window=1) < error - 1e-3


@pytest.mark.parametrize(
    ("law", "privacy", "hit_rate"),
    [
        ((0.2, 0.3, 0.5), np.abs(np.subtract.outer(range(3), range(3))), 0.5),  # the second place errs no more
        ((1 / 3, 1 / 3, 1 / 3), HAMMING, 1 / 3),
    ],
)
@pytest.mark.parametrize("accesses", [3, 12])  # enumerated, and simulated
def test_of_equally_good_guesses_the_likeliest_is_taken(law, privacy, hit_rate, accesses):
    """A table that reveals nothing leaves the prior, in which two guesses or more are equally good."""
    profile, table = MarkovProfile.from_matrix(np.tile(law, (3, 1))), np.full((3, 3), 1 / 3)
    for exposer in (Mechanism(table), Always(table)):
        for window in (0, 1):
            found = attack(
                exposer, profile, adversary="window", privacy=privacy, accesses=accesses, walks=50, window=window
            )
            assert found.hit_rate == pytest.approx(hit_rate, abs=1e-9)


def test_the_window_against_predictions_is_near_the_exact_one():
    """Exactly, by carrying Pr(place, last release): such a policy remembers no more."""
    profile = town(0, 30)
    policy, d_p, accesses = predictive(plane(profile.regions), noise=300.0), distances(profile.regions), 50
    tables, _ = policy.tables(np.arange(-1, 30))
    joint = np.zeros((31, 30))  # the last release, the place; number 0 before the first access
    joint[0] = profile.stationary
    views = np.zeros((31, 30, 30))
    for _ in range(accesses):
        view = joint[:, :, None] * tables
        views += view / accesses
        joint = np.vstack([np.zeros(30), view.sum(axis=0).T @ profile.transition])
    exact = sum((d_p @ view).min(axis=0).sum() for view in views)
    found = attack(
        policy, profile, adversary="window", privacy=distance(profile.regions), accesses=accesses, walks=200, window=1
    )
    assert not found.exact
    assert abs(found - exact) < max(found.interval[1] - found.interval[0], 0.02 * exact)
    forgetful = (d_p @ views.sum(axis=0)).min(axis=0).sum()
    assert exact < 0.95 * forgetful  # so that it matters what is remembered


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (np.full((2, 3), 1 / 3), "over 3 places and 3 releases"),
        (np.full((3, 3), 0.3), "one whose rows are distributions"),
        (np.array([[1.5, -0.5, 0], [0, 1, 0], [0, 0, 1]]), "one whose rows are distributions"),
        (np.array([[np.nan, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]), "one whose rows are distributions"),
    ],
)
@pytest.mark.parametrize("adversary", ["filter", "window"])
def test_a_policy_whose_tables_are_no_distributions_is_refused(adversary, table, match):
    profile = MarkovProfile.from_matrix(stochastic(1, 3, 3))
    with pytest.raises(ParameterError, match=match):
        attack(Always(table), profile, adversary=adversary, privacy=HAMMING, accesses=3)


def test_the_distribution_of_a_policy_cannot_be_carried():
    run = Run(Always(stochastic(1, 3, 3)), MarkovProfile.from_matrix(stochastic(1, 3, 3)), privacy=HAMMING, accesses=3)
    with pytest.raises(ParameterError, match="a Mechanism or a Codebook"):
        carry(run)
