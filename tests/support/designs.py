"""Small chains, scenarios of every kind, and designs of them."""

from __future__ import annotations

import numpy as np

from hideseek import MarkovProfile, Scenario, design
from hideseek.metrics import from_matrix, total
from hideseek.model.markov import profile_from_kernel

LINE = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
CHAIN = MarkovProfile.from_matrix([[0.6, 0.4, 0.0], [0.3, 0.4, 0.3], [0.0, 0.5, 0.5]])
PAIR = MarkovProfile.from_matrix([[0.8, 0.2], [0.3, 0.7]])
SECOND_ORDER = profile_from_kernel(
    np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
    np.array([[0.7, 0.3], [0.4, 0.6], [0.8, 0.2], [0.1, 0.9]]),
    None,
    "5min",
    "matrix",
    "test",
)
SCENARIOS = {
    "sporadic": Scenario.sporadic(),
    "location": Scenario.past_present(1),
    "transition": Scenario.past_present(1, protect="way"),
    "location, two seen": Scenario.past_present(2),
    "transition, two seen": Scenario.past_present(2, protect="way"),
    "in between": Scenario.in_between(2),
    "next, not released": Scenario(target=(0, 1), seen=(-1,), known=(0,)),
    "unknown route": Scenario.present_future(),
    "planned route": Scenario.present_future(planned=True),
    "unknown route, seen": Scenario(target=(0, 1), seen=(-2, -1), release=(0, 1), causal=True),
}


def made(profile, scenario, budget=0.2, steps=None, **options):
    """A design in which places lie on a line, with this budget for every release."""
    metric = from_matrix(np.abs(np.subtract.outer(np.arange(profile.places), np.arange(profile.places))).astype(float))
    return design(
        profile,
        scenario,
        privacy=total(metric),
        quality=total(metric),
        budget=budget * len(scenario.release),
        first_stages=steps,
        **options,
    )
