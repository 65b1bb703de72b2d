"""LinearRows that keep geo-indistinguishability, the cheapest mechanism under them, and the game played under them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse.csgraph import shortest_path

from hideseek import Game, MarkovProfile, Mechanism, ParameterError, Places, solve, trade_off
from hideseek.adversary import expected_error
from hideseek.baselines import geo_indistinguishable
from hideseek.baselines.geo_indistinguishable import (
    geo_indistinguishable_rows,
    joint_optimum,
    optimal_geo_indistinguishable,
    spanner,
    with_distortion,
)
from hideseek.baselines.rival import Setting
from hideseek.errors import BudgetError
from hideseek.game import Alternatives, LinearRows
from hideseek.metrics import distance, hamming, squared
from hideseek.solvers import Method, Status
from hideseek.solvers.interior_point import least_loss
from tests.support.games import euclid_game, grid_distances, random_game, zipf
from tests.support.progress import told_bounds
from tests.support.rivals import town

ROUNDING = 1e-12  # relative, over at most a dozen products along a path


def scattered(seed, count):
    """Distances between random points of the unit square."""
    points = np.random.default_rng(seed).random((count, 2))
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def told_apart(table, apart, epsilon):
    """By definition, over all pairs and possible releases: the most of f(o|i) / (exp(epsilon d) f(o|i'))."""
    table = table[:, table.any(axis=0)]
    pairs = itertools.permutations(range(len(apart)), 2)
    return max((np.exp(-epsilon * apart[i, j]) * table[i] / table[j]).max() for i, j in pairs)


def all_pairs(apart, epsilon, releases):
    """One row for every ordered pair and release, written out."""
    rows = []
    for (i, j), o in itertools.product(itertools.permutations(range(len(apart)), 2), range(releases)):
        row = np.zeros((len(apart), releases))
        row[i, o], row[j, o] = np.exp(-epsilon * apart[i, j]), -1
        rows.append(row.ravel())
    return np.array(rows)


def cheapest_by_definition(cost, apart, epsilon):
    """The least loss over the rows of all pairs, by scipy alone."""
    inputs, releases = cost.shape
    rows = all_pairs(apart, epsilon, releases)
    sums = np.kron(np.eye(inputs), np.ones(releases))
    result = linprog(cost.ravel(), rows, np.zeros(len(rows)), sums, np.ones(inputs))
    assert result.status == 0
    return result.fun


def best_by_definition(game, apart, epsilon):
    """The value of the game over the rows of all pairs, by scipy alone."""
    inputs, releases = game.cost.shape
    rows = all_pairs(apart, epsilon, releases)
    guesses = []
    for g, o in itertools.product(range(len(game.error)), range(releases)):
        row = np.zeros((inputs, releases))
        row[:, o] = -game.error[g]
        guesses.append(np.r_[row.ravel(), np.eye(releases)[o]])
    upper = np.vstack(
        [np.c_[rows, np.zeros((len(rows), releases))], guesses, np.r_[game.cost.ravel(), np.zeros(releases)]]
    )
    limit = np.r_[np.zeros(len(upper) - 1), game.budget]
    sums = np.c_[np.kron(np.eye(inputs), np.ones(releases)), np.zeros((inputs, releases))]
    objective = np.r_[np.zeros(inputs * releases), -np.ones(releases)]
    bounds = [(0, None)] * (inputs * releases) + [(None, None)] * releases
    result = linprog(objective, upper, limit, sums, np.ones(inputs), bounds)
    assert result.status == 0
    return -result.fun


def grid_rows(rows, columns, epsilon, dilation=1.0):
    apart = grid_distances(rows, columns)
    return geo_indistinguishable_rows(apart, epsilon=epsilon, releases=len(apart), dilation=dilation)


@given(st.integers(0, 10**6), st.integers(2, 25), st.floats(1, 3))
@settings(max_examples=40)
def test_a_spanner_stretches_no_distance_by_more_than_its_dilation(seed, count, dilation):
    apart = scattered(seed, count)
    edges = spanner(apart, dilation=dilation)
    graph = np.zeros_like(apart)
    graph[edges[:, 0], edges[:, 1]] = apart[edges[:, 0], edges[:, 1]]
    assert (shortest_path(graph, directed=False) <= dilation * apart * (1 + 1e-9)).all()


def test_a_spanner_of_dilation_one_keeps_just_what_no_path_explains():
    """On a grid a pair is explained when a third place lies on the line between the two."""
    apart = grid_distances(4, 5)
    explained = {
        (i, j)
        for i, j in itertools.combinations(range(20), 2)
        for k in range(20)
        if k not in (i, j) and abs(apart[i, k] + apart[k, j] - apart[i, j]) < 1e-9
    }
    kept = {tuple(edge) for edge in spanner(apart, dilation=1.0).tolist()}
    assert kept == set(itertools.combinations(range(20), 2)) - explained
    assert len(spanner(apart, dilation=1.1)) < len(kept) / 2


@given(st.integers(0, 10**6), st.integers(2, 9), st.floats(0.05, 20), st.floats(1, 1.5))
@example(1, 9, 1.0, 1.0)  # a constant release, by rounding above its budget: no trace of the truth may be mixed in
@settings(max_examples=30)
def test_every_pair_is_kept_apart_no_further_than_epsilon_allows(seed, count, epsilon, dilation):
    """Also the pairs that are no edges; also for the table of the game, which the certificate has repaired."""
    apart = scattered(seed, count)
    generator = np.random.default_rng(seed)
    prior, loss = generator.dirichlet(np.ones(count)), generator.random((count, 4))
    rows = geo_indistinguishable_rows(apart, epsilon=epsilon, releases=4, dilation=dilation)
    game = replace(Game.from_prior(prior, privacy=apart, quality=loss, budget=1e9), rows=rows)
    least = least_loss(game)
    assert told_apart(least.mechanism.table, apart, epsilon) <= 1 + ROUNDING
    middle = game.with_budget((least.quality_loss + game.saturation) / 2)
    assert told_apart(solve(middle).mechanism.table, apart, epsilon) <= 1 + ROUNDING


@given(st.integers(0, 10**6), st.integers(2, 8), st.floats(0.1, 5))
@settings(max_examples=40)
def test_mending_moves_a_table_into_the_rows_and_no_further_than_needed(seed, count, epsilon):
    apart = scattered(seed, count)
    rows = geo_indistinguishable_rows(apart, epsilon=epsilon, releases=3)
    table = np.random.default_rng(seed).dirichlet(np.ones(3), size=count)
    mended = rows.mend(table)
    np.testing.assert_allclose(mended.sum(axis=1), 1, rtol=1e-14)
    assert told_apart(mended, apart, epsilon) <= 1 + ROUNDING
    np.testing.assert_allclose(rows.mend(mended), mended, atol=1e-14)
    nearly = mended * (1 + 1e-9 * np.random.default_rng(seed).random(mended.shape))
    nearly /= nearly.sum(axis=1, keepdims=True)
    # the tightest edge leaves 1 - exp(-epsilon d) of the average row to spare, and the correction is divided by that
    spare = (1 - np.exp(-epsilon * apart[apart > 0].min())) * mended.mean(axis=0).min()
    assert np.abs(rows.mend(nearly) - mended).max() <= 1e-8 / spare


def test_mending_a_rare_release_leaves_the_others_alone():
    rows = geo_indistinguishable_rows([[0, 1.0], [1, 0]], epsilon=1.0, releases=3)
    table = np.array([[0.5, 0.5 - 1e-15, 1e-15], [0.4, 0.6 - 1e-12, 1e-12]])
    mended = rows.mend(table)
    assert told_apart(mended, np.array([[0, 1.0], [1, 0]]), 1.0) <= 1 + ROUNDING
    np.testing.assert_allclose(mended, table, atol=1e-11)


@pytest.mark.parametrize("side", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.1, np.log(2), 2.0])
def test_the_cheapest_mechanism_agrees_with_qif(side, epsilon):
    """qif constrains all pairs and solves to about 1e-8; our gap is at most 1e-6."""
    import qif

    apart, prior = grid_distances(side, side), zipf(side * side)
    channel = qif.mechanism.d_privacy.min_loss_given_d(
        prior, len(prior), lambda i, j: epsilon * apart[i, j], lambda i, o: apart[i, o]
    )
    theirs = (np.array(channel) * apart * prior[:, None]).sum()
    least = least_loss(
        replace(Game.from_prior(prior, privacy=apart, quality=apart, budget=1e9), rows=grid_rows(side, side, epsilon))
    )
    assert least.quality_loss == pytest.approx(theirs, rel=2e-6)
    assert least.bound <= theirs * (1 + 1e-7)
    assert least.optimality_gap <= 1e-6


@pytest.mark.parametrize(("epsilon", "dilation"), [(np.log(2), 1.0), (np.log(2), 1.1), (5.0, 1.1)])
def test_rounding_leaves_the_gap_closed_where_rows_are_many(epsilon, dilation):
    """36 places: up to 836 rows for every release, most of them tight at the end."""
    game = replace(euclid_game(6, 6, 1.0), rows=grid_rows(6, 6, epsilon, dilation))
    least = least_loss(game)
    assert least.optimality_gap <= 1e-6
    assert solve(game.with_budget((least.quality_loss + game.saturation) / 2)).optimality_gap <= 1e-6


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 5), st.floats(0.05, 10))
@settings(max_examples=40)
def test_the_least_loss_is_that_of_all_pairs_written_out(seed, count, releases, epsilon):
    apart = scattered(seed, count)
    generator = np.random.default_rng(seed)
    prior, loss = generator.dirichlet(np.ones(count)), generator.random((count, releases))
    rows = geo_indistinguishable_rows(apart, epsilon=epsilon, releases=releases)
    game = replace(Game.from_prior(prior, privacy=apart, quality=loss, budget=1e9), rows=rows)
    least = least_loss(game)
    naive = cheapest_by_definition(game.cost, apart, epsilon)
    assert least.bound * (1 - 1e-7) <= naive <= least.quality_loss * (1 + 1e-7)  # HiGHS keeps rows to 1e-7
    assert least.optimality_gap <= 1e-6


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_a_spanner_costs_no_more_than_all_pairs_at_its_smaller_epsilon(epsilon):
    apart, prior = grid_distances(5, 5), zipf(25)
    game = Game.from_prior(prior, privacy=apart, quality=apart, budget=1e9)
    exact, loose, strict = (
        least_loss(replace(game, rows=rows))
        for rows in (grid_rows(5, 5, epsilon), grid_rows(5, 5, epsilon, 1.2), grid_rows(5, 5, epsilon / 1.2))
    )
    assert exact.bound <= loose.quality_loss
    assert loose.bound <= strict.quality_loss
    assert exact.quality_loss < loose.bound < loose.quality_loss < strict.bound


def test_more_privacy_costs_more_quality_between_the_truth_and_a_constant():
    """epsilon to infinity allows the truth, epsilon to 0 only what does not depend on the place."""
    game = Game.from_prior(zipf(9), privacy=grid_distances(3, 3), quality=grid_distances(3, 3), budget=1e9)
    epsilons = [1e-6, 0.1, 0.5, 2.0, 10.0, 1000.0]
    losses = [least_loss(replace(game, rows=grid_rows(3, 3, epsilon))).quality_loss for epsilon in epsilons]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(game.saturation, rel=1e-5)
    assert losses[-1] == pytest.approx(0, abs=1e-6 * game.saturation)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 4), st.floats(0.05, 10), st.floats(0.02, 0.98))
@settings(max_examples=40)
def test_the_joint_optimum_is_that_of_the_program_written_out(seed, count, releases, epsilon, share):
    """The largest privacy within the budget and the rows, bracketed by the certificate."""
    apart = scattered(seed, count)
    game = replace(
        random_game(seed, 3, count, releases, 1.0),
        rows=geo_indistinguishable_rows(apart, epsilon=epsilon, releases=releases),
    )
    least = least_loss(game).quality_loss
    game = game.with_budget(least + share * (game.saturation - least))
    solution = solve(game, method="interior point")
    naive = best_by_definition(game, apart, epsilon)
    assert solution.privacy <= naive * (1 + 1e-6)  # HiGHS's answer is exact to 1e-7 in every row
    assert naive <= solution.bound * (1 + 1e-6)
    assert solution.optimality_gap <= 2e-6
    assert solution.quality_loss <= game.budget * (1 + 1e-9)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_three_methods_agree_on_the_joint_optimum(share):
    game = replace(euclid_game(3, 3, 1.0), rows=grid_rows(3, 3, 0.7, 1.1))
    least = least_loss(game).quality_loss
    game = game.with_budget(least + share * (game.saturation - least))
    first, *others = (solve(game, method=name) for name in ("auto", "double oracle", "full program"))
    assert first.method is Method.INTERIOR_POINT
    assert first.status is Status.OPTIMAL
    for other in others:
        assert first.privacy == pytest.approx(other.privacy, rel=2e-6)
        assert max(first.privacy, other.privacy) <= min(first.bound, other.bound) * (1 + 1e-9)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_without_rows_the_interior_point_agrees_with_the_double_oracle(share):
    game = euclid_game(4, 4, share)
    inner, outer = solve(game, method="interior_point"), solve(game, method="double_oracle")
    assert inner.privacy == pytest.approx(outer.privacy, rel=2e-6)
    assert inner.status is Status.OPTIMAL


def test_as_epsilon_grows_the_game_is_the_plain_game():
    plain = euclid_game(3, 3, 0.8)
    tied = [solve(replace(plain, rows=grid_rows(3, 3, epsilon))).privacy for epsilon in (1.0, 3.0, 100.0)]
    assert tied[0] < tied[1] < tied[2] * (1 + 1e-6)
    assert tied[2] == pytest.approx(solve(plain).privacy, rel=2e-6)


def test_a_budget_below_the_least_loss_is_refused_with_one_that_can_be_met():
    game = replace(euclid_game(3, 3, 0.1), rows=grid_rows(3, 3, 0.5))
    with pytest.raises(BudgetError, match="least possible loss") as caught:
        solve(game)
    naive = cheapest_by_definition(game.cost, grid_distances(3, 3), 0.5)
    assert caught.value.least == pytest.approx(naive, rel=2e-6)
    met = solve(game.with_budget(caught.value.least))
    assert met.quality_loss == pytest.approx(naive, rel=2e-6)
    with pytest.raises(BudgetError, match="least possible loss"):
        trade_off(game, budgets=[game.budget])


def test_the_curve_starts_at_the_least_loss_and_lies_below_the_plain_one():
    plain = euclid_game(3, 3, 0.5)
    tied = replace(plain, rows=grid_rows(3, 3, 0.7))
    curve, above = trade_off(tied), trade_off(plain)
    assert curve.budget[0] == pytest.approx(least_loss(tied).quality_loss)
    assert curve.width <= 1e-3 * plain.prior_risk
    where = np.linspace(curve.budget[0], curve.budget[-1], 50)
    assert (curve.lower(where) <= above.upper(where)).all()
    middle = float(where[25])
    reached = solve(tied.with_budget(middle))
    assert curve.lower(middle) <= reached.bound
    assert reached.privacy <= curve.upper(middle)
    with pytest.raises(ParameterError, match="finds no corners"):
        trade_off(tied, breakpoints=True)


def test_time_and_rounds_are_told():
    game = replace(euclid_game(4, 4, 0.8), rows=grid_rows(4, 4, 0.7))
    seen = []
    solution = solve(game, progress=lambda *facts: seen.append(facts))
    assert [news[1:] for news in seen] == [(count, 0) for count in range(solution.iterations + 1)]
    assert told_bounds(seen[-1][0]) == pytest.approx((solution.privacy, solution.bound), rel=1e-5)
    hurried = solve(game, time_limit=0.0)
    assert hurried.status is Status.TIME_LIMIT
    assert hurried.privacy <= solution.bound
    assert solution.privacy <= hurried.bound


def test_the_interior_point_is_for_one_game_with_rows_per_release():
    game = euclid_game(2, 2, 0.5)
    with pytest.raises(ParameterError, match="only for one game"):
        solve(Alternatives((game, game)), method="interior point")
    with pytest.raises(ParameterError, match="the same for every release"):
        least_loss(game)
    with pytest.raises(ParameterError, match="sum to less than 0"):
        LinearRows.for_each_release([[1.0, -1.0]], releases=2)


def line(*longitudes):
    chain = np.full((len(longitudes),) * 2, 1 / len(longitudes))
    profile = MarkovProfile.from_matrix(chain, Places([0.0] * len(longitudes), list(longitudes)))
    return Setting(profile, privacy=hamming(), quality=distance(profile.regions))


def bent_street():
    """Six places, no three of them on a line, but nearly: a spanner leaves out what all pairs together do not imply."""
    chain = np.random.default_rng(3).dirichlet(np.ones(6), 6)
    bends = [0.0, 0.003, 0.0, 0.003, 0.0, 0.003]
    profile = MarkovProfile.from_matrix(chain, Places(bends, [0.0, 0.01, 0.02, 0.03, 0.04, 0.05]))
    return Setting(profile, privacy=distance(profile.regions), quality=squared(distance(profile.regions)))


def test_for_two_places_the_optimum_is_randomised_response():
    """Closed form: the truth with probability e / (1 + e), e = exp(epsilon d)."""
    setting = line(0.0, 0.01)
    for likelier in (1.5, 4.0, 50.0):
        best = optimal_geo_indistinguishable(setting, epsilon=np.log(likelier) / setting.metres[0, 1])
        np.testing.assert_allclose(np.diag(best.mechanism.table), likelier / (1 + likelier), rtol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_joint_optimum_lies_between_the_cheapest_and_the_most_private(share):
    setting = line(0.0, 0.01, 0.03, 0.04)
    epsilon = 1 / setting.metres[0, 1]
    cheapest = optimal_geo_indistinguishable(setting, epsilon=epsilon, dilation=1.0)
    budget = (1 - share) * cheapest.quality_loss + share * setting.game.saturation
    joint = joint_optimum(setting, epsilon=epsilon, budget=budget, dilation=1.0)
    assert joint.quality_loss <= budget * (1 + 1e-9)
    assert expected_error(setting.game, cheapest.mechanism) <= joint.bound * (1 + 1e-9)
    assert joint.privacy <= solve(setting.game.with_budget(budget)).bound * (1 + 1e-9)
    table = joint.mechanism.table
    allowed = np.exp(epsilon * setting.metres)[:, :, None] * table[None]
    assert (table[:, None] <= allowed * (1 + 1e-9)).all()
    if share:
        assert joint.optimality_gap <= 1e-6


@pytest.mark.parametrize("street", [lambda: line(0.0, 0.01, 0.03, 0.04), bent_street])
@pytest.mark.parametrize("strength", [0.3, 1.0, 3.0])
def test_distortion_has_the_budget_of_the_cheapest_at_half_of_epsilon(street, strength):
    """Programs with every pair written out tell both."""
    setting = street()
    epsilon = strength / setting.metres[0, 1]
    table = with_distortion(setting, epsilon=epsilon).table
    assert told_apart(table, setting.metres, epsilon) <= 1 + ROUNDING
    budget = cheapest_by_definition(setting.game.cost, setting.metres, epsilon / 2)
    assert np.vdot(setting.game.cost, table) == pytest.approx(budget, rel=1e-5)
    best = best_by_definition(setting.game.with_budget(budget), setting.metres, epsilon)
    assert expected_error(setting.game, Mechanism(table)) == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("noise", [1e-3, 1e-2])
def test_distortion_next_to_no_noise_is_next_to_the_truth(noise):
    setting = line(0.0, 0.01, 0.03, 0.04)
    table = with_distortion(setting, epsilon=1 / (noise * setting.metres[0, 1])).table
    np.testing.assert_allclose(table, np.eye(4), atol=1e-4)


@pytest.mark.parametrize(("seed", "count"), [(156, 7), (170, 5), (176, 3), (188, 7)])
def test_distortion_next_to_no_noise_is_found_despite_rounding(seed, count):
    """At half of epsilon the cheapest may seem to lose less, by a millionth of a square metre."""
    profile = town(seed, count)
    setting = Setting(profile, privacy=distance(profile.regions), quality=squared(distance(profile.regions)))
    noise = 0.016869559830437985 * setting.metres[setting.metres > 0].min()
    np.testing.assert_allclose(with_distortion(setting, epsilon=1 / noise).table, np.eye(count), atol=1e-6)


@pytest.mark.parametrize("spanning", [{}, {"dilation": 1.0}, {"dilation": 1.1}, {"dilation": 1.3}])
@pytest.mark.parametrize("strength", [0.5, 2.0])
def test_the_bounds_hold_for_every_mechanism_that_keeps_epsilon(spanning, strength):
    """Against programs with the rows of all pairs written out; a spanner's mechanisms are only some of these."""
    setting = bent_street()
    epsilon = strength / setting.metres[0, 1]
    least = cheapest_by_definition(setting.game.cost, setting.metres, epsilon)
    cheapest = optimal_geo_indistinguishable(setting, epsilon=epsilon, **spanning)
    assert cheapest.bound <= least * (1 + 1e-6)
    assert least <= cheapest.quality_loss * (1 + 1e-6)
    assert cheapest.optimality_gap >= 1 - least / cheapest.quality_loss - 1e-6
    game = setting.game.with_budget((cheapest.quality_loss + setting.game.saturation) / 2)
    best = best_by_definition(game, setting.metres, epsilon)
    joint = joint_optimum(setting, epsilon=epsilon, budget=game.budget, **spanning)
    assert joint.privacy <= best * (1 + 1e-6)
    assert best <= joint.bound * (1 + 1e-6)
    assert joint.optimality_gap >= 1 - joint.privacy / best - 1e-6


def test_all_pairs_are_kept_by_default_and_what_a_spanner_loses_is_told():
    setting = bent_street()
    epsilon = 2 / setting.metres[0, 1]
    exact, spanned = (
        optimal_geo_indistinguishable(setting, epsilon=epsilon, **names) for names in ({}, {"dilation": 1.3})
    )
    least = cheapest_by_definition(setting.game.cost, setting.metres, epsilon)
    assert exact.quality_loss == pytest.approx(least, rel=1e-6)
    assert exact.within == exact.bound
    assert spanned.quality_loss > 1.03 * least
    assert spanned.quality_loss * (1 - 1e-6) <= spanned.within <= spanned.quality_loss
    assert spanned.bound < least < spanned.within
    budget = (exact.quality_loss + setting.game.saturation) / 2
    joint = joint_optimum(setting, epsilon=epsilon, budget=budget)
    best = best_by_definition(setting.game.with_budget(budget), setting.metres, epsilon)
    assert joint.privacy == pytest.approx(best, rel=1e-6)
    assert (joint.status, joint.within, joint.unrestricted) == (Status.OPTIMAL, joint.bound, None)
    on_spanner = joint_optimum(setting, epsilon=epsilon, budget=budget, dilation=1.3)
    assert on_spanner.status is Status.OPTIMAL_ON_SPANNER
    assert on_spanner.privacy * (1 + 1e-5) > on_spanner.within
    assert on_spanner.within < best < on_spanner.bound


def test_beyond_what_is_affordable_a_spanner_is_taken(monkeypatch):
    setting = bent_street()
    epsilon = 2 / setting.metres[0, 1]
    for limit, spanned in ((6, False), (5, True)):
        monkeypatch.setattr(geo_indistinguishable, "AFFORDABLE", limit)
        cheapest = optimal_geo_indistinguishable(setting, epsilon=epsilon)
        joint = joint_optimum(setting, epsilon=epsilon, budget=(cheapest.quality_loss + setting.game.saturation) / 2)
        assert (cheapest.within > cheapest.bound * (1 + 1e-6)) is spanned
        assert (joint.status is Status.OPTIMAL_ON_SPANNER) is spanned


def test_distances_that_differ_by_rounding_are_taken_as_the_shorter():
    rows = geo_indistinguishable_rows([[0, 1.0], [1.0 + 1e-15, 0]], epsilon=1.0, releases=2)
    np.testing.assert_array_equal(rows.matrix.toarray(), grid_rows(1, 2, 1.0).matrix.toarray())


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.nan, np.inf, "much"])
def test_epsilon_must_be_a_number_above_zero(epsilon):
    with pytest.raises(ParameterError, match="'epsilon' parameter of geo_indistinguishable_rows must be"):
        geo_indistinguishable_rows([[0, 1], [1, 0]], epsilon=epsilon, releases=2)


@pytest.mark.parametrize("dilation", [0.5, np.nan, np.inf])
def test_a_dilation_must_be_at_least_one(dilation):
    with pytest.raises(ParameterError, match="'dilation' parameter of spanner must be"):
        geo_indistinguishable_rows([[0, 1], [1, 0]], epsilon=1.0, releases=2, dilation=dilation)


@pytest.mark.parametrize(
    ("apart", "match"),
    [
        ([[0, 1], [2, 0]], "a symmetric matrix"),
        ([[0, 1, 2], [1, 0, 1]], "a symmetric matrix"),
        ([[0, -1], [-1, 0]], "finite numbers >= 0"),
        ([[0, np.nan], [np.nan, 0]], "finite numbers >= 0"),
        ([[0, 0], [0, 0]], "more than 0 elsewhere"),
        ([[1, 1], [1, 1]], "0 on the diagonal"),
    ],
)
def test_distances_must_be_between_different_places(apart, match):
    with pytest.raises(ParameterError, match=match):
        geo_indistinguishable_rows(apart, epsilon=1.0, releases=2)
