"""The optimum, against oracles that share no code with the solver."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import qif
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hideseek import Game, ParameterError, Scenario, solve
from hideseek.game import Alternatives, LinearRows
from hideseek.metrics import hamming
from hideseek.model.markov import MarkovProfile
from hideseek.solvers import Method, Status
from hideseek.util import arrays
from tests.oracles.exact_simplex import game_value
from tests.oracles.whole_game import optimum
from tests.support.games import euclid_game, games, grid_distances, random_game, zipf
from tests.support.progress import SHOWN, told_bounds
from tests.support.proofs import TOLERANCE, assert_proved

METHODS = [Method.DOUBLE_ORACLE, Method.FULL_PROGRAM]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_one_metric_for_both_gives_min_of_budget_and_prior_risk(method, share, seed):
    distance = grid_distances(3, 4)
    game = Game.from_prior(zipf(12, seed), privacy=distance, quality=distance, budget=1e9)
    game = game.with_budget(share * 1.2 * game.prior_risk)
    solution = solve(game, method=method)
    assert solution.privacy == pytest.approx(min(game.budget, game.prior_risk), rel=1e-6, abs=1e-9)
    assert_proved(solution)


@pytest.mark.parametrize("budget", [0.0, 0.05, 0.3, 0.7])
def test_hamming_gives_min_of_budget_and_one_minus_the_largest_prior(budget):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    solution = solve(Game.from_prior(prior, privacy=1 - np.eye(4), quality=1 - np.eye(4), budget=budget))
    assert solution.method is Method.CLOSED_FORM
    assert solution.privacy == pytest.approx(min(budget, 0.6), abs=1e-12)
    assert_proved(solution)


@pytest.mark.parametrize("shape", [(2, 3), (4, 4), (5, 5)])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.95])
def test_double_oracle_agrees_with_the_full_program(shape, share):
    game = euclid_game(*shape, share)
    fast, whole = solve(game, method="double_oracle"), solve(game, method="full_program")
    assert_proved(fast)
    assert_proved(whole)
    assert fast.privacy == pytest.approx(whole.privacy, rel=2 * TOLERANCE)


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("seed", range(2))
def test_larger_games_close_to_the_tolerance(share, seed):
    assert_proved(solve(euclid_game(7, 8, share, seed), tolerance=1e-7), tolerance=1e-7)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_qif_finds_the_same_value(share):
    distance = grid_distances(3, 3)
    prior = zipf(9, seed=4)
    game = Game.from_prior(prior, privacy=distance, quality=distance**2, budget=1e9)
    game = game.with_budget(share * game.saturation)
    channel = qif.mechanism.l_risk.max_risk_given_max_loss(
        prior, 9, 9, game.budget, lambda g, a: distance[g, a], lambda a, o: distance[a, o] ** 2
    )
    channel = np.array(channel)
    value = (game.error @ channel).min(axis=0).sum()
    assert (game.cost * channel).sum() <= game.budget * (1 + 1e-6)
    assert solve(game).privacy == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_exact_rationals_find_the_same_value(seed):
    generator = np.random.default_rng(seed)
    inputs, releases, guesses = 3, 3, 3
    weight = [Fraction(int(k), 20) for k in generator.multinomial(14, np.ones(3) / 3) + 2]
    error = [[weight[i] * Fraction(int(generator.integers(0, 8)), 4) for i in range(inputs)] for _ in range(guesses)]
    cost = [[weight[i] * int(generator.integers(1, 6)) if o < releases - 1 else Fraction(0) for o in range(releases)]
            for i in range(inputs)]  # fmt: skip
    budget = Fraction(int(generator.integers(1, 30)), 20)
    exact = game_value(error, cost, budget)
    game = Game(
        [[float(x) for x in row] for row in error], [[float(x) for x in row] for row in cost], budget=float(budget)
    )
    for method in METHODS:
        solution = solve(game, method=method)
        assert Fraction(solution.privacy) <= exact <= Fraction(solution.bound)
        assert solution.privacy == pytest.approx(float(exact), rel=TOLERANCE, abs=1e-12)


def test_exact_rationals_evaluate_the_certificate_to_the_same_bounds():
    game = euclid_game(2, 3, 0.4)
    solution = solve(game)
    table, attack = solution.mechanism.table, solution.attack
    exact = [[Fraction(x) for x in row] for row in game.error]
    rows = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in table.tolist()]
    guess = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in attack.tolist()]
    size = range(6)
    lower = sum(min(sum(exact[g][i] * rows[i][o] for i in size) for g in size) for o in size)
    price, budget = Fraction(solution.price), Fraction(game.budget)
    upper = price * budget + sum(
        max(sum(guess[o][g] * exact[g][i] for g in size) - price * Fraction(game.cost[i, o]) for o in size)
        for i in size
    )
    assert Fraction(solution.privacy) <= lower <= upper <= Fraction(solution.bound)


@given(st.integers(0, 10**6), st.floats(0, 1))
@settings(max_examples=20)
def test_no_table_on_a_grid_beats_a_two_by_two_game(seed, share):
    game = random_game(seed, 2, 2, 2, share)
    solution = solve(game)
    best = 0.0
    for a, b in itertools.product(np.linspace(0, 1, 101), repeat=2):
        table = np.array([[a, 1 - a], [b, 1 - b]])
        if (game.cost * table).sum() <= game.budget:
            best = max(best, (game.error @ table).min(axis=0).sum())
    assert best <= solution.bound + 1e-12
    # the grid has steps of 0.01: between its points, privacy changes by at most that share of all errors
    assert solution.privacy <= best + 0.02 * game.error.max(axis=0).sum() + 1e-9


@given(games())
@settings(max_examples=40)
def test_every_random_game_is_proved_by_both_methods(game):
    for method in METHODS:
        assert_proved(solve(game, method=method))


@given(games())
@settings(max_examples=25)
def test_the_returned_pair_is_complementary(game):
    """KKT: what f uses is best against h; what h guesses is best against f; a positive price exhausts the budget."""
    solution = solve(game, tolerance=1e-9)
    table, attack, price = solution.mechanism.table, solution.attack, solution.price
    slack = max(1e-7 * game.prior_risk, 1e-12)
    profit = (attack @ game.error).T - price * game.cost
    assert (table * (profit.max(axis=1, keepdims=True) - profit)).sum() <= slack
    errors = game.error @ table
    assert (attack * (errors - errors.min(axis=0)).T).sum() <= slack
    assert price * (game.budget - solution.quality_loss) <= slack


@given(games(), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=25)
def test_value_is_monotone_and_concave_in_the_budget(game, one, two):
    def budget(share):
        return game.least_loss + share * (game.saturation - game.least_loss)

    low, high = sorted((budget(one), budget(two)))
    first, last = solve(game.with_budget(low)), solve(game.with_budget(high))
    middle = solve(game.with_budget((low + high) / 2))
    assert first.privacy <= last.bound
    assert (first.privacy + last.privacy) / 2 <= middle.bound + 1e-15


@given(games())
@settings(max_examples=25)
def test_value_is_at_most_the_prior_risk_and_reaches_it_at_saturation(game):
    assert solve(game).privacy <= game.prior_risk
    assert solve(game.with_budget(game.saturation)).privacy == pytest.approx(game.prior_risk, rel=1e-9)


@given(games(), st.randoms(use_true_random=False), st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
@settings(max_examples=25)
def test_value_survives_relabelling_and_scales_with_the_units(game, shuffle, privacy_unit, quality_unit):
    def order(count):
        numbers = list(range(count))
        shuffle.shuffle(numbers)
        return numbers

    guesses, inputs, releases = (order(n) for n in (*game.error.shape, game.cost.shape[1]))
    other = Game(
        game.error[np.ix_(guesses, inputs)] * privacy_unit,
        game.cost[np.ix_(inputs, releases)] * quality_unit,
        budget=game.budget * quality_unit * (1 + 1e-12),
    )
    assert solve(other).privacy / privacy_unit == pytest.approx(
        solve(game).privacy, rel=3e-6, abs=1e-9 * game.prior_risk
    )


@given(st.integers(0, 10**6), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=20)
def test_value_is_concave_in_the_prior(seed, share, between):
    """In one budget: a mixture of priors is worth at least the mixture of the values at matching budgets."""
    generator = np.random.default_rng(seed)
    d_p, d_q = generator.random((4, 4)), generator.random((4, 4)) * (1 - np.eye(4))
    priors = [generator.dirichlet(np.ones(4)) for _ in range(2)]
    budget = share
    values = [solve(Game.from_prior(prior, privacy=d_p, quality=d_q, budget=budget)).privacy for prior in priors]
    mixed = Game.from_prior(between * priors[0] + (1 - between) * priors[1], privacy=d_p, quality=d_q, budget=budget)
    assert between * values[0] + (1 - between) * values[1] <= solve(mixed).bound + 1e-12


def test_memory_zero_is_the_sporadic_scenario():
    assert Scenario.past_present(memory=0) == Scenario.sporadic()
    assert Scenario.past_present(memory=0, protect="way") == Scenario.sporadic()


def test_unvisited_places_get_a_row_that_reveals_nothing():
    prior = np.r_[zipf(6), 0]
    distance = grid_distances(1, 7)
    with_empty = Game.from_prior(prior, privacy=distance, quality=distance**2, budget=0.5)
    table = solve(with_empty, method="double_oracle").mechanism.table
    np.testing.assert_allclose(table[6], prior @ table)  # the marginal distribution of the release


def test_a_game_worth_nothing_is_solved_at_once():
    solution = solve(Game(np.zeros((2, 3)), np.ones((3, 2)), budget=5.0))
    assert (solution.privacy, solution.bound, solution.optimality_gap) == (0, 0, 0)


def test_a_time_limit_returns_an_honest_gap():
    solution = solve(euclid_game(8, 8, 0.5), time_limit=0.0)
    assert solution.status is Status.TIME_LIMIT
    assert solution.optimality_gap > TOLERANCE
    whole = solve(euclid_game(8, 8, 0.5))
    assert_proved(whole)
    assert solution.privacy <= whole.bound
    assert whole.privacy <= solution.bound


def test_progress_brackets_the_value():
    seen = []
    game = euclid_game(5, 5, 0.5)
    solution = solve(game, progress=lambda *news: seen.append(news))
    assert [news[1:] for news in seen] == [(k, 0) for k in range(1, solution.iterations + 1)]
    bounds = [told_bounds(what) for what, *_ in seen]
    assert all(low <= solution.bound * (1 + SHOWN) and high >= solution.privacy * (1 - SHOWN) for low, high in bounds)


@pytest.mark.parametrize("route", ["planned", "unknown"])
@pytest.mark.parametrize("budget", [0.1, 0.4, 0.9])
def test_transitions_in_hamming_reach_the_closed_form_on_either_route(route, budget):
    chain = MarkovProfile.from_matrix([[0.1, 0.9, 0], [0.3, 0.3, 0.4], [0.8, 0, 0.2]])
    game = Game.from_scenario(
        chain, Scenario.present_future(planned=route == "planned"), privacy=hamming(), quality=hamming(), budget=budget
    )
    largest = max(chain.probability((a, b)) for a in range(3) for b in range(3))
    for method in ("auto", "double_oracle"):
        assert solve(game, method=method).privacy == pytest.approx(min(budget, 1 - largest), rel=1e-6)


def test_closed_form_is_refused_where_there_is_none():
    with pytest.raises(ParameterError, match="'closed form' only for games that have one"):
        solve(euclid_game(3, 3, 0.5), method="closed_form")


@pytest.mark.parametrize("method", ["simplex", "", 3])
def test_an_unknown_method_is_refused_with_the_names(method):
    with pytest.raises(ParameterError, match="double oracle"):
        solve(euclid_game(2, 2, 0.5), method=method)


@pytest.mark.parametrize("tolerance", [0, -1, float("nan"), float("inf"), "small"])
def test_a_tolerance_must_be_positive(tolerance):
    with pytest.raises(ParameterError, match="The 'tolerance' parameter of solve"):
        solve(euclid_game(2, 2, 0.5), tolerance=tolerance)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e9])
@pytest.mark.parametrize("method", METHODS)
def test_units_do_not_matter(unit, method):
    distance = grid_distances(2, 3)
    one = Game.from_prior(zipf(6), privacy=distance, quality=distance**2, budget=0.4)
    other = Game.from_prior(zipf(6), privacy=distance * unit, quality=(distance * unit) ** 2, budget=0.4 * unit**2)
    assert solve(other, method=method).privacy / unit == pytest.approx(solve(one).privacy, rel=2e-6)


@given(st.integers(0, 10**6), st.floats(-13, -1), st.sampled_from([0.05, 1.0]))
@settings(max_examples=60)
def test_budgets_next_to_the_least_loss_are_met(seed, power, skew):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 6))
    prior = generator.dirichlet(np.full(size, skew))
    game = Game.from_prior(
        prior / prior.sum(), privacy=generator.random((size, size)), quality=generator.random((size, size)), budget=1e9
    )
    game = game.with_budget(game.least_loss * (1 + 10**power))
    solution = solve(game)
    assert solution.quality_loss <= game.budget
    assert solution.privacy <= solution.bound <= game.prior_risk * (1 + 1e-12)


def test_a_budget_that_misses_the_least_loss_by_rounding_is_the_least_loss():
    game = random_game(3, 3, 3, 3, 0.5)
    rounded = game.with_budget(game.least_loss * (1 - 1e-14))
    assert rounded.budget == game.least_loss
    assert solve(rounded).privacy <= solve(rounded).bound


@pytest.mark.parametrize("nothing", [3, None, "game"])
def test_what_is_no_game_is_refused(nothing):
    with pytest.raises(ParameterError, match="a Game or an Alternatives"):
        solve(nothing)


@pytest.mark.parametrize("radius", [1.0, 2.0, 4.0, 9.0, 100.0])
def test_within_a_radius_the_bound_is_still_that_of_all_mechanisms(radius):
    game = euclid_game(4, 5, 0.5)
    solution = solve(game, radius=radius)
    assert solution.privacy == pytest.approx(optimum(game, radius), rel=2e-6)
    assert (game.cost / game.mass[:, None])[solution.mechanism.table > 0].max() <= radius * (1 + 1e-9)
    assert solution.bound == pytest.approx(optimum(game), rel=2e-6)
    assert solution.optimality_gap == pytest.approx(1 - optimum(game, radius) / optimum(game), abs=3e-6)
    assert solution.unrestricted.bound == solution.bound
    assert solution.privacy <= solution.within <= solution.privacy * (1 + 2e-6)
    assert solution.status is (Status.OPTIMAL if solution.optimality_gap <= 1e-6 else Status.OPTIMAL_WITHIN)


def test_a_radius_that_excludes_nothing_changes_nothing():
    game = euclid_game(4, 5, 0.5)
    wide = solve(game, radius=1e9)
    assert (wide.status, wide.within) == (Status.OPTIMAL, wide.bound)
    assert wide.privacy == pytest.approx(solve(game).privacy, rel=2e-6)


def test_a_radius_without_any_release_is_refused_with_the_least_one():
    game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=np.array([[1.0, 2.0], [5.0, 3.0]]), budget=4.0)
    with pytest.raises(ParameterError, match="at least 3"):
        solve(game, radius=2.9)
    assert solve(game, radius=3).privacy == pytest.approx(optimum(game, 3))


@pytest.mark.parametrize("options", [{"method": "full program"}, {"hardware": "cuda"}, {"radius": -1.0}])
def test_a_radius_is_refused_with_methods_that_ignore_it(options):
    with pytest.raises(ParameterError, match="radius"):
        solve(euclid_game(3, 3, 0.5), **({"radius": 5.0} | options))


GAME = euclid_game(3, 3, 0.5)


SAME = LinearRows(
    sparse.csr_array(np.eye(1, 81) - np.eye(1, 81, 9)), lower=np.zeros(1), upper=np.zeros(1)
)  # f(0|0) = f(0|1)


LIMITED = Game(GAME.error, GAME.cost, budget=GAME.budget, rows=SAME, mass=GAME.mass)


@pytest.mark.parametrize("game", [Game(GAME.error, GAME.cost, budget=GAME.budget), Alternatives((GAME, GAME)), LIMITED])
def test_a_radius_is_for_one_game_whose_mass_is_known(game):
    with pytest.raises(ParameterError, match=r"'radius'.*one game whose mass is known and without extra rows"):
        solve(game, radius=5.0)


def test_a_constant_release_outside_the_radius_is_not_used():
    game = GAME.with_budget(2 * GAME.saturation)  # without a radius, the closed form of one release for all
    assert solve(game).method is Method.CLOSED_FORM
    assert solve(game, radius=1.0).privacy == pytest.approx(optimum(game, 1.0), rel=2e-6)
    assert optimum(game, 1.0) < 0.9 * optimum(game)


@pytest.mark.parametrize("radius", [None, 2.0])
def test_working_on_a_few_rows_at_a_time_changes_nothing(radius, monkeypatch):
    whole = solve(GAME, radius=radius)
    monkeypatch.setattr(arrays, "BLOCK", 20)  # two rows of nine
    parts = solve(GAME, radius=radius)
    for name in ("privacy", "bound", "within", "iterations"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name), rel=1e-9)
