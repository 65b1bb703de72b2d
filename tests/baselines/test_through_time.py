"""Rivals that adapt to what they exposed: predictions, and sets of likely places."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import KDTree

from hideseek import Grid, MarkovProfile, ParameterError
from hideseek.baselines.cells import Hull
from hideseek.baselines.laplace import planar_laplace
from hideseek.baselines.through_time import DeltaLocationSet, Predictive, predictive
from hideseek.model import possible_trajectories
from hideseek.model.geodesy import plane
from tests.support.rivals import (
    CITY,
    SETTING,
    TRACES,
    apart,
    assert_indistinguishable,
    cell_probabilities,
    few_points,
    seeds,
    town,
)

# the predictive mechanism


@given(few_points, st.floats(1, 3), seeds)
@settings(max_examples=50)
def test_a_step_with_a_prediction_is_geo_indistinguishable_given_the_past(points, exponent, seed):
    assume(apart(points)[np.triu_indices(len(points), 1)].min() > 1)
    generator = np.random.default_rng(seed)
    noise = 10**exponent
    for policy in (
        predictive(points, noise=noise),
        Predictive(points, epsilon_noise=1 / noise, epsilon_test=1 / generator.uniform(10, 1000), threshold=300.0),
    ):
        epsilon = policy.epsilon_noise + policy.epsilon_test
        tables, which = policy.tables(np.arange(-1, len(points)))
        assert which.tolist() == list(range(len(points) + 1))
        for table in tables:
            assert_indistinguishable(table, epsilon * apart(points))


def test_a_prediction_is_released_again_if_it_is_close():
    points = np.array([[0.0, 0.0], [100.0, 0.0], [5000.0, 0.0]])
    policy = Predictive(points, epsilon_noise=0.01, epsilon_test=0.05, threshold=500.0)
    fresh = planar_laplace(points, epsilon=0.01).table
    (first,), _ = policy.tables(policy.start(2)[:1])
    np.testing.assert_array_equal(first, fresh)
    (again,), _ = policy.tables(policy.after(policy.start(1), np.array([1])))
    np.testing.assert_allclose(again[0], [0, 1, 0], atol=1e-8)  # 400 m from the threshold, 20 scales of the test
    np.testing.assert_allclose(again[2], fresh[2], atol=1e-8)
    drawn = np.random.default_rng(0).laplace(scale=20.0, size=100_000)
    close = Predictive(points, epsilon_noise=0.01, epsilon_test=0.05, threshold=110.0).passes[0, 1]
    assert close == pytest.approx((100 + drawn <= 110).mean(), abs=5 * 0.5 / np.sqrt(100_000))


# sets of likely places


@given(seeds, st.integers(2, 6), st.floats(0, 0.5))
@settings(max_examples=50)
def test_likely_places_are_as_few_as_can_be(seed, count, delta):
    policy = DeltaLocationSet(town(0, count), epsilon=1.0, delta=delta)
    beliefs = np.random.default_rng(seed).dirichlet(np.full(count, 0.5), 4)
    for belief, chosen in zip(beliefs, policy.likely(beliefs), strict=True):
        assert belief[chosen].sum() >= 1 - delta - 1e-12
        fewer = itertools.combinations(belief, int(chosen.sum()) - 1)
        assert max(map(sum, fewer)) < 1 - delta + 1e-12
        assert belief[chosen].min() >= belief[~chosen].max(initial=0)


def least_stretch(vector, differences):
    """||v||_K by its definition, a linear program: the least total weight of differences that adds up to v."""
    return linprog(np.ones(len(differences)), A_eq=differences.T, b_eq=vector).fun


@given(seeds, st.integers(2, 6), st.floats(-1, 1))
@settings(max_examples=30)
def test_likely_places_are_told_apart_by_epsilon_at_most(seed, count, exponent):
    epsilon = 10**exponent
    policy = DeltaLocationSet(town(seed, count), epsilon=epsilon, delta=0.2)
    beliefs = np.random.default_rng(seed).dirichlet(np.full(count, 0.5), 3)
    tables, which = policy.tables(beliefs)
    for chosen, table in zip(policy.likely(beliefs), tables[which], strict=True):
        likely = np.flatnonzero(chosen)
        if len(likely) == 1:
            continue
        rows, points = table[likely], policy.points[likely]
        differences = (points[:, None] - points).reshape(-1, 2)
        norms = np.reshape([least_stretch(vector, differences) for vector in differences], (len(likely), -1))
        np.testing.assert_allclose(Hull(points).norm(differences).reshape(norms.shape), norms, atol=1e-7)
        assert_indistinguishable(rows, epsilon * norms * (1 + 1e-6))
        assert_indistinguishable(rows, np.full(norms.shape, epsilon))
        surrogate = apart(policy.points)[:, likely].argmin(axis=1)
        np.testing.assert_array_equal(table, rows[surrogate])


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_noise_of_a_hull_agrees_with_quadrature_ray_by_ray(epsilon):
    policy = DeltaLocationSet(town(1, 5), epsilon=epsilon, delta=0.0)
    ((table,), _), belief = policy.tables(np.array([[0.4, 0.3, 0.3, 0, 0]])), slice(0, 3)
    norm = Hull(policy.points[belief]).norm
    for centre in range(3):
        expected = cell_probabilities(policy.points, centre, lambda ray: epsilon * norm(ray))
        np.testing.assert_allclose(table[centre], expected, atol=1e-8)


def test_two_likely_places_get_noise_along_their_line():
    epsilon, draws = 3.0, 200_000
    policy = DeltaLocationSet(town(2, 5), epsilon=epsilon, delta=0.0)
    (table,), _ = policy.tables(np.array([[0.5, 0, 0, 0.5, 0]]))
    here, there = policy.points[[0, 3]]
    noise = np.random.default_rng(0).laplace(scale=1 / epsilon, size=(draws, 1)) * (there - here)
    counted = np.bincount(KDTree(policy.points).query(here + noise)[1], minlength=5) / draws
    np.testing.assert_allclose(table[0], counted, atol=5 * 0.5 / np.sqrt(draws))


def test_one_likely_place_is_released_and_nothing_else_can_be():
    policy = DeltaLocationSet(town(0, 3), epsilon=1.0)
    sure = np.array([[0.001, 0.998, 0.001]])
    np.testing.assert_array_equal(policy.tables(sure)[0], np.tile([0.0, 1.0, 0.0], (1, 3, 1)))
    moved = sure @ policy.profile.transition
    for exposed in (1, 2):  # the one that is sure to come reveals nothing, nor does one that cannot
        np.testing.assert_allclose(policy.after(sure, np.array([exposed])), moved, atol=1e-15)


def test_the_belief_is_that_of_an_adversary_who_remembers_every_release():
    profile = town(5, 4)
    policy = DeltaLocationSet(profile, epsilon=1.5, delta=0.1)
    exposed = (0, 2, 1)
    state, tables = policy.start(1), []
    for release in exposed:
        tables.append(policy.tables(state)[0][0])
        state = policy.after(state, np.array([release]))
    law = possible_trajectories(profile, (0, 1, 2, 3))
    weight = law.probability.copy()
    for step, (release, table) in enumerate(zip(exposed, tables, strict=True)):
        weight *= table[law.sequences[:, step], release]
    expected = np.bincount(law.sequences[:, 3], weight) / weight.sum()
    np.testing.assert_allclose(state[0], expected, atol=1e-12)


def test_longer_memories_and_odd_shares_are_refused():
    second = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=4, columns=4), order=2)
    with pytest.raises(ParameterError, match="order 1"):
        DeltaLocationSet(second, epsilon=1.0)
    with pytest.raises(ParameterError, match="delta"):
        DeltaLocationSet(CITY, epsilon=1.0, delta=1.0)
    with pytest.raises(ParameterError, match="epsilon"):
        planar_laplace(plane(CITY.regions), epsilon=0.0)
    with pytest.raises(ParameterError, match="epsilon"):
        Predictive(plane(CITY.regions), epsilon_noise=0.0, epsilon_test=1.0, threshold=1.0)


@pytest.mark.parametrize("noise", [1.0, 250.0, 1e6])
def test_a_prediction_is_tested_at_half_the_rate_against_twice_the_scale(noise):
    policy = predictive(SETTING.points, noise=noise)
    assert policy.epsilon_noise == pytest.approx(1 / noise)
    assert policy.epsilon_test == pytest.approx(0.5 / noise)
    assert policy.threshold == pytest.approx(2 * noise)
    assert policy.passes[0, 0] == pytest.approx(1 - np.exp(-1) / 2)  # the truth, two scales below the threshold


def test_impossible_places_are_not_likely_despite_rounding():
    beliefs = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.7, 0.2], [0.0, 1.0, 0.0, 0.0]])
    assert 0.7 + 0.2 + 0.1 < 1
    chosen = DeltaLocationSet(town(0, 4), epsilon=1.0, delta=0.0).likely(beliefs)
    np.testing.assert_array_equal(chosen, beliefs > 0)


def test_a_policy_can_go_to_another_process_after_use():
    policy = DeltaLocationSet(town(1, 5), epsilon=1.5)
    state = policy.start(2)
    tables, which = policy.tables(state)
    there = pickle.loads(pickle.dumps(policy))
    np.testing.assert_array_equal(there.tables(state)[0][which], tables[which])
    np.testing.assert_array_equal(there.after(state, np.array([0, 3])), policy.after(state, np.array([0, 3])))
