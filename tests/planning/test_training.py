"""Training: cuts against all histories and a grid of beliefs, and what a planner is made from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import MarkovProfile, ParameterError, Scenario, plan
from hideseek.errors import SolverError
from hideseek.metrics import hamming
from hideseek.planning import BeliefGame, training
from hideseek.planning.player import ROUGH, Player
from tests.oracles.full_program import best_over_histories
from tests.support.progress import SHOWN
from tests.support.tiny_games import NAMES, SCIPY, beliefs, game, trained


@pytest.mark.parametrize("name", NAMES)
def test_cuts_bound_the_best_over_all_histories_at_any_belief(name):
    own, planner = game(name), trained(name)
    for belief in [*beliefs(own, 4), *np.eye(len(own.states)), own.start]:
        assert planner.value(belief) >= best_over_histories(own, belief, 3, 0.5) - SCIPY


@pytest.mark.parametrize("name", ["two", "choice", "sacrifice"])
def test_cuts_are_tight_where_walks_begin(name):
    """The best over all histories of some accesses, and for all that follow at most the ceiling (Jensen)."""
    own, planner = game(name), trained(name)
    accesses = {2: 7, 3: 5}[own.profile.places]
    low = best_over_histories(own, own.start, accesses, 0.5)
    high = low + 0.5**accesses * own.ceiling.bound / 0.5
    assert low - SCIPY <= planner.value(own.start) <= high + 4 * ROUGH * own.error.mean()
    assert 0.5 * low - SCIPY <= planner.bound <= own.ceiling.bound


def on_a_grid(own: BeliefGame, discount: float, size: int = 101, choices: int = 31) -> tuple[np.ndarray, np.ndarray]:
    """Beliefs in the first of two places and their values, by trying every table of a grid at each, again and again.

    A value between two beliefs is that of the line between theirs, which is less than a concave one.
    """
    grid, law = np.linspace(0, 1, size), np.linspace(0, 1, choices)
    (_, wrong_0), (wrong_1, _) = own.cost
    now, mass, after = [], [], []
    for b in grid:
        # the probability of the wrong release at either place: all pairs, and what the budget leaves for the other
        with np.errstate(divide="ignore"):
            rest_1 = np.clip((own.budget - b * wrong_0 * law) / ((1 - b) * wrong_1), 0, 1)
            rest_0 = np.clip((own.budget - (1 - b) * wrong_1 * law) / (b * wrong_0), 0, 1)
        first = np.r_[np.repeat(law, choices), law, rest_0]
        second = np.r_[np.tile(law, choices), rest_1, law]
        table = np.array([[1 - first, first], [second, 1 - second]])
        joint = np.array([b, 1 - b])[:, None, None] * table  # [place, release, choice]
        fits = np.einsum("io,ioc->c", own.cost, joint) <= own.budget + 1e-12
        privacy = np.einsum("gi,ioc->goc", own.error, joint).min(axis=0).sum(axis=0)
        now.append(np.where(fits, privacy, -np.inf))
        mass.append(joint.sum(axis=0))
        moved = np.einsum("ioc,i->oc", joint, own.moves[:, 0])
        after.append(moved / np.maximum(mass[-1], 1e-300))
    value = np.zeros(size)
    for _ in range(60):
        future = (np.array(mass) * np.interp(after, grid, value)).sum(axis=1)
        value = (now + discount * future).max(axis=1)
    return grid, value


def test_cuts_bound_and_meet_what_value_iteration_finds_on_a_grid():
    own, planner = game("two"), trained("two", discount=0.8)
    grid, value = on_a_grid(own, 0.8)
    worth = np.array([planner.value(np.array([b, 1 - b])) for b in grid])
    assert (worth >= value - 1e-9).all()
    visited = abs(grid - own.start[0]).argmin()
    assert worth[visited] == pytest.approx(value[visited], rel=0.02)  # the grid's own coarseness


@given(st.integers(0, 10**6), st.floats(0.1, 10))
@settings(max_examples=10)
def test_the_future_itself_is_concave_and_positively_homogeneous(seed, factor):
    own = game("line")
    one, other = beliefs(own, 2, seed)

    def value(belief):
        return best_over_histories(own, belief, 2, 0.9)

    assert value(factor * one) == pytest.approx(factor * value(one), rel=1e-6)
    assert value(one + other) >= value(one) + value(other) - 1e-6


def test_the_same_seed_gives_the_same_planner_and_another_seed_another():
    first, second, third = (plan(game(), discount=0.9, walks=3, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.cuts, second.cuts)
    assert first.bound == second.bound
    assert first.cuts.shape != third.cuts.shape or (first.cuts != third.cuts).any()


def test_training_tells_its_two_bounds():
    told = []
    planner = plan(game(), discount=0.8, walks=4, progress=lambda *news: told.append(news))
    assert [news[1:] for news in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    pairs = [tuple(map(float, what.removesuffix(" of the ceiling, walks").split(" to "))) for what, *_ in told]
    bounds = [bound for _, bound in pairs]
    assert bounds == sorted(bounds, reverse=True)
    ceiling = game().ceiling.bound
    assert planner.bound == pytest.approx(bounds[-1] * ceiling, rel=SHOWN)  # worked out again from its proof
    assert planner.bound <= ceiling
    assert all(0 < reached < bound * 1.1 for reached, bound in pairs)


def test_a_profile_is_planned_for_as_the_game_made_of_it():
    chain = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
    planner = plan(
        chain,
        privacy=hamming(),
        quality=hamming(),
        budget=0.2,
        scenario=Scenario(target=(-1, 0)),
        discount=0.5,
        walks=4,
    )
    assert planner.sha256 == game("way").sha256
    np.testing.assert_array_equal(planner.cuts, trained("way").cuts)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"discount": 1}, "'discount' parameter of plan must be a number >= 0 and < 1. Got 1.0"),
        ({"discount": -0.1}, "'discount' parameter"),
        ({"discount": float("nan")}, "'discount' parameter"),
        ({"discount": "half"}, "'discount' parameter"),
        ({"outlook": "psychic"}, "'outlook' parameter of plan must be one of 'plain', 'secondary'"),
        ({"mode": "both"}, "'mode' parameter of plan must be one of 'lexicographic', 'trade-off'"),
        ({"walks": 0}, "'walks' parameter"),
        ({"walks": 1.5}, "'walks' parameter"),
        ({"seed": -1}, "'seed' parameter"),
    ],
)
def test_what_no_planner_can_have_is_refused(change, said):
    with pytest.raises(ParameterError, match=said):
        plan(game(), **change)


@pytest.mark.parametrize("outlook", ["far-sighted", "look-ahead"])
def test_a_visit_that_the_solver_fails_teaches_nothing(outlook, monkeypatch):
    """The table of now has a cut of its own, which bounds one access and not all that follow."""
    chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    game = BeliefGame.of(chain, privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.1)
    first = plan(game, outlook=outlook, walks=1)

    def fails(*_words, **_names):
        raise SolverError("no")

    monkeypatch.setattr(Player, "with_future", fails)
    blank = plan(game, outlook=outlook, walks=1)
    assert blank.bound >= first.bound - 1e-12
    assert len(blank.cuts) == 1


@pytest.mark.parametrize("name", ["choice", "sacrifice"])
def test_second_visits_are_left_out_only_where_they_teach_nothing(name, monkeypatch):
    """What is left out is solved all the same, and lies no lower than two tolerances: of the lesson and of the rule."""
    asked, left = training._Trainer.changed, []

    def solved_too(self, belief, found, before):
        if not asked(self, belief, found, before):
            again = self.player.with_future(belief, exact=ROUGH / 100)
            left.append(((self.player.cuts @ belief).min() - again.bound) / self.unit)
            return False
        return True

    monkeypatch.setattr(training._Trainer, "changed", solved_too)
    plan(game(name), discount=0.8, walks=4)
    assert left
    assert max(left) <= 2 * training.LEARNED


def test_a_game_is_given_alone_and_a_profile_with_all_that_makes_a_game():
    own, chain = game("two"), game("two").profile
    for name, value in (("privacy", hamming()), ("quality", hamming()), ("budget", 0.2), ("scenario", Scenario((0,)))):
        with pytest.raises(ParameterError, match=f"'{name}' parameter of plan must be left out beside a game"):
            plan(own, **{name: value})
    made = {"privacy": hamming(), "quality": hamming(), "budget": 0.2}
    for name in made:
        with pytest.raises(ParameterError, match=f"'{name}' parameter of plan must be given with a profile"):
            plan(chain, **{key: value for key, value in made.items() if key != name})


def test_a_plan_against_the_smoother_is_that_of_the_scenario_read_later():
    profile, run = game("two").profile, {"privacy": "hamming", "quality": "hamming", "budget": "50%", "walks": 2}
    for lag in (1, 2):
        found = plan(profile, against="smoother", lag=lag, **run)
        own = plan(profile, scenario=Scenario.read_later(lag), **run)
        assert (found.sha256, found.bound) == (own.sha256, own.bound)
    assert plan(profile, against="smoother", **run).sha256 == plan(profile, against="smoother", lag=1, **run).sha256


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"lag": 1}, "lag"),
        ({"against": "smoother", "lag": 0}, "lag"),
        ({"against": "smoother", "scenario": Scenario.sporadic()}, "scenario"),
        ({"against": "everybody"}, "against"),
    ],
)
def test_who_is_planned_against_is_one_and_the_lag_is_theirs(options, parameter):
    with pytest.raises(ParameterError, match=f"'{parameter}'"):
        plan(game("two").profile, privacy="hamming", quality="hamming", budget=0.1, **options)


def test_a_game_has_its_own_adversary():
    with pytest.raises(ParameterError, match="'scenario'"):
        plan(game("two"), against="smoother")
