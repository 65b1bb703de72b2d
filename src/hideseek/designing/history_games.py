"""Which game every history plays: that of now, and the one that decides among its optima."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hideseek.codebook.joint_distribution import Access, History, Joint
from hideseek.codebook.stage import NOTHING, Prior
from hideseek.game.folding import folded
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.model.belief_chain import in_a_row
from hideseek.model.markov import MarkovProfile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.solvers.dispatch import solve
from hideseek.util.arrays import FloatArray, product
from hideseek.util.choices import ACCESS

Role = tuple[tuple[int, ...], tuple[int, ...]]  # the offsets of a target and of what the quality depends on


@dataclass(frozen=True, eq=False)
class HistoryGames:
    """Makes the games of a design.

    ``recurring`` is the game of an access at any belief, where the scenario has one (see :func:`recurring_game`); other
    accesses, such as the first ones, get a game from the scenario for every history.
    """

    profile: MarkovProfile
    scenario: Scenario
    privacy: Metric
    quality: Metric
    budget: float
    planner: Planner | None
    recurring: BeliefGame | None
    over: str = ACCESS
    _ceilings: dict[Role, tuple[FloatArray, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: MarkovProfile,
        scenario: Scenario,
        privacy: Metric,
        quality: Metric,
        budget: float,
        planner: Planner | None,
        over: str = ACCESS,
    ) -> HistoryGames:
        """The games of a design; a planner needs a recurring game, and must have been made for it."""
        recurring = recurring_game(profile, scenario, privacy, quality, budget, needed=planner is not None)
        if planner is not None and recurring is not None:
            planner.checked(recurring)
        return cls(profile, scenario, privacy, quality, budget, planner, recurring, over)

    def now(self, access: Access, joint: Joint, only: Sequence[History] = ()) -> dict[History, Game]:
        """The games of all histories at an access, or of some."""
        prior = access.prior(joint)
        some = set(only)
        wanted = [(k, past) for k, past in enumerate(histories_of(prior)) if not some or past in some]
        recurring = self.recurring_at(access)
        if recurring is not None:
            beliefs = np.zeros((len(prior.histories), len(recurring.states)))
            np.add.at(beliefs, (prior.history, recurring.index(prior.at(access.scenario.known))), prior.probability)
            return {past: recurring.among(beliefs[k] / prior.weight[k]) for k, past in wanted}
        found = {}
        for k, past in wanted:
            own = prior.history == k
            places = Trajectories(
                prior.offsets, prior.sequences[own], probability=prior.probability[own] / prior.weight[k]
            )
            found[past] = Game.from_scenario(
                self.profile,
                access.scenario,
                privacy=self.privacy,
                quality=self.quality,
                budget=self.budget if self.over == ACCESS else None,  # one history alone may lose more than it
                distribution=places,
                seen=past,
            )
        return found

    def next(self, game: Game, access: Access, joint: Joint, history: int) -> Game:
        """The second criterion: how little the adversary will know about the next target before it is protected.

        Its rows are the adversary's errors by guessing blindly, and one more: an attack h with its price bounds the
        value of the next game, linearly in the belief. Without that bound all of the error would count, also what the
        next budget cannot keep, and tables that put it all after a few histories would be preferred (measured: 0.040
        of privacy at the second access instead of 0.075).
        """
        recurring = self.recurring_at(access)
        if recurring is not None:
            errors = self._ahead[:, recurring.index(game.inputs)] * game.mass
            return Game(errors, game.cost, budget=game.budget, inputs=game.inputs, releases=game.releases)
        errors = self._next_errors(access, access.next_distribution(joint, history))
        return Game(errors, game.cost, budget=game.budget, rows=game.rows, inputs=game.inputs, releases=game.releases)

    def recurring_at(self, access: Access) -> BeliefGame | None:
        """The recurring game, if this access and the next one play it."""
        own = replace(self.scenario, seen=())
        return self.recurring if access.kind == (own, own) else None

    @cached_property
    def _ahead(self) -> FloatArray:
        """The errors of the second criterion in every state of the recurring game."""
        if self.recurring is None:
            return np.zeros((0, 0))
        if self.planner is None:
            errors = np.vstack([self.recurring.error, self.recurring.ceiling_cut])
        else:
            errors = self.planner.cuts - self.planner.cuts.min(axis=0)
        return np.asarray(errors @ self.recurring.moves.T)

    def _next_errors(self, access: Access, ahead: Trajectories) -> FloatArray:
        """The errors of the second criterion at an access with games of its own, for what lies ``ahead``."""
        following, places = access.following, self.profile.places
        if self.planner is not None and self.recurring is not None and following.known == self.scenario.known:
            _, _, states, weight = folded(ahead, access.later(following.known), access.scenario.known)
            cuts = self.planner.cuts[:, self.recurring.index(states)]
            return np.asarray((cuts - cuts.min(axis=0)) @ weight)
        target, quality = (access.later(offsets) for offsets in (following.target, following.quality))
        matter = tuple(sorted({*target, *quality}))
        _, _, values, weight = folded(ahead, matter, access.scenario.known)
        guesses, releases = product(places, len(target)), product(places, len(following.release))
        d_p = self.privacy.between(guesses, values[:, [matter.index(offset) for offset in target]], NOTHING)
        errors = d_p @ weight
        if not self.quality.looks_back:
            attack, price = self._ceiling(following)
            d_q = self.quality.between(values[:, [matter.index(offset) for offset in quality]], releases, NOTHING)
            alpha = price * self.budget + (d_p.T @ attack.T - price * d_q).max(axis=1)
            # where no release keeps the budget it bounds nothing, and no error is below 0
            errors = np.vstack([errors, np.maximum(alpha, 0.0) @ weight])
        return np.asarray(errors)

    def _ceiling(self, scenario: Scenario) -> tuple[FloatArray, float]:
        """The attack and its price in the game of a scenario when nothing was seen and all that matters is known."""
        role = scenario.target, scenario.quality
        if role not in self._ceilings:
            everything = tuple(sorted({*scenario.target, *scenario.quality}))
            alone = replace(scenario, seen=(), known=everything, causal=False)
            found = solve(
                Game.from_scenario(self.profile, alone, privacy=self.privacy, quality=self.quality, budget=self.budget)
            )
            self._ceilings[role] = found.attack, found.price
        return self._ceilings[role]


def recurring_game(
    profile: MarkovProfile, scenario: Scenario, privacy: Metric, quality: Metric, budget: float, needed: bool
) -> BeliefGame | None:
    """The game that every access plays at its belief, or None where there is none; an error if it is ``needed``.

    There is one if what the mechanism knows next follows from what it knows now, the quality does not depend on earlier
    releases, and the budget can be kept at every place, since the adversary may come to believe in any one of them.
    """
    if not needed:
        if quality.looks_back or not recurs(scenario, profile.memory):
            return None
        alone = Game.from_scenario(profile, replace(scenario, seen=()), privacy=privacy, quality=quality)
        if budget < float((alone.cost / alone.mass[:, None]).min(axis=1).max()):
            return None
    return BeliefGame.of(profile, privacy=privacy, quality=quality, budget=budget, scenario=scenario)


def recurs(scenario: Scenario, memory: int) -> bool:
    """Whether every access of a scenario looks at the same state of a chain with this memory, and nothing else.

    >>> recurs(Scenario.past_present(1), memory=1), recurs(Scenario.present_future(), memory=1)
    (True, False)
    """
    known, back = scenario.known, in_a_row(scenario.known)
    return (
        scenario.release == (0,)
        and known[-1] == 0
        and back >= memory
        and all(offset + scenario.every > -back for offset in known)
        and min(*scenario.target, *scenario.quality) >= known[0]
    )


def histories_of(prior: Prior) -> list[History]:
    """The histories of a prior as keys."""
    return [tuple(past) for past in prior.histories.tolist()]
