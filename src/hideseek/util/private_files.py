"""What is written to disk: files whole or not at all, readable by their owner only; locks."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

UNFINISHED = ".hideseek-tmp"  # how the name of a file ends until it is whole: nobody else's does

_opened: set[int] = set()  # what a child of this process must not keep open
_changing = threading.RLock()  # held while the set changes, and while the process forks


def read_plain_file(path: Path, largest: int) -> bytes:
    """What a plain file held when it was opened; others may keep us waiting, or never end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "It is not a plain file", str(path))
        if about.st_size > largest:
            raise OSError(errno.EFBIG, f"It has {about.st_size} bytes, and at most {largest} are read", str(path))
        return stream.read(about.st_size)


def write_privately(path: Path, content: bytes) -> None:
    """Replace a file in one step, with permissions for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "It is not a plain file", str(path))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        write_into(folder, path, content)
    finally:
        os.close(folder)


def write_into(folder: int, path: Path, content: bytes) -> os.stat_result:
    """Replace a file of this open folder, even if its path leads elsewhere by now; returns the new file's status."""
    from tempfile import mkstemp  # here, so that a device starts without it

    handle, name = mkstemp(UNFINISHED, f".{path.name}.", path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            about = os.fstat(stream.fileno())
        os.replace(Path(name).name, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = str(path)  # the system names no file that is open
        raise
    return about


def half_written(path: Path) -> list[Path]:
    """Temporary files that killed processes left beside a file while they wrote it."""
    shape = re.compile(rf"\.{re.escape(path.name)}\.\w{{8}}{re.escape(UNFINISHED)}", re.ASCII)
    return [file for file in path.parent.iterdir() if shape.fullmatch(file.name)]


def sync_folder(folder: Path) -> None:
    """Make sure that what was renamed in a folder stays so when the power fails."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def locked(opened: Callable[[], int]) -> Iterator[int]:
    """Hold the lock of the file that a function opens; others that lock it wait.

    The file may be replaced during the wait, and then its lock is worth nothing: so the wait begins again until the
    locked file is the one that would be opened now. A lock belongs to all who have the file open, so that no child may
    inherit it.
    """
    while True:
        with _not_inherited(opened) as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if is_current(handle, opened):
                yield handle
                return


def is_current(handle: int, opened: Callable[[], int]) -> bool:
    """Whether an open file is the one that a function would open now."""
    with _not_inherited(opened) as now:
        return os.path.sameopenfile(handle, now)


@contextmanager
def _not_inherited(opened: Callable[[], int]) -> Iterator[int]:
    """An open file, which programs that are started and children that are forked do not have."""
    with _changing:
        handle = opened()
        _opened.add(handle)
    try:
        yield handle
    finally:
        with _changing:
            _opened.discard(handle)
            os.close(handle)


def _close_in_child() -> None:
    while _opened:
        os.close(_opened.pop())
    _changing.release()


os.register_at_fork(before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_close_in_child)
