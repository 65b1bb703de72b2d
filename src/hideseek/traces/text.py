"""The bytes and the text of a file that is read at once, as long as memory can hold what becomes of them."""

from __future__ import annotations

import io
import os
from typing import IO

from hideseek.errors import SizeError, UnusableFileError, without_value
from hideseek.util.limits import refuse_if_too_large

PIECE = 1 << 20  # bytes read at a time
READING = 8  # bytes of memory for each of a file


def text_of(stream: IO[bytes]) -> str:
    """The text of a file, with line breaks of one kind."""
    data = whole(stream)
    if b"\0" in data:
        raise UnusableFileError("it holds NUL bytes, so it is not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnusableFileError(f"line {line} is not UTF-8 text ({error.reason})") from None
    if not text.strip():
        raise UnusableFileError("the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def whole(stream: IO[bytes]) -> bytes:
    """All bytes of a file; one that is too large is refused before it is read, or where its size is not known, then."""
    refuse_bytes(size_on_disk(stream))
    pieces, size = list[bytes](), 0
    while piece := stream.read(PIECE):
        pieces.append(piece)
        size += len(piece)
        refuse_bytes(size)
    return b"".join(pieces)


def refuse_bytes(size: int) -> None:
    """Refuse a file of a size that memory cannot hold."""
    try:
        refuse_if_too_large(READING * size, f"reading its {size} bytes", "Cut it into several files.", parameter="path")
    except SizeError as error:
        raise UnusableFileError(without_value(error).rstrip(".")) from None


def size_on_disk(stream: IO[bytes]) -> int:
    """The bytes of a file on this machine, 0 where it lies elsewhere or in an archive."""
    try:
        return os.fstat(stream.fileno()).st_size
    except (OSError, io.UnsupportedOperation, AttributeError):
        return 0
