"""How much the pages of a Parquet file and the messages of an Arrow file unpack to, seen before they are unpacked.

Both say it in front of every packed piece, and the library believes them: a file of some kilobytes could fill the
memory. So every piece that will be read is looked at first; only the lengths are read, and nothing is unpacked.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from typing import IO, Any

from hideseek.errors import UnusableFileError

UNPACKED = 1 << 26  # bytes that a piece may always unpack to
RATIO = 100  # and otherwise times its size, as for archives
ROWS, DENSEST = 1 << 20, 64  # rows that a file may always hold, and otherwise so many for each of its bytes
PIECES = 1 << 20  # of one file: the library writes some hundred for ten million rows
HEADER = 1 << 16  # bytes of the header of a page
METADATA = 1 << 26  # bytes of what describes the columns of a file, or a message
EXTENSIONS = 1 << 10  # of dictionaries: each one copies what was there
BATCH = 1 << 28  # bytes of texts that share their beginnings, which are unpacked together
SHARING = 7  # the encoding of such texts, DELTA_BYTE_ARRAY
STRUCT, INTEGER = 12, 5  # kinds of values in the header of a page
CONTINUED = b"\xff\xff\xff\xff"
FILE = b"ARROW1\0\0"
SCHEMA, DICTIONARY, RECORDS = 1, 2, 3  # kinds of messages


def refuse_rows(rows: int, size: int, name: str) -> None:
    """Refuse more rows than traces of so many bytes can have."""
    if not 0 <= rows <= max(ROWS, DENSEST * size):
        raise UnusableFileError(f"malformed {name}: it claims {rows} rows in {size} bytes")


def refuse_unpacked(unpacked: int, packed: int, name: str) -> None:
    """Refuse what unpacks to more than traces do."""
    if not 0 <= unpacked <= max(UNPACKED, RATIO * packed) or packed < 0:
        raise UnusableFileError(f"malformed {name}: {packed} bytes claim to unpack to {unpacked}")


def footer_fits(stream: IO[bytes], size: int) -> bool:
    """Whether the description at the end of a Parquet file lies inside it and has a size that can be read."""
    stream.seek(max(0, size - 8))
    end = stream.read(8)
    return len(end) == 8 and int.from_bytes(end[:4], "little") <= min(size - 12, METADATA)


def look_at_pages(stream: IO[bytes], metadata: Any, leaves: Collection[int], size: int) -> tuple[int, set[int]]:
    """Look at all pages of these columns of a Parquet file.

    Return how many rows may be unpacked together, and the columns whose texts share their beginnings: such a text is
    as long as all before it on its page.
    """
    refuse_rows(metadata.num_rows, size, "Parquet")
    total = pieces = largest = 0
    sharing = set[int]()
    for group in range(metadata.num_row_groups):
        for leaf in leaves:
            chunk = metadata.row_group(group).column(leaf)
            total += chunk.total_compressed_size
            if chunk.total_compressed_size < 0 or total > size:
                raise UnusableFileError("malformed Parquet: its columns have more bytes than the file")
            dictionary = chunk.dictionary_page_offset or chunk.data_page_offset
            at = min(chunk.data_page_offset, dictionary) if dictionary > 0 else chunk.data_page_offset
            stop, left = at + chunk.total_compressed_size, chunk.num_values
            while at < stop and left > 0 and (pieces := pieces + 1) <= PIECES:
                header, length = page_header(stream, at)
                unpacked, packed = header.get(2, -1), header.get(3, -1)
                refuse_unpacked(unpacked, packed, "Parquet")
                data = header.get(5, header.get(8, {}))
                largest = max(largest, unpacked)
                if SHARING in (header.get(5, {}).get(2), header.get(8, {}).get(4)):
                    sharing.add(leaf)
                left -= max(0, data.get(1, 0))
                at += length + packed
    if pieces > PIECES:
        raise UnusableFileError(f"malformed Parquet: more than {PIECES} pages")
    return max(1, BATCH // max(1, largest)) if sharing else BATCH, sharing


def page_header(stream: IO[bytes], at: int) -> tuple[dict[int, Any], int]:
    """The whole numbers in the header of a page (Thrift's compact protocol), and the bytes it takes."""
    for size in (1 << 8, HEADER):
        stream.seek(at)
        try:
            return fields_of(stream.read(size), 0, 0)
        except IndexError:
            continue
    raise UnusableFileError("malformed Parquet: the header of a page has no end")


def fields_of(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """The 32-bit integers and the structures of a structure by their numbers, and where it ends.

    Fields of other kinds are stepped over, and so they are by the library: it takes none of another kind than expected.
    """
    found, field = dict[int, Any](), 0
    while head := data[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = integer(data, at)
        kind = head & 15
        value, at = (None, at) if kind in (1, 2) else value_of(data, at, kind, depth)  # truth values need no byte
        if kind in (INTEGER, STRUCT):
            found[field] = value
    return found, at + 1


def value_of(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    """A value and where it ends."""
    if depth > 8:
        raise UnusableFileError("malformed Parquet: the header of a page is nested too deep")
    match kind:
        case 1 | 2 | 3:
            return None, at + 1
        case 4 | 5 | 6:
            return integer(data, at)
        case 7:
            return None, at + 8
        case 8:
            length, at = plain(data, at)
            return None, at + length
        case 9 | 10:
            count, inside = data[at] >> 4, data[at] & 15
            at += 1
            if count == 15:
                count, at = plain(data, at)
            for _ in range(count):
                _, at = value_of(data, at, inside, depth + 1)
                if at > len(data):
                    raise IndexError
            return None, at
        case 12:
            return fields_of(data, at, depth + 1)
    raise UnusableFileError("malformed Parquet: the header of a page has a field of no known kind")


def plain(data: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits per byte, and where it ends."""
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise UnusableFileError("malformed Parquet: a number in the header of a page has no end")
    return value | data[at] << shift, at + 1


def integer(data: bytes, at: int) -> tuple[int, int]:
    """A number whose last bit is its sign, and where it ends."""
    value, at = plain(data, at)
    return value >> 1 ^ -(value & 1), at


def refuse_messages(stream: IO[bytes], start: int, size: int) -> None:
    """Look at all messages of an Arrow stream that begins here."""
    at, rows, extensions, pieces = start, 0, 0, 0
    while message := message_at(stream, at, size):
        table, body, length = message
        pieces += 1
        if table.number(1, "B") in (DICTIONARY, RECORDS):
            records = table.table(2)
            if table.number(1, "B") == DICTIONARY:
                extensions += records.number(2, "?")
                records = records.table(1)
            else:
                rows += records.number(0, "q")
            refuse_rows(rows, size, "Arrow")
            refuse_rows(records.number(0, "q"), size, "Arrow")
            refuse_unpacked(unpacked_size(stream, records, body, length), length, "Arrow")
        at = body + length
        if extensions > EXTENSIONS or pieces > PIECES:
            raise UnusableFileError("malformed Arrow: more messages than those of traces")


def unpacked_size(stream: IO[bytes], records: Flat, body: int, length: int) -> int:
    """The bytes that the buffers of a batch of records claim to unpack to."""
    total = 0
    packed = bool(records.offset(3))
    for begin, count in records.pairs(2):
        if not 0 <= begin <= begin + count <= length:
            raise UnusableFileError("malformed Arrow: a buffer outside of its message")
        claimed = -1
        if packed and count:
            stream.seek(body + begin)
            (claimed,) = struct.unpack("<q", stream.read(8))
        total += count if claimed == -1 else max(0, claimed)
    return total


def message_at(stream: IO[bytes], at: int, size: int) -> tuple[Flat, int, int] | None:
    """The description of a message, and where its body lies; none at the end."""
    stream.seek(at)
    head = stream.read(8)
    at += 8
    if head[:4] != CONTINUED:
        at, head = at - 4, CONTINUED + head[:4]  # written so before 2019
    length = int.from_bytes(head[4:], "little", signed=True)
    if len(head) < 8 or length == 0:
        return None
    stream.seek(at)
    described = stream.read(length) if 0 < length <= METADATA else b""
    if len(described) < 8 or len(described) < length:
        raise UnusableFileError("malformed Arrow: it ends inside a message")
    table = Flat(described, struct.unpack_from("<I", described)[0])
    body = table.number(3, "q")
    if not 0 <= body <= size - at - length:
        raise UnusableFileError("malformed Arrow: it ends inside a message")
    return table, at + length, body


class Flat:
    """A table of a flatbuffer: its fields by their numbers."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self.offsets = at - struct.unpack_from("<i", data, at)[0]
        if not 0 <= self.offsets < len(data) - 4:
            raise UnusableFileError("malformed Arrow: a message points outside of itself")

    def offset(self, field: int) -> int:
        """Where a field lies, 0 where it is left out."""
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, self.offsets)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self.data, self.offsets + 4 + 2 * field)[0]
        return self.at + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        """A number, 0 where it is left out."""
        at = self.offset(field)
        return int(struct.unpack_from(f"<{kind}", self.data, at)[0]) if at else 0

    def beyond(self, field: int) -> int:
        """Where a field of no fixed size lies."""
        if not (at := self.offset(field)):
            raise UnusableFileError("malformed Arrow: a message without its header")
        return at + int(struct.unpack_from("<I", self.data, at)[0])

    def table(self, field: int) -> Flat:
        """A table inside this one."""
        return Flat(self.data, self.beyond(field))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """A list of pairs of numbers."""
        if not self.offset(field):
            return []
        at = self.beyond(field)
        (count,) = struct.unpack_from("<I", self.data, at)
        return list(struct.iter_unpack("<qq", self.data[at + 4 : at + 4 + 16 * count]))
