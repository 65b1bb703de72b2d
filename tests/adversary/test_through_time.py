"""Adversaries through time, against plain enumeration of all true paths and all exposed sequences."""

from __future__ import annotations

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, Mechanism, ParameterError, PeriodicProfile, Scenario
from hideseek.adversary import Estimate, attack, correlation_aware_error, sequences
from hideseek.adversary import window as carrying
from hideseek.codebook.weights import Table
from hideseek.errors import CodebookError
from tests.oracles.hidden_markov import Oracle
from tests.support.codebooks import arbitrary, chain, made, metric, second_order

LASTING = ("filter", "smoother", "viterbi", "predictor", "in_between")


def case(name, scenario, profile, accesses):
    return pytest.param(scenario, profile, accesses, id=name)


DESIGNED = [
    case("sporadic", Scenario.sporadic(), chain(3, 1), 3),
    case("one release remembered", Scenario.past_present(1), chain(3, 2), 3),
    case("two releases remembered", Scenario.past_present(2), chain(2, 3), 5),
    case("transition", Scenario.past_present(1, protect="way"), chain(3, 4), 3),
    case("in between", Scenario.in_between(2), chain(2, 6), 3),
    case("in between, of three", Scenario.in_between(2), chain(3, 7), 2),
    case("rare accesses, far back", Scenario(target=(0,), seen=(-3,), known=(-3, 0), every=3), chain(2, 8), 3),
    case("present and future", Scenario.present_future(), chain(2, 9), 2),
    case("planned route", Scenario.present_future(planned=True), chain(2, 10), 2),
    case("two at a time", Scenario(target=(0, 1), seen=(-1,), release=(0, 1), causal=True), chain(2, 11), 2),
    case("two at a time, rarely", Scenario(target=(0,), release=(0, 1), every=4), chain(2, 12), 2),
    case("the next place", Scenario(target=(0, 1), seen=(-1,), known=(0,)), chain(3, 13), 3),
    case("far ahead", Scenario(target=(2,), seen=(-1,), known=(0,)), chain(2, 14), 3),
    case("known ahead", Scenario(target=(0,), seen=(-2, -1), release=(0, 1), known=(0, 1)), chain(2, 15), 3),
    case("order two", Scenario.past_present(1), second_order(2, 16), 4),
    case("order two, transition", Scenario.past_present(1, protect="way"), second_order(2, 17), 4),
    case("order two, in between", Scenario.in_between(2), second_order(2, 18), 3),
]
ARBITRARY = [
    *DESIGNED,
    case("long transition", Scenario.past_present(2, protect="way"), chain(2, 5), 4),
    case(
        "time of day",
        Scenario.past_present(1),
        PeriodicProfile(np.random.default_rng(19).dirichlet(np.ones(2), (3, 2)), np.arange(3), start=1),
        4,
    ),
]


def agree(codebook, profile, scenario, accesses):
    oracle = Oracle(codebook, profile, metric(profile.places), accesses)
    for window in (None, 0, 1, 2):
        found = attack(codebook, profile, adversary="window", accesses=accesses, window=window)
        assert (found, found.hit_rate) == pytest.approx(oracle.adversary("window", window), abs=1e-9), window
        assert found.exact
    for name in LASTING:
        if name == "in_between" and scenario.every == len(scenario.release):
            with pytest.raises(ParameterError, match="no step between"):
                attack(codebook, profile, adversary=name, accesses=accesses)
            continue
        found = attack(codebook, profile, adversary=name, accesses=accesses)
        assert (found, found.hit_rate) == pytest.approx(oracle.adversary(name), abs=1e-9), name
        assert found.exact
        assert found.interval == (found, found)


@pytest.mark.parametrize(("scenario", "profile", "accesses"), DESIGNED)
def test_every_adversary_agrees_with_enumeration(scenario, profile, accesses):
    agree(made(profile, scenario), profile, scenario, accesses)


@pytest.mark.parametrize(("scenario", "profile", "accesses"), ARBITRARY)
def test_every_adversary_of_any_codebook_agrees_with_enumeration(scenario, profile, accesses):
    agree(arbitrary(profile.places, scenario), profile, scenario, accesses)


@pytest.mark.parametrize("seed", range(3))
def test_a_mechanism_agrees_with_enumeration(seed):
    """More releases than places, and errors that are no distance."""
    generator = np.random.default_rng(seed)
    profile, table, D = chain(2, seed), Mechanism(generator.dirichlet(np.ones(3), 2)), generator.random((2, 2))
    oracle = Oracle(table, profile, D, 4)
    for name in ("window", "filter", "smoother", "viterbi", "predictor"):
        found = attack(table, profile, adversary=name, privacy=D, accesses=4)
        assert (found, found.hit_rate) == pytest.approx(oracle.adversary(name), abs=1e-9), name


def test_people_who_move_where_nobody_went_get_the_row_for_the_unseen():
    """The codebook knows no way from 0 to 2; the person takes it."""
    trained = MarkovProfile.from_matrix([[0.6, 0.4, 0.0], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    codebook = made(trained, Scenario.past_present(1, protect="way"))
    profile = chain(3, 20)
    oracle = Oracle(codebook, profile, metric(3), 3)
    for name in ("window", "filter", "smoother", "viterbi", "predictor"):
        found = attack(codebook, profile, adversary=name, accesses=3)
        assert (found, found.hit_rate) == pytest.approx(oracle.adversary(name), abs=1e-9), name


def test_equally_good_guesses_and_equally_likely_paths_are_chosen_alike():
    """A chain and a mechanism with symmetries; of equally likely paths the first one counts."""
    profile = MarkovProfile.from_matrix([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    table = Mechanism([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    D = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    oracle = Oracle(table, profile, D, 3)
    for name in ("filter", "smoother", "viterbi", "predictor"):
        found = attack(table, profile, adversary=name, privacy=D, accesses=3)
        assert (found, found.hit_rate) == pytest.approx(oracle.adversary(name), abs=1e-9), name


@pytest.mark.parametrize("k", [0, 1, 2])
def test_the_window_s_error_is_the_certificate_of_the_codebook(k):
    profile = chain(4, 21)
    codebook = made(profile, Scenario.past_present(k))
    deployed = codebook.deployed
    assert attack(codebook, profile, adversary="window", accesses=deployed.accesses) == pytest.approx(
        deployed.privacy, abs=1e-9
    )
    mean = [attack(codebook, profile, adversary="window", accesses=n) for n in range(1, codebook.repeating + 1)]
    totals = [0.0, *(n * error for n, error in enumerate(mean, start=1))]
    for stage, (before, after) in zip(codebook.stages, itertools.pairwise(totals), strict=False):
        found = stage.under(stage.prior, codebook.privacy, codebook.quality)
        assert after - before == pytest.approx(found.weight @ found.privacy, abs=1e-9)


def test_the_attack_on_a_memoryless_mechanism_is_the_paper_s():
    profile, D = chain(4, 22), metric(4, 22)
    table = Mechanism(np.random.default_rng(22).dirichlet(np.ones(4), 4))
    first = attack(table, profile, adversary="window", privacy=D, accesses=1, window=1)
    for accesses in (2, 30):
        mean = attack(table, profile, adversary="window", privacy=D, accesses=accesses, window=1)
        later = (accesses * mean - first) / (accesses - 1)
        assert later == pytest.approx(correlation_aware_error(profile, table, privacy=D), abs=1e-12)


@pytest.mark.parametrize("name", ["window", "filter", "smoother", "viterbi"])
@pytest.mark.parametrize("accesses", [3, 60])
def test_the_truth_gives_everything_away_and_a_constant_nothing(name, accesses):
    profile, D = chain(3, 23), metric(3, 23)
    truth = attack(Mechanism(np.eye(3)), profile, adversary=name, privacy=D, accesses=accesses, walks=10)
    assert (truth, truth.hit_rate) == pytest.approx((0, 1), abs=1e-12)
    constant = attack(Mechanism(np.ones((3, 1))), profile, adversary=name, privacy=D, accesses=accesses)
    if name != "viterbi":  # the likeliest path is not where one errs the least
        assert constant == pytest.approx((D @ profile.stationary).min(), abs=1e-12)
    assert constant.exact


def test_the_predictor_of_a_truthful_mechanism_knows_the_present():
    profile, D = chain(3, 24), metric(3, 24)
    found = attack(Mechanism(np.eye(3)), profile, adversary="predictor", privacy=D, accesses=5)
    assert found == pytest.approx(profile.stationary @ (profile.transition @ D).min(axis=1), abs=1e-12)


@pytest.mark.parametrize(
    ("scenario", "places"),
    [(Scenario.past_present(1), 3), (Scenario.in_between(2), 2), (Scenario.present_future(), 2)],
    ids=["one release", "in between", "present and future"],
)
def test_simulation_agrees_with_enumeration(monkeypatch, scenario, places):
    """Within 2.5 intervals, nearly five standard errors: chance would fail one of these comparisons in 1e5 suites."""
    profile = chain(places, 25)
    codebook = made(profile, scenario)
    names = [name for name in LASTING if name != "in_between" or scenario.every > len(scenario.release)]
    exact = {name: attack(codebook, profile, adversary=name, accesses=4) for name in names}
    monkeypatch.setattr(sequences, "ENUMERATED", 0)
    monkeypatch.setattr(sequences, "AT_ONCE", 300)  # several batches, the last one short
    for name in names:
        found = attack(codebook, profile, adversary=name, accesses=4, walks=1000, seed=7)
        assert not found.exact
        for one, other in ((found, exact[name]), (found.hit_rate, exact[name].hit_rate)):
            low, high = one.interval
            assert low < one < high
            assert abs(one - other) <= 2.5 * (high - low) / 2, name
        assert attack(codebook, profile, adversary=name, accesses=4, walks=1000, seed=7) == found
        assert attack(codebook, profile, adversary=name, accesses=4, walks=1000, seed=8) != found


@pytest.mark.parametrize(("name", "truthful"), [("filter", 0.2), ("predictor", 1.0)])
def test_the_interval_holds_the_truth_as_often_as_it_says(monkeypatch, name, truthful):
    """Of 150 intervals of 95 %, fewer than 130 or all would hold it by chance in less than 1 of 1000 suites."""
    profile, D = chain(3, 26), metric(3, 26)
    law = np.random.default_rng(26).dirichlet(np.ones(3), 3)
    table = Mechanism(truthful * np.eye(3) + (1 - truthful) * law)
    exact = attack(table, profile, adversary=name, privacy=D, accesses=4)
    monkeypatch.setattr(sequences, "ENUMERATED", 0)
    monkeypatch.setattr(sequences, "AT_ONCE", 30)  # batches that repeated each other would make it too narrow
    held = 0
    for seed in range(150):
        low, high = attack(table, profile, adversary=name, privacy=D, accesses=4, walks=60, seed=seed).interval
        held += low <= exact <= high
    assert 130 <= held < 150


def test_more_memory_never_errs_more():
    profile = chain(3, 27)
    codebook = made(profile, Scenario.past_present(1))
    errors = [attack(codebook, profile, adversary="window", accesses=5, window=k) for k in range(6)]
    assert all(more <= less + 1e-12 for less, more in itertools.pairwise(errors))
    assert errors[4] == errors[5] == pytest.approx(attack(codebook, profile, adversary="filter", accesses=5), abs=1e-12)


def test_a_settled_distribution_ends_the_work_early_and_changes_nothing(monkeypatch):
    profile = chain(3, 28)
    codebook = made(profile, Scenario.past_present(1))
    short = attack(codebook, profile, adversary="window", accesses=400)
    monkeypatch.setattr(carrying, "SETTLED", -1.0)
    assert attack(codebook, profile, adversary="window", accesses=400) == pytest.approx(short, abs=1e-10)


def test_first_accesses_count_even_from_the_same_distribution():
    profile, D = chain(3, 28), metric(3)
    several = [arbitrary(3, Scenario.sporadic(), seed).stages[0] for seed in range(4)]
    stages = tuple(replace(stage, then=min(n + 1, 3)) for n, stage in enumerate(several))
    codebook = replace(arbitrary(3, Scenario.sporadic()), stages=stages)
    tables = [Mechanism(stages[min(n, 3)].tables[0].matrix) for n in range(6)]
    errors = [attack(table, profile, adversary="window", privacy=D, accesses=1) for table in tables]
    assert len(set(errors)) == 4
    assert attack(codebook, profile, adversary="window", accesses=6) == pytest.approx(np.mean(errors), abs=1e-12)


def test_a_history_without_a_row_is_refused(monkeypatch):
    profile = chain(3, 29)
    codebook = made(profile, Scenario.past_present(1))
    stage = codebook.stages[codebook.repeating]
    table = stage.tables[0]
    seen = table.codes.astype(int) // (codebook.places + 1)
    common = stage.prior.histories[stage.prior.weight.argmax(), 0]
    keys, kept = np.c_[seen, table.codes.astype(int) % (codebook.places + 1)], seen != common
    less = Table.from_distributions(codebook.places, keys[kept], table.matrix[kept])
    stages = tuple(replace(stage, tables=(less,)) if one is stage else one for one in codebook.stages)
    for name in ("window", "filter"):
        attack(replace(codebook, stages=stages), profile, adversary=name, accesses=codebook.repeating)
        with pytest.raises(CodebookError, match="no row"):
            attack(replace(codebook, stages=stages), profile, adversary=name, accesses=codebook.repeating + 2)
    monkeypatch.setattr(sequences, "ENUMERATED", 0)
    with pytest.raises(CodebookError):
        attack(replace(codebook, stages=stages), profile, adversary="filter", accesses=codebook.repeating + 2)


def test_progress_is_told_to_the_end(monkeypatch):
    profile, D = chain(2, 30), metric(2)
    for limit, what, total in ((20_000, "sequences", 16), (0, "walks", 25)):
        monkeypatch.setattr(sequences, "ENUMERATED", limit)
        monkeypatch.setattr(sequences, "AT_ONCE", 7)
        done = []

        def progress(*call, done=done, expected=(what, total)):
            assert (call[0], call[2]) == expected
            done.append(call[1])

        attack(
            Mechanism([[0.5, 0.5], [0.0, 1.0]]),
            profile,
            adversary="filter",
            privacy=D,
            accesses=4,
            walks=25,
            progress=progress,
        )
        assert done == sorted(set(done))
        assert len(done) > 2
        assert done[-1] == total


def test_an_estimate_is_a_number():
    found = Estimate(0.5, (0.4, 0.6), hit_rate=Estimate(0.25))
    assert found == 0.5
    assert found < 0.6
    assert f"{found:.3f} {found}" == "0.500 0.5"
    assert type(found / 2) is float
    assert (found.exact, found.hit_rate.exact, found.hit_rate.interval) == (False, True, (0.25, 0.25))
    again = pickle.loads(pickle.dumps(found))
    assert (again, again.interval, again.exact, again.hit_rate) == (0.5, (0.4, 0.6), False, 0.25)


def test_what_makes_no_sense_is_refused():
    profile, D, table = chain(3, 31), metric(3), Mechanism(np.eye(3))
    codebook = made(profile, Scenario.sporadic())
    refused = [
        ("must be one of 'window', 'filter'", {"adversary": "oracle"}),
        ("as a mechanism has none of its own", {"privacy": None}),
        ("a Mechanism, a Policy or a Codebook", {"exposer": D}),
        ("one row for each of the 2 places", {"profile": chain(2)}),
        ("the 3 places of the codebook", {"exposer": codebook, "profile": chain(2)}),
        ("'accesses' parameter", {"accesses": 0}),
        ("'walks' parameter", {"walks": 1}),
        ("'seed' parameter", {"seed": -1}),
        ("'window' parameter", {"adversary": "window", "window": -1}),
        ("no adversary but 'window'", {"window": 1}),
        ("short enough to number", {"adversary": "window", "window": 50}),
        ("no step between", {"adversary": "in_between"}),
    ]
    for match, wrong in refused:
        given = {"exposer": table, "profile": profile, "adversary": "filter", "privacy": D, **wrong}
        with pytest.raises(ParameterError, match=match):
            attack(**given)


def test_a_way_too_long_for_its_probability_to_be_a_float_is_still_read():
    """Releases that reveal nothing, 800 of them: each sequence has the probability 3^-800, below any float."""
    profile = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]])
    nothing = Mechanism(np.full((3, 3), 1 / 3))
    found = attack(nothing, profile, adversary="filter", privacy=1 - np.eye(3), accesses=800, walks=4)
    assert found == pytest.approx(1 - profile.stationary.max(), rel=1e-9)


def test_an_adversary_with_a_clock_is_one_who_filters_by_hand():
    """Bayes' rule written out on walks of their own: the two means agree within four standard errors of both."""
    generator, walks, accesses = np.random.default_rng(0), 1500, 30
    rows, cycle = generator.dirichlet(np.ones(4), (3, 4)), np.array([0, 0, 1, 2, 2])
    table, metres = generator.dirichlet(np.ones(4), 4), np.abs(np.subtract.outer([0, 1, 2.5, 4], [0, 1, 2.5, 4]))
    profile = PeriodicProfile(rows, cycle)
    start = np.linalg.matrix_power(rows[0] @ rows[0] @ rows[1] @ rows[2] @ rows[2], 200)[0]
    belief, error = np.tile(start, (walks, 1)), np.zeros(walks)
    place = generator.choice(4, size=walks, p=start / start.sum())
    for access in range(accesses):
        released = np.array([generator.choice(4, p=table[own]) for own in place])
        belief = belief * table[:, released].T
        belief /= belief.sum(axis=1, keepdims=True)
        error += (belief @ metres).min(axis=1) / accesses
        move = rows[cycle[access % 5]]
        belief, place = belief @ move, np.array([generator.choice(4, p=move[own]) for own in place])
    found = attack(Mechanism(table), profile, adversary="filter", privacy=metres, accesses=accesses, walks=walks)
    apart = (error.std() / walks**0.5, (found.interval[1] - found) / 1.96)
    assert abs(found - error.mean()) < 4 * np.hypot(*apart)
