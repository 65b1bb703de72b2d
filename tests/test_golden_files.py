"""Codebooks and plans are made byte for byte as they were before the code moved into packages (commit 8e52a1e), and
playbooks as they first were.

The games have closed forms and the chains dyadic probabilities, so that no solver's version matters, and nor did the
kernels of OpenBLAS (tried: with and without AVX2, AVX-512 and FMA).
"""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import pytest

import hideseek as hs
from hideseek.codebook.weights import Table
from hideseek.planning import BeliefGame
from hideseek.playbook.playbook import Measure

GOLDEN = Path(__file__).parent / "golden"
HOMES = hs.Places([46.5, 46.75], [6.5, 6.75])
COMMUTER = hs.MarkovProfile.from_matrix([[0.75, 0.25], [0.25, 0.75]], HOMES)
STAYS = hs.model.StayMap((hs.model.Disc("home", latitude=46.5, longitude=6.5, radius=200.0),), ((4, 9, 5),))
COIN_OF_STAYS = hs.MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], STAYS)
COIN = hs.MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], HOMES)


@pytest.fixture(autouse=True)
def without_solver(monkeypatch):
    """HiGHS fails if it is asked."""

    def run(self):
        raise AssertionError("a golden file depends on a solver")

    for name in ("run", "solve"):
        monkeypatch.setattr(highspy.Highs, name, run)


@pytest.mark.parametrize(
    ("name", "profile", "budget"),
    [
        ("truthful.hideseek", COMMUTER, 0.0),
        ("coin.hideseek", COIN, 0.125),
        ("stays.hideseek", COIN_OF_STAYS, 0.125),  # since 0.3
    ],
)
def test_a_codebook_has_the_bytes_that_it_always_had(name, profile, budget, tmp_path):
    scenario = hs.Scenario.past_present(1)
    codebook = hs.design(
        profile, scenario, privacy="hamming", quality="hamming", budget=budget, choice="plain", workers=1
    )
    codebook.save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_a_plan_has_the_bytes_that_it_always_had(tmp_path):
    game = BeliefGame.of(COMMUTER, privacy="hamming", quality="hamming", budget=0.125)
    hs.save_plan(game, hs.plan(game, outlook="plain"), path=tmp_path / "plain.plan")
    assert (tmp_path / "plain.plan").read_bytes() == (GOLDEN / "plain.plan").read_bytes()


def commuters_playbook() -> hs.Playbook:
    """Three tables of dyadic probabilities, and two cuts."""
    differ, stays = 1 - np.eye(2), np.array([[0.75, 0.25], [0.25, 0.75]])
    tables = np.array([np.eye(2), [[0.5, 0.5], [0.5, 0.5]], [[0.875, 0.125], [0.125, 0.875]]])
    return hs.Playbook(
        regions=HOMES,
        step="5min",
        scenario=hs.Scenario.sporadic(),
        privacy=Measure("Hamming", ""),
        quality=Measure("Hamming", ""),
        budget=0.125,
        every=1,
        row=1,
        states=np.array([[0], [1]]),
        start=np.array([0.5, 0.5]),
        error=differ,
        cost=differ,
        moves=stays,
        wait=stays,
        discount=0.5,
        cuts=np.array([[0.25, 0.125], [0.125, 0.25]]),
        anchors=np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]]),
        tables=Table.from_distributions(2, np.arange(6)[:, None], tables.reshape(6, 2)),
        attack=np.eye(2),
        price=1.0,
    )


def test_a_playbook_has_the_bytes_that_it_always_had(tmp_path):
    commuters_playbook().save(tmp_path / "commuter.playbook")
    assert (tmp_path / "commuter.playbook").read_bytes() == (GOLDEN / "commuter.playbook").read_bytes()
    book = hs.Playbook.load(GOLDEN / "commuter.playbook")
    told = book.play(np.array([0.5, 0.5]))
    assert told.weights[:2].tolist() == [[7 * 2**29, 2**29], [2**29, 7 * 2**29]]  # a coin that errs as often as it may
    assert (told.privacy, told.loss, book.ceiling_bound) == (0.125, 0.125, 0.125)
