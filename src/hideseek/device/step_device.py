"""What all devices share: one answer per step, persisted in a sealed state file before it is released.

A crash leaves either nothing released or the same answer to release again. Errors, answers and representations never
hold the true place; the state holds its number as long as a table needs it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
import numpy as np

from hideseek.codebook.weights import Unsigned
from hideseek.errors import StateError, broken_rule
from hideseek.model.regions import Regions, in_space, reach
from hideseek.util.display import html_table
from hideseek.util.private_files import half_written, is_current, locked, sync_folder, write_into
from hideseek.util.time_steps import checked_step

VERSION = 2
UNSEALED = 1  # the version before: the same without a checksum
LARGEST = 2**20  # bytes of a state
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Place = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
Reason = Literal["", "clock", "not due", "floor", "budget", "off the map"]


@dataclass(frozen=True)
class Answer:
    """What the service may be told at a step: the centre and the number of the exposed place, or nothing.

    ``at`` is the beginning of the step. Where nothing is told, ``reason`` says why: ``"clock"`` (a later step was
    answered already), ``"not due"`` (no access at this step), ``"floor"`` and ``"budget"`` (see
    :class:`hideseek.LiveDevice`). These follow from times and earlier answers alone. ``"off the map"`` does not: it
    says that the user is far from every place, further than twice the size of the largest one. Nothing is stored then,
    and the next step is answered as after a missed access.

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
    """The part of a state that says whether the rest can be read."""

    hideseek_state: int
    sha256: str


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that every state begins with after its seal: version, checksum of its rule, last answered step."""

    hideseek_state: int
    sha256: str
    last: int

    @property
    def said(self) -> tuple[int | None, Reason]:
        """The release of the last step, or why there was none."""
        raise NotImplementedError


State = TypeVar("State", bound=Saved)


class StepDevice(Generic[State]):
    """A device that answers once per step; the answer is in the file ``state`` before it is released.

    A subclass adds its ``kind`` of state, whether a state is possible, and by which ``rule`` the next one follows: a
    codebook or a plan. The file is for its owner only. Any number of devices in any number of processes may share it.

    Off the map the nearest place counts. Far off it nothing is exposed and nothing is written, but for what would be
    withheld anywhere: who sees the silence learns no more than that the user is far from every place.
    """

    kind: type[State]
    rule: str

    def __init__(self, regions: Regions, step: str, sha256: str, state: str | os.PathLike[str]) -> None:
        self.regions, self.sha256 = regions, sha256
        self.step = checked_step(step, type(self).__name__)
        self.path, self._largest = state_path(state, type(self).__name__), LARGEST

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rule}={self.sha256[:12]}, state={self.path.name!r})"

    def _repr_html_(self) -> str:
        facts = {self.rule: self.sha256[:12], "state": self.path.name, "step": self.step, "places": len(self.regions)}
        return html_table(type(self).__name__, facts)

    @property
    def _owner(self) -> str:
        return f"{type(self).__name__}.expose"

    def _possible(self, state: State) -> bool:
        """Whether a device like this one can have written a state."""
        raise NotImplementedError

    def _ask(
        self,
        latitude: float,
        longitude: float,
        at: datetime | str,
        follow: Callable[[State | None, int, int], State | Reason],
    ) -> Answer:
        """The answer at a point and a time: the stored one, or that of the state that follows, or why none does.

        ``follow`` gives the state after a state, at a step that is not yet answered, at the place with this number.
        """
        step = self._step(at)
        here, is_far = self._place(latitude, longitude, "latitude and longitude")
        with self._locked() as (handle, state):
            if state is not None and step == state.last:
                sync_folder(self.path.parent)  # its writer may have died before the answer was safe
                return self._answer(step, *state.said)
            if state is not None and step < state.last:
                return self._answer(step, None, "clock")
            found = follow(state, step, here)
            if isinstance(found, str):
                return self._answer(step, None, found)
            if is_far and found.said[0] is not None:
                return self._answer(step, None, "off the map")
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
            raise broken_rule("at", self._owner, rule, "a time beyond those that datetime knows")
        return step

    def _begin(self, step: int) -> datetime | None:
        """The beginning of a step, or None where datetime does not reach so far."""
        try:
            return EPOCH + step * self.step
        except OverflowError:
            return None

    @cached_property
    def _reach(self) -> float:
        return reach(self.regions)

    def _place(self, latitude: float, longitude: float, parameter: str) -> tuple[int, bool]:
        """The place that holds a point, or the nearest one, and if it is far off; an error never repeats the point."""
        for value, limit in ((latitude, 90), (longitude, 180)):
            is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
            if not is_number or not abs(value) <= limit:
                rule = "numbers of degrees from -90 to 90 and from -180 to 180"
                raise broken_rule(parameter, self._owner, rule, "something else")
        # both are looked up for every point, so that the time it takes does not reveal who is off the map
        holding, nearest = (find(latitude, longitude)[0] for find in (self.regions.locate, self.regions.nearest))
        points = np.array([(latitude, longitude), self.regions.centres[nearest]], dtype=np.float64)
        here, centre = in_space(*points.T).T
        return int(holding if holding >= 0 else nearest), bool(np.linalg.norm(here - centre) > self._reach)

    def _answer(self, step: int, release: int | None, reason: Reason = "") -> Answer:
        at = (EPOCH + step * self.step).isoformat()
        if release is None:
            return Answer("withheld", at, reason=reason)
        latitude, longitude = self.regions.centres[release].tolist()
        return Answer("exposed", at, latitude, longitude, release)

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, State | None]]:
        """Hold the lock of the state: its handle, and what it holds. If the system refuses, nothing is exposed."""
        try:
            with locked(self._open) as handle:
                yield handle, self._read(handle)
        except OSError as error:
            raise self._unusable(f"cannot be read or written: {error.strerror or type(error).__name__}") from None

    def _open(self) -> int:
        """Open the state, or its folder before there is one: deleting what is locked deletes the state as well."""
        try:
            # a link may lead to any file, and a pipe would block
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
        """Read the state, or None if this is its folder; refuse what such a device cannot have written."""
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            return None
        if not stat.S_ISREG(about.st_mode) or about.st_size > self._largest:
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
                raise self._unusable(f"belongs to another {self.rule}; give each its own, or delete an old one's")
            state = msgspec.json.decode(content if bare is None else bare, type=self.kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._unusable("is damaged") from None
        if not self._possible(state):
            raise self._unusable("is damaged: its fields contradict each other")
        return msgspec.structs.replace(state, hideseek_state=VERSION)

    def _write(self, handle: int, state: State) -> None:
        """Replace the locked file, and nothing else, by a state.

        If a copy took its place, another device may have locked the copy. But one folder is locked by one writer at a
        time: the second writer finds here that the file it has read is no longer in its place.
        """
        is_first = stat.S_ISDIR(os.fstat(handle).st_mode)
        with nullcontext(handle) if is_first else locked(self._open_folder) as folder:
            if not is_current(handle, self._open):
                raise self._unusable("was moved or replaced meanwhile")
            for leftover in half_written(self.path):
                leftover.unlink(missing_ok=True)
            written = write_into(folder, self.path, sealed(msgspec.json.encode(state)))
            # the folder itself may have been moved since, and other devices answer in the one at its path
            if not os.path.samestat(written, self.path.lstat()):
                raise self._unusable("was moved or replaced meanwhile")


def sealed(content: bytes) -> bytes:
    """Put the checksum of a JSON object's bytes in front, as its first entry.

    >>> sealed(b'{"last":1}')
    b'{"seal":"e64928...","last":1}'
    """
    return b'{"seal":"%s",' % hashlib.sha256(content).hexdigest().encode() + content[1:]


def unsealed(content: bytes) -> bytes | None:
    """The object that was sealed, or None unless it is unchanged to the last bit."""
    bare = b"{" + content[len(sealed(b"{")) :]
    return bare if sealed(bare) == content else None


def random_word() -> int:
    """32 random bits of the operating system."""
    return int.from_bytes(os.urandom(4))


def random_words(count: int) -> Unsigned:
    """Words of 32 random bits of the operating system."""
    return np.frombuffer(os.urandom(4 * count), np.uint32)


def state_path(state: str | os.PathLike[str], owner: str) -> Path:
    """The absolute path of a state, the same wherever the process changes to."""
    try:
        path = os.fsdecode(state)
        if not path or b"\0" in os.fsencode(path):
            raise ValueError
    except (TypeError, ValueError):
        raise broken_rule("state", owner, "the path of a file", repr(state)) from None
    return Path(path).absolute()
