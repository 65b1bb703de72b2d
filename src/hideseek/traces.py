"""Traces: who was where and when, read from the formats in which people publish them.

A reader per format hands over its columns as found, with the number of the line each row stood on. One function then
gives the columns their types, another knows the rules of a row, and every row that breaks one is counted and reported.
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, Self
from xml.etree import ElementTree

import gpxpy
import numpy as np
import numpy.typing as npt
import pandas as pd

from hideseek.boundary import checked
from hideseek.errors import TraceError, broken_rule

COLUMNS = ("user_id", "tracked_at", "latitude", "longitude")

# trackintel's, scikit-mobility's and movingpandas' names, the preferred one first
_ALIASES = {
    "user_id": ("user_id", "uid", "user", "traj_id", "trajectory_id"),
    "tracked_at": ("tracked_at", "datetime", "t", "time", "timestamp"),
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lng", "lon", "x"),
    "geometry": ("geometry", "geom"),
}
_POINT = re.compile(r"^\s*POINT\s*Z?\s*\(\s*(?P<longitude>[^\s()]+)\s+(?P<latitude>[^\s()]+)[^()]*\)\s*$", re.I)
_CAB_LINE = re.compile(r"\s*(?:[-+.\deE]+\s+){3}-?\d+\s*$")
_PLT_LINE = re.compile(r"(?:[^,\n]*,){5}\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d\s*$", re.M)
# What the publishers lay beside the traces
_COMPANION = re.compile(r"_cabs\.txt|labels\.txt|(?:readme|licen[cs]e)(?:\..*)?|user guide.*", re.I)

_HEAD = 1 << 16  # bytes looked at to recognise a file
_LARGEST = 1 << 30  # bytes of one archive member; the largest cab has about one million
_DEEPEST = 64  # nested XML elements; copying a million of them overflows the C stack inside gpxpy
_END = (np.datetime64("9000-01-01") - np.datetime64("1970-01-01")).astype("m8[s]").astype(float)
_DAMAGE = (OSError, EOFError, zlib.error, tarfile.TarError, RecursionError)


class TraceWarning(UserWarning):
    """Some rows or files of an input could not be read; the rest was."""


@dataclass(frozen=True)
class ReadReport:
    """What became of an input: ``read`` rows were good (``duplicates`` of them said twice), ``skipped`` were not.

    ``reasons`` counts the skipped rows by the rule they break, ``first_skipped`` shows one of them, and
    ``skipped_files`` says why whole files were passed over.
    """

    files: int
    read: int
    duplicates: int
    skipped: int
    first_skipped: str = ""
    reasons: dict[str, int] = field(default_factory=dict, hash=False)
    skipped_files: tuple[str, ...] = ()


class UnusableFileError(TraceError):
    """A file gives no rows; ``reason`` says why without showing what stands in it, which may be true locations."""

    def __init__(self, reason: str, shown: str = "") -> None:
        super().__init__(reason + shown)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class FileRead:
    """What one file of a data set gave: its good ``rows``, or the ``trouble`` for which it was passed over.

    ``reasons`` counts the other rows by the rule they break, ``first_skipped`` shows one of them, ``refused`` has a
    rule for every user with such a row.
    """

    label: str
    path: PurePath
    format: str | None
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    reasons: Counter[str] = field(default_factory=Counter)
    first_skipped: str = ""
    refused: dict[str, str] = field(default_factory=dict)
    trouble: UnusableFileError | None = None


@checked
def read_traces(path: str | os.PathLike[str], format: str | None = None) -> pd.DataFrame:  # noqa: A002
    """Read a file, a folder or a tar archive of traces into one table, sorted by user and time.

    The columns are user_id (text), tracked_at (UTC), latitude and longitude (degrees). The format, one of ``FORMATS``,
    is recognised by content unless it is named; a folder holds one format. Rows that break a rule are left out, counted
    in ``table.attrs["report"]`` (a :class:`ReadReport`) and announced by a :class:`TraceWarning`. Of several fixes of
    one user at one instant the first in the file stays. Routes in GPX files are plans, not fixes, and are not read.

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
    parts: list[pd.DataFrame] = []
    reasons: Counter[str] = Counter()
    first, skipped_files = "", []
    for file in each_file(path, format):
        if file.trouble is None:
            parts.append(file.rows)
            reasons += file.reasons
            first = first or file.first_skipped
        else:
            skipped_files.append(f"{file.label}: {file.trouble}")
    read, skipped = sum(map(len, parts)), reasons.total()
    if not read:
        raise TraceError(
            f"Nothing to read in {Path(path).absolute()}: {first or next(iter(skipped_files), 'no rows')}."
        )
    table = in_order(pd.concat([part for part in parts if len(part)], ignore_index=True))
    report = ReadReport(len(parts), read, read - len(table), skipped, first, dict(reasons), tuple(skipped_files))
    table.attrs["report"] = report
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
                if isinstance(stream, OSError):
                    raise UnusableFileError("it cannot be opened", f": {stream.strerror}")
                head = stream.read(_HEAD)
                found = format if format and source == root else _recognise(head)
                format = format or found  # noqa: A001
                if found is None or found != format:
                    raise _unknown(head, found, format)
                rows, shown = _READERS[found](_text(head + stream.read()), file)
            except UnusableFileError as trouble:
                yield FileRead(label, file, format, trouble=trouble)
            else:
                yield FileRead(label, file, format, *_sift(rows, shown, label))
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
    in every row. Got '95.0' in row 0 instead.
    """
    if not isinstance(table, pd.DataFrame):
        raise broken_rule("traces", owner, "a pandas DataFrame", type(table).__name__, "See read_traces.")
    found = _locate(table.columns)
    if "tracked_at" not in found and "tracked_at" in _locate([table.index.name]):
        table = table.reset_index()  # movingpandas keeps the time in the index
        found = _locate(table.columns)
    if lacking := _lacking(found):
        columns, way_out = ", ".join(map(str, table.columns)), f"Known names of {lacking[0]}: {_ALIASES[lacking[0]]}."
        raise broken_rule("traces", owner, f"a table with the columns {', '.join(COLUMNS)}", _short(columns), way_out)
    if table.empty:
        raise broken_rule("traces", owner, "a table with at least one row", "none")
    rows = table.iloc[:, list(found.values())].set_axis(list(found), axis=1)
    typed = _typed(rows)
    for column, rule, broken in _faults(typed):
        if broken.any():
            at = int(broken.argmax())
            got = f"{_short(str(rows.get(column, rows.iloc[:, -1]).iloc[at]))} in row {table.index[at]}"
            raise broken_rule("traces", owner, f"a table whose {column} is {rule} in every row", got)
    typed.attrs = dict(table.attrs)
    return in_order(typed.reset_index(drop=True))


def _sources(root: Path) -> Iterator[tuple[str, PurePath, IO[bytes] | OSError]]:
    """Yield the label for messages, the path and the stream of every file that may hold traces, or why it has none."""
    if root.is_dir():
        for file in sorted(root.rglob("*")):
            label = file.relative_to(root)
            leads_nowhere = file.is_symlink() and not file.exists()
            if (file.is_file() or leads_nowhere) and not _passed_over(label):
                try:
                    opened = file.open("rb")
                except OSError as error:
                    yield str(label), file, error
                    continue
                with opened as stream:
                    yield str(label), file, stream
        return
    if not root.is_file():
        raise TraceError(f"There is no file or folder {root}.")
    with root.open("rb") as stream:
        magic = stream.read(tarfile.BLOCKSIZE)
        stream.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            with gzip.open(stream) as unpacked:
                yield from _members(unpacked)
        elif magic[257:262] == b"ustar":
            yield from _members(stream)
        else:
            yield root.name, root, stream


def _members(stream: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[str, PurePath, IO[bytes]]]:
    """Walk through a tar archive once; links, devices and folders hold no rows, and nothing is unpacked to disk."""
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictHeader) as archive:
        for member in archive:
            _refuse_size(member)  # once more: an extended header may have changed the size
            name = PurePosixPath(member.name)
            if member.isreg() and not _passed_over(name) and (opened := archive.extractfile(member)):
                yield str(name), name, opened
    # gzip compares the checksum at the very end, past the last member
    while stream.read(_HEAD):
        pass


class _StrictHeader(tarfile.TarInfo):
    """A header that is damaged or cut off is an error; tarfile itself takes it for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf.count(0) == tarfile.BLOCKSIZE:  # the mark at the end of an archive
                raise
            raise tarfile.ReadError(f"not a whole tar archive ({error})") from None
        _refuse_size(header)
        return header


def _refuse_size(header: tarfile.TarInfo) -> None:
    if not 0 <= header.size <= _LARGEST:
        raise tarfile.ReadError(f"{_short(header.name)} claims {header.size} bytes; at most {_LARGEST} are read")


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
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].decode("utf-8", "backslashreplace")
    return UnusableFileError(f"not recognised as {wanted or ', '.join(FORMATS)}", f"; it begins with {_short(start)}")


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


def user_of(path: PurePath, format: str | None) -> str:  # noqa: A002
    """Whose traces a file holds, by its name, in the formats that do not say it inside."""
    if format == "geolife" and path.parent.name.lower() == "trajectory" and path.parent.parent.name:
        return path.parent.parent.name
    return path.stem.removeprefix("new_") if format == "cabspotting" else path.stem


def _read_cabspotting(text: str, path: PurePath) -> tuple[pd.DataFrame, str]:
    rows = _split(text, " ", 4, {0: float, 1: float, 3: float})
    rows.columns = pd.Index(["latitude", "longitude", "tracked_at"])
    return rows.assign(user_id=user_of(path, "cabspotting")), text


def _read_geolife(text: str, path: PurePath) -> tuple[pd.DataFrame, str]:
    rows = _split(text, ",", 7, {0: float, 1: float, 5: str, 6: str}, skip=0 if _PLT_LINE.match(text) else 6)
    rows.columns = pd.Index(["latitude", "longitude", "date", "time"])
    times = rows["date"].str.cat(rows["time"], sep=" ")
    return rows.assign(user_id=user_of(path, "geolife"), tracked_at=times), text


def _read_csv(text: str, path: PurePath) -> tuple[pd.DataFrame, str]:
    skip = len(text) - len(text.lstrip("\n")) + 1
    first = text.split("\n", skip)[skip - 1]
    header = _header(first)
    if header is None:
        raise UnusableFileError("no columns for time, latitude and longitude", f" in the header {_short(first)}")
    separator, names = header
    columns = {at: column for column, at in _locate(names).items()}
    kinds = {at: float if column in COLUMNS[2:] else str for at, column in columns.items()}
    rows = _split(text, separator, len(names), kinds, skip).rename(columns=columns)
    return rows if "user_id" in rows else rows.assign(user_id=path.stem), text


def _read_gpx(text: str, path: PurePath) -> tuple[pd.DataFrame, str]:
    try:
        _refuse_traps(text)
        gpx = gpxpy.parse(text)
    except (ElementTree.ParseError, gpxpy.gpx.GPXException) as error:
        raise UnusableFileError("malformed GPX", f": {_short(str(error))}") from error
    points: list[Any] = [*gpx.waypoints, *(at for track in gpx.tracks for leg in track.segments for at in leg.points)]
    cells = [(at.latitude, at.longitude, _moment(at.time)) for at in points]
    rows = pd.DataFrame(cells, columns=["latitude", "longitude", "tracked_at"])
    rows.index = pd.RangeIndex(1, len(cells) + 1, name="point")
    return rows.assign(user_id=path.stem), "\n".join(map(str, cells))


def _moment(time: Any) -> str | None:
    try:
        return str(time.isoformat()) if time else None
    except ValueError:  # gpxpy lets offsets of a day and more through
        return None


def _refuse_traps(text: str) -> None:
    """Stop at what no GPX file needs and what harms its parsers: declared entities and endless nesting."""
    if "<!DOCTYPE" in text:
        raise UnusableFileError("malformed GPX: it declares a document type")
    depth = 0
    for event, _ in ElementTree.iterparse(io.StringIO(text), ("start", "end")):  # noqa: S314
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            raise UnusableFileError(f"malformed GPX: elements nested more than {_DEEPEST} deep")


_READERS: dict[str, Callable[[str, PurePath], tuple[pd.DataFrame, str]]] = {
    "cabspotting": _read_cabspotting,
    "geolife": _read_geolife,
    "gpx": _read_gpx,
    "csv": _read_csv,
}
FORMATS = tuple(_READERS)


def _split(text: str, separator: str, width: int, kinds: Mapping[int, type], skip: int = 0) -> pd.DataFrame:
    """Cut lines into the columns of ``kinds``; the index counts lines, a row of another width comes out as all missing.

    Where no row has more fields than ``width`` and the separators add up, no row has fewer either: then pandas may read
    the lot, ten times faster than the loop below. It refuses rows that are too long and numbers that are none.
    """
    before = text.split("\n", skip)
    body = before[skip].rstrip("\n") if len(before) > skip else ""
    height = body.count("\n") + 1
    if '"' not in body and body.count(separator) == height * (width - 1):
        try:
            rows = pd.read_csv(
                io.StringIO(body),
                sep=separator,
                header=None,
                dtype=dict(kinds),
                quoting=csv.QUOTE_NONE,
                keep_default_na=False,
                skip_blank_lines=False,
                low_memory=False,
            )
        except (ValueError, OverflowError):
            rows = pd.DataFrame()
        if rows.shape == (height, width):
            rows.index = pd.RangeIndex(skip + 1, skip + height + 1, name="line")
            return rows[list(kinds)]
    cells = [(line, row) for line, row in _cells(body, separator) if len(row) > 1 or "".join(row).strip()]
    whole: list[list[Any]] = [row if len(row) == width else [None] * width for _, row in cells]
    index = pd.Index([skip + line for line, _ in cells], dtype="int64", name="line")
    return pd.DataFrame({at: [row[at] for row in whole] for at in kinds}, index=index, dtype=object)


def _cells(body: str, separator: str) -> list[tuple[int, list[str]]]:
    lines = body.split("\n")
    if '"' in body and separator != " ":
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            return [(reader.line_num, row) for row in reader]
        except csv.Error:
            pass  # a quote left open would swallow every row below it: cut at the separators alone
    return [(number, line.split(separator.strip(" ") or None)) for number, line in enumerate(lines, 1)]


def _header(line: str) -> tuple[str, list[str]] | None:
    """Return the separator with which a line names the columns needed, and the names; a user is not needed."""
    for separator in ",;\t":
        names = _cells(line, separator)[0][1]
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
    users = rows["user_id"]
    if users.dtype != "str":
        users = users.astype(str).mask(users.isna())
    two_columns = "latitude" in rows and "longitude" in rows
    points = rows if two_columns else rows["geometry"].astype(str).str.extract(_POINT)
    columns: dict[str, Any] = {
        "user_id": users,
        "tracked_at": pd.DatetimeIndex(_times(rows["tracked_at"])).tz_localize("UTC"),
        "latitude": _numbers(points["latitude"]),
        "longitude": _numbers(points["longitude"]),
    }
    return pd.DataFrame(columns, index=rows.index)


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


def _sift(rows: pd.DataFrame, shown: str, label: str) -> tuple[pd.DataFrame, Counter[str], str, dict[str, str]]:
    """Return the good rows with their types, the number of the others by reason, the first of these, and by user."""
    typed = _typed(rows)
    cut = rows.drop(columns="user_id").isna().all(axis=1)
    reasons = np.full(len(rows), "", dtype=object)
    for column, rule, broken in [("row", "of as many fields as its format has", cut.to_numpy()), *_faults(typed)]:
        if broken.any():
            reasons[broken & (reasons == "")] = f"{column} must be {rule}"
    good = reasons == ""
    if good.all():
        return typed, Counter(), "", {}
    bad = int(good.argmin())
    number = int(rows.index[bad])
    line = shown.split("\n")[number - 1]
    first = f"{label}, {rows.index.name} {number}: {_short(line)}: {reasons[bad]}"
    users = typed["user_id"][~good].fillna("")
    refused = dict(zip(users[::-1], reasons[~good][::-1], strict=True))  # the first of each
    return typed[good], Counter(reasons[~good]), first, refused


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
    """Replace the bytes of a file name that are no text; neither a terminal nor pandas with Arrow would take them."""
    return name.encode("utf-8", "replace").decode()


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
