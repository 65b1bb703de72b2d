"""Parquet and Arrow files give the columns of use, whatever their types."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek.errors import UnusableFileError
from hideseek.traces import columnar
from hideseek.traces.columnar import looks_like_arrow, looks_like_parquet, read_arrow, read_parquet
from tests.support.columnar_files import LATITUDE, LONGITUDE, SECONDS, arrow, parquet, points, table, well_known
from tests.support.trace_files import CSV, sifted

WAYS = {
    "parquet": (read_parquet, parquet),
    "old parquet": (read_parquet, lambda rows: parquet(rows, version="1.0", compression="gzip")),
    "plain pages": (read_parquet, lambda rows: parquet(rows, use_dictionary=False, data_page_version="2.0")),
    "small groups": (read_parquet, lambda rows: parquet(rows, row_group_size=2, compression="zstd")),
    "arrow file": (read_arrow, arrow),
    "arrow stream": (read_arrow, lambda rows: arrow(rows, file=False, most=2)),
    "feather": (read_arrow, lambda rows: arrow(rows, compression="lz4")),
    "packed stream": (read_arrow, lambda rows: arrow(rows, file=False, compression="zstd")),
}
GLOBE = [well_known(x, y) for x, y in zip(LONGITUDE, LATITUDE, strict=True)]


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


@pytest.fixture(params=["parquet", "plain pages", "feather"])
def some_way(request):
    return WAYS[request.param]


def raw(way, rows: pa.Table) -> pd.DataFrame:
    read, write = way
    return pd.concat(list(read(io.BytesIO(write(rows)))))


def typed(way, rows: pa.Table) -> tuple[pd.DataFrame, int]:
    read, write = way
    return sifted(read(io.BytesIO(write(rows))))


def assert_the_three_fixes(found: pd.DataFrame, users: list[str] | None = None) -> None:
    assert found["latitude"].tolist() == LATITUDE
    assert found["longitude"].tolist() == LONGITUDE
    assert [int(time.timestamp()) for time in found["tracked_at"]] == SECONDS
    assert found["user_id"].tolist() == (users or ["a", "b", "a"])


def test_columns_are_found_by_their_names_and_others_are_not_read(way):
    names = {"uid": ["a", "b", "a"], "t": pa.array(SECONDS, pa.timestamp("s", "UTC")), "y": LATITUDE, "x": LONGITUDE}
    more = {"nested": [[{"z": [1]}]] * 3, "blob": [b"\xff" * 9] * 3, "speed": [1, 2, 3]}
    assert_the_three_fixes(typed(way, pa.table({**more, **names}))[0])
    assert set(raw(way, pa.table({**more, **names}))) == {"user_id", "tracked_at", "latitude", "longitude"}


@pytest.mark.parametrize(
    "times",
    [
        *(
            pa.array([s * per for s in SECONDS], pa.timestamp(unit, zone))
            for zone in (None, "UTC", "Europe/Zurich", "+05:30", "Moon/Sea")
            for unit, per in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
        ),
        *(pa.array([s * per for s in SECONDS], pa.int64()) for per in (1, 10**3, 10**6, 10**9)),
        pa.array([s * 10**9 for s in SECONDS], pa.uint64()),
        pa.array(SECONDS, pa.int32()),
        pa.array(SECONDS, pa.float64()),
        pa.array([Decimal(s) for s in SECONDS], pa.decimal128(20, 3)),
        *(
            pa.array([datetime.fromtimestamp(s, UTC).isoformat() for s in SECONDS], kind)
            for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()))
        ),
    ],
    ids=lambda times: str(times.type),
)
def test_times_of_every_type_are_the_same_instants(some_way, times):
    found, skipped = typed(some_way, table(tracked_at=times))
    assert_the_three_fixes(found)
    assert skipped == 0


def test_days_are_read_as_their_first_instant(way):
    for kind in (pa.date32(), pa.date64()):
        found, _ = typed(way, table(tracked_at=pa.array([datetime(2020, 1, day) for day in (1, 2, 3)], kind)))
        assert found["tracked_at"].dt.strftime("%F %T").tolist() == [f"2020-01-0{day} 00:00:00" for day in (1, 2, 3)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("tick", [2**63 - 1, -(2**63) + 1, -1])
def test_times_beyond_the_rule_are_counted_and_not_wrapped_around(unit, tick):
    rows = table(tracked_at=pa.array([0, tick, None], pa.timestamp(unit, "UTC")))
    for way in (WAYS["arrow file"], WAYS["parquet"]) if unit != "s" else (WAYS["arrow file"],):
        found, skipped = typed(way, rows)
        assert (len(found), skipped) == (1, 2)


@pytest.mark.parametrize(
    "kind", [pa.float32(), pa.float64(), pa.decimal128(9, 4), pa.string(), pa.dictionary(pa.int32(), pa.float64())]
)
def test_degrees_of_every_type_are_the_same_places(kind):
    cast = pa.array(LATITUDE).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(LATITUDE).dictionary_encode()
    for way in (WAYS["arrow file"], WAYS["parquet"]):
        found, skipped = typed(way, table(latitude=cast))
        assert found["latitude"].tolist() == pytest.approx(LATITUDE, abs=4e-6)  # half a step of 32 bits at 64 degrees
        assert skipped == 0


@pytest.mark.parametrize(
    "users",
    [
        pa.array(["a", "b", "a"], pa.large_string()),
        pa.array(["a", "b", "a"], pa.string_view()),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array([b"a", b"b", b"a"]),
        pa.array([b"a", b"b", b"a"], pa.binary(1)),
    ],
    ids=lambda users: str(users.type),
)
def test_users_of_every_type_are_the_same_names(some_way, users):
    assert_the_three_fixes(typed(some_way, table(user_id=users))[0])


def test_whole_numbers_keep_their_spelling_where_a_user_is_missing(way):
    found, skipped = typed(way, table(user_id=pa.array([7, None, 2**53 + 1])))
    assert (found["user_id"].tolist(), skipped) == (["7", "9007199254740993"], 1)


def test_bytes_that_are_no_text_become_their_digits(way):
    assert typed(way, table(user_id=[b"\xff\x00", b"b", b"\xff\x00"]))[0]["user_id"].tolist() == ["ff00", "b", "ff00"]


def test_values_that_are_missing_or_no_numbers_are_counted(way):
    for column, values in (("latitude", [46.5, None, np.nan]), ("longitude", [6.5, np.inf, None])):
        found, skipped = typed(way, table(**{column: values}))
        assert (len(found), skipped) == (1, 2)


def test_a_text_longer_than_any_name_is_missing(way):
    for kind in (pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        found = raw(way, table(user_id=pa.array(["a", "x" * 10_000, None], kind)))
        assert found["user_id"].isna().tolist() == [False, True, True]


# points in one column


@pytest.mark.parametrize(
    "values",
    [
        pa.array(GLOBE),
        pa.array(GLOBE, pa.large_binary()),
        pa.array(GLOBE, pa.binary_view()),
        pa.array(GLOBE, pa.binary(21)),
        pa.array(GLOBE).dictionary_encode(),
        pa.array([{"x": x, "y": y} for x, y in zip(LONGITUDE, LATITUDE, strict=True)]),
        pa.array([{"y": y, "x": x, "z": 1.0} for x, y in zip(LONGITUDE, LATITUDE, strict=True)]),
        pa.array(list(zip(LONGITUDE, LATITUDE, strict=True)), pa.list_(pa.float64(), 2)),
        pa.array([f"POINT ({x} {y})" for x, y in zip(LONGITUDE, LATITUDE, strict=True)]),
    ],
    ids=lambda values: str(values.type),
)
@pytest.mark.parametrize("name", ["geometry", "geom"])
def test_points_of_every_type_are_the_same_places(some_way, values, name):
    assert_the_three_fixes(typed(some_way, points(values, name))[0])


def test_slices_of_points_are_cut_where_they_are(monkeypatch):
    monkeypatch.setattr(columnar, "BLOCK", 1)
    pair = pa.array(list(zip(LONGITUDE, LATITUDE, strict=True)), pa.list_(pa.float64(), 2))
    for values in (pa.array(GLOBE), pa.array(GLOBE, pa.binary_view()), pair):
        blocks = list(read_arrow(io.BytesIO(arrow(points(values)))))
        assert [block.index.tolist() for block in blocks] == [[1], [2], [3]]
        assert pd.concat(blocks)["latitude"].tolist() == LATITUDE


@pytest.mark.parametrize(
    "system",
    [
        {"id": {"authority": "EPSG", "code": 4326}},
        {"id": {"authority": "OGC", "code": "CRS84"}, "name": "WGS 84 (CRS84)"},
        None,
        ...,
    ],
)
def test_geoparquet_names_its_column_of_points(way, system):
    said = {"encoding": "WKB", "geometry_types": ["Point"]} | ({} if system is ... else {"crs": system})
    assert_the_three_fixes(typed(way, points(pa.array(GLOBE), "where", **said))[0])


def test_geoparquet_may_hold_points_as_structures(way):
    pairs = pa.array([{"x": x, "y": y} for x, y in zip(LONGITUDE, LATITUDE, strict=True)])
    assert_the_three_fixes(typed(way, points(pairs, "where", encoding="point"))[0])


def test_two_columns_of_degrees_come_before_points(way):
    mercator = {"id": {"authority": "EPSG", "code": 3857}}
    both = points(pa.array(GLOBE[::-1]), "where", encoding="WKB", crs=mercator)
    both = both.append_column("latitude", pa.array(LATITUDE)).append_column("longitude", pa.array(LONGITUDE))
    assert_the_three_fixes(typed(way, both)[0])


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"encoding": "WKB", "crs": {"id": {"authority": "EPSG", "code": 2056}}}, "not degrees of WGS 84"),
        ({"encoding": "WKB", "crs": {"name": "somewhere"}}, "not degrees of WGS 84"),
        ({"encoding": "WKB", "crs": 4326}, "not degrees of WGS 84"),
        ({"encoding": "polygon"}, "encoded as 'polygon'; only points are read"),
        ({"crs": None}, "malformed GeoParquet"),
    ],
)
def test_other_geometries_are_refused(some_way, said, why):
    with pytest.raises(UnusableFileError, match=why):
        raw(some_way, points(pa.array(GLOBE), "where", **said))


@pytest.mark.parametrize("geo", ["", "x", "[]", "3", '{"primary_column": []}', "[" * 100_000, '{"columns":{}}', "\xff"])
def test_what_geoparquet_says_may_be_anything(geo):
    rows = points(pa.array(GLOBE), "where").replace_schema_metadata({"geo": geo})
    for way in (WAYS["parquet"], WAYS["arrow file"]):
        with pytest.raises(UnusableFileError, match=r"malformed GeoParquet|it lacks latitude .*; longitude"):
            raw(way, rows)


def test_columns_may_have_any_name_that_the_user_gives(way):
    read, write = way
    odd = pa.table({"who": ["a", "b", "a"], "moment": SECONDS, "north": LATITUDE, "east": LONGITUDE, "lat": [0.0] * 3})
    names = {"user_id": "who", "tracked_at": "moment", "latitude": "north", "longitude": "east"}
    content = write(odd)
    assert_the_three_fixes(sifted(read(io.BytesIO(content), names))[0])
    with pytest.raises(UnusableFileError, match="no column 'west' for longitude; its columns are who, moment"):
        list(read(io.BytesIO(content), names | {"longitude": "west"}))
    where = points(pa.array(GLOBE), "where").append_column("lat", pa.array([0.0] * 3))
    assert_the_three_fixes(sifted(read(io.BytesIO(write(where)), {"geometry": "where"}))[0])


# files that cannot be used


def test_missing_columns_are_told_with_what_is_known_and_what_was_found(way):
    with pytest.raises(
        UnusableFileError, match=r"it lacks tracked_at \(known as tracked_at, .*\); its columns are moment,"
    ):
        raw(way, pa.table({"moment": SECONDS, "lat": LATITUDE, "lon": LONGITUDE}))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("latitude", [True, False, True]),
        ("latitude", [[1.0], [2.0], [3.0]]),
        ("tracked_at", pa.array([1, 2, 3], pa.duration("s"))),
        ("tracked_at", [None, None, None]),
        ("user_id", [["a"], ["b"], ["a"]]),
        ("user_id", pa.array([b"x" * 65] * 3, pa.binary(65))),
    ],
)
def test_a_column_of_another_kind_is_refused_by_name(some_way, column, values):
    with pytest.raises(UnusableFileError, match=f"its column '{column}' cannot be the {column}"):
        raw(some_way, table(**{column: values}))


def test_two_columns_of_one_name_are_refused():
    twice = pa.table([*table().columns, pa.array(LATITUDE)], names=[*table().column_names, "latitude"])
    for way in (WAYS["parquet"], WAYS["arrow file"]):
        with pytest.raises(UnusableFileError, match="two columns with the name 'latitude'"):
            raw(way, twice)


def test_no_rows_give_no_rows(way):
    read, write = way
    assert sum(map(len, read(io.BytesIO(write(table().slice(0, 0)))))) == 0


def test_a_stream_without_a_way_back_is_held_in_memory_up_to_a_bound(way, monkeypatch):
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

        def seek(self, *_):
            raise io.UnsupportedOperation

    read, write = way
    content = write(table())
    assert_the_three_fixes(sifted(read(Pipe(content)))[0])
    monkeypatch.setattr(columnar, "HELD", len(content) - 1)
    with pytest.raises(UnusableFileError, match="unpack it first"):
        list(read(Pipe(content)))


def test_the_files_are_told_by_their_first_bytes():
    for read, write in WAYS.values():
        head = write(table())[: 1 << 16]
        assert (looks_like_parquet(head), looks_like_arrow(head)) == (read is read_parquet, read is read_arrow)
    for head in (b"", b"PAR", b"ARROW", b"\xff" * 4, b"\xff" * 99, b"\0" * 99, CSV.encode()):
        assert not looks_like_parquet(head)
        assert not looks_like_arrow(head)


@settings(max_examples=30)
@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=8) | st.none(),
            st.datetimes(datetime(1970, 1, 1), datetime(2099, 12, 31)) | st.none(),
            st.floats() | st.none(),
            st.floats(-180, 180),
        ),
        max_size=8,
    ),
    name=st.sampled_from(sorted(WAYS)),
    points_in_one_column=st.booleans(),
)
def test_a_table_round_trip(rows, name, points_in_one_column):
    users, times, ys, xs = zip(*rows, strict=True) if rows else ((), (), (), ())
    columns = {"user_id": pa.array(users, pa.string()), "tracked_at": pa.array(times, pa.timestamp("us"))}
    if points_in_one_column:
        globe = [None if y is None else well_known(x, y) for x, y in zip(xs, ys, strict=True)]
        written = pa.table({**columns, "geometry": pa.array(globe, pa.binary())})
        xs = tuple(np.nan if y is None else x for x, y in zip(xs, ys, strict=True))
    else:
        written = pa.table({**columns, "y": pa.array(ys, pa.float64()), "x": pa.array(xs, pa.float64())})
    read, write = WAYS[name]
    found = pd.concat([pd.DataFrame(columns=["user_id"]), *read(io.BytesIO(write(written)))])
    assert [None if pd.isna(user) else user for user in found["user_id"]] == list(users)
    if rows:
        assert [None if pd.isna(time) else time.to_pydatetime() for time in found["tracked_at"]] == list(times)
        np.testing.assert_array_equal(found["latitude"].to_numpy(dtype=float), np.array(ys, dtype=float))
        np.testing.assert_array_equal(found["longitude"].to_numpy(dtype=float), np.array(xs, dtype=float))
