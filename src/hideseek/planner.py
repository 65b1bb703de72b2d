"""Planners: what a release leaves for later, and how much of today's choice that decides.

The future of a belief b is worth V(b), the most privacy that is left in all the accesses to come, discounted. V is
concave and positively homogeneous, so it is bounded from above by cuts, linear functions <c, b>, and the future enters
the game of now as one more variable for every release and one row for every cut (see :mod:`hideseek.solve.recurring`):

    t[o] <= <c_j, M' x[., o]>      M: the moves to the next access,   x[., o]: the joint law of the state and a release

The multipliers of that program are an attack, a price and a mixture of cuts for every release, from which follows a new
cut, valid at all beliefs and as tight as the others allow at this one. Cuts are made offline, at beliefs that walks
visit. They choose among tables; the privacy of now and the budget are proved without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy import sparse

from hideseek.arrays import FloatArray, frozen, nonnegative, one_of, scalar, whole_number
from hideseek.boundary import checked
from hideseek.errors import PlanError, SolverError, broken_rule, rule_text
from hideseek.game import Alternatives, Game
from hideseek.metrics import MetricLike
from hideseek.mobility import Profile, drawn
from hideseek.repeated import RepeatedGame
from hideseek.scenario import Scenario
from hideseek.solve import prefer, solve
from hideseek.solve.recurring import ROUNDING, Play, Recurring

DISCOUNT = 0.9
WALKS, LENGTH = 30, 30  # of training: walks, and accesses of each
ROUGH, AHEAD, FINE = 1e-3, 1e-4, 1e-6  # of the mean error: how exact all futures, the next and now are
GIVEN_UP = 1e-6  # the share of the privacy of now that a lexicographic planner may miss, by rounding
ENOUGH = 3  # walks in a row that teach nothing, after which there are no more
PRACTICE = 30  # accesses of a walk before a player is kept: its rows and columns halve the time of those after
ROUNDS = 100  # of looking ahead at one belief
PLAY = 0.005  # seconds of the plain planner at an access with 25 states, growing with their cube; others take longer
UNLIKELY = 1e-6  # releases of this probability are not looked at ahead


class Outlook(StrEnum):
    """How far a planner looks."""

    PLAIN = "plain"  # not at all: the solver's own optimum of now
    SECONDARY = "secondary"  # of the optima of now, the one that leaves most to guess about the next target
    LOOK_AHEAD = "look-ahead"  # now and the next access
    FAR_SIGHTED = "far-sighted"  # now and everything after, discounted


class Mode(StrEnum):
    """What a planner may give up."""

    LEXICOGRAPHIC = "lexicographic"  # nothing of the privacy of now: it only chooses among the optima
    TRADE_OFF = "trade-off"  # privacy now for more of it later


@dataclass(frozen=True, eq=False)
class Proof:
    """How a bound follows: cuts, each with the multipliers that make it from those before it.

    Cut number k has a ``price[k]`` and rows k * releases + o of the ``strategy``: what the adversary guesses after the
    release o, and beside it a distribution of the cuts before k. Cut 0 plays the same guesses for ever.
    """

    price: FloatArray
    strategy: sparse.csr_array

    def cuts(self, game: RepeatedGame, discount: float) -> FloatArray:
        """The cuts, worked out without a solver; each of them bounds the value of every belief from above."""
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

    def bound(self, game: RepeatedGame, discount: float) -> float:
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
@dataclass(frozen=True, eq=False)
class Planner:
    """What the future of a belief is worth at most: the least of ``cuts`` [cut, state], at the next access.

    The future counts ``discount`` times as much as now. ``bound`` is what no mechanism exceeds in the long run, per
    access, against an adversary who remembers every release, if it answers at every access and keeps the budget given
    every release so far: by the cuts, or the ceiling. A codebook keeps its budget given what it remembers only, so
    this bound does not hold for one; the ceiling does. ``proof`` is how the bound follows, where that is not by the
    ceiling: the cuts that choose are fewer. A planner belongs to one game, the one with this ``sha256``.
    """

    outlook: Outlook
    mode: Mode
    discount: float
    cuts: FloatArray
    bound: float
    sha256: str
    seed: int = 0
    proof: Proof | None = None

    def value(self, belief: FloatArray | Sequence[float]) -> float:
        """A bound on what the future is worth from an access on at which this is believed; 0 without a future.

        >>> from hideseek import MarkovProfile
        >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
        >>> planner = plan(chain, 1 - np.eye(2), 1 - np.eye(2), budget=0.1, discount=0.5, walks=2)
        >>> round(planner.value(np.array([0.5, 0.5])), 6), round(planner.value(np.array([1.0, 1.0])), 6)
        (0.2, 0.4)
        """
        law = nonnegative(belief, "belief", "Planner.value", 1)
        if law.shape != self.cuts.shape[1:]:
            rule = f"{self.cuts.shape[1]} numbers >= 0, one per state"
            raise broken_rule("belief", "Planner.value", rule, f"the shape {law.shape}")
        return float((self.cuts @ law).min()) if len(self.cuts) else 0.0

    def __post_init__(self) -> None:
        cuts = np.asarray(self.cuts, dtype=np.float64)
        if cuts.ndim != 2 or not np.isfinite(cuts).all():
            raise PlanError(rule_text("cuts", "Planner", "finite numbers, [cut, state]", f"the shape {cuts.shape}"))

    def proved(self, game: RepeatedGame, proof: Proof) -> Planner:
        """The planner with the bound that a proof gives, worked out without a solver."""
        return replace(self, bound=min(game.ceiling.bound, proof.bound(game, self.discount)), proof=proof)

    def checked(self, game: RepeatedGame) -> Planner:
        """The planner, refused unless it was made for this game."""
        if self.sha256 != game.sha256 or self.cuts.shape[1] != len(game.states):
            rule = "one that was made for this profile, scenario, metrics and budget"
            raise PlanError(rule_text("planner", "the game", rule, "another", "Plan anew."))
        return self


def for_ever(now: FloatArray, game: RepeatedGame, discount: float) -> FloatArray:
    """A bound on all accesses together where <now, belief> bounds each: not below now + discount M times itself.

    What the solution of that equation misses by rounding is made good at all states alike.
    """
    whole = np.linalg.solve(np.eye(len(now)) - discount * game.moves, now).astype(np.float64)
    missing = (now + discount * (game.moves @ whole) - whole).max() + ROUNDING * np.abs(whole).max()
    return np.asarray(whole + max(missing, 0.0) / (1 - discount))


def summing_to_one(weights: sparse.csr_array) -> sparse.csr_array:
    """Rows of weights >= 0 as distributions; rows without any stay empty."""
    total = weights.sum(axis=1)
    return sparse.csr_array(sparse.diags_array(1 / np.where(total > 0, total, 1.0)) @ weights)


Trained = Callable[[int, int, float, float], None]  # walks done, walks, privacy an access in the last ones, bound


@checked
def plan(
    profile: Profile,
    privacy: MetricLike,
    quality: MetricLike,
    budget: float,
    scenario: Scenario | None = None,
    outlook: Outlook | str = Outlook.FAR_SIGHTED,
    mode: Mode | str = Mode.TRADE_OFF,
    discount: float = DISCOUNT,
    walks: int = WALKS,
    seed: int = 0,
    progress: Trained | None = None,
) -> Planner:
    """Train a planner on the beliefs that ``walks`` lead to; the same seed gives the same planner.

    The secondary outlook is lexicographic and knows no discount; without a discount no outlook has a future.

    ``progress`` is called after every walk with the walks done, their number, the privacy an access that the last ones
    had, and what none that keeps the budget given every release can exceed in the long run.

    >>> from hideseek import MarkovProfile
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> planner = plan(profile, 1 - np.eye(2), 1 - np.eye(2), budget=0.1, walks=2)
    >>> round(planner.bound, 6)
    0.1
    """
    game = RepeatedGame.of(profile, privacy, quality, budget, scenario)
    return train(game, outlook, mode, discount, walks, seed, progress)


def train(
    game: RepeatedGame,
    outlook: Outlook | str = Outlook.FAR_SIGHTED,
    mode: Mode | str = Mode.TRADE_OFF,
    discount: float = DISCOUNT,
    walks: int = WALKS,
    seed: int = 0,
    progress: Trained | None = None,
) -> Planner:
    """As :func:`plan`, for a game that is there."""
    outlook, mode = one_of(Outlook, outlook, "outlook", "plan"), one_of(Mode, mode, "mode", "plan")
    discount = scalar(discount, "discount", "plan", "a number >= 0 and < 1")
    if discount >= 1:
        raise broken_rule("discount", "plan", "a number >= 0 and < 1", discount)
    count, seed = whole_number(walks, "walks", "plan"), whole_number(seed, "seed", "plan", least=0)
    if outlook is Outlook.SECONDARY:
        mode, discount = Mode.LEXICOGRAPHIC, 1.0
    most = game.ceiling.bound
    blank = Planner(outlook, mode, discount, np.zeros((0, len(game.states))), most, game.sha256, seed)
    if outlook is Outlook.PLAIN or discount == 0:
        return blank
    if outlook is Outlook.SECONDARY:
        return replace(blank, cuts=game.error)
    trainer = _Trainer(game, blank)
    trainer.train(count, progress)
    return trainer.planner()


def seconds_of(accesses: int, states: int) -> float:
    """How long it takes at least to play so many accesses, roughly."""
    return PLAY * accesses * (states / 25) ** 3


class Player:
    """Plays a game at one belief after another as a planner has it."""

    def __init__(self, game: RepeatedGame, planner: Planner) -> None:
        self.game, self.planner = game, planner.checked(game)
        self.lexicographic = planner.mode is Mode.LEXICOGRAPHIC
        self.ahead = planner.outlook is Outlook.LOOK_AHEAD
        self.now = Recurring(game.error, game.cost, game.budget)
        self.later: Recurring | None = None
        self.cuts, self.kept = np.zeros((0, len(game.states))), 0
        if len(planner.cuts) or (self.ahead and planner.discount):
            own = 0.0 if self.lexicographic else 1.0
            self.later = Recurring(game.error, game.cost, game.budget, own, planner.discount)
            self.add(planner.cuts if len(planner.cuts) else game.ceiling_cut[None])

    def add(self, cuts: FloatArray) -> None:
        """More cuts at the next access."""
        if self.later is not None:
            self.cuts = np.vstack([self.cuts, cuts])
            self.later.add(cuts @ self.game.moves.T)

    def keep(self, floor: float = 0.0) -> None:
        """From now on, :meth:`restore` leads back here: to the long-run law, after a walk that met what matters."""
        generator, belief = np.random.default_rng(self.planner.seed), self.game.start
        for _ in range(PRACTICE):
            found = self.play(belief, floor)
            if found is not None:
                belief = self.game.learned(belief, found.table, int(drawn(belief @ found.table, generator)))
            belief = self.game.later(belief)
        self.play(self.game.start, floor)
        self.kept = len(self.cuts)
        for program in (self.now, self.later):
            if program is not None:
                program.keep()

    def restore(self) -> None:
        """Forget what was played since :meth:`keep`, so that what is played next depends on the belief alone."""
        self.cuts = self.cuts[: self.kept]
        for program in (self.now, self.later):
            if program is not None:
                program.restore()

    def play(self, belief: FloatArray, floor: float = 0.0) -> Play | None:
        """The table at a belief, or None where none has as much privacy as the ``floor``."""
        belief = self.game.belief(belief)
        first = self.now.play(belief, tolerance=FINE) if self.later is None or self.lexicographic or floor else None
        if first is not None and first.privacy < floor:
            return None
        if self.later is None:
            return first
        if first is None or not self.lexicographic:
            least = floor * (1 + GIVEN_UP / 2)  # or else rounding would miss the floor, and the future not count
        else:
            least = first.privacy * (1 - GIVEN_UP / 2)
        try:
            found = self.with_future(belief, least, None if first is None else first.table)
        except SolverError:
            found = self.now.play(belief, tolerance=FINE) if first is None else first
        missed = first is not None and found.privacy < max(floor, first.privacy * (1 - GIVEN_UP) * self.lexicographic)
        return first if missed else found

    def with_future(self, belief: FloatArray, least: float = 0.0, known: FloatArray | None = None) -> Play:
        """The best table with its future; looking ahead, cuts come until the next access is worth what they say."""
        program, exact = self.later or self.now, AHEAD if self.ahead else ROUGH
        for _ in range(ROUNDS if self.ahead else 1):
            found = program.play(belief, least, exact, known)
            if not self.ahead:
                break
            joint = belief[:, None] * found.table
            mass = joint.sum(axis=0)
            reached = np.flatnonzero(mass > UNLIKELY)
            next_ones = (joint[:, reached] / mass[reached]).T @ self.game.moves
            plays = [self.now.play(after, tolerance=exact) for after in next_ones]
            expected = mass[reached] * (self.cuts @ next_ones.T).min(axis=0)
            worth = mass[reached] * np.array([one.privacy for one in plays])
            if (expected - worth).sum() * self.planner.discount <= 2 * exact * program.unit:
                break
            self.add(np.array([one.cut for one, short in zip(plays, expected - worth > 0, strict=True) if short]))
        return found

    def play_knowing(self, belief: FloatArray, columns: list[int], floor: float = 0.0) -> Play | None:
        """As :meth:`play`, where the mechanism knows only these columns of the state, as after a gap."""
        game = self.game
        belief = game.belief(belief)
        inputs, index = np.unique(game.states[:, columns], axis=0, return_inverse=True)
        group = np.arange(len(inputs))[:, None] == index.ravel()
        cost = group @ (game.cost * belief[:, None])
        mass = group @ belief
        possible = mass > 0

        def folded(errors: FloatArray, price: float) -> Game:
            return Game(
                (errors * belief @ group.T)[:, possible], price * cost[possible], game.budget, mass=mass[possible]
            )

        now = folded(game.error, 1.0)
        chosen = best = solve(now)
        if best.privacy < floor:
            return None
        if self.later is not None:
            cuts = self.cuts @ game.moves.T
            future, weight = folded(cuts - cuts.min(axis=0), 0.0), self.planner.discount
            if not self.lexicographic:
                chosen = solve(Alternatives((now, future), weights=np.array([1, weight]) / (1 + weight)), ROUGH)
            if self.lexicographic or chosen.privacies[0] < floor:
                chosen = prefer(best, future)
        laws = np.tile(mass[possible] @ chosen.mechanism.table, (len(inputs), 1))
        laws[possible] = chosen.mechanism.table
        return (self.later or self.now).judged(laws[index.ravel()], belief)


class _Trainer:
    """Walks by a planner that learns from them."""

    def __init__(self, game: RepeatedGame, blank: Planner) -> None:
        self.game, self.blank = game, blank
        self.generator = np.random.default_rng(blank.seed)
        self.forever = blank.outlook is Outlook.FAR_SIGHTED
        first: FloatArray = game.ceiling_cut
        if self.forever:
            first = for_ever(first, game, blank.discount)
        self.reached = [game.start[None]]  # beliefs at which the value was asked for
        # cuts are of the trade-off whatever the mode: they bound what any choice can reach
        self.player = Player(game, replace(blank, mode=Mode.TRADE_OFF, cuts=first[None]))
        self.unit = self.player.now.unit
        self.privacies: list[float] = []
        # of every cut, its price and strategy: the first is that of the ceiling's, played for ever
        self.prices = [game.ceiling.price]
        self.strategies = [sparse.csr_array(game.ceiling.attack)]

    def train(self, walks: int, progress: Trained | None) -> None:
        """Visit what is believed once a state was told, then what walks lead to, forth and back."""
        for belief in np.unique(self.game.moves, axis=0):
            self.visit(belief)
        quiet = 0
        for done in range(walks):
            if quiet == ENOUGH:
                break
            known = len(self.player.cuts)
            belief, short = self.game.start, 0.0
            way: list[FloatArray] = []
            for _ in range(LENGTH):
                found = self.visit(belief)
                way.append(belief)
                # the mean of <cut, belief> is the ceiling: what a walk falls short of it by scatters less
                short += float(self.game.ceiling_cut @ belief - found.privacy) / LENGTH
                joint = belief[:, None] * found.table
                release = int(drawn(joint.sum(axis=0), self.generator))
                belief = self.game.later(self.game.learned(belief, found.table, release))
            for belief in reversed(way) if self.forever else ():
                self.visit(belief)
            quiet = quiet + 1 if len(self.player.cuts) == known else 0
            self.privacies.append(float(self.game.ceiling_cut @ self.game.start) - short)
            if progress is not None:
                progress(done + 1, walks, float(np.mean(self.privacies[-5:])), self.bound)

    def visit(self, belief: FloatArray) -> Play:
        """Play at a belief, and learn what it is worth."""
        try:
            found = self.player.with_future(belief)
        except SolverError:  # what is known of now teaches nothing of later
            return self.player.now.play(belief)
        joint = belief[:, None] * found.table
        mass = joint.sum(axis=0)
        self.reached.append((joint[:, mass > ROUGH] / mass[mass > ROUGH]).T @ self.game.moves)
        if self.forever and (self.player.cuts @ belief).min() - found.cut @ belief > ROUGH * self.unit:
            self.player.add(found.cut[None])
            self.prices.append(found.price)
            self.strategies.append(sparse.csr_array(found.strategy))
        return found

    @property
    def bound(self) -> float:
        """What none that keeps the budget given every release exceeds in the long run, by all cuts so far."""
        if not self.forever:
            return self.blank.bound
        return min(self.blank.bound, (1 - self.blank.discount) * float((self.player.cuts @ self.game.start).min()))

    def planner(self) -> Planner:
        """The planner with the cuts that are the least at some belief that was reached, and the proof of its bound."""
        cuts = self.player.cuts
        used = np.unique(np.concatenate([(beliefs @ cuts.T).argmin(axis=1) for beliefs in self.reached]))
        planner = replace(self.blank, cuts=frozen(cuts[used].copy()))
        if not self.forever:
            return planner
        least, guesses = int((cuts @ self.game.start).argmin()), len(self.game.error)
        wide = [
            sparse.csr_array((one.data, one.indices, one.indptr), shape=(one.shape[0], guesses + len(cuts)))
            for one in self.strategies
        ]
        proof = Proof(np.array(self.prices), sparse.vstack(wide, format="csr")).of_one(least, guesses)
        return planner.proved(self.game, proof)
