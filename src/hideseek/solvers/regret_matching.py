"""For maps past what a simplex method can do: regret matching, whose work is matrix products, best on a GPU.

The game is a saddle point over distributions: of releases for every input, of guesses for every release, and of the
price

    max_f min_{h, lam}   sum_o sum_g h(g|o) (W f)[g, o]  +  lam (Q - sum_{i,o} C[i, o] f(o|i)),    0 <= lam <= top

Every distribution is played by predictive regret matching+, which has no step sizes: an option's regret is what it
would have gained over what was played, cut at 0, and the next distribution is in proportion to the regrets after the
last gain comes once more. The user moves first, the adversary and the price answer. The average distributions, where
later rounds count for more, come near to the optimum; how near is not believed but certified. No price above
top = risk / (Q - least loss)  is needed, since the value of the game is concave in the budget.

Numbers are of single precision, which the certificate does not depend on, and arrays of any library that keeps to the
array API standard.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from hideseek.errors import MissingExtraError, broken_rule
from hideseek.game.alternatives import Alternatives
from hideseek.solvers.certificate import Certificate, certify
from hideseek.solvers.claim import Claim
from hideseek.util.arrays import FloatArray
from hideseek.util.progress import Advance, tell_bounds
from hideseek.util.sparse import light

LATER = 4  # the power of its number by which a round counts
CHECKED = 50  # rounds from one look at the bounds to the next
TRACE = 1e-3  # probabilities below this share of the tolerance are left out
PROGRESS = 0.9  # of the gap may be left once the rounds have doubled; if more is, single precision gets no further
SETTLED = 10_000  # rounds before that is looked at: with a small budget, the first thousands change little
HALVINGS = 40  # of the interval in which the price is sought

Array = Any  # of numpy, torch, cupy, or another library of the standard


class RegretMatching:
    """A game between distributions over the last axis of arrays, played round after round.

    Arrays are those of ``error`` W[g, i] and ``cost`` C[i, o], in units of the prior risk and of the budget.
    """

    def __init__(self, error: Array, cost: Array, top: float) -> None:
        self.xp = xp = array_namespace(error, cost)
        self.error, self.cost, self.top = error, cost, top
        inputs, releases = cost.shape
        guesses = error.shape[0]
        like = {"dtype": cost.dtype, "device": cost.device}
        self.table = xp.full((inputs, releases), 1 / releases, **like)
        self.attack = xp.full((releases, guesses), 1 / guesses, **like)
        self.price = xp.full((2,), 0.5, **like)
        self.average_table, self.average_attack = xp.zeros_like(self.table), xp.zeros_like(self.attack)
        self.regrets = [xp.zeros_like(played) for played in (self.table, self.attack, self.price)]
        self.rounds, self.weight = 0, 0.0

    def play(self) -> None:
        """One round: the releases first, then the guesses and the price in answer to them; and the averages."""
        xp = self.xp
        gain = xp.matrix_transpose(self.attack @ self.error) - (self.top * self.price[1]) * self.cost
        self.table = self._answer(0, self.table, gain)
        harm = xp.matrix_transpose(self.error @ self.table)
        self.attack = self._answer(1, self.attack, -harm)
        overspent = self.top * (xp.sum(self.cost * self.table) - 1)
        self.price = self._answer(2, self.price, xp.stack((xp.zeros_like(overspent), overspent)))
        self.rounds += 1
        self.weight += float(self.rounds) ** LATER
        share = float(self.rounds) ** LATER / self.weight
        self.average_table += share * (self.table - self.average_table)
        self.average_attack += share * (self.attack - self.average_attack)

    def _answer(self, player: int, played: Array, gain: Array) -> Array:
        """The next distribution of a player: in proportion to the regrets, once this gain has come, and comes again."""
        xp = self.xp
        gain = gain - xp.sum(gain * played, axis=-1, keepdims=True)
        regret = xp.clip(self.regrets[player] + gain, min=0)
        self.regrets[player] = regret
        likely = xp.clip(regret + gain, min=0)
        total = xp.sum(likely, axis=-1, keepdims=True)
        return xp.where(total > 0, likely / xp.where(total > 0, total, 1), played)

    def bounds(self) -> tuple[float, float, float]:
        """Privacy of the average table, mixed into the budget; the bound of the average attack, and its best price.

        In single precision, and so only what the rounds go by.
        """
        xp = self.xp
        table = self.average_table
        loss, cheapest = float(xp.sum(self.cost * table)), xp.min(self.cost, axis=1)
        privacy = float(xp.sum(xp.min(self.error @ table, axis=0)))
        if loss > 1:  # mixed with the cheapest releases, where privacy is at least 0
            privacy *= (1 - float(xp.sum(cheapest))) / (loss - float(xp.sum(cheapest)))
        gain = xp.matrix_transpose(self.average_attack @ self.error)

        def bound(price: float) -> float:
            return price + float(xp.sum(xp.max(gain - price * self.cost, axis=1)))

        low, high = 0.0, self.top
        for _ in range(HALVINGS):
            left, right = high - (high - low) * 0.618, low + (high - low) * 0.618
            low, high = (low, right) if bound(left) <= bound(right) else (left, high)
        price = (low + high) / 2
        return privacy, bound(price), price

    def answer(self, price: float, trace: float) -> Claim:
        """The average distributions, less what is no more than a ``trace`` of early rounds and would fill tables."""
        averages = (as_numpy(one) for one in (self.average_table, self.average_attack))
        table, attack = (light(np.where(one > trace, one, 0)) for one in averages)
        return Claim(table, (attack,), np.array([price]), np.ones(1), np.zeros(0))


def as_numpy(array: Array) -> FloatArray:
    """A numpy array of double precision, whatever library and hardware an array is of."""
    for fetch in ("get", "cpu"):  # cupy's and torch's
        if hasattr(array, fetch):
            array = getattr(array, fetch)()
    return np.asarray(array, dtype=np.float64)


def on_hardware(array: FloatArray, hardware: str | None) -> Array:
    """An array in single precision where it is to be worked on: numpy's, cupy's, or torch's on one of its devices."""
    single = array.astype(np.float32)
    if hardware is None:
        return single
    own = hardware == "cupy"
    try:
        library = import_module("cupy" if own else "torch")
    except ImportError as error:
        package = "cupy: install the one for your CUDA" if own else "torch: pip install 'hideseek[gpu]'"
        raise MissingExtraError(f"The hardware {hardware!r} needs {package}. Leave it out to use a core.") from error
    try:
        return library.asarray(single) if own else library.asarray(single, device=hardware)
    except (AssertionError, RuntimeError) as error:  # built without a GPU, none there, or no such device
        rule, way_out = "'cupy', or one that torch has here, such as 'cuda'", f"Leave it out to use a core ({error})."
        raise broken_rule("hardware", "solve", rule, repr(hardware), way_out) from error


def regret_matching_answer(
    problem: Alternatives, tolerance: float, deadline: float, progress: Advance | None, hardware: str | None
) -> tuple[Certificate, int, bool]:
    """Play until the certificate closes, or nothing moves any more; also the rounds, and whether time ran out first."""
    game = problem.games[0]
    spare = game.budget - game.least_loss
    for wrong, got in (
        (len(problem.games) > 1, "several games"),
        (game.rows is not None, "extra rows"),
        (not spare > 0, f"a budget of {game.budget:g}, where no less can be lost"),
    ):
        if wrong:
            rule = "'first order' only for one game without extra rows, with a budget above the least possible loss"
            raise broken_rule("method", "solve", rule, got, "Use 'auto'.")
    risk = game.prior_risk or 1.0
    error, cost = on_hardware(game.error / risk, hardware), on_hardware(game.cost / game.budget, hardware)
    own = RegretMatching(error, cost, game.budget / spare)
    wanted, seen = tolerance, (SETTLED // 2, np.inf)
    while True:
        for _ in range(CHECKED):
            own.play()
        privacy, bound, price = own.bounds()
        late, stuck = time.monotonic() > deadline, False
        tell_bounds(progress, own.rounds, privacy * risk, bound * risk)
        if own.rounds >= 2 * seen[0]:
            stuck = bound - privacy > PROGRESS * seen[1]
            seen = own.rounds, bound - privacy
        if late or stuck or bound - privacy <= wanted * bound:
            found = certify(problem, own.answer(price * risk / game.budget, TRACE * tolerance))
            if late or stuck or found.optimality_gap <= tolerance:
                return found, own.rounds, late
            wanted *= wanted / max(found.optimality_gap, 1.1 * wanted)
