"""What an adversary who remembers every release believes from access to access, and what a release costs and hides.

The adversary's error and the cost of a release depend on the state alone, that is on the places that the mechanism
looks at. So the same matrices serve all accesses, and only the belief changes:

    E[g, x] = E[ d_p(g, target) | x ]      D[x, o] = E[ d_q(quality, o) | x ]

Following the belief takes Bayes' rule after a release and the chain over any gap: products of matrices, no solver.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.model.account import Account
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import distribution, shaped, whole_number

ROUNDING = 1e-9  # in the unit of errors: a ceiling below this is none


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefChain:
    """What repeats at every access.

    ``states`` [state, known offset] are the places that the mechanism looks at, ``start`` their long-run distribution,
    which is what is believed before the first access. ``error`` E[guess, state], ``cost`` D[state, release] and
    ``moves`` [state, state at the next access] do not depend on the belief. Between accesses only the last places in a
    row matter: ``wait`` moves these by one step. The next access is ``every`` so many steps or later. An access may
    lose the ``budget`` on average, over a ``window`` of so many accesses and no more than ``cap`` budgets: see
    :class:`hideseek.model.account.Account`.
    """

    budget: float
    every: int
    states: IntArray
    start: FloatArray
    error: FloatArray
    cost: FloatArray
    moves: FloatArray
    wait: FloatArray
    row: int  # how many of the known places are the current one and those right before it
    window: int = 1
    cap: float | None = None

    @property
    def account(self) -> Account:
        """The account of the budget."""
        return Account(self.budget, self.window, self.cap)

    def belief(self, belief: npt.ArrayLike, owner: str = "") -> FloatArray:
        """A distribution over the states, checked."""
        owner = owner or type(self).__name__
        checked = distribution(belief, "belief", owner)
        if len(checked) != len(self.states):
            rule = f"a distribution over the {len(self.states)} states"
            raise broken_rule("belief", owner, rule, f"{len(checked)} numbers")
        return checked

    def learned(self, belief: npt.ArrayLike, table: FloatArray, *, release: int) -> FloatArray:
        """The belief after a release: Bayes' rule.

        >>> one, differ = np.array([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
        >>> start, states = np.array([2, 1]) / 3, np.array([[0], [1]])
        >>> chain = BeliefChain(
        ...     budget=0.1, every=1, states=states, start=start, error=differ, cost=differ, moves=one, wait=one, row=1
        ... )
        >>> chain.learned(np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.6, 0.4]]), release=1)
        array([0.2, 0.8])
        """
        owner = f"{type(self).__name__}.learned"
        shaped(table, (len(self.states), None), "table", owner)
        whole_number(release, "release", owner, 0, table.shape[1] - 1)
        weight = self.belief(belief, owner) * table[:, release]
        probability = weight.sum()
        if not probability > 0:
            raise broken_rule("release", owner, "one that the table can produce at this belief", release)
        return np.asarray(weight / probability)

    def later(self, belief: npt.ArrayLike, *, steps: int | None = None) -> FloatArray:
        """The belief so many steps after an access (by default at the next one), when nothing more is exposed."""
        owner = f"{type(self).__name__}.later"
        before = self.belief(belief, owner)
        steps = self.every if steps is None else whole_number(steps, "steps", owner, least=self.every)
        after = before @ self.moves
        if steps > self.every:
            window, first = self._windows
            settled = np.bincount(window, before, minlength=len(first)).astype(np.float64)
            after = waited(settled, self.wait, steps - self.every) @ self.moves[first]
        return np.asarray(after / after.sum())

    @cached_property
    def _windows(self) -> tuple[IntArray, IntArray]:
        """Which last places in a row each state ends with, and the first state that ends so."""
        _, first, window = np.unique(self.states[:, -self.row :], axis=0, return_index=True, return_inverse=True)
        return window.ravel(), first

    def cut(self, attack: FloatArray, price: float) -> FloatArray:
        """A bound on the privacy of one access at any belief, <cut, belief>, from any attack h[o, g] and price.

        >>> one, differ = np.array([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
        >>> start, states = np.array([2, 1]) / 3, np.array([[0], [1]])
        >>> chain = BeliefChain(
        ...     budget=0.1, every=1, states=states, start=start, error=differ, cost=differ, moves=one, wait=one, row=1
        ... )
        >>> chain.cut(np.array([[1.0, 0.0], [1.0, 0.0]]), price=0.0)  # always guess 0
        array([0., 1.])
        """
        shaped(attack, (self.cost.shape[1], len(self.error)), "attack", f"{type(self).__name__}.cut")
        return np.asarray(price * self.budget + (self.error.T @ attack.T - price * self.cost).max(axis=1))

    @property
    def ceiling_cut(self) -> FloatArray:
        """A bound on the privacy of one access, linear in the belief; at the long-run distribution, the ceiling."""
        raise NotImplementedError

    @property
    def prior_risk(self) -> float:
        """The expected error of an adversary who is shown nothing."""
        return float((self.error @ self.start).min())

    @property
    def ceiling_bound(self) -> float:
        """In the long run no mechanism has more privacy than this (Jensen)."""
        return min(float(self.ceiling_cut @ self.start), self.prior_risk)

    @property
    def most(self) -> float:
        """The ceiling; 0 where it is no more than rounding."""
        return self.ceiling_bound if self.ceiling_bound > ROUNDING * self.error.max() else 0.0

    def kept(self, privacy: float) -> float:
        """The share of the ceiling that this much privacy is; all of a ceiling of 0 is kept."""
        return privacy / self.most if self.most else 1.0


def moves_over(chain: BeliefChain, steps: int) -> FloatArray:
    """The probabilities of the state so many steps after an access, [state, state]."""
    if steps == chain.every:
        return chain.moves
    return np.array([chain.later(state, steps=steps) for state in np.eye(len(chain.states))])


def waited(belief: FloatArray, move: FloatArray, steps: int) -> FloatArray:
    """A belief so many steps later, by squaring the moves of one step; each square is scaled, so that none vanishes.

    >>> waited(np.array([1.0, 0.0]), np.array([[0.9, 0.1], [0.2, 0.8]]), 2).round(9).tolist()
    [0.83, 0.17]
    """
    while steps:
        if steps % 2:
            belief = belief @ move
        steps //= 2
        if steps:
            move = move @ move
            move = move / move.sum(axis=1, keepdims=True)
    return belief


def in_a_row(known: tuple[int, ...]) -> int:
    """How many of the known places are the current one and those right before it."""
    return sum(offset == k + 1 - len(known) for k, offset in enumerate(known))
