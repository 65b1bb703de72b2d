"""What games at a belief, and what plays them, take: every parameter of their functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hideseek as hs

HALF = np.array([[0.5, 0.5], [0.5, 0.5]])
BELIEF = np.array([0.5, 0.5])
OVER = {"over": "access", "cap": None}
UNDER = {"tracks": None, "tiles": None}
HERE = {"latitude": 46.52, "longitude": 6.57, "at": "2026-01-05T08:00:00+00:00"}


def belief_calls(game: hs.planning.BeliefGame, planner: hs.Planner, folder: Path) -> dict[str, tuple]:
    """By name: the function or method, and what it takes."""
    book = hs.make_playbook(game, planner, kilobytes=10)
    book.save(folder / "playbook")
    live = hs.LiveDevice(game, planner, state=folder / "live")
    playing = hs.PlaybookDevice(book, state=folder / "playing")
    same = {"privacy": game.privacy, "quality": game.quality, "budget": 0.1}
    return {
        "BeliefGame": (
            hs.planning.BeliefGame,
            {name: getattr(game, name) for name in hs.planning.BeliefGame.__dataclass_fields__},
        ),
        "BeliefGame.among": (game.among, {"belief": BELIEF}),
        "BeliefGame.at": (game.at, {"belief": BELIEF}),
        "BeliefGame.belief": (game.belief, {"belief": BELIEF, "owner": "test"}),
        "BeliefGame.cut": (game.cut, {"attack": HALF, "price": 0.1}),
        "BeliefGame.index": (game.index, {"vectors": np.array([[0]])}),
        "BeliefGame.kept": (game.kept, {"privacy": 0.1}),
        "BeliefGame.later": (game.later, {"belief": BELIEF, "steps": 1}),
        "BeliefGame.learned": (game.learned, {"belief": BELIEF, "table": HALF, "release": 0}),
        "BeliefGame.map": (game.map, UNDER),
        "Scenario.read_later": (hs.Scenario.read_later, {"lag": 1, "memory": 1}),
        "BeliefGame.of": (
            hs.planning.BeliefGame.of,
            {"profile": game.profile, **same, "scenario": game.scenario} | OVER,
        ),
        "against_profile": (
            hs.adversary.against_profile,
            {"playbook": book, "profile": game.profile, "accesses": 2, "walks": 2, "seed": 0, "progress": None},
        ),
        "LiveDevice": (
            hs.LiveDevice,
            {"game": game, "planner": planner, "state": folder / "live", "floor": 0.0},
        ),
        "LiveDevice.expose": (live.expose, HERE),
        "LiveDevice.label": (live.label, {}),
        "Playbook": (hs.Playbook, {name: getattr(book, name) for name in hs.Playbook.__dataclass_fields__}),
        "Playbook.belief": (book.belief, {"belief": BELIEF, "owner": "test"}),
        "Playbook.cut": (book.cut, {"attack": HALF, "price": 0.1}),
        "Playbook.kept": (book.kept, {"privacy": 0.1}),
        "Playbook.later": (book.later, {"belief": BELIEF, "steps": 1}),
        "Playbook.learned": (book.learned, {"belief": BELIEF, "table": HALF, "release": 0}),
        "Playbook.load": (hs.Playbook.load, {"path": folder / "playbook"}),
        "Playbook.map": (book.map, UNDER),
        "Playbook.play": (book.play, {"belief": BELIEF, "columns": [0], "floor": 0.0}),
        "Playbook.save": (book.save, {"path": folder / "playbook"}),
        "PlaybookDevice": (hs.PlaybookDevice, {"playbook": book, "state": folder / "playing", "floor": 0.0}),
        "PlaybookDevice.expose": (playing.expose, HERE),
        "PlaybookDevice.label": (playing.label, {}),
        "make_playbook": (
            hs.make_playbook,
            {"game": game, "planner": planner, "within": 0.5, "kilobytes": 10, "seed": 0, "progress": None},
        ),
    }
