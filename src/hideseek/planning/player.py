"""Players: they choose the table at every belief as a planner has it, and never give up what is proved."""

from __future__ import annotations

import numpy as np

from hideseek.errors import SolverError
from hideseek.game.alternatives import Alternatives
from hideseek.game.game import Game
from hideseek.model.belief import updated
from hideseek.model.exposed_walks import Choose, at_beliefs
from hideseek.model.profile import drawn
from hideseek.model.revealing import quieter
from hideseek.model.steering import steered
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.solvers.belief_program import BeliefProgram, Play
from hideseek.solvers.dispatch import solve
from hideseek.solvers.tie_break import prefer
from hideseek.util.arrays import FloatArray
from hideseek.util.best_guess import least_errors
from hideseek.util.choices import Mode, Outlook

ROUGH, AHEAD, FINE = 1e-3, 1e-4, 1e-6  # of the mean error: how exact all futures, the next and the current access are
BEGUN = 2e-3  # how exact a table is from which another one is sought, that reveals less
GIVEN_UP = 1e-6  # the share of the current privacy that a lexicographic planner may miss, by rounding
PRACTICE = 30  # accesses of a walk before a player is kept: its rows and columns halve the time of those after
ROUNDS = 100  # of looking ahead at one belief
PLAY = 0.005  # seconds of the plain planner at an access with 25 states, growing with their cube; others take longer
UNLIKELY = 1e-6  # releases of this probability are not looked at ahead


def seconds_of(accesses: int, states: int) -> float:
    """How long it takes at least to play so many accesses, roughly."""
    return PLAY * accesses * (states / 25) ** 3


def chosen_by(game: BeliefGame, planner: Planner) -> Choose:
    """The tables that a planner has at what is public: by its steering, or at the belief alone."""
    steering = planner.checked(game).steering
    if steering is not None:
        return lambda standing: steered(game, steering, standing)
    player = Player(game, planner)

    def at(belief: FloatArray) -> FloatArray:
        found = player.play(belief)
        if found is None:
            raise SolverError("No table was found at a belief without a floor.")
        return found.table

    return at_beliefs(at)


class Player:
    """Chooses the table of one access after another, at the belief of each, as a planner has it."""

    def __init__(self, game: BeliefGame, planner: Planner) -> None:
        self.game, self.planner = game, planner.checked(game)
        self.lexicographic = planner.mode is Mode.LEXICOGRAPHIC
        self.ahead = planner.outlook is Outlook.LOOK_AHEAD
        self.now = BeliefProgram(game.error, game.cost, game.budget)
        self.later: BeliefProgram | None = None
        self.cuts, self.kept = np.zeros((0, len(game.states))), 0
        if len(planner.cuts) or (self.ahead and planner.discount):
            own = 0.0 if self.lexicographic else 1.0
            self.later = BeliefProgram(game.error, game.cost, game.budget, own, planner.discount)
            self.add(planner.cuts if len(planner.cuts) else game.ceiling_cut[None])

    def add(self, cuts: FloatArray) -> None:
        """More cuts at the next access."""
        if self.later is not None:
            self.cuts = np.vstack([self.cuts, cuts])
            self.later.add(cuts @ self.game.moves.T)

    def keep(self, floor: float = 0.0) -> None:
        """From now on, :meth:`restore` leads back here: to the long-run distribution, after a walk for practice."""
        generator, belief = np.random.default_rng(self.planner.seed), self.game.start
        for _ in range(PRACTICE):
            found = self.play(belief, floor)
            if found is not None:
                belief = self.game.learned(belief, found.table, release=int(drawn(belief @ found.table, generator)))
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
        """The table at a belief, or None where none has as much privacy as the ``floor``.

        A far-sighted planner gives up some of what is best, where that reveals less about the whole way.
        """
        weighs = self.later is not None and not (self.lexicographic or self.ahead)
        found = self.best(belief, floor, BEGUN if weighs else ROUGH)
        if found is None or self.later is None or not weighs:
            return found
        return self.quieter(self.later, belief, found, floor)

    def best(self, belief: FloatArray, floor: float = 0.0, exact: float = ROUGH) -> Play | None:
        """The table of most value at a belief, or None where none has as much privacy as the ``floor``."""
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
            found = self.with_future(belief, least, None if first is None else first.table, exact)
        except SolverError:
            found = self.now.play(belief, tolerance=FINE) if first is None else first
        missed = first is not None and found.privacy < max(floor, first.privacy * (1 - GIVEN_UP) * self.lexicographic)
        return first if missed else found

    def quieter(self, program: BeliefProgram, belief: FloatArray, found: Play, floor: float) -> Play:
        """A table that reveals less about the whole way than the one that was found, as far as that is worth it."""
        game = self.game

        def worth(tables: FloatArray) -> FloatArray:
            joint = belief[:, None] * tables
            now, future = (least_errors(rows, joint).sum(axis=1) for rows in (game.error, program.cuts))
            return np.where(now >= min(floor, now[0]), now + program.later * future, -np.inf)

        answers = np.vstack([game.error, program.later * program.cuts])
        guesses, limits = len(game.error), (game.cost, game.budget, game.most)
        return program.judged(quieter(belief, found.table, worth, answers, guesses, *limits), belief)

    def with_future(
        self, belief: FloatArray, least: float = 0.0, known: FloatArray | None = None, exact: float = ROUGH
    ) -> Play:
        """The best table with its future; looking ahead, cuts come until the next access is worth what they say."""
        program, exact = self.later or self.now, AHEAD if self.ahead else exact
        for _ in range(ROUNDS if self.ahead else 1):
            found = program.play(belief, least, exact, known)
            if not self.ahead:
                break
            after, mass = updated(belief[:, None], found.table)
            reached = np.flatnonzero(mass > UNLIKELY)
            next_ones = after[:, reached].T @ self.game.moves
            plays = [self.now.play(after, tolerance=exact) for after in next_ones]
            expected = mass[reached] * (self.cuts @ next_ones.T).min(axis=0)
            worth = mass[reached] * np.array([one.privacy for one in plays])
            if (expected - worth).sum() * self.planner.discount <= 2 * exact * program.unit:
                break
            self.add(np.array([one.cut for one, short in zip(plays, expected - worth > 0, strict=True) if short]))
        return found

    def play_knowing(self, belief: FloatArray, columns: list[int], floor: float = 0.0) -> Play | None:
        """As :meth:`play`, where the mechanism knows only these columns of the state, as after missed accesses."""
        game = self.game
        belief = game.belief(belief)
        inputs, index = np.unique(game.states[:, columns], axis=0, return_inverse=True)
        group = np.arange(len(inputs))[:, None] == index.ravel()
        cost = group @ (game.cost * belief[:, None])
        mass = group @ belief
        possible = mass > 0

        def folded(errors: FloatArray, price: float) -> Game:
            return Game(
                (errors * belief @ group.T)[:, possible],
                price * cost[possible],
                budget=game.budget,
                mass=mass[possible],
            )

        now = folded(game.error, 1.0)
        chosen = best = solve(now)
        if best.privacy < floor:
            return None
        if self.later is not None:
            cuts = self.cuts @ game.moves.T
            future, weight = folded(cuts - cuts.min(axis=0), 0.0), self.planner.discount
            if not self.lexicographic:
                chosen = solve(
                    Alternatives((now, future), weights=np.array([1, weight]) / (1 + weight)), tolerance=ROUGH
                )
            if self.lexicographic or chosen.privacies[0] < floor:
                chosen = prefer(best, future)
        table = np.tile(mass[possible] @ chosen.mechanism.table, (len(inputs), 1))
        table[possible] = chosen.mechanism.table
        return (self.later or self.now).judged(table[index.ravel()], belief)
