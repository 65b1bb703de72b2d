"""What devices share that choose a table at the belief of an adversary who remembers every release.

This belief follows from what was exposed and when, which is public, so the device can follow it exactly: Bayes' rule
after a release, the chain over any number of missed accesses. The table that is chosen is rounded to whole weights, and
from there on nothing but the rounded table counts: its privacy and its loss are computed, it draws, and it is what the
adversary is taken to know. No decision looks at the true place before the draw.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Literal

import msgspec
import numpy as np

from hideseek.device.step_device import VERSION, Answer, Place, Reason, Saved, StepDevice, random_word
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.regions import Regions
from hideseek.model.scenario import Scenario
from hideseek.model.steering import FAR, KEPT, Standing, Steering
from hideseek.playbook.belief_table import BeliefTable
from hideseek.util.boundary import checked
from hideseek.util.checks import scalar
from hideseek.util.display import html_table

AGREE = 1e-9  # how far from 1 the sum of a stored belief may be
ROUGHLY = 1e-3  # the same where earlier places are followed in single precision, as they only choose
NOTHING = 1e-250  # what is less likely counts as impossible, so that a probability of a release is never rounded to 0
SPARE = 1e-4  # the share of a floor that is asked for beyond it, as whole weights may take some off

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Number = Annotated[float, msgspec.Meta(ge=0)]
Probability = Annotated[float, msgspec.Meta(ge=0, le=1)]
Withheld = Literal["floor", "budget"]


@dataclass(frozen=True)
class LiveLabel:
    """The privacy and the loss of a run so far, exactly, if the times of the accesses reveal nothing of the place.

    ``filter`` is the expected error of an adversary who remembers every release, given all that was public before an
    access, on average over the ``accesses`` at which a place was exposed; ``worst_filter`` is the least of these
    errors. ``quality_loss`` and ``worst_loss`` are the average and the largest expected loss; ``budget`` bounds both
    where the ``window`` is one access, and the average where it is more: then ``saved`` is what later ones may lose on
    top of it.
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
    window: int = 1
    saved: float = 0.0

    def __repr__(self) -> str:
        facts = [f"{name}={value}" for name, value in self._facts().items()]
        return f"LiveLabel({', '.join(facts if self.accesses else ['no access yet', *facts])})"

    def _repr_html_(self) -> str:
        return html_table("A run so far" if self.accesses else "A run: no access yet", self._facts())

    def _facts(self) -> dict[str, object]:
        known = {name: value for name, value in asdict(self).items() if value is not None and not math.isnan(value)}
        if self.window == 1:
            del known["window"], known["saved"]
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


class BeliefState(Saved, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The answer of the last step, the belief after it, the true places that later draws look at, and the run."""

    release: Place | None
    reason: Literal["", "floor", "budget"]
    belief: list[Probability]
    places: dict[int, Place]
    run: _Run
    saved: Number = 0.0
    ages: Annotated[tuple[Count, ...], msgspec.Meta(max_length=KEPT)] = ()
    past: bytes = b""

    def standing(self) -> Standing:
        """What was public after the last step."""
        belief = np.array(self.belief)
        past = None
        if self.ages:
            past = np.frombuffer(self.past, np.float32).reshape(-1, 1, len(belief), len(belief)).astype(np.float64)
        return Standing(belief[None], np.array([self.saved]), self.ages, past)

    @property
    def said(self) -> tuple[int | None, Reason]:
        """The release of the last step, or why there was none."""
        return self.release, self.reason

    def __repr__(self) -> str:
        return "BeliefState(...)"


@checked
class BeliefDevice(StepDevice[BeliefState]):
    """Exposes at most one place per step; a subclass says by which table, at the belief.

    The ``chain`` is what repeats at every access of the ``scenario``.
    """

    kind = BeliefState

    def __init__(
        self,
        chain: BeliefChain,
        scenario: Scenario,
        *,
        regions: Regions,
        step: str,
        sha256: str,
        state: str | os.PathLike[str],
        floor: float,
        steering: Steering | None,
    ) -> None:
        super().__init__(regions, step, sha256, state)
        self.floor = scalar(floor, "floor", type(self).__name__)
        self._asked = self.floor * (1 + SPARE)
        self._chain, self._known = chain, scenario.known
        self._log = steering is not None and steering.log > 0  # whether earlier places are followed
        self._largest += 6 * KEPT * len(chain.states) ** 2 * self._log

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
        chain, kept = self._chain, None if run.withheld else self._chain.kept(privacy)
        saved = 0.0 if state is None else state.saved
        return LiveLabel(
            run.accesses, run.withheld, privacy, worst, loss, worst_loss, chain.budget, chain.most, kept,
            chain.window, saved,
        )  # fmt: skip

    def _next(self, state: BeliefState | None, step: int, here: int) -> BeliefState | Reason:
        """The state after a step that is not yet answered."""
        known = self._known
        if state is None:
            standing, places, run = Standing.first(self._chain), {step: here}, _Run()
        elif step - state.last < self._chain.every:
            return "not due"
        else:
            standing = state.standing().later(self._chain, step - state.last)
            places, run = state.places | {step: here}, state.run
        standing = replace(standing, belief=np.where(standing.belief < NOTHING, 0.0, standing.belief))
        columns = [column for column, offset in enumerate(known) if step + offset in places]
        table = self._table_for(standing, columns)
        release: int | None = None
        if isinstance(table, BeliefTable):
            release = table.draw([places[step + known[column]] for column in columns], random_word())
            standing = standing.exposed(self._chain, table.by_state[None], np.array([release]), log=self._log)
        kept = {when: place for when, place in places.items() if when >= self._needed_from(step)}
        reason = "" if isinstance(table, BeliefTable) else table
        state = BeliefState(
            VERSION, self.sha256, step, release, reason, standing.belief[0].tolist(), kept, run.plus(table)
        )  # fmt: skip
        if self._chain.window == 1:
            return state
        past = b"" if standing.past is None else standing.past.astype(np.float32).tobytes()
        return msgspec.structs.replace(state, saved=float(standing.saved[0]), ages=standing.ages, past=past)

    def _table_for(self, standing: Standing, columns: list[int]) -> BeliefTable | Withheld:
        """The table at what is public when these columns of the state are known, or why there is none."""
        raise NotImplementedError

    def _followed(self, state: BeliefState) -> bool:
        """Whether what is believed of earlier places is what this device follows: distributions, by rising ages."""
        size, log, exposed = len(self._chain.states), self._log, state.release is not None
        if len(state.past) != 4 * size * size * len(state.ages) or (state.ages and not log):
            return False
        past = np.frombuffer(state.past, np.float32).reshape(-1, size * size)
        sums = past.sum(axis=1, dtype=np.float64)
        rising = all(one < other < FAR for one, other in pairwise([-1, *state.ages]))
        right = bool(past.min(initial=0.0) >= 0 and (np.abs(sums - 1) <= ROUGHLY).all())
        return right and rising and (not (log and exposed) or state.ages[:1] == (0,))

    def _needed_from(self, last: int) -> int:
        """The first step that an access after the last one may look back at."""
        return last + self._chain.every + self._known[0]

    def _possible(self, state: BeliefState) -> bool:
        """Whether a device with this plan can have come to a state."""
        count, run, belief = len(self.regions), state.run, np.array(state.belief)
        exposed, first = state.release is not None, self._needed_from(state.last)
        account = self._chain.account
        return (
            self._begin(state.last) is not None
            and exposed == (not state.reason)
            and max([0 if state.release is None else state.release, *state.places.values()]) < count
            and len(belief) == len(self._chain.states)
            and bool(abs(belief.sum() - 1) <= AGREE)
            and all(first <= when <= state.last for when in state.places)
            and (state.last in state.places) == (first <= state.last)
            and (run.accesses if exposed else run.withheld) > 0
            and run.worst_loss <= account.largest * (1 + AGREE)
            and state.saved <= account.most
            and run.loss + state.saved <= (run.accesses * account.budget + account.half) * (1 + AGREE)
            and self._followed(state)
            and run.loss <= run.accesses * run.worst_loss * (1 + AGREE)
            and run.accesses * run.worst_privacy <= run.privacy * (1 + AGREE)
            and run.privacy <= run.accesses * float(self._chain.error.max()) * (1 + AGREE)
        )
