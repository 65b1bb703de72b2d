"""Playbooks of three cells in a row, their devices, and playbooks in which anything stands that a file may hold."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from hideseek import Grid, MarkovProfile, Playbook, PlaybookDevice, make_playbook, plan
from hideseek.codebook.weights import Table
from hideseek.designing.playbook_maker import rehearsed
from hideseek.planning import BeliefGame
from hideseek.playbook.playbook import playbook_from
from tests.support.live_devices import LIVE_SCENARIOS, game_of, planned, stay_at_home


@cache
def book_of(name="now", outlook="far-sighted", budget=0.2) -> Playbook:
    game = game_of(scenario=LIVE_SCENARIOS[name], budget=budget)
    return make_playbook(game, planned(name, outlook, budget), kilobytes=20)


def playing(path, name="now", outlook="far-sighted", budget=0.2, floor=0.0) -> PlaybookDevice:
    return PlaybookDevice(book_of(name, outlook, budget), state=path, floor=floor)


@cache
def book_at_home() -> Playbook:
    return make_playbook(*stay_at_home(), kilobytes=20)


def with_tables(book: Playbook, tables, anchors, cuts=None) -> Playbook:
    """A playbook with these tables [table, state, release] for these beliefs, as a file of it is read."""
    rows = np.concatenate(tables)
    other = replace(
        book,
        tables=Table.from_distributions(book.cost.shape[1], np.arange(len(rows))[:, None], rows),
        anchors=np.asarray(anchors),
        cuts=book.cuts if cuts is None else np.asarray(cuts),
        checksum="",
    )
    return playbook_from(memoryview(other.content))


def garbage(book: Playbook, seed: int) -> Playbook:
    """A playbook that chooses badly: any tables, for any beliefs, valued by any cuts."""
    generator = np.random.default_rng(seed)
    states, releases = book.cost.shape
    count = int(generator.integers(1, 60))
    tables = generator.dirichlet(np.full(releases, generator.choice([0.02, 0.3, 3.0])), size=(count, states))
    anchors = generator.random((count, states)) * generator.choice([0.0, 0.3, 1.0])
    cuts = generator.normal(size=(int(generator.integers(4)), states)) * 10.0 ** generator.integers(-30, 30)
    return with_tables(book, tables, anchors, cuts)


def line_of(seed: int, budget: float = 0.3) -> BeliefGame:
    """Four cells in a row with any chain that stays where it is for a while; errors in cells, losses by Hamming."""
    moves = 0.6 * np.eye(4) + 0.4 * np.random.default_rng(seed).dirichlet(np.ones(4), size=4)
    off = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    row = Grid(46.0, 47.0, 6.0, 10.0, rows=1, columns=4)
    profile = MarkovProfile.from_matrix(moves, row)
    return BeliefGame.of(profile, privacy=off, quality=np.sign(off), budget=budget)


@cache
def on_a_line(seed: int):
    """The game, its planner and the playbook of it, with how far it falls short."""
    game = line_of(seed)
    planner = plan(game, walks=4)
    return game, planner, rehearsed(game, planner, 0.03, None, 0, None)
