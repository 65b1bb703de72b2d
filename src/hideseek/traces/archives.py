"""Where traces lie: a file, a folder or a tar archive, in which nothing is trusted and nothing is unpacked to disk."""

from __future__ import annotations

import gzip
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Self

from hideseek.errors import SizeError, TraceError, UnusableFileError, without_value
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
READING = 8  # bytes of memory for each of a file
EXTENSIONS = {  # headers of an archive that extend the next one
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
}
DAMAGE = (OSError, EOFError, zlib.error, tarfile.TarError, RecursionError)


def files_in(root: Path) -> Iterator[tuple[str, PurePath, IO[bytes] | UnusableFileError]]:
    """Yield the label for messages, the path and the stream of every file that may hold traces, or why it has none."""
    if root.is_dir():
        for file in sorted(root.rglob("*")):
            label = file.relative_to(root)
            leads_nowhere = file.is_symlink() and not file.exists()
            if (file.is_file() or leads_nowhere) and not passed_over(label):
                try:
                    opened = file.open("rb")
                except OSError as error:
                    yield str(label), file, UnusableFileError(f"it cannot be opened: {error.strerror}")
                    continue
                with opened as stream:
                    yield str(label), file, fitting(stream)
        return
    if not root.is_file():
        raise TraceError(f"There is no file or folder {root}.")
    with root.open("rb") as stream:
        magic = stream.read(tarfile.BLOCKSIZE)
        stream.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            with Unpacked(stream) as unpacked:
                yield from members(unpacked, size_of(stream))
        elif magic[257:262] == b"ustar":
            yield from members(stream, size_of(stream))
        else:
            yield root.name, root, fitting(stream)


def size_of(stream: IO[bytes]) -> int:
    """The bytes of an open file."""
    return os.fstat(stream.fileno()).st_size


def fitting(stream: IO[bytes]) -> IO[bytes] | UnusableFileError:
    """The stream of a file that memory can hold."""
    try:
        what, way_out = f"reading its {size_of(stream)} bytes", "Cut it into several files."
        refuse_if_too_large(READING * size_of(stream), what, way_out, parameter="path")
    except SizeError as error:
        return UnusableFileError(without_value(error).rstrip("."))
    return stream


class Unpacked(gzip.GzipFile):
    """What a gzip file unpacks to, as long as that is no more than traces would be."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self.most = max(UNPACKED, RATIO * size_of(stream))
        self.total = 0

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, unless there are more than traces of this size unpack to."""
        data = super().read(size)
        self.total += len(data)
        if self.total > self.most:
            raise tarfile.ReadError(f"it unpacks to more than {self.most} bytes, which no traces of its size do")
        return data


def members(stream: IO[bytes] | gzip.GzipFile, size: int) -> Iterator[tuple[str, PurePath, IO[bytes]]]:
    """Walk through a tar archive of this size once.

    Links, devices and folders hold no rows, and nothing is unpacked to disk.
    """
    most = max(FILES, size // SMALLEST)

    class OwnHeader(StrictHeader):
        """Counts for this archive alone."""

    with tarfile.open(fileobj=stream, mode="r|", tarinfo=OwnHeader) as archive:
        for number, member in enumerate(archive, start=1):
            if number > most:
                raise tarfile.ReadError(f"it holds more than {most} files, which no archive of its size does")
            archive.members.clear()  # type: ignore[attr-defined]  # tarfile would keep them all
            refuse_size(member)  # once more: an extended header may have changed the size
            name = PurePosixPath(member.name)
            if member.isreg() and not passed_over(name) and (opened := archive.extractfile(member)):
                yield str(name), name, opened
    # gzip compares the checksum at the very end, past the last member
    while stream.read(HEAD):
        pass


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
