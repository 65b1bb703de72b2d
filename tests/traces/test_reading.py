"""Reading gives one valid table, counts what it leaves out, and repeats nothing that stands in a file."""

from __future__ import annotations

import dataclasses
import gzip
import json
import traceback
import warnings
from collections.abc import Callable
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hideseek.errors import HideseekError, ParameterError, TraceError, TraceWarning
from hideseek.traces.formats import FORMATS, KNOWN
from hideseek.traces.reading import read_traces
from hideseek.traces.table import COLUMNS, check_traces
from tests.support.trace_files import (
    CAB,
    CSV,
    GPX,
    PLT,
    SAMPLES,
    TEXTS,
    assert_valid,
    by_hand,
    pack,
    put,
    reads_or_refuses,
    times,
    zipped,
)

UNKNOWN = f"not recognised as {', '.join(FORMATS)}"


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
    tables = [read_traces(put(tmp_path, f"{name}.dat", content)) for name, content in SAMPLES.items()]
    for table in tables:
        assert_valid(table)
        assert (table.dtypes[list(COLUMNS)] == tables[0].dtypes).all()
        assert table.dtypes.get("finished_at", table["tracked_at"].dtype) == tables[0].dtypes["tracked_at"]
    assert len(pd.concat(tables)) == sum(map(len, tables))


@pytest.mark.parametrize("name", FORMATS)
def test_naming_the_format_changes_nothing(tmp_path, name):
    path = put(tmp_path, "file", SAMPLES[name])
    pd.testing.assert_frame_equal(read_traces(path), read_traces(str(path), format=name))


@pytest.mark.parametrize("name", FORMATS)
def test_the_content_decides_and_not_the_extension(tmp_path, name):
    assert [form for form, known in KNOWN.items() if known.looks_so(SAMPLES[name])] == [name]
    for lie in ("x.csv", "x.gpx", "x.txt", "x.plt", "x.json", "x.parquet", "x"):
        table = read_traces(put(tmp_path, lie, SAMPLES[name]))
        assert table.attrs["report"].formats == {name: 1}
        assert set(table["user_id"]) <= {"x", "a", "b"}


def test_every_format_in_one_folder_or_archive_is_read_and_said(tmp_path):
    for name, content in SAMPLES.items():
        put(tmp_path, f"all/{name}.dat", content)
    files = {f"{name}.dat": content for name, content in SAMPLES.items()}
    folder = read_traces(tmp_path / "all")
    assert folder.attrs["report"].formats == dict.fromkeys(sorted(FORMATS), 1)
    for packed in (zipped(files), pack(files), gzip.compress(pack(files))):
        table = read_traces(put(tmp_path, "packed", packed))
        pd.testing.assert_frame_equal(table, folder)
        assert table.attrs["report"] == folder.attrs["report"]
    for content in SAMPLES.values():
        alone = read_traces(put(tmp_path, "alone", content))
        pd.testing.assert_frame_equal(read_traces(put(tmp_path, "alone", gzip.compress(content))), alone)


@pytest.mark.parametrize(("name", "other"), list(pairwise([*FORMATS, FORMATS[0]])))
def test_a_file_of_another_format_than_the_named_one_is_told(tmp_path, name, other):
    put(tmp_path, "one", SAMPLES[name])
    put(tmp_path, "two", SAMPLES[other])
    with pytest.warns(TraceWarning, match=f"files passed over: 1, the first: two: the content is {other}, not {name}"):
        assert read_traces(tmp_path, format=name).attrs["report"].formats == {name: 1}


def test_the_first_of_two_fixes_at_one_instant_stays(tmp_path):
    table = read_traces(put(tmp_path, "new_a.txt", "1 2 0 100\n5 6 0 100\n3 4 0 50\n"))
    assert table["latitude"].tolist() == [3.0, 1.0]
    assert table.attrs["report"].duplicates == 1
    assert table.attrs["report"].read == 3
    note = "fixes left out, as another of the same person at the same instant was kept: 1"
    assert table.attrs["report"].notes == (note,)


def test_one_instant_of_two_users_is_no_duplicate(tmp_path):
    put(tmp_path, "new_b.txt", "1 2 0 100\n")
    put(tmp_path, "new_a.txt", "1 2 0 100\n")
    assert read_traces(tmp_path)["user_id"].tolist() == ["a", "b"]


def test_blank_lines_carriage_returns_and_a_byte_order_mark_do_no_harm(tmp_path):
    for name, text in TEXTS.items():
        plain = read_traces(put(tmp_path, "same", text), format=name)
        dressed = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() + b"\r\n\r\n"
        pd.testing.assert_frame_equal(plain, read_traces(put(tmp_path, "same", dressed)))
        pd.testing.assert_frame_equal(plain, read_traces(put(tmp_path, "same", text.replace("\n", "\r"))))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("95 -122 0 1213084687", r"latitude must be in \[-90, 90\]"),
        ("37 -222 0 1213084687", r"longitude must be in \[-180, 180\]"),
        ("nan -122 0 1213084687", "latitude must be a finite number"),
        ("37 inf 0 1213084687", "longitude must be a finite number"),
        ("37 west 0 1213084687", "longitude must be a finite number"),
        ("37 -122 0 -5", "tracked_at must be in 1970 or later"),
        ("37 -122 0 253402300799000", "before the year 2100"),
        ("37 -122 0 1e300", "before the year 2100"),
        ("37 -122 0 4102444800", "before the year 2100"),
        ("37 -122 0 30115497600000", "before the year 2100"),
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


@pytest.mark.parametrize(
    "date", ["1969-12-31", "9999-12-31", "2924-05-06", "2100-01-01", "0001-01-01", "2020-13-01", ""]
)
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


def test_all_formats_of_a_folder_are_read_and_the_rest_is_passed_over(tmp_path):
    put(tmp_path, "a.csv", CSV)
    put(tmp_path, "b.txt", CAB)
    put(tmp_path, "c.bin", b"\x00\x01")
    put(tmp_path, "d.csv", b"user_id,t,x,y\n\xff,1,2,3\n")
    put(tmp_path, ".hidden", CAB)
    put(tmp_path, ".git/config", CAB)
    put(tmp_path, "README.md", "about")
    with pytest.warns(TraceWarning, match=rf"^files passed over: 2, the first: c\.bin: {UNKNOWN}"):
        table = read_traces(tmp_path)
    assert_valid(table)
    report = table.attrs["report"]
    assert table["user_id"].value_counts().to_dict() == {"a": 2, "b": 3}
    assert (report.files, report.skipped, report.formats) == (2, 0, {"cabspotting": 1, "csv": 1})
    assert [said.split(":")[0] for said in report.skipped_files] == ["c.bin", "d.csv"]
    assert "line 2 is not UTF-8" in report.skipped_files[1]


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


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"hello\nworld\n", UNKNOWN),
        (bytes(range(256)), "not recognised"),
        (b"\x00" * 600, "not recognised"),
        (CAB.encode() + b"\x00", "not recognised"),
        (CAB.encode() * 1000 + b"\x00", "NUL"),
        (CAB.encode() + b"\xff\xfe", "line 4 is not UTF-8"),
        (CSV.encode("utf-16"), "not recognised"),
        (b"user_id,tracked_at,latitude,longitude\n", "no rows"),
        (b"a,b,c\n1,2,3\n", "not recognised"),
        (b"[]", "an empty export, with no rows"),
        (b'\xef\xbb\xbf{ "locations": [ ] }\n', "an empty export, with no rows"),
        (b'{"data":[]}', "an empty export, with no rows"),
        (b'{"semanticSegments":[]}', "no rows"),
        (b'{"timelineObjects":[]}', "no rows"),
        (b'{"locations":[1]}', "not recognised"),
        (b'{"recipes":[]}', "not recognised"),
    ],
)
def test_a_useless_file_is_a_trace_error(tmp_path, content, why):
    with pytest.raises(TraceError, match=why):
        read_traces(put(tmp_path, "file.txt", content))
    for name in FORMATS:
        with pytest.raises(TraceError):
            read_traces(tmp_path / "file.txt", format=name)


def test_a_path_to_nothing_readable_is_a_trace_error(tmp_path):
    with pytest.raises(TraceError, match="no file or folder"):
        read_traces(tmp_path / "nowhere")
    with pytest.raises(TraceError, match=r"cannot be read|no file or folder"):
        read_traces(tmp_path / ("long" * 100))
    with pytest.raises(TraceError, match="no file or folder"):
        read_traces("nul\0byte")
    with pytest.raises(TraceError, match=f"no file to read; looked for {', '.join(FORMATS)}"):
        read_traces(tmp_path)
    with pytest.raises(TraceError, match=r"no file to read; looked for gpx\."):
        read_traces(tmp_path, format="gpx")
    put(tmp_path, "notes.md", "# Notes")
    with pytest.raises(TraceError, match=rf"notes\.md: {UNKNOWN}"):
        read_traces(tmp_path)


@pytest.mark.parametrize("name", ["shapefile", "CSV", ""])
def test_an_unknown_format_name_lists_the_known_ones(tmp_path, name):
    with pytest.raises(
        ParameterError, match=f"'format' parameter of read_traces must be one of {', '.join(FORMATS)}, or None"
    ):
        read_traces(tmp_path, format=name)


@pytest.mark.parametrize("path", [None, 3, b"bytes"])
def test_a_path_that_is_none_breaks_a_rule(path):
    with pytest.raises(ParameterError, match="'path' parameter of read_traces"):
        read_traces(path)


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
    *(mangled(sample) for sample in SAMPLES.values()),
    mangled(gzip.compress(pack({"new_a.txt": CAB}))),
    mangled(pack({"new_a.txt": CAB})),
    mangled(zipped({"new_a.txt": CAB, "b.csv": CSV})),
    mangled(gzip.compress(CSV.encode())),
    mangled(b"t,finished_at,x,y,acc\n2020-01-01,2020-01-02,1,2,3\n2020-01-01T10:00+01:00,,1,2,\n"),
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


ROUGH = "t,x,y,acc\n" + "".join(
    f"2020-01-0{day},1,2,{metres}\n" for day, metres in enumerate(["5", "200", "200.5", "", "-1", "?"], 1)
)


@pytest.mark.parametrize(
    ("accuracy", "days"),
    [
        ("200m", [1, 2, 4, 6]),
        ("0.2 km", [1, 2, 4, 6]),
        (4, [4, 6]),
        ("1km", [1, 2, 3, 4, 6]),
        (None, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_fixes_that_are_less_accurate_are_left_out_and_counted(tmp_path, accuracy, days):
    table = read_traces(put(tmp_path, "a.csv", ROUGH), accuracy=accuracy)
    assert table["tracked_at"].dt.day.tolist() == days
    report = table.attrs["report"]
    assert (report.inaccurate, report.skipped, report.read) == (6 - len(days), 0, len(days))
    assert any("too inaccurate" in note for note in report.notes) is (len(days) < 6)


@pytest.mark.parametrize("accuracy", ["far", "-5m", -5, float("nan"), "200", "200 feet"])
def test_an_accuracy_that_is_no_length_breaks_a_rule(tmp_path, accuracy):
    with pytest.raises(ParameterError, match="'accuracy' parameter of read_traces must be a length"):
        read_traces(put(tmp_path, "a.csv", ROUGH), accuracy=accuracy)


def test_a_file_of_which_no_fix_is_accurate_says_so(tmp_path):
    path = put(tmp_path, "a.csv", "t,x,y,acc\n2020-01-01,1,2,9000\n")
    with pytest.raises(TraceError, match="all fixes are too inaccurate: 1"):
        read_traces(path)


def test_times_without_offset_are_counted_and_the_others_tell_theirs(tmp_path):
    stamps = ["2020-01-01T10:00", "2020-01-01T11:00+05:45", "2020-01-01T12:00+0545", "2020-01-01T13:00Z", "1577890000"]
    text = "t,x,y\n" + "".join(f"{stamp},1,2\n" for stamp in stamps)
    report = read_traces(put(tmp_path, "a.csv", text)).attrs["report"]
    assert (report.without_offset, report.utc_offset) == (1, 345)
    assert report.notes == ("times without an offset, read as UTC: 1",)


@pytest.mark.parametrize("zone", ["Z", "+00:00", "-0000"])
def test_utc_tells_nothing_of_where_somebody_is(tmp_path, zone):
    report = read_traces(put(tmp_path, "a.csv", f"t,x,y\n2020-01-01T11:00{zone},1,2\n")).attrs["report"]
    assert (report.without_offset, report.utc_offset) == (0, None)


def test_geolife_says_that_its_times_are_utc(tmp_path):
    assert read_traces(put(tmp_path, "a.plt", PLT)).attrs["report"].notes == ()


def test_swapped_degrees_are_said_to_look_so(tmp_path):
    lines = "-122.4 37.7 0 1213084687\n-122.5 37.8 0 1213084688\n"
    with pytest.raises(
        TraceError, match=r"line 1: latitude must be in \[-90, 90\]; latitude and longitude look swapped"
    ):
        read_traces(put(tmp_path, "new_a.txt", lines))
    with pytest.warns(TraceWarning, match="look swapped"):
        read_traces(put(tmp_path, "new_a.txt", lines + "5 6 0 1213084689\n"))
    with pytest.warns(TraceWarning, match=r"latitude must be in \[-90, 90\]\.$"):
        read_traces(put(tmp_path, "new_a.txt", lines + CAB))


@pytest.mark.parametrize(("columns", "swapped"), [("t,lat,lon", False), ("t,lon,lat", True)])
def test_degrees_in_range_that_the_offset_contradicts_are_kept_and_noted(tmp_path, columns, swapped):
    report = read_traces(put(tmp_path, "a.csv", f"{columns}\n2024-01-01T10:00-05:00,40.7,-74\n")).attrs["report"]
    assert (report.read, report.swapped) == (1, swapped)
    assert any(note.startswith("latitude and longitude look swapped") for note in report.notes) is swapped
    without = read_traces(put(tmp_path, "a.csv", f"{columns}\n2024-01-01T10:00Z,40.7,-74\n")).attrs["report"]
    assert without.notes == ()
