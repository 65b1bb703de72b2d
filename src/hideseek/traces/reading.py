"""Reading traces: who was where and when, from the formats in which people publish them.

Files come from ``archives``, their text becomes columns in ``formats``, and columns become one table in ``table``,
which knows the rules of a row. Every row that breaks one is counted and reported: where it stands, and never what
stands there, which may be a true location.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import pandas as pd

from hideseek.errors import TraceError, UnusableFileError, broken_rule
from hideseek.errors import TraceWarning as TraceWarning
from hideseek.traces.archives import DAMAGE, HEAD, files_in, legible
from hideseek.traces.formats import FORMATS, READERS, not_recognised, recognise, text_of
from hideseek.traces.table import in_order, sift_blocks
from hideseek.traces.users import told_apart, user_of
from hideseek.util.boundary import checked


@dataclass(frozen=True)
class ReadReport:
    """What became of an input: ``read`` rows were good (``duplicates`` of them said twice), ``skipped`` were not.

    ``reasons`` counts the skipped rows by the rule they break, ``first_skipped`` says where the first of them stands
    and which rule that is, and ``skipped_files`` why whole files were passed over. Users were
    ``told_apart_by`` a column of the files, the file name, the folder or the path.
    """

    files: int
    read: int
    duplicates: int
    skipped: int
    first_skipped: str = ""
    reasons: dict[str, int] = field(default_factory=dict, hash=False)
    skipped_files: tuple[str, ...] = ()
    told_apart_by: str = ""


@dataclass(frozen=True, eq=False)
class FileRead:
    """What one file of a data set gave: its good ``rows``, or the ``trouble`` for which it was passed over.

    ``reasons`` counts the other rows by the rule they break, ``first_skipped`` says where the first of them stands and
    which rule that is, ``refused`` has a rule for every user with such a row. Its user is ``named`` by the
    path, unless the rows say who it is.
    """

    label: str
    path: PurePath
    format: str | None
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    reasons: Counter[str] = field(default_factory=Counter)
    first_skipped: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    named: bool = True
    trouble: UnusableFileError | None = None


@checked
def read_traces(path: str | os.PathLike[str], *, format: str | None = None) -> pd.DataFrame:  # noqa: A002
    """Read a file, a folder or a tar archive of traces into one table, sorted by user and time.

    The columns are user_id (text), tracked_at (UTC), latitude and longitude (degrees). The format, one of ``FORMATS``,
    is recognised by content unless it is named; a folder holds one format. Rows that break a rule are left out, counted
    in ``table.attrs["report"]`` (a :class:`ReadReport`) and announced by a :class:`TraceWarning`. Of several fixes of
    one user at one instant the first in the file stays. Routes in GPX files are plans, not fixes, and are not read.

    A user is who a column of a CSV file says, or else the name of the file, or of its folder where the same file name
    occurs in several folders; the report says what told the users apart.

    Parameters
    ----------
    path : path-like
        The file, folder or archive (plain or gzip).
    format : str, optional
        One of ``FORMATS``; by default recognised by content.

    Returns
    -------
    pandas.DataFrame
        Sorted by user and time; ``attrs["report"]`` is a :class:`ReadReport`.

    Raises
    ------
    TraceError
        Where there is nothing to read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cab = pathlib.Path(folder, "new_abboip.txt")
    ...     _ = cab.write_text("37.75134 -122.39488 0 1213084687\\n37.75136 -122.39527 0 1213084659\\n")
    ...     traces = read_traces(cab)
    >>> traces["tracked_at"].dt.second.tolist(), traces["user_id"].unique().tolist()
    ([39, 7], ['abboip'])
    >>> traces.attrs["report"].read
    2
    """
    parts: list[FileRead] = []
    named: list[tuple[PurePath, bool]] = []
    reasons: Counter[str] = Counter()
    first, skipped_files = "", []
    for file in each_file(path, format):
        if file.trouble is None:
            parts.append(file)
            reasons += file.reasons
            first = first or file.first_skipped
        else:
            skipped_files.append(f"{file.label}: {file.trouble}")
        if file.named:
            named.append((file.path, file.trouble is None))
        format = file.format  # noqa: A001
    read, skipped = sum(len(part.rows) for part in parts), reasons.total()
    if not read:
        raise TraceError(
            f"Nothing to read in {Path(path).absolute()}: {first or next(iter(skipped_files), 'no rows')}."
        )
    filled = [part for part in parts if len(part.rows)]
    taken = {str(user) for part in filled if not part.named for user in part.rows["user_id"].unique()}
    users, way = told_apart(named, format, taken)
    ways = sorted({way if part.named else "column" for part in filled})
    tables = [part.rows.assign(user_id=users[part.path]) if part.named else part.rows for part in filled]
    table = in_order(pd.concat(tables, ignore_index=True))
    table.attrs["report"] = ReadReport(
        files=len(parts),
        read=read,
        duplicates=read - len(table),
        skipped=skipped,
        first_skipped=first,
        reasons=dict(reasons),
        skipped_files=tuple(skipped_files),
        told_apart_by=" and ".join(ways),
    )
    troubles = [f"{skipped} of {read + skipped} rows could not be read, the first: {first}"] if skipped else []
    if skipped_files:
        troubles.append(f"{len(skipped_files)} files were passed over, the first: {skipped_files[0]}")
    if troubles:
        warnings.warn("; ".join(troubles) + ".", TraceWarning, stacklevel=3)
    return table


def each_file(path: str | os.PathLike[str], format: str | None = None) -> Iterator[FileRead]:  # noqa: A002
    """Go through a data set once, one file at a time, as :func:`read_traces` does, which puts the rows together."""
    if format is not None and format not in FORMATS:
        raise broken_rule("format", "read_traces", f"one of {', '.join(FORMATS)}, or None", repr(format))
    try:
        root = Path(path).absolute()
    except TypeError:
        raise broken_rule("path", "read_traces", "the path of a file or folder", repr(path)) from None
    try:
        for label, source, stream in files_in(root):
            label, file = legible(label), PurePath(legible(str(source)))
            try:
                if isinstance(stream, UnusableFileError):
                    raise stream
                head = stream.read(HEAD)
                found = format if format and source == root else recognise(head)
                format = format or found  # noqa: A001
                if found is None or found != format:
                    raise not_recognised(head, found, format)
                sifted = sift_blocks(READERS[found](text_of(head + stream.read())), label, user_of(file, found))
            except UnusableFileError as trouble:
                yield FileRead(label, file, format, trouble=trouble)
            else:
                yield FileRead(label, file, format, *sifted)
    except DAMAGE as error:
        raise TraceError(f"{root} cannot be read: {error}") from error
