"""A whole data set, one user at a time: the rows wait in a file without a name until their user's turn comes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO

import numpy as np
import pandas as pd

from hideseek.errors import OutputError, TraceError, TraceWarning
from hideseek.traces.reading import FileRead, each_file
from hideseek.traces.table import in_order
from hideseek.traces.users import told_apart
from hideseek.util.progress import Advance

ROW = np.dtype([("tracked_at", "<i8"), ("latitude", "<f8"), ("longitude", "<f8")])  # microseconds, degrees


Key = str | PurePath  # a user, or a file whose user its path will tell
Block = tuple[int, int, bytes]  # where rows of one user from one file stand: the first byte, bytes, their digest


@dataclass(frozen=True, eq=False)
class Spool:
    """All users of a data set: ``spool[user]`` is what :func:`read_traces` gives for that user alone.

    ``unusable`` says of others why they have no row at all, ``told_apart_by`` is that of
    :class:`hideseek.traces.ReadReport`.
    """

    file: IO[bytes]
    rows: dict[str, list[Block]]
    unusable: dict[str, str]
    told_apart_by: str

    @property
    def users(self) -> list[str]:
        """Who has rows, in order."""
        return sorted(self.rows)

    def digest(self, user: str) -> str:
        """What is the same as at another time if the user's rows are."""
        return hashlib.sha256(b"".join(digest for _, _, digest in self.rows[user])).hexdigest()

    def __getitem__(self, user: str) -> pd.DataFrame:
        """The fixes of a user, in order."""
        read = (os.pread(self.file.fileno(), size, start) for start, size, _ in self.rows[user])
        packed = np.frombuffer(b"".join(read), ROW)
        columns = {
            "user_id": user,
            "tracked_at": pd.DatetimeIndex(packed["tracked_at"].astype("M8[us]")).tz_localize("UTC"),
            "latitude": packed["latitude"],
            "longitude": packed["longitude"],
        }
        return in_order(pd.DataFrame(columns))


@contextmanager
def spooled(path: str | os.PathLike[str], *, progress: Advance | None = None) -> Iterator[Spool]:
    """Go once through what :func:`read_traces` reads, with one of its files at most in memory.

    The temporary file has no name, so that nobody else finds it, and nothing is left of it even if this process is
    killed. ``progress`` is called after every file; how many there are is not known before the last. Rows that break a
    rule are counted in a :class:`hideseek.traces.TraceWarning`, which shows none of them.

    >>> from hideseek.traces.city import synthetic_city
    >>> synthetic_city(people=3, days=1).to_csv("city.csv", index=False)
    >>> with spooled("city.csv") as spool:
    ...     spool.users, spool["person-001"]["user_id"].nunique()
    (['person-000', 'person-001', 'person-002'], 1)
    """
    blocks: dict[Key, list[Block]] = {}
    troubles: dict[Key, str] = {}
    named: list[tuple[PurePath, bool]] = []
    reasons: Counter[str] = Counter()
    form = None
    with tempfile.TemporaryFile() as file:
        for number, found in enumerate(each_file(path), start=1):
            form = found.format
            if found.named:
                named.append((found.path, found.trouble is None))
            if len(found.rows):
                with room():
                    append(found, file, blocks)
            elif not found.refused:
                troubles[found.path] = "the file has no rows" if found.trouble is None else str(found.trouble)
            troubles |= {found.path if found.named else user: reason for user, reason in found.refused.items()}
            reasons += found.reasons
            if progress is not None:
                progress("reading", number, 0)
        with room():
            file.flush()
        # the format and the names that tell the users are known after the last file only
        users, way = told_apart(named, form, {key for key in blocks if isinstance(key, str)})
        rows: dict[str, list[Block]] = {}
        for key, own in blocks.items():
            rows.setdefault(users[key] if isinstance(key, PurePath) else key, []).extend(own)
        for own in rows.values():
            own.sort()  # as they were read
        why_not = {users[key] if isinstance(key, PurePath) else key: reason for key, reason in troubles.items()}
        unusable = {user: reason for user, reason in sorted(why_not.items()) if user not in rows}
        if not rows:
            why = next((f"{user}: {reason}" for user, reason in unusable.items()), "no rows")
            raise TraceError(f"Nothing to read in {Path(path).absolute()}: {why}.")
        if reasons:
            rules = ", ".join(f"{rule} ({count})" for rule, count in reasons.most_common())
            warnings.warn(f"{reasons.total()} rows could not be read: {rules}.", TraceWarning, stacklevel=3)
        ways = sorted({way if isinstance(key, PurePath) else "column" for key in blocks})
        yield Spool(file, rows, unusable, " and ".join(ways))


@contextmanager
def room() -> Iterator[None]:
    """Name the temporary folder where it has no room for the rows: the results go elsewhere."""
    try:
        yield
    except OSError as error:
        where = f"The temporary folder {tempfile.gettempdir()} cannot hold the rows: {error.strerror}."
        raise OutputError(f"{where} Set TMPDIR to another.") from error


def append(found: FileRead, file: IO[bytes], blocks: dict[Key, list[Block]]) -> None:
    """Put the rows of one file of the data set behind those before it, every user's together."""
    user, names = pd.factorize(found.rows["user_id"].to_numpy(dtype=object))
    order = np.argsort(user, kind="stable")
    packed = np.empty(len(order), ROW)
    packed["tracked_at"] = found.rows["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")[order]
    for column in ("latitude", "longitude"):
        packed[column] = found.rows[column].to_numpy()[order]
    start = file.tell()
    for name, own in zip(names, np.split(packed, np.cumsum(np.bincount(user))[:-1]), strict=True):
        block = own.tobytes()
        file.write(block)
        key = found.path if found.named else name
        blocks.setdefault(key, []).append((start, len(block), hashlib.sha256(block).digest()))
        start += len(block)
