"""GPX files: the points of their tracks, and their waypoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO
from xml.parsers import expat

import numpy as np
import pandas as pd

from hideseek.errors import UnusableFileError
from hideseek.traces.text import text_of

BLOCK = 1 << 20  # characters that are parsed together
DEEPEST = 64  # nested XML elements
LONGEST = 1 << 20  # bytes of an XML tag, comment or the like
POINTS = (["wpt"], ["trk", "trkseg", "trkpt"])


def read_gpx(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read waypoints and the points of tracks.

    What harms parsers and no GPX file needs is refused: declared entities, endless nesting, and an element, a comment
    or the like without end, which the parser would look through again from its start with every piece of it.
    """
    text = text_of(stream)
    if "<!DOCTYPE" in text:
        raise UnusableFileError("malformed GPX: it declares a document type")
    parser, points = expat.ParserCreate("utf-8"), Points()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = points.begun, points.ended
    parser.CharacterDataHandler = points.said
    fed, count = 0, 0
    for at in range(0, len(text), BLOCK):
        piece = text[at : at + BLOCK].encode()
        try:
            parser.Parse(piece, at + BLOCK >= len(text))
        except expat.ExpatError as error:
            what = f"{expat.ErrorString(error.code)} in line {error.lineno}"
            raise UnusableFileError(f"malformed GPX: {what}") from None
        fed += len(piece)
        if fed - parser.CurrentByteIndex > LONGEST:
            where = f"from line {parser.CurrentLineNumber} on"
            raise UnusableFileError(f"malformed GPX: more than {LONGEST} bytes without an end {where}")
        if points.found:
            rows = pd.DataFrame(points.found, columns=["latitude", "longitude", "tracked_at"])
            rows.index = pd.RangeIndex(count + 1, count + len(rows) + 1, name="point")
            count += len(rows)
            points.found.clear()
            yield rows


class Points:
    """Hears what a parser finds in a GPX file and keeps the points, (latitude, longitude, time)."""

    def __init__(self) -> None:
        self.path: list[str] = []
        self.degrees = (np.nan, np.nan)
        self.time: list[str] = []
        self.found: list[tuple[float, float, str]] = []

    def begun(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins: keep the degrees of a point."""
        self.path.append(name)
        if len(self.path) > DEEPEST:
            raise UnusableFileError(f"malformed GPX: elements nested more than {DEEPEST} deep")
        if self.path[1:] in POINTS:
            try:
                self.degrees = float(attributes["lat"]), float(attributes["lon"])
            except (KeyError, ValueError):
                raise UnusableFileError("malformed GPX: a point whose lat and lon are no numbers") from None
            self.time.clear()

    def said(self, text: str) -> None:
        """Text inside an element: keep the time of a point."""
        if self.path[-1] == "time" and self.path[1:-1] in POINTS:
            self.time.append(text)

    def ended(self, _: str) -> None:
        """An element ends: a point is complete."""
        if self.path[1:] in POINTS:
            self.found.append((*self.degrees, "".join(self.time)))
        self.path.pop()
