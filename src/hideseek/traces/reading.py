"""Reading traces: who was where and when, from the formats in which people have them.

Files come from ``sources``, their bytes become columns in ``formats``, and columns become one table in ``table``,
which knows the rules of a row. Every row that breaks one is counted and reported: where it stands, and never what
stands there, which may be a true location.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import IO

import pandas as pd

from hideseek.errors import TraceError, UnusableFileError, broken_rule
from hideseek.errors import TraceWarning as TraceWarning
from hideseek.traces.archives import DAMAGE, HEAD, forward, legible, without_gz
from hideseek.traces.formats import FORMATS, KNOWN, not_recognised, recognise
from hideseek.traces.sources import Found, Source, files_in, source_of
from hideseek.traces.table import SWAPPED, Names, Tally, checked_columns, in_order, joined, sift_blocks
from hideseek.traces.timezones import look_swapped
from hideseek.traces.users import Named, told_apart, user_of
from hideseek.util.boundary import checked
from hideseek.util.lengths import metres
from hideseek.util.limits import refuse_if_too_large

ROW = 64  # bytes of memory for a row of the table, while it is put together


@dataclass(frozen=True)
class ReadReport:
    """What became of an input: ``read`` rows were good (``duplicates`` of them said twice), ``skipped`` were not.

    ``reasons`` counts the skipped rows by the rule they break, ``first_skipped`` says where the first of them stands
    and which rule that is, and ``skipped_files`` why whole files were passed over. ``formats`` counts the files by
    format. Users were ``told_apart_by`` a column of the files, the file name, the folder or the path.
    ``inaccurate`` fixes were left out, ``without_offset`` times were read as UTC, and ``utc_offset`` is the most
    frequent offset of the others in minutes, None where it is not known. Degrees that look ``swapped`` by it are kept.
    Commas in the numbers of ``decimal_commas`` rows were read as decimal points.
    """

    files: int
    read: int
    duplicates: int
    skipped: int
    first_skipped: str = ""
    reasons: dict[str, int] = field(default_factory=dict, hash=False)
    skipped_files: tuple[str, ...] = ()
    told_apart_by: str = ""
    formats: dict[str, int] = field(default_factory=dict, hash=False)
    inaccurate: int = 0
    without_offset: int = 0
    utc_offset: int | None = None
    swapped: bool = False
    decimal_commas: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the results should know, though nothing is wrong with the input."""
        notes = {
            f"fixes left out as too inaccurate: {self.inaccurate}": self.inaccurate,
            f"fixes left out, as another of the same person at the same instant was kept: {self.duplicates}": (
                self.duplicates
            ),
            f"times without an offset, read as UTC: {self.without_offset}": self.without_offset,
            f"fixes whose numbers have a decimal comma: {self.decimal_commas}": self.decimal_commas,
            f"{SWAPPED}: the longitude is hours away from the offset of the times": self.swapped,
        }
        return tuple(note for note, count in notes.items() if count)


@dataclass(frozen=True)
class Options:
    """How to read: a format or any, which column is which, the worst accuracy in metres, and whether it is one person.

    The person is called by the name of the input.
    """

    format: str | None = None
    columns: Names | None = None
    accuracy: float | None = None
    one_person: bool = False


@dataclass(frozen=True, eq=False)
class OpenFile:
    """A file of a data set while it is read: ``blocks`` of good rows with what was counted in them.

    They end in an :class:`UnusableFileError` where the file is to be passed over, with the blocks before it.
    """

    label: str
    path: PurePath
    format: str | None
    blocks: Iterator[tuple[pd.DataFrame, Tally]]


@dataclass(frozen=True, eq=False)
class FileRead:
    """What one file of a data set gave: its good ``rows``, or the ``trouble`` for which it was passed over."""

    label: str
    path: PurePath
    format: str | None
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    tally: Tally = field(default_factory=Tally)
    trouble: UnusableFileError | None = None


@checked
def read_traces(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    accuracy: str | float | None = "200m",
    one_person: bool = False,
) -> pd.DataFrame:
    """Read a file, a folder or an archive of traces into one table, sorted by user and time.

    Rows that break a rule are left out, counted in a report and announced by a :class:`TraceWarning`. Of several fixes
    of one user at one instant the first in the file stays. Routes are plans, not fixes, and are not read. A user has
    the name in a column of the file, or else that of the file, or of its folder where file names repeat or say when.

    Parameters
    ----------
    path : path-like
        The file, folder or archive (tar, zip, gzip), or an address that fsspec knows, such as ``s3://bucket/folder``.
    format : str, optional
        One of ``FORMATS``, and no file of another; by default all, each file recognised by its content.
    columns : mapping, optional
        Which column of a table is which, where the names are not known: from ``time``, ``latitude``, ``longitude``,
        ``user``, ``end`` or ``accuracy`` to the name in the file.
    accuracy : str, float or None, optional
        Fixes that are less accurate (``"200m"``, ``"1km"`` or metres) are left out and counted; None keeps all.
    one_person : bool, optional
        Whether all of it is one person's, who is then called by the name of the input.

    Returns
    -------
    pandas.DataFrame
        user_id (text), tracked_at (UTC), latitude, longitude (degrees), and finished_at (UTC) where some rows are
        stretches of time at one place; ``attrs["report"]``, a :class:`ReadReport`.

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
    options = checked_options(format, columns, accuracy, one_person, "read_traces")
    table, trouble = whole_of(source_of(path, "read_traces"), options)
    if trouble:
        warnings.warn(trouble, TraceWarning, stacklevel=3)
    return table


def whole_of(source: Source, options: Options) -> tuple[pd.DataFrame, str]:
    """All traces of an input with their report, and what to warn of."""
    files = list(each_file(source, options))
    good = [file for file in files if file.trouble is None]
    passed_over = tuple(f"{file.label}: {file.trouble}" for file in files if file.trouble is not None)
    tally = sum((file.tally for file in good), Tally())
    if not tally.read:
        raise nothing_in(source, tally, next(iter(passed_over), "" if files else no_file(options)))
    table, way = one_table(files, source, options)
    offset = offset_of(tally)
    table.attrs["report"] = ReadReport(
        files=len(good),
        read=tally.read,
        duplicates=tally.read - len(table),
        skipped=tally.skipped,
        first_skipped=tally.first_skipped,
        reasons=dict(tally.reasons),
        skipped_files=passed_over,
        told_apart_by=way,
        formats=dict(sorted(Counter(str(file.format) for file in good).items())),
        inaccurate=tally.inaccurate,
        without_offset=tally.without_offset,
        utc_offset=offset,
        swapped=offset is not None and look_swapped(table, offset),
        decimal_commas=tally.decimal_commas,
    )
    troubles = []
    if tally.skipped:
        first = f"{tally.first_skipped}{f' ({SWAPPED})' * tally.looks_swapped}"
        troubles.append(f"{tally.skipped} of {tally.read + tally.skipped} rows could not be read, the first: {first}")
    if passed_over:
        troubles.append(f"files passed over: {len(passed_over)}, the first: {passed_over[0]}")
    return table, "; ".join(troubles) + "." * bool(troubles)


def checked_options(
    format: str | None,  # noqa: A002
    columns: Mapping[str, str] | None,
    accuracy: str | float | None,
    one_person: bool,
    owner: str,
) -> Options:
    """How to read, with the rules of each."""
    if format is not None and format not in FORMATS:
        raise broken_rule("format", owner, f"one of {', '.join(FORMATS)}, or None", repr(format))
    worst = None if accuracy is None else metres(accuracy, "accuracy", owner)
    return Options(format, checked_columns(columns, owner), worst, one_person)


def nothing_in(source: Source, tally: Tally, passed_over: str) -> TraceError:
    """The error for an input without a good row."""
    why = tally.first_skipped or passed_over
    if not why:
        why = f"all fixes are too inaccurate: {tally.inaccurate}" if tally.inaccurate else "no rows"
    return TraceError(f"Nothing to read in {source.shown}: {why}{f'; {SWAPPED}' * tally.looks_swapped}.")


def no_file(options: Options) -> str:
    """What is said of an empty folder or archive."""
    return f"no file to read; looked for {options.format or ', '.join(FORMATS)}"


def offset_of(tally: Tally) -> int | None:
    """The most frequent offset in minutes, unless UTC is the only one: programs write that of anybody."""
    return tally.offsets.most_common(1)[0][0] if any(tally.offsets) else None


def one_table(files: Sequence[FileRead], source: Source, options: Options) -> tuple[pd.DataFrame, str]:
    """The rows of all files together, and what told their users apart."""
    filled = [file for file in files if len(file.rows)]
    taken = {str(user) for file in filled if not file.tally.named for user in file.rows["user_id"].unique()}
    named = [Named(file.path, file.trouble is None, file.format, file.tally.span) for file in files if file.tally.named]
    users, way = users_of(named, taken, source, options)
    ways = sorted({way if file.tally.named else "column" for file in filled})
    tables = [file.rows.assign(user_id=users[file.path]) if file.tally.named else file.rows for file in filled]
    return in_order(joined(tables)), " and ".join(ways)


def users_of(
    named: Sequence[Named], taken: set[str], source: Source, options: Options
) -> tuple[dict[PurePath, str], str]:
    """The users of the files that do not say it themselves, and what told them apart."""
    if options.one_person:
        return {file.path: source.name for file in named}, "one person"
    root = PurePath(legible(str(source.root)))
    above = {folder for file in named for folder in (file.path, *file.path.parents)}
    roots = (root, root.parent / without_gz(root.name), PurePath())  # the last in an archive, where all begins anew
    return told_apart(named, taken, root=next(way for way in roots if way in above or not way.parts), name=source.name)


def each_file(source: Source, options: Options) -> Iterator[FileRead]:
    """Go through a data set once, one file at a time, with all of its rows."""
    total = 0
    for file in open_files(source, options):
        parts, tally = list[pd.DataFrame](), Tally()
        try:
            for rows, counted in file.blocks:
                total += len(rows)
                way_out = "Read fewer files at a time."
                refuse_if_too_large(ROW * total, f"a table of {total} rows", way_out, parameter="path")
                tally += counted
                parts += [rows] * (len(rows) > 0)
        except UnusableFileError as trouble:
            yield FileRead(file.label, file.path, file.format, trouble=trouble)
        else:
            rows = joined(parts) if parts else pd.DataFrame()
            yield FileRead(file.label, file.path, file.format, rows, tally)


def open_files(source: Source, options: Options) -> Iterator[OpenFile]:
    """Go through a data set once, one file at a time, each to be read block by block before the next."""
    try:
        for found in files_in(source):
            label, path = legible(found.label), PurePath(legible(str(found.path)))
            try:
                form, stream = recognised(found, options)
            except UnusableFileError as trouble:
                yield OpenFile(label, path, None, nothing_but(trouble))
            else:
                raw = KNOWN[form].blocks(stream, options.columns)
                user = source.name if options.one_person else user_of(path, form)
                blocks = sift_blocks(raw, label, user, accuracy=options.accuracy, one_person=options.one_person)
                yield OpenFile(label, path, form, undamaged(blocks, found.loose, source))
    except DAMAGE as error:
        raise damaged(source, error) from error


def recognised(found: Found, options: Options) -> tuple[str, IO[bytes]]:
    """The format of a file, and all its bytes."""
    if isinstance(found.content, UnusableFileError):
        raise found.content
    stream = found.content
    try:
        head = stream.read(HEAD)
    except DAMAGE as error:
        if found.loose:
            raise UnusableFileError(f"it is damaged: {error}") from None
        raise
    form = options.format if options.format and found.alone else recognise(head, options.columns)
    if form is None or form != (options.format or form):
        raise not_recognised(head, form, options.format, options.columns)
    if stream.seekable():
        stream.seek(0)
    else:
        stream = forward(head, stream)
    return form, stream


def undamaged(
    blocks: Iterator[tuple[pd.DataFrame, Tally]], loose: bool, source: Source
) -> Iterator[tuple[pd.DataFrame, Tally]]:
    """The blocks of a file; damage on the way is an error of ours."""
    try:
        yield from blocks
    except DAMAGE as error:
        if loose:
            raise UnusableFileError(f"it is damaged: {error}") from error
        raise damaged(source, error) from error


def nothing_but(trouble: UnusableFileError) -> Iterator[tuple[pd.DataFrame, Tally]]:
    """No block, and why not."""
    yield from ()
    raise trouble


def damaged(source: Source, error: BaseException) -> TraceError:
    """The error for an input that cannot be read to its end."""
    return TraceError(f"{source.shown} cannot be read: {error}")
