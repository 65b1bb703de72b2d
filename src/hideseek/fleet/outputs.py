"""The results of a fleet in a folder, written so that a killed run can go on.

``fleet.json`` says what is done; ``plans/DESIGN/USER.plan`` and ``playbooks/DESIGN/USER.playbook``, or
``codebooks/DESIGN/USER.hideseek``, are the results; ``done/USER.json`` comes last of all that belongs to a user, with
the user's rows of the table and the digests by which a change is seen; ``labels.parquet`` is put together from these
at the end.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import msgspec

from hideseek.errors import OutputError, broken_rule
from hideseek.fleet.folder import TOGETHER, Folder, batched
from hideseek.fleet.job import Files, FleetRow, HitRate, Job, Result
from hideseek.traces.reading import Options
from hideseek.traces.sources import Source, rooted
from hideseek.util.private_files import UNFINISHED

if TYPE_CHECKING:  # takes long to import
    import pyarrow as pa

SCHEMA = 7
LONGEST = 100  # characters of a user in a file name
NAMED = 5  # users in an error
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
ABOUT, LABELS = "fleet.json", "labels.parquet"
ONE_JOB = "a folder that is empty or holds the same job"
ENDINGS = {"codebook": "hideseek", "plan": "plan", "playbook": "playbook"}
MADE = "|".join(f"{kind}s/[^/]+/X\\.{ending}" for kind, ending in ENDINGS.items())  # X: the name of a user's file
RESULT = re.compile(rf"labels\.parquet|done/[^./]+\.json|{MADE.replace('X', '[^./]+')}")
# what a killed run may leave behind
HALF_WRITTEN = re.compile(
    rf"(\.(fleet\.json|labels\.parquet)|done/\.[^/]+\.json|{MADE.replace('X', '[.][^/]+')})\.\w{{8}}"
    f"({re.escape(UNFINISHED)})?"
)


class Mark(msgspec.Struct, forbid_unknown_fields=True):
    """A user is finished: with these rows of the table, from traces with this digest; ``seal`` is of all this."""

    user: str
    digest: str
    rows: list[FleetRow]
    seal: str = ""


class Outputs:
    """What a job has written, and for whom nothing is left to do."""

    def __init__(self, url: str | os.PathLike[str], job: Job, reading: Options | None = None) -> None:
        self.job = job
        how = asdict(reading or Options())
        self.about = msgspec.json.encode({"schema": SCHEMA, "hideseek": version("hideseek"), **asdict(job), **how})
        self.folder = Folder(url)

    def apart_from(self, data: Source) -> None:
        """Refuse a folder whose files would be read with the data, or written into it."""
        if self.folder.local != (data.store is None) or data.store not in (None, self.folder.fs):
            return
        names = [self.folder.path(name) for name in (ABOUT, LABELS, "done", *(f"{kind}s" for kind in ENDINGS))]
        with self.folder.reached():
            places = [Path(place).resolve() if self.folder.local else rooted(place) for place in (data.at, *names)]
        read, *written = places
        if any(one.is_relative_to(read) or read.is_relative_to(one) for one in written):
            rule = "a folder apart from the data: the next run would take its files for users"
            raise broken_rule(
                "out", "fleet", rule, f"{self.folder.root}, with data in {data.shown}", "Give another folder."
            )

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the folder for this job: refuse one that cannot be written to, holds another job, or is in use."""
        with self.folder.taken():
            self.begin()
            yield

    def begin(self) -> None:
        """Say what is done here; what a killed run left half written goes."""
        before = self.folder.found()
        if any(map(RESULT.fullmatch, before)) and not self.tells_this_job():
            got = f"results without a readable {ABOUT}, which tells their job,"
            again = f"Put {ABOUT} back: the same command writes it first of all into an empty folder."
            raise broken_rule("out", "fleet", ONE_JOB, got, f"{again} Or give another folder.")
        for name in filter(HALF_WRITTEN.fullmatch, before):
            self.folder.remove(name)
        self.tell_job()

    def tell_job(self) -> None:
        """Say what is done here."""
        self.folder.write(ABOUT, msgspec.json.format(self.about, indent=2) + b"\n")

    def tells_this_job(self) -> bool:
        """Whether it is said what is done here; refused if that is another job."""
        ours = msgspec.json.decode(self.about, type=dict[str, Any])
        try:
            theirs = msgspec.json.decode(dict(self.folder.read([ABOUT])).get(ABOUT, b""), type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        differ = [name for name in theirs | ours if theirs.get(name) != ours.get(name)]
        if differ:
            got = "; ".join(
                f"{name} other than those asked for"  # no error repeats their coordinates
                if name in ("sensitive", "places")
                else f"{name} {theirs.get(name)}, where {ours.get(name)} is asked for"
                for name in differ
            )
            way_out = "Give another folder, or the options it was begun with."
            if "hideseek" in differ or "schema" in differ:  # its table may have other columns
                way_out = "Give another folder, or continue this one with the release of hideseek it was begun with."
            raise broken_rule("out", "fleet", ONE_JOB, got, way_out)
        return True

    def finish(self, user: str, digest: str, results: Sequence[Result]) -> None:
        """Write all that belongs to a user, and at last that it is there; what other traces gave goes first."""
        self.folder.remove(mark_name(user))
        contents = {(row.privacy_metric, row.asked): files for row, files in results}
        for design in self.job.designs:
            for kind in self.job.makes:
                name, content = made_name(kind, user, *design), contents.get(design, {}).get(kind)
                if content is None:
                    self.folder.remove(name)
                else:
                    self.folder.write(name, content)
        rows = [msgspec.structs.replace(row, **about_files(row, files)) for row, files in results]
        mark = Mark(user, digest, rows)
        self.folder.write(mark_name(user), msgspec.json.encode(msgspec.structs.replace(mark, seal=self.seal_of(mark))))

    def seal_of(self, mark: Mark) -> str:
        """What is the same only where the mark and the job are."""
        return hashlib.sha256(self.about + msgspec.json.encode(msgspec.structs.replace(mark, seal=""))).hexdigest()

    def marks(self, users: Iterable[str]) -> Iterator[Mark]:
        """The marks of those users that are finished: all that was written for them is there, as it was written."""
        there = self.folder.found()
        for some in batched((user for user in users if mark_name(user) in there), TOGETHER):
            contents = dict(self.folder.read(map(mark_name, some)))
            marks = [mark for user in some if (mark := self.mark_of(user, contents.get(mark_name(user), b"")))]
            # a file of another size is another one, and perhaps too large to be read
            whole = self.folder.read(
                name for mark in marks for name, size, _ in files_of(mark) if there.get(name) == size
            )
            digests = {name: hashlib.sha256(content).hexdigest() for name, content in whole}
            for mark in marks:
                if all(digests.get(name) == digest for name, _, digest in files_of(mark)):
                    yield mark

    def mark_of(self, user: str, content: bytes) -> Mark | None:
        """The mark of a user from its file, unless that is damaged, another user's or another job's."""
        try:
            mark = msgspec.json.decode(content, type=Mark)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return mark if (mark.user, mark.seal) == (user, self.seal_of(mark)) else None

    def departed(self, users: Iterable[str]) -> int:
        """How many others than these users were finished here by a run before."""
        here = {mark_name(user) for user in users}
        return sum(name.startswith("done/") and name not in here for name in self.folder.found())

    def assemble(self, users: Sequence[str]) -> pa.Table:
        """Put the labels of users together in one file, and return them; refused if any user is not finished."""
        import pyarrow as pa
        from pyarrow import parquet

        kinds: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
        rate = pa.struct([(name, kinds[hint]) for name, hint in get_type_hints(HitRate).items()])
        kinds[list[HitRate]] = pa.list_(rate)
        schema = pa.schema(
            [
                (name, kinds[hint if hint in kinds else get_args(hint)[0]])
                for name, hint in get_type_hints(FleetRow).items()
            ]
        )
        parts = batched((msgspec.to_builtins(row) for mark in self.marks(users) for row in mark.rows), TOGETHER)
        table = pa.concat_tables([schema.empty_table(), *(pa.Table.from_pylist(part, schema) for part in parts)])
        present = set(table["user"].to_pylist())
        if lost := [user for user in users if user not in present]:
            who = ", ".join(lost[:NAMED]) + (f", and {len(lost) - NAMED} more" if len(lost) > NAMED else "")
            what = f"The results of {len(lost)} of {len(users)} users are not in {self.folder.address('')}"
            raise OutputError(f"{what} as they were written: {who}. Run this again to continue.")
        content = io.BytesIO()
        parquet.write_table(table, content)
        if not self.tells_this_job():  # lost during the run; all that is in the table is sealed with the job
            self.tell_job()
        self.folder.write(LABELS, content.getvalue())
        return table


def mark_name(user: str) -> str:
    """The file that says that a user is finished."""
    return f"done/{file_name(user)}.json"


def made_name(kind: str, user: str, privacy: str | None, asked: str | None) -> str:
    """The codebook, the plan or the playbook of a user by one of the designs.

    >>> made_name("plan", "abboip", "euclid", "20%")
    'plans/euclid-20%/abboip.plan'
    """
    return f"{kind}s/{privacy}-{asked}/{file_name(user)}.{ENDINGS[kind]}"


def about_files(row: FleetRow, files: Files) -> dict[str, str | int]:
    """The columns of a row that say which files there are; of a plan, in columns of its own."""
    about = dict[str, str | int]()
    for kind, content in files.items():
        own = "plan_" * (kind == "plan")
        about[kind] = made_name(kind, row.user, row.privacy_metric, row.asked)
        about |= {f"{own}bytes": len(content), f"{own}sha256": hashlib.sha256(content).hexdigest()}
    return about


def files_of(mark: Mark) -> Iterator[tuple[str, int | None, str | None]]:
    """The name, the size and the digest of every file of a user."""
    for row in mark.rows:
        for name, size, digest in (
            (row.codebook or row.playbook, row.bytes, row.sha256),
            (row.plan, row.plan_bytes, row.plan_sha256),
        ):
            if name is not None:
                yield name, size, digest


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
