"""Who is who, by the names of the files."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.errors import TraceWarning
from hideseek.traces import delimited
from hideseek.traces.formats import FORMATS
from hideseek.traces.reading import read_traces
from hideseek.traces.user_store import spooled
from hideseek.traces.users import Named, told_apart
from tests.support.trace_files import CAB, PLT, gzipped, pack, put, zipped


def users_and_files(path):
    """The users of a data set, each with the latitudes of the fixes, of which every file here has another."""
    table = read_traces(path)
    return {user: sorted(own["latitude"]) for user, own in table.groupby("user_id")}, table.attrs[
        "report"
    ].told_apart_by


def as_cab(latitude):
    return f"{latitude} 2 0 {1213084687 + latitude}\n"


def as_csv(latitude):
    return f"t,lat,lon\n2020-01-0{latitude},{latitude},2\n"


def as_csv_of_eve(latitude):
    return f"uid,t,lat,lon\neve,2020-01-0{latitude},{latitude},2\n"


def as_plt(latitude):
    return (
        PLT.splitlines(keepends=True)[0] + "\n" * 5 + f"{latitude},116.3,0,492,39744.12,2008-10-2{latitude},02:53:04\n"
    )


NAMES = {
    "one file each": (as_csv, ["ann.csv", "bob.csv"], {"ann": [1], "bob": [2]}, "file name"),
    "the same name in two folders": (
        as_csv,
        ["alice/2026-01-05.csv", "bob/2026-01-05.csv"],
        {"alice": [1], "bob": [2]},
        "folder",
    ),
    "a day that only one of them has": (
        as_csv,
        ["alice/05.csv", "alice/06.csv", "bob/05.csv"],
        {"alice": [1, 2], "bob": [3]},
        "folder",
    ),
    "folders that repeat too": (
        as_cab,
        ["alice/2025/x.txt", "alice/2026/x.txt", "bob/2026/x.txt"],
        {"alice/2025": [1], "alice/2026": [2], "bob/2026": [3]},
        "path",
    ),
    "some beside the folders": (
        as_csv,
        ["05.csv", "06.csv", "alice/05.csv", "alice/07.csv"],
        {"data": [1, 2], "alice": [3, 4]},
        "folder",
    ),
    "a folder and a file of one name": (
        as_csv,
        ["a/1.csv", "a.csv", "b/1.csv"],
        {"./a": [1], "./a.csv": [2], "./b": [3]},
        "path",
    ),
    "one folder, two endings": (as_csv, ["ann.csv", "ann.txt"], {"./ann.csv": [1], "./ann.txt": [2]}, "path"),
    "folders without the same name": (as_csv, ["x/ann.csv", "y/bob.csv"], {"ann": [1], "bob": [2]}, "file name"),
    "a cab says who it is": (
        as_cab,
        ["test/new_a.txt", "train/new_a.txt", "train/new_b.txt"],
        {"test/new_a.txt": [1], "train/new_a.txt": [2], "train/new_b.txt": [3]},
        "path",
    ),
    "and so does a tree of Geolife": (
        as_plt,
        ["x/000/Trajectory/1.plt", "x/000/Trajectory/2.plt", "x/001/Trajectory/1.plt"],
        {"000": [1, 2], "001": [3]},
        "folder",
    ),
    "two trees of Geolife": (
        as_plt,
        ["x/000/Trajectory/1.plt", "x/000/Trajectory/2.plt", "y/000/Trajectory/1.plt"],
        {"x/000": [1, 2], "y/000": [3]},
        "path",
    ),
    "a column says who it is": (as_csv_of_eve, ["ann/1.csv", "bob/1.csv"], {"eve": [1, 2]}, "column"),
    "a column and names": (
        lambda number: as_csv_of_eve(number) if number == 1 else as_csv(number),
        ["1.csv", "ann/2.csv", "bob/2.csv"],
        {"eve": [1], "ann": [2], "bob": [3]},
        "column and folder",
    ),
}


@pytest.mark.parametrize("form", ["folder", "tar"])
@pytest.mark.parametrize("layout", NAMES)
def test_no_two_files_are_one_user_unless_their_names_say_so(tmp_path, layout, form):
    write, files, users, how = NAMES[layout]
    texts = {name: write(number) for number, name in enumerate(files, start=1)}
    for name, text in texts.items():
        put(tmp_path, f"data/{name}", text)
    root = tmp_path / "data"
    path = root if form == "folder" else put(tmp_path, "x.tar", pack({f"data/{name}": texts[name] for name in files}))
    assert users_and_files(path) == (users, how)


def test_a_column_tells_the_users_however_many_blanks_end_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 16)
    put(tmp_path, "x/1.csv", as_csv_of_eve(1) + " \n" * 99)
    put(tmp_path, "y/1.csv", as_csv_of_eve(2))
    assert users_and_files(tmp_path) == ({"eve": [1, 2]}, "column")


def test_junk_that_repeats_tells_nothing_of_the_users(tmp_path):
    for name in ("north/ann.csv", "north/bob.csv", "south/eve.csv"):
        put(tmp_path, name, as_csv(1))
    for folder in ("north", "south"):
        put(tmp_path, f"{folder}/desktop.ini", "[.ShellClassInfo]\n")
    with pytest.warns(TraceWarning, match="files passed over: 2"):
        assert set(read_traces(tmp_path)["user_id"]) == {"ann", "bob", "eve"}


def test_a_file_is_not_taken_for_somebody_in_a_column_of_another(tmp_path):
    """By read_traces and by a fleet's spool alike, and no fix of theirs is lost as a duplicate."""
    fixes = "datetime,lat,lng\n2026-01-05 08:00,46.5,6.5\n2026-01-05 08:05,46.5,6.6\n"
    put(tmp_path, "bob.csv", fixes)
    lines = fixes.splitlines()
    put(tmp_path, "all.csv", "\n".join([f"uid,{lines[0]}", *(f"bob,{line}" for line in lines[1:])]) + "\n")
    table = read_traces(tmp_path)
    assert table["user_id"].value_counts().to_dict() == {"bob": 2, "./bob.csv": 2}
    assert table.attrs["report"].told_apart_by == "column and path"
    with spooled(tmp_path) as spool:
        assert spool.users == ["./bob.csv", "bob"]


def test_file_names_that_are_no_text_stay_apart(tmp_path):
    names = [b"new_\xff.txt", b"new_\xfe.txt", rb"new_\xff.txt", "new_é.txt".encode(), b"new_?.txt"]
    try:
        for name in names:
            put(tmp_path, os.fsdecode(name), CAB)
    except (OSError, UnicodeError):
        pytest.skip("the file system takes no such name")
    users = set(read_traces(tmp_path)["user_id"])
    assert users == {r"\xff", r"\xfe", r"\\xff", "é", "?"}


PARTS = st.sampled_from(["a", "b", "new_a", "a.csv", "Trajectory", "..", "."])
ENDS = st.sampled_from(["a.csv", "a.txt", "a.csv.csv", "b.csv", "new_a.txt", "new_.txt", "a"])
PATHS = st.builds(lambda parts, end: PurePosixPath(*parts, end), st.lists(PARTS, max_size=3), ENDS)
# on no disk is a file a folder too
FILES = st.dictionaries(PATHS, st.booleans(), max_size=8).filter(
    lambda files: not any(path in files for one in files for path in one.parents)
)


def folders_of(path):
    """The folders that may be a user's."""
    return {path.parent, path.parent.parent} if path.parent.name == "Trajectory" else {path.parent}


@given(FILES, st.sampled_from([*FORMATS, None]), st.randoms(use_true_random=False))
def test_two_files_are_one_users_only_in_one_folder_and_in_any_order(files, form, random):
    named = [Named(path, good, form) for path, good in files.items()]
    users, way = told_apart(named)
    assert users.keys() == files.keys()
    for one in files:
        for other in files:
            if one != other and users[one] == users[other]:
                assert folders_of(one) & folders_of(other)
                assert way != "file name"
    assert told_apart(random.sample(named, len(named))) == (users, way)


@given(FILES, st.sampled_from([*FORMATS, None]))
def test_what_could_not_be_read_gives_nobody_else_another_name(files, form):
    named = [Named(path, good, form) for path, good in files.items()]
    alone, way = told_apart([file for file in named if file.good])
    users, _ = told_apart(named)
    for path, user in alone.items():  # a path may begin further up
        assert users[path] == user or (way == "path" and users[path].endswith(user.removeprefix(".")))


def cab_on(day):
    return f"{day} 2 0 {1213084687 + 86400 * day}\n"


ONE = {
    "days": ["2024-03-01.gpx", "2024-03-02.gpx", "20240303.plt", "2024-03-04T101500Z.csv"],
    "months": ["2019/2019_JANUARY.json", "2019/2019_FEBRUARY.json", "2020/2020_MAY.json"],
    "an export of Google": [
        "Takeout/Location History/Records.json",
        "Takeout/Semantic Location History/2019/2019_MAY.json",
    ],
    "running numbers": ["activity_123.gpx", "activity_124.gpx", "activity_200.gpx"],
    "bare numbers": ["1.gpx", "2.gpx", "10.gpx"],
    "years and months": ["2024/03/01.gpx", "2024/03/02.gpx", "2024/04/01.gpx"],
    "years": ["2022.csv", "2023.csv"],
    "words and days": ["track-2024-03-01.gpx", "Track_20240302.gpx"],
}


@pytest.mark.parametrize("form", ["folder", "tar"])
@pytest.mark.parametrize("layout", ONE)
def test_files_that_say_when_and_not_who_are_one_persons(tmp_path, layout, form):
    texts = {name: cab_on(day) for day, name in enumerate(ONE[layout], start=1)}
    for name, text in texts.items():
        put(tmp_path, f"ann/{name}", text)
    path = tmp_path / "ann" if form == "folder" else put(tmp_path, "ann.tar", pack(texts))
    assert users_and_files(path) == ({"ann": list(range(1, len(texts) + 1))}, "folder")
    with spooled(path) as spool:
        assert (spool.users, spool.told_apart_by) == (["ann"], "folder")


def test_numbered_files_of_the_same_time_are_several_persons(tmp_path):
    for number in (1, 2, 3):
        put(tmp_path, f"data/{number}.txt", f"{number} 2 0 1213084687\n{number} 3 0 1213094687\n")
    assert users_and_files(tmp_path / "data") == ({str(k): [k, k] for k in (1, 2, 3)}, "file name")


def test_people_with_days_are_told_apart_by_their_folders(tmp_path):
    for day, name in enumerate(["ann/2024-03-01.gpx", "ann/2024-03-02.gpx", "bob/2024-03-03.gpx"], start=1):
        put(tmp_path, name, cab_on(day))
    assert users_and_files(tmp_path) == ({"ann": [1, 2], "bob": [3]}, "folder")


def test_a_person_by_the_file_beside_one_by_the_folder_names_both_ways(tmp_path):
    for day, name in enumerate(["std.csv", "2024-03-02.gpx", "Timeline.json"], start=1):
        put(tmp_path, f"mixed/{name}", cab_on(day))
    assert users_and_files(tmp_path / "mixed") == ({"std": [1], "mixed": [2, 3]}, "file name and folder")
    with spooled(tmp_path / "mixed") as spool:
        assert spool.told_apart_by == "file name and folder"


@pytest.mark.parametrize(
    "name",
    [
        "ann.csv",
        "person-001.csv",
        "new_2024.txt",
        "user7.csv",
        "May-Lin.csv",
        "device_12.gpx",
        "june.csv",
        "mary.csv",
        "jane.csv",
        "7.csv",
    ],
)
def test_names_of_people_are_no_days_and_no_numbers(tmp_path, name):
    for number, own in enumerate([name, f"other-{name}"], start=1):
        put(tmp_path, f"data/{own}", cab_on(number))
    assert len(users_and_files(tmp_path / "data")[0]) == 2


def test_a_single_file_keeps_its_name_whatever_it_says(tmp_path):
    assert users_and_files(put(tmp_path, "2024-03-01.gpx", cab_on(1)))[0] == {"2024-03-01": [1]}


@pytest.mark.parametrize("what", ["data", "ann.csv.gz", "all.zip"])
def test_one_person_is_called_by_the_name_of_the_input(tmp_path, what):
    files = {"ann.csv": "uid,t,lat,lon\nx,2020-01-01,1,2\ny,2020-01-02,2,2\n", "bob.csv": "t,lat,lon\n2020-01-03,3,2\n"}
    for name, text in files.items():
        put(tmp_path, f"data/{name}", text)
    put(tmp_path, "ann.csv.gz", gzipped(files["ann.csv"]))
    put(tmp_path, "all.zip", zipped(files))
    table = read_traces(tmp_path / what, one_person=True)
    assert set(table["user_id"]) == {what.partition(".")[0]}
    assert table.attrs["report"].told_apart_by == "one person"
    with spooled(tmp_path / what, one_person=True) as spool:
        assert (spool.users, spool.told_apart_by) == ([what.partition(".")[0]], "one person")
        pd.testing.assert_frame_equal(spool[spool.users[0]], table)
