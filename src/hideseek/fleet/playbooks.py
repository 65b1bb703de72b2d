"""The playbook of a user of a fleet: made, attacked as a device draws from it, and followed over random gaps."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import numpy as np

from hideseek.adversary.belief_exposer import follow_beliefs, windows_seen
from hideseek.adversary.label import share
from hideseek.adversary.naming import Naming
from hideseek.designing.playbook_maker import make_playbook
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.plan_file import content_of
from hideseek.planning.training import plan
from hideseek.playbook.playbook import Playbook, tables_at
from hideseek.util.arrays import IntArray
from hideseek.util.estimates import Estimate
from hideseek.util.time_steps import checked_step
from hideseek.util.units import metres_beside

ACCESSES, WALKS = 60, 40  # of the run with an access at every step
GAP_WALKS = 10  # of the run with gaps
GAP, NIGHT = 3, timedelta(hours=8)  # steps between accesses on average, and once in a run


def planned(game: BeliefGame, against: str | None) -> dict[str, bytes]:
    """The files of a plan and of its playbook."""
    planner = plan(game, against=against)
    return {"plan": content_of(game, planner), "playbook": make_playbook(game, planner).content}


def attacked(playbook: Playbook) -> tuple[dict[str, float | int], tuple[Naming, ...]]:
    """The columns of a row that a playbook fills, and how often an adversary names each place."""
    choose, log = partial(tables_at, playbook), playbook.follows_log
    accesses, walks = windows_seen(playbook.window, ACCESSES, WALKS)
    run = follow_beliefs(playbook, choose, accesses=accesses, walks=walks, log=log)
    waits = random_waits(playbook.step, accesses)
    gaps = follow_beliefs(playbook, choose, accesses=waits.shape[1], walks=GAP_WALKS, waits=waits, log=log)
    estimates = {
        "filter": run.filter,
        "smoother": run.smoother,
        "kept": share(run.filter, playbook.most),
        "gap_filter": gaps.filter,
    }
    losses = {
        "budget": playbook.budget,
        "quality_loss": float(run.quality_loss),
        "worst_loss": run.worst_loss,
        "gap_worst_loss": gaps.worst_loss,
        "worst_window": run.worst_window,
        "realised": float(run.realised),
    }
    numbers: dict[str, float | int] = {
        "prior_risk": playbook.prior_risk,
        "ceiling": playbook.most,
        "accesses": accesses,
        "walks": walks,
        "tables": len(playbook.anchors),
    }
    return numbers | losses | with_intervals(estimates) | metres_beside(losses, playbook.quality.unit), run.namings


def random_waits(step: str, accesses: int) -> IntArray:
    """Steps from each access to the next, [walk, access]: geometric, and a night in the middle of every walk.

    >>> waits = random_waits("10min", 60)
    >>> waits.shape, waits[:, 30].tolist() == [48] * 10, bool(2 < waits[:, :30].mean() < 4)
    ((10, 60), True, True)
    """
    waits = np.random.default_rng(0).geometric(1 / GAP, (GAP_WALKS, accesses))
    waits[:, accesses // 2] = max(1, NIGHT // checked_step(step, "fleet"))
    return waits


def with_intervals(estimates: dict[str, Estimate]) -> dict[str, float]:
    """Columns of estimates, and of the ends of their intervals."""
    numbers = {name: float(estimate) for name, estimate in estimates.items()}
    for name, estimate in estimates.items():
        numbers[f"{name}_low"], numbers[f"{name}_high"] = map(float, estimate.interval)
    return numbers
