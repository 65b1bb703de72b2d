"""Text with a separator, cut into columns: block by block, so that a large file fits in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import pandas as pd

from hideseek.errors import UnusableFileError

BLOCK, ROWS = 1 << 20, 1 << 16  # characters, or quoted rows, that are looked at together: only the good rows are kept

WITH_COMMA, WITH_POINT = r"\s*[-+]?\d{1,3},(\d+)\s*", r"\s*[-+]?\d*\.\d+\s*"  # degrees


def columns_of(
    text: str, separator: str, width: int, kinds: Mapping[int, type], skip: int = 0
) -> Iterator[pd.DataFrame]:
    """Cut lines into the columns of ``kinds``; the index counts lines, a row of another width comes out as all missing.

    Where no row has more fields than ``width`` and the separators add up, no row has fewer either: then pandas may read
    the block, ten times faster than the loop below. It refuses rows that are too long and numbers that are none.
    """
    start = 0
    for _ in range(skip):
        start = text.find("\n", start) + 1 or len(text)
    if separator != " " and text.find('"', start) >= 0 and well_quoted(text, start, separator):
        reader = csv.reader(lines_of(text, start), delimiter=separator, strict=True)
        while cells := [(reader.line_num, row) for row in islice(reader, ROWS)]:
            yield table_of(cells, width, kinds, skip)
        return
    for block in line_blocks(text, start):
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
            yield table_of(enumerate(fields, 1), width, kinds, skip)
        skip += height


def with_decimal_commas(text: str, separator: str, width: int, degrees: Sequence[int], skip: int) -> bool:
    """Whether commas in the columns of ``degrees`` are decimal, as no number there has a point.

    Where three digits follow each, they may as well be thousands of something else, such as metres.
    """
    thousands, others = False, False
    for rows in columns_of(text, separator, width, dict.fromkeys(degrees, str), skip):
        for values in (rows[at].dropna().astype(str) for at in degrees):
            if values.str.fullmatch(WITH_POINT).any():
                return False
            digits = values.str.extract(f"^{WITH_COMMA}$", expand=False).dropna().str.len()
            thousands, others = thousands or bool((digits == 3).any()), others or bool((digits != 3).any())
    if thousands and not others:
        why = "commas that may be decimal or separate thousands, as three digits follow each"
        raise UnusableFileError(f"its degrees have {why}; write them with a decimal point")
    return others


def table_of(cells: Iterable[tuple[int, list[str]]], width: int, kinds: Mapping[int, type], skip: int) -> pd.DataFrame:
    """The columns of ``kinds`` from the fields of numbered lines; blank lines are left out."""
    missing, lines, whole = [None] * width, [], list[Sequence[Any]]()
    for line, row in cells:
        if len(row) > 1 or "".join(row).strip():
            lines.append(skip + line)
            whole.append(row if len(row) == width else missing)
    index = pd.Index(lines, dtype="int64", name="line")
    return pd.DataFrame({at: [row[at] for row in whole] for at in kinds}, index=index, dtype=object)


def line_blocks(text: str, start: int) -> Iterator[str]:
    """Whole lines, about as many as make a block, without the line breaks between the blocks and at the very end."""
    end = len(text.rstrip("\n"))
    while start < end:
        stop = text.find("\n", start + BLOCK, end)
        stop = end if stop < 0 else stop
        yield text[start:stop]
        start = stop + 1


def lines_of(text: str, start: int) -> Iterator[str]:
    """The lines from a position on, each with its line break."""
    for block in line_blocks(text, start):
        yield from (f"{line}\n" for line in block.split("\n"))


def well_quoted(text: str, start: int, separator: str) -> bool:
    """Whether all quotes are closed; one left open would swallow every row below it: cut at the separators alone."""
    try:
        for _ in csv.reader(lines_of(text, start), delimiter=separator, strict=True):
            pass
    except csv.Error:
        return False
    return True
