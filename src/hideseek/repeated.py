"""The game that a scenario gives at every access, whatever the adversary believes by then.

He who remembers everything believes something about the true places before every access, a law that follows from what
was exposed, which is public. What he can err by and what a release costs depend on the state alone: on the places that
the mechanism looks at. So one pair of matrices serves all accesses, and only the belief changes:

    E[g, x] = E[ d_p(g, target) | x ]      D[x, o] = E[ d_q(quality, o) | x ]

and the game at the belief b has W[g, x] = E[g, x] b[x] and C[x, o] = D[x, o] b[x].
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hideseek.arrays import (
    FloatArray,
    IntArray,
    distribution,
    encoded,
    frozen,
    numbered,
    refuse_if_too_large,
    scalar,
    shaped,
    whole_number,
)
from hideseek.boundary import checked
from hideseek.errors import BudgetError, broken_rule, rule_text
from hideseek.game import Game
from hideseek.metrics import Metric, MetricLike, as_metric
from hideseek.mobility import MarkovProfile, Profile, continued, state_index
from hideseek.scenario import Scenario
from hideseek.solve import Solution, solve

ROUNDING = 1e-9  # in the unit of errors: a ceiling below this is none


@checked
@dataclass(frozen=True, eq=False)
class RepeatedGame:
    """One game for all accesses: see :meth:`of`.

    ``states`` [state, known offset] are the places that the mechanism looks at, ``start`` their long-run law, which is
    what is believed before the first access. ``error`` E[guess, state], ``cost`` D[state, release] and ``moves``
    [state, state at the next access] do not depend on the belief.
    """

    profile: MarkovProfile
    scenario: Scenario
    privacy: Metric
    quality: Metric
    budget: float
    states: IntArray
    start: FloatArray
    error: FloatArray
    cost: FloatArray
    moves: FloatArray

    @classmethod
    def of(
        cls,
        profile: Profile,
        privacy: MetricLike,
        quality: MetricLike,
        budget: float,
        scenario: Scenario | None = None,
    ) -> RepeatedGame:
        """The game of a scenario (by default: protect the place of now) played access after access.

        One place is released at each. The mechanism must know every place that matters and is not yet to come, and so
        much that what it knows next follows; what the scenario has ``seen`` is not asked: everything is remembered.

        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = RepeatedGame.of(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
        >>> game.later(np.array([1.0, 0.0]), steps=2).round(6)
        array([0.83, 0.17])
        """
        owner = "RepeatedGame"
        scenario = Scenario.sporadic() if scenario is None else scenario
        if not isinstance(profile, MarkovProfile):
            rule = "a MarkovProfile, the same at all times, as a device may start at any of them"
            raise broken_rule("profile", owner, rule, type(profile).__name__)
        check(scenario, profile.memory)
        d_p, d_q = as_metric(privacy, "privacy", profile.places), as_metric(quality, "quality", profile.places)
        if d_q.looks_back:
            raise broken_rule(
                "quality", owner, "a metric of the place and its release", "one that looks at earlier ones"
            )
        limit = scalar(budget, "budget", owner)
        base = Game.from_scenario(profile, replace(scenario, seen=()), d_p, d_q)
        cost = base.cost / base.mass[:, None]
        least = float(cost.min(axis=1).max())
        if limit < least:
            rule = f"at least {least!r}, the least loss at the place where it is largest: he may believe in that one"
            raise BudgetError(rule_text("budget", owner, rule, limit), least)
        known = tuple(scenario.known)
        refuse_if_too_large(3 * 8 * len(base.inputs) ** 2, f"The moves between {len(base.inputs)} states")
        moves = transported(profile, base.inputs, known, scenario.every)
        error = frozen(base.error / base.mass)
        states, start = base.inputs, base.mass
        return cls(profile, scenario, d_p, d_q, limit, states, start, error, frozen(cost), frozen(moves))

    def belief(self, law: npt.ArrayLike, owner: str = "RepeatedGame") -> FloatArray:
        """A law over the states, checked."""
        checked = distribution(law, "belief", owner)
        if len(checked) != len(self.states):
            raise broken_rule("belief", owner, f"a law over the {len(self.states)} states", f"{len(checked)} numbers")
        return checked

    def index(self, vectors: IntArray) -> IntArray:
        """Which state each vector of known places is."""
        shaped(vectors, (None, self.states.shape[1]), "vectors", "RepeatedGame.index")
        numbered(vectors, self.profile.places, "vectors", "RepeatedGame.index")
        return state_index(self.states, vectors, self.profile.places)

    def at(self, belief: npt.ArrayLike) -> Game:
        """The game at a belief.

        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> RepeatedGame.of(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1).at(np.array([0.75, 0.25])).prior_risk
        0.25
        """
        belief = self.belief(belief)
        return Game(self.error * belief, self.cost * belief[:, None], self.budget, mass=belief, inputs=self.states)

    def among(self, belief: FloatArray) -> Game:
        """The game at a belief over the states that can be, and no others.

        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> RepeatedGame.of(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1).among(np.array([0.0, 1.0])).inputs
        array([[1]])
        """
        self.belief(belief)
        on = np.flatnonzero(belief)
        mass = belief[on]
        return Game(
            self.error[:, on] * mass, self.cost[on] * mass[:, None], self.budget, None, mass, inputs=self.states[on]
        )

    def learned(self, belief: npt.ArrayLike, table: FloatArray, release: int) -> FloatArray:
        """What is believed after a release: Bayes' rule.

        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = RepeatedGame.of(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
        >>> game.learned(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.6, 0.4]]), release=1)
        array([0.2, 0.8])
        """
        shaped(table, (len(self.states), None), "table", "RepeatedGame.learned")
        whole_number(release, "release", "RepeatedGame.learned", 0, table.shape[1] - 1)
        weight = self.belief(belief) * table[:, release]
        if not weight.sum() > 0:
            raise broken_rule("release", "RepeatedGame", "one that the table can produce at this belief", release)
        return np.asarray(weight / weight.sum())

    def later(self, belief: npt.ArrayLike, steps: int | None = None) -> FloatArray:
        """What is believed so many steps after an access (by default at the next one), when nothing more is exposed."""
        law, every = self.belief(belief), self.scenario.every
        steps = every if steps is None else whole_number(steps, "steps", "RepeatedGame.later", least=every)
        if steps > every:
            law = law @ self._settle @ np.linalg.matrix_power(self._step, steps - every) @ self._leads
        else:
            law = law @ self.moves
        return np.asarray(law / law.sum())

    @cached_property
    def _windows(self) -> tuple[IntArray, IntArray]:
        """The last places in a row that states end with, and which of these each state ends with."""
        return np.unique(self.states[:, -in_a_row(self.scenario.known) :], axis=0, return_inverse=True)

    @cached_property
    def _settle(self) -> FloatArray:
        """From states to what they end with."""
        windows, index = self._windows
        return np.asarray(np.arange(len(windows)) == index.ravel()[:, None], dtype=np.float64)

    @cached_property
    def _step(self) -> FloatArray:
        """One step of what states end with."""
        windows = self._windows[0]
        width = windows.shape[1]
        return transported(self.profile, windows, tuple(range(1 - width, 1)), 1)

    @cached_property
    def _leads(self) -> FloatArray:
        """From what states end with to the states of the next access."""
        first = self._settle.argmax(axis=0)
        return np.asarray(self.moves[first])

    @cached_property
    def ceiling(self) -> Solution:
        """The game at the long-run law: in the long run no mechanism has more privacy, whatever it does (Jensen)."""
        return solve(self.at(self.start))

    @property
    def most(self) -> float:
        """What the ceiling is worth; where that is rounding, nothing."""
        return self.ceiling.bound if self.ceiling.bound > ROUNDING * self.error.max() else 0.0

    def kept(self, privacy: float) -> float:
        """The share of the ceiling; all of nothing is kept."""
        return privacy / self.most if self.most else 1.0

    @cached_property
    def ceiling_cut(self) -> FloatArray:
        """The ceiling's attack and price as a bound on the privacy at any belief, linear in it."""
        return self.cut(self.ceiling.attack, self.ceiling.price)

    def cut(self, attack: FloatArray, price: float) -> FloatArray:
        """A bound on the privacy of one access at any belief, <cut, belief>, from any attack h[o, g] and price.

        >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> game = RepeatedGame.of(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
        >>> game.cut(np.array([[1.0, 0.0], [1.0, 0.0]]), price=0.0)  # he always guesses 0
        array([0., 1.])
        """
        shaped(attack, (self.cost.shape[1], len(self.error)), "attack", "RepeatedGame.cut")
        return np.asarray(price * self.budget + (self.error.T @ attack.T - price * self.cost).max(axis=1))

    @cached_property
    def sha256(self) -> str:
        """What a plan belongs to: the chain, the states, the errors, the losses and the budget.

        Numbers count in single precision: the last digits of a double depend on the machine that worked it out.
        """
        digest = hashlib.sha256(f"{self.scenario.every} {self.budget!r}".encode())
        for array in (self.states, self.start, self.error, self.cost, self.moves):
            with np.errstate(over="ignore"):
                digest.update(str(array.shape).encode() + np.ascontiguousarray(array, np.float32).tobytes())
        return digest.hexdigest()


def in_a_row(known: tuple[int, ...]) -> int:
    """How many of the known places are that of now and those right before it."""
    return sum(offset == k + 1 - len(known) for k, offset in enumerate(known))


def check(scenario: Scenario, memory: int) -> None:
    """Refuse scenarios whose states do not follow from each other, or leave something to the past."""
    owner, known, every = "RepeatedGame", scenario.known, scenario.every
    if scenario.release != (0,):
        way_out = "To protect the next place too, use Scenario(target=(0, 1), known=(0,))."
        raise broken_rule("scenario", owner, "one that releases one place, now", f"release={scenario.release}", way_out)
    if known[-1] != 0:
        raise broken_rule("scenario", owner, "one that looks at the place of now and none to come", f"known={known}")
    back = in_a_row(known)
    if back < memory or any(offset + every <= -back for offset in known):
        rule = f"one that knows the last {memory} places, and others only if they were known an access before"
        raise broken_rule("scenario", owner, rule, f"known={known} every {every} steps")
    matter = (*scenario.target, *scenario.quality)
    if min(matter) < known[0]:
        rule = "one that looks back at least as far as it protects and as the quality depends"
        raise broken_rule("scenario", owner, rule, f"known={known} and the offsets {tuple(sorted(set(matter)))}")


def transported(profile: MarkovProfile, states: IntArray, offsets: tuple[int, ...], steps: int) -> FloatArray:
    """The law of the state so many steps on, [state, state]; what precedes the places in a row does not matter."""
    back = in_a_row(offsets)
    wanted = tuple(offset + steps for offset in offsets)
    origin, sequences, probability = continued(profile, states[:, -back:], 0, wanted)
    codes = encoded(states, profile.places)
    target = np.searchsorted(codes, encoded(sequences, profile.places))
    moves = np.zeros((len(states), len(states)))
    np.add.at(moves, (origin, target), probability)
    return moves
