"""Files are found in folders, in archives, in archives in folders, and at addresses."""

from __future__ import annotations

import fsspec
import pandas as pd
import pytest
from fsspec.registry import known_implementations

from hideseek.errors import MissingExtraError, ParameterError, TraceError, TraceWarning
from hideseek.traces.reading import read_traces
from hideseek.traces.user_store import spooled
from tests.support.remote_files import FarAway, put_far
from tests.support.trace_files import CAB, CSV, GPX, assert_valid, gzipped, pack, put, zipped

FILES = {"cabs/new_ann.txt": CAB, "gpx/bob.gpx": GPX, "README.md": "about"}


@pytest.fixture(autouse=True)
def far():
    fsspec.register_implementation("far", FarAway, clobber=True)
    put_far({name: content.encode() for name, content in FILES.items()})


def test_a_folder_elsewhere_gives_what_it_gives_here(tmp_path):
    for name, content in FILES.items():
        put(tmp_path, f"data/{name}", content)
        fsspec.filesystem("memory").pipe_file(f"/data/{name}", content.encode())
    here = read_traces(tmp_path / "data")
    for address in ("far://", "memory://data", "memory:///data/", f"file://{tmp_path}/data"):
        there = read_traces(address)
        pd.testing.assert_frame_equal(here, there)
        assert there.attrs["report"] == here.attrs["report"]
    assert here.attrs["report"].formats == {"cabspotting": 1, "gpx": 1}
    fsspec.filesystem("memory").rm("/data", recursive=True)


def test_a_file_elsewhere_and_an_archive_are_read():
    assert set(read_traces("far://cabs/new_ann.txt")["user_id"]) == {"ann"}
    assert FarAway.read_bytes <= 3 * len(CAB)  # its first bytes tell what it is, and the format
    put_far({"all.zip": zipped(FILES), "all.tar.gz": gzipped(pack(FILES))})
    for address in ("far://all.zip", "far://all.tar.gz"):
        assert set(read_traces(address)["user_id"]) == {"ann", "bob"}
    with spooled("far://all.zip") as spool:
        assert spool.users == ["ann", "bob"]


def test_a_store_that_fails_is_a_trace_error_and_tells_no_password():
    for after in (-1, 10):
        put_far({"new_ann.txt": CAB.encode()})
        FarAway.fails_after = after
        with pytest.raises(TraceError, match="far:// cannot be read: RemoteError: ") as caught:
            read_traces("far://")
        assert "secret" not in str(caught.value)


def test_an_address_of_nothing_is_a_trace_error():
    with pytest.raises(TraceError, match="no file or folder far://nowhere"):
        read_traces("far://nowhere")


def test_an_address_without_its_driver_names_the_extra(monkeypatch):
    missing = {"err": "Install s3fs", "class": "a_module_that_nobody_has.FileSystem"}
    monkeypatch.setitem(known_implementations, "gs", missing)
    with pytest.raises(
        MissingExtraError, match=r"gs://bucket/folder needs another package: pip install 'hideseek\[gcs\]'"
    ):
        read_traces("gs://bucket/folder")


@pytest.mark.parametrize("address", ["nothing://x", "zip://a.csv::far://all.zip", "://"])
def test_an_address_that_nobody_knows_is_an_error_of_ours(address):
    with pytest.raises((ParameterError, TraceError)):
        read_traces(address)


def test_archives_in_a_folder_are_read_with_the_files_beside_them(tmp_path):
    put(tmp_path, "data/new_ann.txt", CAB)
    put(tmp_path, "data/bob.csv.gz", gzipped("t,x,y\n2020-01-01,1,2\n"))
    put(tmp_path, "data/more.zip", zipped({"new_eve.txt": CAB, "deep/er/new_tom.txt": CAB}))
    put(tmp_path, "data/most.tar.gz", gzipped(pack({"new_kim.txt": CAB})))
    table = read_traces(tmp_path / "data")
    assert_valid(table)
    assert sorted(set(table["user_id"])) == ["ann", "bob", "eve", "kim", "tom"]
    assert table.attrs["report"].formats == {"cabspotting": 4, "csv": 1}


def test_a_damaged_archive_in_a_folder_is_told_and_stops_nobody(tmp_path):
    put(tmp_path, "new_ann.txt", CAB)
    put(tmp_path, "bad.csv.gz", gzipped(CSV * 50)[:-20])
    put(tmp_path, "bad.zip", zipped({"new_eve.txt": CAB})[:-30])
    put(tmp_path, "bad.tar", pack({"new_eve.txt": CAB * 99})[:2000])
    with pytest.warns(TraceWarning, match="files passed over"):
        table = read_traces(tmp_path)
    assert set(table["user_id"]) == {"ann"}
    told = {said.split(":")[0].split("/")[0] for said in table.attrs["report"].skipped_files}
    assert told == {"bad.csv.gz", "bad.zip", "bad.tar"}
