"""Traces: who was where and when, read from the formats in which people publish them.

A reader per format hands over its columns as found, block by block, with the number of the line each row stood on. One
function then gives the columns their types, another knows the rules of a row, and every row that breaks one is counted
and reported: where it stands, and never what stands there, which may be a true location.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import tarfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, Self
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
import pandas as pd

from hideseek.errors import SizeError, TraceError, broken_rule
from hideseek.errors import TraceWarning as TraceWarning
from hideseek.traces.users import told_apart, user_of
from hideseek.util.arrays import refuse_if_too_large
from hideseek.util.boundary import checked

COLUMNS = ("user_id", "tracked_at", "latitude", "longitude")

# trackintel's, scikit-mobility's and movingpandas' names, the preferred one first
_ALIASES = {
    "user_id": ("user_id", "uid", "user", "traj_id", "trajectory_id"),
    "tracked_at": ("tracked_at", "datetime", "t", "time", "timestamp"),
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lng", "lon", "x"),
    "geometry": ("geometry", "geom"),
}
# No two parts in a row can match the same character: a line that is no point is given up in linear time
_POINT = re.compile(
    r"^\s*POINT(?:\s*Z)?\s*\(\s*(?P<longitude>[^\s()]+)\s+(?P<latitude>[^\s()]+)(?:\s[^()]*)?\)\s*$", re.I
)
_CAB_LINE = re.compile(r"\s*(?:[-+.\deE]+\s+){3}-?\d+\s*$")
_PLT_LINE = re.compile(r"(?:[^,\n]*,){5}\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d\s*$", re.M)
# What the publishers lay beside the traces
_COMPANION = re.compile(r"_cabs\.txt|labels\.txt|(?:readme|licen[cs]e)(?:\..*)?|user guide.*", re.I)

_HEAD = 1 << 16  # bytes looked at to recognise a file
_BLOCK, _ROWS = 1 << 20, 1 << 16  # characters, or quoted rows, that are looked at together: only the good rows are kept
_LARGEST = 1 << 30  # bytes of one archive member; the largest cab has about one million
_LARGEST_HEADER = 1 << 13  # bytes of what extends one; tarfile may take quadratic time for it
_EXTENDING = 1 << 30  # the sum of the squares of what is more than a block: sixteen of the largest
_UNPACKED = 1 << 24  # bytes that an archive may always unpack to
_RATIO = 100  # and otherwise times its size: traces are packed to a tenth, and to a thousandth only what is none
_FILES = 1000  # that an archive may always hold
_SMALLEST = 32  # and otherwise one for so many bytes: a file of traces takes more when it is packed
_READING = 8  # bytes of memory for each of a file
_WIDEST = 1024  # columns of a file
_DEEPEST = 64  # nested XML elements
_LONGEST = 1 << 20  # bytes of an XML tag, comment or the like
_END = (np.datetime64("9000-01-01") - np.datetime64("1970-01-01")).astype("m8[s]").astype(float)
_GPX_POINTS = (["wpt"], ["trk", "trkseg", "trkpt"])
_EXTENSIONS = {  # headers of an archive that tell more about the next one
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
}
_DAMAGE = (OSError, EOFError, zlib.error, tarfile.TarError, RecursionError)


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


class UnusableFileError(TraceError):
    """A file gives no rows; it says why without showing what stands in it, which may be true locations."""


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
def read_traces(path: str | os.PathLike[str], format: str | None = None) -> pd.DataFrame:  # noqa: A002
    """Read a file, a folder or a tar archive of traces into one table, sorted by user and time.

    The columns are user_id (text), tracked_at (UTC), latitude and longitude (degrees). The format, one of ``FORMATS``,
    is recognised by content unless it is named; a folder holds one format. Rows that break a rule are left out, counted
    in ``table.attrs["report"]`` (a :class:`ReadReport`) and announced by a :class:`TraceWarning`. Of several fixes of
    one user at one instant the first in the file stays. Routes in GPX files are plans, not fixes, and are not read.

    A user is who a column of a CSV file says, or else the name of the file, or of its folder where the same file name
    occurs in several folders; the report says what told the users apart.

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
        for label, source, stream in _sources(root):
            label, file = _legible(label), PurePath(_legible(str(source)))
            try:
                if isinstance(stream, UnusableFileError):
                    raise stream
                head = stream.read(_HEAD)
                found = format if format and source == root else _recognise(head)
                format = format or found  # noqa: A001
                if found is None or found != format:
                    raise _unknown(head, found, format)
                sifted = _sifted(_READERS[found](_text(head + stream.read())), label, user_of(file, found))
            except UnusableFileError as trouble:
                yield FileRead(label, file, format, trouble=trouble)
            else:
                yield FileRead(label, file, format, *sifted)
    except _DAMAGE as error:
        raise TraceError(f"{root} cannot be read: {error}") from error


@checked
def check_traces(table: pd.DataFrame, owner: str) -> pd.DataFrame:
    """Return a table made by hand as :func:`read_traces` would, or raise a ParameterError in the name of ``owner``.

    The names of trackintel, scikit-mobility and movingpandas are understood, and so are points as text or objects.

    >>> table = pd.DataFrame({"uid": [7, 7], "datetime": ["2008-06-10 08:00", "2008-06-10 07:58"],
    ...                       "lat": [37.7, 37.8], "lng": [-122.4, -122.4]})
    >>> check_traces(table, "fit")["latitude"].tolist()
    [37.8, 37.7]
    >>> check_traces(table.assign(lat=95.0), "fit")
    Traceback (most recent call last):
    hideseek.errors.ParameterError: The 'traces' parameter of fit must be a table whose latitude is in [-90, 90]
    in every row. Got another in row 0 (the first is 0) instead.
    """
    if not isinstance(table, pd.DataFrame):
        raise broken_rule("traces", owner, "a pandas DataFrame", type(table).__name__, "See read_traces.")
    found = _locate(table.columns)
    if "tracked_at" not in found and "tracked_at" in _locate([table.index.name]):
        table = table.reset_index()  # movingpandas keeps the time in the index
        found = _locate(table.columns)
    if lacking := _lacking(found):
        way_out = f"Known names of {lacking[0]}: {_ALIASES[lacking[0]]}."
        rule = f"a table with the columns {', '.join(COLUMNS)}"
        raise broken_rule("traces", owner, rule, f"none for {', '.join(lacking)}", way_out)
    if table.empty:
        raise broken_rule("traces", owner, "a table with at least one row", "none")
    typed = _typed(table.iloc[:, list(found.values())].set_axis(list(found), axis=1))
    for column, rule, broken in _faults(typed):
        if broken.any():
            got = f"another in row {int(broken.argmax())} (the first is 0)"
            raise broken_rule("traces", owner, f"a table whose {column} is {rule} in every row", got)
    typed.attrs = dict(table.attrs)
    return in_order(typed.reset_index(drop=True))


def _sources(root: Path) -> Iterator[tuple[str, PurePath, IO[bytes] | UnusableFileError]]:
    """Yield the label for messages, the path and the stream of every file that may hold traces, or why it has none."""
    if root.is_dir():
        for file in sorted(root.rglob("*")):
            label = file.relative_to(root)
            leads_nowhere = file.is_symlink() and not file.exists()
            if (file.is_file() or leads_nowhere) and not _passed_over(label):
                try:
                    opened = file.open("rb")
                except OSError as error:
                    yield str(label), file, UnusableFileError(f"it cannot be opened: {error.strerror}")
                    continue
                with opened as stream:
                    yield str(label), file, _fitting(stream)
        return
    if not root.is_file():
        raise TraceError(f"There is no file or folder {root}.")
    with root.open("rb") as stream:
        magic = stream.read(tarfile.BLOCKSIZE)
        stream.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            with _Unpacked(stream) as unpacked:
                yield from _members(unpacked, _size(stream))
        elif magic[257:262] == b"ustar":
            yield from _members(stream, _size(stream))
        else:
            yield root.name, root, _fitting(stream)


def _size(stream: IO[bytes]) -> int:
    return os.fstat(stream.fileno()).st_size


def _fitting(stream: IO[bytes]) -> IO[bytes] | UnusableFileError:
    """The stream of a file that memory can hold."""
    try:
        refuse_if_too_large(
            _READING * _size(stream), f"reading its {_size(stream)} bytes", "Cut it into several files."
        )
    except SizeError as error:
        return UnusableFileError(str(error).rstrip("."))
    return stream


class _Unpacked(gzip.GzipFile):
    """What a gzip file unpacks to, as long as that is no more than traces would be."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self.most = max(_UNPACKED, _RATIO * _size(stream))
        self.total = 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.total += len(data)
        if self.total > self.most:
            raise tarfile.ReadError(f"it unpacks to more than {self.most} bytes, which no traces of its size do")
        return data


def _members(stream: IO[bytes] | gzip.GzipFile, size: int) -> Iterator[tuple[str, PurePath, IO[bytes]]]:
    """Walk through a tar archive of this size once.

    Links, devices and folders hold no rows, and nothing is unpacked to disk.
    """
    most = max(_FILES, size // _SMALLEST)

    class OwnHeader(_StrictHeader):
        """Counts for this archive alone."""

    with tarfile.open(fileobj=stream, mode="r|", tarinfo=OwnHeader) as archive:
        for number, member in enumerate(archive, start=1):
            if number > most:
                raise tarfile.ReadError(f"it holds more than {most} files, which no archive of its size does")
            archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep them all
            _refuse_size(member)  # once more: an extended header may have changed the size
            name = PurePosixPath(member.name)
            if member.isreg() and not _passed_over(name) and (opened := archive.extractfile(member)):
                yield str(name), name, opened
    # gzip compares the checksum at the very end, past the last member
    while stream.read(_HEAD):
        pass


class _StrictHeader(tarfile.TarInfo):
    """A header that is damaged or cut off is an error; tarfile itself takes it for the end of the archive.

    What extends headers is bounded for a whole archive: what stands for all members is copied into each of them, and
    one extension may take time as the square of its size.
    """

    for_all = 0  # bytes
    effort = 0  # bytes squared

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf.count(0) == tarfile.BLOCKSIZE:  # the mark at the end of an archive
                raise
            raise tarfile.ReadError(f"not a whole tar archive ({error})") from None
        _refuse_size(header)
        if header.type in _EXTENSIONS:
            cls.effort += max(0, header.size - tarfile.BLOCKSIZE) ** 2
            cls.for_all += header.size * (header.type == tarfile.XGLTYPE)
        if cls.effort > _EXTENDING or cls.for_all > _LARGEST_HEADER:
            raise tarfile.ReadError("its extended headers say more than those of traces do")
        return header


def _refuse_size(header: tarfile.TarInfo) -> None:
    most = _LARGEST_HEADER if header.type in _EXTENSIONS else _LARGEST
    if not 0 <= header.size <= most:
        raise tarfile.ReadError(f"{_short(header.name)} claims {header.size} bytes; at most {most} are read")
    if header.issparse():  # holes take no space in the archive, however large they are
        raise tarfile.ReadError(f"{_short(header.name)} is stored with holes")


def _passed_over(path: PurePath) -> bool:
    hidden = any(part.startswith(".") and part != ".." for part in path.parts)
    return hidden or bool(_COMPANION.fullmatch(path.name))


def _recognise(head: bytes) -> str | None:
    """Tell the format from the first lines, and never from the name."""
    text = head.decode("utf-8-sig", "replace")
    lines = [line for line in text.splitlines()[:100] if line.strip()][:10]
    if not lines or "\0" in text:
        return None
    if re.search(r"<gpx[\s>]", text):
        return "gpx"
    if lines[0].startswith("Geolife trajectory") or any(map(_PLT_LINE.match, lines)):
        return "geolife"
    if _header(lines[0]):
        return "csv"
    return "cabspotting" if any(map(_CAB_LINE.match, lines)) else None


def _unknown(head: bytes, found: str | None, wanted: str | None) -> UnusableFileError:
    if found:
        return UnusableFileError(f"the content is {found}, not {wanted}")
    if not head.strip():
        return UnusableFileError("the file is empty")
    return UnusableFileError(f"not recognised as {wanted or ', '.join(FORMATS)}")


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise UnusableFileError("it holds NUL bytes, so it is not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableFileError(f"line {line} is not UTF-8 text ({error.reason})") from None
    if not text.strip():
        raise UnusableFileError("the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _read_cabspotting(text: str) -> Iterator[pd.DataFrame]:
    for rows in _split(text, " ", 4, {0: float, 1: float, 3: float}):
        rows.columns = pd.Index(["latitude", "longitude", "tracked_at"])
        yield rows


def _read_geolife(text: str) -> Iterator[pd.DataFrame]:
    for rows in _split(text, ",", 7, {0: float, 1: float, 5: str, 6: str}, skip=0 if _PLT_LINE.match(text) else 6):
        rows.columns = pd.Index(["latitude", "longitude", "date", "time"])
        times = rows["date"].str.cat(rows["time"], sep=" ")
        yield rows.assign(tracked_at=times)


def _read_csv(text: str) -> Iterator[pd.DataFrame]:
    skip = len(text) - len(text.lstrip("\n")) + 1
    header = _header(text.split("\n", skip)[skip - 1])
    if header is None:
        raise UnusableFileError(f"no columns for time, latitude and longitude in the header, line {skip}")
    separator, names = header
    if len(names) > _WIDEST:
        raise UnusableFileError(f"{len(names)} columns in the header, line {skip}; at most {_WIDEST} are read")
    columns = {at: column for column, at in _locate(names).items()}
    kinds = {at: float if column in COLUMNS[2:] else str for at, column in columns.items()}
    for found in _split(text, separator, len(names), kinds, skip):
        yield found.rename(columns=columns)


def _read_gpx(text: str) -> Iterator[pd.DataFrame]:
    """Read waypoints and the points of tracks.

    What harms parsers and no GPX file needs is refused: declared entities, endless nesting, and an element, a comment
    or the like without end, which the parser would look through again from its start with every piece of it.
    """
    if "<!DOCTYPE" in text:
        raise UnusableFileError("malformed GPX: it declares a document type")
    parser, points = expat.ParserCreate("utf-8"), _Points()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = points.begun, points.ended
    parser.CharacterDataHandler = points.said
    fed, count = 0, 0
    for at in range(0, len(text), _BLOCK):
        piece = text[at : at + _BLOCK].encode()
        try:
            parser.Parse(piece, at + _BLOCK >= len(text))
        except expat.ExpatError as error:
            what = f"{expat.ErrorString(error.code)} in line {error.lineno}"
            raise UnusableFileError(f"malformed GPX: {what}") from None
        fed += len(piece)
        if fed - parser.CurrentByteIndex > _LONGEST:
            where = f"from line {parser.CurrentLineNumber} on"
            raise UnusableFileError(f"malformed GPX: more than {_LONGEST} bytes without an end {where}")
        if points.found:
            rows = pd.DataFrame(points.found, columns=["latitude", "longitude", "tracked_at"])
            rows.index = pd.RangeIndex(count + 1, count + len(rows) + 1, name="point")
            count += len(rows)
            points.found.clear()
            yield rows


class _Points:
    """Hears what a parser finds in a GPX file and keeps the points, (latitude, longitude, time)."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.degrees = (np.nan, np.nan)
        self.time: list[str] = []
        self.found: list[tuple[float, float, str]] = []

    def begun(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        if len(self.path) > _DEEPEST:
            raise UnusableFileError(f"malformed GPX: elements nested more than {_DEEPEST} deep")
        if self.path[1:] in _GPX_POINTS:
            try:
                self.degrees = float(attributes["lat"]), float(attributes["lon"])
            except (KeyError, ValueError):
                raise UnusableFileError("malformed GPX: a point whose lat and lon are no numbers") from None
            self.time.clear()

    def said(self, text: str) -> None:
        if self.path[-1] == "time" and self.path[1:-1] in _GPX_POINTS:
            self.time.append(text)

    def ended(self, _: str) -> None:
        if self.path[1:] in _GPX_POINTS:
            self.found.append((*self.degrees, "".join(self.time)))
        self.path.pop()


_READERS: dict[str, Callable[[str], Iterator[pd.DataFrame]]] = {
    "cabspotting": _read_cabspotting,
    "geolife": _read_geolife,
    "gpx": _read_gpx,
    "csv": _read_csv,
}
FORMATS = tuple(_READERS)


def _split(text: str, separator: str, width: int, kinds: Mapping[int, type], skip: int = 0) -> Iterator[pd.DataFrame]:
    """Cut lines into the columns of ``kinds``; the index counts lines, a row of another width comes out as all missing.

    Where no row has more fields than ``width`` and the separators add up, no row has fewer either: then pandas may read
    the block, ten times faster than the loop below. It refuses rows that are too long and numbers that are none.
    """
    start = 0
    for _ in range(skip):
        start = text.find("\n", start) + 1 or len(text)
    if separator != " " and text.find('"', start) >= 0 and _well_quoted(text, start, separator):
        reader = csv.reader(_lines(text, start), delimiter=separator, strict=True)
        while cells := [(reader.line_num, row) for row in islice(reader, _ROWS)]:
            yield _table(cells, width, kinds, skip)
        return
    for block in _blocks(text, start):
        height = block.count("\n") + 1
        rows = pd.DataFrame()
        if block.count(separator) == height * (width - 1):
            with suppress(ValueError, OverflowError):
                rows = pd.read_csv(
                    io.StringIO(block),
                    sep=separator,
                    header=None,
                    dtype=dict(kinds),
                    quoting=csv.QUOTE_NONE,
                    keep_default_na=False,
                    skip_blank_lines=False,
                    low_memory=False,
                )
        if rows.shape == (height, width):
            rows.index = pd.RangeIndex(skip + 1, skip + height + 1, name="line")
            yield rows[list(kinds)]
        else:
            fields = (line.split(separator.strip(" ") or None, width) for line in block.split("\n"))
            yield _table(enumerate(fields, 1), width, kinds, skip)
        skip += height


def _table(cells: Iterable[tuple[int, list[str]]], width: int, kinds: Mapping[int, type], skip: int) -> pd.DataFrame:
    """The columns of ``kinds`` from the fields of numbered lines; blank lines are left out."""
    missing, lines, whole = [None] * width, [], list[Sequence[Any]]()
    for line, row in cells:
        if len(row) > 1 or "".join(row).strip():
            lines.append(skip + line)
            whole.append(row if len(row) == width else missing)
    index = pd.Index(lines, dtype="int64", name="line")
    return pd.DataFrame({at: [row[at] for row in whole] for at in kinds}, index=index, dtype=object)


def _blocks(text: str, start: int) -> Iterator[str]:
    """Whole lines, about as many as make a block, without the line breaks between the blocks and at the very end."""
    end = len(text.rstrip("\n"))
    while start < end:
        stop = text.find("\n", start + _BLOCK, end)
        stop = end if stop < 0 else stop
        yield text[start:stop]
        start = stop + 1


def _lines(text: str, start: int) -> Iterator[str]:
    for block in _blocks(text, start):
        yield from (f"{line}\n" for line in block.split("\n"))


def _well_quoted(text: str, start: int, separator: str) -> bool:
    """Whether all quotes are closed; one left open would swallow every row below it: cut at the separators alone."""
    try:
        for _ in csv.reader(_lines(text, start), delimiter=separator, strict=True):
            pass
    except csv.Error:
        return False
    return True


def _header(line: str) -> tuple[str, list[str]] | None:
    """Return the separator with which a line names the columns needed, and the names; a user is not needed."""
    for separator in ",;\t":
        quoted = '"' in line and _well_quoted(line, 0, separator)
        names = next(csv.reader([line], delimiter=separator)) if quoted else line.split(separator)
        if set(_lacking(_locate(names))) <= {"user_id"}:
            return separator, names
    return None


def _locate(labels: Iterable[object]) -> dict[str, int]:
    """Return where each column stands, whatever its name."""
    names = [str(label).strip().lower() for label in labels]
    return {column: names.index(alias) for column in _ALIASES for alias in _ALIASES[column][::-1] if alias in names}


def _lacking(found: Mapping[str, int]) -> list[str]:
    points = COLUMNS[2:] if "geometry" in found else ()
    return [column for column in COLUMNS if column not in found and column not in points]


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the four columns their types; what cannot be converted comes out missing."""
    two_columns = "latitude" in rows and "longitude" in rows
    points = rows if two_columns else rows["geometry"].astype(str).str.extract(_POINT)
    columns: dict[str, Any] = {
        "user_id": _names(rows["user_id"]),
        "tracked_at": pd.DatetimeIndex(_times(rows["tracked_at"])).tz_localize("UTC"),
        "latitude": _numbers(points["latitude"]),
        "longitude": _numbers(points["longitude"]),
    }
    return pd.DataFrame(columns, index=rows.index)


def _names(users: pd.Series[Any]) -> pd.Series[Any]:
    return users if users.dtype == "str" else users.astype(str).mask(users.isna())


def _numbers(values: pd.Series[Any]) -> npt.NDArray[np.float64]:
    if values.dtype.kind not in "iufO":  # pandas would make numbers of truth values, dates and durations
        return np.full(len(values), np.nan)
    plain = values.astype(object) if values.dtype.kind == "O" else values  # categories are refused otherwise
    return pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def _times(values: pd.Series[Any]) -> npt.NDArray[np.datetime64]:
    """Read times as UTC: dates of any kind, ISO 8601 text with or without an offset, or unix (milli)seconds."""
    if pd.api.types.is_datetime64_any_dtype(values):
        naive = values if values.dt.tz is None else values.dt.tz_convert(None)
        return naive.to_numpy().astype("M8[us]")
    numeric = values.dtype.kind in "iuf"
    words = values if numeric else values.astype(str).str.strip()
    # text with a dash inside is a date, and trying it as a number would take most of the time
    seconds = _numbers(words if numeric else words.mask(words.str.find("-", 1) > 0))
    # 3e11 seconds lie past the year 9999, which some use as a placeholder and which must not pass for milliseconds
    seconds = np.where(np.abs(seconds) > 3e11, seconds / 1000, seconds)
    known = ~np.isnan(seconds)
    times = np.full(len(seconds), "NaT", dtype="M8[us]")
    # clipped only as far as a date that breaks the rule all the same, since more would overflow
    times[known] = np.rint(np.clip(seconds[known], -1, _END) * 1e6).astype("int64").astype("M8[us]")
    # pandas 2 gives a time without an offset the offset of the one before it: each kind is parsed by itself
    offset = np.zeros_like(known) if numeric else words.str[10:].str.contains("[-+Zz]").to_numpy(dtype=bool)
    for kind in (~known & offset, ~known & ~offset):
        clockless = words[kind].mask(words.isin(["now", "today"]))  # pandas would take the clock's time
        parsed = pd.to_datetime(clockless, format="ISO8601", utc=True, errors="coerce")
        times[kind] = parsed.dt.tz_localize(None).to_numpy().astype("M8[us]")
    return times


def _faults(typed: pd.DataFrame) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """Yield every rule of a row: the column, what it must be, and which rows are not."""
    for column, limit in (("latitude", 90), ("longitude", 180)):
        degrees = typed[column].to_numpy()
        yield column, "a finite number", ~np.isfinite(degrees)
        yield column, f"in [-{limit}, {limit}]", np.abs(degrees) > limit
    times = typed["tracked_at"].dt.tz_localize(None).to_numpy()
    seconds = times.astype("int64") / 1e6
    yield "tracked_at", "a time (ISO 8601 or unix seconds)", np.isnat(times)
    yield "tracked_at", "in 1970 or later and before the year 9000", (seconds < 0) | (seconds >= _END)
    users = typed["user_id"]
    yield "user_id", "given", users.isna().to_numpy() | (users.to_numpy(dtype=object) == "")


def _sifted(
    blocks: Iterable[pd.DataFrame], label: str, user: str
) -> tuple[pd.DataFrame, Counter[str], str, dict[str, str], bool]:
    """The good rows with their types, the number of the others by reason, where the first of these is, and by user.

    At last, whether the rows are this user's, since they do not say whose they are.
    """
    parts: list[pd.DataFrame] = []
    reasons, first, refused = Counter[str](), "", dict[str, str]()
    named = True
    for found in blocks:
        named = named and ("user_id" not in found or found.empty)
        rows = found if "user_id" in found else found.assign(user_id=user)
        typed, broken = _sift(rows)
        if len(typed):
            parts.append(typed)
        bad = np.flatnonzero(broken != "")
        if len(bad):
            reasons.update(broken[bad])
            first = first or f"{label}, {rows.index.name} {rows.index[bad[0]]}: {broken[bad[0]]}"
            new = bad[~rows["user_id"].iloc[bad].duplicated().to_numpy()]
            for whose, rule in zip(_names(rows["user_id"].iloc[new]).fillna(""), broken[new], strict=True):
                refused.setdefault(whose, rule)
    return pd.concat(parts) if parts else pd.DataFrame(), reasons, first, refused, named


def _sift(rows: pd.DataFrame) -> tuple[pd.DataFrame, npt.NDArray[np.object_]]:
    """The good rows with their types, and the first rule that each row breaks, "" where none."""
    reasons = np.full(len(rows), "", dtype=object)
    cut = rows.drop(columns="user_id").isna().all(axis=1).to_numpy()
    reasons[cut] = "row must be of as many fields as its format has"
    typed = _typed(rows[~cut] if cut.any() else rows)
    found = reasons[~cut]
    for column, rule, broken in _faults(typed):
        if broken.any():
            found[broken & (found == "")] = f"{column} must be {rule}"
    reasons[~cut] = found
    good = found == ""
    return typed if good.all() else typed[good], reasons


def in_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort by user and time and keep the first row of each user and instant."""
    user = pd.factorize(table["user_id"].to_numpy(dtype=object), sort=True)[0]
    time = table["tracked_at"].dt.tz_localize(None).to_numpy().astype("int64")
    next_user, later = np.diff(user), np.diff(time) > 0
    if ((next_user > 0) | ((next_user == 0) & later)).all():
        return table
    order = np.lexsort((time, user))  # stable, so that the first in the file comes first
    return table.take(order).drop_duplicates(["user_id", "tracked_at"], ignore_index=True)


def _legible(name: str) -> str:
    r"""Write bytes of a file name that are no text as \xff, and a backslash as two, so that no two names become one.

    Neither a terminal nor pandas with Arrow would take such bytes.
    """
    return name.replace("\\", r"\\").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _short(text: str, most: int = 80) -> str:
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")


def checked_step(step: str, owner: str) -> pd.Timedelta:
    """A length of time such as "5min"."""
    rule = 'a length of time of a microsecond or more, such as "5min"'
    if not isinstance(step, str | timedelta):
        raise broken_rule("step", owner, rule, repr(step))
    try:
        length = pd.Timedelta(step)
    except ValueError:
        raise broken_rule("step", owner, rule, repr(step)) from None
    if pd.isna(length) or length < pd.Timedelta(1, "us"):
        raise broken_rule("step", owner, rule, repr(step))
    return length
