"""The table that reveals least, against the optimum of rate-distortion theory and exact enumeration of all logs."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize

from hideseek import MarkovProfile, plan
from hideseek.baselines.information import blahut_arimoto
from hideseek.model.revealing import NAT, least_revealing
from hideseek.planning import BeliefGame
from hideseek.planning.player import Player

CHAIN = MarkovProfile.from_matrix([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]])
LENGTH, RARE = 5, 1e-12


def bits(belief, table):
    """The mutual information of state and release, term by term."""
    released = belief @ table
    return sum(
        belief[s] * table[s, o] * np.log2(table[s, o] / released[o])
        for s, o in product(*map(range, table.shape))
        if belief[s] * table[s, o] > 0
    )


def setting(seed, share, zeros=False):
    """A belief, costs, and a budget: a share of the way from the least loss to that of one release for all."""
    generator = np.random.default_rng(seed)
    states, releases = generator.integers(1, 7, size=2)
    belief = generator.dirichlet(np.full(states, 0.5))
    cost = generator.random((states, releases)) * 1000
    if zeros:
        belief[generator.integers(states)] = 0
        belief = belief / belief.sum() if belief.any() else np.eye(states)[0]
    least, alike = float(belief @ cost.min(axis=1)), float((belief @ cost).min())
    return belief, cost, least + share * (alike - least) + RARE, alike


@given(seed=st.integers(0, 10**6), share=st.floats(0, 1.2), zeros=st.booleans())
@settings(max_examples=200)
def test_the_table_spends_the_budget_and_no_more(seed, share, zeros):
    belief, cost, budget, alike = setting(seed, share, zeros)
    table = least_revealing(belief, cost, budget)
    assert table.shape == cost.shape
    assert table.min() >= 0
    assert table.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.vdot(belief[:, None] * cost, table) == pytest.approx(min(budget, alike), rel=1e-9)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.99])
def test_the_table_reveals_hardly_more_than_it_must(share):
    """For every slope, information plus slope times loss is at least that of the exact optimum; in bits."""
    over = []
    for seed in range(60):
        belief, cost, budget, _ = setting(seed, share)
        bounds = [0.0]
        for slope in np.geomspace(1e-4, 1, 25):
            best = blahut_arimoto(belief, cost, slope=slope).table
            lost = float(np.vdot(belief[:, None] * cost, best))
            bounds.append(bits(belief, best) + slope / np.log(2) * (lost - budget))
        over.append(bits(belief, least_revealing(belief, cost, budget)) - max(bounds))
    assert max(over) < 0.1
    assert np.mean(over) < 0.01


def test_where_all_costs_are_alike_a_budget_missed_by_rounding_is_met():
    table = least_revealing(np.array([0.5, 0.5]), np.full((2, 3), 0.3), np.nextafter(0.3, 0))
    assert (table == table[0]).all()
    assert table.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("budget", [0.05, 0.1, 0.25, 0.4])
def test_two_places_alike_are_released_by_a_symmetric_channel(budget):
    table = least_revealing(np.array([0.5, 0.5]), 1 - np.eye(2), budget)
    assert table == pytest.approx(np.array([[1 - budget, budget], [budget, 1 - budget]]), abs=1e-3)


def logs(game, choose):
    """Of all logs of a run, the joint probability with every way, [way, log]; the bits that tables revealed."""
    ways = list(product(range(3), repeat=LENGTH))
    told, columns = 0.0, []
    open_logs = [((), game.start, 1.0, [])]
    while open_logs:
        log, belief, chance, tables = open_logs.pop()
        if len(log) == LENGTH:
            columns.append([chance_of(game, way, log, tables) for way in ways])
            continue
        table = choose(belief)
        told += chance * bits(belief, table)
        for release in range(3):
            if (share := float(belief @ table[:, release])) > RARE:
                after = game.later(game.learned(belief, table, release=release))
                open_logs.append(((*log, release), after, chance * share, [*tables, table]))
    return np.array(ways), np.array(columns).T, told


def chance_of(game, way, log, tables):
    """The probability that a way is gone and a log is written."""
    moves = np.prod([game.moves[one, other] for one, other in pairwise(way)])
    return float(game.start[way[0]] * moves * np.prod([t[s, o] for t, s, o in zip(tables, way, log, strict=True)]))


def left(game, ways, joint):
    """The later reader's expected error per access, from the joint probabilities alone."""
    later = 0.0
    for access in range(LENGTH):
        of_place = np.array([joint[ways[:, access] == place].sum(axis=0) for place in range(3)])
        later += (game.error @ of_place).min(axis=0).sum() / LENGTH
    return later


@pytest.fixture(scope="module")
def planned():
    game = BeliefGame.of(CHAIN, privacy="hamming", quality="hamming", budget=0.15)
    return game, Player(game, plan(game, walks=10))


def test_all_releases_reveal_of_the_way_the_sum_of_what_each_table_reveals(planned):
    game, player = planned
    ways, joint, told = logs(game, lambda belief: player.play(belief).table)
    assert joint.sum() == pytest.approx(1, abs=1e-9)
    together = bits(joint.sum(axis=1), joint / joint.sum(axis=1, keepdims=True))
    assert told == pytest.approx(together, abs=1e-9)
    assert len(ways) == 3**LENGTH


def test_the_later_reader_is_left_more_and_the_filter_nearly_as_much(planned):
    """Over all ways and logs of five accesses, exactly."""
    game, player = planned
    quiet, best = (
        logs(game, lambda belief, choose=choose: choose(belief).table) for choose in (player.play, player.best)
    )
    assert quiet[2] < best[2]
    assert left(game, *quiet[:2]) > 1.05 * left(game, *best[:2])
    assert [play.loss <= game.budget * (1 + 1e-12) for play in map(player.play, BELIEFS)] == [True] * len(BELIEFS)


BELIEFS = np.random.default_rng(0).dirichlet(np.ones(3), size=20)


def weighed(player, belief, table):
    """What a table is worth against the filter, less the price of what it reveals, as a share of the ceiling."""
    game, joint = player.game, belief[:, None] * table
    now, later = (sum((rows @ joint).min(axis=0)) for rows in (game.error, player.cuts @ game.moves.T))
    return (now + player.planner.discount * later) / game.most - NAT * np.log(2) * bits(belief, table)


def squares(budget):
    """A player of a game with places on a line, and squared distances for a loss."""
    apart = np.abs(np.subtract.outer(range(3), range(3)))
    game = BeliefGame.of(CHAIN, privacy=apart, quality=apart**2, budget=budget)
    return Player(game, plan(game, walks=10))


@pytest.mark.parametrize("budget", [0.02, 0.1, 0.3])
def test_no_mixture_of_best_and_least_revealing_table_is_worth_more(budget):
    player = squares(budget)
    for belief in BELIEFS:
        best, found = player.best(belief).table, player.play(belief)
        least = least_revealing(belief, player.game.cost, budget)
        most = max(weighed(player, belief, best + share * (least - best)) for share in np.linspace(0, 1, 101))
        assert weighed(player, belief, found.table) >= most - 0.02
        assert found.loss <= budget * (1 + 1e-12)


@pytest.mark.parametrize("budget", [0.02, 0.1, 0.3])
def test_what_is_found_is_near_the_optimum_of_both_aims(budget):
    """The optimum is that of a general solver, over all tables within the budget; the ascent brings most of it."""
    player = squares(budget)
    game, short = player.game, []
    for belief in BELIEFS[:8]:
        found = player.play(belief).table
        rows = LinearConstraint(np.kron(np.eye(3), np.ones(3)), 1, 1)
        spent = LinearConstraint((belief[:, None] * game.cost).ravel(), -np.inf, budget)
        optimum = minimize(
            lambda flat, belief=belief: -weighed(player, belief, flat.reshape(3, 3)),
            found.ravel(),
            constraints=[rows, spent],
            bounds=Bounds(1e-9, 1),
            method="SLSQP",
        )
        short.append(-optimum.fun - weighed(player, belief, found))
    assert max(short) < 0.015
