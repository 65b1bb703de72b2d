from __future__ import annotations

import dataclasses
import gzip
import io
import json
import os
import tarfile
import traceback
import warnings
import zlib
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import gpxpy
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hideseek.errors import HideseekError, ParameterError, TraceError
from hideseek.traces import archives, delimited, gpx
from hideseek.traces.formats import FORMATS
from hideseek.traces.reading import ReadReport, TraceWarning, each_file, read_traces
from hideseek.traces.table import COLUMNS, check_traces
from hideseek.traces.user_store import spooled

CAB = "37.75134 -122.39488 0 1213084687\n37.75136 -122.39527 1 1213084659\n37.75199 -122.3946 0 1213084540\n"
PLT = (
    "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
    "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\n"
    "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10\n"
)
GPX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1">'
    '<wpt lat="46.5" lon="6.5"><time>2020-01-01T12:00:00Z</time></wpt>'
    '<trk><trkseg><trkpt lat="46.6" lon="6.6"><ele>400</ele><time>2020-01-01T10:00:00+01:00</time></trkpt>'
    '<trkpt lat="46.7" lon="6.7"><time>2020-01-01T10:00:00</time></trkpt></trkseg></trk></gpx>'
)
CSV = "user_id,tracked_at,latitude,longitude\na,2020-01-01 10:00:00,46.5,6.5\na,2020-01-01 11:00:00,46.6,6.6\n"
SAMPLES = {"cabspotting": CAB, "geolife": PLT, "gpx": GPX, "csv": CSV}


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pack(members: dict[str, str | bytes | tarfile.TarInfo]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def times(table: pd.DataFrame) -> list[str]:
    return table["tracked_at"].dt.strftime("%Y-%m-%d %H:%M:%S").tolist()


def assert_valid(table: pd.DataFrame) -> None:
    assert tuple(table.columns) == COLUMNS
    assert isinstance(table["tracked_at"].dtype, pd.DatetimeTZDtype)
    assert str(table["tracked_at"].dt.tz) == "UTC"
    assert table.index.equals(pd.RangeIndex(len(table)))
    assert len(table) > 0
    assert all(isinstance(user, str) and user for user in table["user_id"])
    assert table["latitude"].between(-90, 90).all()
    assert table["longitude"].between(-180, 180).all()
    assert (table["tracked_at"] >= pd.Timestamp("1970-01-01", tz="UTC")).all()
    assert (table["tracked_at"].dt.year < 9000).all()
    assert not table.duplicated(["user_id", "tracked_at"]).any()
    keys = list(zip(table["user_id"], table["tracked_at"], strict=True))
    assert keys == sorted(keys)
    report = table.attrs["report"]
    assert report.read - report.duplicates == len(table)
    assert report.skipped == sum(report.reasons.values())


# What comes out


def test_newest_first_fixes_come_out_sorted(tmp_path):
    table = read_traces(put(tmp_path, "new_abboip.txt", CAB))
    assert_valid(table)
    assert times(table) == ["2008-06-10 07:55:40", "2008-06-10 07:57:39", "2008-06-10 07:58:07"]
    assert table["latitude"].tolist() == [37.75199, 37.75136, 37.75134]
    assert set(table["user_id"]) == {"abboip"}


def test_oldest_first_fixes_come_out_the_same(tmp_path):
    newest = read_traces(put(tmp_path, "new_a.txt", CAB))
    oldest = read_traces(put(tmp_path, "b/new_a.txt", "\n".join(reversed(CAB.split("\n")))))
    pd.testing.assert_frame_equal(newest, oldest)


def test_every_format_gives_a_table_of_the_same_types(tmp_path):
    tables = [read_traces(put(tmp_path, f"{name}.dat", text)) for name, text in SAMPLES.items()]
    for table in tables:
        assert_valid(table)
        assert (table.dtypes == tables[0].dtypes).all()
    assert len(pd.concat(tables)) == sum(map(len, tables))


@pytest.mark.parametrize("name", FORMATS)
def test_naming_the_format_changes_nothing(tmp_path, name):
    path = put(tmp_path, "file", SAMPLES[name])
    pd.testing.assert_frame_equal(read_traces(path), read_traces(str(path), format=name))


@pytest.mark.parametrize(
    ("name", "lie"), [("cabspotting", "x.csv"), ("geolife", "x.gpx"), ("gpx", "x.txt"), ("csv", "x.plt")]
)
def test_the_content_decides_and_not_the_extension(tmp_path, name, lie):
    assert set(read_traces(put(tmp_path, lie, SAMPLES[name]))["user_id"]) <= {"x", "a"}


def test_the_first_of_two_fixes_at_one_instant_stays(tmp_path):
    table = read_traces(put(tmp_path, "new_a.txt", "1 2 0 100\n5 6 0 100\n3 4 0 50\n"))
    assert table["latitude"].tolist() == [3.0, 1.0]
    assert table.attrs["report"].duplicates == 1
    assert table.attrs["report"].read == 3


def test_one_instant_of_two_users_is_no_duplicate(tmp_path):
    put(tmp_path, "new_b.txt", "1 2 0 100\n")
    put(tmp_path, "new_a.txt", "1 2 0 100\n")
    assert read_traces(tmp_path)["user_id"].tolist() == ["a", "b"]


def test_blank_lines_carriage_returns_and_a_byte_order_mark_do_no_harm(tmp_path):
    for name, text in SAMPLES.items():
        plain = read_traces(put(tmp_path, "same", text), format=name)
        dressed = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() + b"\r\n\r\n"
        pd.testing.assert_frame_equal(plain, read_traces(put(tmp_path, "same", dressed)))
        pd.testing.assert_frame_equal(plain, read_traces(put(tmp_path, "same", text.replace("\n", "\r"))))


# Cabspotting


def test_a_folder_of_cabs_has_one_user_a_file(tmp_path):
    for cab in "ba":
        put(tmp_path, f"new_{cab}.txt", CAB)
    table = read_traces(tmp_path)
    assert_valid(table)
    assert table["user_id"].tolist() == ["a"] * 3 + ["b"] * 3
    assert table.attrs["report"] == ReadReport(files=2, read=6, duplicates=0, skipped=0, told_apart_by="file name")


@pytest.mark.parametrize("squeeze", [gzip.compress, bytes], ids=["tar.gz", "tar"])
def test_the_archive_as_distributed_is_read_and_its_companions_are_passed_over(tmp_path, squeeze):
    link, device = tarfile.TarInfo("cabspottingdata/new_link.txt"), tarfile.TarInfo("cabspottingdata/new_null.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device.type = tarfile.CHRTYPE
    members = {
        "cabspottingdata/README": "Each line is\n37.75134 -122.39488 0 1213084687\n",
        "cabspottingdata/_cabs.txt": '<cab id="abboip" updates="3"/>\n',
        "cabspottingdata/._new_abboip.txt": "resource fork",
        "cabspottingdata/new_abboip.txt": CAB,
        "link": link,
        "device": device,
        "../../new_escape.txt": CAB,
    }
    table = read_traces(put(tmp_path, "cabspottingdata.tar.gz", squeeze(pack(members))))
    assert_valid(table)
    assert sorted(set(table["user_id"])) == ["abboip", "escape"]
    assert table.attrs["report"] == ReadReport(files=2, read=6, duplicates=0, skipped=0, told_apart_by="file name")
    assert [path.name for path in tmp_path.iterdir()] == ["cabspottingdata.tar.gz"]


def test_several_blanks_between_fields_are_read(tmp_path):
    assert (
        len(read_traces(put(tmp_path, "new_a.txt", "37.1  -122.2\t0   1213084687\n 37.1 -122.2 0 1213084688 \n"))) == 2
    )


def test_the_slow_way_reads_what_the_fast_way_reads(tmp_path):
    fast = read_traces(put(tmp_path, "new_a.txt", CAB))
    with pytest.warns(TraceWarning):
        slow = read_traces(put(tmp_path, "new_a.txt", CAB + "one bad line\n"))
    slow.attrs = fast.attrs
    pd.testing.assert_frame_equal(fast, slow)


@pytest.mark.filterwarnings("ignore::hideseek.traces.TraceWarning")
@pytest.mark.parametrize("size", [1, 50, 200])
@pytest.mark.parametrize(
    "text",
    [
        *SAMPLES.values(),
        CAB * 3 + "\n\nno row\n" + CAB.replace("37", "38") + "95 0 0 5\n\n",
        CSV + 'b,"2020-01-01 10:00:00",46.5,6.5\n"b\nb",2020-01-01,1,2\nb,2020\nb,2020-01-02,x,2\n',
        CSV + 'b,"2020-01-01 10:00:00,46.5,6.5\nb,2020-01-02,1,2\n,2020-01-02,1,2\n' + "a,2020-01-03,4,5\n" * 9,
    ],
)
def test_files_are_read_block_by_block_as_they_are_at_once(tmp_path, monkeypatch, text, size):
    path = put(tmp_path, "new_a.txt", text)
    whole, told = read_traces(path), [(file.reasons, file.first_skipped, file.refused) for file in each_file(path)]
    for module in (delimited, gpx):
        monkeypatch.setattr(module, "BLOCK", size)
    monkeypatch.setattr(delimited, "ROWS", 2)
    blocks = read_traces(path)
    assert blocks.attrs["report"] == whole.attrs["report"]
    pd.testing.assert_frame_equal(blocks, whole)
    assert [(file.reasons, file.first_skipped, file.refused) for file in each_file(path)] == told


# Geolife


def test_the_folder_above_trajectory_is_the_user(tmp_path):
    for user in ("000", "010"):
        put(tmp_path, f"Data/{user}/Trajectory/20081023025304.plt", PLT)
    put(tmp_path, "Data/010/labels.txt", "Start Time\tEnd Time\tTransportation Mode\n")
    table = read_traces(tmp_path)
    assert_valid(table)
    assert table["user_id"].tolist() == ["000", "000", "010", "010"]
    assert times(table)[:2] == ["2008-10-23 02:53:04", "2008-10-23 02:53:10"]
    assert table["longitude"].tolist()[:2] == [116.318417, 116.31845]


def test_a_single_plt_knows_its_user_from_its_folder(tmp_path, monkeypatch):
    path = put(tmp_path, "007/Trajectory/20081023025304.plt", PLT)
    assert set(read_traces(path)["user_id"]) == {"007"}
    monkeypatch.chdir(path.parent)
    assert set(read_traces(path.name)["user_id"]) == {"007"}
    assert set(read_traces(put(tmp_path, "loose.plt", PLT))["user_id"]) == {"loose"}


def test_a_plt_without_its_header_loses_no_row(tmp_path):
    assert len(read_traces(put(tmp_path, "x.plt", "".join(PLT.splitlines(keepends=True)[6:])))) == 2


# GPX


def test_gpx_times_become_utc_and_naive_ones_are_utc(tmp_path):
    table = read_traces(put(tmp_path, "run.gpx", GPX))
    assert_valid(table)
    assert times(table) == ["2020-01-01 09:00:00", "2020-01-01 10:00:00", "2020-01-01 12:00:00"]
    assert table["latitude"].tolist() == [46.6, 46.7, 46.5]
    assert set(table["user_id"]) == {"run"}


def test_gpx_gives_the_points_that_gpxpy_gives(tmp_path):
    extra = '<extensions><wpt lat="1" lon="1"><time>2020-01-01T00:00:00Z</time></wpt></extensions>'
    route = '<rte><rtept lat="1" lon="1"><time>2020-01-01T01:00:00Z</time></rtept></rte>'
    own = "<time>2020-01-01T10:00:00+01:00</time>"
    text = (
        GPX.replace("<trk>", f"{route}<trk><time>2020-01-01T02:00:00Z</time>{extra}")
        .replace(own, f"<name>caf&#233; &amp; bar</name>{own}{extra}")
        .replace("<ele>400</ele>", "<!-- <trkpt/> --><ele>400</ele>")
        .replace("2020-01-01T12:00:00Z", "2020-01-01T1<![CDATA[2:00:]]>00.5Z")
    )
    gpx = gpxpy.parse(text)
    found = [*gpx.waypoints, *(point for track in gpx.tracks for leg in track.segments for point in leg.points)]
    utc = [pd.Timestamp(point.time.replace(tzinfo=point.time.tzinfo or UTC)) for point in found]
    wanted = sorted(zip(utc, ((point.latitude, point.longitude) for point in found), strict=True))
    table = read_traces(put(tmp_path, "run.gpx", text))
    assert len(wanted) == 3
    assert (
        list(zip(table["tracked_at"], zip(table["latitude"], table["longitude"], strict=True), strict=True)) == wanted
    )


def test_gpx_points_without_a_time_are_counted_as_skipped(tmp_path):
    path = put(tmp_path, "run.gpx", GPX.replace("<time>2020-01-01T10:00:00</time>", ""))
    with pytest.warns(TraceWarning, match=r"1 of 3 rows .* run\.gpx, point 3: tracked_at must be a time"):
        table = read_traces(path)
    assert len(table) == 2


def test_gpx_offsets_of_a_day_and_more_are_skipped_rows(tmp_path):
    with pytest.warns(TraceWarning, match="1 of 3 rows"):
        read_traces(put(tmp_path, "run.gpx", GPX.replace("+01:00", "+99:00")))


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "no-such-thing"])
def test_an_encoding_that_a_gpx_file_only_claims_is_no_raw_error(tmp_path, encoding):
    reads_or_refuses(put(tmp_path, "run.gpx", GPX.replace("UTF-8", encoding)), None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GPX[:-20], "malformed GPX"),
        (GPX.replace('lat="46.5"', 'lat="north"'), "malformed GPX"),
        (GPX.replace("<gpx", '<!DOCTYPE gpx [<!ENTITY e "e">]><gpx'), "document type"),
        (GPX.replace("<wpt", f"<extensions>{'<a>' * 99}{'</a>' * 99}</extensions><wpt"), "nested"),
        ('<gpx version="1.1"></gpx>', "no rows"),
    ],
    ids=["cut", "latitude", "entities", "nested", "empty"],
)
def test_malformed_gpx_is_a_trace_error(tmp_path, text, why):
    with pytest.raises(TraceError, match=why):
        read_traces(put(tmp_path, "run.gpx", text))


# CSV


@pytest.mark.parametrize(
    "header",
    [
        "user_id,tracked_at,latitude,longitude",
        "uid,datetime,lat,lng",
        "traj_id,t,y,x",
        "Trajectory_ID, T ,Lat,Lon",
        '"UID","DateTime","LAT","LNG"',
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_takes_the_names_of_other_libraries(tmp_path, header, separator):
    text = f"{header}\nb,2020-01-01T10:00:00Z,46.5,6.5\na,2020-01-01 10:00:00+02:00,-46.5,-6.5\n"
    table = read_traces(put(tmp_path, "x.csv", text.replace(",", separator)))
    assert_valid(table)
    assert table["user_id"].tolist() == ["a", "b"]
    assert times(table) == ["2020-01-01 08:00:00", "2020-01-01 10:00:00"]
    assert table["latitude"].tolist() == [-46.5, 46.5]
    assert table["longitude"].tolist() == [-6.5, 6.5]


@pytest.mark.parametrize(
    "text",
    [
        "id,user_id,tracked_at,geom\n0,a,2020-01-01 10:00:00+00:00,POINT (6.5 46.5)\n",
        't;trajectory_id;geometry\n2020-01-01 10:00:00;a;"point z (6.5 46.5 400)"\n',
        "tracked_at,user_id,geometry,latitude,longitude\n2020-01-01 10:00,a,POINT (1 1),46.5,6.5\n",
        "tracked_at,user_id,geometry,latitude\n2020-01-01 10:00,a,POINT (6.5 46.5),1\n",
    ],
    ids=["trackintel", "movingpandas", "degrees before points", "points before half the degrees"],
)
def test_csv_takes_points_in_words(tmp_path, text):
    table = read_traces(put(tmp_path, "x.csv", text))
    assert table[["latitude", "longitude"]].to_numpy().tolist() == [[46.5, 6.5]]
    assert times(table) == ["2020-01-01 10:00:00"]


def test_csv_without_users_takes_the_stem(tmp_path):
    assert set(read_traces(put(tmp_path, "anna.csv", "t,x,y\n2020-01-01,1,2\n"))["user_id"]) == {"anna"}


def test_csv_users_keep_their_spelling(tmp_path):
    text = "uid,datetime,lat,lng\n007,2020-01-01,1,2\nNA,2020-01-01,1,2\n1e3,2020-01-01,1,2\n"
    assert read_traces(put(tmp_path, "x.csv", text))["user_id"].tolist() == ["007", "1e3", "NA"]


@pytest.mark.parametrize(
    "stamp", ["1577872800", "1577872800.0", "1577872800000", "2020-01-01T11:00:00+0100", "20200101T100000Z"]
)
def test_numeric_times_are_unix_seconds_or_milliseconds(tmp_path, stamp):
    assert times(read_traces(put(tmp_path, "x.csv", f"t,x,y\n{stamp},1,2\n"))) == ["2020-01-01 10:00:00"]


def test_kinds_of_time_may_be_mixed(tmp_path):
    text = "t,x,y\n2020-01-01T10:00:00.250+01:00,1,2\n1577872800,1,2\n2020-01-01,1,2\n"
    table = read_traces(put(tmp_path, "x.csv", text))
    assert times(table) == ["2020-01-01 00:00:00", "2020-01-01 09:00:00", "2020-01-01 10:00:00"]
    assert table["tracked_at"].dt.microsecond.tolist() == [0, 250_000, 0]


def test_a_time_without_an_offset_does_not_inherit_the_one_before(tmp_path):
    stamps = ["2020-01-01T10:00:00+05:00", "2020-01-01T10:00:00", "2020-01-01 10:00-02", "2020-01-01"]
    text = "t,uid,x,y\n" + "".join(f"{stamp},{user},1,2\n" for user, stamp in enumerate(stamps))
    hours = read_traces(put(tmp_path, "x.csv", text))["tracked_at"].dt.hour
    assert hours.tolist() == [5, 10, 12, 0]


def test_a_word_for_the_present_is_no_time(tmp_path):
    with pytest.warns(TraceWarning, match="2 of 3 rows"):
        read_traces(put(tmp_path, "x.csv", "t,x,y\n2020-01-01,1,2\nnow,1,2\ntoday,1,2\n"))


def test_quoted_fields_may_hold_separators(tmp_path):
    text = 'note,uid,datetime,lat,lng\n"home, sweet",a,2020-01-01,1,2\n"two\nlines","b;b",2020-01-01,1,2\n'
    assert read_traces(put(tmp_path, "x.csv", text))["user_id"].tolist() == ["a", "b;b"]


def test_a_line_break_in_a_name_tells_it_from_the_name_without(tmp_path):
    text = 'uid,datetime,lat,lng\n"two\nlines",2020-01-01,1,2\ntwolines,2020-01-01,1,2\n'
    assert read_traces(put(tmp_path, "x.csv", text))["user_id"].tolist() == ["two\nlines", "twolines"]


def test_a_quote_left_open_costs_one_row_and_not_the_rest(tmp_path):
    text = 'uid,datetime,lat,lng\n"a,2020-01-01,1\na,2020-01-02,1,2\na,2020-01-03,1,2\n'
    with pytest.warns(TraceWarning, match=r"1 of 3 rows .* x\.csv, line 2: row must be of as many"):
        assert len(read_traces(put(tmp_path, "x.csv", text))) == 2


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.text(
                st.characters(codec="utf-8", exclude_characters="\0\r\n\x1c\x1d\x1e\x85\u2028\u2029"),
                min_size=1,
                max_size=8,
            ),
            st.datetimes(pd.Timestamp("1970-01-01").to_pydatetime(), pd.Timestamp("2261-01-01").to_pydatetime()),
            st.floats(-90, 90),
            st.floats(-180, 180),
        ),
        min_size=1,
        max_size=8,
    ),
    separator=st.sampled_from(",;\t"),
)
def test_csv_round_trip(tmp_path, rows, separator):
    table = check_traces(pd.DataFrame(rows, columns=list(COLUMNS)), "test")
    path = tmp_path / "x.csv"
    table.to_csv(path, index=False, sep=separator)
    again = read_traces(path)
    # pandas 2 may miss the last bit of a float
    pd.testing.assert_frame_equal(again, table, rtol=1e-15, atol=1e-300)


# What is left out is counted


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("95 -122 0 1213084687", r"latitude must be in \[-90, 90\]"),
        ("37 -222 0 1213084687", r"longitude must be in \[-180, 180\]"),
        ("nan -122 0 1213084687", "latitude must be a finite number"),
        ("37 inf 0 1213084687", "longitude must be a finite number"),
        ("37 west 0 1213084687", "longitude must be a finite number"),
        ("37 -122 0 -5", "tracked_at must be in 1970 or later"),
        ("37 -122 0 253402300799000", "before the year 9000"),
        ("37 -122 0 1e300", "before the year 9000"),
        ("37 -122 0 yesterday", "tracked_at must be a time"),
        ("37 -122 0", "row must be of as many fields"),
        ("37 -122 0 1213084687 9", "row must be of as many fields"),
    ],
)
def test_a_bad_row_is_skipped_and_explained_but_not_shown(tmp_path, line, why):
    path = put(tmp_path, "new_a.txt", f"{CAB}\n{line}\n")
    with pytest.warns(TraceWarning, match=rf"^1 of 4 rows could not be read, the first: new_a\.txt, line 5: .*{why}"):
        table = read_traces(path)
    assert_valid(table)
    report = table.attrs["report"]
    assert (report.files, report.read, report.duplicates, report.skipped) == (1, 3, 0, 1)
    assert report.first_skipped.startswith("new_a.txt, line 5: ")
    with pytest.raises(TraceError, match=rf"new_a\.txt, line 1: .*{why}"):
        read_traces(put(tmp_path, "new_a.txt", line), format="cabspotting")


@pytest.mark.parametrize("date", ["1969-12-31", "9999-12-31", "0001-01-01", "2020-13-01", ""])
def test_placeholder_and_impossible_dates_are_skipped(tmp_path, date):
    with pytest.warns(TraceWarning, match=r"x\.csv, line 3: tracked_at must be"):
        table = read_traces(put(tmp_path, "x.csv", f"t,x,y\n2020-01-01,1,2\n{date},1,2\n"))
    assert len(table) == 1


def test_a_row_without_its_user_is_skipped(tmp_path):
    with pytest.warns(TraceWarning, match="user_id must be given"):
        assert len(read_traces(put(tmp_path, "x.csv", "uid,t,x,y\n,2020-01-01,1,2\na,2020-01-01,1,2\n"))) == 1


def test_reasons_are_counted_over_all_files(tmp_path):
    put(tmp_path, "new_a.txt", CAB + "95 0 0 5\n95 0 0 6\n")
    put(tmp_path, "new_b.txt", CAB + "5 190 0 5\n")
    with pytest.warns(TraceWarning, match=r"3 of 9 rows .* the first: new_a\.txt, line 4: latitude must be") as caught:
        report = read_traces(tmp_path).attrs["report"]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert report.reasons == {"latitude must be in [-90, 90]": 2, "longitude must be in [-180, 180]": 1}
    assert json.loads(json.dumps(dataclasses.asdict(report)))["skipped"] == 3


SECRETS = ("37.7510", "122.3911", "46.5112", "6.5713", "2031", "1931", "1937", "POINT", "noon")


def said_by(call: Callable[[], object]) -> str:
    """Everything that a call says: warnings, the error, the errors behind it, and the report."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
            told = [repr(result.attrs["report"])] if isinstance(result, pd.DataFrame) else []
        except HideseekError as error:
            told = ["".join(traceback.format_exception(error))]
    return "\n".join([*told, *(str(warning.message) for warning in caught)])


@pytest.mark.parametrize(
    "content",
    [
        "37.7510 -122.3911 0 1213084687 7\n",
        "-122.3911 37.7510 0 1213084687\n" * 3,
        "37.7510 -122.3911 0 -1937\n",
        "I was at 37.7510 -122.3911\n",
        "37.7510;-122.3911;noon\n",
        "37.7510 -122.3911 0 1213084687\n" * 3 + "\0",
        b"37.7510 -122.3911 0 1213084687\n37.7510\xff -122.3911 0 1213084687\n",
        "t,x,y\n1931-01-01,-122.3911,37.7510\n",
        "t,user,geom\nnoon,a,POINT (6.5713 46.5112)\n2031-01-01,a,POINT EMPTY\n",
        f"{PLT[:-20]}2031-13-01,noon\n",
        GPX.replace('lat="46.5"', 'lat="46.5112 N"').replace("2020", "2031"),
        GPX.replace('lat="46.5"', 'lat="146.5112"').replace("2020", "2031"),
        GPX.replace("<wpt", '<wpt lat="46.5112" <'),
    ],
)
def test_nothing_tells_what_stands_in_a_file(tmp_path, content):
    path = put(tmp_path, "new_a.txt", content)
    for form in (None, *FORMATS):
        said = said_by(lambda form=form: read_traces(path, format=form))
        assert said
        assert not [secret for secret in SECRETS if secret in said.replace(str(tmp_path), "")]


@pytest.mark.parametrize(
    "columns",
    [
        {"latitude": [46.5112, 122.3911]},
        {"longitude": ["46.5112", "37.7510 W"]},
        {"tracked_at": ["noon", "2031-01-01"]},
        {"tracked_at": pd.to_datetime(["1931-01-01", "2031-01-01"])},
    ],
)
def test_nothing_tells_what_stands_in_a_table(columns):
    table = by_hand(**columns)
    tables = (table, table.set_index(pd.Index(["37.7510", "46.5112"])), table.rename(columns={"user_id": "37.7510"}))
    for rows in tables:
        said = said_by(lambda rows=rows: check_traces(rows, "fit"))
        assert "'traces' parameter of fit" in said
        assert not [secret for secret in SECRETS if secret in said]


def test_the_report_survives_what_people_do_with_tables(tmp_path):
    table = read_traces(put(tmp_path, "new_a.txt", CAB))
    same = read_traces(tmp_path / "new_a.txt")
    other = read_traces(put(tmp_path, "new_b.txt", CAB + "37 -122 0 5\n"))
    assert pd.concat([table, same]).attrs["report"] == table.attrs["report"]
    assert len(pd.concat([table, other])) == 7
    assert len(table.groupby("user_id")["latitude"].mean()) == 1
    assert table.equals(same)
    assert table.merge(other, on="tracked_at").shape[0] == 3
    assert table.copy(deep=True).attrs["report"] == same.attrs["report"]
    assert hash(table.attrs["report"]) == hash(same.attrs["report"])
    table.loc[0, "latitude"] = 1.0
    assert table["latitude"].iloc[0] == 1.0


# Folders


def test_the_first_recognised_file_decides_for_the_folder(tmp_path):
    put(tmp_path, "a.csv", CSV)
    put(tmp_path, "b.txt", CAB)
    put(tmp_path, "c.bin", b"\x00\x01")
    put(tmp_path, "d.csv", b"user_id,t,x,y\n\xff,1,2,3\n")
    put(tmp_path, ".hidden", CAB)
    put(tmp_path, ".git/config", CAB)
    put(tmp_path, "README.md", "about")
    with pytest.warns(
        TraceWarning, match=r"^3 files were passed over, the first: b\.txt: the content is cabspotting, not csv"
    ):
        table = read_traces(tmp_path)
    assert_valid(table)
    report = table.attrs["report"]
    assert (report.files, report.skipped) == (1, 0)
    assert [said.split(":")[0] for said in report.skipped_files] == ["b.txt", "c.bin", "d.csv"]
    assert "line 2 is not UTF-8" in report.skipped_files[2]


def test_a_named_format_picks_its_files_from_a_folder(tmp_path):
    put(tmp_path, "a.csv", CSV)
    put(tmp_path, "b.txt", CAB)
    with pytest.warns(TraceWarning, match=r"a\.csv: the content is csv, not cabspotting"):
        assert set(read_traces(tmp_path, format="cabspotting")["user_id"]) == {"b"}
    with pytest.raises(TraceError, match="not gpx"):
        read_traces(tmp_path, format="gpx")


def test_a_file_name_that_is_no_text_is_made_legible(tmp_path):
    try:
        path = put(tmp_path, "new_\udcff.txt", CAB)
    except (OSError, UnicodeError):
        pytest.skip("the file system takes no such name")
    assert set(read_traces(path)["user_id"]) == {r"\xff"}


# Who is who, by the names of the files


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
        {"05": [1], "06": [2], "alice": [3, 4]},
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
    with pytest.warns(TraceWarning, match="2 files were passed over"):
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


# Inputs that cannot be used


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"hello\nworld\n", "not recognised as cabspotting, geolife, gpx, csv"),
        (bytes(range(256)), "not recognised"),
        (b"\x00" * 600, "not recognised"),
        (CAB.encode() + b"\x00", "not recognised"),
        (CAB.encode() * 1000 + b"\x00", "NUL"),
        (CAB.encode() + b"\xff\xfe", "line 4 is not UTF-8"),
        (CSV.encode("utf-16"), "not recognised"),
        (b"user_id,tracked_at,latitude,longitude\n", "no rows"),
        (b"a,b,c\n1,2,3\n", "not recognised"),
    ],
)
def test_a_useless_file_is_a_trace_error(tmp_path, content, why):
    with pytest.raises(TraceError, match=why):
        read_traces(put(tmp_path, "file.txt", content))
    for name in FORMATS:
        with pytest.raises(TraceError):
            read_traces(tmp_path / "file.txt", format=name)


def test_a_missing_path_an_empty_folder_and_a_folder_of_nothing_are_trace_errors(tmp_path):
    with pytest.raises(TraceError, match="no file or folder"):
        read_traces(tmp_path / "nowhere")
    with pytest.raises(TraceError, match=r"cannot be read|no file or folder"):
        read_traces(tmp_path / ("long" * 100))
    with pytest.raises(TraceError, match="no file or folder"):
        read_traces("nul\0byte")
    with pytest.raises(TraceError, match="no rows"):
        read_traces(tmp_path)
    put(tmp_path, "notes.md", "# Notes")
    with pytest.raises(TraceError, match=r"notes\.md: not recognised as cabspotting"):
        read_traces(tmp_path)


@pytest.mark.parametrize("name", ["shapefile", "CSV", ""])
def test_an_unknown_format_name_lists_the_known_ones(tmp_path, name):
    with pytest.raises(
        ParameterError, match="'format' parameter of read_traces must be one of cabspotting, geolife, gpx, csv"
    ):
        read_traces(tmp_path, format=name)


@pytest.mark.parametrize("path", [None, 3, b"bytes"])
def test_a_path_that_is_none_breaks_a_rule(path):
    with pytest.raises(ParameterError, match="'path' parameter of read_traces"):
        read_traces(path)


MEMBERS = {f"cabspottingdata/new_{cab}.txt": CAB * 40 for cab in "abcdef"}


@pytest.mark.parametrize("kept", [0.001, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_archive_is_a_trace_error_and_never_a_shorter_table(tmp_path, kept):
    plain = pack(MEMBERS).rstrip(b"\0")
    for whole in (plain, gzip.compress(pack(MEMBERS)), gzip.compress(pack(MEMBERS), 0)):
        with pytest.raises(TraceError):
            read_traces(put(tmp_path, "x.tar.gz", whole[: int(len(whole) * kept)]))


def test_an_archive_cut_between_members_is_a_trace_error(tmp_path):
    size = 512 + -(-len(CAB * 40) // 512) * 512
    for cut in (2 * size, 2 * size + 100):
        for squeeze in (bytes, gzip.compress):
            with pytest.raises(TraceError, match="not a whole tar archive"):
                read_traces(put(tmp_path, "x.tar", squeeze(pack(MEMBERS)[:cut])))


def test_a_damaged_archive_is_a_trace_error(tmp_path):
    packed = bytearray(pack(MEMBERS))
    packed[512 + -(-len(CAB * 40) // 512) * 512 + 3] ^= 1
    with pytest.raises(TraceError, match="bad checksum"):
        read_traces(put(tmp_path, "x.tar", bytes(packed)))
    squeezed = bytearray(gzip.compress(pack(MEMBERS)))
    squeezed[-6] ^= 1
    with pytest.raises(TraceError, match="CRC"):
        read_traces(put(tmp_path, "x.tar.gz", bytes(squeezed)))
    squeezer = zlib.compressobj(wbits=31)
    half = squeezer.compress(pack({"new_a.txt": CAB * 2000})[:100_000]) + squeezer.flush(zlib.Z_FULL_FLUSH)
    squeezed = bytearray(half + b"\x07" * 100)  # 7 opens a block of a type that does not exist
    with pytest.raises(TraceError, match="decompressing"):
        read_traces(put(tmp_path, "x.tar.gz", bytes(squeezed)))
    with pytest.raises(TraceError, match="not a whole tar archive"):
        read_traces(put(tmp_path, "x.csv.gz", gzip.compress(CSV.encode() * 50)))
    with pytest.raises(TraceError, match="no rows"):
        read_traces(put(tmp_path, "x.tar", pack({"README": "nothing"})))


def test_an_absurdly_large_member_is_refused(tmp_path, monkeypatch):
    huge = tarfile.TarInfo("new_huge.txt")
    huge.size = 1 << 50
    with pytest.raises(TraceError, match=r"new_huge.txt' claims 1125899906842624 bytes"):
        read_traces(put(tmp_path, "x.tar", huge.tobuf() + b"\0" * 1024))
    sized = tarfile.TarInfo("new_sized.txt")
    sized.pax_headers = {"size": str(1 << 50)}
    with pytest.raises(TraceError, match=r"new_sized.txt' claims 1125899906842624 bytes"):
        read_traces(put(tmp_path, "x.tar", sized.tobuf(tarfile.PAX_FORMAT) + b"\0" * 1024))
    for size in (1 << 50, -512):
        extended = tarfile.TarInfo("long")
        extended.type, extended.size = tarfile.XHDTYPE, size
        with pytest.raises(TraceError, match=f"'long' claims {size} bytes"):
            read_traces(put(tmp_path, "x.tar", extended.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024))
    monkeypatch.setattr(archives, "LARGEST", 100)
    with pytest.raises(TraceError, match="at most 100 are read"):
        read_traces(put(tmp_path, "x.tar", pack(MEMBERS)))


def test_an_archive_of_headers_upon_headers_is_a_trace_error(tmp_path):
    extended = tarfile.TarInfo("again")
    extended.type = tarfile.XHDTYPE
    with pytest.raises(TraceError, match="cannot be read"):
        read_traces(put(tmp_path, "x.tar", extended.tobuf() * 5000 + b"\0" * 1024))


# Any bytes at all


def reads_or_refuses(path: Path, name: str | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceWarning)
        try:
            table = read_traces(path, format=name)
        except TraceError:
            return
    assert_valid(table)


def mangled(sample: bytes) -> st.SearchStrategy[bytes]:
    """A sample with a piece replaced, so that the fuzz reaches past the first line."""
    cut = st.integers(0, len(sample))
    piece = st.one_of(st.binary(max_size=6), st.text('0123456789-+.,;:eE"<>/ \n\tTZ', max_size=12).map(str.encode))
    return st.tuples(cut, cut, piece).map(lambda c: sample[: min(c[:2])] + c[2] + sample[max(c[:2]) :])


FUZZ = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text('0123456789-+.,;:eE" \n\tTZ', max_size=200).map(str.encode),
    st.text('0123456789-+.,;:eE" \n\tTZ', max_size=100).map(lambda text: b"uid,t,x,y\n" + text.encode()),
    *(mangled(sample.encode()) for sample in SAMPLES.values()),
    mangled(gzip.compress(pack({"new_a.txt": CAB}))),
    mangled(pack({"new_a.txt": CAB})),
)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=FUZZ, name=st.sampled_from([None, *FORMATS]))
def test_any_bytes_give_a_valid_table_or_a_trace_error(tmp_path, content, name):
    reads_or_refuses(put(tmp_path, "fuzz", content), name)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.lists(FUZZ, min_size=1, max_size=3), name=st.sampled_from([None, *FORMATS]))
def test_any_folder_gives_a_valid_table_or_a_trace_error(tmp_path, contents, name):
    for number in range(3):
        put(tmp_path, f"folder/{number}", contents[number] if number < len(contents) else b"")
    reads_or_refuses(tmp_path / "folder", name)


# Tables made by hand


def by_hand(**columns: object) -> pd.DataFrame:
    clean = {
        "user_id": ["a", "a"],
        "tracked_at": pd.to_datetime(["2020-01-01 10:00", "2020-01-01 11:00"], utc=True),
        "latitude": [46.5, 46.6],
        "longitude": [6.5, 6.6],
    }
    return pd.DataFrame({**clean, **columns})


def test_a_clean_table_comes_back_equal_and_independent(tmp_path):
    table = read_traces(put(tmp_path, "new_a.txt", CAB))
    checked = check_traces(table, "fit")
    pd.testing.assert_frame_equal(checked, table)
    assert checked.attrs == table.attrs
    checked.loc[0, "latitude"] = 0.0
    assert table["latitude"].iloc[0] != 0.0


@pytest.mark.parametrize(
    "names",
    [("uid", "datetime", "lat", "lng"), ("traj_id", "t", "y", "x"), ("User_ID", " Tracked_At", "LATITUDE", "LON")],
)
def test_names_of_other_libraries_are_renamed(names):
    table = check_traces(by_hand().set_axis(list(names), axis=1).assign(speed=3), "fit")
    assert tuple(table.columns) == COLUMNS


def test_the_preferred_name_wins_and_a_time_in_the_index_yields_to_the_column():
    table = by_hand().assign(uid="no", lat=0.0, t=5).set_index(pd.Index([7, 8], name="t"))
    checked = check_traces(table, "fit")
    pd.testing.assert_frame_equal(checked, check_traces(by_hand(), "fit"))


class Point:
    """What shapely's points look like to us."""

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def __str__(self) -> str:
        return f"POINT ({self.x} {self.y})"


def test_points_and_a_time_in_the_index_are_understood():
    table = pd.DataFrame({"traj_id": [1], "geometry": [Point(6.5, 46.5)]})
    table.index = pd.DatetimeIndex(["2020-01-01 10:00"], name="t")
    checked = check_traces(table, "fit")
    assert checked[["user_id", "latitude", "longitude"]].to_numpy().tolist() == [["1", 46.5, 6.5]]
    assert times(checked) == ["2020-01-01 10:00:00"]
    with pytest.raises(ParameterError, match=r"latitude is a finite number in every row\. Got another in row 0 "):
        check_traces(table.reset_index().assign(geometry="POINT EMPTY"), "fit")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.to_datetime(["2020-01-01 10:00"] * 2)),
        pd.Series(pd.to_datetime(["2020-01-01 11:00"] * 2)).dt.tz_localize("Europe/Zurich"),
        ["2020-01-01T10:00Z", "2020-01-01 12:00+02:00"],
        [1577872800, 1577872800],
        [1577872800000.0, 1577872800000.0],
        np.array(["2020-01-01T10:00"] * 2, dtype="M8[ns]"),
        [pd.Timestamp("2020-01-01 10:00").to_pydatetime(), pd.Timestamp("2020-01-01 10:00", tz="UTC")],
        pd.Series(["1577872800"] * 2, dtype="category"),
    ],
    ids=["naive", "zone", "text", "seconds", "milliseconds", "nanoseconds", "objects", "category"],
)
def test_times_of_every_kind_become_utc(column):
    checked = check_traces(by_hand(user_id=["a", "b"], tracked_at=column), "fit")
    assert times(checked) == ["2020-01-01 10:00:00"] * 2
    assert (checked.dtypes == check_traces(by_hand(), "fit").dtypes).all()


def test_a_table_is_sorted_and_freed_of_duplicates_with_the_first_kept():
    table = by_hand(user_id=[2, 1], latitude=[1.0, 2.0])
    twice = pd.concat([table, table.assign(latitude=9.0)]).set_axis([5, 5, 5, 5])
    checked = check_traces(twice, "fit")
    assert checked["user_id"].tolist() == ["1", "2"]
    assert checked["latitude"].tolist() == [2.0, 1.0]
    assert checked.index.equals(pd.RangeIndex(2))
    assert twice["latitude"].tolist() == [1.0, 2.0, 9.0, 9.0]


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_named(column):
    with pytest.raises(
        ParameterError, match=f"'traces' parameter of fit must be a table with .*Known names of {column}"
    ):
        check_traces(by_hand().drop(columns=column), "fit")


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ({"latitude": [46.5, np.nan]}, "latitude is a finite number in every row. Got another in row 1 "),
        ({"latitude": [46.5, -np.inf]}, "latitude is a finite number"),
        ({"latitude": [46.5, "north"]}, "latitude is a finite number in every row. Got another in row 1 "),
        ({"latitude": [True, False]}, "latitude is a finite number"),
        ({"latitude": pd.to_datetime(["2020-01-01"] * 2)}, "latitude is a finite number"),
        ({"latitude": pd.array([1.0, None], dtype="Float64")}, "latitude is a finite number"),
        ({"latitude": [46.5, 90.1]}, r"latitude is in \[-90, 90\] in every row. Got another in row 1 "),
        ({"longitude": [-180.1, 0]}, r"longitude is in \[-180, 180\]"),
        ({"tracked_at": pd.to_datetime(["2020-01-01", None])}, "tracked_at is a time"),
        ({"tracked_at": ["noon", "2020-01-01"]}, "tracked_at is a time .* Got another in row 0 "),
        ({"tracked_at": [True, False]}, "tracked_at is a time"),
        ({"tracked_at": pd.to_timedelta([1, 2], unit="s")}, "tracked_at is a time"),
        ({"tracked_at": [[1], {}]}, "tracked_at is a time"),
        ({"tracked_at": pd.to_datetime(["1969-12-31", "2020-01-01"])}, "tracked_at is in 1970 or later"),
        ({"tracked_at": np.array(["9999-12-31", "2020-01-01"], dtype="M8[us]")}, "before the year 9000"),
        ({"tracked_at": [-1, 5]}, "tracked_at is in 1970 or later"),
        ({"user_id": [None, "a"]}, "user_id is given in every row"),
        ({"user_id": [1.0, np.nan]}, "user_id is given in every row"),
        ({"user_id": ["", "a"]}, "user_id is given in every row"),
    ],
)
def test_a_broken_rule_names_the_column_and_the_row(columns, rule):
    with pytest.raises(ParameterError, match=rule):
        check_traces(by_hand(**columns), "fit")


def test_what_is_no_table_or_has_no_rows_breaks_a_rule():
    with pytest.raises(ParameterError, match=r"must be a pandas DataFrame\. Got list instead"):
        check_traces([1, 2], "fit")
    with pytest.raises(ParameterError, match="at least one row"):
        check_traces(by_hand().iloc[:0], "fit")


def test_the_limits_themselves_are_allowed():
    limits = by_hand(latitude=[-90, 90], longitude=[-180, 180], tracked_at=[0, 1])
    assert len(check_traces(limits, "fit")) == 2


@pytest.mark.parametrize("stamp", ["253402300799", "-5"])
def test_a_placeholder_date_does_not_pass_for_another(tmp_path, stamp):
    (tmp_path / "new_x.txt").write_text(f"37.7 -122.4 0 {stamp}\n37.7 -122.4 0 1211018460\n")
    with pytest.warns(TraceWarning, match="1 of 2 rows"):
        table = read_traces(tmp_path / "new_x.txt")
    assert table["tracked_at"].dt.year.tolist() == [2008]
    (tmp_path / "new_y.txt").write_text(f"37.7 -122.4 0 {stamp}\n")
    with pytest.raises(TraceError, match="line 1: tracked_at must be in 1970 or later"):
        read_traces(tmp_path / "new_y.txt")


@pytest.mark.parametrize("column", ["user", "User", "uid", "user_id"])
def test_a_column_of_users_is_read_per_user(tmp_path, column):
    rows = [("b", "10:00", 46.5), ("a", "10:00", 46.6), ("b", "11:00", 46.7), ("a", "09:00", 46.8)]
    lines = [f"{user},2020-01-01 {at}:00,{latitude},6.5" for user, at, latitude in rows]
    table = read_traces(put(tmp_path, "trip.csv", "\n".join([f"{column},time,lat,lon", *lines]) + "\n"))
    found = list(zip(table["user_id"], table["tracked_at"].dt.hour, table["latitude"], strict=True))
    assert found == [("a", 9, 46.8), ("a", 10, 46.6), ("b", 10, 46.5), ("b", 11, 46.7)]
