"""Programs that are told which guesses hurt in another game: the optimum is the same, and found sooner."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, MarkovProfile, ParameterError, Scenario, design, solve
from hideseek.designing.stage_draft import make
from hideseek.game.game import as_alternatives
from hideseek.solvers import Method, prefer
from hideseek.solvers.double_oracle import DoubleOracle
from tests.solvers.test_dispatch import assert_proved
from tests.solvers.test_tie_break import assert_preferred
from tests.support.games import grid_distances

DISTANCE = grid_distances(2, 4)
LOSS = DISTANCE**2
WALK = np.where(DISTANCE <= 1, 1.0, 0.0) / (DISTANCE <= 1).sum(axis=1, keepdims=True)


def belief(generator: np.random.Generator) -> np.ndarray:
    """A law over the places; some cannot be, some hardly."""
    law = generator.dirichlet(np.full(8, 0.7)) * (generator.random(8) > 0.2)
    law[generator.integers(8)] += 0.1
    return law / law.sum()


def games(law: np.ndarray, share: float = 0.3) -> tuple[Game, Game]:
    """The game at a belief, over the places that can be, and the errors after one more step of the walk."""
    on = np.flatnonzero(law)
    mass, inputs = law[on], on[:, None]
    game = Game(DISTANCE[:, on] * mass, LOSS[on] * mass[:, None], 1e9, mass=mass, inputs=inputs)
    game = game.with_budget(share * game.saturation)
    return game, Game((DISTANCE @ WALK.T)[:, on] * mass, game.cost, game.budget, inputs=inputs)


@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
@settings(max_examples=40)
def test_what_hurt_at_another_belief_leads_to_the_same_optimum(seed, share):
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


def test_after_a_hundred_other_beliefs_the_optimum_is_that_of_a_fresh_program():
    generator, end, chosen = np.random.default_rng(0), None, None
    for _ in range(100):
        game, following = games(belief(generator))
        solution = solve(game, start=end)
        preferred = prefer(solution, following, start=chosen)
        end, chosen = solution.end or end, preferred.end
    assert_proved(solution)
    assert_preferred(solution, following, preferred)
    assert solution.privacy == pytest.approx(solve(game).privacy, rel=2e-6)
    assert len(end[0]) <= 2 * sum(game.cost.shape)  # what has hurt once does not stay for ever


def test_what_hurts_is_what_the_attack_is_made_of_and_is_there_from_the_first_round():
    game = games(np.full(8, 1 / 8))[0]
    solution = solve(game, method=Method.DOUBLE_ORACLE)
    guess, release = solution.end
    assert solution.attack[release, guess].min() > 0
    made = solution.mechanism.table.sum(axis=0) > 1e-6  # after other releases any guess will do
    assert np.isin(np.flatnonzero(made), release).all()
    assert DoubleOracle(as_alternatives(game), solution.end).has_row[solution.end].all()


def test_what_hurt_in_a_game_with_more_guesses_is_refused():
    game, following = games(np.full(8, 1 / 8))
    end = prefer(solve(game), following).end
    assert max(end[0]) >= 8  # the guesses of the second game are numbered after those of the first
    with pytest.raises(ParameterError, match="guesses below 8 for releases below 8"):
        solve(game, start=end)


def test_the_programs_of_a_design_start_with_what_hurt_before(monkeypatch):
    starts, ends = [], [(None, None)]

    def noting(game, second, start, weight):
        made = make(game, second, start, weight)
        assert any(start[0] is own and start[1] is chosen for own, chosen in ends)
        starts.append(start)
        ends.append(made.ends)
        return made

    monkeypatch.setattr(sys.modules["hideseek.designing.designer"], "make", noting)
    design(
        MarkovProfile.from_matrix(WALK), Scenario.past_present(1), privacy=DISTANCE, quality=LOSS, budget=0.5, workers=1
    )
    assert sum(start != (None, None) for start in starts) > len(starts) / 2
