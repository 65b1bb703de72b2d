"""Whose traces a file holds, in the formats that do not say it inside: by names alone, whatever was read when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from pathlib import PurePath


def user_of(path: PurePath, format: str | None) -> str:  # noqa: A002
    """The user by the name of a file alone.

    >>> user_of(PurePath("cabs/new_abboip.txt"), "cabspotting"), user_of(PurePath("007/Trajectory/1.plt"), "geolife")
    ('abboip', '007')
    """
    if in_trajectory(path, format):
        return path.parent.parent.name
    return path.stem.removeprefix("new_") if format == "cabspotting" else path.stem


def in_trajectory(path: PurePath, format: str | None) -> bool:  # noqa: A002
    """Whether a file lies where Geolife has those of a user: USER/Trajectory/."""
    return format == "geolife" and path.parent.name.lower() == "trajectory" and bool(path.parent.parent.name)


def says_user(path: PurePath, format: str | None) -> bool:  # noqa: A002
    """Whether the format has a rule for the names of its files, and this one keeps it."""
    return in_trajectory(path, format) or (format == "cabspotting" and path.name.startswith("new_"))


def depth(paths: Iterable[PurePath]) -> int:
    """How many folders all files have in common."""
    levels = zip(*(path.parent.parts for path in paths), strict=False)
    return sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, levels))


def told_apart(
    files: Sequence[tuple[PurePath, bool]],
    format: str | None,  # noqa: A002
    taken: Collection[str] = (),
) -> tuple[dict[PurePath, str], str]:
    """The users of all files of a data set, and what tells them apart: the file name, the folder or the path.

    Where the same file name occurs in several folders, the folders are the users. That holds for the whole data set,
    but neither for files beside the folders nor for those whose format names the user. Where two users would still
    have one name, or one that is ``taken`` by a user in a column of another file, all are called by their paths, from
    the first folder on that not all have in common. A file that could not be read (False) may be anything: it decides
    for no other, and never takes the name of another.

    >>> days = "ann/monday.csv", "ann/tuesday.csv", "bob/monday.csv"
    >>> users, way = told_apart([(PurePath(day), True) for day in days], "csv")
    >>> list(users.values()), way
    (['ann', 'ann', 'bob'], 'folder')
    """
    read = {path for path, good in files if good}
    top = depth(read)
    free = [path for path in read if not says_user(path, format)]
    repeated = len({path.stem for path in free}) < len({(path.stem, path.parent) for path in free})

    def home(path: PurePath) -> PurePath:
        """The file or the folder that is the user's."""
        if in_trajectory(path, format):
            return path.parent.parent
        beside = len(path.parent.parts) <= top
        return path.parent if repeated and not beside and not says_user(path, format) else path

    homes = {path: home(path) for path, _ in files}
    names = {own: user_of(path, format) if own == path else own.name for path, own in homes.items()}
    known = {homes[path] for path in read}
    own_names = {names[own] for own in known}
    clash = len(own_names) < len(known) or not own_names.isdisjoint(taken)
    often = Counter(names.values())
    start = depth(homes)
    for own in names:
        if clash if own in known else often[names[own]] > 1:
            parts = own.parts[start:]
            names[own] = "/".join(parts if len(parts) > 1 else (".", *parts))  # no file or folder has such a name
            while names[own] in taken:
                names[own] = f"./{names[own]}"
    way = "path" if clash else "folder" if any(homes[path] != path for path in read) else "file name"
    return {path: names[own] for path, own in homes.items()}, way
