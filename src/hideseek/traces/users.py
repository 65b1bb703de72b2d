"""Whose traces a file holds, in the formats that do not say it inside: by names, whatever was read when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import PurePath

YEAR, TWO = r"(?:19|20)\d\d", r"(?:0[1-9]|[12]\d|3[01])"
MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
# with its year: June and April are people too
DAY = rf"{YEAR}[-_. ]?(?:(?:0[1-9]|1[0-2]|{MONTH})(?:[-_. ]?{TWO})?|w\d\d)|(?:{TWO}[-_. ]?)?{MONTH}[-_. ]?{YEAR}"
CLOCK = r"[-_. t]?\d\d[-_.:h]?\d\d(?:[-_.:m]?\d\d(?:\.\d+)?)?[sz]?"
WORD = (
    "(?:activity|data|day|export|file|gps|hike|lap|locations?|log|move|part|points|recording|ride|route|run|session"
    "|track|tracklog|trip|walk|workout)"
)
# names of files that say when, and not who; such names of folders; and numbers, which may say either
WHEN = re.compile(rf"(?:{WORD}[-_. ]?)?(?:{DAY})(?:{CLOCK})?(?:[-_. ]{WORD})?", re.I)
PERIOD = re.compile(f"{YEAR}|{DAY}", re.I)
NUMBER = re.compile(rf"(?:{WORD}[-_. ]?)?\(?\d+\)?", re.I)
# what Google, Strava and KMZ archives call the files and folders of anybody
EXPORT = re.compile(
    r"records|timeline(?: edits)?|location[- ]history(?: \(timeline\))?|semantic location history|takeout"
    r"|activities|doc",
    re.I,
)


@dataclass(frozen=True)
class Named:
    """A file whose rows do not say whose they are: its format, and the first and last microsecond of its rows.

    One that could not be read is not ``good``.
    """

    path: PurePath
    good: bool = True
    format: str | None = None
    span: tuple[int, int] | None = None


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


def says_when(path: PurePath) -> bool:
    """Whether the name of a file is a day, a month or a time, or what an export calls its files, and nobody's.

    >>> days = "2024-03-01.gpx", "2019_JANUARY.json", "20240301.plt", "Records.json", "ann.gpx", "person-001.csv"
    >>> [says_when(PurePath(day)) for day in days]
    [True, True, True, True, False, False]
    """
    day = re.fullmatch(TWO, path.stem) and is_period(path.parent)
    return bool(day or WHEN.fullmatch(path.stem) or EXPORT.fullmatch(path.stem))


def is_period(folder: PurePath) -> bool:
    """Whether the name of a folder is a year, a month or a day, or a month below a year."""
    month = re.fullmatch(TWO, folder.name) and PERIOD.fullmatch(folder.parent.name)
    return bool(month or PERIOD.fullmatch(folder.name))


def folder_of(path: PurePath, root: PurePath) -> PurePath:
    """The folder of a person: the first above a file that is no year, month or export either.

    >>> folder_of(PurePath("ann/Takeout/Semantic Location History/2019/2019_JANUARY.json"), PurePath("."))
    PurePosixPath('ann')
    """
    folder = path.parent
    while folder != root and folder.name:
        if not (folder.name == ".." or is_period(folder) or EXPORT.fullmatch(folder.name)):
            break
        folder = folder.parent
    return folder


def serial(files: Iterable[Named]) -> set[PurePath]:
    """The folders whose numbered files follow one another in time, as those of one person do and of many do not."""
    spans: dict[PurePath, list[tuple[int, int]]] = {}
    for file in files:
        if file.span and NUMBER.fullmatch(file.path.stem):
            spans.setdefault(file.path.parent, []).append(file.span)
    return {
        folder
        for folder, own in spans.items()
        if len(own) > 1 and all(one[1] <= other[0] for one, other in pairwise(sorted(own)))
    }


def told_apart(
    files: Sequence[Named], taken: Collection[str] = (), *, root: PurePath | None = None, name: str = "somebody"
) -> tuple[dict[PurePath, str], str]:
    """The users of all files of a data set, and what tells them apart: file name, folder, both, or path.

    Files whose names say when, or are numbers and follow one another in time, are one person's, who is called by the
    folder; the folder at ``root``, which is that of all files, has a ``name``. Where the same file name occurs in
    several folders, the folders are the users. That holds for the whole data set, but neither for files beside the
    folders nor for those whose format names the user. Where two users would still have one name, or one that is
    ``taken`` by a user in a column of another file, all are called by their paths, from the first folder on that not
    all have in common. A file that could not be read may be anything: it decides for no other, and never takes the
    name of another.

    >>> days = "ann/monday.csv", "ann/tuesday.csv", "bob/monday.csv"
    >>> users, way = told_apart([Named(PurePath(day), format="csv") for day in days])
    >>> list(users.values()), way
    (['ann', 'ann', 'bob'], 'folder')
    """
    root = PurePath() if root is None else root
    read = {file.path for file in files if file.good}
    format_of = formats_of(files)
    homes = homes_of(files, format_of, root)
    names = {
        own: user_of(path, format_of[path]) if own == path else name if own == root else own.name
        for path, own in homes.items()
    }
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
    ways = {"path"} if clash else {"file name" if homes[path] == path else "folder" for path in read}
    return {path: names[own] for path, own in homes.items()}, " and ".join(sorted(ways)) or "file name"


def formats_of(files: Sequence[Named]) -> dict[PurePath, str | None]:
    """The format of every file; what could not be read is taken for one of those that name their users."""
    read = {file.path: file.format for file in files if file.good}
    likely = next((form for form in ("cabspotting", "geolife") if form in read.values()), None)
    return {file.path: read.get(file.path, likely) for file in files}


def homes_of(files: Sequence[Named], format_of: dict[PurePath, str | None], root: PurePath) -> dict[PurePath, PurePath]:
    """The file or the folder that is the user's, of every file."""
    read = {file.path for file in files if file.good}
    top = depth(read)
    in_turn = serial(file for file in files if file.good)
    free = [path for path in read if not says_user(path, format_of[path]) and not says_when(path)]
    repeated = len({path.stem for path in free}) < len({(path.stem, path.parent) for path in free})

    def home(path: PurePath) -> PurePath:
        """That of one of them."""
        if in_trajectory(path, format_of[path]):
            return path.parent.parent
        if path == root or says_user(path, format_of[path]):
            return path
        if says_when(path) or (path.parent in in_turn and NUMBER.fullmatch(path.stem)):
            return folder_of(path, root)
        beside = len(path.parent.parts) <= top
        return path.parent if repeated and not beside else path

    return {file.path: home(file.path) for file in files}
