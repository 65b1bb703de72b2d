"""The folder of a protected person: which files it holds, whether they are of one run, and for whom they were made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from hideseek.errors import HideseekError, OutputError, broken_rule
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import in_space
from hideseek.storage.kinds import PROTECTION
from hideseek.storage.profile_file import load_profile
from hideseek.util.private_files import UNFINISHED, read_plain_file, sync_folder, write_privately

PROFILE, PLAN, PLAYBOOK, REPORT = "profile.json", "me.plan", "me.playbook", "report.html"
MADE = (PROFILE, PLAN, REPORT, PLAYBOOK)  # in this order: what a device opens comes last
WRITTEN = (*MADE, PROTECTION)
NEW = ".new-"  # how the folder begins in which they are written
STATE = ".state"  # how the file of a device beside them ends
MOVED = 1000.0  # metres between the homes of what may be one person
LARGEST = 2**24  # bytes


def own_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder; refused unless it can be written and all that it holds was written by this, or by a device."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise broken_rule("out", "protect", "a folder", f"the file {path}")
    there = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(f"The folder {path} cannot be written: {there} belongs to others.")
    names = {one.name for one in path.iterdir()} - {*WRITTEN} if path.exists() else ()
    if foreign := sorted(name for name in names if not name.endswith((UNFINISHED, STATE))):
        rule = "a folder that is new, empty, or holds what protect wrote before"
        raise broken_rule("out", "protect", rule, f"{path}, which holds {foreign[0]}", "Give another folder.")
    return path


def refuse_other_person(folder: Path | None, user: str, profile: MarkovProfile) -> None:
    """Refuse a folder that was written for somebody with another name who lives elsewhere."""
    before = None if folder is None else written_for(folder)
    if folder is None or before is None or before == user:
        return
    try:
        theirs = load_profile(folder / PROFILE)
    except HideseekError:
        return
    old, new = (in_space(*regions_of(one).centres[one.stationary.argmax()]) for one in (theirs, profile))
    if np.linalg.norm(new - old) > MOVED:
        rule, hint = "a folder of the same person", "Give another folder, or delete the files in this one."
        got = f"{folder}, which was written for {before}, where the traces are of {user} and are about other places"
        raise broken_rule("out", "protect", rule, got, hint)


@contextmanager
def written_together(folder: Path, document: Mapping[str, object]) -> Iterator[Path]:
    """A new folder for the files, which then replace those in the folder; the document with their checksums comes last.

    A kill while they are replaced leaves files of two runs, which the checksums tell.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    for left in folder.glob(f"{NEW}*{UNFINISHED}"):  # by a run that was killed
        shutil.rmtree(left)
    new = Path(tempfile.mkdtemp(UNFINISHED, NEW, folder))
    try:
        yield new
        told = {**document, "sha256": {name: digest_of(new / name) for name in MADE}}
        write_privately(new / PROTECTION, json.dumps(told, indent=2).encode())
        for name in WRITTEN:
            (new / name).replace(folder / name)
        sync_folder(folder)
    finally:
        shutil.rmtree(new)


def document_in(folder: Path) -> dict[str, Any]:
    """What is written about the files of a folder; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(read_plain_file(folder / PROTECTION, LARGEST), type=dict[str, Any])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        return {}


def written_for(folder: Path) -> str | None:
    """Whose files a folder holds; None where it does not say."""
    user = document_in(folder).get("user")
    return user if isinstance(user, str) else None


def of_other_runs(folder: Path) -> list[str]:
    """The files that are not those of the run that finished last: another one was killed, or they were changed."""
    digests = document_in(folder).get("sha256")
    if not isinstance(digests, dict):
        return []
    return [name for name in MADE if (folder / name).is_file() and digest_of(folder / name) != digests.get(name)]


def digest_of(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
