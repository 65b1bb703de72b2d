"""Codebooks and plans are made byte for byte as they were before the code moved into packages (commit 8e52a1e).

The games have closed forms and the chains dyadic probabilities, so that no solver's version matters, and nor did the
kernels of OpenBLAS (tried: with and without AVX2, AVX-512 and FMA).
"""

from __future__ import annotations

from pathlib import Path

import highspy
import pytest

import hideseek as hs
from hideseek.planning import BeliefGame

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
