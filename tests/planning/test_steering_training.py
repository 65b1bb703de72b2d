"""Budgets over a window: against one program over all histories, and the price that holds the level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, Places, solve
from hideseek.model.exposed_walks import exposed_walks
from hideseek.model.steering import Standing, steered
from hideseek.planning import BeliefGame, follow, load_plan, plan, save_plan
from hideseek.planning import steering_training as module
from tests.oracles.all_histories import most_on_average

PLACES = Places([46.52, 46.53, 46.55], [6.57, 6.58, 6.57])
MOVES = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
PROFILE = MarkovProfile.from_matrix(MOVES, PLACES, step="10min")
PAIR = MarkovProfile.from_matrix([[0.9, 0.1], [0.3, 0.7]])


def game(share="40%", over="8 hours", profile=PROFILE, **more):
    return BeliefGame.of(profile, privacy="euclid", quality="squared", budget=share, over=over, **more)


@pytest.fixture(scope="module")
def planned():
    own = game()
    return own, plan(own)


@pytest.mark.parametrize("share", [0.05, 0.15, 0.25])
def test_bounds_hold_for_whatever_keeps_the_budget_on_average(share):
    """Ceiling and priced cuts, of discounted accesses: the best of all mechanisms of five accesses is below both."""
    differ, discount, accesses = 1 - np.eye(2), 0.5, 5
    cost = np.array([[0.0, 1.0], [2.0, 0.0]])
    own = BeliefGame.of(PAIR, privacy=differ, quality=cost, budget=share, over="1 day")
    planner = plan(own, discount=discount, walks=9)
    weights = discount ** np.arange(accesses)
    value, _ = most_on_average(
        PAIR.stationary, PAIR.transition, differ, cost, budget=share / (1 - discount), weights=weights
    )
    assert planner.bound <= own.ceiling.bound * (1 + 1e-9)
    assert (1 - discount) * value <= planner.bound * (1 + 1e-6)
    # what comes after five accesses counts little: the bound is nearly reached
    assert planner.bound <= (1 - discount) * value + discount**accesses * own.prior_risk + 0.02


def test_the_price_of_the_average_is_that_of_one_access_where_there_is_one():
    """Price times budget plus what the priced game is worth: for one access, the program's own value and price."""
    differ, cost = 1 - np.eye(2), np.array([[0.0, 1.0], [2.0, 0.0]])
    own = BeliefGame.of(PAIR, privacy=differ, quality=cost, budget=0.1).at(PAIR.stationary)
    value, price = most_on_average(PAIR.stationary, PAIR.transition, differ, cost, budget=0.1, weights=[1.0])
    found = solve(own)
    assert found.privacy == pytest.approx(value, abs=1e-7)
    for other in (0.5 * price, price, 1.7 * price):
        assert solve(own, price=other).line(0.1) >= value - 1e-7
    assert solve(own, price=price).line(0.1) == pytest.approx(value, abs=1e-6)


def test_value_is_concave_in_the_price_of_loss():
    own = game().at(PROFILE.stationary)
    prices = np.linspace(0.2, 3.0, 8) * solve(own).price
    worth = [one.bound - one.price * one.quality_loss for one in (solve(own, price=price) for price in prices)]
    assert (np.diff(worth) <= 1e-9).all()
    assert (np.diff(worth, 2) >= -1e-6 * worth[0]).all()  # a maximum of lines in the price is convex


def test_the_long_run_loses_the_budget_and_more_privacy_is_left(planned):
    """Against far-sighted play at every access, at no more loss; within the account after every history."""
    own, planner = planned
    found = follow(own, planner, accesses=6000, walks=12)
    at_every_access = game(over="access")
    before = follow(at_every_access, plan(at_every_access), accesses=2000)
    assert found.quality_loss == pytest.approx(own.budget, rel=0.08)
    assert found.worst_loss <= own.account.largest
    assert found.filter > before.filter.interval[1]
    assert found.filter <= planner.bound * 1.02


def test_no_account_is_overdrawn_with_random_gaps_and_windows_keep_bounds(planned):
    own, planner = planned
    saved, losses, generator = [], [], np.random.default_rng(3)
    gaps = [np.linalg.matrix_power(MOVES, gap) for gap in generator.geometric(0.3, 200)]
    walk = exposed_walks(
        own, lambda now: steered(own, planner.steering, now), gaps, generator,
        start=Standing.first(own, 4), log=True,
    )  # fmt: skip
    for one in walk:
        saved.append(one.before.saved)
        losses.append(np.einsum("rs,rso,so->r", one.before.belief, one.tables, own.cost))
        assert (losses[-1] <= own.account.limit(one.before.saved) * (1 + 1e-12)).all()
        assert (one.after.saved >= 0).all()
    sums = np.cumsum(np.vstack([np.zeros(4), losses]), axis=0)
    for first in range(0, 200, 7):
        for last in range(first + 1, 201, 11):
            bound = (last - first) * own.budget + saved[first]
            assert (sums[last] - sums[first] <= bound * (1 + 1e-9)).all()


def test_a_window_of_one_access_is_the_plan_of_every_access():
    """The same game, and the same planner, to the last bit."""
    one, other = game(over="10min"), game(over="access")
    assert (one.window, one.sha256) == (1, other.sha256)
    first, second = (plan(own, walks=3) for own in (one, other))
    assert np.array_equal(first.cuts, second.cuts)
    assert (first.bound, first.steering) == (second.bound, None)


def test_the_price_is_moved_until_the_level_is_in_the_middle(planned):
    own, planner = planned
    levels = []
    walk = exposed_walks(
        own, lambda now: levels.append(own.account.level(now.saved)) or steered(own, planner.steering, now),
        [MOVES] * 300, np.random.default_rng(9), start=Standing.first(own, 12), log=True,
    )  # fmt: skip
    for _ in walk:
        pass
    assert 0.25 < np.mean(levels[100:]) < 0.75


def test_a_price_that_is_too_high_at_first_comes_down(monkeypatch, planned):
    own, planner = planned
    start = 6 * planner.steering.price
    monkeypatch.setattr(module, "LEAST", start * own.budget / own.most)
    again = plan(own, walks=40).steering.price
    assert again < 0.5 * start


def test_each_adversary_has_its_weights_and_the_same_seed_the_same_steering(monkeypatch):
    monkeypatch.setattr(module, "ROUNDS", 1)
    monkeypatch.setattr(module, "ROUND", 4)
    plans = {name: plan(game(), against=name, walks=1).steering for name in ("filter", "both", "log")}
    assert plans["filter"].log == 0 < plans["both"].log < plans["log"].log
    assert plans["filter"].nat < plans["both"].nat < plans["log"].nat
    assert plan(game(), walks=1).steering == plans["both"]
    told = []
    plan(game(), walks=1, progress=lambda *news: told.append(news))
    assert told[-1][0].startswith("walks for the price of loss")


def test_a_plan_over_a_window_survives_a_file(planned, tmp_path):
    own, planner = planned
    save_plan(own, planner, path=tmp_path / "me.plan")
    again, loaded = load_plan(tmp_path / "me.plan", profile=PROFILE)
    assert (again.window, again.cap, loaded.steering) == (own.window, own.cap, planner.steering)
    assert np.array_equal(loaded.steering.future, planner.steering.future)
    assert len(planner.steering.future) == len(planner.cuts) > 0
    assert loaded.bound == pytest.approx(planner.bound, rel=1e-12)
    assert "window=48 accesses" in repr(again)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"against": "nobody"}, "'against' parameter of plan"),
        ({"outlook": "plain"}, "'outlook' parameter of plan must be left out"),
        ({"mode": "lexicographic"}, "'mode' parameter of plan must be left out"),
        ({"over": "1 day"}, "'over' parameter of plan must be left out beside a game"),
    ],
)
def test_what_a_window_does_not_have_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        plan(game(), **arguments)


def test_the_smoother_of_some_steps_is_refused_over_a_window():
    arguments = {"privacy": "euclid", "quality": "squared", "budget": "20%", "over": "8 hours", "against": "smoother"}
    with pytest.raises(ParameterError, match="'against' parameter of plan must be 'filter' or 'log' or 'both'"):
        plan(PROFILE, **arguments)


def test_what_only_a_window_has_is_refused_at_every_access():
    for against in ("log", "both"):
        with pytest.raises(ParameterError, match="'filter' or 'smoother' where the budget holds at every access"):
            plan(game(over="access"), against=against)
    with pytest.raises(ParameterError, match="'cap' parameter of BeliefGame"):
        game(over="access", cap=3.0)
    with pytest.raises(ParameterError, match="'budget' parameter of BeliefGame must be a number > 0"):
        game("0m")
    with pytest.raises(ParameterError, match="'over' parameter of BeliefGame"):
        game(over="5min")


def test_a_cap_holds_at_every_access(monkeypatch):
    monkeypatch.setattr(module, "ROUNDS", 2)
    own = game(cap=1.5)
    found = follow(own, plan(own, walks=2), accesses=600, walks=4)
    assert found.worst_loss <= 1.5 * own.budget * (1 + 1e-12)
    assert replace(own, cap=None).sha256 != own.sha256
