"""A whole data set, one user at a time: the rows wait in a file without a name until their user's turn comes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from hideseek.errors import OutputError, TraceError
from hideseek.traces import TraceWarning, each_file, in_order, user_of

ROW = np.dtype([("tracked_at", "<i8"), ("latitude", "<f8"), ("longitude", "<f8")])  # microseconds, degrees


@dataclass
class Rows:
    """Where a user's rows stand in the file, (first byte, bytes) for each file that had some, and their digest."""

    blocks: list[tuple[int, int]] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)


@dataclass(frozen=True, eq=False)
class Spool:
    """All users of a data set: ``spool[user]`` is what :func:`read_traces` gives for that user alone.

    ``unusable`` says of others why they have no row at all.
    """

    file: IO[bytes]
    rows: dict[str, Rows]
    unusable: dict[str, str]

    @property
    def users(self) -> list[str]:
        """Who has rows, in order."""
        return sorted(self.rows)

    def digest(self, user: str) -> str:
        """What is the same as at another time if the user's rows are."""
        return self.rows[user].digest.hexdigest()

    def __getitem__(self, user: str) -> pd.DataFrame:
        """The fixes of a user, in order."""
        read = (os.pread(self.file.fileno(), size, start) for start, size in self.rows[user].blocks)
        packed = np.frombuffer(b"".join(read), ROW)
        columns = {
            "user_id": user,
            "tracked_at": pd.DatetimeIndex(packed["tracked_at"].astype("M8[us]")).tz_localize("UTC"),
            "latitude": packed["latitude"],
            "longitude": packed["longitude"],
        }
        return in_order(pd.DataFrame(columns))


@contextmanager
def spooled(path: str | os.PathLike[str], progress: Callable[[int], None] | None = None) -> Iterator[Spool]:
    """Go once through what :func:`read_traces` reads, with one of its files at most in memory.

    The temporary file has no name, so that nobody else finds it, and nothing is left of it even if this process is
    killed. ``progress`` is called with the number of files read. Rows that break a rule are counted in a
    :class:`hideseek.TraceWarning`, which shows none of them.

    >>> from hideseek.data import synthetic_city
    >>> synthetic_city(people=3, days=1).to_csv("city.csv", index=False)
    >>> with spooled("city.csv") as spool:
    ...     spool.users, spool["person-001"]["user_id"].nunique()
    (['person-000', 'person-001', 'person-002'], 1)
    """
    rows: dict[str, Rows] = {}
    refused: dict[str, str] = {}
    reasons: Counter[str] = Counter()
    passed_over, form = [], None
    with tempfile.TemporaryFile() as file:
        for number, found in enumerate(each_file(path), start=1):
            form = found.format
            if len(found.rows):
                with room():
                    append(found.rows, file, rows)
            elif not found.refused:
                reason = "the file has no rows" if found.trouble is None else str(found.trouble)
                passed_over.append((found.path, reason))
            refused |= found.refused
            reasons += found.reasons
            if progress is not None:
                progress(number)
        with room():
            file.flush()
        # the format that tells the user from the name may be known only after a file that gave none
        troubles = refused | {user_of(own, form): reason for own, reason in passed_over}
        unusable = {user: reason for user, reason in sorted(troubles.items()) if user not in rows}
        if not rows:
            why = next((f"{user}: {reason}" for user, reason in unusable.items()), "no rows")
            raise TraceError(f"Nothing to read in {Path(path).absolute()}: {why}.")
        if reasons:
            rules = ", ".join(f"{rule} ({count})" for rule, count in reasons.most_common())
            warnings.warn(f"{reasons.total()} rows could not be read: {rules}.", TraceWarning, stacklevel=3)
        yield Spool(file, rows, unusable)


@contextmanager
def room() -> Iterator[None]:
    """Tell where there is no room for the rows, which are not where the results go."""
    try:
        yield
    except OSError as error:
        where = f"The temporary folder {tempfile.gettempdir()} cannot hold the rows: {error.strerror}."
        raise OutputError(f"{where} Set TMPDIR to another.") from error


def append(found: pd.DataFrame, file: IO[bytes], rows: dict[str, Rows]) -> None:
    """Put the rows of one file of the data set behind those before it, every user's together."""
    user, names = pd.factorize(found["user_id"].to_numpy(dtype=object))
    order = np.argsort(user, kind="stable")
    packed = np.empty(len(found), ROW)
    packed["tracked_at"] = found["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")[order]
    for column in ("latitude", "longitude"):
        packed[column] = found[column].to_numpy()[order]
    start = file.tell()
    for name, own in zip(names, np.split(packed, np.cumsum(np.bincount(user))[:-1]), strict=True):
        block, known = own.tobytes(), rows.setdefault(name, Rows())
        file.write(block)
        known.blocks.append((start, len(block)))
        known.digest.update(block)
        start += len(block)
