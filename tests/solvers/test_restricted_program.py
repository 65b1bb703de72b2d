"""Restricted programs: what they leave out, and what they take over from another game; the optimum stays the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from hideseek import Game, MarkovProfile, ParameterError, Scenario, design, solve
from hideseek.designing import history_solver
from hideseek.designing.stage_draft import make
from hideseek.game import Alternatives
from hideseek.game.alternatives import as_alternatives
from hideseek.solvers import Method, Status, prefer
from hideseek.solvers.double_oracle import DoubleOracle
from tests.support.games import grid_distances
from tests.support.proofs import assert_preferred, assert_proved

DISTANCE = grid_distances(2, 4)
LOSS = DISTANCE**2
WALK = np.where(DISTANCE <= 1, 1.0, 0.0) / (DISTANCE <= 1).sum(axis=1, keepdims=True)


def belief(generator: np.random.Generator) -> np.ndarray:
    """A distribution over the places; some are impossible, some hardly possible."""
    chance = generator.dirichlet(np.full(8, 0.7)) * (generator.random(8) > 0.2)
    chance[generator.integers(8)] += 0.1
    return chance / chance.sum()


def games(chance: np.ndarray, share: float = 0.3) -> tuple[Game, Game]:
    """The game at a belief, over the places that can be, and the errors after one more step of the walk."""
    on = np.flatnonzero(chance)
    mass, inputs = chance[on], on[:, None]
    game = Game(DISTANCE[:, on] * mass, LOSS[on] * mass[:, None], budget=1e9, mass=mass, inputs=inputs)
    game = game.with_budget(share * game.saturation)
    return game, Game((DISTANCE @ WALK.T)[:, on] * mass, game.cost, budget=game.budget, inputs=inputs)


@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
@settings(max_examples=40)
def test_binding_rows_of_another_belief_lead_to_the_same_optimum(seed, share):
    generator = np.random.default_rng(seed)
    (other, other_next), (game, following) = (games(belief(generator), share) for _ in range(2))
    before = solve(other, method=Method.DOUBLE_ORACLE)
    cold = solve(game, method=Method.DOUBLE_ORACLE)
    warm = solve(game, method=Method.DOUBLE_ORACLE, start=before.end)
    assert_proved(warm)
    assert warm.privacy == pytest.approx(cold.privacy, rel=2e-6)  # both within 1e-6 of the value
    preferred = prefer(warm, following, start=prefer(before, other_next).end)
    assert_preferred(warm, following, preferred)
    assert_proved(preferred, tolerance=2e-6)


def test_after_a_hundred_beliefs_the_optimum_is_that_of_a_fresh_program():
    generator, end, chosen = np.random.default_rng(0), None, None
    for _ in range(100):
        game, following = games(belief(generator))
        solution = solve(game, start=end)
        preferred = prefer(solution, following, start=chosen)
        end, chosen = solution.end or end, preferred.end
    assert_proved(solution)
    assert_preferred(solution, following, preferred)
    assert solution.privacy == pytest.approx(solve(game).privacy, rel=2e-6)
    assert len(end[0]) <= 2 * sum(game.cost.shape)  # what was binding once does not stay for ever


def test_binding_rows_make_the_attack_and_start_the_next_program():
    game = games(np.full(8, 1 / 8))[0]
    solution = solve(game, method=Method.DOUBLE_ORACLE)
    guess, release = solution.end
    assert solution.attack[release, guess].min() > 0
    made = solution.mechanism.table.sum(axis=0) > 1e-6  # after other releases any guess will do
    assert np.isin(np.flatnonzero(made), release).all()
    assert DoubleOracle(as_alternatives(game), solution.end).has_row[solution.end].all()


def test_binding_rows_of_a_game_with_more_guesses_are_refused():
    game, following = games(np.full(8, 1 / 8))
    end = prefer(solve(game), following).end
    assert max(end[0]) >= 8  # the guesses of the second game are numbered after those of the first
    with pytest.raises(ParameterError, match="guesses below 8 for releases below 8"):
        solve(game, start=end)


def test_the_programs_of_a_design_start_with_earlier_binding_rows(monkeypatch):
    starts, ends = [], [(None, None)]

    def noting(game, second, start, *more):
        made = make(game, second, start, *more)
        assert any(start[0] is own and start[1] is chosen for own, chosen in ends)
        starts.append(start)
        ends.append(made.ends)
        return made

    monkeypatch.setattr(history_solver, "make", noting)
    design(
        MarkovProfile.from_matrix(WALK), Scenario.past_present(1), privacy=DISTANCE, quality=LOSS, budget=0.5, workers=1
    )
    assert sum(start != (None, None) for start in starts) > len(starts) / 2


def zipf_map(places, uniform=False):
    """Hamming privacy on a square grid with Euclidean loss, at 30 % of the saturating budget."""
    at = np.argwhere(np.ones((places, places)))
    apart = np.hypot(*(at[:, None] - at[None]).T)
    mass = np.ones(len(at)) if uniform else np.random.default_rng(0).permutation(1 / np.arange(1.0, len(at) + 1))
    game = Game.from_prior(mass / mass.sum(), privacy=1 - np.eye(len(at)), quality=apart, budget=0.0)
    return game.with_budget(0.3 * game.saturation)


@pytest.mark.parametrize("uniform", [False, True])
def test_under_hamming_the_program_has_two_entries_per_row(uniform):
    # the adversary is right with sum_o max_i x[i, o], over joint distributions x within the budget
    game = zipf_map(9, uniform)
    places, pairs = len(game.mass), len(game.mass) ** 2
    each, none = sparse.eye_array(places), sparse.csr_array((places, places))
    loss = np.r_[(game.cost / game.mass[:, None]).ravel(), np.zeros(places)]
    found = linprog(
        np.r_[np.zeros(pairs), np.ones(places)],
        A_ub=sparse.vstack(
            [
                sparse.hstack([sparse.eye_array(pairs), -sparse.kron(np.ones((places, 1)), each)]),
                sparse.csr_array([loss]),
            ]
        ),
        b_ub=np.r_[np.zeros(pairs), game.budget],
        A_eq=sparse.hstack([sparse.kron(each, np.ones((1, places))), none]),
        b_eq=game.mass,
    )
    solution = solve(game)
    assert (solution.method, solution.status) == (Method.DOUBLE_ORACLE, Status.OPTIMAL)
    assert solution.privacy == pytest.approx(1 - found.fun, rel=2e-6)


def test_what_nearly_all_guesses_share_is_left_out_of_the_program():
    oracle = DoubleOracle(as_alternatives(zipf_map(9)))
    oracle.close(1e-6, np.inf, None)
    entries = oracle.highs.getLp().a_matrix_.start_[-1]
    columns, rows = len(oracle.column_at[0]), len(oracle.row_at[0])
    assert entries <= 3 * columns + rows  # its cost, its sum, its own guess; and the height of every guess


@pytest.mark.parametrize("objective", ["average", "minimum"])
@pytest.mark.parametrize("seed", range(3))
def test_several_games_under_hamming_agree_with_the_full_program(objective, seed):
    generator = np.random.default_rng(seed)
    priors, apart = generator.dirichlet(np.ones(7), size=2), generator.random((7, 7)) * (1 - np.eye(7))
    errors = (1 - np.eye(7), 1.2 - 1.2 * np.eye(7))
    both = [
        Game.from_prior(prior, privacy=error, quality=apart, budget=0.1)
        for prior, error in zip(priors, errors, strict=True)
    ]
    fast, whole = (
        solve(Alternatives(both, objective=objective), method=way) for way in ("double oracle", "full program")
    )
    assert fast.privacy == pytest.approx(whole.privacy, rel=2e-6)
    assert fast.optimality_gap <= 1e-6
