"""The formats of traces: how each is recognised by its content, and the reader that turns it into raw columns.

A reader takes the bytes of a file and hands over its columns as found, block by block, with the number of the line,
point or record that each row stood on. To add a format, write a reader and enter it in ``KNOWN``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO

import pandas as pd

from hideseek.errors import UnusableFileError
from hideseek.traces.columnar import looks_like_arrow, looks_like_parquet, read_arrow, read_parquet
from hideseek.traces.delimited import columns_of, well_quoted, with_decimal_commas
from hideseek.traces.fit import looks_like_fit, read_fit
from hideseek.traces.geojson import looks_like_geojson, read_geojson
from hideseek.traces.google_takeout import (
    looks_like_google_records,
    looks_like_google_semantic,
    read_google_records,
    read_google_semantic,
)
from hideseek.traces.google_timeline import looks_like_google_timeline, read_google_timeline
from hideseek.traces.gpx import read_gpx
from hideseek.traces.kml import looks_like_kml, read_kml
from hideseek.traces.overland import looks_like_overland, read_overland
from hideseek.traces.owntracks import looks_like_owntracks, read_owntracks
from hideseek.traces.table import COLUMNS, DECIMAL_COMMAS, Names, accepted, listed, located, missing_columns
from hideseek.traces.tcx import looks_like_tcx, read_tcx
from hideseek.traces.text import text_of

CAB_LINE = re.compile(r"\s*(?:[-+.\deE]+\s+){3}-?\d+\s*$")
PLT_LINE = re.compile(r"(?:[^,\n]*,){5}\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d\s*$", re.M)
COLUMN = re.compile(r"[^\W\d][\w .:()\[\]°/-]{0,39}")  # what may be shown as the name of a column
WIDEST = 1024  # columns of a file
# JSON of which nothing tells the format: a phone's Timeline, Google's records and the batches of loggers may be so
EMPTY = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*\]|\{\s*"(?:locations|data)"\s*:\s*\[\s*\]\s*\})\s*')

Reader = Callable[..., Iterator[pd.DataFrame]]  # of the bytes of a file


@dataclass(frozen=True)
class Format:
    """A format by what its first bytes look like, and by its reader.

    A ``table`` has columns with names, and its reader takes a second argument, which of them is which, or None.
    """

    looks_so: Callable[[bytes], bool]
    read: Reader
    table: bool = False

    def blocks(self, stream: IO[bytes], columns: Names | None = None) -> Iterator[pd.DataFrame]:
        """The raw columns of a file."""
        return self.read(stream, columns) if self.table else self.read(stream)


def recognise(head: bytes, columns: Names | None = None) -> str | None:
    """Tell the format from the first bytes, and never from the name."""
    found = next((name for name, form in KNOWN.items() if form.looks_so(head)), None)
    if found is None and columns and header_of(first_line(head), columns):
        return "csv"
    return found


def not_recognised(
    head: bytes, found: str | None, wanted: str | None, columns: Names | None = None
) -> UnusableFileError:
    """Why a file of this content is not read."""
    if found:
        return UnusableFileError(f"the content is {found}, not {wanted}")
    if not head.strip():
        return UnusableFileError("the file is empty")
    if EMPTY.fullmatch(head):
        return UnusableFileError("an empty export, with no rows")
    told = f"not recognised as {wanted or ', '.join(FORMATS)}"
    names = names_in(head)
    if names and wanted in (None, "csv"):
        try:
            lacking = [name for name in missing_columns(located(names, columns)) if name != "user_id"]
        except UnusableFileError as error:
            return error
        told += f"; as a table it lacks {accepted(lacking)}; its columns are {listed(names)}" if lacking else ""
    return UnusableFileError(told)


def lines_in(head: bytes) -> list[str]:
    """The first lines of a text that say something, none where it is no text."""
    text = head.decode("utf-8-sig", "replace")
    return [] if "\0" in text else [line for line in text.splitlines()[:100] if line.strip()][:10]


def first_line(head: bytes) -> str:
    """The first line of a text that says something."""
    return next(iter(lines_in(head)), "")


def looks_like_gpx(head: bytes) -> bool:
    """Whether the element is there."""
    return b"\0" not in head and re.search(rb"<gpx[\s>]", head) is not None


def looks_like_geolife(head: bytes) -> bool:
    """By the title, or by a row in its full width."""
    lines = lines_in(head)
    return bool(lines) and (lines[0].startswith("Geolife trajectory") or any(map(PLT_LINE.match, lines)))


def looks_like_csv(head: bytes) -> bool:
    """By the names of its columns."""
    return header_of(first_line(head)) is not None


def looks_like_cabspotting(head: bytes) -> bool:
    """By four numbers in a line."""
    return any(map(CAB_LINE.match, lines_in(head)))


def read_cabspotting(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Latitude, longitude, occupied and unix seconds, separated by spaces."""
    for rows in columns_of(text_of(stream), " ", 4, {0: float, 1: float, 3: float}):
        rows.columns = pd.Index(["latitude", "longitude", "tracked_at"])
        yield rows


def read_geolife(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """PLT files: six lines of a header, then seven fields separated by commas; times are GMT."""
    text = text_of(stream)
    for rows in columns_of(text, ",", 7, {0: float, 1: float, 5: str, 6: str}, skip=0 if PLT_LINE.match(text) else 6):
        rows.columns = pd.Index(["latitude", "longitude", "date", "time"])
        times = rows["date"].str.cat(rows["time"], sep=" ")
        yield rows.assign(tracked_at=times + "Z")


def read_csv(stream: IO[bytes], columns: Names | None = None) -> Iterator[pd.DataFrame]:
    """A header with columns by any known name, then rows separated by a comma, a semicolon or a tab."""
    text = text_of(stream)
    skip = len(text) - len(text.lstrip("\n")) + 1
    header = header_of(text.split("\n", skip)[skip - 1], columns)
    if header is None:
        raise not_recognised(text.encode(), None, "csv", columns)
    separator, names = header
    if len(names) > WIDEST:
        raise UnusableFileError(f"{len(names)} columns in the header, line {skip}; at most {WIDEST} are read")
    places = {at: column for column, at in located(names, columns).items()}
    degrees = [at for at, column in places.items() if column in COLUMNS[2:]]
    # a comma stands in a number only if it separates no columns there
    commas = ('"' if separator == "," else ",") in text and with_decimal_commas(
        text, separator, len(names), degrees, skip
    )
    kinds = {at: float if at in degrees and not commas else str for at in places}
    for found in columns_of(text, separator, len(names), kinds, skip):
        rows = found.rename(columns=places)
        yield with_points(rows) if commas else rows


def with_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Columns of text with points for decimal commas, and the remark that it was so."""
    numeric = [str(column) for column in rows if column not in ("user_id", "geometry")]
    rows = rows.assign(**{column: rows[column].astype(object).str.replace(",", ".") for column in numeric})
    rows.attrs[DECIMAL_COMMAS] = True
    return rows


def header_of(line: str, columns: Names | None = None) -> tuple[str, list[str]] | None:
    """Return the separator with which a line names the columns needed, and the names; a user is not needed."""
    for separator in ",;\t":
        names = fields_of(line, separator)
        try:
            found = located(names, columns)
        except UnusableFileError:
            continue
        if set(missing_columns(found)) <= {"user_id"}:
            return separator, names
    return None


def fields_of(line: str, separator: str) -> list[str]:
    """The fields of a line."""
    quoted = '"' in line and well_quoted(line, 0, separator)
    return next(csv.reader([line], delimiter=separator)) if quoted else line.split(separator)


def names_in(head: bytes) -> list[str]:
    """The names of the columns of a table that lacks some, as far as they are sure to be names and no rows or prose."""
    lines = lines_in(head)
    for separator in ",;\t":
        names = [name.strip() for name in fields_of(lines[0], separator)] if lines else []
        wide = len(names) > 1 and len(lines) > 1 and len(fields_of(lines[1], separator)) == len(names)
        if wide and all(map(COLUMN.fullmatch, names)) and (located(names) or not any(" " in name for name in names)):
            return names
    return []


# the surest first: a header of a table may stand above anything
KNOWN: Mapping[str, Format] = {
    "parquet": Format(looks_like_parquet, read_parquet, table=True),
    "arrow": Format(looks_like_arrow, read_arrow, table=True),
    "fit": Format(looks_like_fit, read_fit),
    "gpx": Format(looks_like_gpx, read_gpx),
    "kml": Format(looks_like_kml, read_kml),
    "tcx": Format(looks_like_tcx, read_tcx),
    "google-timeline": Format(looks_like_google_timeline, read_google_timeline),
    "google-records": Format(looks_like_google_records, read_google_records),
    "google-semantic": Format(looks_like_google_semantic, read_google_semantic),
    "owntracks": Format(looks_like_owntracks, read_owntracks),
    "overland": Format(looks_like_overland, read_overland),
    "geojson": Format(looks_like_geojson, read_geojson),
    "geolife": Format(looks_like_geolife, read_geolife),
    "csv": Format(looks_like_csv, read_csv, table=True),
    "cabspotting": Format(looks_like_cabspotting, read_cabspotting),
}
FORMATS = tuple(KNOWN)
READERS = {name: form.read for name, form in KNOWN.items()}
