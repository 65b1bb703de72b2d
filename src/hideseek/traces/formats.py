"""The formats of traces: how each is recognised, and the reader that turns its text into raw columns.

A reader hands over its columns as found, block by block, with the number of the line that each row stood on. To add a
format, write a reader, enter it in ``READERS``, and let :func:`recognise` know it by its content.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator

import pandas as pd

from hideseek.errors import UnusableFileError
from hideseek.traces.delimited import columns_of, well_quoted
from hideseek.traces.gpx import read_gpx
from hideseek.traces.table import COLUMNS, located, missing_columns

CAB_LINE = re.compile(r"\s*(?:[-+.\deE]+\s+){3}-?\d+\s*$")
PLT_LINE = re.compile(r"(?:[^,\n]*,){5}\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d\s*$", re.M)
WIDEST = 1024  # columns of a file


def recognise(head: bytes) -> str | None:
    """Tell the format from the first lines, and never from the name."""
    text = head.decode("utf-8-sig", "replace")
    lines = [line for line in text.splitlines()[:100] if line.strip()][:10]
    if not lines or "\0" in text:
        return None
    if re.search(r"<gpx[\s>]", text):
        return "gpx"
    if lines[0].startswith("Geolife trajectory") or any(map(PLT_LINE.match, lines)):
        return "geolife"
    if header_of(lines[0]):
        return "csv"
    return "cabspotting" if any(map(CAB_LINE.match, lines)) else None


def not_recognised(head: bytes, found: str | None, wanted: str | None) -> UnusableFileError:
    """Why a file of this content is not read."""
    if found:
        return UnusableFileError(f"the content is {found}, not {wanted}")
    if not head.strip():
        return UnusableFileError("the file is empty")
    return UnusableFileError(f"not recognised as {wanted or ', '.join(FORMATS)}")


def text_of(data: bytes) -> str:
    """The text of a file, with line breaks of one kind."""
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


def read_cabspotting(text: str) -> Iterator[pd.DataFrame]:
    """Latitude, longitude, occupied and unix seconds, separated by spaces."""
    for rows in columns_of(text, " ", 4, {0: float, 1: float, 3: float}):
        rows.columns = pd.Index(["latitude", "longitude", "tracked_at"])
        yield rows


def read_geolife(text: str) -> Iterator[pd.DataFrame]:
    """PLT files: six lines of a header, then seven fields separated by commas."""
    for rows in columns_of(text, ",", 7, {0: float, 1: float, 5: str, 6: str}, skip=0 if PLT_LINE.match(text) else 6):
        rows.columns = pd.Index(["latitude", "longitude", "date", "time"])
        times = rows["date"].str.cat(rows["time"], sep=" ")
        yield rows.assign(tracked_at=times)


def read_csv(text: str) -> Iterator[pd.DataFrame]:
    """A header with columns by any known name, then rows separated by a comma, a semicolon or a tab."""
    skip = len(text) - len(text.lstrip("\n")) + 1
    header = header_of(text.split("\n", skip)[skip - 1])
    if header is None:
        raise UnusableFileError(f"no columns for time, latitude and longitude in the header, line {skip}")
    separator, names = header
    if len(names) > WIDEST:
        raise UnusableFileError(f"{len(names)} columns in the header, line {skip}; at most {WIDEST} are read")
    columns = {at: column for column, at in located(names).items()}
    kinds = {at: float if column in COLUMNS[2:] else str for at, column in columns.items()}
    for found in columns_of(text, separator, len(names), kinds, skip):
        yield found.rename(columns=columns)


def header_of(line: str) -> tuple[str, list[str]] | None:
    """Return the separator with which a line names the columns needed, and the names; a user is not needed."""
    for separator in ",;\t":
        quoted = '"' in line and well_quoted(line, 0, separator)
        names = next(csv.reader([line], delimiter=separator)) if quoted else line.split(separator)
        if set(missing_columns(located(names))) <= {"user_id"}:
            return separator, names
    return None


READERS: dict[str, Callable[[str], Iterator[pd.DataFrame]]] = {
    "cabspotting": read_cabspotting,
    "geolife": read_geolife,
    "gpx": read_gpx,
    "csv": read_csv,
}
FORMATS = tuple(READERS)
