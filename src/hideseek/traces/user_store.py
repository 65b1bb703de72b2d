"""A whole data set, one user at a time: the rows wait in a file without a name until their user's turn comes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import IO

import numpy as np
import numpy.typing as npt
import pandas as pd

from hideseek.errors import OutputError, TraceWarning, UnusableFileError
from hideseek.traces.reading import (
    OpenFile,
    Options,
    ReadReport,
    checked_options,
    no_file,
    nothing_in,
    offset_of,
    open_files,
    users_of,
)
from hideseek.traces.sources import Source, source_of
from hideseek.traces.table import FINISHED, SWAPPED, Tally, in_order, joined
from hideseek.traces.timezones import contradicting
from hideseek.traces.users import Named
from hideseek.util.progress import Advance

# microseconds and degrees; a fix ends when it begins
ROW = np.dtype([("tracked_at", "<i8"), ("finished_at", "<i8"), ("latitude", "<f8"), ("longitude", "<f8")])
TOGETHER = 1 << 18  # rows of a file that are put in order of their users at once: a block each for many users is slow


NO_ROWS = "the file has no rows"


Key = str | PurePath  # a user, or a file whose user its path will tell
Block = tuple[int, int, bytes]  # where rows of one user from one file stand: the first byte, bytes, their digest


@dataclass(frozen=True, eq=False)
class Spool:
    """All users of a data set: ``spool[user]`` is what :func:`read_traces` gives for that user alone.

    ``unusable`` says of others why they have no row at all, ``told_apart_by`` and ``notes`` are those of
    :class:`hideseek.traces.ReadReport`.
    """

    file: IO[bytes]
    rows: dict[str, list[Block]]
    unusable: dict[str, str]
    told_apart_by: str
    notes: tuple[str, ...]

    @property
    def users(self) -> list[str]:
        """Who has rows, in order."""
        return sorted(self.rows)

    def digest(self, user: str) -> str:
        """What is the same as at another time if the user's rows are."""
        return hashlib.sha256(b"".join(digest for _, _, digest in self.rows[user])).hexdigest()

    def __getitem__(self, user: str) -> pd.DataFrame:
        """The fixes of a user, in order."""
        packed = unpacked(self.file, self.rows[user])
        columns = {
            "user_id": user,
            "tracked_at": utc(packed["tracked_at"]),
            "latitude": packed["latitude"],
            "longitude": packed["longitude"],
            FINISHED: utc(packed[FINISHED]),
        }
        return in_order(pd.DataFrame(columns))


def unpacked(file: IO[bytes], blocks: Sequence[Block]) -> npt.NDArray[np.void]:
    """The rows of some blocks."""
    return np.frombuffer(b"".join(os.pread(file.fileno(), size, start) for start, size, _ in blocks), ROW)


def utc(microseconds: npt.NDArray[np.int64]) -> pd.DatetimeIndex:
    """Times from what was packed."""
    return pd.DatetimeIndex(microseconds.astype("M8[us]")).tz_localize("UTC")


@contextmanager
def spooled(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    accuracy: str | float | None = "200m",
    one_person: bool = False,
    progress: Advance | None = None,
) -> Iterator[Spool]:
    """Go once through what :func:`read_traces` reads, with a part of one of its files at most in memory.

    The temporary file has no name, so that nobody else finds it, and nothing is left of it even if this process is
    killed. ``progress`` is called after every file; how many there are is not known before the last. Rows that break a
    rule are counted in a :class:`hideseek.traces.TraceWarning`, which shows none of them.

    >>> from hideseek.traces.city import synthetic_city
    >>> synthetic_city(people=3, days=1).to_csv("city.csv", index=False)
    >>> with spooled("city.csv") as spool:
    ...     spool.users, spool["person-001"]["user_id"].nunique()
    (['person-000', 'person-001', 'person-002'], 1)
    """
    options = checked_options(format, columns, accuracy, one_person, "fleet")
    source = source_of(path, "fleet")
    blocks: dict[Key, list[Block]] = {}
    troubles: dict[Key, str] = {}
    named: list[Named] = []
    total = Tally()
    with tempfile.TemporaryFile() as file:
        for number, found in enumerate(open_files(source, options), start=1):
            begin, trouble = file.tell(), ""
            try:
                own, tally = stored(found, file)
            except UnusableFileError as error:
                with room():
                    file.seek(begin)
                    file.truncate()
                own, tally, trouble = {}, Tally(), str(error)
            if tally.named:
                named.append(Named(found.path, not trouble, found.format, tally.span))
            for key, stretches in own.items():
                blocks.setdefault(key, []).extend(stretches)
            if not own and not tally.refused:
                troubles[found.path] = trouble or NO_ROWS
            troubles |= {found.path if tally.named else user: reason for user, reason in tally.refused.items()}
            total += tally
            if progress is not None:
                progress("reading", number, 0)
        with room():
            file.flush()
        yield spool_of(file, blocks, troubles, named, total, source, options)


def spool_of(
    file: IO[bytes],
    blocks: dict[Key, list[Block]],
    troubles: dict[Key, str],
    named: list[Named],
    total: Tally,
    source: Source,
    options: Options,
) -> Spool:
    """All users, once the last file is read: only then the names that tell them are known."""
    users, way = users_of(named, {key for key in blocks if isinstance(key, str)}, source, options)
    rows: dict[str, list[Block]] = {}
    for key, own in blocks.items():
        rows.setdefault(users[key] if isinstance(key, PurePath) else key, []).extend(own)
    for own in rows.values():
        own.sort()  # as they were read
    why_not = {users[key] if isinstance(key, PurePath) else key: reason for key, reason in troubles.items()}
    unusable = {user: reason for user, reason in sorted(why_not.items()) if user not in rows}
    if not rows:
        whose = (f"{user}: {reason}" for user, reason in unusable.items())
        raise nothing_in(source, Tally(), next(whose, no_file(options)))
    if total.reasons:
        rules = ", ".join(f"{rule} ({count})" for rule, count in total.reasons.most_common())
        said = f"{total.skipped} rows could not be read: {rules}{f'; {SWAPPED}' * total.looks_swapped}."
        warnings.warn(said, TraceWarning, stacklevel=5)
    ways = sorted({way if isinstance(key, PurePath) else "column" for key in blocks})
    return Spool(file, rows, unusable, " and ".join(ways), notes_of(file, rows, total))


def notes_of(file: IO[bytes], rows: Mapping[str, Sequence[Block]], total: Tally) -> tuple[str, ...]:
    """What :func:`read_traces` notes of the same data."""
    offset, kept, wrong = offset_of(total), 0, 0
    for blocks in rows.values():
        packed = unpacked(file, blocks)
        first = np.unique(packed["tracked_at"], return_index=True)[1]
        kept += len(first)
        if offset is not None:
            wrong += int(contradicting(packed["latitude"][first], packed["longitude"][first], offset).sum())
    return ReadReport(
        files=0,
        read=total.read,
        duplicates=total.read - kept,
        skipped=total.skipped,
        inaccurate=total.inaccurate,
        without_offset=total.without_offset,
        swapped=2 * wrong > kept,
        decimal_commas=total.decimal_commas,
    ).notes


@contextmanager
def room() -> Iterator[None]:
    """Name the temporary folder where it has no room for the rows: the results go elsewhere."""
    try:
        yield
    except OSError as error:
        where = f"The temporary folder {tempfile.gettempdir()} cannot hold the rows: {error.strerror}."
        raise OutputError(f"{where} Set TMPDIR to another.") from error


def stored(found: OpenFile, file: IO[bytes]) -> tuple[dict[Key, list[Block]], Tally]:
    """Put the rows of one file of the data set behind those before it, and count them."""
    blocks: dict[Key, list[Block]] = {}
    waiting, tally = list[pd.DataFrame](), Tally()

    def put_down() -> None:
        """Write what waits."""
        if waiting:
            with room():
                append(joined(waiting), found.path if tally.named else None, file, blocks)
            waiting.clear()

    for rows, counted in found.blocks:
        tally += counted
        waiting += [rows] * (len(rows) > 0)
        if sum(map(len, waiting)) >= TOGETHER:
            put_down()
    put_down()
    return blocks, tally


def append(rows: pd.DataFrame, path: PurePath | None, file: IO[bytes], blocks: dict[Key, list[Block]]) -> None:
    """Put rows behind those before them, every user's together; where the path will tell the user, they are one's."""
    user, names = pd.factorize(rows["user_id"].to_numpy(dtype=object))
    order = np.argsort(user, kind="stable")
    packed = np.empty(len(order), ROW)
    for column, source in (("tracked_at", "tracked_at"), (FINISHED, FINISHED if FINISHED in rows else "tracked_at")):
        packed[column] = rows[source].dt.tz_localize(None).to_numpy().astype("int64")[order]
    for column in ("latitude", "longitude"):
        packed[column] = rows[column].to_numpy()[order]
    start = file.tell()
    for name, own in zip(names, np.split(packed, np.cumsum(np.bincount(user))[:-1]), strict=True):
        block = own.tobytes()
        file.write(block)
        blocks.setdefault(path or name, []).append((start, len(block), hashlib.sha256(block).digest()))
        start += len(block)
