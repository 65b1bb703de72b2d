"""A live device: at each access it solves the game for the current belief of an adversary who remembers every release.

This belief follows from what was exposed and when, which is public, so the device can follow it exactly: Bayes' rule
after a release, the chain over any number of missed accesses. The table that solves the game is rounded to whole
weights, and from there on nothing but the rounded table counts: its privacy and its loss are computed, it draws, and
it is what the adversary is taken to know. No decision looks at the true place before the draw.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Literal

import msgspec
import numpy as np

from hideseek.codebook.weights import WORDS, largest_remainder
from hideseek.device.step_device import VERSION, Answer, Place, Reason, Saved, StepDevice, random_word
from hideseek.errors import BudgetError, broken_rule
from hideseek.model.profile import regions_of
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import Player
from hideseek.solvers.repair import cheapest_releases, mixed_into_budget
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar
from hideseek.util.display import html_table

AGREE = 1e-9  # how far from 1 the sum of a stored belief may be
SPARE = 1e-4  # the share of a floor that is asked for beyond it, as whole weights may take some off

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Number = Annotated[float, msgspec.Meta(ge=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Withheld = Literal["floor", "budget"]


@dataclass(frozen=True)
class LiveLabel:
    """The privacy and the loss of a live run so far, exactly, if the times of the accesses reveal nothing of the place.

    ``filter`` is the expected error of an adversary who remembers every release, given all that was public before an
    access, on average over the ``accesses`` at which a place was exposed; ``worst_filter`` is the least of these
    errors. ``quality_loss`` and ``worst_loss`` are the average and the largest expected loss, which ``budget`` bounds.
    ``withheld`` counts the other accesses. In the long run no mechanism that always answers exceeds the ``ceiling``;
    ``kept`` is the filter's share of it. A short run may exceed 1, and ``kept`` is None once an answer was withheld:
    a device that may stay silent has no ceiling. Without an access, averages are nan.
    """

    accesses: int
    withheld: int
    filter: float
    worst_filter: float
    quality_loss: float
    worst_loss: float
    budget: float
    ceiling: float
    kept: float | None

    def __repr__(self) -> str:
        facts = [f"{name}={value}" for name, value in self._facts().items()]
        return f"LiveLabel({', '.join(facts if self.accesses else ['no access yet', *facts])})"

    def _repr_html_(self) -> str:
        return html_table("A live run so far" if self.accesses else "A live run: no access yet", self._facts())

    def _facts(self) -> dict[str, object]:
        known = {name: value for name, value in asdict(self).items() if value is not None and not math.isnan(value)}
        return {name: value if isinstance(value, int) else f"{value:.4g}" for name, value in known.items()}


class _Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts and sums over a run, and the worst of it; all of this is public."""

    accesses: Count = 0
    withheld: Count = 0
    privacy: Number = 0.0
    worst_privacy: Number = 0.0
    loss: Number = 0.0
    worst_loss: Number = 0.0

    def plus(self, table: BeliefTable | Withheld) -> _Run:
        """The run with one access more."""
        if isinstance(table, str):
            return msgspec.structs.replace(self, withheld=self.withheld + 1)
        return _Run(
            self.accesses + 1,
            self.withheld,
            self.privacy + table.privacy,
            min(self.worst_privacy, table.privacy) if self.accesses else table.privacy,
            self.loss + table.loss,
            max(self.worst_loss, table.loss),
        )


class _LiveState(Saved, frozen=True, forbid_unknown_fields=True):
    """The answer of the last step, the belief after it, the true places that later draws look at, and the run."""

    release: Place | None
    reason: Literal["", "floor", "budget"]
    belief: list[Probability]
    places: dict[int, Place]
    run: _Run

    @property
    def said(self) -> tuple[int | None, Reason]:
        """The release of the last step, or why there was none."""
        return self.release, self.reason

    def __repr__(self) -> str:
        return "_LiveState(...)"


@dataclass(frozen=True, eq=False)
class BeliefTable:
    """The table that a device draws from at a belief, in whole weights [input, release].

    ``inputs`` are the known places that tell states apart; the last row of ``weights`` is for any other.
    ``by_state`` [state, release] are the same weights as probabilities, which the adversary is taken to know.
    ``privacy`` is the adversary's expected error at this belief, ``loss`` the expected quality loss.
    """

    inputs: IntArray
    weights: IntArray
    by_state: FloatArray
    privacy: float
    loss: float

    @classmethod
    def of(cls, game: BeliefGame, belief: FloatArray, columns: list[int], table: FloatArray) -> BeliefTable:
        """Round a table [state, release] that looks at these columns of the state, and keep it within the budget."""
        inputs, index = np.unique(game.states[:, columns], axis=0, return_inverse=True)
        group = np.arange(len(inputs))[:, None] == index.ravel()
        likeliest = np.where(group, belief, -1.0).argmax(axis=1)
        cost, exact = group @ (game.cost * belief[:, None]), table[likeliest]
        weights = largest_remainder(exact)
        if np.vdot(cost, weights / WORDS) > game.budget:
            # no weight is off by more than one word, so with this much to spare the rounded table keeps the budget
            spare = float(cost.sum()) / WORDS
            mended = mixed_into_budget(exact, cheapest_releases(cost, exact), cost, game.budget - spare)
            weights = largest_remainder(mended)
        # inputs that the belief rules out get the average of the others, which reveals nothing
        mass = group @ belief
        average = largest_remainder((mass @ weights)[None])
        weights = np.vstack([np.where(mass[:, None] > 0, weights, average), average])
        rounded = weights[index.ravel()] / WORDS
        joint = belief[:, None] * rounded
        privacy, loss = least_errors(game.error, joint).sum(), np.vdot(game.cost, joint)
        return cls(inputs, weights, rounded, float(privacy), float(loss))

    def draw(self, known: Sequence[int], word: int) -> int:
        """The release that a word below 2^32 draws at these known places."""
        row = next(iter(np.flatnonzero((self.inputs == known).all(axis=1))), -1)
        return int(np.cumsum(self.weights[row]).searchsorted(word, side="right"))


@checked
class LiveDevice(StepDevice[_LiveState]):
    """Exposes at most one place per step by a plan, against an adversary who remembers every release.

    Given every release so far the expected loss stays within the budget of the game, and at every access the
    adversary's expected error is at least the ``floor``, if the times of the accesses reveal nothing about the place.
    An answer is withheld with the reason ``"floor"`` where no table keeps the floor at the current belief, and with
    the reason ``"budget"`` where the quality depends on a place that was not recorded, and without it no release keeps
    the budget. Both follow from public things alone: earlier answers, and the steps asked about. Far off the map the
    reason is ``"off the map"``; neither the belief nor the label counts what that reveals.

    Any number of missed accesses is followed exactly. The state keeps the belief, the sums of the run and, if the
    scenario looks back, the numbers of those true places that it may look at later. The file is for its owner only, and
    any number of devices in any number of processes may share it.

    Parameters
    ----------
    game : BeliefGame
        The game of every access; its profile must have regions.
    planner : Planner
        The planner of that game, as :func:`hideseek.plan` and :func:`hideseek.load_plan` give it.
    state : path
        The file of the device; it is created by the first answer.
    floor : float, default 0
        Expected error of the adversary, in the unit of the privacy metric, below which nothing is exposed.

    Raises
    ------
    PlanError
        If the planner was made for another game.
    ParameterError
        If the profile has no regions, or no answer could ever keep the floor.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hideseek.metrics import hamming
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> from hideseek.planning.training import plan
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     device = LiveDevice(game, plan(game, walks=2), state=f"{folder}/live.json")
    ...     first = device.expose(46.5201, 6.5702, at="2026-01-05T08:01:30+01:00")
    ...     again = device.expose(46.5299, 6.5799, at="2026-01-05T08:04:59+01:00")
    ...     label = device.label()
    >>> first == again, label.accesses, round(label.filter, 6), label.worst_loss <= 0.1
    (True, 1, 0.1, True)
    """

    kind = _LiveState
    rule = "plan"

    def __init__(
        self, game: BeliefGame, planner: Planner, *, state: str | os.PathLike[str], floor: float = 0.0
    ) -> None:
        self.floor = scalar(floor, "floor", "LiveDevice")
        self.game, self.planner, self._player = game, planner, Player(game, planner)
        super().__init__(regions_of(game.profile), game.profile.step, bound_to(game, planner), state)
        self._asked = self.floor * (1 + SPARE)
        self._player.keep(self._asked)
        if self.floor and self._table_for(game.start, list(range(len(game.scenario.known)))) == "floor":
            most = self._player.now.play(game.start).privacy / (1 + 2 * SPARE)
            rule = f"at most {most!r}, the most privacy that can be kept at the first access"
            raise broken_rule("floor", "LiveDevice", rule, floor, "With this one nothing would ever be exposed.")

    def expose(self, latitude: float, longitude: float, *, at: datetime | str) -> Answer:
        """Return what to expose at this place and time; asked again in the same step, it returns the same.

        Parameters
        ----------
        latitude, longitude : float
            Where the user is, in degrees; off the map the nearest place counts, and far off it nothing is exposed.
        at : datetime or str
            When, with an offset from UTC; a string in ISO 8601.

        Returns
        -------
        Answer
            The exposed place, or why nothing is exposed.

        Raises
        ------
        ParameterError
            If the point or the time is not one.
        StateError
            If the state cannot be used.
        """
        return self._ask(latitude, longitude, at, self._next)

    def label(self) -> LiveLabel:
        """The privacy and the loss of the run so far."""
        with self._locked() as (_, state):
            run = _Run() if state is None else state.run
        privacy, worst, loss, worst_loss = (
            (run.privacy / run.accesses, run.worst_privacy, run.loss / run.accesses, run.worst_loss)
            if run.accesses
            else (math.nan,) * 4
        )
        game, kept = self.game, None if run.withheld else self.game.kept(privacy)
        return LiveLabel(run.accesses, run.withheld, privacy, worst, loss, worst_loss, game.budget, game.most, kept)

    def _next(self, state: _LiveState | None, step: int, here: int) -> _LiveState | Reason:
        """The state after a step that is not yet answered."""
        known = self.game.scenario.known
        if state is None:
            belief, places, run = self.game.start, {step: here}, _Run()
        elif step - state.last < self.game.scenario.every:
            return "not due"
        else:
            belief = self.game.later(np.array(state.belief), steps=step - state.last)
            places, run = state.places | {step: here}, state.run
        columns = [column for column, offset in enumerate(known) if step + offset in places]
        table = self._table_for(belief, columns)
        release: int | None = None
        if isinstance(table, BeliefTable):
            release = table.draw([places[step + known[column]] for column in columns], random_word())
            belief = self.game.learned(belief, table.by_state, release=release)
        kept = {when: place for when, place in places.items() if when >= self._needed_from(step)}
        reason = "" if isinstance(table, BeliefTable) else table
        return _LiveState(VERSION, self.sha256, step, release, reason, belief.tolist(), kept, run.plus(table))

    def _table_for(self, belief: FloatArray, columns: list[int]) -> BeliefTable | Withheld:
        """The table at a belief when these columns of the state are known, or why there is none; all of it public."""
        self._player.restore()
        try:
            if len(columns) == len(self.game.scenario.known):
                found = self._player.play(belief, self._asked)
            else:
                found = self._player.play_knowing(belief, columns, self._asked)
        except BudgetError:
            return "budget"
        if found is None:
            return "floor"
        table = BeliefTable.of(self.game, belief, columns, found.table)
        return "floor" if table.privacy < self.floor else table

    def _needed_from(self, last: int) -> int:
        """The first step that an access after the last one may look back at."""
        return last + self.game.scenario.every + self.game.scenario.known[0]

    def _possible(self, state: _LiveState) -> bool:
        """Whether a device with this plan can have come to a state."""
        count, run, belief = self.game.profile.places, state.run, np.array(state.belief)
        exposed, first = state.release is not None, self._needed_from(state.last)
        return (
            self._begin(state.last) is not None
            and exposed == (not state.reason)
            and max([0 if state.release is None else state.release, *state.places.values()]) < count
            and len(belief) == len(self.game.states)
            and bool(abs(belief.sum() - 1) <= AGREE)
            and all(first <= when <= state.last for when in state.places)
            and (state.last in state.places) == (first <= state.last)
            and (run.accesses if exposed else run.withheld) > 0
            and run.worst_loss <= self.game.budget * (1 + AGREE)
            and run.loss <= run.accesses * run.worst_loss * (1 + AGREE)
            and run.accesses * run.worst_privacy <= run.privacy * (1 + AGREE)
            and run.privacy <= run.accesses * float(self.game.error.max()) * (1 + AGREE)
        )


def bound_to(game: BeliefGame, planner: Planner) -> str:
    """What a state belongs to: the game, its places and steps, and what decides among tables."""
    about = f"{game.sha256} {game.profile.step} {planner.outlook} {planner.mode} {planner.discount!r}"
    digest = hashlib.sha256(about.encode())
    for array in (regions_of(game.profile).centres, planner.cuts):
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
