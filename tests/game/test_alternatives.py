"""One mechanism for several games, extra rows, and the worst case over inputs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hideseek import Game, ParameterError, Scenario, solve
from hideseek.errors import BudgetError, CertificateError, SizeError
from hideseek.game import Alternatives, LinearRows
from hideseek.metrics import from_matrix, squared, total
from hideseek.model.mobility import MarkovProfile
from hideseek.solvers import Status, solve_worst_case
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from hideseek.solvers.worst_case import worst_error
from tests.support.games import euclid_game, grid_distances, random_game, zipf


def several(seed, count=3, spare=0.1):
    """Games that share their places, with different priors and metrics, and budgets that one mechanism can meet."""
    games = [random_game(seed + 1000 * k, 3, 4, 4, 1.0) for k in range(count)]
    met = np.random.default_rng(seed).dirichlet(np.ones(4), size=4)
    return [game.with_budget((1 + spare) * (game.cost * met).sum()) for game in games]


@given(st.integers(0, 10**4), st.floats(0, 1))
@settings(max_examples=20)
def test_average_and_minimum_lie_where_they_must(seed, spare):
    games = several(seed, spare=spare)
    average, minimum = solve(Alternatives(games, "average")), solve(Alternatives(games, "minimum"))
    alone = [solve(game) for game in games]
    assert minimum.privacy <= average.bound
    assert average.privacy <= np.mean([one.bound for one in alone])
    assert minimum.privacy <= min(one.bound for one in alone)
    assert average.privacy == pytest.approx(np.mean(average.privacies))
    assert minimum.privacy == pytest.approx(min(minimum.privacies))
    assert minimum.privacy >= min(average.privacies) * (1 - 2e-6)
    for solution in (average, minimum):
        assert solution.status is Status.OPTIMAL
        for game, loss, privacy in zip(games, solution.losses, solution.privacies, strict=True):
            table = solution.mechanism.table
            assert loss == pytest.approx((game.cost * table).sum())
            assert loss <= game.budget * (1 + 1e-9)
            assert privacy <= (game.error @ table).min(axis=0).sum()


@pytest.mark.parametrize("objective", ["average", "minimum"])
@pytest.mark.parametrize("seed", range(4))
def test_both_methods_agree_on_alternatives(objective, seed):
    problem = Alternatives(several(seed), objective)
    fast, whole = solve(problem, method="double_oracle"), solve(problem, method="full_program")
    assert fast.privacy == pytest.approx(whole.privacy, rel=2e-6)
    assert whole.optimality_gap <= 1e-6


def test_a_game_twice_is_the_game_once():
    game = euclid_game(3, 3, 0.4)
    for objective in ("average", "minimum"):
        assert solve(Alternatives((game, game), objective)).privacy == pytest.approx(solve(game).privacy, rel=2e-6)


def test_weights_pull_the_average_to_one_game():
    games = several(7)
    pulled = solve(Alternatives(games, "average", np.array([1.0, 0, 0])))
    even = solve(Alternatives(games, "average"))
    assert pulled.privacy == pytest.approx(pulled.privacies[0])
    assert pulled.privacies[0] >= even.privacies[0] * (1 - 2e-6)
    loose = [games[0], *(game.with_budget(1e6) for game in games[1:])]
    assert solve(Alternatives(loose, "average", np.array([1.0, 0, 0]))).privacy == pytest.approx(
        solve(games[0]).privacy, rel=2e-6
    )


def test_several_quality_metrics_all_hold():
    prior, distance = zipf(9), grid_distances(3, 3)
    fine = Game.from_prior(prior, privacy=distance, quality=distance**2, budget=0.8)
    coarse = Game.from_prior(prior, privacy=distance, quality=1 - np.eye(9), budget=0.35)
    both = solve(Alternatives((fine, coarse)))
    assert both.privacy <= min(solve(fine).bound, solve(coarse).bound)
    assert (both.losses <= np.array([0.8, 0.35]) * (1 + 1e-9)).all()


def test_budgets_that_no_mechanism_meets_together_are_refused():
    prior = np.array([0.5, 0.5])
    one = Game(prior * (1 - np.eye(2)), np.array([[0, 1.0], [0, 1]]), 0.1)
    two = Game(prior * (1 - np.eye(2)), np.array([[1.0, 0], [1, 0]]), 0.1)
    with pytest.raises(BudgetError, match=r"in all games. Got .* short by 900.0%"):
        solve(Alternatives((one, two)))


def relabelled(game, first):
    return Game(game.error, game.cost, game.budget, inputs=np.arange(first, first + 4)[:, None])


def test_causal_games_of_two_profiles_can_be_solved_together():
    other = MarkovProfile.from_matrix(np.where(CHAIN.transition > 0, 1.0, 0) / (CHAIN.transition > 0).sum(1)[:, None])
    games = []
    for profile in (CHAIN, other):
        game = Game.from_scenario(
            profile, Scenario.present_future("unknown"), privacy=total(from_matrix(D)), quality=from_matrix(D)
        )
        games.append(game.with_budget(0.5 * game.saturation))
    solution = solve(Alternatives(games, "minimum"))
    assert solution.status is Status.OPTIMAL
    assert np.abs(games[0].rows.matrix @ solution.mechanism.table.ravel()).max() <= 1e-8


@pytest.mark.parametrize(
    ("games", "options", "match"),
    [
        ([], {}, "at least one game"),
        ([euclid_game(2, 2, 0.5), euclid_game(2, 3, 0.5)], {}, "other inputs in game 1"),
        ([relabelled(euclid_game(2, 2, 0.5), k) for k in (0, 1)], {}, "other inputs in game 1"),
        ([euclid_game(2, 2, 0.5)] * 2, {"objective": "best"}, "one of 'average', 'minimum'"),
        ([euclid_game(2, 2, 0.5)] * 2, {"weights": np.array([0.5, 0.6])}, "sum to 1"),
        ([euclid_game(2, 2, 0.5)] * 2, {"weights": np.array([1.0])}, "one per game"),
    ],
)
def test_bad_alternatives_are_refused(games, options, match):
    with pytest.raises(ParameterError, match=match):
        Alternatives(games, **options)


CHAIN = MarkovProfile.from_matrix([[0.2, 0.5, 0.3, 0], [0.1, 0.1, 0, 0.8], [0, 0.6, 0.2, 0.2], [0.7, 0, 0, 0.3]])
D = grid_distances(2, 2)


def transition_game(route, share):
    game = Game.from_scenario(
        CHAIN, Scenario.present_future(route), privacy=total(from_matrix(D)), quality=total(squared(from_matrix(D)))
    )
    return game.with_budget(share * game.saturation)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_a_causal_mechanism_keeps_the_next_place_out_of_the_first_release(share):
    game = transition_game("unknown", share)
    solution = solve(game)
    assert solution.status is Status.OPTIMAL
    table = solution.mechanism.table
    first_release = np.array([table[:, game.releases[:, 0] == o].sum(axis=1) for o in range(4)]).T
    for place in range(4):
        laws = first_release[game.inputs[:, 0] == place]
        np.testing.assert_allclose(laws, np.broadcast_to(laws[0], laws.shape), atol=1e-8)
    assert solution.privacy <= solve(transition_game("planned", share)).bound
    assert solution.privacy == pytest.approx(solve(game, method="full_program").privacy, rel=2e-6)


def first_laws(game, table, length):
    """The law of the first ``length`` releases of every input, as a dictionary."""
    laws = []
    for row in table:
        law = {}
        for release, chance in zip(game.releases[:, :length].tolist(), row, strict=True):
            law[tuple(release)] = law.get(tuple(release), 0) + chance
        laws.append(law)
    return laws


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(target=(0, 1, 2), release=(0, 1, 2), causal=True),
        Scenario(target=(0, 1, 2), release=(0, 1), quality=(0, 1), causal=True),
        Scenario(target=(0, 1), release=(0,), quality=(0,), causal=True),
    ],
)
def test_no_release_knows_a_later_place(scenario):
    """Over three releases, over known places later than the last release, and over a single release."""
    chain = MarkovProfile.from_matrix([[0.3, 0.7], [0.6, 0.4]])
    line = from_matrix(grid_distances(1, 2))
    game = Game.from_scenario(chain, scenario, privacy=total(line), quality=total(line))
    game = game.with_budget(0.3 * game.saturation)
    solution = solve(game, method="double_oracle")
    assert solution.status is Status.OPTIMAL
    for length, moment in enumerate(scenario.release, start=1):
        alike = {}
        for known, law in zip(game.inputs.tolist(), first_laws(game, solution.mechanism.table, length), strict=True):
            by_then = tuple(place for place, at in zip(known, scenario.known, strict=True) if at <= moment)
            reference = alike.setdefault(by_then, law)
            assert law == pytest.approx(reference, abs=1e-9)
    assert solution.privacy == pytest.approx(solve(game, method="full_program").privacy, rel=2e-6)


def test_causality_without_later_places_asks_for_nothing():
    assert (
        Game.from_scenario(
            CHAIN, Scenario(target=(0,), causal=True), privacy=from_matrix(D), quality=from_matrix(D), budget=0.5
        ).rows
        is None
    )


def test_a_causal_two_step_game_agrees_with_a_program_in_its_own_variables():
    """Oracle: f(o1|r1) and the joint f(o1, o2|r1, r2) as separate variables, solved by scipy alone."""
    from scipy.optimize import linprog

    game = transition_game("unknown", 0.3)
    pairs, releases, guesses = len(game.inputs), 16, 16
    width = pairs * releases + 16 + releases  # joint, first[r1, o1], y[o]
    equal, right = [], []
    for i, o1 in itertools.product(range(pairs), range(4)):
        row = np.zeros(width)
        for o in range(releases):
            if game.releases[o, 0] == o1:
                row[i * releases + o] = 1
        row[pairs * releases + 4 * game.inputs[i, 0] + o1] = -1
        equal.append(row)
        right.append(0)
    for r1 in range(4):
        row = np.zeros(width)
        row[pairs * releases + 4 * r1 : pairs * releases + 4 * r1 + 4] = 1
        equal.append(row)
        right.append(1)
    rows, limits = [np.r_[game.cost.ravel(), np.zeros(16 + releases)]], [game.budget]
    for g, o in itertools.product(range(guesses), range(releases)):
        row = np.zeros(width)
        row[o : pairs * releases : releases] = -game.error[g]
        row[pairs * releases + 16 + o] = 1
        rows.append(row)
        limits.append(0)
    objective = np.r_[np.zeros(width - releases), -np.ones(releases)]
    result = linprog(objective, np.array(rows), limits, np.array(equal), right)
    assert solve(game).privacy == pytest.approx(-result.fun, rel=2e-6)


def test_inequality_rows_bind_and_are_certified():
    """Differential privacy between two neighbours, as a foretaste: f(o|i) <= 3 f(o|j) for the nearest."""
    game = euclid_game(1, 4, 0.65)
    contrast = np.zeros((6, 4))
    for k, (i, j) in enumerate([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]):
        contrast[k, i], contrast[k, j] = 1, -3.0
    matrix = sparse.csr_array(np.kron(contrast, np.eye(4)))
    limited = Game(game.error, game.cost, game.budget, rows=LinearRows(matrix, np.full(24, -np.inf), np.zeros(24)))
    fast, whole = solve(limited, method="double_oracle"), solve(limited, method="full_program")
    assert fast.status is whole.status is Status.OPTIMAL
    assert fast.privacy == pytest.approx(whole.privacy, rel=2e-6)
    assert fast.privacy < solve(game).privacy * (1 - 1e-4)
    for solution in (fast, whole):
        assert (matrix @ solution.mechanism.table.ravel()).max() <= 1e-8


def test_a_budget_that_the_rows_rule_out_is_refused_with_the_least():
    """Every input must release place 0 or 1 alike: the truth is no longer possible."""
    game = euclid_game(1, 2, 0.5)
    matrix = sparse.csr_array(np.array([[1.0, 0, -1, 0]]))
    limited = Game(game.error, game.cost, 0.01, rows=LinearRows(matrix, np.zeros(1), np.zeros(1)))
    least = game.saturation  # with equal rows, the cheapest mechanism is the cheapest constant one
    with pytest.raises(BudgetError) as caught:
        solve(limited)
    assert caught.value.least == pytest.approx(least, rel=1e-6)


def test_the_least_budget_that_the_rows_allow_is_enough():
    """Equal rows for both inputs: at the cheapest constant's cost, that constant is what remains."""
    game = euclid_game(1, 2, 0.5)
    equal = LinearRows(sparse.csr_array(np.array([[1.0, 0, -1, 0]])), np.zeros(1), np.zeros(1))
    solution = solve(Game(game.error, game.cost, game.saturation, rows=equal), method="double_oracle")
    assert solution.privacy == pytest.approx(game.prior_risk, rel=1e-6)


def test_rows_must_fit_the_game():
    game = euclid_game(2, 2, 0.5)
    with pytest.raises(ParameterError, match="16 entries"):
        Game(game.error, game.cost, 1.0, rows=LinearRows(sparse.csr_array(np.ones((1, 5))), np.zeros(1), np.ones(1)))
    with pytest.raises(ParameterError, match="one per row"):
        LinearRows(sparse.csr_array(np.ones((2, 16))), np.zeros(1), np.ones(2))
    with pytest.raises(ParameterError, match="at most 'upper'"):
        LinearRows(sparse.csr_array(np.ones((1, 16))), np.ones(1), np.zeros(1))


def test_an_answer_that_looks_ahead_is_made_causal_before_it_is_certified():
    game = transition_game("unknown", 0.3)
    planned = solve(transition_game("planned", 0.3))
    assert np.abs(game.rows.matrix @ planned.mechanism.table.ravel()).max() > 0.01
    nothing = np.zeros(len(game.rows.lower))
    answer = Claim(planned.mechanism.table, planned.attacks, planned.prices, np.ones(1), nothing)
    certificate = certify(Alternatives((game,)), answer, safe=np.eye(16)[[4 * a + b for a, b in game.inputs]])
    table = certificate.claim.table
    assert np.abs(game.rows.matrix @ table.ravel()).max() <= 1e-12
    np.testing.assert_allclose(table.sum(axis=1), 1)
    best = solve(game)
    assert certificate.privacy <= best.bound
    assert certificate.bound >= best.privacy


def test_an_answer_that_breaks_a_row_which_nothing_mends_is_refused():
    game = euclid_game(2, 2, 0.5)
    first = LinearRows(sparse.csr_array(np.eye(1, 16)), np.full(1, 0.3), np.full(1, 0.3))  # f(0|0) = 0.3
    limited = Game(game.error, game.cost, game.budget, rows=first)
    answer = Claim(np.eye(4), (np.eye(4),), np.ones(1), np.ones(1), np.zeros(1))
    with pytest.raises(CertificateError, match="breaks an extra row"):
        certify(Alternatives((limited,)), answer, safe=np.eye(4))


def smallest_error(game, table):
    """By definition: each release's best guesses (all that tie), each input's error under the worst of them."""
    inputs = range(len(game.cost))
    errors = []
    for i in inputs:
        error = 0.0
        for o in range(game.cost.shape[1]):
            expected = [sum(game.error[g, j] * table[j, o] for j in inputs) for g in range(len(game.error))]
            ties = [g for g, value in enumerate(expected) if value <= min(expected) + 1e-9 * game.prior_risk]
            error += table[i, o] * min(game.error[g, i] / game.mass[i] for g in ties)
        errors.append(error)
    return min(errors)


@given(st.integers(0, 10**4), st.floats(0.05, 0.95))
@settings(max_examples=15)
def test_worst_case_is_at_least_every_grid_table_and_within_its_bound(seed, share):
    generator = np.random.default_rng(seed)
    prior = generator.dirichlet(np.ones(2) * 3)
    d_p = np.array([[0, 1 + generator.random()], [1 + generator.random(), 0]])
    game = Game.from_prior(prior, privacy=d_p, quality=1 - np.eye(2), budget=share * prior.min())
    solution = solve_worst_case(game)
    best = 0.0
    for a, b in itertools.product(np.linspace(0, 1, 51), repeat=2):
        table = np.array([[a, 1 - a], [b, 1 - b]])
        if (game.cost * table).sum() <= game.budget:
            best = max(best, smallest_error(game, table))
    assert solution.privacy <= solution.bound
    assert smallest_error(game, solution.mechanism.table) >= solution.privacy - 1e-9
    assert best <= solution.bound + 1e-9
    assert solution.privacy >= best - 1e-4 * d_p.max()
    assert solution.quality_loss <= game.budget * (1 + 1e-9)


@pytest.mark.parametrize("places", [3, 5])
def test_the_expected_optimum_exposes_somebody_whom_the_worst_case_protects(places):
    prior = zipf(places, 1)
    game = Game.from_prior(prior, privacy=1 - np.eye(places), quality=1 - np.eye(places), budget=0.2)
    assert worst_error(game, solve(game).mechanism.table) == pytest.approx(0, abs=1e-9)
    protected = solve_worst_case(game)
    assert protected.privacy > 0.15
    # the error at the most exposed input cannot exceed the expected error, nor that the optimum
    assert protected.privacy <= solve(game).bound
    table = protected.mechanism.table
    guess = (game.error @ table).argmin(axis=0)
    by_hand = min(sum(table[i, o] * (guess[o] != i) for o in range(places)) for i in range(places))
    assert protected.privacy == pytest.approx(by_hand, rel=1e-6)


def test_an_adversary_who_hardly_prefers_a_guess_is_expected_to_make_the_other():
    game = Game.from_prior([0.5, 0.5], privacy=1 - np.eye(2), quality=np.zeros((2, 2)), budget=0.0)
    slight = 1e-13
    table = np.array([[0.5 + slight, 0.5 - slight], [0.5 - slight, 0.5 + slight]])
    assert worst_error(game, table) == pytest.approx(0, abs=1e-9)
    assert worst_error(game, np.array([[0.6, 0.4], [0.4, 0.6]])) == pytest.approx(0.4)


def test_worst_case_needs_probabilities_and_a_small_game():
    with pytest.raises(ParameterError, match="one without probabilities"):
        solve_worst_case(random_game(0, 2, 2, 2, 0.5))
    with pytest.raises(SizeError, match="Use fewer places"):
        solve_worst_case(euclid_game(8, 8, 0.5))
