"""From a profile, a scenario and two metrics to the matrices of a game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.game.linear_rows import LinearRows, causal_rows
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories, possible_trajectories
from hideseek.util.arrays import FloatArray, IntArray, product, summed
from hideseek.util.limits import refuse_if_too_large

OWNER = "Game.from_scenario"


@dataclass(frozen=True, eq=False)
class Folded:
    """What a game is made of but for its budget: see :class:`hideseek.game.game.Game`."""

    error: FloatArray
    cost: FloatArray
    rows: LinearRows | None
    mass: FloatArray
    guesses: IntArray
    inputs: IntArray
    releases: IntArray
    units: tuple[str, str]


def fold_scenario(
    profile: Profile,
    scenario: Scenario,
    privacy: MetricLike,
    quality: MetricLike,
    trajectories: Trajectories,
    seen: Sequence[int],
) -> Folded:
    """Fold a distribution of true places, and what was seen, into W[g, i] and C[i, o]."""
    places = profile.places
    if not all(0 <= release < places for release in seen):
        raise broken_rule("seen", OWNER, f"regions from 0 to {places - 1}", tuple(seen))
    inputs, mass, targets, target_weight = folded(trajectories, scenario.target, scenario.known)
    _, _, wanted, quality_weight = folded(trajectories, scenario.quality, scenario.known)
    guessed, released = places ** len(scenario.target), places ** len(scenario.release)
    entries = guessed * (len(targets) + len(inputs)) + released * (len(wanted) + 2 * len(inputs))
    entries += 8 * guessed * released  # what a solver keeps for every guess and release
    what = f"A game of {len(inputs)} inputs over {places} places in this scenario"
    refuse_if_too_large(8 * entries, what, parameter="scenario")
    guesses, releases = product(places, len(scenario.target)), product(places, len(scenario.release))
    error, loss = as_metric(privacy, "privacy", profile, OWNER), as_metric(quality, "quality", profile, OWNER)
    d_p = error.between(guesses, targets, np.empty(0, np.int64))
    d_q = loss.between(wanted, releases, np.array(seen, dtype=np.int64))
    for name, table, shape in (
        ("privacy", d_p, (len(guesses), len(targets))),
        ("quality", d_q, (len(wanted), len(releases))),
    ):
        if table.shape != shape:
            raise broken_rule(name, OWNER, f"a metric that gives a matrix of the shape {shape} here", f"{table.shape}")
    groups = scenario.causal_groups(inputs) if scenario.causal else []
    rows = causal_rows(groups, releases) if groups else None
    matrices = d_p @ target_weight, quality_weight.T @ d_q
    return Folded(*matrices, rows, mass, guesses, inputs, releases, (error.unit, loss.unit))


def true_places(
    profile: Profile, scenario: Scenario, distribution: Trajectories | None, seen: Sequence[int]
) -> Trajectories:
    """The distribution of the true places given what was seen: the profile's own as long as nothing was."""
    if len(seen) != len(scenario.seen):
        rule = f"one region for each of the {len(scenario.seen)} seen offsets of the scenario"
        raise broken_rule("seen", OWNER, rule, tuple(seen))
    if distribution is not None:
        return distribution
    if scenario.seen:
        rule = "the distribution of the true places given 'seen', in a scenario where something was seen"
        hint = "See Trajectories.given for the distribution after earlier exposures."
        raise broken_rule("distribution", OWNER, rule, None, hint)
    return possible_trajectories(profile, scenario.offsets)


def folded(
    trajectories: Trajectories, offsets: Sequence[int], known: Sequence[int]
) -> tuple[IntArray, FloatArray, IntArray, sparse.csr_array]:
    """Inputs (known places) and their probabilities; the values of the places at some offsets; the joint distribution
    [value, input] of both.
    """
    inputs, which = np.unique(trajectories.at(known), axis=0, return_inverse=True)
    values, index = np.unique(trajectories.at(offsets), axis=0, return_inverse=True)
    shape = (len(values), len(inputs))
    joint = sparse.csr_array((trajectories.probability, (index.ravel(), which.ravel())), shape=shape)
    return inputs, summed(which, trajectories.probability, len(inputs)), values, joint
