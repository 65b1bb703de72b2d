"""Where traces lie: a file, a folder or an archive, on this machine or at an address that fsspec knows."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from hideseek.errors import TraceError, UnusableFileError, broken_rule
from hideseek.traces.archives import (
    DAMAGE,
    HEAD,
    NESTED,
    Allowance,
    forward,
    in_tar,
    in_zip,
    is_archive,
    is_gzip,
    is_tar,
    is_zip,
    legible,
    passed_over,
    unpacked,
    without_gz,
)
from hideseek.util.addresses import file_system, is_address, without_password

if TYPE_CHECKING:  # takes long to import
    from fsspec import AbstractFileSystem

ARCHIVES = (".zip", ".tar", ".tgz", ".gz")
PLACE = "the path of a file or folder, or one address that fsspec knows"


@dataclass(frozen=True, eq=False)
class Source:
    """An input: how messages show it, where it lies ``at`` what name, and if not here, in which ``store``."""

    shown: str
    root: PurePath
    store: AbstractFileSystem | None = None
    at: str = ""

    @property
    def name(self) -> str:
        """What the whole input is called: the name of the folder, or of the file without its endings.

        >>> Source("", PurePath("/data/takeout-1.tar.gz")).name, Source("", PurePath("/data/ann.gpx")).name
        ('takeout-1', 'ann')
        """
        folder = self.store is None and Path(self.root).is_dir()
        return legible(self.root.name if folder else bare(self.root.name)) or "somebody"


@dataclass(frozen=True, eq=False)
class Found:
    """A file that may hold traces: its label for messages, its path for the user's name, and its bytes, or why none.

    It is ``alone`` where it is the whole input, and ``loose`` where it lies in an archive beside other files, so that
    damage to it need not stop them.
    """

    label: str
    path: PurePath
    content: IO[bytes] | UnusableFileError
    alone: bool = False
    loose: bool = False


def source_of(path: str | os.PathLike[str], owner: str) -> Source:
    """The input at a path or an address."""
    if is_address(path):
        address = str(path)
        if "::" in address:
            raise broken_rule("path", owner, PLACE, without_password(address))
        store, root = file_system(address, "path", owner, PLACE)
        if "file" not in store.protocol:
            return Source(without_password(address), rooted(root), store, root)
        path = root
    try:
        whole = Path(path).absolute()
    except TypeError:
        raise broken_rule("path", owner, PLACE, repr(path)) from None
    return Source(str(whole), whole, at=str(whole))


def refuse_nowhere(source: Source) -> None:
    """Refuse an input that is not there before anything is done for it."""
    try:
        there = Path(source.root).exists() if source.store is None else source.store.exists(source.at)
    except Exception as error:  # each store has errors of its own
        raise TraceError(f"{source.shown} cannot be read: {told(error)}") from error
    if not there:
        raise TraceError(f"There is no file or folder {source.shown}.")


def files_in(source: Source) -> Iterator[Found]:
    """Every file of an input, those in its archives too."""
    for name, file, opened in listing(source):
        alone = file == source.root
        try:
            stream = opened()
        except OSError as error:
            if alone:
                raise
            yield Found(str(name), file, UnusableFileError(f"it cannot be opened: {error.strerror or error}"))
            continue
        with stream:
            yield from expanded(str(name), file, stream, alone)


def listing(source: Source) -> Iterator[tuple[PurePath, PurePath, Callable[[], IO[bytes]]]]:
    """The names, the paths and the ways to open the files of an input."""
    if source.store is not None:
        yield from listing_elsewhere(source.store, source)
        return
    root = Path(source.root)
    if root.is_file():
        yield PurePath(root.name), root, lambda: root.open("rb")
    elif root.is_dir():
        for file in sorted(root.rglob("*")):
            name = file.relative_to(root)
            leads_nowhere = file.is_symlink() and not file.exists()
            if (file.is_file() or leads_nowhere) and not passed_over(name):
                yield name, file, lambda file=file: file.open("rb")  # type: ignore[misc]
    else:
        raise TraceError(f"There is no file or folder {root}.")


def listing_elsewhere(
    store: AbstractFileSystem, source: Source
) -> Iterator[tuple[PurePath, PurePath, Callable[[], IO[bytes]]]]:
    """The same of an address; each store has errors of its own."""
    try:
        single = store.isfile(source.at)
        names = [source.at] if single else sorted(store.find(source.at))
    except Exception as error:
        raise OSError(told(error)) from error
    if not names:
        raise TraceError(f"There is no file or folder {source.shown}.")
    for name in names:
        file = rooted(name)
        label = PurePosixPath(file.name) if single else file.relative_to(source.root)
        if not passed_over(label):
            yield label, file, lambda name=name: elsewhere(store, name)  # type: ignore[misc]


def rooted(name: str) -> PurePosixPath:
    """A path by the name in a store; some begin at the root, and some do not say so."""
    return PurePosixPath("/", name.strip("/"))


def elsewhere(store: AbstractFileSystem, name: str) -> IO[bytes]:
    """An open file at an address; the buffer keeps the first bytes until the format is known."""
    return io.BufferedReader(Elsewhere(store, name), 2 * HEAD)


class Elsewhere(io.RawIOBase):
    """A file at an address; whatever goes wrong with its store is an OSError."""

    def __init__(self, store: AbstractFileSystem, name: str) -> None:
        self.file = self.asked(lambda: store.open(name, "rb"))

    def asked(self, question: Callable[[], Any]) -> Any:
        """What the store answers."""
        try:
            return question()
        except Exception as error:
            raise OSError(told(error)) from error

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """By any part of it."""
        return True

    def readinto(self, room: Any) -> int:
        """The next bytes."""
        data = self.asked(lambda: self.file.read(len(room)))
        room[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another part."""
        return int(self.asked(lambda: self.file.seek(offset, whence)))

    def tell(self) -> int:
        """Where the next bytes stand."""
        return int(self.asked(self.file.tell))

    def close(self) -> None:
        """Let go of it."""
        if not self.closed and hasattr(self, "file"):
            self.file.close()
        super().close()


def told(error: Exception) -> str:
    """What went wrong, on one line."""
    return without_password(str(getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"))


def expanded(label: str, path: PurePath, stream: IO[bytes], alone: bool) -> Iterator[Found]:
    """A file as it is, or what it unpacks to."""
    head = stream.read(HEAD)
    stream.seek(0)
    if not is_archive(head):
        yield Found(label, path, stream, alone=alone)
        return
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    try:
        for name, content in unfolded(head, stream, size):
            if name is None:
                yield Found(label, path.with_name(without_gz(path.name)), content, alone=alone, loose=not alone)
            elif alone:
                yield Found(str(name), name, content)
            else:
                yield Found(f"{label}/{name}", path.with_name(bare(path.name)) / name, content, loose=True)
    except DAMAGE as error:
        if alone:
            raise
        yield Found(label, path, UnusableFileError(f"it is damaged: {error}"))


def unfolded(
    head: bytes, stream: IO[bytes], size: int
) -> Iterator[tuple[PurePosixPath | None, IO[bytes] | UnusableFileError]]:
    """The names and the bytes of the files in an archive of this size; one that is packed by itself has no name."""
    allowance = Allowance(size)
    if is_gzip(head):
        inner = unpacked(stream, allowance)
        head = inner.read(tarfile.BLOCKSIZE)
        stream = forward(head, inner)
        if is_archive(head) and not is_tar(head):
            yield None, UnusableFileError(NESTED)
            return
    if is_zip(head):
        yield from in_zip(stream, size)
    elif is_tar(head):
        yield from in_tar(stream, size, allowance)
    else:
        yield None, stream


def bare(name: str) -> str:
    """The name of a file or an archive without its endings.

    >>> bare("takeout-1.tar.gz"), bare("ann.csv.gz"), bare("ann.2024.gpx")
    ('takeout-1', 'ann', 'ann.2024')
    """
    while PurePath(name).suffix.lower() in ARCHIVES:
        name = PurePath(name).stem
    return PurePath(name).stem
