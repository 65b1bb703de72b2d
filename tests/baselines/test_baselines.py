"""The rivals of the literature: each keeps what its authors promise, and none beats the optimum."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.spatial import KDTree
from scipy.special import k1
from scipy.stats import gamma, kstest

from hideseek import Grid, MarkovProfile, Mechanism, ParameterError, Places, solve, synthetic_city
from hideseek.adversary import expected_error
from hideseek.baselines import RIVALS
from hideseek.baselines.cells import Hull, mean_tail, voronoi_edges
from hideseek.baselines.information import blahut_arimoto
from hideseek.baselines.laplace import draw_planar_laplace, planar_laplace, remapped
from hideseek.baselines.plain import coin, constant, exponential, truth, uniform_squares
from hideseek.baselines.rival import Setting
from hideseek.baselines.through_time import DeltaLocationSet, Predictive, predictive
from hideseek.game.mechanism import Policy
from hideseek.metrics import distance, hamming, squared
from hideseek.model import possible_trajectories
from hideseek.model.geodesy import plane
from tests.adversary.test_one_shot import CELLS, number, support, toy
from tests.support.games import games

TRACES = synthetic_city(people=1, days=7)
CITY = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=8, columns=8))
METRES = distance(CITY.regions)
SETTING = Setting(CITY, privacy=METRES, quality=METRES)

seeds = st.integers(0, 10**6)
turns = st.floats(0.35, 0.65)  # the middle of a dial, where noise and distances are of one size
every_rival = pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
few_points = st.builds(
    lambda seed, count: np.random.default_rng(seed).uniform(0, 1000, (count, 2)), seeds, st.integers(2, 6)
)


def town(seed, count):
    """A few places within ten kilometres, and any chain on them."""
    generator = np.random.default_rng(seed)
    places = Places(generator.uniform(45.0, 45.1, count), generator.uniform(6.0, 6.1, count))
    return MarkovProfile.from_matrix(generator.dirichlet(np.full(count, 0.5), count) * 0.99 + 0.01 / count, places)


def turned(rival, setting, turn):
    """The rival with its dial a share of the way up."""
    low, high = rival.span(setting)
    return rival.make(setting, low ** (1 - turn) * high**turn if low > 0 else turn * high)


def loss_of(setting, rival, steps=3):
    """The mean loss of a step: that of a table, or of a policy by enumeration of all it may release."""
    if isinstance(rival, Mechanism):
        return float(np.vdot(setting.game.cost, rival.table))
    state, joint, total = rival.start(1), setting.prior[None], 0.0
    for _ in range(steps):
        tables, which = rival.tables(state)
        reached = joint[:, :, None] * tables[which]  # [sequence, place, release]
        total += float((reached * setting.loss).sum()) / steps
        sequence, exposed = np.nonzero(reached.sum(axis=1))
        state = rival.after(state[sequence], exposed)
        joint = reached[sequence, :, exposed] @ setting.profile.transition
    return total


def assert_indistinguishable(table, epsilon_times_distance, absolute=1e-13):
    """f(o|i) <= exp(epsilon d(i, j)) f(o|j), but for rounding."""
    allowed = np.exp(epsilon_times_distance)[:, :, None] * table[None] * (1 + 1e-9) + absolute
    assert (table[:, None] <= allowed).all()


def apart(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


def cell_probabilities(points, centre, norm, rays=200_000):
    """The probability of every Voronoi cell, ray by ray from the noise's centre: no edges, no flow.

    Of a ray's mass, gamma.sf(t, 2) lies beyond t. Kinks in the angle limit the midpoint rule to about 1e-9.
    """
    angle = (np.arange(rays) + 0.5) * 2 * np.pi / rays
    ray = np.c_[np.cos(angle), np.sin(angle)]
    decay, away = norm(ray), points - points[centre]
    inside = []
    for place in range(len(points)):
        enter, leave = np.zeros(rays), np.full(rays, np.inf)
        for other in away[np.arange(len(points)) != place]:
            rate, room = ray @ (other - away[place]), (other @ other - away[place] @ away[place]) / 2
            enter = np.where(rate < 0, np.maximum(enter, room / rate), enter)
            leave = np.where(rate > 0, np.minimum(leave, room / rate), leave)
        beyond = [gamma.sf(decay * r, 2) for r in (enter, np.maximum(enter, leave))]
        inside.append(((beyond[0] - beyond[1]) / decay**2).sum())
    return np.array(inside) / (decay**-2.0).sum()


# every rival


@every_rival
def test_a_rival_names_its_source_and_turns_from_little_loss_to_much(rival):
    setting = SETTING if isinstance(turned(rival, SETTING, 0.5), Mechanism) else small_setting()
    losses = np.array([loss_of(setting, turned(rival, setting, turn)) for turn in np.linspace(0, 1, 13)])
    assert losses[0] <= 0.01 * setting.game.saturation  # sets of likely places lose a little by what they leave out
    assert (np.diff(losses) >= -1e-9 * setting.game.saturation).all()
    assert losses[-1] >= 0.9 * setting.game.saturation
    assert rival.reference[-4:].isdigit()


def small_setting():
    profile = town(0, 3)
    return Setting(profile, privacy=distance(profile.regions), quality=distance(profile.regions))


@every_rival
@given(seeds, st.integers(2, 5), turns)
@settings(max_examples=15)
def test_tables_are_laws_of_places(rival, seed, count, turn):
    profile = town(seed, count)
    made = turned(rival, Setting(profile, hamming(), distance(profile.regions)), turn)
    if isinstance(made, Policy):
        assert made.symbols == count
        first, _ = made.tables(made.start(1))
        possible = np.flatnonzero(first.max(axis=1))
        second, which = made.tables(made.after(made.start(len(possible)), possible))
        assert set(which) == set(range(len(second)))
        tables = np.concatenate([first, second])
    else:
        tables = made.table[None]
    assert tables.shape[1:] == (count, count)
    assert (tables >= 0).all()
    np.testing.assert_allclose(tables.sum(axis=2), 1, atol=1e-12)


@every_rival
@given(seeds, st.integers(2, 5), turns, st.booleans())
@settings(max_examples=15)
def test_no_table_beats_the_optimum(rival, seed, count, turn, square):
    profile = town(seed, count)
    metres = distance(profile.regions)
    setting = Setting(profile, hamming(), squared(metres) if square else metres)
    made = turned(rival, setting, turn)
    if isinstance(made, Policy):  # its first step is a table like any other
        made = Mechanism(made.tables(made.start(1))[0][0])
    best = solve(setting.game.with_budget(max(loss_of(setting, made), setting.game.least_loss)))
    assert expected_error(setting.game, made) <= best.bound * (1 + 1e-9) + 1e-12


# the truth, a constant, and a coin


def test_the_coin_goes_straight_from_the_truth_to_the_constant():
    game = SETTING.game
    assert loss_of(SETTING, truth(game)) == 0
    assert expected_error(game, truth(game)) == 0
    assert loss_of(SETTING, constant(game)) == pytest.approx(game.saturation)
    assert expected_error(game, constant(game)) == pytest.approx(game.prior_risk)
    for share in (0.0, 0.3, 1.0):
        assert loss_of(SETTING, coin(game, probability=share)) == pytest.approx(share * game.saturation)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        coin(game, probability=1.5)


# squares


def test_squares_of_one_cell_are_the_toy_of_the_paper():
    chain, table = toy()
    squares = uniform_squares(np.array(CELLS, float), half_side=1.0)
    np.testing.assert_allclose(squares.table, table, atol=1e-15)
    middle, corner = squares.table[number(3, 3)], squares.table[number(1, 1)]
    assert (np.count_nonzero(middle), middle.max()) == (9, pytest.approx(1 / 9))
    assert (np.count_nonzero(corner), corner.max()) == (4, pytest.approx(1 / 4))
    alone = possible_trajectories(chain, (0,)).given({0: number(4, 4)}, squares.table)
    both = possible_trajectories(chain, (-1, 0)).given({-1: number(2, 2), 0: number(4, 4)}, squares.table)
    assert (len(support(alone, 0)), len(support(both, 0))) == (9, 4)


def test_squares_of_growing_size_lose_without_jumps():
    points = np.array(CELLS, float)
    sizes = np.linspace(0, 6, 601)
    losses = [np.vdot(apart(points), uniform_squares(points, half_side=size).table) / 25 for size in sizes]
    assert np.abs(np.diff(losses)).max() < 0.02  # a jump would be of 0.5
    np.testing.assert_allclose(uniform_squares(points, half_side=6.0).table, 1 / 25)
    np.testing.assert_array_equal(uniform_squares(points, half_side=0.0).table, np.eye(25))


# geo-indistinguishable noise


@given(few_points, st.floats(-4, -0.5))
@settings(max_examples=50)
def test_the_exponential_mechanism_is_geo_indistinguishable(points, exponent):
    epsilon = 10**exponent
    assert_indistinguishable(exponential(apart(points), epsilon=epsilon).table, epsilon * apart(points))


@given(few_points, st.floats(-4, -0.5))
@settings(max_examples=50)
def test_planar_laplace_noise_is_geo_indistinguishable(points, exponent):
    assume(apart(points)[np.triu_indices(len(points), 1)].min() > 1)
    epsilon = 10**exponent
    assert_indistinguishable(planar_laplace(points, epsilon=epsilon).table, epsilon * apart(points))


def test_planar_laplace_noise_is_geo_indistinguishable_on_the_city():
    points = SETTING.points
    for noise in (30.0, 300.0, 3000.0):
        assert_indistinguishable(planar_laplace(points, epsilon=1 / noise).table, apart(points) / noise)


def test_drawn_noise_has_its_radial_law_and_every_direction():
    epsilon, count = 0.01, 50_000
    noisy = draw_planar_laplace(
        np.tile([3.0, -4.0], (count, 1)), epsilon=epsilon, generator=np.random.default_rng(0)
    ) - [3.0, -4.0]
    radius, angle = np.hypot(*noisy.T), np.arctan2(noisy[:, 1], noisy[:, 0])
    assert kstest(epsilon * radius, gamma(2).cdf).pvalue > 0.01
    assert kstest(angle / (2 * np.pi) + 0.5, "uniform").pvalue > 0.01
    assert radius.mean() == pytest.approx(2 / epsilon, rel=4 * np.sqrt(2) / 2 / np.sqrt(count))  # 4 standard errors


def test_the_table_is_where_drawn_noise_is_nearest():
    points, draws = SETTING.points, 20_000
    table = planar_laplace(points, epsilon=1 / 700).table
    noisy = draw_planar_laplace(np.repeat(points, draws, axis=0), epsilon=1 / 700, generator=np.random.default_rng(1))
    nearest = KDTree(points).query(noisy)[1].reshape(len(points), draws)
    counted = np.stack([np.bincount(row, minlength=len(points)) for row in nearest]) / draws
    assert np.abs(counted - table).max() <= 5 * np.sqrt(0.25 / draws)
    assert ((counted - table) ** 2 / (table + 1e-12)).sum(axis=1).mean() * draws == pytest.approx(
        len(points) - 1, rel=0.2
    )


@pytest.mark.parametrize("epsilon", [1e-3, 1e-2, 0.1])
def test_the_table_agrees_with_quadrature_ray_by_ray(epsilon):
    points = np.random.default_rng(4).uniform(0, 300, (5, 2))
    table = planar_laplace(points, epsilon=epsilon).table
    expected = [cell_probabilities(points, centre, lambda ray: epsilon * np.hypot(*ray.T)) for centre in range(5)]
    np.testing.assert_allclose(table, expected, atol=1e-8)


@pytest.mark.parametrize("direction", [(0.6, -0.8), (1.0, 0.0)])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 10.0, 100.0])
def test_on_a_line_the_table_is_the_law_of_one_coordinate(spread, direction):
    """Its density is epsilon^2 |x| K_1(epsilon |x|) / pi, whichever way the line runs."""
    at = np.array([-spread, 0.0, 2 * spread])
    table = planar_laplace(np.outer(at, direction), epsilon=1.0).table

    def beyond(x):
        return quad(lambda y: y * k1(y) / np.pi, x, np.inf, epsabs=1e-14)[0]

    left, right = beyond(spread / 2), beyond(spread)
    np.testing.assert_allclose(table[1], [left, 1 - left - right, right], atol=1e-12)


def test_noise_far_beyond_the_map_or_far_below_a_cell_is_told_exactly():
    points = SETTING.points
    np.testing.assert_allclose(planar_laplace(points, epsilon=1e3).table, np.eye(len(points)), atol=1e-15)
    scattered = planar_laplace(points, epsilon=1e-9).table  # all directions alike, and nothing stays inside
    np.testing.assert_allclose(scattered, scattered[:1].repeat(len(points), axis=0), atol=1e-5)


@given(games(), seeds)
@settings(max_examples=100)
def test_remapping_never_hurts_the_metric_it_optimises(game, seed):
    inputs, releases = game.cost.shape
    mechanism = Mechanism(np.random.default_rng(seed).dirichlet(np.ones(releases), inputs))
    again = remapped(mechanism, game)
    assert np.vdot(game.cost, again.table) <= np.vdot(game.cost, mechanism.table) + 1e-12
    assert expected_error(game, again) >= expected_error(game, mechanism) - 1e-12  # nor tells anything new
    cheapest = [min(game.cost.T @ column) for column in mechanism.table.T]
    assert np.vdot(game.cost, again.table) == pytest.approx(sum(cheapest))


def test_remapping_keeps_geo_indistinguishability():
    points = SETTING.points
    again = remapped(planar_laplace(points, epsilon=1 / 700), SETTING.game).table
    assert_indistinguishable(again, apart(points) / 700)
    assert loss_of(SETTING, Mechanism(again)) < 0.9 * loss_of(SETTING, planar_laplace(points, epsilon=1 / 700))


# Blahut-Arimoto


def information(prior, table):
    """Mutual information in nats."""
    law = prior @ table
    ratio = np.divide(table, law, out=np.ones_like(table), where=prior[:, None] * table > 1e-300)
    return float((prior[:, None] * table * np.log(ratio)).sum())


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


@pytest.mark.parametrize(("p", "loss"), [(0.5, 0.1), (0.3, 0.05), (0.3, 0.29), (0.01, 0.001)])
def test_least_information_is_the_rate_distortion_function_of_a_biased_coin(p, loss):
    prior = np.array([1 - p, p])
    table = blahut_arimoto(prior, 1 - np.eye(2), slope=np.log((1 - loss) / loss)).table
    assert prior @ (1 - np.diag(table)) == pytest.approx(loss, abs=1e-4)  # the loss follows the optimum's square root
    assert information(prior, table) == pytest.approx(entropy(p) - entropy(prior @ (1 - np.diag(table))), abs=2e-9)


@given(seeds, st.integers(2, 6), st.integers(2, 6), st.floats(-2, 2))
@settings(max_examples=50)
def test_least_information_is_the_fixed_point_and_carries_its_bound(seed, places, releases, exponent):
    generator = np.random.default_rng(seed)
    prior, loss, slope = generator.dirichlet(np.ones(places)), generator.random((places, releases)), 10**exponent
    table = blahut_arimoto(prior, loss, slope=slope).table
    kernel, law = np.exp(-slope * loss), prior @ table
    np.testing.assert_allclose(law * kernel / (kernel @ law)[:, None], table, atol=1e-6)
    assert (prior / (kernel @ law) @ kernel).max() <= 1 + 1e-7
    other = generator.dirichlet(np.ones(releases), places)  # any other mechanism

    def price(f):
        return information(prior, f) + slope * float((prior[:, None] * f * loss).sum())

    for share in (0.01, 0.1, 1.0):
        assert price(table) <= price((1 - share) * table + share * other) + 2e-9


def test_least_information_agrees_with_the_alternation():
    prior, loss, slope = SETTING.prior, SETTING.loss, 1 / 500
    kernel, law = np.exp(-slope * loss), np.full(len(prior), 1 / len(prior))
    for _ in range(3000):
        law = law * (prior / (kernel @ law) @ kernel)
    alternated = law * kernel / (kernel @ law)[:, None]
    table = blahut_arimoto(prior, loss, slope=slope).table
    np.testing.assert_allclose(prior @ table, law, atol=1e-5)
    assert information(prior, table) == pytest.approx(information(prior, alternated), abs=1e-5)


# the predictive mechanism


@given(few_points, st.floats(1, 3), seeds)
@settings(max_examples=50)
def test_a_step_with_a_prediction_is_geo_indistinguishable_given_the_past(points, exponent, seed):
    assume(apart(points)[np.triu_indices(len(points), 1)].min() > 1)
    generator = np.random.default_rng(seed)
    noise = 10**exponent
    for policy in (
        predictive(points, noise=noise),
        Predictive(points, 1 / noise, 1 / generator.uniform(10, 1000), 300.0),
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
    policy = DeltaLocationSet(town(0, count), 1.0, delta)
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
    policy = DeltaLocationSet(town(seed, count), epsilon, delta=0.2)
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
    policy = DeltaLocationSet(town(1, 5), epsilon, delta=0.0)
    ((table,), _), belief = policy.tables(np.array([[0.4, 0.3, 0.3, 0, 0]])), slice(0, 3)
    norm = Hull(policy.points[belief]).norm
    for centre in range(3):
        expected = cell_probabilities(policy.points, centre, lambda ray: epsilon * norm(ray))
        np.testing.assert_allclose(table[centre], expected, atol=1e-8)


def test_two_likely_places_get_noise_along_their_line():
    epsilon, draws = 3.0, 200_000
    policy = DeltaLocationSet(town(2, 5), epsilon, delta=0.0)
    (table,), _ = policy.tables(np.array([[0.5, 0, 0, 0.5, 0]]))
    here, there = policy.points[[0, 3]]
    noise = np.random.default_rng(0).laplace(scale=1 / epsilon, size=(draws, 1)) * (there - here)
    counted = np.bincount(KDTree(policy.points).query(here + noise)[1], minlength=5) / draws
    np.testing.assert_allclose(table[0], counted, atol=5 * 0.5 / np.sqrt(draws))


def test_noise_along_a_line_counts_a_tie_once():
    """Places on both sides of the line, equally far from it."""
    square = Places([0.0, 0.0, 0.01, -0.01, 0.01, -0.01], [0.0, 0.01, 0.03, 0.03, -0.02, -0.02])
    policy = DeltaLocationSet(MarkovProfile.from_matrix(np.full((6, 6), 1 / 6), square), 1.0, delta=0.0)
    (table,), _ = policy.tables(np.array([[0.5, 0.5, 0, 0, 0, 0]]))
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)


def test_one_likely_place_is_released_and_nothing_else_can_be():
    policy = DeltaLocationSet(town(0, 3), 1.0)
    sure = np.array([[0.001, 0.998, 0.001]])
    np.testing.assert_array_equal(policy.tables(sure)[0], np.tile([0.0, 1.0, 0.0], (1, 3, 1)))
    moved = sure @ policy.profile.transition
    for exposed in (1, 2):  # the one that is sure to come tells nothing, nor does one that cannot
        np.testing.assert_allclose(policy.after(sure, np.array([exposed])), moved, atol=1e-15)


def test_the_belief_is_that_of_an_adversary_who_remembers_everything():
    profile = town(5, 4)
    policy = DeltaLocationSet(profile, 1.5, delta=0.1)
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
        DeltaLocationSet(second, 1.0)
    with pytest.raises(ParameterError, match="delta"):
        DeltaLocationSet(CITY, 1.0, delta=1.0)
    for make in (planar_laplace, lambda points, epsilon: Predictive(points, epsilon, 1.0, 1.0)):
        with pytest.raises(ParameterError, match="epsilon"):
            make(plane(CITY.regions), 0.0)


# what the dials mean, and what is refused


@pytest.mark.parametrize("noise", [1.0, 250.0, 1e6])
def test_a_prediction_is_tested_at_half_the_rate_of_the_noise_against_twice_its_scale(noise):
    policy = predictive(SETTING.points, noise=noise)
    assert policy.epsilon_noise == pytest.approx(1 / noise)
    assert policy.epsilon_test == pytest.approx(0.5 / noise)
    assert policy.threshold == pytest.approx(2 * noise)
    assert policy.passes[0, 0] == pytest.approx(1 - np.exp(-1) / 2)  # the truth, two scales below the threshold


@pytest.mark.parametrize("start", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("step", [0.0, 1e-14, 1e-9, 1e-6, 3e-4, 0.9e-3, 1.1e-3, 0.1, 5.0])
def test_the_mean_of_a_tail_is_its_integral_also_between_nearly_equal_ends(start, step):
    """In units of the start, or of 1 where that is less: where the closed form would be a difference of equals."""
    end = start + step * min(1, start)

    def tail(t):
        return (1 + t) * np.exp(-t) / t**2

    mean = quad(tail, start, end, epsabs=0, epsrel=1e-13)[0] / (end - start) if end > start else tail(start)
    for ends in ((start, end), (end, start)):
        assert mean_tail(*map(np.atleast_1d, ends)) == pytest.approx(mean, rel=1e-11)


def test_places_that_cannot_be_are_not_likely_though_rounding_leaves_a_little():
    beliefs = np.array([[0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.7, 0.2], [0.0, 1.0, 0.0, 0.0]])
    assert 0.7 + 0.2 + 0.1 < 1
    chosen = DeltaLocationSet(town(0, 4), 1.0, delta=0.0).likely(beliefs)
    np.testing.assert_array_equal(chosen, beliefs > 0)


@pytest.mark.parametrize("latitude", [0.0, 37.7, 60.0])
def test_squares_on_a_grid_tell_every_inner_cell_s_truth_with_the_same_probability(latitude):
    """Cells are a little narrower in the north than in the south; on the map they are all alike."""
    grid = Grid(latitude, latitude + 0.3, -122.5, -122.05, rows=9, columns=9)
    profile = MarkovProfile.from_matrix(np.full((81, 81), 1 / 81), grid)
    setting = Setting(profile, hamming(), distance(grid))
    rival = next(rival for rival in RIVALS if rival.name == "uniform squares")
    height = apart(setting.mapped)[0, 9]
    assert height == pytest.approx(111_000 * 0.3 / 9, rel=0.01)
    inner = [9 * row + column for row in range(3, 6) for column in range(3, 6)]
    away = np.abs(setting.mapped[inner, None] - setting.mapped).max(axis=2)
    reached = np.unique(
        away[away < 1.6 * height]
    )  # a size at which cells come in, and others that rounding makes of it
    for half_side in (*reached, *np.linspace(0, 1.1 * height, 12)):
        truthful = np.diag(rival.make(setting, half_side).table)[inner]
        np.testing.assert_allclose(truthful, truthful[0], rtol=1e-9)
    assert truthful[0] < 0.5
    assert rival.span(setting)[0] == 0
    np.testing.assert_array_equal(rival.make(setting, 0.0).table, np.eye(81))


def test_a_policy_can_go_to_another_process_after_use():
    policy = DeltaLocationSet(town(1, 5), 1.5)
    state = policy.start(2)
    tables, which = policy.tables(state)
    there = pickle.loads(pickle.dumps(policy))
    np.testing.assert_array_equal(there.tables(state)[0][which], tables[which])
    np.testing.assert_array_equal(there.after(state, np.array([0, 3])), policy.after(state, np.array([0, 3])))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: voronoi_edges(np.array([[0.0, 1.0], [2.0, 3.0], [0.0, 1.0]])), "two or more different points"),
        (lambda: voronoi_edges(np.array([[0.0, 1.0]])), "two or more different points"),
        (lambda: voronoi_edges(np.zeros((2, 3))), "two or more different points"),
        (lambda: blahut_arimoto([0.5, 0.5], np.ones((3, 3)), slope=1.0), "a row for each of the 2 places"),
        (lambda: blahut_arimoto([0.5, 0.5], np.ones(2), slope=1.0), "'loss' parameter of blahut_arimoto"),
        (lambda: blahut_arimoto([0.5, 0.6], np.ones((2, 2)), slope=1.0), "'prior' parameter of blahut_arimoto"),
        (lambda: remapped(Mechanism(np.eye(3)), SETTING.game), "'mechanism' parameter of remapped"),
        (lambda: remapped(Mechanism(np.full((CITY.places, 2), 0.5)), SETTING.game), "a table of the shape"),
    ],
)
def test_points_and_tables_that_do_not_fit_are_refused(make, match):
    with pytest.raises(ParameterError, match=match):
        make()
