"""The messages of an Arrow file or stream, seen before the library reads them."""

from __future__ import annotations

import struct
from typing import IO

from hideseek.errors import UnusableFileError
from hideseek.traces.packed import refuse_pieces, refuse_rows, refuse_unpacked

METADATA = 1 << 26  # bytes of what describes a message
EXTENSIONS = 1 << 10  # of dictionaries: each one copies what was there
CONTINUED = b"\xff\xff\xff\xff"
FILE = b"ARROW1\0\0"
SCHEMA, DICTIONARY, RECORDS = 1, 2, 3  # kinds of messages


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
        refuse_pieces(pieces, "Arrow")
        if extensions > EXTENSIONS:
            raise UnusableFileError(f"malformed Arrow: it extends its dictionaries more than {EXTENSIONS} times")


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
