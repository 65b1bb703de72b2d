"""Archives of traces, tar, zip and gzip: nothing in them is trusted, and nothing is unpacked to disk."""

from __future__ import annotations

import gzip
import io
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath, PurePosixPath
from typing import IO, Any, Self, cast

from hideseek.errors import HideseekError, SizeError, UnusableFileError, without_value
from hideseek.util.limits import refuse_if_too_large

# What the publishers lay beside the traces
COMPANION = re.compile(r"_cabs\.txt|labels\.txt|(?:readme|licen[cs]e)(?:\..*)?|user guide.*", re.I)

HEAD = 1 << 16  # bytes looked at to recognise a file
LARGEST = 1 << 30  # bytes of one archive member; the largest cab has about one million
LARGEST_HEADER = 1 << 13  # bytes of what extends one; tarfile may take quadratic time for it
EXTENDING = 1 << 30  # the sum of the squares of what is more than a block: sixteen of the largest
UNPACKED = 1 << 24  # bytes that an archive may always unpack to
RATIO = 100  # and otherwise times its size: traces are packed to a tenth, and to a thousandth only what is none
FILES = 1000  # that an archive may always hold
SMALLEST = 32  # and otherwise one for so many bytes: a file of traces takes more when it is packed
LAST = (1 << 16) + 22  # bytes at the end of a zip archive in which its last record stands
LISTING = 16  # bytes of memory for each of a zip archive's list of files
EXTENSIONS = {  # headers of an archive that extend the next one
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
}
NESTED = "an archive in an archive is not read: unpack the outer one"
DAMAGE = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RecursionError)


Member = tuple[PurePosixPath, IO[bytes] | UnusableFileError]  # its name, and its bytes, or why it has none


class Allowance:
    """How many bytes an archive of a size may unpack to: as many as traces would."""

    def __init__(self, size: int) -> None:
        self.most = max(UNPACKED, RATIO * size)
        self.total = 0

    def take(self, count: int) -> None:
        """Count some more, and refuse where there are too many."""
        self.total += count
        if self.total > self.most:
            raise tarfile.ReadError(f"it unpacks to more than {self.most} bytes, which no traces of its size do")


class Forward(io.RawIOBase):
    """Bytes that can be read once, from the first to the last: those of ``head`` and then what is left of a stream.

    They count against an allowance where they were unpacked.
    """

    def __init__(self, head: bytes, stream: IO[bytes], allowance: Allowance | None = None) -> None:
        self.head, self.stream, self.allowance = head, stream, allowance

    def readable(self) -> bool:
        """They can."""
        return True

    def readinto(self, room: Any) -> int:
        """The next bytes."""
        data, self.head = self.head[: len(room)], self.head[len(room) :]
        if not data:
            data = self.stream.read(len(room))
            if self.allowance is not None:
                self.allowance.take(len(data))
        room[: len(data)] = data
        return len(data)


def forward(head: bytes, stream: IO[bytes], allowance: Allowance | None = None) -> IO[bytes]:
    """A stream that is read once, in large pieces."""
    return io.BufferedReader(Forward(head, stream, allowance), HEAD)


def unpacked(stream: IO[bytes], allowance: Allowance) -> IO[bytes]:
    """What a gzip file unpacks to."""
    return forward(b"", cast("IO[bytes]", gzip.GzipFile(fileobj=stream, mode="rb")), allowance)


def is_zip(head: bytes) -> bool:
    """By its first bytes; the second are those of an empty one."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def is_gzip(head: bytes) -> bool:
    """By its first bytes."""
    return head.startswith(b"\x1f\x8b")


def is_tar(head: bytes) -> bool:
    """By its first header."""
    return head[257:262] == b"ustar"


def is_archive(head: bytes) -> bool:
    """Whether there are files in a file."""
    return is_gzip(head) or is_zip(head) or is_tar(head)


def in_zip(stream: IO[bytes], size: int) -> Iterator[Member]:
    """Walk through a zip archive of this size; folders hold no rows, and nothing is unpacked to disk."""
    allowance = Allowance(size)
    refuse_directory(stream, size)
    with readable_zip(), zipfile.ZipFile(stream) as archive:
        for number, info in enumerate(archive.infolist(), start=1):
            refuse_number(number, size)
            name = PurePosixPath(info.filename)
            if info.is_dir() or passed_over(name):
                continue
            if info.flag_bits & 1:
                yield name, UnusableFileError("it is encrypted: unpack it with its password, and read that")
            elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                yield name, UnusableFileError("it is packed in an unusual way: unpack it, and read that")
            else:
                with archive.open(info) as opened:
                    yield from plain(name, forward(b"", opened, allowance), allowance)


@contextmanager
def readable_zip() -> Iterator[None]:
    """Raise a BadZipFile for whatever a damaged one makes zipfile raise."""
    try:
        yield
    except HideseekError:
        raise
    except (struct.error, ValueError, OverflowError, LookupError, NotImplementedError, RuntimeError) as error:
        raise zipfile.BadZipFile(f"not a whole zip archive ({type(error).__name__})") from None


def refuse_directory(stream: IO[bytes], size: int) -> None:
    """Refuse an archive whose list of files would not fit in memory: zipfile reads it at once."""
    stream.seek(max(0, size - LAST))
    tail = stream.read(LAST)
    at = tail.rfind(b"PK\x05\x06")
    listing = min(size, int.from_bytes(tail[at + 12 : at + 16], "little")) if at >= 0 else 0
    try:
        refuse_if_too_large(
            LISTING * listing, f"its list of files, of {listing} bytes,", "Unpack it, and read that.", parameter="path"
        )
    except SizeError as error:
        raise zipfile.BadZipFile(without_value(error).rstrip(".")) from None
    stream.seek(0)


def in_tar(stream: IO[bytes], size: int, allowance: Allowance) -> Iterator[Member]:
    """Walk through a tar archive of this size once.

    Links, devices and folders hold no rows, and nothing is unpacked to disk.
    """

    class OwnHeader(StrictHeader):
        """Counts for this archive alone."""

    with tarfile.open(fileobj=stream, mode="r|", tarinfo=OwnHeader) as archive:
        for number, member in enumerate(archive, start=1):
            refuse_number(number, size)
            archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep them all
            refuse_size(member)  # once more: an extended header may have changed the size
            name = PurePosixPath(member.name)
            if member.isreg() and not passed_over(name) and (opened := archive.extractfile(member)):
                yield from plain(name, forward(b"", opened), allowance)
    # gzip compares the checksum at the very end, past the last member
    while stream.read(HEAD):
        pass


def plain(name: PurePosixPath, stream: IO[bytes], allowance: Allowance) -> Iterator[Member]:
    """A member as it is, or what it unpacks to if it is packed by itself, as Strava's are; no archive in an archive."""
    head = stream.read(tarfile.BLOCKSIZE)
    stream = forward(head, stream)
    if is_gzip(head) and name.name:
        name, stream = name.with_name(without_gz(name.name)), unpacked(stream, allowance)
        head = stream.read(tarfile.BLOCKSIZE)
        stream = forward(head, stream)
    if is_archive(head):
        yield name, UnusableFileError(NESTED)
    else:
        yield name, stream


def without_gz(name: str) -> str:
    """The name of a file before it was packed.

    >>> without_gz("ann.csv.gz"), without_gz("ann.tgz"), without_gz("ann")
    ('ann.csv', 'ann.tar', 'ann')
    """
    if name.lower().endswith(".tgz"):
        return f"{name[:-4]}.tar"
    return name[:-3] if name.lower().endswith(".gz") and len(name) > len(".gz") else name


def refuse_number(number: int, size: int) -> None:
    """Refuse an archive of this size with so many files."""
    most = max(FILES, size // SMALLEST)
    if number > most:
        raise tarfile.ReadError(f"it holds more than {most} files, which no archive of its size does")


class StrictHeader(tarfile.TarInfo):
    """A header that is damaged or cut off is an error; tarfile itself takes it for the end of the archive.

    What extends headers is bounded for a whole archive: what stands for all members is copied into each of them, and
    one extension may take time as the square of its size.
    """

    for_all = 0  # bytes
    effort = 0  # bytes squared

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """A header from its bytes, refused where it is damaged or says too much."""
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if buf.count(0) == tarfile.BLOCKSIZE:  # the mark at the end of an archive
                raise
            raise tarfile.ReadError(f"not a whole tar archive ({error})") from None
        refuse_size(header)
        if header.type in EXTENSIONS:
            cls.effort += max(0, header.size - tarfile.BLOCKSIZE) ** 2
            cls.for_all += header.size * (header.type == tarfile.XGLTYPE)
        if cls.effort > EXTENDING or cls.for_all > LARGEST_HEADER:
            raise tarfile.ReadError("its extended headers say more than those of traces do")
        return header


def refuse_size(header: tarfile.TarInfo) -> None:
    """Refuse what claims more bytes than are read, or is stored with holes."""
    most = LARGEST_HEADER if header.type in EXTENSIONS else LARGEST
    if not 0 <= header.size <= most:
        raise tarfile.ReadError(f"{short(header.name)} claims {header.size} bytes; at most {most} are read")
    if header.issparse():  # holes take no space in the archive, however large they are
        raise tarfile.ReadError(f"{short(header.name)} is stored with holes")


def passed_over(path: PurePath) -> bool:
    """Whether a file is hidden, or one that publishers lay beside the traces."""
    hidden = any(part.startswith(".") and part != ".." for part in path.parts)
    return hidden or bool(COMPANION.fullmatch(path.name))


def legible(name: str) -> str:
    r"""Write bytes of a file name that are no text as \xff, and a backslash as two, so that no two names become one.

    Neither a terminal nor pandas with Arrow would take such bytes.
    """
    return name.replace("\\", r"\\").encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def short(text: str, most: int = 80) -> str:
    """The beginning of a name from others, quoted."""
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
