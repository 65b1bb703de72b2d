"""A fleet reads what read_traces reads, wherever it lies and however it is to be read."""

from __future__ import annotations

import fsspec
import pandas as pd
import pytest

from hideseek import ParameterError
from hideseek.errors import TraceError
from hideseek.fleet import Job, run_fleet
from tests.support.columnar_files import parquet
from tests.support.fleets import CITY, JOB, assert_same, labels_of


@pytest.fixture
def store():
    elsewhere = fsspec.filesystem("memory")
    yield elsewhere
    elsewhere.rm("/", recursive=True)


def test_data_at_an_address_give_what_they_give_here(store, undisturbed, tmp_path):
    for user, rows in CITY.groupby("user_id"):
        store.pipe_file(f"/bucket/city/{user}.csv", rows.drop(columns="user_id").to_csv(index=False).encode())
    found = run_fleet("memory://bucket/city", tmp_path / "out", job=JOB, workers=1)
    assert (found.users, found.told_apart_by) == (4, "file name")
    assert_same(tmp_path / "out", undisturbed)
    assert run_fleet("memory://bucket/city", tmp_path / "out", job=JOB, workers=1).reused == 4


def test_data_and_results_may_both_lie_elsewhere_but_not_in_one_folder(store):
    store.pipe_file("/bucket/city.csv", CITY.to_csv(index=False).encode())
    assert run_fleet("memory://bucket/city.csv", "memory://bucket/out", job=JOB, workers=1).codebooks == 4
    with pytest.raises(ParameterError, match="a folder apart from the data"):
        run_fleet("memory://bucket", "memory://bucket/out", job=JOB, workers=1)


@pytest.mark.parametrize("address", ["memory://bucket/nowhere", "nowhere"])
def test_data_that_are_nowhere_leave_no_folder_behind(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TraceError, match=r"no file or folder .*nowhere"):
        run_fleet(address, tmp_path / "out", job=JOB, workers=1)
    assert not (tmp_path / "out").exists()


def test_the_ways_to_read_reach_the_data(city, tmp_path):
    odd = CITY.rename(columns={"user_id": "wer", "tracked_at": "wann"}).assign(acc=300.0)
    odd.to_csv(tmp_path / "odd.csv", index=False)
    names = {"time": "wann", "user": "wer"}
    run_fleet(tmp_path / "odd.csv", tmp_path / "out", job=JOB, columns=names, accuracy="1km", workers=1)
    assert list(labels_of(tmp_path / "out").index) == sorted(set(CITY["user_id"]))
    with pytest.raises(TraceError, match="accuracy must be as good"):
        run_fleet(tmp_path / "odd.csv", tmp_path / "no", job=JOB, columns=names, workers=1)
    with pytest.raises(TraceError, match="malformed GPX"):
        run_fleet(tmp_path / "odd.csv", tmp_path / "no", job=JOB, format="gpx", workers=1)
    one = run_fleet(
        city, tmp_path / "one", job=Job(grid=(1, 2), privacy="hamming", over="access"), one_person=True, workers=1
    )
    assert (one.users, one.told_apart_by) == (1, "one person")


def test_a_fleet_notes_what_reading_notes_also_when_all_is_done(tmp_path):
    pd.concat([CITY, CITY.head(3)]).to_csv(tmp_path / "twice.csv", index=False)
    told = "fixes left out, as another of the same person at the same instant was kept: 3"
    for reused in (0, 4):
        found = run_fleet(tmp_path / "twice.csv", tmp_path / "out", job=JOB, workers=1)
        assert (found.reused, found.notes) == (reused, (told,))


def test_a_run_is_not_continued_with_another_way_to_read(city, undisturbed, tmp_path):
    run_fleet(city, tmp_path / "out", job=JOB, workers=1)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    with pytest.raises(ParameterError, match=r"Got accuracy 200\.0, where 50\.0 is asked for"):
        run_fleet(city, tmp_path / "out", job=JOB, accuracy="50m", workers=1)
    with pytest.raises(ParameterError, match="Got one_person False, where True is asked for"):
        run_fleet(city, tmp_path / "out", job=JOB, one_person=True, workers=1)
    assert {path: path.read_bytes() for path in before} == before
    assert run_fleet(city, tmp_path / "out", job=JOB, accuracy="0.2 km", workers=1).reused == 4


def test_a_parquet_file_of_many_is_a_fleet(undisturbed, tmp_path):
    import pyarrow as pa

    (tmp_path / "city.parquet").write_bytes(parquet(pa.Table.from_pandas(CITY)))
    run_fleet(tmp_path / "city.parquet", tmp_path / "out", job=JOB, workers=1)
    assert_same(tmp_path / "out", undisturbed)
