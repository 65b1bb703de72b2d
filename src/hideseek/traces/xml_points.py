"""Points in XML: one careful way through a file, piece by piece, for the formats that are written in it.

What harms parsers and no traces need is refused: declared entities, endless nesting, and an element, a comment or the
like without end, which the parser would look through again from its start with every piece of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any
from xml.parsers import expat

import numpy as np
import pandas as pd

from hideseek.errors import UnusableFileError

BLOCK, ROWS = 1 << 20, 1 << 16  # bytes that are parsed together, and points that are handed over together
DEEPEST = 64  # nested XML elements
LONGEST = 1 << 20  # bytes of an XML tag, comment or the like
WORDIEST = 1 << 10  # characters of text that are kept of one element: a time or two numbers take far fewer


class Elements:
    """Hears what a parser finds and keeps the rows of ``columns``; each format says where its points lie.

    ``path`` are the names of the elements that are open, and ``found`` the rows that were not handed over yet.
    """

    name = "XML"
    columns: tuple[str, ...] = ("latitude", "longitude", "tracked_at")

    def __init__(self) -> None:
        self.path: list[str] = []
        self.found: list[tuple[Any, ...]] = []
        self.words: list[str] = []
        self.kept = 0

    def begun(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.path.append(name)
        if len(self.path) > DEEPEST:
            raise self.malformed(f"elements nested more than {DEEPEST} deep")
        self.words.clear()
        self.kept = 0
        self.begin(attributes)

    def said(self, text: str) -> None:
        """Text inside an element, as far as it can be a time or a place."""
        if self.kept < WORDIEST:
            self.words.append(text[: WORDIEST - self.kept])
            self.kept += len(self.words[-1])

    def ended(self, _: str) -> None:
        """An element ends; ``words`` are what it said after the elements inside it."""
        self.end("".join(self.words).strip())
        self.words.clear()
        self.kept = 0
        self.path.pop()

    def begin(self, attributes: dict[str, str]) -> None:
        """What a format does where an element begins."""

    def end(self, text: str) -> None:
        """What a format does where an element ends."""

    def malformed(self, what: str) -> UnusableFileError:
        """Why this file is not read."""
        return UnusableFileError(f"malformed {self.name}: {what}")

    def refuse_document_type(self, *_: object) -> None:
        """Entities can be declared nowhere else."""
        raise self.malformed("it declares a document type")


def blocks_of(stream: IO[bytes], elements: Elements) -> Iterator[pd.DataFrame]:
    """Read the points that ``elements`` hears of, as many at a time as a piece of the file has."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = elements.refuse_document_type
    parser.StartElementHandler, parser.EndElementHandler = elements.begun, elements.ended
    parser.CharacterDataHandler = elements.said
    fed, count, piece = 0, 0, b" "
    while piece:
        piece = stream.read(BLOCK)
        try:
            parser.Parse(piece, not piece)
        except expat.ExpatError as error:
            raise elements.malformed(f"{expat.ErrorString(error.code)} in line {error.lineno}") from None
        fed += len(piece)
        if piece and fed - parser.CurrentByteIndex > LONGEST:
            where = f"from line {parser.CurrentLineNumber} on"
            raise elements.malformed(f"more than {LONGEST} bytes without an end {where}")
        while elements.found:
            rows = pd.DataFrame(elements.found[:ROWS], columns=list(elements.columns))
            rows.index = pd.RangeIndex(count + 1, count + len(rows) + 1, name="point")
            count += len(rows)
            del elements.found[:ROWS]
            yield rows


def number(text: str) -> float:
    """The number that a text is, NaN where it is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def local(name: str) -> str:
    """The name of an element without the prefix of its namespace, which every program chooses for itself."""
    return name.rpartition(":")[2]
