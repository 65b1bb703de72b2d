"""Points in well-known binary, of every variant."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.traces.wkb import points_of
from tests.support.columnar_files import well_known

HEIGHT, MEASURE = 0x80000000, 0x40000000
LINE = struct.pack("<BIIdddd", 1, 2, 2, 1.0, 2.0, 3.0, 4.0)


def decoded(*values: bytes) -> list[list[float]]:
    ends = np.cumsum([0, *map(len, values)])
    return points_of(ends[:-1], ends[1:], np.frombuffer(b"".join(values), dtype=np.uint8)).tolist()


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False),
            st.floats(allow_nan=False),
            st.sampled_from("<>"),
            st.sampled_from([None, 0, 4326]),
            st.sampled_from([(1, 0), (1001, 1), (2001, 1), (3001, 2), (HEIGHT | 1, 1), (MEASURE | 1, 1)]),
        )
    )
)
def test_points_of_all_variants_are_decoded(points):
    values = []
    for x, y, order, system, (kind, more) in points:
        system = system if kind == 1 or kind > 10_000 else None  # only the extended form has one
        values.append(well_known(x, y, *[9.0] * more, kind=kind, order=order, system=system))
    assert decoded(*values) == [[x, y] for x, y, *_ in points]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\1",
        well_known(1, 2)[:-1],
        well_known(1, 2) + b"\0",
        well_known(1, 2, 3),
        well_known(1, 2, kind=1001),
        well_known(1, 2, kind=2),
        well_known(1, 2, kind=4001),
        well_known(1, 2, 3, kind=HEIGHT | 1001),
        well_known(1, 2, system=3857),
        b"\2" + well_known(1, 2)[1:],
        well_known(1, 2, order=">")[:1] + well_known(1, 2)[1:],
        LINE,
        well_known(np.nan, np.nan),
    ],
)
def test_what_is_no_point_is_missing_and_harms_no_other(value):
    good = well_known(6.5, 46.5)
    assert np.isnan(decoded(good, value, good)).tolist() == [[False] * 2, [True] * 2, [False] * 2]


@given(st.lists(st.binary(max_size=64)))
def test_any_bytes_are_points_or_missing(values):
    assert len(decoded(*values)) == len(values)
