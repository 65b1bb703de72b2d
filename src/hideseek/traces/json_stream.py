"""Large JSON in bounded memory: one element of an array at a time, and nothing that a hostile file could make grow.

The parser is ijson, fed piece by piece. It is asked for its plain events only: paths and objects that ijson would build
itself have no bounds, and neither do numbers unless they are read as the machine's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import IO, Any

import ijson
import numpy as np
import pandas as pd

from hideseek.errors import UnusableFileError

PIECE = 1 << 16  # bytes that are parsed together
DEEPEST = 32  # nested arrays and objects; those of location exports are nested less than ten deep
LONGEST = 1 << 20  # bytes of one string, one number or one stretch of white space
LARGEST = 1 << 24  # bytes of one element; in Python's memory it takes up to 25 times as much
ROWS = 1 << 16  # of a block
STEP = 1 << 10  # bytes of a head that are looked at together: what stands before damage still counts
OUTER = 4  # levels of an outline
WORD = 64  # characters of a name in an outline
BOM = b"\xef\xbb\xbf"
OPENING = {"start_map": dict, "start_array": list}
CLOSING = ("end_map", "end_array")
DAMAGE = (ijson.JSONError, ValueError, ArithmeticError)  # the latter two from ijson without its C library

COLUMNS = ("latitude", "longitude", "tracked_at", "finished_at", "accuracy")
Row = tuple[Any, ...]  # of these columns
NOTHING: Row = (None,) * len(COLUMNS)


def pieces_of(stream: IO[bytes]) -> Iterator[bytes]:
    """The bytes of a file without a byte order mark, piece by piece."""
    piece = whole_piece(stream).removeprefix(BOM)
    if not piece.strip():
        raise UnusableFileError("the file is empty")
    while piece:
        yield piece
        piece = whole_piece(stream)


def whole_piece(stream: IO[bytes]) -> bytes:
    """The next bytes, as many as make a piece unless the file ends: streams may give fewer than they are asked for."""
    piece = stream.read(PIECE)
    while 0 < len(piece) < PIECE and (more := stream.read(PIECE - len(piece))):
        piece += more
    return piece


def events_of(pieces: Iterable[bytes], name: str) -> Iterator[tuple[int, list[tuple[str, Any]]]]:
    """What ijson finds in each piece, after the bytes up to its end; documents may follow one another."""
    events = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events, use_float=True, multiple_values=True)
    read = quiet = 0
    for piece in pieces:
        try:
            parser.send(piece)
        except DAMAGE:  # what ijson says about it shows the place, which may be a true location
            where = f"between byte {read} and byte {read + len(piece)}"
            raise UnusableFileError(f"malformed {name}: no JSON, or a number beyond 64 bits, {where}") from None
        read += len(piece)
        quiet = 0 if events else quiet + len(piece)
        if quiet > LONGEST:
            raise UnusableFileError(f"malformed {name}: more than {LONGEST} bytes without an end before byte {read}")
        yield read, events
        events.clear()
    try:
        parser.close()
    except DAMAGE:
        raise UnusableFileError(f"malformed {name}: it ends too early, after {read} bytes") from None
    yield read, events


def elements(pieces: Iterable[bytes], name: str, arrays: Sequence[str], whole: bool = False) -> Iterator[Any]:
    """Yield the elements of some arrays as Python objects, one at a time.

    Parameters
    ----------
    pieces : iterable of bytes
        The JSON.
    name : str
        What the file is called in an error.
    arrays : sequence of str
        The keys of the outermost object that hold the arrays; "" stands for an outermost array.
    whole : bool
        Yield whole documents instead.

    Raises
    ------
    UnusableFileError
        For what is no JSON, and where something is nested too deep, too long or too large.
    """
    ready: list[Any] = []  # stands for an array that is asked for; what it holds is the element being read
    stack: list[Any] = [ready if whole else None]  # of open arrays and objects; None where they are not kept
    key = member = ""
    begun = 0  # bytes before the element
    for read, events in events_of(pieces, name):
        for event, value in events:
            if event == "map_key":
                member = value
                key = value if len(stack) == 2 else key
                continue
            if event in CLOSING:
                stack.pop()
                key = key if len(stack) > 1 else ""
            else:
                here, made = stack[-1], OPENING[event]() if event in OPENING else value
                if here is None:
                    made = ready if event == "start_array" and len(stack) <= 2 and key in arrays else None
                elif type(here) is dict:
                    here[member] = made
                else:
                    here.append(made)
                if event in OPENING:
                    stack.append(made)
                    if len(stack) > DEEPEST:
                        raise UnusableFileError(f"malformed {name}: nested {DEEPEST} deep or more")
            if ready and stack[-1] is ready:
                yield ready.pop()
                begun = read
        begun = begun if ready else read
        if read - begun > LARGEST:
            raise UnusableFileError(f"malformed {name}: more than {LARGEST} bytes in one element")


@lru_cache(maxsize=1)  # every format looks at the same head
def outline(head: bytes) -> frozenset[str]:
    """The paths of all keys in the outer levels of JSON that may end anywhere, and what is said of a type.

    >>> sorted(outline(b'{"locations": [{"type": "Feature", "geome'))
    ['locations', 'locations.item.type', 'locations.item.type=Feature']
    """
    events = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events, use_float=True, multiple_values=True)
    head = head.removeprefix(BOM)
    with suppress(*DAMAGE):
        for at in range(0, len(head), STEP):
            parser.send(head[at : at + STEP])
    found, names = set[str](), list[str]()
    for event, value in events:
        if event in CLOSING:
            names.pop()
        elif event in OPENING:
            names.append("item")
        elif event == "map_key":
            names[-1] = value[:WORD]
            if len(names) <= OUTER:
                found.add(".".join(names))
        elif event == "string" and len(names) <= OUTER and names[-1:] in (["type"], ["_type"]):
            found.add(f"{'.'.join(names)}={value[:WORD]}")
    return frozenset(found)


def inside(value: Any, *keys: str) -> Any:
    """What stands under these keys of objects in objects; None where one of them is missing or is no object.

    >>> inside({"visit": {"topCandidate": {"placeLocation": "here"}}}, "visit", "topCandidate", "placeLocation")
    'here'
    """
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def number(value: Any) -> float:
    """A number, or the number that a text says; NaN for anything else.

    >>> number("49"), number(2), number(True)
    (49.0, 2.0, nan)
    """
    try:
        return np.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def plain(value: Any) -> Any:
    """A text or a number as it is; None for anything else."""
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def blocks_of(rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> Iterator[pd.DataFrame]:
    """Rows as tables of at most ``ROWS``; the index counts them through the file."""
    rows, count = iter(rows), 0
    while block := list(islice(rows, ROWS)):
        index = pd.RangeIndex(count + 1, count + len(block) + 1, name="point")
        yield pd.DataFrame(dict(zip(columns, zip(*block, strict=True), strict=True)), index=index)
        count += len(block)
