"""The description at the end of a Parquet file and the headers of its pages, seen before the library reads them.

They are written in Thrift's compact protocol, of which this is as much as it takes to find the sizes. The library's own
view of the description is no help: it ends the process where some of it is damaged (seen with pyarrow 26).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import dropwhile
from operator import itemgetter
from typing import IO, Any

from hideseek.errors import UnusableFileError
from hideseek.traces.packed import LONGEST, refuse_pieces, refuse_rows, refuse_unpacked

HEADER = 1 << 16  # bytes of the header of a page
FOOTER = 1 << 24  # bytes of the description of a file
DEEPEST = 16  # nested structures and lists
BATCH = 1 << 28  # bytes of texts that share their beginnings, which are unpacked together
SHARING = 7  # the encoding of such texts, DELTA_BYTE_ARRAY
REPEATED = (2, 8)  # encodings of texts that stand once in a dictionary
DATA = {0: (5, 2), 3: (8, 4)}  # kinds of pages with values: the fields that describe them, and the encoding in these
INT, LONG, BYTES, LIST, STRUCT = 5, 6, 8, 9, 12  # kinds of values

Fields = dict[tuple[int, int], Any]  # by their numbers and kinds: the library steps over those of unexpected kinds


@dataclass(frozen=True)
class Pages:
    """What the pages of some columns say: how many ``rows`` may be unpacked together, and how texts are packed.

    A text ``sharing`` its beginning with others is as long as all before it on its page. Columns that have their texts
    ``written_out`` have short ones, after which no page turns to a dictionary again.
    """

    rows: int
    sharing: set[str]
    written_out: set[str]


def footer_of(stream: IO[bytes], size: int) -> tuple[Fields, int]:
    """The description of a Parquet file, and the bytes that it takes."""
    stream.seek(max(0, size - 8))
    end = stream.read(8)
    length = int.from_bytes(end[:4], "little")
    if len(end) < 8 or not 0 < length <= size - 12:
        raise UnusableFileError("malformed Parquet: it is cut short or its end is damaged")
    if length > FOOTER:
        raise UnusableFileError(f"malformed Parquet: {length} bytes describe its columns; at most {FOOTER} are read")
    stream.seek(size - 8 - length)
    try:
        return fields_of(stream.read(length), 0, 0)
    except IndexError:
        raise UnusableFileError("malformed Parquet: its end is damaged") from None


def look_at_pages(stream: IO[bytes], footer: Fields, names: Collection[str], size: int) -> Pages:
    """Look at all pages of these columns of a Parquet file."""
    groups = footer.get((4, LIST), [])
    refuse_rows(footer.get((3, LONG), 0), size, "Parquet")
    refuse_rows(sum(max(0, group.get((3, LONG), 0)) for group in groups), size, "Parquet")
    total = pieces = largest = 0
    sharing, written_out, unbounded = set[str](), set[str](), set[str]()
    for column in (column for group in groups for column in group.get((1, LIST), [])):
        chunk = column.get((3, STRUCT), {})
        name = b"".join(chunk.get((3, LIST), [])[:1]).decode()
        if name not in names:
            continue
        length = chunk.get((7, LONG), -1)
        total += length
        if length < 0 or total > size:
            raise UnusableFileError("malformed Parquet: its columns have more bytes than the file")
        at, dictionary = chunk.get((9, LONG), -1), chunk.get((11, LONG), 0)
        at = dictionary if 0 < dictionary < at else at
        stop, left, data = at + length, chunk.get((5, LONG), 0), list[tuple[bool, bool]]()
        while at < stop and left > 0:
            header, own = page_header(stream, at)
            pieces += 1
            refuse_pieces(pieces, "Parquet")
            unpacked, packed = header.get((2, INT), -1), header.get((3, INT), -1)
            refuse_unpacked(unpacked, packed, "Parquet")
            if packed > size - at - own:  # the library makes room for all of it before it reads
                raise UnusableFileError("malformed Parquet: a page has more bytes than the file")
            largest = max(largest, unpacked)
            first, second = header.get((5, STRUCT), {}), header.get((8, STRUCT), {})  # the two kinds of pages
            if SHARING in (first.get((2, INT)), second.get((4, INT))):
                sharing.add(name)
            if header.get((1, INT)) in DATA:
                data.append(repeated_and_short(header))
            left -= max(0, first.get((1, INT), 0), second.get((1, INT), 0))
            at += own + packed
        if not all(repeated for repeated, _ in data):
            written_out.add(name)
            if any(repeated or not short for repeated, short in dropwhile(itemgetter(0), data)):
                unbounded.add(name)
    rows = max(1, BATCH // max(1, largest)) if sharing else BATCH
    return Pages(rows, sharing, written_out - unbounded)


def repeated_and_short(header: Fields) -> tuple[bool, bool]:
    """Whether the texts of a page stand in a dictionary, and whether they are short on average if they do not."""
    place, encoding = DATA[header[1, INT]]
    said = header.get((place, STRUCT), {})
    return said.get((encoding, INT)) in REPEATED, header.get((2, INT), 0) <= LONGEST * said.get((1, INT), 0)


def page_header(stream: IO[bytes], at: int) -> tuple[Fields, int]:
    """The header of a page, and the bytes it takes."""
    for size in (1 << 8, HEADER):
        stream.seek(at)
        try:
            return fields_of(stream.read(size), 0, 0)
        except IndexError:
            continue
    raise UnusableFileError("malformed Parquet: the header of a page has no end")


def fields_of(data: bytes, at: int, depth: int) -> tuple[Fields, int]:
    """The fields of a structure, and where it ends."""
    found, field = Fields(), 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = integer(data, at)
        kind = head & 15
        value, at = (None, at) if kind in (1, 2) else value_of(data, at, kind, depth)  # truth values need no byte
        found[field, kind] = value
    return found, at + 1


def value_of(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value and where it ends."""
    if depth > DEEPEST:
        raise UnusableFileError("malformed Parquet: it is nested too deep")
    match kind:
        case 1 | 2 | 3:
            return None, at + 1
        case 4 | 5 | 6:
            return integer(data, at)
        case 7:
            return None, at + 8
        case 8:
            length, at = plain(data, at)
            return data[at : at + length], at + length
        case 9 | 10:
            return list_of(data, at, depth)
        case 12:
            return fields_of(data, at, depth + 1)
    raise UnusableFileError("malformed Parquet: a value of no known kind")


def list_of(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    """A list and where it ends."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = plain(data, at)
    values = []
    for _ in range(count):
        value, at = value_of(data, at, kind, depth + 1)
        if at > len(data):
            raise IndexError
        values.append(value)
    return values, at


def plain(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits per byte, and where it ends."""
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise UnusableFileError("malformed Parquet: a number has no end")
    return value | data[at] << shift, at + 1


def integer(data: bytes, at: int) -> tuple[int, int]:
    """A number whose last bit is its sign, and where it ends."""
    value, at = plain(data, at)
    return value >> 1 ^ -(value & 1), at
