"""Markov chains, given and learned from traces."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from hideseek import Grid, MarkovProfile, ParameterError, PeriodicProfile, Places, synthetic_city
from hideseek.errors import ReducibleError
from hideseek.model import possible_trajectories
from hideseek.model.profile import regions_of
from hideseek.traces.city import BOX
from tests.support.walks import LINE, Commuter, chains, walk


@given(chains())
def test_the_long_run_distribution_stays_under_the_transitions(chain):
    np.testing.assert_allclose(chain.stationary @ chain.transition, chain.stationary, atol=1e-12)
    assert chain.stationary.sum() == pytest.approx(1)
    assert (chain.stationary > 0).all()


def test_a_closed_trace_is_counted_as_a_cycle():
    profile = MarkovProfile.fit(walk([0, 1, 1, 2, 0, 1]), LINE)
    # 0->1, 1->1, 1->2, 2->0, 0->1, and 1->0 to close
    np.testing.assert_allclose(profile.transition, [[0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    np.testing.assert_allclose(profile.stationary, [1 / 3, 1 / 2, 1 / 6])
    np.testing.assert_allclose(regions_of(profile).centres[:, 1], [0, 1, 2])


def test_a_dead_end_is_refused_with_the_place_and_the_ways_out():
    with pytest.raises(
        ReducibleError, match=r"with 1 places that are not left once entered instead\..*close=True.*smoothing"
    ) as caught:
        MarkovProfile.fit(walk([0, 1, 0, 2, 2]), LINE, close=False)
    assert caught.value.places == (2,)
    with pytest.raises(ReducibleError, match="not left once entered: 1 instead") as caught:
        MarkovProfile.from_matrix([[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]])
    assert caught.value.places == (1,)
    smoothed = MarkovProfile.fit(walk([0, 1, 0, 2, 2]), LINE, close=False, smoothing=0.1)
    visits = np.array([2, 1, 2]) / 5
    np.testing.assert_allclose(smoothed.transition[2], 0.9 * np.array([0, 0, 1]) + 0.1 * visits)


@pytest.mark.parametrize(
    ("regions", "rule"),
    [
        (Grid(10.0, 11.0, 20.0, 21.0, rows=3, columns=3), "around at least one fix. Got regions around none of 5"),
        (Grid(-0.31, 0.31, -60.0, 60.0, rows=3, columns=1), "two or more places. Got one only"),
        (LINE, "not left once entered instead"),
    ],
)
def test_an_error_of_fit_tells_nothing_about_where_the_person_was(regions, rule):
    with pytest.raises(ParameterError, match=rule) as caught:
        MarkovProfile.fit(walk([1, 2, 1, 3, 3]), regions, close=False)
    numbers = re.findall(r"[-+\d.]*\d", str(caught.value).replace("smoothing=0.01", ""))
    assert set(numbers) <= {"1", "5"}  # how many places, how many fixes


def test_two_people_who_never_meet_do_not_make_one_chain():
    both = pd.concat([walk([0, 1, 0]), walk([2, 3, 2], user="b")])
    with pytest.raises(ReducibleError):
        MarkovProfile.fit(both, LINE)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_higher_orders_count_tuples(order):
    path = [0, 1, 2, 1, 0, 1, 2, 2, 1, 0, 0, 1]
    profile = MarkovProfile.fit(walk(path), LINE, order=order)
    cyclic = path + path[: order + 1]
    counts = {}
    for k in range(len(path)):
        window = tuple(cyclic[k : k + order + 1])
        counts[window] = counts.get(window, 0) + 1
    for window, count in counts.items():
        total = sum(other for key, other in counts.items() if key[:-1] == window[:-1])
        law = profile.following(np.array([window[:-1]]), time=order)
        assert law[0, window[-1]] == pytest.approx(count / total)
    assert profile.memory == profile.order == order
    # the empirical tuples are the long-run ones on a closed walk
    for window, count in counts.items():
        assert profile.probability(window) == pytest.approx(count / len(path))


def test_the_first_places_of_a_long_memory_need_no_table_of_all_tuples():
    generator = np.random.default_rng(0)
    far = Places([0.0] * 40, list(map(float, range(40))))
    profile = MarkovProfile.fit(walk(generator.integers(0, 40, 300).tolist()), far, order=6)
    walks = profile.sample(steps=10, count=5, seed=0)
    assert all(profile.probability(path) > 0 for path in walks)


def test_second_order_sequences_sum_to_one_and_sample():
    profile = MarkovProfile.fit(walk([0, 1, 2, 1, 0, 1, 2, 2, 1, 0, 0, 1]), LINE, order=2)
    law = possible_trajectories(profile, (0, 1, 2, 3))
    assert law.probability.sum() == pytest.approx(1)
    walks = profile.sample(steps=4, count=20_000, seed=1)
    counts = pd.Series(map(tuple, walks.tolist())).value_counts(normalize=True)
    expected = dict(zip(map(tuple, law.sequences.tolist()), law.probability, strict=True))
    assert set(counts.index) <= set(expected)
    # 5 standard deviations of a binomial share: a false alarm in a million
    for path, value in expected.items():
        assert abs(counts.get(path, 0) - value) <= 5 * np.sqrt(value / 20_000)


def test_smoothing_a_second_order_chain_makes_every_tuple_possible():
    profile = MarkovProfile.fit(walk([0, 1, 0, 2, 2]), LINE, order=2, close=False, smoothing=0.2)
    assert len(profile.states) == 9
    np.testing.assert_allclose(profile.transition.sum(axis=1), 1)
    assert (profile.transition > 0).all()


CITY = synthetic_city(people=1, days=1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"step": "0min"}, "'step' parameter"),
        ({"step": "soon"}, "'step' parameter"),
        ({"step": 5}, "'step' parameter"),
        ({"order": True}, "'order' parameter"),
        ({"order": 60}, "'order' parameter"),
        ({"step": "-5min"}, "'step' parameter"),
        ({"order": 0}, "'order' parameter"),
        ({"order": 1.5}, "'order' parameter"),
        ({"smoothing": -0.1}, "'smoothing' parameter"),
        ({"smoothing": 1.0}, "'smoothing' parameter"),
        ({"smoothing": np.nan}, "'smoothing' parameter"),
        ({"regions": Grid(10, 11, 10, 11, rows=3, columns=3)}, "around at least one fix"),
        ({"regions": Grid(40, 50, -10, 0, rows=1, columns=1)}, "two or more places"),
        ({"traces": CITY.iloc[:0]}, "'traces'|empty|fix"),
        ({"traces": CITY.drop(columns="latitude")}, "latitude"),
        ({"traces": CITY.assign(latitude=95.0)}, "latitude"),
        ({"traces": CITY.assign(longitude=np.nan)}, "longitude"),
    ],
)
def test_bad_input_to_fit_is_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        MarkovProfile.fit(**({"traces": CITY, "regions": Grid(*BOX, rows=8, columns=8)} | options))


@pytest.mark.parametrize(
    "matrix", [[[0.5, 0.4], [0.5, 0.5]], [[1.0]], [[0.5, 0.5]], [[np.nan, 1], [1, 0]], [[-0.5, 1.5], [1, 0]], "chain"]
)
def test_bad_matrices_are_refused(matrix):
    with pytest.raises(ParameterError, match=r"'matrix' parameter of MarkovProfile\.from_matrix"):
        MarkovProfile.from_matrix(matrix)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PeriodicProfile.fit(CITY, Grid(*BOX, rows=8, columns=8), slots=7),
        lambda: PeriodicProfile.fit(CITY, Grid(*BOX, rows=8, columns=8), slots=0),
        lambda: PeriodicProfile.fit(CITY, Grid(*BOX, rows=8, columns=8), weight=0),
        lambda: PeriodicProfile.fit(CITY, Grid(*BOX, rows=8, columns=8)).at("25:00"),
        lambda: PeriodicProfile.fit(CITY, Grid(*BOX, rows=8, columns=8)).at("noon"),
        lambda: MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], LINE),
        lambda: MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]]).probability((0, 2)),
        lambda: regions_of(MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])),
        lambda: possible_trajectories(Commuter(), ()),
        lambda: possible_trajectories(Commuter(), (0,)).given({0: 2}, np.eye(2)),
        lambda: possible_trajectories(Commuter(), (0,)).given({0: -1}, np.eye(2)),
        lambda: possible_trajectories(Commuter(), (0,)).given({0: 0}, np.eye(1)),
        lambda: possible_trajectories(Commuter(), (0,)).at((1,)),
        lambda: possible_trajectories(Commuter(), (0,)).given({0: 1}, [[1.0, 0.0], [1.0, 0.0]]),
    ],
)
def test_other_bad_input_is_refused(make):
    with pytest.raises(ParameterError, match=r"must be"):
        make()
