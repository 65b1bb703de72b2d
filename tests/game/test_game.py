"""Games from priors and from scenarios, against enumeration; and what is refused."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from hideseek import Game, HideseekError, ParameterError, Scenario, solve
from hideseek.errors import BudgetError, SizeError
from hideseek.metrics import from_function, from_matrix, hamming, speed, total
from hideseek.model import possible_trajectories
from hideseek.model.markov import MarkovProfile
from hideseek.model.regions import Places
from tests.support.games import grid_distances

CHAIN = MarkovProfile.from_matrix([[0.5, 0.5, 0], [0.2, 0.2, 0.6], [0.9, 0, 0.1]])
D = grid_distances(1, 3)


def enumerated(chain, scenario, d_p, d_q, trajectories, seen=()):
    """W and C by their definitions, one trajectory at a time."""
    inputs = sorted({tuple(row) for row in trajectories.at(scenario.known).tolist()})
    guesses = list(itertools.product(range(3), repeat=len(scenario.target)))
    releases = list(itertools.product(range(3), repeat=len(scenario.release)))
    error, cost = np.zeros((len(guesses), len(inputs))), np.zeros((len(inputs), len(releases)))
    rows = zip(
        trajectories.at(scenario.target),
        trajectories.at(scenario.quality),
        trajectories.at(scenario.known),
        trajectories.probability,
        strict=True,
    )
    for target, quality, known, probability in rows:
        i = inputs.index(tuple(known))
        for g, guess in enumerate(guesses):
            error[g, i] += probability * d_p(guess, target)
        for o, release in enumerate(releases):
            cost[i, o] += probability * d_q(quality, release, seen)
    return error, cost


def added(a, b):
    return sum(D[x, y] for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario.sporadic(),
        Scenario.present_future(planned=True),
        Scenario.present_future(),
        Scenario(target=(-1, 0), release=(0,), quality=(0,)),
        Scenario(target=(0, 1), release=(0,), known=(0,)),
        Scenario(target=(2,), release=(0,), known=(0,), quality=(0,)),
        Scenario(target=(-3, 0), release=(0,), quality=(-1,), known=(-3, 0)),
        Scenario(target=(0,), release=(0,), known=(-1, 0), quality=(-2,)),
    ],
)
def test_a_scenario_folds_into_the_enumerated_matrices(scenario):
    game = Game.from_scenario(CHAIN, scenario, privacy=total(from_matrix(D)), quality=total(from_matrix(D)))
    trajectories = possible_trajectories(CHAIN, scenario.offsets)
    error, cost = enumerated(CHAIN, scenario, added, lambda q, o, _: added(q, o), trajectories)
    np.testing.assert_allclose(game.error, error, atol=1e-14)
    np.testing.assert_allclose(game.cost, cost, atol=1e-14)
    np.testing.assert_allclose(game.mass.sum(), 1)


def test_quality_may_look_at_what_was_exposed_before():
    scenario = Scenario(target=(0,), seen=(-1,), release=(0,), quality=(-1, 0))
    seen = (2,)
    table = np.array([[0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    trajectories = possible_trajectories(CHAIN, scenario.offsets).given({-1: 2}, table)
    places = Places([0.0, 0.0, 0.0], [0.0, 1.0, 2.0])
    game = Game.from_scenario(
        CHAIN, scenario, privacy=from_matrix(D), quality=speed(places), distribution=trajectories, seen=seen
    )
    step = 111319.49079327357  # metres in a degree of longitude at the equator (WGS84)

    def displaced(quality, release, past):
        return abs(abs(quality[1] - quality[0]) - abs(release[0] - past[0])) * step

    error, cost = enumerated(CHAIN, scenario, added, displaced, trajectories, seen)
    np.testing.assert_allclose(game.error, error, atol=1e-14)
    np.testing.assert_allclose(game.cost, cost, rtol=1e-9, atol=1e-9)


def test_the_distribution_after_an_exposure_is_the_appendix_s_second_step():
    """psi(r_2, r_1 | o_1) = P(r_2 | r_1) f(o_1 | r_1) pi(r_1) / normalisation."""
    table = np.array([[0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    trajectories = possible_trajectories(CHAIN, (-1, 0)).given({-1: 1}, table)
    expected = {}
    for before, now in itertools.product(range(3), repeat=2):
        expected[before, now] = CHAIN.stationary[before] * table[before, 1] * CHAIN.transition[before, now]
    norm = sum(expected.values())
    for row, probability in zip(trajectories.sequences, trajectories.probability, strict=True):
        assert probability == pytest.approx(expected[tuple(row)] / norm)
    assert trajectories.probability.sum() == pytest.approx(1)


def test_protecting_the_next_place_needs_no_foresight_but_wins_from_it():
    """target=(0, 1): knowing both places is worth at least as much as knowing only this one."""
    aware = Scenario(target=(0, 1), release=(0,), known=(0, 1))
    device = Scenario(target=(0, 1), release=(0,), known=(0,))
    values = []
    for scenario in (device, aware):
        game = Game.from_scenario(CHAIN, scenario, privacy=total(from_matrix(D)), quality=from_matrix(D))
        values.append(solve(game.with_budget(0.4 * game.saturation)))
    assert values[0].privacy <= values[1].bound


def test_a_function_serves_as_a_metric():
    game = Game.from_scenario(
        CHAIN, Scenario.sporadic(), privacy=lambda g, a: abs(g[0] - a[0]), quality=from_function(lambda q, o: q != o)
    )
    np.testing.assert_allclose(game.error, D * CHAIN.stationary)


PRIOR, GOOD = [0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("prior", "d_p", "d_q", "budget", "parameter", "got"),
    [
        ([0.5, np.nan], GOOD, GOOD, 0.1, "prior", "nan at 1"),
        ([1.5, -0.5], GOOD, GOOD, 0.1, "prior", "-0.5 at 1"),
        ([np.inf, 0], GOOD, GOOD, 0.1, "prior", "inf at 0"),
        ([0.5, 0.4], GOOD, GOOD, 0.1, "prior", "the sum 0.9"),
        ([[0.5, 0.5]], GOOD, GOOD, 0.1, "prior", "the shape (1, 2)"),
        ([], GOOD, GOOD, 0.1, "prior", "the shape (0,)"),
        (["a", "b"], GOOD, GOOD, 0.1, "prior", "list"),
        (PRIOR, [[0, np.nan], [1, 0]], GOOD, 0.1, "privacy", "nan at (0, 1)"),
        (PRIOR, [[0, -1], [1, 0]], GOOD, 0.1, "privacy", "-1.0 at (0, 1)"),
        (PRIOR, np.zeros((2, 3)), GOOD, 0.1, "privacy", "3 places"),
        (PRIOR, GOOD, [[0, np.inf], [1, 0]], 0.1, "quality", "inf at (0, 1)"),
        (PRIOR, GOOD, np.zeros((3, 2)), 0.1, "quality", "3 places"),
        (PRIOR, GOOD, GOOD, np.nan, "budget", "nan"),
        (PRIOR, GOOD, GOOD, np.inf, "budget", "inf"),
        (PRIOR, GOOD, GOOD, -0.1, "budget", "-0.1"),
        (PRIOR, GOOD, GOOD, "much", "budget", "or a percentage such as 20%. Got 'much'"),
        (PRIOR, GOOD, GOOD, None, "budget", "None"),
    ],
)
def test_bad_numbers_are_refused_by_name_rule_and_value(prior, d_p, d_q, budget, parameter, got):
    with pytest.raises(ParameterError, match=re.escape(got)) as caught:
        Game.from_prior(prior, privacy=d_p, quality=d_q, budget=budget)
    assert str(caught.value).startswith(f"The '{parameter}' parameter of Game")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, HideseekError)


@pytest.mark.parametrize(
    "differ", ["hamming", hamming(), lambda guess, truth: guess != truth], ids=["name", "metric", "function"]
)
def test_a_prior_takes_a_metric_as_a_name_a_metric_or_a_function(differ):
    game = Game.from_prior(PRIOR, privacy=differ, quality=differ, budget=0.1)
    assert (game.error == Game.from_prior(PRIOR, privacy=GOOD, quality=GOOD, budget=0.1).error).all()
    assert (game.cost == game.error.T).all()


@pytest.mark.parametrize(("name", "rule"), [("euclid", "a prior has no regions"), ("much", "'hamming', 'euclid'")])
def test_a_prior_refuses_a_name_that_needs_regions_or_is_unknown(name, rule):
    with pytest.raises(ParameterError, match=rule) as caught:
        Game.from_prior(PRIOR, privacy=GOOD, quality=name, budget=0.1)
    assert caught.value.parameter == "quality"


def test_shapes_that_disagree_are_refused():
    with pytest.raises(ParameterError, match="one row for each of the 3 columns"):
        Game(np.zeros((2, 3)), np.zeros((2, 2)), budget=1.0)
    with pytest.raises(ParameterError, match="one per input"):
        Game(np.zeros((2, 3)), np.zeros((3, 2)), budget=1.0, mass=np.array([0.5, 0.5]))
    with pytest.raises(ParameterError, match="'inputs' parameter of Game"):
        Game(np.zeros((2, 3)), np.zeros((3, 2)), budget=1.0, inputs=np.zeros((2, 1)))


def test_a_budget_below_the_least_possible_loss_names_that_loss():
    with pytest.raises(BudgetError, match=r"at least the least possible loss, 0\.75") as caught:
        Game.from_prior([0.5, 0.5], privacy=GOOD, quality=[[1.0, 2.0], [3.0, 0.5]], budget=0.1)
    assert caught.value.least == 0.75


def test_a_scenario_with_a_history_needs_its_distribution():
    with pytest.raises(ParameterError, match=r"Trajectories\.given"):
        Game.from_scenario(CHAIN, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.1, seen=(0,))
    trajectories = possible_trajectories(CHAIN, (-1, 0))
    with pytest.raises(ParameterError, match="regions from 0 to 2"):
        Game.from_scenario(
            CHAIN, Scenario.past_present(1), privacy=hamming(), quality=hamming(), distribution=trajectories, seen=(7,)
        )
    with pytest.raises(ParameterError, match="one region for each of the 1 seen"):
        Game.from_scenario(CHAIN, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.1)


def test_a_scenario_beyond_memory_is_refused_with_the_estimate():
    ring = MarkovProfile.from_matrix((np.eye(60) + np.roll(np.eye(60), 1, axis=1)) / 2)
    wide = Scenario(target=tuple(range(9)), release=(0,), known=(0,))
    with pytest.raises(SizeError, match=r"would need about .* GiB") as caught:
        Game.from_scenario(ring, wide, privacy=hamming(), quality=from_matrix(grid_distances(6, 10)))
    assert caught.value.needed > 1e12
    with pytest.raises(SizeError, match="A game of 60 inputs over 60 places"):
        Game.from_scenario(
            ring,
            Scenario(target=(0, 1, 2, 3), known=(0,)),
            privacy=hamming(),
            quality=from_matrix(grid_distances(6, 10)),
        )
    dense = MarkovProfile.from_matrix(np.full((1500, 1500), 1 / 1500))
    with pytest.raises(SizeError, match="A distribution over 3375000000 trajectories up to offset 2"):
        possible_trajectories(dense, (0, 1, 2))


def test_metrics_of_the_wrong_size_are_refused():
    with pytest.raises(ParameterError, match="a matrix over the 3 places"):
        Game.from_scenario(CHAIN, Scenario.sporadic(), privacy=np.zeros((2, 2)), quality=hamming())
    with pytest.raises(ParameterError, match="vectors of the same length"):
        Game.from_scenario(
            CHAIN, Scenario(target=(0,), release=(0,), quality=(0, 1)), privacy=hamming(), quality=hamming()
        )


def test_a_game_does_not_change_with_the_arrays_it_was_made_from():
    error, cost = np.ones((2, 2)), np.ones((2, 2))
    game = Game(error, cost, budget=2.0)
    error[:] = 7
    assert game.error.max() == 1
    with pytest.raises(ValueError, match="read-only"):
        game.error[0, 0] = 3


def test_places_need_not_form_a_grid():
    places = Places([46.52, 46.53, 46.60], [6.57, 6.60, 6.65])
    from hideseek.metrics import distance

    profile = MarkovProfile.from_matrix([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.5, 0.2, 0.3]], places)
    game = Game.from_scenario(
        profile, Scenario.sporadic(), privacy=distance(places), quality=distance(places), budget=500.0
    )
    assert solve(game).privacy == pytest.approx(min(500, game.prior_risk), rel=1e-6)
