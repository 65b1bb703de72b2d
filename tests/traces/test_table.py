"""Tables made by hand become what reading gives, or are refused by the column and the row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.errors import ParameterError
from hideseek.traces.reading import read_traces
from hideseek.traces.table import COLUMNS, check_traces
from tests.support.trace_files import CAB, by_hand, put, times


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


def test_the_preferred_name_wins_and_a_column_wins_over_the_index():
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
        ({"tracked_at": np.array(["9999-12-31", "2020-01-01"], dtype="M8[us]")}, "before the year 2100"),
        (
            {"tracked_at": ["2020-01-01", "2100-01-01"]},
            "tracked_at is in 1970 or later and before the year 2100 .* row 1 ",
        ),
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
    limits = by_hand(latitude=[-90, 90], longitude=[-180, 180], tracked_at=[0, "2099-12-31 23:59:59"])
    assert len(check_traces(limits, "fit")) == 2


STAYS = {
    "started_at": ["2020-01-01 10:00", "2020-01-01 12:00"],
    "finished_at": ["2020-01-01 11:30", "2020-01-01 12:00"],
}


def test_staypoints_of_trackintel_keep_their_ends():
    table = by_hand(**STAYS).drop(columns="tracked_at")
    checked = check_traces(table, "fit")
    assert list(checked.columns) == [*COLUMNS, "finished_at"]
    assert times(checked) == ["2020-01-01 10:00:00", "2020-01-01 12:00:00"]
    assert (checked["finished_at"] - checked["tracked_at"]).dt.total_seconds().tolist() == [5400, 0]
    pd.testing.assert_frame_equal(check_traces(checked, "fit"), checked)


def test_ends_that_are_beginnings_or_missing_leave_plain_fixes():
    for ends in (by_hand()["tracked_at"], [None, ""], [pd.NaT, pd.NaT]):
        assert tuple(check_traces(by_hand(finished_at=ends), "fit").columns) == COLUMNS


@pytest.mark.parametrize("end", ["2019-12-31", "soon", "2021-01-01 11:00:01", "2034-05-06", "9999-01-01", -5])
def test_an_end_before_its_beginning_or_a_year_late_breaks_a_rule(end):
    rule = r"finished_at is a time, not before tracked_at and at most 366 days after it in every row.* in row 1 "
    with pytest.raises(ParameterError, match=rule):
        check_traces(by_hand(finished_at=["2020-01-02", end]), "fit")


def test_a_stretch_may_last_a_leap_year_but_not_into_the_year_2100():
    ends = ["2021-01-01 10:00", None]  # 366 days, of which the year 2020 has one more
    assert check_traces(by_hand(finished_at=ends), "fit")["finished_at"].dt.year.tolist() == [2021, 2020]
    late = by_hand(tracked_at=["2020-01-01", "2099-12-31"], finished_at=[None, "2100-01-01"])
    with pytest.raises(ParameterError, match="finished_at is in 1970 or later and before the year 2100 in every row"):
        check_traces(late, "fit")


def test_of_rows_at_one_instant_the_longest_stretch_stays():
    table = pd.concat([by_hand(), by_hand(latitude=[1.0, 2.0], finished_at=["2020-01-01 10:30", None])])
    checked = check_traces(table, "fit")
    assert checked["latitude"].tolist() == [1.0, 46.6]
    assert len(checked) == 2


@pytest.mark.parametrize(
    ("latitude", "longitude", "swapped"),
    [([-122.4, -122.5], [37.7, 37.8], True), ([95.0, 95.0], [120.0, 120.0], False), ([46.5, 95.0], [6.5, 6.5], False)],
    ids=["swapped", "nowhere on Earth", "one of two"],
)
def test_degrees_that_would_fit_the_other_way_look_swapped(latitude, longitude, swapped):
    with pytest.raises(ParameterError, match="latitude is in") as caught:
        check_traces(by_hand(latitude=latitude, longitude=longitude), "fit")
    assert ("latitude and longitude look swapped" in str(caught.value)) is swapped


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5), st.sampled_from("ab")), min_size=1, max_size=30))
def test_a_table_with_stretches_survives_any_order(rows):
    day = pd.Timestamp("2020-01-01", tz="UTC")
    begun = day + pd.to_timedelta([row[0] for row in rows], unit="min")
    table = pd.DataFrame({"user_id": [row[2] for row in rows], "tracked_at": begun, "latitude": 1.0, "longitude": 2.0})
    table["finished_at"] = begun + pd.to_timedelta([row[1] for row in rows], unit="min")
    checked = check_traces(table, "fit")
    longest = {}
    for at, long, user in rows:
        longest[user, at] = max(longest.get((user, at), 0), long)
    ends = checked.get("finished_at", checked["tracked_at"])
    minutes = zip(checked["user_id"], (checked["tracked_at"] - day).dt.total_seconds() / 60, strict=True)
    assert [*minutes] == sorted(longest)
    assert ((ends - checked["tracked_at"]).dt.total_seconds() / 60).tolist() == [
        longest[key] for key in sorted(longest)
    ]
