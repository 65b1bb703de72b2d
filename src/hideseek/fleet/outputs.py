"""The folder of a fleet, on this machine or anywhere fsspec reaches: written so that a killed run can go on.

``fleet.json`` says what is done; ``codebooks/DESIGN/USER.hideseek`` are the results; ``done/USER.json`` comes last of
all that belongs to a user, with the user's rows of the table; ``labels.parquet`` is put together from these at the end.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

import msgspec

from hideseek.errors import HideseekError, MissingExtraError, OutputError, broken_rule
from hideseek.files import write_privately
from hideseek.fleet.job import Job, Result, Row

if TYPE_CHECKING:  # both take long to import
    import pyarrow as pa
    from fsspec import AbstractFileSystem

Item = TypeVar("Item")
SCHEMA = 1
LONGEST = 100  # characters of a user in a file name
TOGETHER = 1000  # marks read at a time
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
ABOUT, LABELS = "fleet.json", "labels.parquet"
# what a killed run may leave behind
HALF_WRITTEN = re.compile(
    r"(\.(fleet\.json|labels\.parquet)|done/\.[^/]+\.json|codebooks/[^/]+/\.[^/]+\.hideseek)\.\w{8}"
)


class Mark(msgspec.Struct, forbid_unknown_fields=True):
    """A user is finished: with these rows of the table, from traces with this digest."""

    user: str
    digest: str
    rows: list[Row]


class Outputs:
    """A folder by its path or address; files on this machine are whole or not there, and their owner's only."""

    def __init__(self, url: str | os.PathLike[str], job: Job) -> None:
        self.job = job
        self.fs, self.root = file_system(url)
        self.local = "file" in self.fs.protocol

    def path(self, name: str) -> str:
        """Where a file of the folder is."""
        return f"{self.root}/{name}"

    def address(self, name: str) -> str:
        """By what name anybody finds a file of the folder."""
        return self.path(name) if self.local else str(self.fs.unstrip_protocol(self.path(name)))

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Tell in one way what goes wrong with a disk, or with a store, each of which has errors of its own."""
        try:
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

    def read(self, names: Sequence[str]) -> list[bytes]:
        """The contents of files, many at a time where the store can do so."""
        with self.reached():
            contents = self.fs.cat_ranges([self.path(name) for name in names], None, None)
            for content in contents:
                if isinstance(content, Exception):
                    raise content
        return list(contents)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the folder for this job: refuse one that cannot be written to, holds another job, or is in use."""
        if not self.local:
            self.begin()
            yield
            return
        with self.reached():
            for folder in ("", "codebooks", "done"):  # their names are those of users
                Path(self.path(folder)).mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            lock(handle, self.root)
            self.begin()
            yield
        finally:
            os.close(handle)

    def begin(self) -> None:
        """Say what is done here; what a killed run left half written goes."""
        before = self.found()
        about = {"schema": SCHEMA, "hideseek": version("hideseek"), **asdict(self.job)}
        ours = msgspec.json.decode(msgspec.json.encode(about))
        if ABOUT in before and any(name.startswith("done/") for name in before):
            self.refuse_another(ours)
        for name in filter(HALF_WRITTEN.fullmatch, before):
            self.remove(name)
        self.write(ABOUT, msgspec.json.format(msgspec.json.encode(ours), indent=2) + b"\n")

    def refuse_another(self, ours: dict[str, Any]) -> None:
        """Refuse a folder in which users were finished in another way than we would."""
        try:
            theirs = msgspec.json.decode(self.read([ABOUT])[0], type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            theirs = {}
        differ = [name for name in theirs | ours if theirs.get(name) != ours.get(name)]
        if differ:
            got = "; ".join(f"{name} {theirs.get(name)}, where {ours.get(name)} is asked for" for name in differ)
            way_out = "Give another folder, or the options it was begun with."
            raise broken_rule("out", "fleet", "a folder that is empty or holds the same job", got, way_out)

    def finish(self, user: str, digest: str, results: Sequence[Result]) -> None:
        """Write all that belongs to a user, and at last that it is there; what other traces gave goes first."""
        self.remove(mark_name(user))
        books = {(row.privacy_metric, row.budget): content for row, content in results if content}
        for design in self.job.designs:
            if design in books:
                self.write(codebook_name(user, *design), books[design])
            else:
                self.remove(codebook_name(user, *design))
        rows = [
            msgspec.structs.replace(row, codebook=codebook_name(user, row.privacy_metric, row.budget)) if book else row
            for row, book in results
        ]
        self.write(mark_name(user), msgspec.json.encode(Mark(user, digest, rows)))

    def marks(self, users: Iterable[str]) -> Iterator[Mark]:
        """The marks of those users that are finished: marked, and with all their codebooks still there."""
        there = self.found()
        for some in batched((user for user in users if mark_name(user) in there), TOGETHER):
            for user, content in zip(some, self.read([mark_name(user) for user in some]), strict=True):
                try:
                    mark = msgspec.json.decode(content, type=Mark)
                except (msgspec.DecodeError, UnicodeDecodeError):  # cut short, on a file system that can do so
                    continue
                if mark.user == user and all(there.get(row.codebook) == row.bytes for row in mark.rows if row.codebook):
                    yield mark

    def departed(self, users: Iterable[str]) -> int:
        """How many others than these users were finished here by a run before."""
        here = {mark_name(user) for user in users}
        return sum(name.startswith("done/") and name not in here for name in self.found())

    def assemble(self, users: Sequence[str]) -> pa.Table:
        """Put the labels of users, all finished, together in one file, and return them."""
        import pyarrow as pa
        from pyarrow import parquet

        kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        schema = pa.schema([(name, kinds[(get_args(hint) or [hint])[0]]) for name, hint in get_type_hints(Row).items()])
        parts = batched((msgspec.structs.asdict(row) for mark in self.marks(users) for row in mark.rows), TOGETHER)
        table = pa.concat_tables([pa.Table.from_pylist(part, schema) for part in parts])
        content = io.BytesIO()
        parquet.write_table(table, content)
        self.write(LABELS, content.getvalue())
        return table


def lock(handle: int, folder: str) -> None:
    """Refuse a folder that another process on this machine has; some network disks cannot tell."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise broken_rule("out", "fleet", "a folder in which no other fleet is at work", folder) from None
    except OSError:
        return


def file_system(url: str | os.PathLike[str]) -> tuple[AbstractFileSystem, str]:
    """The file system of a path or an address, and where on it that is."""
    from fsspec.core import url_to_fs

    try:
        if not os.fspath(url):
            raise ValueError("nothing")
        fs, root = url_to_fs(os.fspath(url))
    except ImportError as error:
        raise MissingExtraError(f"Writing to {url} needs another package: {error}.") from None
    except (TypeError, ValueError) as error:
        raise broken_rule("out", "fleet", "a folder, or an address that fsspec knows", f"{url!r} ({error})") from None
    return fs, root


def mark_name(user: str) -> str:
    """The file that says that a user is finished."""
    return f"done/{file_name(user)}.json"


def codebook_name(user: str, privacy: str | None, budget: str | None) -> str:
    """The codebook of a user by one of the designs."""
    return f"codebooks/{privacy}-{budget}/{file_name(user)}.hideseek"


def file_name(user: str) -> str:
    """A name that any disk takes, whoever a user claims to be, and that is no other user's even where case is ignored.

    >>> file_name("abboip"), file_name("../Ann"), file_name("")
    ('abboip', '%2e%2e%2f%41nn', '%')
    """
    encoded = user.encode("utf-8", "surrogatepass")
    quoted = "".join(chr(byte) if byte in PLAIN else f"%{byte:02x}" for byte in encoded) or "%"
    if len(quoted) <= LONGEST:
        return quoted
    return f"{quoted[:LONGEST]}-{hashlib.sha256(encoded).hexdigest()}"


def batched(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of so many items."""
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
