"""A folder for results, on this machine or anywhere fsspec reaches: files in it are whole, or not there."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TypeVar

from hideseek.errors import HideseekError, OutputError, broken_rule
from hideseek.util.addresses import file_system
from hideseek.util.private_files import write_privately

Item = TypeVar("Item")
TOGETHER = 100  # files read at a time: a codebook may have megabytes


class Folder:
    """A folder by its path or address; files on this machine can be read by their owner only."""

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self.fs, self.root = file_system(url, "out", "fleet")
        self.local = "file" in self.fs.protocol
        self.handle: int | None = None  # of the folder, while it is taken

    def path(self, name: str) -> str:
        """Where a file of the folder is."""
        return f"{self.root}/{name}"

    def address(self, name: str) -> str:
        """By what name anybody finds a file of the folder."""
        return self.path(name) if self.local else str(self.fs.unstrip_protocol(self.path(name)))

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Raise an OutputError for whatever goes wrong with a disk or a store, each of which has errors of its own."""
        try:
            if self.handle is not None and not is_at(self.handle, self.root):
                moved = f"The folder {self.address('')} for the results was moved or replaced during the run."
                raise OutputError(
                    f"{moved} Put it back, or give where it is now as 'out', and run this again to continue."
                )
            yield
        except HideseekError:
            raise
        except Exception as error:
            why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
            raise OutputError(f"The folder {self.address('')} for the results cannot be used: {why}.") from error

    def write(self, name: str, content: bytes) -> None:
        """Write a file; on an object store it is whole or not there by itself."""
        with self.reached():
            if self.local:
                for folder in reversed(PurePosixPath(name).parents):  # their names are those of users
                    Path(self.path(str(folder))).mkdir(mode=0o700, exist_ok=True)
                write_privately(Path(self.path(name)), content)
                return
            self.fs.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
            self.fs.pipe_file(self.path(name), content)

    def remove(self, name: str) -> None:
        """Make sure that a file is not there."""
        with self.reached():
            if self.fs.exists(self.path(name)):
                self.fs.rm_file(self.path(name))

    def found(self) -> dict[str, int]:
        """The files in the folder with their sizes."""
        with self.reached():
            self.fs.invalidate_cache()
            files = self.fs.find(self.root, detail=True)
        return {name.removeprefix(self.root).lstrip("/"): about["size"] for name, about in files.items()}

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The contents of those files that are there, several at a time where the store can do so."""
        for some in batched(names, TOGETHER):
            with self.reached():
                contents = self.fs.cat_ranges([self.path(name) for name in some], None, None)
                for content in contents:
                    if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                        raise content
            yield from ((name, got) for name, got in zip(some, contents, strict=True) if isinstance(got, bytes))

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the folder alone: refuse one that cannot be written to, or that another process uses."""
        if not self.local:
            yield
            return
        with self.reached():
            Path(self.root).mkdir(mode=0o700, parents=True, exist_ok=True)
            self.handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            lock(self.handle, self.root)
            yield
        finally:
            os.close(self.handle)
            self.handle = None


def is_at(handle: int, path: str) -> bool:
    """Whether an open folder is the one at this path."""
    try:
        return os.path.samestat(os.fstat(handle), Path(path).stat())
    except FileNotFoundError:
        return False


def lock(handle: int, folder: str) -> None:
    """Refuse a folder that another process on this machine has; some network disks cannot tell."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise broken_rule("out", "fleet", "a folder in which no other fleet is at work", folder) from None
    except OSError:
        return


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of so many items."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
