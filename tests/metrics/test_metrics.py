"""Metrics over vectors of places, by hand and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pyproj import Geod

from hideseek import Game, Grid, MarkovProfile, Mechanism, ParameterError, Places, Scenario, design, plan
from hideseek.adversary import attack, correlation_aware_error
from hideseek.metrics import (
    distance,
    from_function,
    from_matrix,
    hamming,
    maximum,
    minimum,
    sensitive,
    sensitive_transitions,
    speed,
    squared,
    tolerant,
    total,
)
from hideseek.planning import BeliefGame

NOTHING = np.empty(0, np.int64)
D = np.array([[0, 1, 4], [2, 0, 3], [5, 6, 0.0]])
vectors = arrays(np.int64, st.tuples(st.integers(1, 5), st.just(2)), elements=st.integers(0, 2))


def by_hand(function, left, right):
    return [[function(tuple(a), tuple(b)) for b in right.tolist()] for a in left.tolist()]


@given(vectors, vectors)
def test_aggregates_follow_their_definitions(left, right):
    base = from_matrix(D)
    for metric, combine in ((total, sum), (minimum, min), (maximum, max)):
        expected = by_hand(
            lambda a, b, combine=combine: combine(D[x, y] for x, y in zip(a, b, strict=True)), left, right
        )
        np.testing.assert_allclose(metric(base).between(left, right, NOTHING), expected)
    np.testing.assert_allclose(hamming().between(left, right, NOTHING), by_hand(lambda a, b: a != b, left, right))
    counted = by_hand(lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)), left, right)
    np.testing.assert_allclose(total(hamming()).between(left, right, NOTHING), counted)


@given(vectors, vectors)
def test_weighted_positions(left, right):
    expected = by_hand(lambda a, b: 3 * D[a[0], b[0]] + 0.5 * D[a[1], b[1]], left, right)
    np.testing.assert_allclose(total(from_matrix(D), weights=(3, 0.5)).between(left, right, NOTHING), expected)


@given(vectors, vectors)
def test_sensitive_places_weigh_by_the_truth(left, right):
    weights = {1: 5.0, 2: 0.5}
    whole = sensitive(hamming(), weights)
    expected = by_hand(lambda a, b: (a != b) * max(weights.get(y, 1) for y in b), left, right)
    np.testing.assert_allclose(whole.between(left, right, NOTHING), expected)
    each = total(sensitive(from_matrix(D), weights))
    expected = by_hand(lambda a, b: sum(D[x, y] * weights.get(y, 1) for x, y in zip(a, b, strict=True)), left, right)
    np.testing.assert_allclose(each.between(left, right, NOTHING), expected)


@given(vectors, vectors)
def test_tolerant_places_divide_by_the_truth(left, right):
    metric = tolerant(from_matrix(D), [2.0, 1.0, 4.0])
    expected = by_hand(
        lambda a, b: sum(D[x, y] for x, y in zip(a, b, strict=True)) / min((2, 1, 4)[x] for x in a), left, right
    )
    np.testing.assert_allclose(metric.between(left, right, NOTHING), expected)


def test_bank_then_official_and_the_hospital_door():
    bank, official, hospital = 0, 1, 2
    metric = sensitive_transitions(hamming(), {(bank, official): 10}, entering={hospital: 4}, leaving={hospital: 7})
    truths = np.array([[bank, official], [official, bank], [bank, hospital], [hospital, bank], [hospital, hospital]])
    weights = metric.between(np.array([[1, 1]]), truths, NOTHING)[0]
    assert weights.tolist() == [10, 1, 4, 7, 1]
    milder = sensitive_transitions(hamming(), entering={hospital: 0.2})
    assert milder.between(np.array([[1, 1]]), truths, NOTHING)[0].tolist() == [1, 1, 0.2, 1, 1]


def test_geodesic_distances_are_pyproj_s():
    places = Places([37.77, 37.80, -33.0], [-122.42, -122.27, 151.0])
    table = distance(places).between(np.arange(3)[:, None], np.arange(3)[:, None], NOTHING)
    expected = Geod(ellps="WGS84").inv(-122.42, 37.77, 151.0, -33.0)[2]
    assert table[0, 2] == pytest.approx(expected)
    assert (table.diagonal() == 0).all()
    np.testing.assert_allclose(table, table.T)
    assert squared(distance(places)).between(np.array([[0]]), np.array([[2]]), NOTHING)[0, 0] == pytest.approx(
        expected**2
    )


def test_units_follow_the_metric():
    grid = Grid(0, 1, 0, 1, rows=2, columns=2)
    assert (distance(grid).unit, squared(distance(grid)).unit, speed(grid).unit) == ("m", "m²", "m per step")
    assert total(squared(distance(grid))).name == "total squared distance"


def test_a_first_place_makes_no_sensitive_move_and_has_the_last_weight():
    alone = np.array([[0]]), np.array([[0], [1]]), NOTHING
    assert sensitive_transitions(hamming(), {(0, 1): 9}, entering={1: 5}).between(*alone).tolist() == [[0, 1]]
    assert total(hamming(), weights=[7, 3]).between(*alone).tolist() == [[0, 3]]


def test_a_first_place_has_no_speed():
    line = Places([0.0, 0.0], [0.0, 1.0])
    assert not speed(line).between(np.array([[0], [1]]), np.array([[0], [1]]), NOTHING).any()


def test_speed_compares_displacements_with_what_was_exposed():
    line = Places([0.0, 0.0, 0.0], [0.0, 0.1, 0.3])
    degree = Geod(ellps="WGS84").inv(0, 0, 0.1, 0)[2]
    found = speed(line).between(np.array([[0, 1], [0, 2]]), np.array([[0], [2]]), np.array([1]))
    # true steps: 1 and 3 tenths; exposed from place 1: to 0 is 1 tenth, to 2 is 2 tenths
    np.testing.assert_allclose(found, np.array([[0, 1], [2, 1]]) * degree, rtol=1e-9, atol=1e-6)


def test_a_function_may_look_at_what_was_seen():
    metric = from_function(lambda q, o, seen: float(o[0] == seen[-1]), name="repeats", unit="times")
    assert metric.between(np.array([[0]]), np.array([[0], [1]]), np.array([5, 1])).tolist() == [[0, 1]]
    assert (metric.name, metric.unit) == ("repeats", "times")
    bound = from_function(lambda g, a, table=D: table[g[0], a[0]])
    assert bound.between(np.array([[0]]), np.array([[2]]), NOTHING).tolist() == [[4]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: from_matrix([[0, np.nan], [1, 0]]),
        lambda: from_matrix([0, 1]),
        lambda: sensitive(hamming(), {0: -1}),
        lambda: sensitive(hamming(), {0: np.inf}),
        lambda: sensitive(hamming(), {-1: 2}),
        lambda: tolerant(hamming(), {0: 0}),
        lambda: sensitive_transitions(hamming(), {(0, 1): np.nan}),
        lambda: total(hamming(), weights=[1, -1]),
        lambda: total(hamming(), weights=[1]).between(np.array([[0, 1]]), np.array([[0, 1]]), NOTHING),
        lambda: from_matrix(D).between(np.array([[3]]), np.array([[0]]), NOTHING),
        lambda: hamming().between(np.array([[0]]), np.array([[0, 1]]), NOTHING),
        lambda: from_function(lambda a, b: -1.0).between(np.array([[0]]), np.array([[0]]), NOTHING),
        lambda: speed(Places([0.0, 1.0], [0.0, 1.0])).between(np.array([[0]]), np.array([[0]]), np.array([1])),
    ],
)
def test_bad_metrics_are_refused(make):
    with pytest.raises(ParameterError, match=r"The '.*' parameter of .* must be"):
        make()


MAP = Places([46.50, 46.51, 46.53], [6.57, 6.57, 6.59])
CHAIN = [[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.2, 0.3, 0.5]]
BY_NAME = {"hamming": hamming(), "euclid": distance(MAP), "squared": total(squared(distance(MAP)))}
TAKERS = {
    "Game.from_scenario": lambda profile, d: Game.from_scenario(
        profile, scenario=Scenario.sporadic(), privacy=d, quality=d
    ).error.tolist(),
    "BeliefGame": lambda profile, d: BeliefGame.of(profile, privacy=d, quality=d, budget=1e6).error.tolist(),
    "plan": lambda profile, d: plan(profile, privacy=d, quality=d, budget=1e6, outlook="plain").bound,
    "attack": lambda profile, d: attack(Mechanism(np.eye(3)), profile, adversary="window", privacy=d, accesses=2),
    "correlation_aware_error": lambda profile, d: correlation_aware_error(profile, Mechanism(np.eye(3)), privacy=d),
    "design": lambda profile, d: design(
        profile, scenario=Scenario.sporadic(), privacy=d, quality=d, budget=0.5
    ).privacy.recipe[0],
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_stands_for_its_metric_wherever_one_is_taken(taker, name):
    profile = MarkovProfile.from_matrix(CHAIN, MAP)
    assert TAKERS[taker](profile, name) == TAKERS[taker](profile, BY_NAME[name])


@pytest.mark.parametrize("taker", TAKERS)
def test_an_unknown_name_of_a_metric_is_refused(taker):
    with pytest.raises(ParameterError, match=r"'privacy' .* one of 'hamming', 'euclid', 'squared'. Got 'metres'"):
        TAKERS[taker](MarkovProfile.from_matrix(CHAIN, MAP), "metres")


@pytest.mark.parametrize("name", ["euclid", "squared"])
def test_metres_by_name_need_the_regions_of_the_profile(name):
    with pytest.raises(ParameterError, match=r"'privacy' parameter of Game.from_scenario .* the profile has none"):
        TAKERS["Game.from_scenario"](MarkovProfile.from_matrix(CHAIN), name)


def test_a_metric_shows_its_name_and_unit_and_no_matrix():
    assert repr(distance(MAP)) == "Metric('distance', in m)"
    assert repr(hamming()) == "Metric('Hamming')"
