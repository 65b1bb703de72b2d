"""Extra rows: mechanisms that may not look ahead, inequalities, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from hideseek import Game, ParameterError, Scenario, solve
from hideseek.errors import BudgetError, CertificateError
from hideseek.game import Alternatives, LinearRows
from hideseek.metrics import from_matrix, squared, total
from hideseek.model.markov import MarkovProfile
from hideseek.solvers import Status
from hideseek.solvers.certificate import certify
from hideseek.solvers.claim import Claim
from tests.support.games import euclid_game, grid_distances

CHAIN = MarkovProfile.from_matrix([[0.2, 0.5, 0.3, 0], [0.1, 0.1, 0, 0.8], [0, 0.6, 0.2, 0.2], [0.7, 0, 0, 0.3]])


D = grid_distances(2, 2)


def transition_game(route, share):
    game = Game.from_scenario(
        CHAIN,
        Scenario.present_future(planned=route == "planned"),
        privacy=total(from_matrix(D)),
        quality=total(squared(from_matrix(D))),
    )
    return game.with_budget(share * game.saturation)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_a_causal_first_release_does_not_depend_on_the_next_place(share):
    game = transition_game("unknown", share)
    solution = solve(game)
    assert solution.status is Status.OPTIMAL
    table = solution.mechanism.table
    first_release = np.array([table[:, game.releases[:, 0] == o].sum(axis=1) for o in range(4)]).T
    for place in range(4):
        distributions = first_release[game.inputs[:, 0] == place]
        np.testing.assert_allclose(distributions, np.broadcast_to(distributions[0], distributions.shape), atol=1e-8)
    assert solution.privacy <= solve(transition_game("planned", share)).bound
    assert solution.privacy == pytest.approx(solve(game, method="full_program").privacy, rel=2e-6)


def first_distributions(game, table, length):
    """The distribution of the first ``length`` releases of every input, as a dictionary."""
    distributions = []
    for row in table:
        distribution = {}
        for release, chance in zip(game.releases[:, :length].tolist(), row, strict=True):
            distribution[tuple(release)] = distribution.get(tuple(release), 0) + chance
        distributions.append(distribution)
    return distributions


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
        for known, distribution in zip(
            game.inputs.tolist(), first_distributions(game, solution.mechanism.table, length), strict=True
        ):
            by_then = tuple(place for place, at in zip(known, scenario.known, strict=True) if at <= moment)
            reference = alike.setdefault(by_then, distribution)
            assert distribution == pytest.approx(reference, abs=1e-9)
    assert solution.privacy == pytest.approx(solve(game, method="full_program").privacy, rel=2e-6)


def test_causality_without_later_places_asks_for_nothing():
    assert (
        Game.from_scenario(
            CHAIN, Scenario(target=(0,), causal=True), privacy=from_matrix(D), quality=from_matrix(D), budget=0.5
        ).rows
        is None
    )


def test_a_causal_two_step_game_agrees_with_a_program_of_its_own():
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
    limited = Game(
        game.error,
        game.cost,
        budget=game.budget,
        rows=LinearRows(matrix, lower=np.full(24, -np.inf), upper=np.zeros(24)),
    )
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
    limited = Game(game.error, game.cost, budget=0.01, rows=LinearRows(matrix, lower=np.zeros(1), upper=np.zeros(1)))
    least = game.saturation  # with equal rows, the cheapest mechanism is the cheapest constant one
    with pytest.raises(BudgetError) as caught:
        solve(limited)
    assert caught.value.least == pytest.approx(least, rel=1e-6)


def test_the_least_budget_that_the_rows_allow_is_enough():
    """Equal rows for both inputs: at the cheapest constant's cost, that constant is what remains."""
    game = euclid_game(1, 2, 0.5)
    equal = LinearRows(sparse.csr_array(np.array([[1.0, 0, -1, 0]])), lower=np.zeros(1), upper=np.zeros(1))
    solution = solve(Game(game.error, game.cost, budget=game.saturation, rows=equal), method="double_oracle")
    assert solution.privacy == pytest.approx(game.prior_risk, rel=1e-6)


def test_rows_must_fit_the_game():
    game = euclid_game(2, 2, 0.5)
    with pytest.raises(ParameterError, match="16 entries"):
        Game(
            game.error,
            game.cost,
            budget=1.0,
            rows=LinearRows(sparse.csr_array(np.ones((1, 5))), lower=np.zeros(1), upper=np.ones(1)),
        )
    with pytest.raises(ParameterError, match="one per row"):
        LinearRows(sparse.csr_array(np.ones((2, 16))), lower=np.zeros(1), upper=np.ones(2))
    with pytest.raises(ParameterError, match="at most 'upper'"):
        LinearRows(sparse.csr_array(np.ones((1, 16))), lower=np.ones(1), upper=np.zeros(1))


def test_a_claim_that_looks_ahead_is_made_causal_before_it_is_certified():
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


def test_a_claim_that_breaks_a_row_which_nothing_mends_is_refused():
    game = euclid_game(2, 2, 0.5)
    first = LinearRows(sparse.csr_array(np.eye(1, 16)), lower=np.full(1, 0.3), upper=np.full(1, 0.3))  # f(0|0) = 0.3
    limited = Game(game.error, game.cost, budget=game.budget, rows=first)
    answer = Claim(np.eye(4), (np.eye(4),), np.ones(1), np.ones(1), np.zeros(1))
    with pytest.raises(CertificateError, match="breaks an extra row"):
        certify(Alternatives((limited,)), answer, safe=np.eye(4))
