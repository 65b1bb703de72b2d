"""FIT files, written byte by byte after the description of the format."""

from __future__ import annotations

import struct

EPOCH = 631065600  # 1989-12-31
NUMBERS = {"sint32": (0x85, "i"), "uint32": (0x86, "I"), "uint8": (0x02, "B"), "uint16": (0x84, "H")}
FIELDS = {253: "uint32", 0: "sint32", 1: "sint32", 31: "uint8"}  # of a record: time, latitude, longitude, accuracy
NOWHERE = 0x7FFFFFFF  # a position that is not known
UNSAID = 0xFF  # an accuracy that is not known


def checksum(data: bytes) -> int:
    """The bit-by-bit form of CRC-16 with the reversed polynomial 0xA001."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


def definition(message: int, fields: dict[int, str], *, local: int = 0, order: str = "<") -> bytes:
    """What the data messages of a local number will hold."""
    sizes = ((number, struct.calcsize(NUMBERS[kind][1]), NUMBERS[kind][0]) for number, kind in fields.items())
    head = struct.pack(f"{order}BBBHB", 0x40 | local, 0, order == ">", message, len(fields))
    return head + b"".join(bytes(size) for size in sizes)


def data(fields: dict[int, str], *values: int, local: int = 0, order: str = "<", offset: int | None = None) -> bytes:
    """One message; ``offset`` is that of a compressed time."""
    head = local if offset is None else 0x80 | local << 5 | offset
    return bytes([head]) + struct.pack(order + "".join(NUMBERS[kind][1] for kind in fields.values()), *values)


def file_of(*messages: bytes, head: int = 14) -> bytes:
    """A file of these messages, with its header and its checksums."""
    body = b"".join(messages)
    header = struct.pack("<BBHI4s", head, 0x20, 2100, len(body), b".FIT")
    header += struct.pack("<H", checksum(header)) if head == 14 else b""
    return header + body + struct.pack("<H", checksum(header + body))


def semicircles(degrees: float) -> int:
    return round(degrees * 2**31 / 180)


def record(seconds: int, latitude: float, longitude: float, accuracy: int = UNSAID) -> bytes:
    return data(FIELDS, seconds - EPOCH, semicircles(latitude), semicircles(longitude), accuracy)


FIT = file_of(
    definition(0, {0: "uint8"}, local=1),  # what kind of file it is
    data({0: "uint8"}, 4, local=1),
    definition(RECORD := 20, FIELDS),
    record(1577872800, 46.5, 6.5, 5),
    data(FIELDS, 1577872801 - EPOCH, NOWHERE, NOWHERE, UNSAID),
    record(1577872802, -46.6, -6.6),
)
