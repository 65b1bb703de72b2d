"""How much a file may claim to hold: bounds for formats that say in front of every packed piece what it unpacks to.

Libraries believe what is said there, and a file of some kilobytes could fill the memory. So every piece that will be
read is looked at first (``parquet_pages``, ``arrow_messages``); only the sizes are read, and nothing is unpacked.
"""

from __future__ import annotations

from hideseek.errors import UnusableFileError

UNPACKED = 1 << 26  # bytes that a piece may always unpack to
RATIO = 100  # and otherwise times its size, as for archives
ROWS, DENSEST = 1 << 20, 64  # rows that a file may always hold, and otherwise so many for each of its bytes
PIECES = 1 << 20  # of one file: ten million rows take some hundred
LONGEST = 1 << 10  # bytes of a text; a longer one is neither a name, a time nor a point


def refuse_rows(rows: int, size: int, name: str) -> None:
    """Refuse more rows than traces of so many bytes can have."""
    if not 0 <= rows <= max(ROWS, DENSEST * size):
        raise UnusableFileError(f"malformed {name}: it claims {rows} rows in {size} bytes")


def refuse_unpacked(unpacked: int, packed: int, name: str) -> None:
    """Refuse what unpacks to more than traces do."""
    if not 0 <= unpacked <= max(UNPACKED, RATIO * packed) or packed < 0:
        raise UnusableFileError(f"malformed {name}: {packed} bytes claim to unpack to {unpacked}")


def refuse_pieces(pieces: int, name: str) -> None:
    """Refuse more pieces than traces have."""
    if pieces > PIECES:
        raise UnusableFileError(f"malformed {name}: it has more than {PIECES} pieces")
