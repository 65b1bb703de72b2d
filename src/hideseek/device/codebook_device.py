"""A device that has a codebook: it looks up what to expose, and needs no solver."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from hideseek.codebook.codebook import Codebook
from hideseek.codebook.stage import Stage
from hideseek.codebook.weights import WORDS
from hideseek.device.step_device import VERSION, Answer, Place, Reason, Saved, StepDevice, random_word, random_words
from hideseek.errors import CodebookError, broken_rule
from hideseek.model.scenario import Offsets, Scenario
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number

Point = tuple[float, float]


class _Access(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last access: its stage, its first step, and the releases and places that later draws may look at, by step."""

    stage: Place
    start: int
    releases: dict[int, Place]
    places: dict[int, Place]

    def __repr__(self) -> str:
        return "_Access(...)"


class _State(Saved, frozen=True, forbid_unknown_fields=True):
    """The release of the last step, and the access it belongs to (none where 0.2.0 was told to forget it)."""

    release: Place
    access: _Access | None

    @property
    def said(self) -> tuple[int | None, Reason]:
        """The release; a device with a codebook writes nothing else."""
        return self.release, ""


@checked
class Device(StepDevice[_State]):
    """Exposes places by a codebook, one per step, and remembers in the file ``state`` what it has exposed.

    It draws from the stored weights with random bits of the operating system, and needs no solver. It answers at every
    access: after a gap that the codebook has no tables for, the access is treated as the first one, and so are those
    that follow; what that may lose, :func:`hideseek.designing.worst_loss_after_gaps` says. The file is for its owner
    only. Any number of devices in any number of processes may share it.

    Parameters
    ----------
    codebook : Codebook
        As :func:`hideseek.design` or :meth:`Codebook.load` gives it, over places that lie on the map.
    state : path
        The file of the device; it is created by the first answer.

    Raises
    ------
    ParameterError
        If the codebook has no regions, or its stages differ in when they release.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from hideseek.designing.designer import design
    >>> from hideseek.metrics import hamming
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> from hideseek.model.scenario import Scenario
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> codebook = design(profile, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.1)
    >>> with TemporaryDirectory() as folder:
    ...     device = Device(codebook, f"{folder}/state.json")
    ...     first = device.expose(46.5201, 6.5702, at="2026-01-05T08:01:30+01:00")
    ...     again = device.expose(46.5299, 6.5799, at="2026-01-05T08:04:59+01:00")
    >>> first.at, first == again
    ('2026-01-05T07:00:00+00:00', True)
    """

    kind = _State
    rule = "codebook"

    def __init__(self, codebook: Codebook, state: str | os.PathLike[str]) -> None:
        if codebook.regions is None:
            way_out = "Design it from a profile with regions."
            raise broken_rule("codebook", "Device", "one whose places lie on the map", "one without regions", way_out)
        scenario = codebook.scenario
        timing = tuple(range(len(scenario.release))), scenario.every
        if any((own.release, own.every) != timing for own in (scenario, *(s.scenario for s in codebook.stages))):
            rule = "one that releases now and the steps right after, at every stage alike"
            raise broken_rule("codebook", "Device", rule, "another")
        super().__init__(codebook.regions, codebook.step, codebook.sha256, state)
        self.codebook = codebook
        self._seen_later = looked_back_at(codebook, lambda scenario: scenario.seen)
        self._known_later = looked_back_at(codebook, lambda scenario: scenario.known)

    def expose(self, latitude: float, longitude: float, *, at: datetime | str, ahead: Sequence[Point] = ()) -> Answer:
        """Return what to expose at this place and time; see :meth:`LiveDevice.expose`.

        Parameters
        ----------
        latitude, longitude, at
            As there.
        ahead : sequence of (latitude, longitude)
            The points of the following steps, for codebooks of planned routes; off the map the nearest place counts.
        """
        return self._ask(latitude, longitude, at, lambda state, step, here: self._next(state, step, here, ahead))

    def _next(self, state: _State | None, step: int, here: int, ahead: Sequence[Point]) -> _State | Reason:
        """The state after a step that is not yet answered, or why nothing is exposed."""
        access = None if state is None else state.access
        due = self._due(access, step)
        if isinstance(due, str):
            return due
        found = None if access is None else self._drawn(access, *due, step, here, ahead)
        if found is None:  # without all that its table looks at, the access is a first one
            found = self._drawn(_Access(0, step, {}, {}), 0, step, step, here, ahead)
        if found is None:
            raise CodebookError("A table has no row for something that can happen.")
        return found

    def _drawn(
        self, before: _Access, number: int, start: int, step: int, here: int, ahead: Sequence[Point]
    ) -> _State | None:
        """The state after a release of stage ``number``, or None where something that its table looks at is missing."""
        stage, position = self.codebook.stages[number], step - start
        releases, places = dict(before.releases), before.places | {step: here}
        planned = max(0, max(stage.known_at(position)) - position)
        places.update(enumerate(self._route(ahead, planned), start=step + 1))
        seen = [releases.get(start + offset, -1) for offset in (*stage.scenario.seen, *range(position))]
        known = [places.get(start + offset, -1) for offset in stage.known_at(position)]
        release = None if -1 in seen or -1 in known else self.draw(number, position, seen=seen, known=known)
        if release is None:
            return None
        releases[step] = release
        later_seen, later_known = self._needed(stage, position)
        access = _Access(number, start, kept(releases, start, later_seen), kept(places, start, later_known))
        return _State(VERSION, self.sha256, step, release, access)

    def draw(self, stage: int, position: int, *, seen: Sequence[int], known: Sequence[int]) -> int | None:
        """The release that 32 fresh random bits draw after these releases at these places; None without a row."""
        stages, owner = self.codebook.stages, "Device.draw"
        tables = stages[whole_number(stage, "stage", owner, 0, len(stages) - 1)].tables
        table = tables[whole_number(position, "position", owner, 0, len(tables) - 1)]
        row = table.row(seen, known)
        if row < 0:
            return None
        return int(table.releases[table.ends.searchsorted(np.uint64(row * WORDS + random_word()), side="right")])

    def simulate(self, walks: npt.ArrayLike) -> IntArray:
        """Draw what is exposed along walks [walk, step] of region numbers, -1 where nothing; no state is touched."""
        rule = f"region numbers from 0 to {self.codebook.places - 1}, [walk, step]"
        try:
            array: npt.NDArray[Any] = np.asarray(walks)
        except ValueError:
            raise broken_rule("walks", "Device.simulate", rule, "walks of different lengths") from None
        if array.ndim != 2 or array.dtype.kind not in "iu":
            raise broken_rule("walks", "Device.simulate", rule, f"the shape {array.shape} of {array.dtype}")
        if (array < 0).any() or (array >= self.codebook.places).any():
            raise broken_rule("walks", "Device.simulate", rule, "another number")
        return self.codebook.simulate(array.astype(np.int64), random_words)

    def _route(self, ahead: Sequence[Point], count: int) -> list[int]:
        """The places of the next ``count`` steps."""
        rule = "points (latitude, longitude), one for each of the steps that follow"
        try:
            points = [(latitude, longitude) for latitude, longitude in ahead]
        except (TypeError, ValueError):
            raise broken_rule("ahead", self._owner, rule, "something else") from None
        if len(points) < count:
            way_out = f"The codebook was made for planned routes; it looks {count} ahead."
            raise broken_rule("ahead", self._owner, rule, f"{len(points)} of them", way_out)
        return [self._place(*point, "ahead")[0] for point in points[:count]]

    def _due(self, access: _Access | None, step: int) -> tuple[int, int] | Reason:
        """The stage of a step that is not yet answered and the start of its access, or why there is none."""
        if access is None:
            return 0, step
        elapsed = step - access.start
        if elapsed < len(self.codebook.scenario.release):
            return access.stage, access.start
        gap, between = divmod(elapsed, self.codebook.scenario.every)
        return "not due" if between else (self.codebook.after(access.stage, gap), step)

    def _needed(self, stage: Stage, position: int) -> tuple[set[int], set[int]]:
        """Offsets from an access of the releases and true places that may count after its release ``position``."""
        seen, known = set(self._seen_later), set(self._known_later)
        for later in range(position + 1, len(stage.tables)):
            seen.update(stage.scenario.seen, range(later))
            known.update(stage.known_at(later))
        return {offset for offset in seen if offset <= position}, {offset for offset in known if offset <= position}

    def _possible(self, state: _State) -> bool:
        """Whether a device with this codebook can have written a state."""
        if state.release >= self.codebook.places or self._begin(state.last) is None:
            return False
        access = state.access
        if access is None:
            return True
        if access.stage >= len(self.codebook.stages):
            return False
        stage, position = self.codebook.stages[access.stage], state.last - access.start
        if not 0 <= position < len(stage.tables):
            return False
        seen, known = self._needed(stage, position)
        return (
            {when - access.start for when in access.releases} <= seen
            and {when - access.start for when in access.places} <= known
            and max([*access.releases.values(), *access.places.values()], default=0) < self.codebook.places
            and access.releases.get(state.last, state.release) == state.release
        )


def looked_back_at(codebook: Codebook, offsets: Callable[[Scenario], Offsets]) -> frozenset[int]:
    """Offsets from an access that any later access may look at, given the offsets that a stage looks at."""
    every, end = codebook.scenario.every, len(codebook.scenario.release)
    gap = {number: count for count, number in reversed(list(enumerate(codebook.gaps, start=2)))}
    return frozenset(
        back
        for number, stage in enumerate(codebook.stages)
        for offset in offsets(stage.scenario)
        for back in range(offset + gap.get(number, 1) * every, end, every)
    )


def kept(by_step: Mapping[int, int], start: int, offsets: set[int]) -> dict[int, int]:
    """Only the steps at these offsets from the start."""
    return {step: place for step, place in by_step.items() if step - start in offsets}
