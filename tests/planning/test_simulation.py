"""What a simulation says of a planner, against all walks and all that they expose, written out."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, Scenario
from hideseek.errors import PlanError
from hideseek.metrics import hamming
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame, Foresight, follow, plan
from hideseek.planning import simulation as module
from hideseek.planning.simulation import SETTLING
from hideseek.solvers.belief_program import BeliefProgram
from hideseek.util.estimates import Estimate
from tests.support.tiny_games import game as tiny
from tests.support.tiny_games import trained

CHAIN = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
TABLE = np.array([[0.9, 0.1], [0.4, 0.6]])
ACCESSES = 4


@cache
def game(scenario: Scenario | None = None, budget: float = 1.0) -> BeliefGame:
    privacy = [[0, 3], [1, 0]] if scenario is None else hamming()
    return BeliefGame.of(
        CHAIN,
        privacy=privacy,
        quality=[[0, 1], [2, 0]] if scenario is None else hamming(),
        budget=budget,
        scenario=scenario,
    )


def one_for_all(own, _):
    """Plays the same table at every belief, without a solver."""
    program = BeliefProgram(own.error, own.cost, own.budget)
    return at_beliefs(lambda belief: program.judged(TABLE[own.states[:, -1]], belief).table)


@pytest.fixture
def one_table(monkeypatch):
    """Follow a fixed table from the first access on."""
    monkeypatch.setattr(module, "chosen_by", one_for_all)
    monkeypatch.setattr(module, "SETTLING", 0)


def written_out(own: BeliefGame, accesses: int) -> tuple[float, float, float]:
    """The exact mean errors of the filter and the smoother, and the mean loss, over all walks and releases."""
    states = range(len(own.states))
    joint = {}
    for walk in itertools.product(states, repeat=accesses):
        p = own.start[walk[0]] * np.prod([own.moves[a, b] for a, b in itertools.pairwise(walk)])
        for seen in itertools.product(range(2), repeat=accesses):
            joint[walk, seen] = p * np.prod([TABLE[own.states[s, -1], o] for s, o in zip(walk, seen, strict=True)])

    def error(at: int, remembered: int) -> float:
        """Who has seen so many releases guesses the target of an access."""
        mass: dict = {}
        for (walk, seen), p in joint.items():
            law = mass.setdefault(seen[:remembered], np.zeros(len(states)))
            law[walk[at]] += p
        return sum((own.error @ law).min() for law in mass.values())

    filtered = np.mean([error(at, at + 1) for at in range(accesses)])
    smoothed = np.mean([error(at, accesses) for at in range(accesses)])
    loss = np.mean([sum(p * own.cost[w[at], o[at]] for (w, o), p in joint.items()) for at in range(accesses)])
    return float(filtered), float(smoothed), float(loss)


SCENARIOS = [None, Scenario(target=(-1, 0)), Scenario(target=(0,), every=2)]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=["location", "way", "every second"])
def test_filter_and_smoother_are_those_of_all_walks_and_releases(scenario, one_table):
    own = game(scenario)
    found = follow(own, plan(own, outlook="plain"), accesses=600 * ACCESSES, walks=600)
    filtered, smoothed, loss = written_out(own, ACCESSES)
    assert smoothed < filtered + 1e-12
    for estimate, exact in ((found.filter, filtered), (found.smoother, smoothed), (found.quality_loss, loss)):
        low, high = estimate.interval
        assert abs(estimate - exact) <= high - low + 1e-9, "within twice the interval"
    for estimate in (found.filter, found.smoother):
        assert estimate.interval[1] - estimate.interval[0] < 0.1 * estimate
    assert found.kept == pytest.approx(found.filter / own.ceiling.bound)
    assert found.accesses == 600 * ACCESSES


def test_intervals_cover_the_truth_as_often_as_they_say_on_both_sides(one_table):
    own = game()
    planner = plan(own, outlook="plain")
    exact = written_out(own, ACCESSES)
    runs = [follow(own, planner, accesses=12 * ACCESSES, walks=12, seed=seed) for seed in range(120)]
    for name, truth in zip(("filter", "smoother"), exact[:2], strict=True):
        found = [getattr(run, name) for run in runs]
        covered = sum(low <= truth <= high for low, high in (one.interval for one in found))
        assert covered >= 105  # 114 expected of 120, 2.4 their spread
        off = (np.mean(found) - truth) / (np.std(found) / np.sqrt(len(found)))
        assert abs(off) < 3, "unbiased, although beliefs are taken off it"


def test_what_is_known_of_beliefs_takes_scatter_off(monkeypatch):
    own, planner = tiny("sacrifice"), trained("sacrifice")
    with_control = [follow(own, planner, accesses=100, seed=seed).filter for seed in range(24)]
    monkeypatch.setattr(module, "controlled", lambda ways, _: np.array([way.privacy[SETTLING:].mean() for way in ways]))
    without = [follow(own, planner, accesses=100, seed=seed).filter for seed in range(24)]
    assert np.std(with_control) < 0.8 * np.std(without)


def test_beliefs_that_are_all_alike_do_not_blow_up_the_estimate():
    own, planner = tiny("choice"), trained("choice")
    for seed in range(4):
        found = follow(own, planner, accesses=40, seed=seed)
        assert 0 <= found.filter.interval[0] <= found.filter.interval[1] <= 1.5 * own.ceiling.bound


@pytest.mark.parametrize("outlook", ["plain", "secondary", "look-ahead", "far-sighted"])
def test_a_planner_stays_below_its_bounds_and_within_its_budget(outlook):
    own = game(budget=0.15)
    planner = plan(own, outlook=outlook, discount=0.8, walks=3)
    found = follow(own, planner, accesses=300)
    assert found.filter.interval[0] <= found.bound <= found.ceiling + 1e-9
    assert (found.bound, found.ceiling) == (min(planner.bound, own.ceiling.bound), own.ceiling.bound)
    assert 0 <= found.kept.interval[0] <= found.kept <= found.kept.interval[1] <= 1
    assert found.smoother <= found.filter
    assert found.quality_loss <= found.worst_loss <= own.budget * (1 + 1e-12)
    assert found.certified == pytest.approx(found.filter.interval[0] / found.bound)


def test_what_chance_puts_above_the_ceiling_is_kept_whole(monkeypatch):
    own = game()
    most = own.ceiling.bound
    monkeypatch.setattr(module, "controlled", lambda *_: most * np.array([1.0, 1.02]))
    found = follow(own, plan(own, outlook="plain"), accesses=10, walks=2)
    low = Estimate.mean_of(np.array([1.0, 1.02])).interval[0]
    assert (found.kept, found.kept.interval) == (1.0, (pytest.approx(low), 1.0))


def test_there_is_no_smoother_about_places_that_are_not_known():
    own = game(Scenario(target=(0, 1), known=(0,)))
    assert follow(own, plan(own, outlook="plain"), accesses=20).smoother is None


def test_the_same_seed_gives_the_same_walks_and_progress_is_told():
    own, told = game(), []
    planner = plan(own, outlook="look-ahead", walks=1, discount=0.5)
    first, second, third = (
        follow(own, planner, accesses=41, walks=4, seed=seed, progress=lambda *news: told.append(news))
        for seed in (1, 1, 2)
    )
    assert first == second != third
    assert first.filter.interval == second.filter.interval
    assert told[:4] == [("accesses", done, 44) for done in (11, 22, 33, 44)]
    assert first.accesses == 44, "walks are of one length"


def test_nothing_to_hide_is_kept_whole():
    nothing = Foresight(Estimate(0.0), None, Estimate(0.0), 0.0, Estimate(1.0), 0.0, 0.0, 10)
    assert nothing.certified == 1.0
    own = BeliefGame.of(CHAIN, privacy=hamming(), quality=hamming(), budget=0.0)
    found = follow(own, plan(own, outlook="plain"), accesses=20)
    assert (found.ceiling, found.filter, found.kept) == (0, 0, 1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"walks": 1}, "'walks' parameter of follow"),
        ({"accesses": 9}, "'accesses' parameter of follow"),
        ({"accesses": 10.5}, "'accesses' parameter of follow"),
        ({"seed": -1}, "'seed' parameter of follow"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change, said):
    with pytest.raises(ParameterError, match=said):
        follow(game(), plan(game(), outlook="plain"), **change)


def test_a_planner_of_another_game_is_not_followed():
    with pytest.raises(PlanError, match="Make a new plan"):
        follow(game(budget=0.2), plan(game(), outlook="plain"))


def test_what_was_simulated_shows_itself():
    own = game()
    found = follow(own, plan(own, outlook="plain"), accesses=20)
    assert repr(found).startswith("Foresight(filter=")
    assert len(repr(found)) < 300
    assert "accesses</th><td>20<" in found._repr_html_()
