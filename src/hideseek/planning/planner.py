"""Planners: bounds on what the future is worth, and the proof that they hold.

The future of a belief b is worth V(b), the most privacy that is left in all the accesses to come, discounted. V is
concave and positively homogeneous, so it is bounded from above by cuts, linear functions <c, b>, and the future enters
the game of the current access as one more variable for every release and one row for every cut (see
:mod:`hideseek.solvers.belief_program`):

    t[o] <= <c_j, M' x[., o]>      M: the moves to the next access,   x[., o]: the probability of state and release

The multipliers of that program are an attack, a price and a mixture of cuts for every release, from which follows a new
cut, valid at all beliefs and as tight as the others allow at this one. Cuts are made in advance
(:mod:`hideseek.planning.training`). They choose among tables (:mod:`hideseek.planning.player`); the privacy of the
current access and the budget are proved without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from hideseek.errors import PlanError, broken_rule
from hideseek.model.steering import Steering
from hideseek.planning.belief_game import BeliefGame
from hideseek.solvers.belief_program import ROUNDING
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative
from hideseek.util.choices import Mode as Mode
from hideseek.util.choices import Outlook as Outlook
from hideseek.util.display import html_table
from hideseek.util.on_map import mapped

if TYPE_CHECKING:
    import pandas as pd

    from hideseek.maps.page import MapPage


@dataclass(frozen=True, eq=False)
class Proof:
    """How a bound follows: cuts, each with the multipliers that make it from those before it.

    Cut number k has a ``price[k]`` and rows k * releases + o of the ``strategy``: what the adversary guesses after the
    release o, and beside it a distribution of the cuts before k. Cut 0 plays the same guesses for ever.
    """

    price: FloatArray
    strategy: sparse.csr_array

    def cuts(self, game: BeliefGame, discount: float) -> FloatArray:
        """The cuts, computed without a solver; each of them bounds the value of every belief from above."""
        guesses, releases = len(game.error), game.cost.shape[1]
        erring = summing_to_one(self.strategy[:, :guesses]) @ game.error
        mixture = summing_to_one(self.strategy[:, guesses:])
        cuts = np.zeros((len(self.price), len(game.states)))
        for number, price in enumerate(self.price):
            rows = slice(number * releases, (number + 1) * releases)
            future = game.moves @ (mixture[rows] @ cuts).T  # nothing for the first, which rests on no other
            profit = erring[rows].T - price * game.cost + discount * future
            cuts[number] = price * game.budget + profit.max(axis=1)
            # what is added up may be much larger than the sum
            cuts[number] += ROUNDING * (game.error.max() + price * (game.budget + game.cost.max()) + future.max())
            if not number:
                cuts[0] = for_ever(cuts[0], game, discount)
        return cuts

    def bound(self, game: BeliefGame, discount: float) -> float:
        """What no mechanism that keeps the budget given every release exceeds in the long run, per access."""
        return (1 - discount) * float((self.cuts(game, discount) @ game.start).min())

    def of_one(self, number: int, guesses: int) -> Proof:
        """The proof of one of the cuts: this one, and those that it rests on."""
        releases = self.strategy.shape[0] // len(self.price)
        needed = {number}
        for later in range(number, 0, -1):
            if later in needed:
                used = self.strategy[later * releases : (later + 1) * releases, guesses:].indices
                needed.update(used.tolist())
        kept = np.array(sorted(needed))
        rows = (kept[:, None] * releases + np.arange(releases)).ravel()
        columns = np.r_[np.arange(guesses), guesses + kept]
        return Proof(self.price[kept], self.strategy[rows][:, columns])


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Planner:
    """What the future of a belief is worth at most: the least of ``cuts`` [cut, state], at the next access.

    The future counts ``discount`` times as much as the current access. ``bound`` is what no mechanism exceeds in the
    long run, per access, against an adversary who remembers every release, if it answers at every access and keeps the
    budget given every release so far: by the cuts, or the ceiling. A codebook keeps its budget only given what it
    remembers, so this bound does not hold for one; the ceiling does. ``proof`` is how the bound follows, where that is
    not by the ceiling: the cuts that choose are fewer. A planner belongs to one game, the one with this ``sha256``.

    Where the budget holds over a window, ``steering`` chooses, all cuts are made at one price of loss, and ``bound`` is
    what no mechanism exceeds that keeps the budget on average.
    """

    outlook: Outlook
    mode: Mode
    discount: float
    cuts: FloatArray
    bound: float
    sha256: str
    seed: int = 0
    proof: Proof | None = None
    steering: Steering | None = None

    def value(self, belief: FloatArray | Sequence[float]) -> float:
        """A bound on what the future is worth from an access on at which this is believed; 0 without a future.

        >>> from hideseek.metrics import hamming
        >>> from hideseek.model.markov import MarkovProfile
        >>> from hideseek.planning import plan
        >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> planner = plan(chain, privacy=hamming(), quality=hamming(), budget=0.1, discount=0.5, walks=2)
        >>> round(planner.value(np.array([0.5, 0.5])), 6), round(planner.value(np.array([1.0, 1.0])), 6)
        (0.2, 0.4)
        """
        weights = nonnegative(belief, "belief", "Planner.value", 1)
        if weights.shape != self.cuts.shape[1:]:
            rule = f"{self.cuts.shape[1]} numbers >= 0, one per state"
            raise broken_rule("belief", "Planner.value", rule, f"the shape {weights.shape}")
        return float((self.cuts @ weights).min()) if len(self.cuts) else 0.0

    def __post_init__(self) -> None:
        cuts = np.asarray(self.cuts, dtype=np.float64)
        if cuts.ndim != 2 or not np.isfinite(cuts).all():
            raise PlanError.breaking("cuts", "Planner", "finite numbers, [cut, state]", f"the shape {cuts.shape}")

    def proved(self, game: BeliefGame, proof: Proof) -> Planner:
        """The planner with the bound that a proof gives, computed without a solver."""
        return replace(self, bound=min(game.ceiling.bound, proof.bound(game, self.discount)), proof=proof)

    def checked(self, game: BeliefGame) -> Planner:
        """The planner, refused unless it was made for this game."""
        if self.sha256 != game.sha256 or self.cuts.shape[1] != len(game.states):
            rule = "one that was made for this profile, scenario, metrics and budget"
            raise PlanError.breaking("planner", "the game", rule, "another", "Make a new plan.")
        return self

    def map(self, game: BeliefGame, *, tracks: pd.DataFrame | None = None, tiles: str | None = None) -> MapPage:
        """Show on a map what is released at the first access of its game: see :func:`hideseek.maps.map_page`."""
        return mapped((game, self.checked(game)), tracks=tracks, tiles=tiles)

    def __repr__(self) -> str:
        names = ", ".join(f"{name}={value}" for name, value in self._facts.items())
        return f"Planner({names})"

    def _repr_html_(self) -> str:
        return html_table("Planner", self._facts)

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "outlook": self.outlook,
            "mode": self.mode,
            "discount": f"{self.discount:g}",
            "cuts": len(self.cuts),
            "bound": f"{self.bound:.6g}",
        } | ({} if self.steering is None else {"price": f"{self.steering.price:.6g}"})


def for_ever(cut: FloatArray, game: BeliefGame, discount: float) -> FloatArray:
    """A bound on all accesses together where <cut, belief> bounds each: at least cut + discount M times itself.

    What the solution of that equation misses by rounding is made good at all states alike.
    """
    whole = np.linalg.solve(np.eye(len(cut)) - discount * game.moves, cut).astype(np.float64)
    missing = (cut + discount * (game.moves @ whole) - whole).max() + ROUNDING * np.abs(whole).max()
    return np.asarray(whole + max(missing, 0.0) / (1 - discount))


def summing_to_one(weights: sparse.csr_array) -> sparse.csr_array:
    """Rows of weights >= 0 as distributions; rows without any stay empty."""
    total = weights.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(total > 0, total, 1.0)) @ weights)
