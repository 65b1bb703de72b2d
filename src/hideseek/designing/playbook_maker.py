"""Making a playbook: walk with it, solve the game at the beliefs that come up, and keep the tables that it misses.

Tables are valued by what they hide now and, by the planner's cuts, later. On the playbook's own walks, what the
program's table is worth more than the playbook's, on average over the accesses, is what the playbook falls short of the
live planner by. So every walk measures the playbook before it improves it, and the last walks say how near it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hideseek.codebook.anchored_tables import as_kept, tables_of_rows
from hideseek.codebook.weights import largest_remainder
from hideseek.errors import SolverError, broken_rule
from hideseek.model.profile import drawn, regions_of
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import Player
from hideseek.playbook.choosing import Chooser
from hideseek.playbook.playbook import Measure, Playbook
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar, whole_number
from hideseek.util.choices import Mode
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

WITHIN = 0.03  # of the live planner's privacy
KILOBYTES = 24  # for every state: 600 where it is one of 25 places
WALKS, LENGTH = 60, 60  # of rehearsal: walks at most, and steps of each
MISSED = 0.0, 0.3, 0.7  # shares of the steps that a walk misses, one kind of walk after the other
HEADER = 64  # bytes by which the header of a file may grow with what it describes
LAST = 6  # walks that say how far the playbook falls short
WORTH_ADDING = 1 / 3  # of what it may fall short by: tables that are missed by less are not added


@checked
def make_playbook(
    game: BeliefGame,
    planner: Planner,
    *,
    within: float = WITHIN,
    kilobytes: float | None = None,
    seed: int = 0,
    progress: Advance | None = None,
) -> Playbook:
    """Make the playbook of a plan: a device that has it needs no solver, and answers after any gap.

    Parameters
    ----------
    game, planner
        The planner, and the game that it was made for; its profile must have regions.
    within
        How far the playbook may fall short of the live planner, as a share of the privacy: rehearsal ends when the
        95 % confidence interval of the shortfall is below it.
    kilobytes
        How large the file may become; by default 24 for every state (place), or less if the target is reached.
    seed
        Of the walks; the same seed gives the same playbook.
    progress
        Called after every walk with the shortfall as text, how many walks are done, and how many there are at most.

    Returns
    -------
    Playbook
        Its tables, each with the belief that it was made for.

    Raises
    ------
    PlanError
        If the planner was made for another game.
    ParameterError
        If an argument breaks its rule, the profile has no regions, or the file cannot be so small.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Places, plan
    >>> from hideseek.metrics import hamming
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.1)
    >>> playbook = make_playbook(game, plan(game, walks=2))
    >>> round(playbook.play(playbook.start).privacy, 6)
    0.1
    """
    regions_of(game.profile)
    scalar(within, "within", "make_playbook", "a share of the privacy, a number > 0", least=np.finfo(float).tiny)
    whole_number(seed, "seed", "make_playbook", least=0)
    if kilobytes is not None:
        scalar(kilobytes, "kilobytes", "make_playbook")
    refuse_of_tables(game, within, kilobytes)
    if planner.mode is Mode.LEXICOGRAPHIC and len(planner.cuts):
        rule = "one that may trade current privacy for later"
        raise broken_rule("planner", "make_playbook", rule, planner.mode, 'Plan with mode="trade-off".')
    return rehearsed(game, planner.checked(game), within, kilobytes, seed, progress).playbook


def refuse_of_tables(game: BeliefGame, within: float, kilobytes: float | None) -> None:
    """Refuse what is about tables, where a playbook has none."""
    for name, value, usual in (("within", within, WITHIN), ("kilobytes", kilobytes, None)):
        if game.window > 1 and value != usual:
            rule = "left out where the budget holds over a window, as there are no tables then"
            raise broken_rule(name, "make_playbook", rule, value)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A playbook, and how far it falls short of the live planner, as a share of its own privacy."""

    playbook: Playbook
    shortfall: Estimate


@dataclass(eq=False)
class _Walk:
    """What a walk found: of every access the playbook's privacy, and how much more the program's table is worth."""

    privacy: list[float] = field(default_factory=list)
    short: list[float] = field(default_factory=list)


def rehearsed(
    game: BeliefGame, planner: Planner, within: float, kilobytes: float | None, seed: int, progress: Advance | None
) -> Rehearsal:
    """Walk and add tables until the playbook is near enough, or as large as it may be.

    Over a window there are none, and a live device chooses in the same way.
    """
    if planner.steering is not None:
        none = np.zeros((0, len(game.states))), np.zeros((0, game.cost.shape[1]))
        return Rehearsal(playbook_of(game, planner, *none), Estimate(0.0))
    made = _Rehearsing(game, planner, within, kilobytes, seed)
    while not made.walks or (len(made.walks) < WALKS and not made.near and not made.full):
        made.walk()
        if progress is not None:
            progress(f"{len(made.tables)} tables, {made.shortfall:.1%} short, walks", len(made.walks), WALKS)
    return Rehearsal(made.playbook, made.shortfall)


class _Rehearsing:
    """The tables so far, and the walks that they were found on."""

    def __init__(self, game: BeliefGame, planner: Planner, within: float, kilobytes: float | None, seed: int) -> None:
        self.game, self.planner, self.within = game, planner, within
        self.player, self.generator = Player(game, planner), np.random.default_rng(seed)
        self.anchors, self.tables = [game.start], [self.solved(game.start)]
        self.walks: list[_Walk] = []
        least = len(self.playbook.content) + HEADER
        self.room = 1000 * (KILOBYTES * len(game.states) if kilobytes is None else kilobytes) - least
        if self.room < 0 and kilobytes is not None:
            rule = f"at least {least / 1000}, with a single table"
            raise broken_rule("kilobytes", "make_playbook", rule, kilobytes)

    def solved(self, belief: FloatArray) -> FloatArray:
        """The table of most value: fewer releases than the one that a live device mixes of it, so more tables fit."""
        found = self.player.best(belief)
        if found is None:
            raise SolverError("No table was found at a belief without a floor.")
        return found.table

    @property
    def near(self) -> bool:
        """Whether the last walks say that the playbook is near enough."""
        return len(self.walks) >= LAST and self.shortfall.interval[1] <= self.within

    @property
    def full(self) -> bool:
        """Whether there is no room for another table."""
        return self.room < self.size(self.tables[-1])

    @property
    def shortfall(self) -> Estimate:
        """What the program's tables are worth more on average, as a share of the privacy, on the last walks."""
        last = self.walks[-LAST:]
        privacy = float(np.mean([share for walk in last for share in walk.privacy])) or 1.0
        values = np.array([np.mean(walk.short) for walk in last]) / privacy
        return Estimate.mean_of(values) if len(last) > 1 else Estimate(float(values[0]), (0.0, 1.0))

    def walk(self) -> None:
        """Walk with the tables so far, and add those that are missed."""
        game, chooser, walk = self.game, self.chooser, _Walk()
        missed = MISSED[len(self.walks) % len(MISSED)]
        belief, new = game.start, []
        for _ in range(LENGTH):
            if self.generator.random() >= missed:
                best = chooser.best(belief)
                worth = chooser.worth(belief, best[None])
                value, most = float(worth.value[0]), self.most(belief)
                better = None
                if most - value > self.least(walk):
                    better = self.solved(belief)
                    most = float(chooser.worth(belief, better[None]).value[0])
                walk.privacy.append(float(worth.now[0]))
                walk.short.append(max(most - value, 0.0))
                if better is not None and most - value > self.least(walk):
                    new.append((belief, better))
                table = chooser.quieter(belief, best)
                belief = game.learned(belief, table, release=int(drawn(belief @ table, self.generator)))
            belief = game.later(belief)
        self.walks.append(walk)
        for belief, table in new:
            self.room -= self.size(table)
            if self.room >= 0:
                self.anchors.append(belief)
                self.tables.append(table)

    def most(self, belief: FloatArray) -> float:
        """What no table at a belief is worth more than, by the cuts."""
        return self.planner.value(belief) if len(self.planner.cuts) else np.inf

    def least(self, walk: _Walk) -> float:
        """The worth from which on a table is added."""
        privacy = np.mean(walk.privacy) if walk.privacy else self.game.most
        return float(WORTH_ADDING * self.within * privacy)

    def size(self, table: FloatArray) -> int:
        """The bytes of one more table: a place and a weight per entry, the rows' ends, the belief."""
        return 6 * int(np.count_nonzero(largest_remainder(table))) + 6 * len(table)

    @property
    def chooser(self) -> Chooser:
        """What chooses among the tables so far."""
        game, planner = self.game, self.planner
        return Chooser(
            game.error,
            game.cost,
            budget=game.budget,
            cuts=planner.cuts @ game.moves.T,
            discount=planner.discount,
            anchors=np.array(self.anchors),
            tables=np.array(self.tables),
            most=game.most,
        )

    @property
    def playbook(self) -> Playbook:
        """The tables so far as a playbook."""
        return playbook_of(self.game, self.planner, np.array(self.anchors), np.concatenate(self.tables))


def playbook_of(game: BeliefGame, planner: Planner, anchors: FloatArray, rows: FloatArray) -> Playbook:
    """The playbook with these tables [table and state, release], each made for one of the beliefs."""
    profile = game.profile
    return Playbook(
        **{name: getattr(game, name) for name in ("budget", "every", "row", "states", "start", "scenario")},
        **{name: getattr(game, name) for name in ("error", "cost", "moves", "wait", "window", "cap")},
        regions=regions_of(profile),
        step=profile.step,
        privacy=Measure(game.privacy.name, game.privacy.unit),
        quality=Measure(game.quality.name, game.quality.unit),
        discount=planner.discount if len(planner.cuts) else 0.0,
        cuts=planner.cuts,
        anchors=as_kept(anchors),
        tables=tables_of_rows(profile.places, rows),
        attack=np.asarray(game.ceiling.attack),
        price=game.ceiling.price,
        steering=planner.steering,
    )
