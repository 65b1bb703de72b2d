"""How far-sighted a planner is: what it reaches, by simulation, against what none can exceed that keeps the budget.

The belief is a martingale, so its mean over all that may be exposed is the long-run law, and the mean of <c, b> is
known for every c. With the ceiling's cut for c it goes up and down with the privacy, and takes much of the scatter off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hideseek.errors import SolverError
from hideseek.model.profile import drawn
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner, Player, seconds_of
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_large, refuse_if_too_long

STEPS, WALKS = 1000, 10
FOR_WHOM = (
    "At most, by the cuts: this holds for mechanisms that answer at every access and keep the budget given every "
    "release. For a codebook only the ceiling holds."
)
SETTLING = 20  # accesses at the start of a walk that do not count: before anything is exposed he knows least


@dataclass(frozen=True)
class Foresight:
    """A planner between two bounds, in the mean over accesses.

    ``filter`` and ``smoother`` are the errors of who remembers everything exposed so far, or in the whole run (None
    where places are protected that the mechanism does not know). ``bound`` is what no mechanism that keeps the budget
    given every release exceeds in the long run, by the planner's cuts; ``ceiling`` is what none exceeds that keeps it
    on average, by the long-run law. ``kept`` is the filter's share of the ceiling.
    ``worst_loss`` is the largest expected loss after any history that occurred.
    """

    filter: Estimate
    smoother: Estimate | None
    quality_loss: Estimate
    worst_loss: float
    kept: Estimate
    bound: float
    ceiling: float
    steps: int

    @property
    def certified(self) -> float:
        """What is reached of the most that any mechanism can reach which keeps the budget given every release so far.

        At least this share, with the interval's confidence.
        """
        most = min(self.bound, self.ceiling)
        return min(max(self.filter.interval[0], 0.0) / most, 1.0) if most else 1.0


@checked
def follow(
    game: BeliefGame,
    planner: Planner,
    steps: int = STEPS,
    walks: int = WALKS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Foresight:
    """Simulate a planner for so many ``steps`` in all, on independent walks, with 95 % confidence intervals.

    ``progress`` is called with the steps done and their number.

    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.planning.belief_game import BeliefGame
    >>> from hideseek.planning.planner import plan
    >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> planner = plan(chain, 1 - np.eye(2), 1 - np.eye(2), budget=0.1, walks=2)
    >>> game = BeliefGame.of(chain, 1 - np.eye(2), 1 - np.eye(2), budget=0.1)
    >>> found = follow(game, planner, steps=100)
    >>> round(found.kept, 3), bool(found.worst_loss <= 0.1 + 1e-12)
    (1.0, True)
    """
    owner = "follow"
    walks = whole_number(walks, "walks", owner, least=2)
    steps = whole_number(steps, "steps", owner, least=walks)
    generator = np.random.default_rng(whole_number(seed, "seed", owner, least=0))
    refuse_too_long(steps, len(game.states), walks)
    player, length = Player(game, planner), -(-steps // walks)
    inside = set(game.scenario.target) <= set(game.scenario.known)
    ways: list[Way] = []
    while len(ways) < walks:
        ways.append(walk(player, SETTLING + length, generator))
        if progress is not None:
            progress(len(ways) * length, walks * length)
    values = controlled(ways, game)
    filtered = Estimate.mean_of(values)
    # on the same walk the two differ by little that is chance
    smoothed = Estimate.mean_of(values - [way.learned_later for way in ways]) if inside else None
    loss = np.array([way.loss for way in ways])
    kept, least, most = (min(max(game.kept(part), 0.0), 1.0) for part in (filtered, *filtered.interval))
    return Foresight(
        filtered,
        smoothed,
        Estimate.mean_of(loss[:, SETTLING:].mean(axis=1)),
        float(loss.max()),
        Estimate(kept, (least, most)),
        min(planner.bound, game.most),
        game.most,
        walks * length,
    )


def refuse_too_long(steps: int, states: int, walks: int = WALKS) -> None:
    """Refuse steps that :func:`follow` could not keep in memory, or reach the end of, before anything is done."""
    accesses, what = walks * (SETTLING + -(-steps // walks)), f"{steps} steps over {states} states"
    refuse_if_too_large(8 * 3 * accesses * states, what, "Ask for fewer steps.")
    refuse_if_too_long(seconds_of(accesses, states), what, "Ask for fewer steps.")


@dataclass(frozen=True, eq=False)
class Way:
    """A walk that was exposed: beliefs before and after each release, its likelihood, privacy and loss."""

    game: BeliefGame
    before: FloatArray
    after: FloatArray
    likelihood: FloatArray
    privacy: FloatArray
    loss: FloatArray

    @property
    def learned_later(self) -> float:
        """How much less who knows what was exposed later errs, in the mean over the accesses that count."""
        laws, hence = self.after.copy(), np.ones(len(self.game.states))
        for at in range(len(laws) - 2, -1, -1):
            hence = self.game.moves @ (self.likelihood[at + 1] * hence)
            hence /= hence.max()
            laws[at] *= hence
            laws[at] /= laws[at].sum()
        errors = (laws @ self.game.error.T).min(axis=1)
        return float((self.privacy - errors)[SETTLING:].mean())


def controlled(ways: list[Way], game: BeliefGame) -> FloatArray:
    """The mean error on each walk once it has settled, with much of its scatter taken off.

    What <c, belief> is off its mean by is taken off, as far as the other walks say that the error goes with it: a slope
    from elsewhere leaves the mean as it is.
    """
    errors = np.array([way.privacy[SETTLING:] for way in ways])
    aside = np.array([way.before[SETTLING:] @ game.ceiling_cut for way in ways]) - game.ceiling_cut @ game.start
    values = []
    for own in range(len(ways)):
        others = np.arange(len(ways)) != own
        spread = aside[others] - aside[others].mean()
        slope = (spread * errors[others]).sum() / max((spread**2).sum(), np.finfo(float).tiny)
        # few walks that all stay in one place suggest any slope; as an error is at most <c, belief>, 0 to 1 makes sense
        values.append(errors[own].mean() - np.clip(slope, 0, 1) * aside[own].mean())
    return np.array(values)


def walk(player: Player, length: int, generator: np.random.Generator) -> Way:
    """A walk of the states, exposed by a player who sees none but its own."""
    game = player.game
    belief, state = game.start, int(drawn(game.start, generator))
    taken: list[tuple[FloatArray | float, ...]] = []
    for _ in range(length):
        found = player.play(belief)
        if found is None:
            raise SolverError("No table was found at a belief without a floor.")
        release = int(drawn(found.table[state], generator))
        learned = game.learned(belief, found.table, release)
        taken.append((belief, learned, found.table[:, release], found.privacy, found.loss))
        belief = game.later(learned)
        state = int(drawn(game.moves[state], generator))
    return Way(game, *map(np.array, zip(*taken, strict=True)))
