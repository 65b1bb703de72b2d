"""OwnTracks: the recorder's ``.rec`` files, and its messages as JSON.

A line of a ``.rec`` file has a time, a word and a message, separated by tabs or, in old files, by spaces. Messages as
JSON stand one per line, in an array, or under ``data`` as the recorder's interface answers. Only those of the type
"location" are fixes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

import msgspec
import pandas as pd

from hideseek.errors import UnusableFileError
from hideseek.traces.json_stream import (
    COLUMNS,
    LONGEST,
    NOTHING,
    Row,
    blocks_of,
    elements,
    number,
    outline,
    pieces_of,
    plain,
)

LINE = re.compile(rb"\s*(\d{4}-\d\d-\d\dT\S+)[ \t]+\S+[ \t]+(\{.*)")
MESSAGE = {"_type", "item._type", "data.item._type"}


def looks_like_owntracks(head: bytes) -> bool:
    """Whether a file that starts so is a ``.rec`` file or holds messages of OwnTracks."""
    return any(map(LINE.match, re.split(rb"[\r\n]+", head)[:10])) or not MESSAGE.isdisjoint(outline(head))


def read_owntracks(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read messages from lines or from a document.

    A damaged line is a row without values; a damaged document is refused.
    """
    pieces = pieces_of(stream)
    first = next(pieces)
    start = first.lstrip()
    several_lines = re.match(rb"\{\s*[\r\n]", start) is not None
    if start.startswith(b"[") or several_lines or "data" in outline(first):
        alone = several_lines and "data" not in outline(first)
        found = elements(chain([first], pieces), "OwnTracks", ("", "data"), whole=alone)
        rows, place = rows_of((place, message, None) for place, message in enumerate(found, 1)), "message"
    else:
        rows, place = rows_of(messages(chain([first], pieces))), "line"
    for block in blocks_of(rows, columns=(place, *COLUMNS)):
        yield block.set_index(place)


def rows_of(found: Iterable[tuple[int, Any, Any]]) -> Iterator[Row]:
    """The place and the fix of each location among messages, which come with their place and the time of their line."""
    for place, message, time in found:
        if not isinstance(message, dict):
            yield place, *NOTHING
        elif message.get("_type") == "location":
            north, east = number(message.get("lat")), number(message.get("lon"))
            told = plain(message.get("tst"))
            yield place, north, east, time if told is None else told, None, number(message.get("acc"))


def messages(pieces: Iterable[bytes]) -> Iterator[tuple[int, Any, str | None]]:
    """The message of every line with the number and the time of the line; None for one that is damaged."""
    for place, line in enumerate(lines_of(pieces), 1):
        if not line.strip():
            continue
        parts = LINE.fullmatch(line.rstrip())
        try:
            yield place, msgspec.json.decode(parts[2] if parts else line), parts and parts[1].decode()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            yield place, None, None


def lines_of(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with any of the three line breaks."""
    rest = b""
    for piece in pieces:
        *lines, rest = re.split(rb"\r\n|\n|\r(?!\Z)", rest + piece)
        yield from lines
        if len(rest) > LONGEST:
            raise UnusableFileError(f"malformed OwnTracks: a line of more than {LONGEST} bytes")
    yield from re.split(rb"\r", rest)
