"""Every format gives the table that its rows say."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hideseek.errors import ParameterError, TraceError, TraceWarning
from hideseek.traces import delimited
from hideseek.traces.reading import ReadReport, read_traces
from hideseek.traces.table import COLUMNS, check_traces
from tests.support.trace_files import CAB, PLT, assert_valid, put, times


def test_a_folder_of_cabs_has_one_user_a_file(tmp_path):
    for cab in "ba":
        put(tmp_path, f"new_{cab}.txt", CAB)
    table = read_traces(tmp_path)
    assert_valid(table)
    assert table["user_id"].tolist() == ["a"] * 3 + ["b"] * 3
    assert table.attrs["report"] == ReadReport(
        files=2, read=6, duplicates=0, skipped=0, told_apart_by="file name", formats={"cabspotting": 2}
    )


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
    "header",
    [
        "Time (UTC),Latitude (deg),Longitude [deg],Accuracy (m)",
        "time [ms],lat [°],lon [°],acc[m]",
        "t,LAT ( Decimal Degrees ),long(WGS84),hacc [metres]",
        "t,lat (rad),latitude (deg),lon (m),lon (°E),accuracy (m)",
    ],
)
def test_a_name_may_have_a_unit_that_is_ours(tmp_path, header):
    named = {"lat": "46.5", "lon": "6.5", "acc": "7", "hac": "7", "tim": "1577872800000", "t": "1577872800000"}
    cells = ["1" if "rad" in name or name == "lon (m)" else named[name[:3].lower()] for name in header.split(",")]
    table = read_traces(put(tmp_path, "x.csv", f"{header}\n{','.join(cells)}\n"), accuracy="10m")
    assert times(table) == ["2020-01-01 10:00:00"]
    assert table[["latitude", "longitude"]].to_numpy().tolist() == [[46.5, 6.5]]
    assert read_traces(tmp_path / "x.csv", accuracy="8m").attrs["report"].inaccurate == 0
    with pytest.raises(TraceError, match="too inaccurate: 1"):
        read_traces(tmp_path / "x.csv", accuracy="5m")


def test_a_name_without_a_unit_comes_before_one_with_it(tmp_path):
    text = "t,latitude (deg),lat,lon\n1577872800,1,46.5,6.5\n"
    assert read_traces(put(tmp_path, "x.csv", text))["latitude"].tolist() == [46.5]


def test_a_unit_that_would_be_read_wrong_is_not_taken(tmp_path):
    for name in ("latitude (rad)", "latitude (m)", "latitude ()", "latitude (deg) (deg)", "(deg)", "]("):
        with pytest.raises(TraceError, match="csv"):
            read_traces(put(tmp_path, "x.csv", f"t;{name};lon\n1577872800;1;6.5\n"))


def test_decimal_commas_are_read_and_told(tmp_path):
    text = 't;lat;lon;acc;uid\n1577872800,5;46,52;-6;12,5;"Meier, Ann"\n2020-01-01T10:00:01,25Z;+46,5;6,125;1,234;b\n'
    table = read_traces(put(tmp_path, "x.csv", text), accuracy="12.5m")
    assert table[["latitude", "longitude"]].to_numpy().tolist() == [[46.52, -6.0], [46.5, 6.125]]
    assert (times(table), table["tracked_at"].dt.microsecond.tolist()) == (
        ["2020-01-01 10:00:00", "2020-01-01 10:00:01"],
        [500_000, 250_000],
    )
    assert table["user_id"].tolist() == ["Meier, Ann", "b"]
    assert table.attrs["report"].notes == ("fixes whose numbers have a decimal comma: 2",)


def test_decimal_commas_in_quotes_are_read_between_commas(tmp_path):
    text = 't,lat,lon\n1577872800,"46,52","6,5"\ncut\n1577872801,"46,52,1","6,5"\n'
    with pytest.warns(TraceWarning, match="2 of 3 rows could not be read, the first: x.csv, line 3"):
        table = read_traces(put(tmp_path, "x.csv", text))
    assert table[["latitude", "longitude"]].to_numpy().tolist() == [[46.52, 6.5]]


def test_commas_that_may_separate_thousands_are_refused(tmp_path):
    text = "t;y;x\n1577872800;46,520;6,630\n1577872801;46,521;6,631\n"
    with pytest.raises(TraceError, match=r"may be decimal or separate thousands.*write them with a decimal point"):
        read_traces(put(tmp_path, "x.csv", text))


@pytest.mark.parametrize("where", [0, 1])
def test_a_comma_beside_decimal_points_is_no_number(tmp_path, where):
    rows = ["1577872800;46.5;6.5", "1577872801;46,52;6"][:: 1 - 2 * where]
    with pytest.warns(TraceWarning, match="latitude must be a finite number"):
        table = read_traces(put(tmp_path, "x.csv", "\n".join(["t;lat;lon", *rows])))
    assert table["latitude"].tolist() == [46.5]


def test_commas_mean_one_thing_throughout_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BLOCK", 40)
    rows = [f"{1577872800 + n};46,{520 + n};6,{630 + n}" for n in range(9)]
    rows += ["1577872900;cut", "1577872901;1,25;1"]
    with pytest.warns(TraceWarning, match="1 of 11 rows"):
        table = read_traces(put(tmp_path, "x.csv", "\n".join(["t;lat;lon", *rows])))
    assert table["latitude"].tolist() == [46 + (520 + n) / 1000 for n in range(9)] + [1.25]


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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.text(
                st.characters(codec="utf-8", exclude_characters="\0\r\n\x1c\x1d\x1e\x85\u2028\u2029"),
                min_size=1,
                max_size=8,
            ),
            st.datetimes(pd.Timestamp("1970-01-01").to_pydatetime(), pd.Timestamp("2099-12-31").to_pydatetime()),
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


ODD = "wann;breite;laenge;wer;genau\n2020-01-01T10:00+01:00;46.5;6.5;ann;12\n2020-01-01T11:00+01:00;46.6;6.6;bob;900\n"
WHICH = {"time": "Wann", "latitude": "breite", "longitude": " laenge ", "user": "wer", "accuracy": "genau"}


def test_columns_of_any_names_are_read_as_somebody_says(tmp_path):
    path = put(tmp_path, "x.csv", ODD)
    assert read_traces(path, columns=WHICH)["user_id"].tolist() == ["ann"]
    assert read_traces(path, columns=WHICH, accuracy=None)["user_id"].tolist() == ["ann", "bob"]
    named = {key: WHICH[key] for key in ("time", "latitude", "longitude")}
    assert set(read_traces(path, columns=named)["user_id"]) == {"x"}


def test_a_table_that_lacks_columns_lists_its_own_and_the_known_ones(tmp_path):
    path = put(tmp_path, "x.csv", ODD.replace("wann", "time"))
    known = r"latitude \(known as latitude, lat, y\); longitude \(known as longitude, lng, lon, long, x\)"
    with pytest.raises(
        TraceError, match=f"as a table it lacks {known}; its columns are time, breite, laenge, wer, genau"
    ):
        read_traces(path)
    with pytest.raises(TraceError, match="no column 'lat' for latitude; its columns are time, breite"):
        read_traces(path, columns={"latitude": "lat"})


@pytest.mark.parametrize(
    "line", ["home;at noon;37.7510", "37.7510;-122.3911;noon", "I live at, Main Street, Springfield", "a\x1b[2J,b,c"]
)
def test_what_may_be_no_name_of_a_column_is_not_repeated(tmp_path, line):
    with pytest.raises(TraceError, match=r"not recognised as [a-z, -]+\.$"):
        read_traces(put(tmp_path, "x.csv", f"{line}\n{line}\n"))


@pytest.mark.parametrize("columns", [{"when": "t"}, {"time": 3}, {3: "t"}])
def test_columns_that_nobody_knows_break_a_rule(tmp_path, columns):
    with pytest.raises(ParameterError, match="'columns' parameter of read_traces"):
        read_traces(put(tmp_path, "x.csv", ODD), columns=columns)


@pytest.mark.parametrize("header", ["ts,device_id,lat,long", "when,User,LAT,LNG", "timestamp,uid,y,x"])
def test_names_that_loggers_use_are_guessed(tmp_path, header):
    table = read_traces(put(tmp_path, "x.csv", f"{header}\n1577872800,ann,46.5,6.5\n"))
    assert table[["user_id", "latitude", "longitude"]].to_numpy().tolist() == [["ann", 46.5, 6.5]]


def test_a_stretch_in_a_table_has_its_end(tmp_path):
    text = "t,end_time,x,y\n2020-01-01T10:00,2020-01-01T11:00Z,1,2\n2020-01-01T12:00,,1,2\n2020-01-01T13:00,soon,1,2\n"
    with pytest.warns(TraceWarning, match="line 4: finished_at must be a time, not before tracked_at"):
        table = read_traces(put(tmp_path, "x.csv", text))
    assert (table["finished_at"] - table["tracked_at"]).dt.total_seconds().tolist() == [3600, 0]
