"""A fleet: everybody is in the table, whatever happens on the way."""

from __future__ import annotations

import os
import re
import select
import stat
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import fsspec
import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import parquet

from hideseek import Codebook, ParameterError
from hideseek.errors import OutputError, TraceError
from hideseek.fleet import Fleet, Job, engines, outputs, run_fleet
from hideseek.fleet import run as running
from hideseek.fleet.folder import Folder
from hideseek.fleet.job import FleetRow
from tests.support.fleets import CITY, JOB, WORDS, Slow, assert_same, dies_always, dies_once, labels_of

RATE = {"place": "string"} | dict.fromkeys(
    ("share", *(f"{rate}{end}" for rate in ("there", "elsewhere") for end in ("", "_low", "_high"))), "double"
)


def test_the_columns_are_these_whatever_the_users(undisturbed):
    table = parquet.read_table(undisturbed / "labels.parquet")
    assert table.column_names == list(FleetRow.__struct_fields__)
    kinds = {"string": "str", "int64": "int", "double": "float", "bool": "bool"}
    rates = f"list<element: struct<{', '.join(f'{name}: ' + kind for name, kind in RATE.items())}>>"
    for field in table.schema:
        assert (kinds | {rates: "list[HitRate]"})[str(field.type)] in str(FleetRow.__annotations__[field.name]), (
            field.name
        )


def test_results_are_their_owners_only_and_codebooks_can_be_loaded(undisturbed):
    files = [path for path in undisturbed.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    for folder in (undisturbed, undisturbed / "codebooks", undisturbed / "done"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len([Codebook.load(path) for path in undisturbed.rglob("*.hideseek")]) == 4


def test_neither_the_number_of_workers_nor_the_order_of_the_files_matters(city, undisturbed, tmp_path):
    (tmp_path / "shuffled").mkdir()
    for number, rows in enumerate(np.array_split(np.random.default_rng(0).permutation(len(CITY)), 3)):
        CITY.iloc[rows].to_csv(tmp_path / "shuffled" / f"{number}.csv", index=False)
    run_fleet(tmp_path / "shuffled", tmp_path / "three", job=JOB, workers=3)
    assert_same(tmp_path / "three", undisturbed)


def times_of(folder):
    return {path.name: path.stat().st_mtime_ns for path in Path(folder).rglob("*") if path.parent.name != "out"}


def test_nothing_finished_is_done_again_and_what_is_missing_is(city, undisturbed, tmp_path):
    out = tmp_path / "out"
    subprocess.run(["cp", "-rp", undisturbed, out], check=True)
    before = times_of(out)
    assert run_fleet(city, out, job=JOB, workers=1).reused == 4
    assert {name for name, at in times_of(out).items() if before[name] != at} == set()
    assert (out / "labels.parquet").read_bytes() == (undisturbed / "labels.parquet").read_bytes()
    next(out.rglob("person-001.hideseek")).unlink()
    (out / "done" / "person-002.json").write_bytes((out / "done" / "person-002.json").read_bytes()[:-9])
    changed = CITY.drop(index=CITY.index[CITY["user_id"] == "person-003"][-1])
    changed.to_csv(tmp_path / "changed.csv", index=False)
    assert run_fleet(tmp_path / "changed.csv", out, job=JOB, workers=1).reused == 1
    files = {f"person-00{k}.{end}" for k in (1, 2, 3) for end in ("json", "hideseek")}
    assert files <= {name for name, at in times_of(out).items() if before.get(name) != at}
    assert {name for name, at in times_of(out).items() if before.get(name) != at} - files <= {"hamming-20%", "done"}
    assert labels_of(out).loc["person-003", "fixes"] == labels_of(undisturbed).loc["person-003", "fixes"] - 1


TELLING = """
import sys
from hideseek.fleet import Job, run_fleet
job = Job(grid=(1, 2), privacy=("hamming",), memory=1)
run_fleet(*sys.argv[1:], job=job, workers=2, progress=lambda *far: print(*far, flush=True))
"""


@contextmanager
def told(city, out, reports):
    """A run that has told so often how far it is, and is killed in the end."""
    with subprocess.Popen([sys.executable, "-c", TELLING, city, out], stdout=subprocess.PIPE) as process:
        for _ in range(reports):
            assert process.stdout.readline()
        yield process
        process.kill()


def test_killed_at_any_moment_it_goes_on_to_the_same_end(city, undisturbed, tmp_path):
    command = [sys.executable, "-m", "hideseek", "fleet", city, "--out", tmp_path / "out", *WORDS, "--workers", "2"]
    finished = set()
    for reports in (1, 2, 4):  # while reading, before the first user, after some
        with told(city, tmp_path / "out", reports):
            pass
        for path in tmp_path.rglob("*.hideseek"):
            Codebook.load(path)
        marks = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("done/*.json")}
        assert all(msgspec.json.decode(path.read_bytes())["rows"] for path in marks)
        assert finished <= set(marks.items())
        finished = set(marks.items())
    (tmp_path / "out" / "done").mkdir(parents=True, exist_ok=True)
    (tmp_path / "out" / "done" / ".person-001.json.x8f3k2q1").write_text('{"user":')
    subprocess.run(command, check=True, capture_output=True)
    assert_same(tmp_path / "out", undisturbed)
    assert finished <= {(path, path.stat().st_mtime_ns) for path in tmp_path.rglob("done/*.json")}
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_workers_end_with_the_run_that_is_killed(city, tmp_path):
    with told(city, tmp_path / "out", 3) as process:
        tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
        workers = [os.pidfd_open(int(child)) for task in tasks for child in task.read_text().split()]
    assert len(workers) >= 3  # two, and who looks after their semaphores
    for worker in workers:
        assert select.select([worker], [], [], 60)[0], "it lives on"
        os.close(worker)


def test_a_worker_that_dies_is_replaced_and_its_task_done_again(city, undisturbed, tmp_path, monkeypatch):
    monkeypatch.setenv("DIED", str(tmp_path))
    monkeypatch.setattr(running, "protect", dies_once)
    assert run_fleet(city, tmp_path / "out", job=JOB, workers=2).unusable == 0
    assert (tmp_path / "person-001").exists()
    assert_same(tmp_path / "out", undisturbed)


def test_a_user_who_kills_every_worker_is_listed_and_stops_nobody(city, undisturbed, tmp_path, monkeypatch):
    monkeypatch.setenv("DIED", str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(running, "protect", dies_always)
        found = run_fleet(city, tmp_path / "out", job=JOB, workers=2)
    assert found.reasons == {running.DIED: 1}
    assert len((tmp_path / "person-001").read_text()) in (engines.ATTEMPTS, engines.ATTEMPTS + 1)
    labels, usual = labels_of(tmp_path / "out"), labels_of(undisturbed)
    assert labels.loc["person-001", "reason"] == running.DIED
    others = (table.drop("person-001").drop(columns="seconds") for table in (labels, usual))
    pd.testing.assert_frame_equal(*others, check_dtype=False, check_exact=True)
    # once there is no reason to die any more, the next run makes up for it
    assert run_fleet(city, tmp_path / "out", job=JOB, workers=1).reused == 3
    assert_same(tmp_path / "out", undisturbed)


def test_progress_counts_users_from_those_done_before(city, undisturbed, tmp_path):
    told = []
    run_fleet(city, tmp_path / "out", job=JOB, workers=1, progress=lambda *news: told.append(news))
    assert_same(tmp_path / "out", undisturbed)  # also with a single worker
    assert told == [("reading", 1, 0), *(("users", done, 4) for done in range(5))]
    told.clear()
    (tmp_path / "out" / "done" / "person-003.json").unlink()
    run_fleet(city, tmp_path / "out", job=JOB, workers=2, progress=lambda *news: told.append(news))
    assert told == [("reading", 1, 0), ("users", 3, 4), ("users", 4, 4)]


FAR = 37.123456
GOOD = "".join(f"{FAR + 0.05 * (k % 2)} -122.4 0 {1213084687 + 300 * k}\n" for k in range(20))
HOSTILE = {
    "empty": ("", "the file is empty"),
    "words": (f"I was at {FAR}\n", "not recognised as "),
    "nan": (f"{FAR} nan 0 1213084687\n{FAR} 200 0 1213084688\n", "longitude must be a finite number"),
    "bad": (f"{FAR} 200 0 1213084688\n", "longitude must be in [-180, 180]"),
    "one": (f"{FAR} -122.4 0 1213084687\n", "traces that visit two or more places"),
    "still": (f"{FAR} -122.4 0 1213084687\n{FAR} -122.4 0 1213094687\n", "traces that visit two or more places"),
    "far": (f"-{FAR} 122.4 0 1213084687\n-{FAR} 122.5 0 1213094687\n", "around at least one fix"),
}
BOXED = Job(grid=(2, 2), box=(37.1, 37.2, -122.5, -122.3), privacy=("hamming",), over="access")


@pytest.mark.filterwarnings("ignore::hideseek.errors.TraceWarning")
def test_unusable_users_are_listed_with_a_reason_that_tells_no_place(tmp_path):
    folder = tmp_path / "cabs"
    folder.mkdir()
    for name, (text, _) in HOSTILE.items():
        (folder / f"new_{name}.txt").write_text(text)
    (folder / "new_good.txt").write_text(GOOD)
    found = run_fleet(folder, tmp_path / "out", job=BOXED, workers=1)
    table = labels_of(tmp_path / "out")
    assert list(table.index) == sorted([*HOSTILE, "good"])
    assert (found.users, found.unusable, found.playbooks) == (8, 7, 1)
    for name, (_, reason) in HOSTILE.items():
        assert reason in table.loc[name, "reason"]
        numbers = table.loc[name].drop(["reason", "fixes", "seconds"])
        assert numbers.isna().all()
    assert table.loc["good", "reason"] is None or pd.isna(table.loc["good", "reason"])
    told = "".join(path.read_text() for path in (tmp_path / "out" / "done").iterdir())
    assert not re.search(r"37\.1|122\.4|only place|span", told)
    assert run_fleet(folder, tmp_path / "out", job=BOXED, workers=1).reused == 8


IDS = (
    "../../x",
    ".",
    "..",
    "a/b",
    "A",
    "a",
    "é",
    "e\u0301",
    "名前",
    "con",
    "%",
    "%41",
    "x" * 300,
    "X" * 300,
    " ",
)


def test_whoever_a_user_claims_to_be_the_files_stay_in_the_folder(tmp_path):
    one = CITY[CITY["user_id"] == "person-000"]
    pd.concat([one.assign(user_id=name) for name in IDS]).to_csv(tmp_path / "ids.csv", index=False)
    run_fleet(
        tmp_path / "ids.csv", tmp_path / "out", job=Job(grid=(2, 2), box=(0, 1, 0, 1), over="access"), workers=1
    )  # no fix inside
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.csv", "out"]
    assert len(list((tmp_path / "out" / "done").iterdir())) == len(IDS)
    assert sorted(labels_of(tmp_path / "out").index) == sorted(IDS)
    assert (
        run_fleet(
            tmp_path / "ids.csv", tmp_path / "out", job=Job(grid=(2, 2), box=(0, 1, 0, 1), over="access"), workers=1
        ).reused
        == 15
    )


def test_results_go_anywhere_that_fsspec_reaches(city, undisturbed, tmp_path):
    found = run_fleet(city, "memory://fleet/a[1]", job=JOB, workers=1)
    memory = fsspec.filesystem("memory")
    try:
        assert found.labels == "memory:///fleet/a[1]/labels.parquet"
        for name in memory.find("/fleet"):
            path = tmp_path / name.removeprefix("/fleet/a[1]/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(memory.cat_file(name))
        assert_same(tmp_path, undisturbed)
        assert run_fleet(city, "memory://fleet/a[1]", job=JOB, workers=1).reused == 4
    finally:
        memory.rm("/fleet", recursive=True)


class Closed(MemoryFileSystem):
    """A store that nobody may write to, with an error of its own."""

    protocol = "closed"

    def pipe_file(self, path, value, mode="overwrite", **more):
        raise LookupError("no credentials")


def test_a_store_that_cannot_be_written_to_is_told_before_any_work(city, monkeypatch):
    fsspec.register_implementation("closed", Closed, clobber=True)
    monkeypatch.setattr(running, "spooled", None)
    with pytest.raises(
        OutputError, match=r"closed://bucket/ for the results cannot be used: LookupError: no credentials"
    ):
        run_fleet(city, "closed://bucket", job=JOB, workers=1)


def test_a_folder_holds_one_job(city, undisturbed, tmp_path):
    other = replace(JOB, privacy=("euclid",))
    before = (undisturbed / "fleet.json").read_bytes()
    with pytest.raises(ParameterError, match=r"\['hamming'\], where \['euclid'\] is asked for.*Give another folder"):
        run_fleet(city, undisturbed, job=other, workers=1)
    assert (undisturbed / "fleet.json").read_bytes() == before
    # where nothing was finished, nothing is lost
    (tmp_path / "fleet.json").write_bytes(before)
    (tmp_path / "words.txt").write_text("no traces")
    with pytest.raises(TraceError):
        run_fleet(tmp_path / "words.txt", tmp_path, job=other, workers=1)
    assert b"euclid" in (tmp_path / "fleet.json").read_bytes()


def book_of(user) -> bytes:
    return f"the codebook of {user}".encode()


@pytest.fixture
def quick(monkeypatch):
    """Fleets without any solving: every user has a codebook of a few bytes, made in this process."""

    def protected(user, traces, job):
        row = FleetRow(user=user, fixes=len(traces), privacy_metric="hamming", asked="20%", kept=0.5, seconds=0.0)
        return [(row, {"codebook": book_of(user)})]

    monkeypatch.setattr(running, "protect", protected)
    monkeypatch.setattr(running, "engine_of", lambda *_: nullcontext(Slow()))


PEOPLE = tuple(f"person-00{number}" for number in range(4))
BOOKS = "codebooks/hamming-20%"


def after(users, action):
    """Progress that does something once so many users are finished."""
    return lambda what, done, _: action() if (what, done) == ("users", users) else None


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("lose", [Path.unlink, lambda file: file.write_text('{"schema":')], ids=["gone", "damaged"])
def test_a_folder_whose_job_was_lost_during_the_run_tells_it_in_the_end(city, tmp_path, lose):
    run_fleet(city, tmp_path / "undisturbed", job=JOB)
    about = tmp_path / "out" / "fleet.json"
    run_fleet(city, tmp_path / "out", job=JOB, progress=after(2, lambda: lose(about)))
    assert about.read_bytes() == (tmp_path / "undisturbed" / "fleet.json").read_bytes()
    assert run_fleet(city, tmp_path / "out", job=JOB).reused == len(PEOPLE)


@pytest.mark.usefixtures("quick")
def test_a_folder_that_tells_of_another_job_in_the_end_is_refused(city, tmp_path):
    about = tmp_path / "out" / "fleet.json"

    def edit():
        about.write_text(about.read_text().replace("hamming", "euclid"))

    with pytest.raises(ParameterError, match=r"\['euclid'\], where \['hamming'\] is asked for"):
        run_fleet(city, tmp_path / "out", job=JOB, progress=after(2, edit))
    assert b"euclid" in about.read_bytes()
    about.write_text(about.read_text().replace("euclid", "hamming"))
    assert run_fleet(city, tmp_path / "out", job=JOB).reused == len(PEOPLE)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("another", [False, True], ids=["missing", "replaced"])
def test_a_folder_that_is_moved_away_stops_the_run_and_is_not_made_again(city, tmp_path, another):
    out, moved = tmp_path / "out", tmp_path / "moved"

    def move():
        out.rename(moved)
        if another:
            out.mkdir()

    with pytest.raises(OutputError, match=r"out/ .* was moved or replaced .* run this again to continue"):
        run_fleet(city, out, job=JOB, progress=after(2, move))
    assert not list(out.rglob("*"))
    assert out.exists() is another
    assert run_fleet(city, moved, job=JOB).reused == 2
    assert tuple(labels_of(moved).index) == PEOPLE


def unlinked(path):
    path.unlink()


def emptied(path):
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("harm", [unlinked, emptied])
@pytest.mark.parametrize("name", [f"{BOOKS}/person-000.hideseek", "done/person-000.json"])
def test_results_that_are_lost_during_the_run_are_told_by_whose_they_are(city, tmp_path, name, harm):
    out = tmp_path / "out"
    with pytest.raises(
        OutputError,
        match=r"of 1 of 4 users are not in .*/out/ as they were written: person-000\. Run this again to continue",
    ):
        run_fleet(city, out, job=JOB, progress=after(4, lambda: harm(out / name)))
    assert not (out / "labels.parquet").exists()
    assert run_fleet(city, out, job=JOB).reused == 3
    assert tuple(labels_of(out).index) == PEOPLE
    assert (out / BOOKS / "person-000.hideseek").read_bytes() == book_of("person-000")


@pytest.mark.usefixtures("quick")
def test_of_many_users_whose_results_are_lost_a_few_are_named(city, tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "NAMED", 2)
    out = tmp_path / "out"
    run_fleet(city, out, job=JOB)
    with pytest.raises(OutputError, match=r"of 4 of 4 users .*: person-000, person-001, and 2 more\."):
        run_fleet(city, out, job=JOB, progress=lambda *_: subprocess.run(["rm", "-r", out / "codebooks"], check=False))


def swapped(path):
    path.write_bytes(book_of("person-009"))  # as many bytes


def relabelled(path):
    path.write_bytes(path.read_bytes().replace(b'"kept":0.5', b'"kept":0.9'))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("name", "harm"), [(f"{BOOKS}/person-001.hideseek", swapped), ("done/person-001.json", relabelled)]
)
def test_what_is_not_as_it_was_written_is_made_anew(city, tmp_path, name, harm):
    out = tmp_path / "out"
    run_fleet(city, out, job=JOB)
    before, size = (out / name).read_bytes(), (out / name).stat().st_size
    harm(out / name)
    assert (out / name).read_bytes() != before
    assert (out / name).stat().st_size == size
    assert run_fleet(city, out, job=JOB).reused == 3
    assert (out / name).read_bytes() == before
    assert labels_of(out)["kept"].tolist() == [0.5] * 4


@pytest.mark.usefixtures("quick")
def test_the_table_tells_the_digest_of_every_codebook(city, tmp_path):
    run_fleet(city, tmp_path / "out", job=JOB)
    for _, row in labels_of(tmp_path / "out").iterrows():
        told = subprocess.run(["sha256sum", tmp_path / "out" / row["codebook"]], check=True, capture_output=True)
        assert told.stdout.split()[0].decode() == row["sha256"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("left", ["done/*.json", "codebooks/*/*.hideseek", "labels.parquet"])
def test_results_that_do_not_tell_their_job_are_another_ones(city, tmp_path, left):
    out = tmp_path / "out"
    run_fleet(city, out, job=JOB)
    keep = set(out.glob(left))
    assert keep
    for path in out.rglob("*"):
        if path.is_file() and path not in keep:
            path.unlink()
    with pytest.raises(ParameterError, match=r"holds the same job\. Got results without .*fleet\.json.*another folder"):
        run_fleet(city, out, job=JOB)
    assert {path for path in out.rglob("*") if path.is_file()} == keep


@pytest.mark.usefixtures("quick")
def test_what_another_job_finished_is_not_taken_over_with_its_files(city, tmp_path):
    run_fleet(city, tmp_path / "other", job=replace(JOB, memory=2))
    run_fleet(city, tmp_path / "out", job=JOB)
    for name in ("done", "codebooks"):
        subprocess.run(["rm", "-r", tmp_path / "out" / name], check=True)
        (tmp_path / "other" / name).rename(tmp_path / "out" / name)
    assert run_fleet(city, tmp_path / "out", job=JOB).reused == 0


@pytest.mark.usefixtures("quick")
def test_folders_are_their_owners_only_also_when_they_are_made_again(city, tmp_path):
    out = tmp_path / "out"
    previous = os.umask(0o022)
    try:
        run_fleet(city, out, job=JOB)
        subprocess.run(["rm", "-r", out / "codebooks", out / "done"], check=True)
        run_fleet(city, out, job=JOB)
    finally:
        os.umask(previous)
    folders = [out, *(path for path in out.rglob("*") if path.is_dir())]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folders} == dict.fromkeys(
        ("out", "codebooks", "hamming-20%", "done"), 0o700
    )


def under_data(data):
    return data / "out"


def by_detour(data):
    return data / ".." / data.name / "out"


def by_address(data):
    return f"file://{data}/out"


def by_link(data):
    (data.parent / "link").symlink_to(data)
    return data.parent / "link" / "out"


def same(data):
    return data


def where_marks_go(data):
    return data.parent  # whose folder for marks the data is


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("place", [under_data, by_detour, by_address, by_link, same, where_marks_go])
def test_results_do_not_go_where_the_data_is_read(city, tmp_path, place):
    data = tmp_path / "done"
    data.mkdir()
    subprocess.run(["cp", city, data / "city.csv"], check=True)
    out = place(data)
    with pytest.raises(ParameterError, match=r"'out' parameter of fleet must be a folder apart from the data"):
        run_fleet(data, out, job=JOB)
    assert [path.name for path in data.iterdir()] == ["city.csv"]


@pytest.mark.usefixtures("quick")
def test_people_with_files_of_one_name_are_several_users(tmp_path):
    for name, rows in CITY.groupby("user_id"):
        (tmp_path / "data" / str(name)).mkdir(parents=True)
        rows.drop(columns="user_id").to_csv(tmp_path / "data" / str(name) / "2026-01-05.csv", index=False)
    found = run_fleet(tmp_path / "data", tmp_path / "out", job=JOB)
    assert (found.users, found.told_apart_by) == (4, "folder")
    assert labels_of(tmp_path / "out")["fixes"].to_dict() == CITY["user_id"].value_counts().to_dict()
    assert run_fleet(tmp_path / "data", tmp_path / "out", job=JOB).reused == 4


@pytest.mark.usefixtures("quick")
def test_results_may_lie_beside_the_data(city, tmp_path):
    subprocess.run(["cp", city, tmp_path / "city.csv"], check=True)
    assert run_fleet(tmp_path / "city.csv", tmp_path, job=JOB).users == 4
    assert run_fleet(tmp_path / "city.csv", tmp_path, job=JOB).reused == 4


def test_a_user_is_counted_once_however_many_designs_fail():
    columns = {
        "user": ["ann", "ann", "bob", "bob"],
        "kept": [0.5, 0.7, None, None],
        "seconds": [1.0, 2.0, 4.0, 8.0],
        "reason": [None, None, "still", "still"],
    }
    found = running.summary(pa.table(columns), "x", 1, 7, "column")
    assert found == Fleet("x", 2, 1, 1, {"still": 1}, 7, 2, pytest.approx(0.6), 3.0, "column")


def test_who_has_a_codebook_is_protected_whatever_else_failed():
    columns = {"user": ["ann", "ann"], "kept": [0.5, None], "seconds": [1.0, 2.0], "reason": [None, "HiGHS"]}
    found = running.summary(pa.table(columns), "x", 0, 0, "column")
    assert (found.unusable, found.reasons, found.codebooks) == (0, {}, 1)


def test_a_user_is_averaged_once_however_many_designs_there_are():
    columns = {
        "user": ["ann", "ann", "bob", "cid"],
        "kept": [0.5, 0.5, 0.5, None],
        "seconds": [1.0] * 4,
        "reason": [None, None, None, "still"],
        "places": [10, 10, 40, None],
        "width": [200.0, 200.0, None, None],
        "outside": [0.5, 0.5, 0.0, None],
        "hours": [24.0, 24.0, 48.0, None],
        "days": [7, 7, 6, None],
        "narrow": [True, False, None, None],
    }
    found = running.summary(pa.table(columns), "x", 0, 0, "column")
    assert (found.places, found.width, found.outside, found.hours, found.days) == (25.0, 200.0, 0.25, 36.0, 6.5)
    assert (found.few_days, found.narrow) == (1, 1)


def written_by(monkeypatch, *call, **more):
    """The names that a fleet writes, in order."""
    names, write = [], Folder.write

    def noting(self, name, content):
        names.append(name)
        write(self, name, content)

    monkeypatch.setattr(Folder, "write", noting)
    run_fleet(*call, **more)
    return names


def test_that_a_user_is_finished_is_written_last_and_the_table_at_the_end(city, tmp_path, monkeypatch):
    job = replace(JOB, budgets=("20%", "40%"))
    names = written_by(monkeypatch, city, tmp_path / "out", job=job, workers=2)
    assert (names[0], names[-1]) == ("fleet.json", "labels.parquet")
    for number in range(4):
        own = [name for name in names if f"person-00{number}" in name]
        assert own[:-1] == [f"codebooks/hamming-{share}%/person-00{number}.hideseek" for share in (20, 40)]
        assert own[-1] == f"done/person-00{number}.json"


def test_nothing_stays_of_traces_that_a_user_has_no_more(city, tmp_path, undisturbed):
    subprocess.run(["cp", "-rp", undisturbed, tmp_path / "out"], check=True)
    still = CITY.groupby("user_id").head(1)
    pd.concat([still[still["user_id"] == "person-001"], CITY[CITY["user_id"] != "person-001"]]).to_csv(
        tmp_path / "still.csv", index=False
    )
    assert run_fleet(tmp_path / "still.csv", tmp_path / "out", job=JOB, workers=1).reused == 3
    assert not list(tmp_path.rglob("person-001.hideseek"))
    assert "two or more places" in labels_of(tmp_path / "out").loc["person-001", "reason"]


def test_who_left_the_data_is_counted(undisturbed, tmp_path):
    subprocess.run(["cp", "-rp", undisturbed, tmp_path / "out"], check=True)
    CITY[CITY["user_id"] != "person-001"].to_csv(tmp_path / "fewer.csv", index=False)
    found = run_fleet(tmp_path / "fewer.csv", tmp_path / "out", job=JOB, workers=1)
    assert (found.users, found.reused, found.departed) == (3, 3, 1)
    assert list((tmp_path / "out").rglob("person-001.hideseek"))


def test_two_runs_do_not_share_a_folder(city, tmp_path):
    mine = outputs.Outputs(tmp_path / "out", JOB)
    with mine.taken(), pytest.raises(ParameterError, match="no other fleet is at work"):
        run_fleet(city, tmp_path / "out", job=JOB, workers=1)
    with mine.taken():
        pass
