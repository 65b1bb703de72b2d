"""The game between a user and an adversary, as two matrices and a number.

Whatever is protected, seen or released, the prior folds into

    W[g, i] = sum_a Pr(a, i | seen) d_p(g, a)         what the adversary errs by guessing g, weighted
    C[i, o] = sum_q Pr(q, i | seen) d_q(q, o, seen)   the quality lost by releasing o, weighted

and the best mechanism f(o|i) maximises  sum_o min_g sum_i W[g, i] f(o|i)  subject to  sum_{i,o} C[i, o] f(o|i) <= Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hideseek.errors import BudgetError, broken_rule, rule_text
from hideseek.game.linear_rows import LinearRows, causal_rows
from hideseek.metrics import MetricLike, as_metric
from hideseek.model.mobility import Profile, Trajectories, possible_trajectories, summed
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import (
    FloatArray,
    IntArray,
    distribution,
    labelled,
    nonnegative,
    product,
    refuse_if_too_large,
    scalar,
    unlabelled,
)
from hideseek.util.boundary import checked


@checked
@dataclass(frozen=True, eq=False)
class Game:
    """One game: ``error`` W[g, i], ``cost`` C[i, o], ``budget`` Q, and any extra rows on the mechanism.

    ``mass`` is the probability of each input, where it is known. ``guesses``, ``inputs`` and ``releases`` say what the
    indices stand for: one row of region numbers for each index, one column for each offset of the scenario.

    >>> game = Game.from_prior([0.5, 0.3, 0.2], 1 - np.eye(3), 1 - np.eye(3), budget=0.1)
    >>> game.prior_risk, game.least_loss, game.saturation
    (0.5, 0.0, 0.5)
    """

    error: FloatArray
    cost: FloatArray
    budget: float
    rows: LinearRows | None = None
    mass: FloatArray = field(default_factory=lambda: np.zeros(0))
    guesses: IntArray = field(default_factory=unlabelled)
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)

    def __post_init__(self) -> None:
        error = nonnegative(self.error, "error", "Game", 2)
        cost = nonnegative(self.cost, "cost", "Game", 2)
        if error.shape[1] != cost.shape[0]:
            rule = f"a matrix [inputs, releases] with one row for each of the {error.shape[1]} columns of 'error'"
            raise broken_rule("cost", "Game", rule, f"the shape {cost.shape}")
        budget = scalar(self.budget, "budget", "Game")
        mass = np.asarray(self.mass, dtype=np.float64)
        if mass.size:
            mass = distribution(mass, "mass", "Game")
            if len(mass) != error.shape[1]:
                raise broken_rule("mass", "Game", f"{error.shape[1]} probabilities, one an input", len(mass))
        if self.rows is not None and self.rows.matrix.shape[1] != cost.size:
            rule = f"rows over {cost.size} entries, one for each (input, release)"
            raise broken_rule("rows", "Game", rule, f"{self.rows.matrix.shape[1]}")
        checked = {
            "error": error,
            "cost": cost,
            "budget": budget,
            "mass": mass,
            "guesses": labelled(self.guesses, error.shape[0], "guesses", "Game"),
            "inputs": labelled(self.inputs, error.shape[1], "inputs", "Game"),
            "releases": labelled(self.releases, cost.shape[1], "releases", "Game"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if budget < self.least_loss:
            if budget < self.least_loss * (1 - 1e-12):
                raise budget_too_small(budget, self.least_loss)
            object.__setattr__(self, "budget", self.least_loss)  # meant, and missed by rounding

    @classmethod
    def from_prior(
        cls, prior: npt.ArrayLike, privacy_metric: npt.ArrayLike, quality_metric: npt.ArrayLike, budget: float
    ) -> Game:
        """The sporadic game: a law over places, d_p[g, a] and d_q[a, o] as matrices.

        >>> Game.from_prior([0.5, 0.5], [[0, 1], [1, 0]], [[0, 2], [2, 0]], budget=0.5).cost
        array([[0., 1.],
               [1., 0.]])
        """
        psi = distribution(prior, "prior", "Game.from_prior")
        d_p = nonnegative(privacy_metric, "privacy_metric", "Game.from_prior", 2)
        d_q = nonnegative(quality_metric, "quality_metric", "Game.from_prior", 2)
        for name, size, shape in (
            ("privacy_metric", d_p.shape[1], "[guesses, places]"),
            ("quality_metric", d_q.shape[0], "[places, releases]"),
        ):
            if size != len(psi):
                raise broken_rule(
                    name, "Game.from_prior", f"a matrix {shape} over the {len(psi)} places of 'prior'", f"{size} places"
                )
        return cls(d_p * psi, d_q * psi[:, None], budget, mass=psi)

    @classmethod
    def from_scenario(
        cls,
        profile: Profile,
        scenario: Scenario,
        privacy: MetricLike,
        quality: MetricLike,
        budget: float | None = None,
        law: Trajectories | None = None,
        seen: Sequence[int] = (),
    ) -> Game:
        """The game of a scenario, when the true places follow ``law`` given what was ``seen``.

        ``law`` defaults to the profile's own, which is right as long as nothing has been seen. Inputs are the known
        places that can occur; the adversary may guess, and the mechanism release, any combination of places. Without a
        ``budget`` the game gets the one that saturates it; :meth:`with_budget` then sets a share of it.

        >>> from hideseek.model.mobility import MarkovProfile
        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = Game.from_scenario(profile, Scenario.sporadic(), 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
        >>> round(game.prior_risk, 6)
        0.333333
        """
        if len(seen) != len(scenario.seen):
            rule = f"one region for each of the {len(scenario.seen)} seen offsets of the scenario"
            raise broken_rule("seen", "Game.from_scenario", rule, tuple(seen))
        if law is None:
            if scenario.seen:
                way_out = "See Trajectories.given for the law after earlier exposures."
                rule = "the law of the true places given 'seen', in a scenario where something was seen"
                raise broken_rule("law", "Game.from_scenario", rule, None, way_out)
            law = possible_trajectories(profile, scenario.offsets)
        places = profile.places
        if not all(0 <= release < places for release in seen):
            raise broken_rule("seen", "Game.from_scenario", f"regions from 0 to {places - 1}", tuple(seen))
        inputs, mass, targets, target_weight = folded(law, scenario.target, scenario.known)
        _, _, wanted, quality_weight = folded(law, scenario.quality, scenario.known)
        guessed, released = places ** len(scenario.target), places ** len(scenario.release)
        entries = guessed * (len(targets) + len(inputs)) + released * (len(wanted) + 2 * len(inputs))
        entries += 8 * guessed * released  # what a solver keeps for every guess and release
        refuse_if_too_large(8 * entries, f"A game of {len(inputs)} inputs over {places} places in this scenario")
        guesses, releases = product(places, len(scenario.target)), product(places, len(scenario.release))
        history = np.array(seen, dtype=np.int64)
        d_p = as_metric(privacy, "privacy", places).between(guesses, targets, np.empty(0, np.int64))
        d_q = as_metric(quality, "quality", places).between(wanted, releases, history)
        for name, table, shape in (
            ("privacy", d_p, (len(guesses), len(targets))),
            ("quality", d_q, (len(wanted), len(releases))),
        ):
            if table.shape != shape:
                rule = f"a metric that gives a matrix of the shape {shape} here"
                raise broken_rule(name, "Game.from_scenario", rule, f"{table.shape}")
        error, cost = d_p @ target_weight, quality_weight.T @ d_q
        groups = scenario.causal_groups(inputs) if scenario.causal else []
        rows = causal_rows(groups, releases) if groups else None
        enough = float(cost.sum(axis=0).min()) if budget is None else budget
        return cls(error, cost, enough, rows, mass, guesses, inputs, releases)

    def with_budget(self, budget: float) -> Game:
        """The same game for another budget.

        >>> Game.from_prior([0.5, 0.5], 1 - np.eye(2), 1 - np.eye(2), budget=0.1).with_budget(0.3).budget
        0.3
        """
        return replace(self, budget=budget)

    @cached_property
    def prior_risk(self) -> float:
        """What the adversary errs by when he sees nothing: no mechanism gives more privacy than this."""
        return float(self.error.sum(axis=1).min())

    @cached_property
    def least_loss(self) -> float:
        """The expected quality loss of the cheapest release for every input."""
        return float(self.cost.min(axis=1).sum())

    @cached_property
    def saturation(self) -> float:
        """The cost of the cheapest constant release: with this budget the adversary learns nothing."""
        return float(self.cost.sum(axis=0).min())


def folded(
    law: Trajectories, offsets: Sequence[int], known: Sequence[int]
) -> tuple[IntArray, FloatArray, IntArray, sparse.csr_array]:
    """Inputs (known places) and their law; values of the places at some offsets; the joint law [value, input]."""
    inputs, which = np.unique(law.at(known), axis=0, return_inverse=True)
    values, index = np.unique(law.at(offsets), axis=0, return_inverse=True)
    shape = (len(values), len(inputs))
    joint = sparse.csr_array((law.probability, (index.ravel(), which.ravel())), shape=shape)
    return inputs, summed(which, law.probability, len(inputs)), values, joint


def budget_too_small(budget: float, least: float) -> BudgetError:
    """A budget that no mechanism can meet, with the one that can be met."""
    rule = f"at least the least possible loss, {least!r}"
    return BudgetError(rule_text("budget", "Game", rule, budget, "Raise the budget, or allow closer releases."), least)
