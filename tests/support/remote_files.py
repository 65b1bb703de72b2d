"""A file system of another machine, as fsspec has them: it counts what is read, and fails when it is told to."""

from __future__ import annotations

from typing import ClassVar

from fsspec.implementations.memory import MemoryFile, MemoryFileSystem


class RemoteError(Exception):
    """What a store raises that knows nothing of the system's errors."""


class CountingFile(MemoryFile):
    """Counts the bytes that are read, and fails after some."""

    def read(self, size=-1):
        data = super().read(size)
        FarAway.read_bytes += len(data)
        if FarAway.fails_after is not None and FarAway.read_bytes > FarAway.fails_after:
            raise RemoteError("the line to far://ann:secret@store is dead")
        return data


class FarAway(MemoryFileSystem):
    """far://, registered by the tests that use it."""

    protocol = "far"
    store: ClassVar = {}
    pseudo_dirs: ClassVar = [""]
    read_bytes = 0
    fails_after = None

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(str(path).replace("far://", "memory://", 1))

    def _open(self, path, mode="rb", **more):
        opened = super()._open(path, mode, **more)
        return opened if mode != "rb" else CountingFile(None, path, opened.getvalue())

    def find(self, path, **more):
        if FarAway.fails_after is not None and FarAway.fails_after < 0:
            raise RemoteError("no such door")
        return super().find(path, **more)


def put_far(files: dict[str, bytes]) -> None:
    """Lay files, and forget what was there and what was counted."""
    FarAway.store.clear()
    FarAway.read_bytes, FarAway.fails_after = 0, None
    for name, content in files.items():
        FarAway().pipe_file(f"/{name}", content)
