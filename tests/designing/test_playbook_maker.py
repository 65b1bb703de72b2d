"""Making a playbook: how far it falls short is what following both finds, its size is kept, and a seed decides it."""

from __future__ import annotations

import numpy as np
import pytest

import hideseek as hs
from hideseek.adversary.belief_exposer import follow_beliefs
from hideseek.designing.playbook_maker import WALKS
from hideseek.errors import PlanError
from hideseek.metrics import distance, squared
from hideseek.model import distances
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning.player import Player
from tests.support.live_devices import LIVE_SCENARIOS, game_of, planned
from tests.support.playbooks import line_of, on_a_line


@pytest.mark.parametrize("seed", [0, 1])
def test_the_shortfall_is_what_following_planner_and_playbook_finds(seed):
    """Its interval reaches what the two differ by, within the intervals of both on 20 walks of 60 accesses."""
    game, planner, rehearsal = on_a_line(seed)
    player, book = Player(game, planner), rehearsal.playbook
    waits = np.random.default_rng(seed).geometric(1 / 2, size=(20, 60))
    live, own = (
        follow_beliefs(game, at_beliefs(choose), accesses=60, walks=20, waits=waits, seed=5)
        for choose in (lambda belief: player.play(belief).table, lambda belief: book.play(belief).by_state)
    )
    noise = sum(float(one.filter.interval[1] - one.filter.interval[0]) / 2 for one in (live, own)) / own.filter
    noise += 0.01  # either gives up another part of it to reveal less
    short = (live.filter - own.filter) / own.filter
    assert noise < 0.03
    assert rehearsal.shortfall.interval[0] - noise <= short <= rehearsal.shortfall.interval[1] + noise
    assert rehearsal.shortfall.interval[1] <= 0.03  # as was asked for
    assert own.worst_loss <= game.budget


def test_a_worse_target_takes_fewer_tables():
    game, planner, rehearsal = on_a_line(0)
    rough = hs.make_playbook(game, planner, within=0.5)
    assert len(rough.anchors) < len(rehearsal.playbook.anchors) * 2 / 3


@pytest.mark.parametrize("kilobytes", [2.7, 3, 4.5, 8])
def test_a_file_is_no_larger_than_its_kilobytes(kilobytes):
    game, planner, rehearsal = on_a_line(0)
    book = hs.make_playbook(game, planner, kilobytes=kilobytes)
    assert len(book.content) <= 1000 * kilobytes
    row = 6 * len(game.states) * (1 + len(game.states))  # of a table that releases every place everywhere
    assert len(book.content) >= min(1000 * kilobytes - row - 128, len(rehearsal.playbook.content))


def test_a_file_that_cannot_be_so_small_is_refused_with_what_it_takes():
    game, planner, _ = on_a_line(0)
    with pytest.raises(hs.ParameterError, match=r"'kilobytes' parameter of make_playbook must be at least") as told:
        hs.make_playbook(game, planner, kilobytes=1)
    least = float(str(told.value).split("at least ")[1].split(",")[0])
    book = hs.make_playbook(game, planner, kilobytes=least)
    assert len(book.anchors) == 1


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    game, planner, rehearsal = on_a_line(0)
    assert hs.make_playbook(game, planner).content == rehearsal.playbook.content
    assert hs.make_playbook(game, planner, seed=1).content != rehearsal.playbook.content


def test_walks_are_told_as_they_are_done():
    game, planner, _ = on_a_line(1)
    told = []
    hs.make_playbook(game, planner, within=0.2, progress=lambda *one: told.append(one))
    assert [done for _, done, _ in told] == list(range(1, len(told) + 1))
    assert {most for *_, most in told} == {WALKS}
    assert all("tables" in words and "short" in words for words, *_ in told)


@pytest.mark.parametrize("name", LIVE_SCENARIOS)
def test_a_playbook_has_the_chain_of_its_game(name):
    game = game_of(scenario=LIVE_SCENARIOS[name])
    book = hs.make_playbook(game, planned(name), kilobytes=15)
    for part in ("start", "error", "cost", "moves", "wait", "states"):
        assert np.array_equal(getattr(book, part), getattr(game, part)), part
    assert (book.budget, book.every, book.row, book.scenario) == (game.budget, game.every, game.row, game.scenario)
    assert (book.privacy.name, book.quality.unit) == (game.privacy.name, game.quality.unit)


def test_at_its_first_belief_it_plays_what_the_planner_plays():
    game, planner, rehearsal = on_a_line(1)
    live = Player(game, planner).play(game.start).table
    chooser = rehearsal.playbook.chooser
    found = rehearsal.playbook.play(game.start).by_state
    best, own = (float(chooser.worth(game.start, table[None]).value[0]) for table in (live, found))
    assert own >= best * (1 - 1e-5)  # seven digits; a mixture may be worth as much


def test_what_no_playbook_can_be_made_of_is_refused():
    game, planner, _ = on_a_line(0)
    with pytest.raises(PlanError, match="'planner'"):
        hs.make_playbook(line_of(0, budget=0.2), planner)
    ranked = hs.plan(game, mode="lexicographic", walks=2)
    with pytest.raises(hs.ParameterError, match=r"'planner' .* may trade current privacy for later"):
        hs.make_playbook(game, ranked)
    nowhere = game_of(hs.MarkovProfile.from_matrix(game.moves))
    with pytest.raises(hs.ParameterError, match="regions"):
        hs.make_playbook(nowhere, hs.plan(nowhere, outlook="plain"))
    for wrong in ({"within": 0.0}, {"within": np.nan}, {"seed": -1}, {"kilobytes": -1.0}, {"kilobytes": np.nan}):
        with pytest.raises(hs.ParameterError, match=f"'{next(iter(wrong))}'"):
            hs.make_playbook(game, planner, **wrong)


@pytest.mark.parametrize("share", [1.0, 1.2])
def test_at_a_saturating_budget_one_place_for_all_reveals_nothing(share):
    generator = np.random.default_rng(0)
    regions = hs.Places(*(np.array([[46.5], [6.5]]) + 0.05 * generator.random((2, 6))))
    moves = 5 * np.eye(6) + generator.random((6, 6)) ** 4
    profile = hs.MarkovProfile.from_matrix(moves / moves.sum(axis=1, keepdims=True), regions)
    metres = distance(regions)
    constant = min(float(profile.stationary @ losses) for losses in distances(regions).T ** 2)
    game = hs.planning.BeliefGame.of(profile, privacy=metres, quality=squared(metres), budget=share * constant)
    book = hs.make_playbook(game, hs.plan(game, walks=2))
    table = book.play(book.start).by_state
    assert table == pytest.approx(np.tile(table[0], (6, 1)), abs=1e-6)  # whole weights
    assert book.play(book.start).privacy == pytest.approx((distances(regions) @ profile.stationary).min(), rel=1e-6)
