"""Adversaries who believe another profile than the true one, against enumeration of both."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek import MarkovProfile, Mechanism, ParameterError, PeriodicProfile, Places, Scenario, evaluate
from hideseek.adversary import Adversary, attack
from tests.oracles.hidden_markov import Oracle
from tests.support.codebooks import arbitrary, chain, made, metric, second_order
from tests.support.policies import Echo

TIE = 1e-6  # guesses that are worse by less, as a share of the largest error, count as equally good
CASES = {
    "one release remembered": (Scenario.past_present(1), chain(3, 2), chain(3, 40), 3),
    "way": (Scenario.past_present(1, protect="way"), chain(2, 4), chain(2, 41), 4),
    "between": (Scenario.in_between(2), chain(2, 6), chain(2, 42), 3),
    "next": (Scenario.present_future(), chain(2, 9), chain(2, 43), 2),
    "another order": (Scenario.past_present(1), chain(2, 16), second_order(2, 44), 4),
    "order two": (Scenario.past_present(1), second_order(2, 16), chain(2, 45), 4),
    "time of day": (
        Scenario.past_present(1),
        PeriodicProfile(np.random.default_rng(19).dirichlet(np.ones(2), (3, 2)), np.arange(3), start=1),
        chain(2, 46),
        4,
    ),
}


def guess_of(oracle, masses, largest):
    """The best guess for these masses; of equally good ones the likeliest."""
    guesses = list(itertools.product(range(len(oracle.D)), repeat=len(next(iter(masses)))))
    errors = [sum(mass * oracle.error_of(guess, truth) for truth, mass in masses.items()) for guess in guesses]
    near = min(errors) + TIE * largest * sum(masses.values())
    good = [guess for guess, error in zip(guesses, errors, strict=True) if error <= near]
    return max(good, key=lambda guess: masses.get(guess, 0.0))


def by_enumeration(truth, belief, name, window=None):
    """Error and hit rate where guesses follow one oracle and truths another; nothing is impossible for the first."""
    (told, count), (thought, _) = truth.told(name, window), belief.told(name, window)
    error = hit = 0.0
    for key, masses in told.items():
        guess = guess_of(belief, thought[key], truth.D.max() * len(next(iter(masses))))
        error += sum(mass * truth.error_of(guess, place) for place, mass in masses.items())
        hit += masses.get(guess, 0.0)
    return error / count, hit / count


@pytest.mark.parametrize("name", CASES)
def test_the_guesses_of_a_misled_adversary_are_those_of_enumeration(name):
    scenario, profile, other, accesses = CASES[name]
    codebook, D = arbitrary(profile.places, scenario), metric(profile.places)
    truth, belief = (Oracle(codebook, one, D, accesses) for one in (profile, other))
    for window in (None, 0, 1):
        found = attack(codebook, profile, adversary="window", accesses=accesses, window=window, believes=other)
        assert (found, found.hit_rate) == pytest.approx(by_enumeration(truth, belief, "window", window), abs=1e-9)
        assert found.exact
    for adversary in ("filter", "smoother", "predictor", *["in_between"] * (name == "between")):
        found = attack(codebook, profile, adversary=adversary, accesses=accesses, believes=other)
        assert (found, found.hit_rate) == pytest.approx(by_enumeration(truth, belief, adversary), abs=1e-9), adversary
        assert found.exact


@pytest.mark.parametrize("name", CASES)
def test_who_believes_the_truth_has_the_errors_of_who_knows_it(name):
    scenario, profile, _, accesses = CASES[name]
    codebook = arbitrary(profile.places, scenario)
    for adversary in Adversary:
        if adversary is Adversary.IN_BETWEEN and name != "between":
            continue
        known, believed = (
            attack(codebook, profile, adversary=adversary, accesses=accesses, believes=one) for one in (None, profile)
        )
        assert believed == pytest.approx(known, abs=TIE * metric(profile.places).max() * 2)
        assert believed.hit_rate == pytest.approx(known.hit_rate, abs=1e-12)


@given(seed=st.integers(0, 10**6), zeros=st.booleans())
def test_a_wrong_belief_never_makes_the_error_smaller(seed, zeros):
    """Bayes: no guesses beat those by the true distribution. The belief may hold impossible what happens."""
    generator = np.random.default_rng(seed)
    profile, table = chain(3, seed), generator.dirichlet(np.ones(3), 3)
    matrix = generator.dirichlet(np.ones(3), 3)
    if zeros:  # from 0 to 1 to 2 to 0, and every release is the truth
        table, matrix = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    other = MarkovProfile.from_matrix(matrix)
    for adversary in ("window", "filter", "smoother", "predictor"):
        words = {"adversary": adversary, "privacy": metric(3, seed), "accesses": 4}
        least = attack(Mechanism(table), profile, **words)
        assert least.exact
        assert attack(Mechanism(table), profile, **words, believes=other) >= least - 1e-12, adversary


def pieces_of(releases, chain_of, table):
    """A run cut where the releases so far become impossible: for each access, the paths of its piece with their odds,
    given the releases up to the access and all of the piece, and at which place of the paths it stands.

    A piece after the first begins with the long-run distribution, and its first release says nothing.
    """
    places, found, start = range(chain_of.places), [], 0

    def odds(start, stop):
        masses = defaultdict(float)
        for path in itertools.product(places, repeat=stop - start + 1):
            odd = chain_of.stationary[path[0]]
            for a, b in itertools.pairwise(path):
                odd *= chain_of.transition[a, b]
            for place, release in list(zip(path, releases[start : stop + 1], strict=True))[1 if start else 0 :]:
                odd *= table[place, release]
            if odd > 0:
                masses[path] = odd
        return masses

    so_far = []
    for n in range(len(releases)):
        masses = odds(start, n)
        if not masses:
            start, masses = n, odds(n, n)
        so_far.append((start, masses))
    for n, (begin, masses) in enumerate(so_far):
        end = max(k for k, (other, _) in enumerate(so_far) if other == begin)
        found.append((masses, so_far[end][1], n - begin))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_where_releases_are_impossible_everything_so_far_is_forgotten(seed):
    """Some moves are impossible by what is believed, and happen."""
    generator, accesses = np.random.default_rng(seed), 4
    profile = MarkovProfile.from_matrix(generator.dirichlet(np.ones(3), 3))
    other = MarkovProfile.from_matrix([[0.0, 0.8, 0.2], [1.0, 0.0, 0.0], [0.3, 0.0, 0.7]])
    table = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.4, 0.6]])
    D, truth = generator.random((3, 3)) * (1 - np.eye(3)), defaultdict(lambda: defaultdict(float))
    for path in itertools.product(range(3), repeat=accesses + 1):
        for releases in itertools.product(range(3), repeat=accesses):
            chance = profile.stationary[path[0]] * np.prod(
                [profile.transition[a, b] for a, b in itertools.pairwise(path)]
            )
            truth[releases][path] += chance * np.prod([table[a, r] for a, r in zip(path, releases, strict=False)])
    errors = dict.fromkeys(("filter", "smoother", "viterbi", "predictor"), 0.0)
    cut = 0.0
    for releases, paths in truth.items():
        if not sum(paths.values()):
            continue
        cut += sum(paths.values()) * any(
            begin for begin in np.diff([own[2] for own in pieces_of(releases, other, table)]) < 1
        )
        for n, (so_far, whole, at) in enumerate(pieces_of(releases, other, table)):
            here, after, likeliest = np.zeros(3), np.zeros(3), max(whole.values()) * (1 - 1e-9)
            for path, odd in so_far.items():
                here[path[-1]] += odd
            for path, odd in whole.items():
                after[path[at]] += odd
            best = min(path for path, odd in whole.items() if odd >= likeliest)[at]
            guesses = {name: (D @ belief).argmin() for name, belief in (("filter", here), ("smoother", after))}
            guesses |= {"viterbi": best, "predictor": (D @ (here @ other.transition)).argmin()}
            for name, guess in guesses.items():
                later = name == "predictor"
                errors[name] += sum(mass * D[guess, path[n + later]] for path, mass in paths.items()) / accesses
    assert cut > 0.01
    for name, error in errors.items():
        found = attack(Mechanism(table), profile, adversary=name, privacy=D, accesses=accesses, believes=other)
        assert found == pytest.approx(error, abs=1e-9), name


def test_after_an_impossible_window_the_guess_is_that_of_who_sees_nothing():
    profile = MarkovProfile.from_matrix([[0.2, 0.3, 0.5], [0.4, 0.4, 0.2], [0.5, 0.25, 0.25]])
    other = MarkovProfile.from_matrix(np.roll(np.eye(3), 1, axis=1))  # from 0 to 1 to 2 to 0
    truthful, differ = Mechanism(np.eye(3)), 1 - np.eye(3)
    words = {"adversary": "window", "window": 1, "privacy": differ, "accesses": 50}
    found = attack(truthful, profile, **words, believes=other)
    # after another move than these, the first of three equally likely places is guessed; the first access has no move
    moves = profile.stationary[:, None] * profile.transition * (1 - other.transition)
    assert found == pytest.approx(moves[:, 1:].sum() * 49 / 50, abs=1e-12)
    assert found.hit_rate == pytest.approx(1 - found, abs=1e-12)
    assert attack(truthful, profile, **words) == 0


def test_simulated_errors_of_the_misled_agree_with_the_exact_ones(monkeypatch):
    profile, other, table = chain(3, 50), chain(3, 51), np.random.default_rng(5).dirichlet(np.ones(3), 3)
    words = {"privacy": metric(3), "accesses": 5, "believes": other}
    exact = {name: attack(Mechanism(table), profile, adversary=name, **words) for name in ("filter", "smoother")}
    monkeypatch.setattr("hideseek.adversary.sequences.ENUMERATED", 2)
    for name, value in exact.items():
        found = attack(Mechanism(table), profile, adversary=name, **words, walks=4000, seed=1)
        assert not found.exact
        half = (found.interval[1] - found.interval[0]) / 2
        assert abs(found - value) <= 2 * half  # four standard errors


@pytest.mark.parametrize("window", [0, 1])
def test_a_window_on_a_policy_is_guessed_by_what_is_believed(window):
    profile, other, table = chain(2, 60), chain(2, 61), np.random.default_rng(6).dirichlet(np.ones(2), 2)
    policy = Echo(table, table[::-1])
    words = {"adversary": "window", "window": window, "privacy": metric(2), "accesses": 6}
    known = attack(policy, profile, **words)
    assert attack(policy, profile, **words, believes=profile) == pytest.approx(known, abs=TIE)
    assert attack(policy, profile, **words, believes=other) >= known - 1e-12


def test_a_label_of_misled_adversaries_has_their_errors_and_the_true_ceiling():
    profile, other = chain(3, 2), chain(3, 70)
    codebook = made(profile, Scenario.past_present(1))
    known, misled = (evaluate(codebook, profile, accesses=4, believes=one) for one in (None, other))
    for name, error in misled.errors.items():
        assert error == attack(codebook, profile, adversary=name, accesses=4, believes=other), name
        if name != "viterbi":
            assert error >= known.errors[name] - 1e-12
    for name in ("prior_risk", "ceiling", "quality_loss", "worst_loss", "over_budget", "worst_loss_given_all"):
        assert getattr(misled, name) == getattr(known, name)
    assert (known.misled, misled.misled) == (False, True)
    both = evaluate(codebook, profile, accesses=4, believes=other, beside=codebook)
    assert both.gain == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    "other", [chain(2), MarkovProfile.from_matrix(np.full((3, 3), 1 / 3), Places([1, 2, 3], [1, 2, 3]))]
)
def test_a_belief_about_other_places_is_refused(other):
    regions = Places([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    profile = MarkovProfile.from_matrix([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]], regions)
    with pytest.raises(ParameterError, match="'believes' parameter of attack must be one over the same 3 places"):
        attack(Mechanism(np.eye(3)), profile, adversary="filter", privacy=1 - np.eye(3), believes=other)
