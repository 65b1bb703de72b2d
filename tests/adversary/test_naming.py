"""How often a place is named: with the truth exposed, with nothing exposed, and from draws against a filter apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from hideseek import MarkovProfile, Mechanism, ParameterError, Scenario, design
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.naming import namings, share_of

MOVES = np.array([[0.85, 0.1, 0.05], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
PROFILE = MarkovProfile.from_matrix(MOVES)
HAMMING = 1 - np.eye(3)


def rates(table, accesses, walks=10):
    found = namings(Run(Mechanism(table), PROFILE, privacy=HAMMING, accesses=accesses), walks=walks)
    return [float(one.there) for one in found], [float(one.elsewhere) for one in found]


def test_the_truth_names_every_place_and_only_when_the_person_is_there():
    for accesses in (4, 30):  # enumerated, and simulated
        there, elsewhere = rates(np.eye(3), accesses)
        assert there == pytest.approx([1, 1, 1])
        assert elsewhere == pytest.approx([0, 0, 0], abs=1e-12)


def test_where_nothing_is_revealed_the_usual_place_is_named_always():
    for accesses in (4, 30):
        assert rates(np.full((3, 3), 1 / 3), accesses) == ([1, 0, 0], [1, 0, 0])


def test_where_all_walks_agree_the_interval_is_the_rate_but_for_rounding():
    generator = np.random.default_rng(0)
    for share, whole in generator.random((200, 2)):
        rate = share_of(np.full(20, share * whole), np.full(20, whole), None)
        assert rate.interval == pytest.approx((share, share), abs=1e-12)
        assert rate == pytest.approx(share, abs=1e-12)


def test_rates_are_those_of_draws_against_a_filter_of_its_own():
    """Counts of names on 2,000 walks of 20 accesses; five standard errors, as accesses of a walk are not independent
    (their effective number is taken to be a quarter)."""
    table, generator = np.array([[0.6, 0.2, 0.2], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]]), np.random.default_rng(0)
    counts, totals = np.zeros((2, 3)), np.zeros((2, 3))
    for _ in range(2000):
        belief, place = PROFILE.stationary, generator.choice(3, p=PROFILE.stationary)
        for _ in range(20):
            belief = belief * table[:, generator.choice(3, p=table[place])]
            belief /= belief.sum()
            for other in range(3):
                totals[int(other != place), other] += 1
                counts[int(other != place), other] += belief.argmax() == other
            belief, place = belief @ MOVES, generator.choice(3, p=MOVES[place])
    drawn = counts / totals
    error = np.sqrt(drawn * (1 - drawn) / (totals / 4))
    assert (np.abs(np.array(rates(table, 20, walks=400)) - drawn) < 5 * error + 0.01).all()


def test_intervals_are_as_wide_as_the_rates_scatter():
    """A run of 9 accesses is enumerated, and 40 times simulated: the scatter of 40 values is known to a third."""
    table = np.array([[0.6, 0.2, 0.2], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
    run = Run(Mechanism(table), PROFILE, privacy=HAMMING, accesses=9)
    exact = namings(run, walks=2)
    assert all(one.there.exact for one in exact)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hideseek.adversary.sequences.ENUMERATED", 1)
        found = [namings(run, walks=100, seed=seed) for seed in range(40)]
    for name in ("there", "elsewhere"):
        for place, known in enumerate(exact):
            rates = [getattr(one[place], name) for one in found]
            half = np.mean([rate.interval[1] - rate.interval[0] for rate in rates]) / 2
            assert half / t.ppf(0.975, 99) == pytest.approx(np.std(rates, ddof=1), rel=0.35)
            assert abs(np.mean(rates) - getattr(known, name)) < 3.5 * np.std(rates) / np.sqrt(40)


def test_a_codebook_of_places_has_rates_and_one_of_ways_is_refused():
    given = {"privacy": HAMMING, "quality": HAMMING, "budget": 0.3, "workers": 1}
    codebook = design(PROFILE, Scenario.past_present(1), **given)
    found = namings(Run(codebook, PROFILE, accesses=5), walks=10)
    assert all(0 <= one.elsewhere <= 1 and 0 <= one.there <= 1 for one in found)
    assert sum(one.share * one.there for one in found) > PROFILE.stationary.max() - 1e-9
    trajectory = design(PROFILE, Scenario.past_present(1, protect="way"), **given)
    with pytest.raises(ParameterError, match="protects the current place"):
        namings(Run(trajectory, PROFILE, accesses=5), walks=10)
