"""A data set one user at a time is the data set read at once."""

from __future__ import annotations

import errno
import io
import os
import tarfile
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest

from hideseek import read_traces, synthetic_city
from hideseek.errors import OutputError, TraceError
from hideseek.traces import TraceWarning, delimited, xml_points
from hideseek.traces import user_store as spool
from hideseek.traces.formats import FORMATS
from hideseek.traces.table import INACCURATE
from hideseek.traces.user_store import ROW, spooled
from tests.support.trace_files import GPX

CITY = synthetic_city(people=3, days=2, seed=4)
CITY = CITY.sample(frac=1, random_state=0)  # files need not be in order
TWICE = pd.concat([CITY, CITY.head(40).assign(latitude=1.0)])  # nor say one thing of every moment
UNKNOWN = f"not recognised as {', '.join(FORMATS)}"
FAR = pd.Timestamp("2031-01-01", tz="UTC")


def as_csv(rows):
    return rows.to_csv(index=False)


def as_cab(rows):
    seconds = rows["tracked_at"].dt.as_unit("s").astype("int64")
    lines = zip(rows["latitude"], rows["longitude"], seconds, strict=True)
    return "".join(f"{latitude} {longitude} 0 {time}\n" for latitude, longitude, time in lines)


def as_geolife(rows):
    lines = zip(rows["latitude"], rows["longitude"], rows["tracked_at"].dt.strftime("%Y-%m-%d,%H:%M:%S"), strict=True)
    return "Geolife trajectory\n" + "\n" * 5 + "".join(f"{a},{b},0,0,0,{when}\n" for a, b, when in lines)


def by_user(form, pattern):
    return {pattern.format(name): form(rows) for name, rows in TWICE.groupby("user_id")}


def by_day(traces):
    return {f"{day}.csv": as_csv(rows) for day, rows in traces.groupby(traces["tracked_at"].dt.date)}


LAYOUTS = {
    "one CSV": {"city.csv": as_csv(TWICE)},
    "a CSV a day": by_day(TWICE),
    "a row each": {"city.csv": as_csv(TWICE.drop_duplicates("user_id"))},
    "a CSV a user": by_user(lambda rows: as_csv(rows.drop(columns="user_id")), "{}.csv"),
    "a cab a user": by_user(as_cab, "new_{}.txt"),
    "files of a user in a folder": {
        f"{name}/Trajectory/{day}.plt": as_geolife(rows)
        for (name, day), rows in TWICE.groupby(["user_id", TWICE["tracked_at"].dt.date])
    },
    "a file of one name in the folder of a user": {
        f"{name}/{day}.csv": as_csv(rows.drop(columns="user_id"))
        for (name, day), rows in TWICE.groupby(["user_id", TWICE["tracked_at"].dt.date])
    },
    "troubled": {
        **by_user(as_cab, "new_{}.txt"),
        "new_aaa.txt": "",
        "new_nan.txt": "nan nan 0 1213084687\n",
        "new_one.txt": "37.7 -122.4 0 1213084687\n95.0 -122.4 0 1213084688\n",
    },
}


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root if len(files) > 1 else root / next(iter(files))


def packed(root: Path, path: Path, mode: str) -> Path:
    with tarfile.open(path, mode) as archive:
        archive.add(root, "data")
    return path


@pytest.mark.filterwarnings("ignore::hideseek.traces.TraceWarning")
@pytest.mark.parametrize("kind", ["folder", "tar", "tar.gz"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_user_alone_is_as_in_the_whole(tmp_path, layout, kind):
    root = lay(tmp_path / "data", LAYOUTS[layout])
    path = root if kind == "folder" else packed(root, tmp_path / f"x.{kind}", "w" if kind == "tar" else "w:gz")
    whole = read_traces(path)
    with spooled(path) as spool:
        assert spool.users == sorted(set(whole["user_id"]))
        assert {"person-000", "person-001", "person-002"} <= set(spool.users)
        assert spool.told_apart_by == whole.attrs["report"].told_apart_by
        assert spool.notes == whole.attrs["report"].notes
        for user in spool.users:
            pd.testing.assert_frame_equal(spool[user], whole[whole["user_id"] == user].reset_index(drop=True))


def test_who_has_no_row_is_listed_with_the_reason_and_without_a_location(tmp_path):
    files = {
        "new_good.txt": as_cab(CITY.head(9)) + "95.5 -122.4 0 1213084687\n",
        "new_aaa.txt": "",  # comes first, when the format is not known yet
        "new_nan.txt": "nan nan 0 1213084687\n",
        "new_pole.txt": "95.5 -122.4 0 1213084687\n",
        "new_.txt": "37.7512 -122.4 0 1213084687\n",
        "new_words.txt": "I was at 37.7512 -122.4\n",
        "new_nul.txt": "37.7512 -122.4 0 1213084687\n" * 5000 + "\0",
    }
    said = r"^3 rows could not be read: latitude must be in \[-90, 90\] \(2\), user_id must be given \(1\)\.$"
    with ExitStack() as stack:
        with pytest.warns(TraceWarning, match=said):
            spool = stack.enter_context(spooled(lay(tmp_path, files)))
        assert spool.users == ["good"]
        assert spool.unusable == {
            "": "user_id must be given",
            "aaa": "the file is empty",
            "nan": UNKNOWN,
            "nul": "it holds NUL bytes, so it is not text",
            "pole": "latitude must be in [-90, 90]",
            "words": UNKNOWN,
        }


def test_who_has_no_row_is_told_apart_from_who_has(tmp_path):
    rows = as_csv(CITY.head(9).drop(columns="user_id"))
    files = {"ann/05.csv": rows, "bob/05.csv": "", "eve/06.csv": "", "tom/06.csv": "", "desktop.ini": "[x]"}
    with spooled(lay(tmp_path, files)) as spool:
        assert spool.users == ["05"]
        assert spool.unusable == {
            "bob/05.csv": "the file is empty",
            "eve/06.csv": "the file is empty",
            "tom/06.csv": "the file is empty",
            "desktop": UNKNOWN,
        }
    files |= {"bob/05.csv": rows, "eve/06.csv": "t,lat,lon\n"}
    with spooled(lay(tmp_path, files)) as spool:
        assert (spool.users, spool.told_apart_by) == (["ann", "bob"], "folder")
        assert spool.unusable == {
            "desktop": UNKNOWN,
            "eve": "the file has no rows",
            "tom": "the file is empty",
        }


@pytest.mark.filterwarnings("ignore::hideseek.traces.TraceWarning")
def test_a_user_whose_rows_in_a_common_file_are_all_bad_is_listed_too(tmp_path):
    bad = pd.DataFrame({"user_id": ["ghost"], "tracked_at": [FAR], "latitude": [91.0], "longitude": [0.0]})
    files = {"a.csv": as_csv(pd.concat([CITY, bad])), "b.csv": "user_id,t,lat,lon\n"}
    with spooled(lay(tmp_path, files)) as spool:
        assert len(spool.users) == 3
        assert spool.unusable == {"b": "the file has no rows", "ghost": "latitude must be in [-90, 90]"}


def test_a_file_that_cannot_be_opened_does_not_stop_the_others(tmp_path, monkeypatch):
    files = {"new_a.txt": as_cab(CITY.head(9)), "new_b.txt": as_cab(CITY.head(9))}
    root, opened = lay(tmp_path, files), Path.open

    def refusing(path, *args, **more):
        if path.name == "new_b.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **more)

    monkeypatch.setattr(Path, "open", refusing)
    with spooled(root) as spool:
        assert (spool.users, spool.unusable) == (["a"], {"b": "it cannot be opened: Permission denied"})
    with pytest.warns(match=r"files passed over: 1, the first: new_b\.txt: it cannot be opened: Permission denied"):
        assert set(read_traces(root)["user_id"]) == {"a"}


def test_the_digest_changes_with_a_users_rows_and_with_nothing_else(tmp_path):
    earliest = CITY.index == CITY.loc[CITY["user_id"] == "person-001", "tracked_at"].idxmin()
    before, after = (by_day(CITY.assign(latitude=CITY["latitude"] + move * earliest)) for move in (0, 0.01))
    told = []
    with (
        spooled(lay(tmp_path / "a", before), progress=lambda *news: told.append(news)) as first,
        spooled(lay(tmp_path / "b", after)) as second,
    ):
        assert told == [("reading", 1, 0), ("reading", 2, 0)]
        assert len({first.digest(user) for user in first.users}) == 3
        assert [user for user in first.users if first.digest(user) != second.digest(user)] == ["person-001"]


def test_the_rows_wait_in_a_file_that_nobody_else_finds(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with spooled(lay(tmp_path / "data", LAYOUTS["one CSV"])) as spool:
        assert list((tmp_path / "temporary").iterdir()) == []
        size = spool.file.seek(0, io.SEEK_END)
    assert size == len(TWICE) * ROW.itemsize


def test_a_folder_without_any_row_is_an_error(tmp_path):
    with pytest.raises(TraceError, match="no file to read; looked for parquet, "), spooled(tmp_path):
        pass
    with pytest.raises(TraceError, match="a: the file is empty"), spooled(lay(tmp_path, {"a.txt": "", "b.txt": ""})):
        pass


def test_a_temporary_folder_that_is_full_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(spool, "append", full)
    synthetic_city(people=1, days=1).to_csv(tmp_path / "city.csv", index=False)
    with (
        pytest.raises(OutputError, match=r"temporary folder .* No space left on device\. Set TMPDIR"),
        spooled(tmp_path),
    ):
        pass


def test_a_link_that_leads_nowhere_is_told_and_stops_nobody(tmp_path):
    (tmp_path / "new_ann.txt").write_text(as_cab(CITY.head(5)))
    (tmp_path / "new_bob.txt").symlink_to(tmp_path / "gone.txt")
    with spooled(tmp_path) as found:
        assert found.users == ["ann"]
        assert found.unusable == {"bob": "it cannot be opened: No such file or directory"}


def test_stretches_come_back_with_their_ends(tmp_path):
    text = "uid,t,end_time,x,y\nann,2020-01-01T10:00,2020-01-01T11:00,1,2\nann,2020-01-01T10,,1,3\nbob,5,,1,2\n"
    path = lay(tmp_path, {"a.csv": text})
    whole = read_traces(path)
    with spooled(path) as found:
        ann = found["ann"]
        pd.testing.assert_frame_equal(ann, whole[whole["user_id"] == "ann"].reset_index(drop=True))
        assert (ann["finished_at"] - ann["tracked_at"]).tolist() == [pd.Timedelta("1h")]
        assert "finished_at" not in found["bob"]


@pytest.mark.parametrize("together", [1, 7, 10**6])
def test_however_many_rows_are_put_in_order_at_once_nothing_changes(tmp_path, monkeypatch, together):
    monkeypatch.setattr(spool, "TOGETHER", together)
    monkeypatch.setattr(delimited, "BLOCK", 500)
    path = lay(tmp_path, LAYOUTS["one CSV"])
    whole = read_traces(path)
    with spooled(path) as found:
        for user in found.users:
            pd.testing.assert_frame_equal(found[user], whole[whole["user_id"] == user].reset_index(drop=True))


def test_a_file_that_breaks_off_leaves_none_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(spool, "TOGETHER", 1)
    monkeypatch.setattr(xml_points, "BLOCK", 50)
    files = {"ann.gpx": GPX, "bob.gpx": GPX[:-20], "eve.gpx": GPX}
    with spooled(lay(tmp_path, files)) as found:
        assert found.users == ["ann", "eve"]
        assert list(found.unusable) == ["bob"]
        assert found.file.seek(0, io.SEEK_END) == 6 * ROW.itemsize
        pd.testing.assert_frame_equal(found["eve"].drop(columns="user_id"), found["ann"].drop(columns="user_id"))


def test_who_has_only_inaccurate_fixes_is_listed_so(tmp_path):
    rough = "t,x,y,acc\n2020-01-01,1,2,5000\n"
    path = lay(tmp_path / "files", {"ann.csv": rough, "bob.csv": rough.replace("5000", "5")})
    column = lay(tmp_path / "column", {"all.csv": "uid,t,x,y,acc\nann,2020-01-01,1,2,5000\nbob,2020-01-01,1,2,5\n"})
    for data in (path, column):
        with spooled(data) as found:
            assert (found.users, found.unusable) == (["bob"], {"ann": INACCURATE})
    with pytest.raises(TraceError, match=INACCURATE), spooled(column, accuracy=4):
        pass
    with spooled(path, accuracy=None) as found:
        assert found.users == ["ann", "bob"]


def test_a_spool_takes_what_reading_takes(tmp_path):
    path = lay(tmp_path, {"a.csv": "ts,who,breite,x\n2020-01-01,ann,46.5,6.5\n"})
    with spooled(path, format="csv", columns={"latitude": "breite", "user": "who"}) as found:
        assert found.users == ["ann"]


NEW_YORK = pd.DataFrame(
    {
        "uid": ["ann", "ann", "bob"],
        "t": ["2020-01-01T10:00-05:00", "2020-01-01T10:00-05:00", "2020-01-01T10:00"],
        "lat": [-74.0, -74.0, -74.0],
        "lon": [40.7, 40.8, 40.7],
    }
)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (NEW_YORK, ["at the same instant was kept: 1", "read as UTC: 1", "look swapped"]),
        (NEW_YORK.rename(columns={"lat": "lon", "lon": "lat"}), ["was kept: 1", "read as UTC: 1"]),
        (NEW_YORK.assign(t="2020-01-01T10:00Z"), ["was kept: 1"]),
        (NEW_YORK.assign(acc=[5, 5, 500]), ["inaccurate: 1", "was kept: 1", "read as UTC: 1", "look swapped"]),
        # of three fixes at different instants, one is where its clock says
        (NEW_YORK.assign(uid=list("abc"), lat=[-74, 40.7, -74], lon=[40.7, -74, 40.7]), ["UTC: 1", "look swapped"]),
        (NEW_YORK.assign(uid=list("abc"), lat=[-74, 40.7, 40.7], lon=[40.7, -74, -74]), ["UTC: 1"]),
    ],
)
def test_the_notes_are_those_of_reading_at_once(tmp_path, rows, told):
    for separator, decimal, more in ((",", ".", []), (";", ",", ["decimal comma: "])):
        path = tmp_path / "x.csv"
        rows.to_csv(path, index=False, sep=separator, decimal=decimal)
        with spooled(path) as found:
            assert found.notes == read_traces(path).attrs["report"].notes
        said = sorted(told + more, key=lambda words: words == "look swapped")
        assert all(words in note for words, note in zip(said, found.notes, strict=True))
