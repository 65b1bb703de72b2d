"""The game that a scenario gives at every access, whatever the adversary believes by then.

An adversary who remembers every release believes something about the true places before every access: a distribution
that follows from what was exposed, which is public (:mod:`hideseek.model.belief_chain`). The game at the belief b has
W[g, x] = E[g, x] b[x] and C[x, o] = D[x, o] b[x].
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hideseek.errors import BudgetError, broken_rule
from hideseek.game.budget import budget_through_time
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.account import checked_cap, window_of
from hideseek.model.belief_chain import BeliefChain, in_a_row
from hideseek.model.markov import MarkovProfile, state_index
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import continued
from hideseek.solvers.dispatch import solve
from hideseek.solvers.solution import Solution
from hideseek.util.arrays import FloatArray, IntArray, encoded, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import numbered, shaped
from hideseek.util.choices import ACCESS
from hideseek.util.display import html_table
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.on_map import OnMap
from hideseek.util.units import amount, least_words


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefGame(BeliefChain, OnMap):
    """One game for all accesses: see :meth:`of`, and the :class:`BeliefChain` that it plays over."""

    profile: MarkovProfile
    scenario: Scenario
    privacy: Metric
    quality: Metric

    @classmethod
    def of(
        cls,
        profile: Profile,
        *,
        scenario: Scenario | None = None,
        privacy: MetricLike,
        quality: MetricLike,
        budget: float | str,
        over: str | timedelta = ACCESS,
        cap: float | None = None,
    ) -> BeliefGame:
        """The game of a scenario, played access after access with one release at each.

        Parameters
        ----------
        profile
            A :class:`MarkovProfile`: the same at all times.
        scenario
            What is protected, by default the current place. The mechanism must know every place that matters and has
            already been visited, and enough of them that what it knows next follows. All releases count as ``seen``.
        privacy, quality
            The metrics of the adversary's error and of the quality loss.
        budget
            The largest expected loss, given every release so far: in the unit of ``quality``, or as "500m".
        over
            Over how long the budget holds on average: "access" (it holds at every one), or a length of time such as
            "1 day", whose accesses' worth can be saved up (:class:`hideseek.model.account.Account`).
        cap
            The most budgets that an access may lose, over a longer window; by default all that was saved.

        Raises
        ------
        BudgetError
            If the budget is too small at some place: the adversary may come to believe in that place alone.

        Examples
        --------
        >>> from hideseek.metrics import hamming
        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.1)
        >>> game.later(np.array([1.0, 0.0]), steps=2).round(6)
        array([0.83, 0.17])
        """
        owner = "BeliefGame"
        scenario = Scenario.sporadic() if scenario is None else scenario
        if not isinstance(profile, MarkovProfile):
            rule = "a MarkovProfile, the same at all times, as a device may start at any of them"
            raise broken_rule("profile", owner, rule, type(profile).__name__)
        check(scenario, profile.memory)
        d_p, d_q = as_metric(privacy, "privacy", profile, owner), as_metric(quality, "quality", profile, owner)
        if d_q.looks_back:
            rule = "a metric of the place and its release"
            raise broken_rule("quality", owner, rule, "one that looks at earlier ones")
        window = window_of(over, profile.step, scenario.every, owner)
        return with_matrices(profile, scenario, d_p, d_q, budget, window, checked_cap(cap, window, owner))

    def index(self, vectors: IntArray) -> IntArray:
        """Which state each vector of known places is."""
        shaped(vectors, (None, self.states.shape[1]), "vectors", "BeliefGame.index")
        numbered(vectors, self.profile.places, "vectors", "BeliefGame.index")
        return state_index(self.states, vectors, self.profile.places)

    def at(self, belief: npt.ArrayLike) -> Game:
        """The game at a belief.

        >>> profile, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
        >>> BeliefGame.of(profile, privacy=differ, quality=differ, budget=0.1).at([0.75, 0.25]).prior_risk
        0.25
        """
        belief, units = self.belief(belief), (self.privacy.unit, self.quality.unit)
        error, cost = self.error * belief, self.cost * belief[:, None]
        return Game(error, cost, budget=self.budget, mass=belief, inputs=self.states, units=units)

    def among(self, belief: FloatArray) -> Game:
        """The game at a belief over the states that are possible, and no others.

        >>> profile, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
        >>> BeliefGame.of(profile, privacy=differ, quality=differ, budget=0.1).among(np.array([0.0, 1.0])).inputs
        array([[1]])
        """
        self.belief(belief)
        on = np.flatnonzero(belief)
        error, cost, mass = self.error[:, on], self.cost[on], belief[on]
        return Game(error * mass, cost * mass[:, None], budget=self.budget, mass=mass, inputs=self.states[on])

    @cached_property
    def ceiling(self) -> Solution:
        """The game at the long-run distribution: in the long run no mechanism has more privacy (Jensen)."""
        return solve(self.at(self.start))

    @property
    def ceiling_bound(self) -> float:
        """The bound of the ceiling, with room for rounding."""
        return self.ceiling.bound

    @cached_property
    def ceiling_cut(self) -> FloatArray:
        """The ceiling's attack and price as a bound on the privacy at any belief, linear in it."""
        return self.cut(self.ceiling.attack, self.ceiling.price)

    @cached_property
    def sha256(self) -> str:
        """The identity of the game: the chain, the states, the errors, the losses and the budget.

        Numbers count in single precision: the last digits of a double depend on the machine that computed it.
        """
        digest = hashlib.sha256(f"{self.scenario.every} {self.budget!r}".encode())
        if self.window > 1:  # else as in 0.1.0
            digest.update(f" {self.window} {self.cap!r}".encode())
        for array in (self.states, self.start, self.error, self.cost, self.moves):
            with np.errstate(over="ignore"):
                digest.update(str(array.shape).encode() + np.ascontiguousarray(array, np.float32).tobytes())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"BeliefGame({', '.join(f'{name}={value}' for name, value in self._facts.items())})"

    def _repr_html_(self) -> str:
        return html_table("BeliefGame", self._facts)

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "states": len(self.states),
            "releases": self.cost.shape[1],
            "privacy": self.privacy.name,
            "quality": self.quality.name,
            "budget": amount(self.budget, self.quality.unit),
        } | ({"window": f"{self.window} accesses"} if self.window > 1 else {})


def with_matrices(
    profile: MarkovProfile,
    scenario: Scenario,
    privacy: Metric,
    quality: Metric,
    words: float | str,
    window: int,
    cap: float | None,
) -> BeliefGame:
    """The game with its states, their distribution, E, D and the moves; refuse a budget that some state exceeds."""
    budget = budget_through_time(words, profile, scenario, privacy, quality, "BeliefGame")
    base = Game.from_scenario(profile, replace(scenario, seen=()), privacy=privacy, quality=quality)
    cost = base.cost / base.mass[:, None]
    least = float(cost.min(axis=1).max())
    if budget < least:
        most = f"{least_words(least, quality.unit)}, the least loss at the place where that is largest"
        rule = f"at least {most}, as it may be all that is believed"
        raise BudgetError.breaking("budget", "BeliefGame", rule, budget, least=least)
    if window > 1 and not budget > 0:
        rule = "a number > 0 where it holds over a window, as nothing can be saved up of nothing"
        raise broken_rule("budget", "BeliefGame", rule, budget)
    what = f"The moves between {len(base.inputs)} states"
    refuse_if_too_large(3 * 8 * len(base.inputs) ** 2, what, parameter="scenario")
    moves = transported(profile, base.inputs, tuple(scenario.known), scenario.every)
    row = in_a_row(scenario.known)
    windows = np.unique(base.inputs[:, -row:], axis=0)
    wait = transported(profile, windows, tuple(range(1 - row, 1)), 1)
    error = frozen(base.error / base.mass)
    return BeliefGame(
        profile=profile, scenario=scenario, privacy=privacy, quality=quality, budget=budget, every=scenario.every,
        states=base.inputs, start=base.mass, error=error, cost=frozen(cost), moves=frozen(moves), wait=frozen(wait),
        row=row, window=window, cap=cap,
    )  # fmt: skip


def check(scenario: Scenario, memory: int) -> None:
    """Refuse scenarios whose states do not follow from each other, or do not hold all that matters."""
    owner, known, every = "BeliefGame", scenario.known, scenario.every
    if scenario.release != (0,):
        way_out = "To protect the next place too, use Scenario(target=(0, 1), known=(0,))."
        raise broken_rule(
            "scenario", owner, "one that releases one place, the current one", f"release={scenario.release}", way_out
        )
    if known[-1] != 0:
        raise broken_rule("scenario", owner, "one that looks at the current place and none to come", f"known={known}")
    back = in_a_row(known)
    if back < memory or any(offset + every <= -back for offset in known):
        rule = f"one that knows the last {memory} places, and others only if they were known an access before"
        raise broken_rule("scenario", owner, rule, f"known={known} every {every} steps")
    matter = (*scenario.target, *scenario.quality)
    if min(matter) < known[0]:
        rule = "one that looks back at least as far as it protects and as the quality depends"
        raise broken_rule("scenario", owner, rule, f"known={known} and the offsets {tuple(sorted(set(matter)))}")


def transported(profile: MarkovProfile, states: IntArray, offsets: tuple[int, ...], steps: int) -> FloatArray:
    """The distribution of the state so many steps later, [state, state]; only the last places in a row matter."""
    back = in_a_row(offsets)
    wanted = tuple(offset + steps for offset in offsets)
    origin, sequences, probability = continued(profile, states[:, -back:], 0, wanted)
    codes = encoded(states, profile.places)
    target = np.searchsorted(codes, encoded(sequences, profile.places))
    moves = np.zeros((len(states), len(states)))
    np.add.at(moves, (origin, target), probability)
    return moves
