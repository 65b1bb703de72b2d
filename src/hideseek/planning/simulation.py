"""What a planner reaches, by simulation, against what no mechanism that keeps the budget can exceed.

The belief is a martingale, so its mean over all that may be exposed is the long-run distribution, and the mean of
<c, b> is known for every c. With the ceiling's cut for c it goes up and down with the privacy: as a control variate it
removes much of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat

import numpy as np

from hideseek.model.belief import smoothed
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.exposed_walks import Choose, exposed_walks
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import chosen_by, seconds_of
from hideseek.util.arrays import FloatArray
from hideseek.util.best_guess import least_errors
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.display import html_table
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_large, refuse_if_too_long
from hideseek.util.progress import Advance

ACCESSES, WALKS = 1000, 10
FOR_WHOM = (
    "The bound of the cuts (at most) holds for mechanisms that answer at every access and keep the budget given every "
    "release. For a codebook only the ceiling holds."
)
ON_AVERAGE = (
    "The bound of the cuts (at most) and the ceiling hold for all mechanisms that answer at every access and keep the "
    "budget on average, whatever they save up."
)
SETTLING = 20  # accesses at the start of a walk that do not count: before anything is exposed the adversary knows least


@dataclass(frozen=True)
class Foresight:
    """What a planner reaches between two bounds, on average over ``accesses``: see :func:`follow`.

    ``filter`` and ``smoother`` are the expected errors of adversaries who remember every release so far, or every
    release of the whole run (None where places are protected that the mechanism does not know). ``bound`` is what no
    mechanism that keeps the budget given every release exceeds in the long run, by the planner's cuts; ``ceiling`` is
    what no mechanism that keeps it on average exceeds, by the long-run distribution. ``kept`` is the filter's share of
    the ceiling. ``worst_loss`` is the largest expected loss after any exposed history that occurred.
    """

    filter: Estimate
    smoother: Estimate | None
    quality_loss: Estimate
    worst_loss: float
    kept: Estimate
    bound: float
    ceiling: float
    accesses: int

    @property
    def certified(self) -> float:
        """The share of ``bound`` that is reached at least, with the interval's confidence."""
        most = min(self.bound, self.ceiling)
        return min(max(self.filter.interval[0], 0.0) / most, 1.0) if most else 1.0

    def __repr__(self) -> str:
        names = ", ".join(f"{name}={value}" for name, value in self._facts.items())
        return f"Foresight({names})"

    def _repr_html_(self) -> str:
        return html_table("Foresight", self._facts)

    @property
    def _facts(self) -> dict[str, object]:
        return {
            "filter": self.filter.in_words(),
            "smoother": None if self.smoother is None else self.smoother.in_words(),
            "bound": f"{self.bound:.6g}",
            "ceiling": f"{self.ceiling:.6g}",
            "kept": self.kept.in_words(),
            "quality_loss": self.quality_loss.in_words(),
            "worst_loss": f"{self.worst_loss:.6g}",
            "accesses": self.accesses,
        }


@checked
def follow(
    game: BeliefGame,
    planner: Planner,
    *,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
) -> Foresight:
    """Simulate a planner, and hold what it reaches against what no mechanism exceeds.

    Parameters
    ----------
    game, planner
        The planner, and the game that it was made for.
    accesses
        How many to simulate in all; rounded up to as many on every walk.
    walks
        How many independent walks, at least 2: their scatter gives the 95 % confidence intervals.
    seed
        Of the walks.
    progress
        Called after every walk with ``"accesses"``, how many are done, and of how many.

    Returns
    -------
    Foresight
        The errors of two adversaries, the losses and the bounds, on average over the accesses.

    Raises
    ------
    PlanError
        If the planner was made for another game.
    SizeError
        If the simulation would not fit in memory, or take more than a week.

    Examples
    --------
    >>> from hideseek.metrics import hamming
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.planning import plan
    >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> game = BeliefGame.of(chain, privacy=hamming(), quality=hamming(), budget=0.1)
    >>> found = follow(game, plan(game, walks=2), accesses=100)
    >>> round(found.kept, 3), bool(found.worst_loss <= 0.1 + 1e-12)
    (1.0, True)
    """
    owner = "follow"
    walks = whole_number(walks, "walks", owner, least=2)
    accesses = whole_number(accesses, "accesses", owner, least=walks)
    generator = np.random.default_rng(whole_number(seed, "seed", owner, least=0))
    refuse_too_long(accesses, len(game.states), walks)
    choose, length, done = chosen_by(game, planner), -(-accesses // walks), list[Walk]()
    together = 1 if planner.steering is None else walks  # a solver goes on best from the access before
    while len(done) < walks:
        done += walked(game, choose, SETTLING + length, together, generator)
        if progress is not None:
            progress("accesses", len(done) * length, walks * length)
    return found_on(done, game, planner, walks * length)


def found_on(done: list[Walk], game: BeliefGame, planner: Planner, accesses: int) -> Foresight:
    """What was found on some walks."""
    values = controlled(done, game)
    filtered, smoother = Estimate.mean_of(values), None
    if set(game.scenario.target) <= set(game.scenario.known):
        # on the same walk the two differ by little that is chance
        smoother = Estimate.mean_of(values - [walk.learned_later for walk in done])
    loss = np.array([walk.loss for walk in done])
    kept, least, most = (min(max(game.kept(part), 0.0), 1.0) for part in (filtered, *filtered.interval))
    return Foresight(
        filter=filtered,
        smoother=smoother,
        quality_loss=Estimate.mean_of(loss[:, SETTLING:].mean(axis=1)),
        worst_loss=float(loss.max()),
        kept=Estimate(kept, (least, most)),
        bound=min(planner.bound, game.most),
        ceiling=game.most,
        accesses=accesses,
    )


def for_whom(chain: BeliefChain) -> str:
    """Which mechanisms the bound of a plan holds for, in a sentence."""
    return FOR_WHOM if chain.window == 1 else ON_AVERAGE


def refuse_too_long(accesses: int, states: int, walks: int = WALKS) -> None:
    """Refuse more accesses than :func:`follow` could keep in memory, or reach the end of, before anything is done."""
    played, what = walks * (SETTLING + -(-accesses // walks)), f"{accesses} accesses over {states} states"
    refuse_if_too_large(8 * 3 * played * states, what, "Ask for fewer accesses.", parameter="accesses")
    refuse_if_too_long(seconds_of(played, states), what, "Ask for fewer accesses.", parameter="accesses")


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk that was exposed: at each access the belief before and after the release, its likelihood [access, state],
    the privacy and the expected loss.
    """

    game: BeliefGame
    before: FloatArray
    after: FloatArray
    likelihood: FloatArray
    privacy: FloatArray
    loss: FloatArray

    @property
    def learned_later(self) -> float:
        """By how much the smoother's error is below the filter's, on average over the accesses that count."""
        beliefs = smoothed(self.after[::-1], repeat(self.game.moves.T, len(self.after)), self.likelihood[::-1])
        errors = least_errors(self.game.error, np.array(list(beliefs)).T)[::-1]
        return float((self.privacy - errors)[SETTLING:].mean())


def controlled(done: list[Walk], game: BeliefGame) -> FloatArray:
    """The mean error on each walk once it has settled, with <c, belief> as a control variate."""
    errors = np.array([walk.privacy[SETTLING:] for walk in done])
    aside = np.array([walk.before[SETTLING:] @ game.ceiling_cut for walk in done]) - game.ceiling_cut @ game.start
    return without_chance(errors, aside)


def without_chance(errors: FloatArray, aside: FloatArray) -> FloatArray:
    """The mean error on each walk, less what a control variate of mean 0 says is chance; both are [walk, access].

    The slope of each walk comes from the other walks, so that the mean stays unbiased.
    """
    values = []
    for own in range(len(errors)):
        others = np.arange(len(errors)) != own
        spread = aside[others] - aside[others].mean()
        slope = (spread * errors[others]).sum() / max((spread**2).sum(), np.finfo(float).tiny)
        # few walks that all stay in one place suggest any slope; as an error is at most <c, belief>, it is 0 to 1
        values.append(errors[own].mean() - np.clip(slope, 0, 1) * aside[own].mean())
    return np.array(values)


def walked(game: BeliefGame, choose: Choose, length: int, walks: int, generator: np.random.Generator) -> list[Walk]:
    """Some walks of the states, exposed together by what is chosen; an account is half full at first."""
    start = Standing.first(game, walks)
    taken = []
    for one in exposed_walks(game, choose, repeat(game.moves, length), generator, start=start, log=game.window > 1):
        joint = one.before.belief[:, :, None] * one.tables
        privacy, loss = least_errors(game.error, joint).sum(axis=1), np.einsum("wso,so->w", joint, game.cost)
        taken.append((one.before.belief, one.after.belief, one.likely, privacy, loss))
    parts = [np.array(part) for part in zip(*taken, strict=True)]  # [access, walk, ...]
    return [Walk(game, *(part[:, walk] for part in parts)) for walk in range(walks)]
