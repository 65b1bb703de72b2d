"""Which of hideseek's own files something is, told by its content."""

from __future__ import annotations

import os
from enum import StrEnum
from errno import EINVAL
from pathlib import Path

from hideseek.errors import TraceError

HEAD = 2**16  # bytes that are looked at
PARQUET = b"PAR1"
FLEET, LABELS, PROTECTION = "fleet.json", "labels.parquet", "protection.json"
REPORT = b'<meta name="generator" content="hideseek">'  # in the head of every report


class Kind(StrEnum):
    """A kind of file that hideseek writes, in words."""

    PROFILE = "profile"
    CODEBOOK = "codebook"
    PLAN = "plan"
    PLAYBOOK = "playbook"
    STATE = "device state"
    FLEET = "fleet folder"
    LABELS = "labels of a fleet"
    MARK = "finished user of a fleet"
    LABEL = "label"
    PLAYBOOK_LABEL = "label of a playbook"
    PROTECTION = "protection of a person"
    REPORT = "report"
    MECHANISM = "mechanism table"
    ATTACK = "attack table"
    CURVE = "curve table"
    COMPARISON = "comparison table"
    PLANNERS = "planner table"
    USERS = "user table"
    SPORADIC = "sporadic table"
    LOCATION = "location table"
    TRANSITION = "transition table"
    PROGRAMS = "program table"
    ROBUSTNESS = "robustness table"


# how the JSON documents, and the first line of the tables, begin
DOCUMENTS = {
    Kind.PROFILE: b'"hideseek_profile"',
    Kind.STATE: b'"hideseek_state"',
    Kind.PROTECTION: b'"hideseek_protection"',
}
IN_LABEL = b'"window"', b'"smoother"', b'"viterbi"', b'"hit_rates"'
IN_PLAYBOOK_LABEL = b'"filter"', b'"smoother"', b'"worst_loss"', b'"namings"'
SEALED = {
    Kind.CODEBOOK: rb"{\"hideseek_codebook\":",
    Kind.PLAN: rb"{\"hideseek_plan\":",
    Kind.PLAYBOOK: rb"{\"hideseek_playbook\":",
}
TABLES = {
    Kind.MECHANISM: b"known_",
    Kind.ATTACK: b"release_",
    Kind.CURVE: b"budget,privacy,bound,",
    Kind.COMPARISON: b"mechanism,reference,dial,",
    Kind.PLANNERS: b"user,places,budget,planner,",
    Kind.USERS: b"user,covered,places,entropy_rate,",
    Kind.SPORADIC: b"user,budget,choice,sporadic,",
    Kind.LOCATION: b"user,budget,choice,step,",
    Kind.TRANSITION: b"user,budget,route,privacy,",
    Kind.PROGRAMS: b"user,game,budget,privacy,",
    Kind.ROBUSTNESS: b"user,days,claimed,adversary,",
}
MARK, IN_MARK = b'{"user":', (b'"digest":', b'"rows":')
IN_FLEET, IN_LABELS = b'"schema"', b"privacy_metric"


def kind_of(path: str | os.PathLike[str]) -> Kind:
    """The kind of one of our files or folders; nothing about it is verified yet.

    >>> Path("me.state").write_text('{"seal":"00","hideseek_state":2}')
    32
    >>> str(kind_of("me.state"))
    'device state'
    >>> kind_of(".")
    Traceback (most recent call last):
    hideseek.errors.TraceError: . is none of hideseek's files: profile, codebook, plan, playbook, device state, \
fleet folder, labels of a fleet, finished user of a fleet, label, \
label of a playbook, protection of a person, report, mechanism table, attack table, curve table, \
comparison table, planner table, user table, sporadic table, location table, transition table, program table, \
robustness table. \
Traces are read by 'hideseek learn'.
    """
    file = Path(path)
    try:
        found = read_kind(file)
    except (OSError, ValueError) as error:  # a name that no file can have
        raise TraceError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if found is None:
        known = ", ".join(Kind)
        raise TraceError(f"{file} is none of hideseek's files: {known}. Traces are read by 'hideseek learn'.")
    return found


def kind_or_none(source: str) -> Kind | None:
    """The kind of one of our files; None for all else, such as traces or an address.

    >>> kind_or_none("s3://bucket/traces.csv")
    """
    try:
        return read_kind(Path(source))
    except (OSError, ValueError):
        return None


def read_kind(file: Path) -> Kind | None:
    """The kind of a file or folder, None where it is none of ours."""
    if file.is_dir():
        return folder_kind(file)
    if file.exists() and not file.is_file():
        raise OSError(EINVAL, "it is not a regular file")  # to open a pipe would wait for ever
    with file.open("rb") as stream:
        head = stream.read(HEAD)
    return content_kind(head) or (labels_kind(file) if head.startswith(PARQUET) else None)


def folder_kind(folder: Path) -> Kind | None:
    """A folder that a fleet, protect or a report wrote."""
    if (folder / FLEET).is_file():
        return Kind.FLEET
    if (folder / PROTECTION).is_file():
        return Kind.PROTECTION
    page = folder / "report.html"
    return Kind.REPORT if page.is_file() and kind_of(page) is Kind.REPORT else None


def content_kind(head: bytes) -> Kind | None:
    """The kind of a file that begins like this.

    >>> str(content_kind(b'"known_0","known_0_latitude"'))
    'mechanism table'
    """
    start = head.lstrip()
    if start.startswith(MARK) and all(word in head for word in IN_MARK):
        return Kind.MARK
    if start.startswith(b"{"):
        if IN_FLEET in head and b'"hideseek"' in head:
            return Kind.FLEET
        if all(word in head for word in IN_LABEL):
            return Kind.LABEL
        if all(word in head for word in IN_PLAYBOOK_LABEL):
            return Kind.PLAYBOOK_LABEL
        return next((kind for kind, word in DOCUMENTS.items() if word in head[:200]), None)
    if start.startswith(b"<!doctype html>"):
        return Kind.REPORT if REPORT in head else None
    if head[8:9] == b"{":  # after the length of the header
        return next((kind for kind, word in SEALED.items() if word in head[:100]), None)
    columns = start[:100].replace(b'"', b"")
    return next((kind for kind, word in TABLES.items() if columns.startswith(word)), None)


def labels_kind(file: Path) -> Kind | None:
    """Whether a Parquet file holds the labels of a fleet."""
    with file.open("rb") as stream:  # the names of the columns stand at the end
        stream.seek(max(0, file.stat().st_size - HEAD))
        return Kind.LABELS if IN_LABELS in stream.read(HEAD) else None
