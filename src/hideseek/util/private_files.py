"""What is written to disk: files whole or not at all, readable by their owner only; locks; regions as plain data."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec

from hideseek.errors import ParameterError
from hideseek.model.regions import Grid, Hexagons, Places, Regions

LARGEST_GRID = 10**7
UNFINISHED = ".hideseek-tmp"  # how the name of a file ends until it is whole: nobody else's does

_opened: set[int] = set()  # what a child of this process must not keep open
_changing = threading.RLock()  # held while the set changes, and while the process forks


class GridDocument(msgspec.Struct, tag="grid", forbid_unknown_fields=True):
    """A grid and the cells it keeps."""

    south: float
    north: float
    west: float
    east: float
    rows: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    columns: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    kept: list[int]


class PlacesDocument(msgspec.Struct, tag="places", forbid_unknown_fields=True):
    """Points, with their names if they have any."""

    latitudes: list[float]
    longitudes: list[float]
    names: list[str]


class HexagonsDocument(msgspec.Struct, tag="hexagons", forbid_unknown_fields=True):
    """H3 cells."""

    cells: list[Annotated[str, msgspec.Meta(max_length=16)]]  # 64 bits as hexadecimal digits


RegionsDocument = GridDocument | PlacesDocument | HexagonsDocument


def regions_document(regions: Regions) -> RegionsDocument:
    """Regions as plain data."""
    match regions:
        case Grid():
            kept = range(regions.rows * regions.columns) if regions.kept is None else regions.kept
            return GridDocument(
                regions.south, regions.north, regions.west, regions.east, regions.rows, regions.columns, list(kept)
            )
        case Places():
            return PlacesDocument(list(regions.latitudes), list(regions.longitudes), list(regions.names))
        case Hexagons():
            return HexagonsDocument(list(regions.cells))
    raise ParameterError(f"Regions of the type {type(regions).__name__} have no file format.")


def regions_from(document: RegionsDocument) -> Regions:
    """Regions from plain data."""
    match document:
        case GridDocument():
            cells = document.rows * document.columns
            if cells > LARGEST_GRID:
                raise ParameterError(f"Its grid has {cells} cells; at most {LARGEST_GRID} are read.")
            if len(set(document.kept)) < len(document.kept) or not all(0 <= cell < cells for cell in document.kept):
                raise ParameterError("The grid keeps a cell twice, or one that it does not have.")
            grid = Grid(document.south, document.north, document.west, document.east, document.rows, document.columns)
            return grid.keep(document.kept)
        case PlacesDocument():
            return Places(document.latitudes, document.longitudes, tuple(document.names))
        case HexagonsDocument():
            return Hexagons(tuple(document.cells))


def read_plain_file(path: Path, largest: int) -> bytes:
    """What a plain file held when it was opened; others may keep us waiting, or never end."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "It is no plain file", str(path))
        if about.st_size > largest:
            raise OSError(errno.EFBIG, f"It has {about.st_size} bytes, and at most {largest} are read", str(path))
        return stream.read(about.st_size)


def write_privately(path: Path, content: bytes) -> None:
    """Replace a file in one step, with permissions for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "It is no plain file", str(path))
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        write_into(folder, path, content)
    finally:
        os.close(folder)


def write_into(folder: int, path: Path, content: bytes) -> os.stat_result:
    """Replace a file of an open folder, and of no other that is in its place by now; what is told is the new file."""
    handle, name = tempfile.mkstemp(UNFINISHED, f".{path.name}.", path.parent)
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
    """What those who were killed while writing a file privately have left beside it."""
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
    """Alone with what a function opens, as long as others lock it too.

    What was waited for may be in its place no longer, and its lock is worth nothing then: what is locked in the end is
    what would be opened now. A lock belongs to all who have the file open, so that no child may inherit it.
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
