"""Reading traces: who was where and when, from the formats in which people publish them.

Files come from ``archives``, their text becomes columns in ``formats``, and columns become one table in ``table``,
which knows the rules of a row. Every row that breaks one is counted and reported: where it stands, and never what
stands there, which may be a true location.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
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

    Rows that break a rule are left out, counted in a report and announced by a :class:`TraceWarning`. Of several fixes
    of one user at one instant the first in the file stays. Routes in GPX files are plans, not fixes, and are not read.
    A user has the name in a column of the file, or else that of the file, or of its folder where the same file name
    occurs in several folders.

    Parameters
    ----------
    path : path-like
        The file, folder or archive (plain or gzip); a folder or archive holds one format.
    format : str, optional
        One of ``FORMATS``; by default recognised by content.

    Returns
    -------
    pandas.DataFrame
        user_id (text), tracked_at (UTC), latitude, longitude (degrees); ``attrs["report"]``, a :class:`ReadReport`.

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
    """
    files = list(each_file(path, format))
    good = [file for file in files if file.trouble is None]
    passed_over = tuple(f"{file.label}: {file.trouble}" for file in files if file.trouble is not None)
    reasons = sum((file.reasons for file in good), Counter[str]())
    first = next((file.first_skipped for file in good if file.first_skipped), "")
    read, skipped = sum(len(file.rows) for file in good), reasons.total()
    if not read:
        raise TraceError(f"Nothing to read in {Path(path).absolute()}: {first or next(iter(passed_over), 'no rows')}.")
    table, way = one_table(files)
    table.attrs["report"] = ReadReport(
        files=len(good),
        read=read,
        duplicates=read - len(table),
        skipped=skipped,
        first_skipped=first,
        reasons=dict(reasons),
        skipped_files=passed_over,
        told_apart_by=way,
    )
    troubles = [f"{skipped} of {read + skipped} rows could not be read, the first: {first}"] if skipped else []
    troubles += [f"{len(passed_over)} files were passed over, the first: {passed_over[0]}"] if passed_over else []
    if troubles:
        warnings.warn("; ".join(troubles) + ".", TraceWarning, stacklevel=3)
    return table


def one_table(files: Sequence[FileRead]) -> tuple[pd.DataFrame, str]:
    """The rows of all files together, and what told their users apart."""
    filled = [file for file in files if len(file.rows)]
    taken = {str(user) for file in filled if not file.named for user in file.rows["user_id"].unique()}
    named = [(file.path, file.trouble is None) for file in files if file.named]
    users, way = told_apart(named, files[-1].format, taken)
    ways = sorted({way if file.named else "column" for file in filled})
    tables = [file.rows.assign(user_id=users[file.path]) if file.named else file.rows for file in filled]
    return in_order(pd.concat(tables, ignore_index=True)), " and ".join(ways)


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
