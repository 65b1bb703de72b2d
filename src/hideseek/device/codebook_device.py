"""Devices: they answer once a step, and keep the state that this takes; here the one that has a codebook.

What is exposed is on disk before it is told, so that a crash leaves either nothing told or the same to tell again.
Errors, answers and representations never hold the true place; the state holds its number as long as a table needs it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from hideseek.codebook.codebook import Codebook
from hideseek.codebook.stage import Stage
from hideseek.codebook.weights import WORDS, Unsigned
from hideseek.errors import StateError, broken_rule
from hideseek.model.regions import Regions
from hideseek.model.scenario import Offsets, Scenario
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.private_files import half_written, is_current, locked, sync_folder, write_into
from hideseek.util.time_steps import checked_step

VERSION = 2
UNSEALED = 1  # the version before: the same without a checksum
LARGEST = 2**20  # bytes of a state
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Place = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Point = tuple[float, float]
Reason = Literal["", "clock", "not due", "gap", "history", "floor", "budget"]


@dataclass(frozen=True)
class Answer:
    """What the service may be told at a step: the centre and the number of the exposed place, or nothing.

    ``at`` is when the step begins. ``reason``, when nothing is told: ``"clock"`` (a later step was answered already),
    ``"not due"`` (no access at this step), ``"gap"`` (no table for so long a silence, see :meth:`Device.restart`),
    ``"history"`` (a table looks at a step that was not asked about), ``"floor"`` and ``"budget"`` (see
    :class:`hideseek.LiveDevice`). Reasons follow from times and answers alone.

    >>> Answer("withheld", "2026-01-05T08:00:00+00:00", reason="not due").place is None
    True
    """

    status: Literal["exposed", "withheld"]
    at: str
    latitude: float | None = None
    longitude: float | None = None
    place: int | None = None
    reason: Reason = ""


class _Head(msgspec.Struct):
    """What says whether the rest can be read."""

    hideseek_state: int
    sha256: str


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What every state begins with after its seal: its version, what it belongs to, and the last answered step."""

    hideseek_state: int
    sha256: str
    last: int

    @property
    def said(self) -> tuple[int | None, Reason]:
        """The release of the last step, or why there was none."""
        raise NotImplementedError


State = TypeVar("State", bound=Saved)


class StepDevice(Generic[State]):
    """What devices have in common: one answer a step, which is in the file ``state`` before it is told.

    A device adds its ``kind`` of state, when one is possible, and by which ``rule`` the next one follows. The state is
    for its owner only. Any number of devices in any number of processes may share it.
    """

    kind: type[State]
    rule: str

    def __init__(self, regions: Regions, step: str, sha256: str, state: str | os.PathLike[str]) -> None:
        self.regions, self.sha256 = regions, sha256
        self.step = checked_step(step, type(self).__name__)
        self.path = state_path(state, type(self).__name__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rule}={self.sha256[:12]}, state={self.path.name!r})"

    @property
    def _owner(self) -> str:
        return f"{type(self).__name__}.expose"

    def _possible(self, state: State) -> bool:
        """Whether a device like this can have come to a state."""
        raise NotImplementedError

    def _once(self, step: int, follow: Callable[[State | None], State | Reason]) -> Answer:
        """The answer of a step: the one it has, or that of the state which follows, or the reason why none does."""
        with self._locked() as (handle, state):
            if state is not None and step == state.last:
                sync_folder(self.path.parent)  # who wrote it may have died before the answer was safe
                return self._answer(step, *state.said)
            if state is not None and step < state.last:
                return self._answer(step, None, "clock")
            found = follow(state)
            if isinstance(found, str):
                return self._answer(step, None, found)
            self._write(handle, found)
            return self._answer(step, *found.said)

    def _step(self, at: datetime | str) -> int:
        rule = "a time with its offset from UTC, as a datetime or in ISO 8601"
        try:
            time = datetime.fromisoformat(at) if isinstance(at, str) else at
            if not isinstance(time, datetime) or time.utcoffset() is None:
                raise ValueError
        except ValueError:
            raise broken_rule("at", self._owner, rule, "something else, or a time without one") from None
        step = (time - EPOCH) // self.step
        if self._begin(step) is None:
            raise broken_rule("at", self._owner, rule, "one at the end of all times")
        return step

    def _begin(self, step: int) -> datetime | None:
        """When a step begins, if datetime reaches so far."""
        try:
            return EPOCH + step * self.step
        except OverflowError:
            return None

    def _place(self, latitude: float, longitude: float, parameter: str) -> int:
        """The number of the place that holds a point, or of the nearest; a wrong point is not repeated in the error."""
        for value, limit in ((latitude, 90), (longitude, 180)):
            is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if not is_number or not abs(value) <= limit:
                rule = "numbers of degrees from -90 to 90 and from -180 to 180"
                raise broken_rule(parameter, self._owner, rule, "something else")
        # the nearest is looked for on the map too, so that the time it takes tells nobody who is off it
        holding, nearest = (find(latitude, longitude)[0] for find in (self.regions.locate, self.regions.nearest))
        return int(holding if holding >= 0 else nearest)

    def _answer(self, step: int, release: int | None, reason: Reason = "") -> Answer:
        at = (EPOCH + step * self.step).isoformat()
        if release is None:
            return Answer("withheld", at, reason=reason)
        latitude, longitude = self.regions.centres[release].tolist()
        return Answer("exposed", at, latitude, longitude, release)

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, State | None]]:
        """Alone with the state, of which what is locked is given too; if the system refuses, nothing is exposed."""
        try:
            with locked(self._open) as handle:
                yield handle, self._read(handle)
        except OSError as error:
            raise self._unusable(f"cannot be read or written: {error.strerror or type(error).__name__}") from None

    def _open(self) -> int:
        """The state, or its folder before there is one: who deletes what is locked deletes the state as well."""
        try:
            # a link may lead to a file of somebody else's choice, and a pipe would keep us waiting
            return os.open(self.path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return self._open_folder()

    def _open_folder(self) -> int:
        try:
            return os.open(self.path.parent, os.O_RDONLY)
        except FileNotFoundError:
            raise self._unusable(f"has no folder: create {self.path.parent}, or give another path") from None

    def _unusable(self, why: str) -> StateError:
        return StateError(f"The state {self.path.name} {why}. Nothing is exposed.")

    def _read(self, handle: int) -> State | None:
        """The state, or None if this is its folder; refused unless such a device may have written it."""
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            return None
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
            raise self._unusable("is no file, or larger than any state")
        if about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise self._unusable("is open to others: it must be yours and have the mode 600")
        content = os.read(handle, about.st_size)
        bare = unsealed(content)
        try:
            head = msgspec.json.decode(content, type=_Head)
            if head.hideseek_state not in (UNSEALED, VERSION):
                raise self._unusable(f"has the version {head.hideseek_state}; this hideseek knows {VERSION}")
            if (bare is None) != (head.hideseek_state == UNSEALED):
                raise self._unusable("is damaged: its checksum is wrong")
            if head.sha256 != self.sha256:
                raise self._unusable(f"belongs to another {self.rule}; give each its own")
            state = msgspec.json.decode(content if bare is None else bare, type=self.kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._unusable("is damaged") from None
        if not self._possible(state):
            raise self._unusable("is damaged: it says what cannot be")
        return msgspec.structs.replace(state, hideseek_state=VERSION)

    def _write(self, handle: int, state: State) -> None:
        """Replace what is locked, and nothing else, by a state.

        If a copy took its place, another device may have locked the copy. But one folder is locked by one writer at a
        time: whoever comes second finds here that what it has read is in its place no longer.
        """
        is_first = stat.S_ISDIR(os.fstat(handle).st_mode)
        with nullcontext(handle) if is_first else locked(self._open_folder) as folder:
            if not is_current(handle, self._open):
                raise self._unusable("was moved or replaced meanwhile")
            for leftover in half_written(self.path):
                leftover.unlink(missing_ok=True)
            written = write_into(folder, self.path, sealed(msgspec.json.encode(state)))
            # the folder itself may have been moved since, and others answer in the one that is in its place
            if not os.path.samestat(written, self.path.lstat()):
                raise self._unusable("was moved or replaced meanwhile")


class _Access(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last access: its stage, the step it began at, and what later draws may look at, by step."""

    stage: Place
    start: int
    releases: dict[int, Place]
    places: dict[int, Place]

    def __repr__(self) -> str:
        return "_Access(...)"


class _State(Saved, frozen=True, forbid_unknown_fields=True):
    """The release of the last step, and the access it belongs to (none after a restart)."""

    release: Place
    access: _Access | None

    @property
    def said(self) -> tuple[int | None, Reason]:
        """Whoever has a codebook writes only what is released."""
        return self.release, ""


@checked
class Device(StepDevice[_State]):
    """Exposes places by a codebook, one a step, and remembers in the file ``state`` what it has exposed.

    The state is for its owner only. Any number of devices in any number of processes may share it.

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

    def expose(self, latitude: float, longitude: float, at: datetime | str, ahead: Sequence[Point] = ()) -> Answer:
        """What to tell the service about being here at this time; asked again in the same step, the same.

        ``at`` has an offset from UTC. ``ahead`` holds the points of the following steps, for codebooks of planned
        routes. Off the map the nearest place counts.
        """
        step = self._step(at)
        here = self._place(latitude, longitude, "latitude and longitude")
        return self._once(step, lambda state: self._next(state, step, here, ahead))

    def _next(self, state: _State | None, step: int, here: int, ahead: Sequence[Point]) -> _State | Reason:
        """The state after a step that is not yet answered, or why nothing is exposed."""
        due = self._due(state, step)
        if isinstance(due, str):
            return due
        number, start = due
        stage, position = self.codebook.stages[number], step - start
        access = None if state is None else state.access
        releases = {} if access is None else dict(access.releases)
        places = {} if access is None else dict(access.places)
        places[step] = here
        planned = max(0, max(stage.known_at(position)) - position)
        places.update(enumerate(self._route(ahead, planned), start=step + 1))
        seen = [releases.get(start + offset, -1) for offset in (*stage.scenario.seen, *range(position))]
        known = [places.get(start + offset, -1) for offset in stage.known_at(position)]
        release = None if -1 in seen or -1 in known else self.draw(number, position, seen, known)
        if release is None:
            return "history"
        releases[step] = release
        later_seen, later_known = self._needed(stage, position)
        access = _Access(number, start, kept(releases, start, later_seen), kept(places, start, later_known))
        return _State(VERSION, self.sha256, step, release, access)

    def draw(self, stage: int, position: int, seen: Sequence[int], known: Sequence[int]) -> int | None:
        """The release that 32 fresh random bits draw after these releases at these places; None where no row is."""
        stages, owner = self.codebook.stages, "Device.draw"
        tables = stages[whole_number(stage, "stage", owner, 0, len(stages) - 1)].tables
        table = tables[whole_number(position, "position", owner, 0, len(tables) - 1)]
        row = table.row(seen, known)
        if row < 0:
            return None
        return int(table.releases[table.ends.searchsorted(np.uint64(row * WORDS + random_word()), side="right")])

    def restart(self) -> None:
        """Forget the history, so that the next step may be exposed as the first ever; the way out after a gap.

        The answer of the last step stays: no step gets a second one. Whoever has seen what was exposed before may use
        it against what is exposed after; the codebook does not count that.
        """
        with self._locked() as (handle, state):
            if state is not None:
                self._write(handle, msgspec.structs.replace(state, access=None))

    def simulate(self, walks: npt.ArrayLike) -> IntArray:
        """What would be exposed along walks [walk, step] of region numbers, -1 where nothing; no state is touched."""
        rule = f"region numbers from 0 to {self.codebook.places - 1}, [walk, step]"
        try:
            array: npt.NDArray[Any] = np.asarray(walks)
        except ValueError:
            raise broken_rule("walks", "Device.simulate", rule, "walks of different lengths") from None
        if array.ndim != 2 or array.dtype.kind not in "iu":
            raise broken_rule("walks", "Device.simulate", rule, f"the shape {array.shape} of {array.dtype}")
        if (array < 0).any() or (array >= self.codebook.places).any():
            raise broken_rule("walks", "Device.simulate", rule, "a number that is none")
        return self.codebook.simulate(array.astype(np.int64), random_words)

    def _route(self, ahead: Sequence[Point], count: int) -> list[int]:
        """The places of the next so many steps."""
        rule = "points (latitude, longitude), one for each of the steps that follow"
        try:
            points = [(latitude, longitude) for latitude, longitude in ahead]
        except (TypeError, ValueError):
            raise broken_rule("ahead", self._owner, rule, "something else") from None
        if len(points) < count:
            way_out = f"The codebook was made for planned routes; it looks {count} ahead."
            raise broken_rule("ahead", self._owner, rule, f"{len(points)} of them", way_out)
        return [self._place(*point, "ahead") for point in points[:count]]

    def _due(self, state: _State | None, step: int) -> tuple[int, int] | Reason:
        """The stage of a step that is not yet answered and the start of its access, or why there is none."""
        if state is None or state.access is None:
            return 0, step
        elapsed = step - state.access.start
        if elapsed < len(self.codebook.scenario.release):
            return state.access.stage, state.access.start
        gap, between = divmod(elapsed, self.codebook.scenario.every)
        if between:
            return "not due"
        number = self.codebook.after(state.access.stage, gap)
        return "gap" if number is None else (number, step)

    def _needed(self, stage: Stage, position: int) -> tuple[set[int], set[int]]:
        """Offsets from an access of the releases and the true places that may count after its release ``position``."""
        seen, known = set(self._seen_later), set(self._known_later)
        for later in range(position + 1, len(stage.tables)):
            seen.update(stage.scenario.seen, range(later))
            known.update(stage.known_at(later))
        return {offset for offset in seen if offset <= position}, {offset for offset in known if offset <= position}

    def _possible(self, state: _State) -> bool:
        """Whether a device with this codebook can have come to a state."""
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


def sealed(content: bytes) -> bytes:
    """A JSON object with the checksum of its bytes as one entry more, the first.

    >>> sealed(b'{"last":1}')
    b'{"seal":"e64928...","last":1}'
    """
    return b'{"seal":"%s",' % hashlib.sha256(content).hexdigest().encode() + content[1:]


def unsealed(content: bytes) -> bytes | None:
    """What was sealed, if this is it to the last bit."""
    bare = b"{" + content[len(sealed(b"{")) :]
    return bare if sealed(bare) == content else None


def random_word() -> int:
    """32 random bits of the operating system."""
    return int.from_bytes(os.urandom(4))


def random_words(count: int) -> Unsigned:
    """So many times 32 random bits of the operating system."""
    return np.frombuffer(os.urandom(4 * count), np.uint32)


def state_path(state: str | os.PathLike[str], owner: str) -> Path:
    """The absolute path of a state, the same wherever the process goes."""
    try:
        path = os.fsdecode(state)
        if not path or b"\0" in os.fsencode(path):
            raise ValueError
    except (TypeError, ValueError):
        raise broken_rule("state", owner, "the path of a file", repr(state)) from None
    return Path(path).absolute()


def looked_back_at(codebook: Codebook, offsets: Callable[[Scenario], Offsets]) -> frozenset[int]:
    """Offsets from an access of what any later access may look at, given the offsets that a stage looks at."""
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
