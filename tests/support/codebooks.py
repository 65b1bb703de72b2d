"""Small chains, and codebooks over them: designed ones, and some that nobody designed."""

from __future__ import annotations

import itertools

import numpy as np

from hideseek import Codebook, MarkovProfile, design
from hideseek.codebook.claims import Deployed
from hideseek.codebook.stage import Stage
from hideseek.codebook.weights import Table
from hideseek.metrics import from_matrix
from hideseek.model.markov import profile_from_kernel
from hideseek.model.scenario import since_start


def metric(places, seed=0):
    """Distances of random points: no two are alike."""
    points = np.random.default_rng(seed).random((places, 2))
    return np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))


def chain(places, seed=0):
    return MarkovProfile.from_matrix(np.random.default_rng(seed).dirichlet(np.ones(places), places))


def second_order(places=2, seed=0):
    states = np.array(list(itertools.product(range(places), repeat=2)))
    kernel = np.random.default_rng(seed).dirichlet(np.ones(places), len(states))
    return profile_from_kernel(states, kernel, None, "5min", "matrix", "a test")


def made(profile, scenario, share=0.6, seed=0, quality=None):
    D = metric(profile.places, seed)
    budget = share * float((profile.stationary @ D**2).min()) * len(scenario.release)
    return design(profile, scenario, privacy=D, quality=D**2 if quality is None else quality, budget=budget, workers=1)


def arbitrary(places, scenario, seed=0):
    """A codebook that nobody designed: any releases after any history, the first accesses each with its own."""
    generator, D = np.random.default_rng(seed), metric(places)
    first = -(min(scenario.offsets) // scenario.every)
    stages = []
    for n in range(first + 1):
        own, tables = since_start(scenario, n), []
        for position, moment in enumerate(own.release):
            known = [offset for offset in own.known if offset <= moment or not own.causal]
            keys = np.array(list(itertools.product(range(places), repeat=len(own.seen) + position + len(known))))
            tables.append(Table.from_distributions(places, keys, generator.dirichlet(np.ones(places), len(keys))))
        stages.append(Stage(own, then=min(n + 1, first), tables=tuple(tables)))
    nothing = Deployed(0, True, 0, 0, 0, 0, None, None, 0, 0)
    return Codebook(
        scenario=scenario, places=places, regions=None, step="5min", privacy=from_matrix(D), quality=from_matrix(D**2),
        budget=0.0, stages=tuple(stages), gaps=(), deployed=nothing,
    )  # fmt: skip
