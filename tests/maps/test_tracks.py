"""Tracks: where lines are cut, how many points remain, and that they lie where the fixes were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyproj import Geod

from hideseek import synthetic_city
from hideseek.maps import tracks as module
from hideseek.maps.projection import UNIT, Projection
from hideseek.maps.tracks import tracks_of
from hideseek.traces import check_traces


def fixes(rows, user="me"):
    """Traces from (seconds, metres to the east) at the equator."""
    seconds, metres = np.array(rows, dtype=float).T
    return check_traces(
        pd.DataFrame(
            {
                "user_id": user,
                "tracked_at": pd.Timestamp("2026-01-05", tz="UTC") + pd.to_timedelta(seconds, unit="s"),
                "latitude": 0.0,
                "longitude": metres / 111_319.49,
            }
        ),
        "a test",
    )


def drawn(traces):
    return tracks_of(traces, Projection(0.0, 0.0))


def placed(line):
    """The points of a line, [point, 2], in units."""
    return np.cumsum(np.array(line[1]).reshape(-1, 2), axis=0)


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([(0, 0), (60, 500), (120, 1000)], 1),
        ([(0, 0), (60, 500), (3600, 5000), (3660, 5500)], 2),  # an hour without a fix, and elsewhere after it
        ([(0, 0), (60, 500), (3600, 510), (3660, 1000)], 1),  # an hour without a fix, and still there
        ([(0, 0), (60, 90_000), (120, 90_500)], 2),  # faster than any car
        ([(0, 0), (3600, 5000), (7200, 10_000), (10_800, 15_000)], 1),  # hourly fixes are no gaps among themselves
    ],
)
def test_a_line_is_cut_where_nothing_is_known_of_the_way(rows, lines):
    assert len(drawn(fixes(rows)).lines) == lines


def test_a_visit_is_no_gap():
    visit = fixes([(0, 0), (36_000, 2000), (36_060, 2500), (36_120, 3000)])
    assert len(drawn(visit).lines) == 2
    until = visit["tracked_at"].where(visit.index > 0, visit["tracked_at"] + pd.Timedelta("9h58min"))
    assert len(drawn(visit.assign(finished_at=until)).lines) == 1


def test_a_line_never_joins_two_people():
    both = pd.concat([fixes([(0, 0), (60, 400)], "a"), fixes([(90, 400), (150, 800)], "b")])
    found = drawn(check_traces(both, "a test"))
    assert sorted(person for person, _ in found.lines) == [0, 1]
    assert found.persons == ("a", "b")


def test_points_lie_where_the_fixes_were():
    traces = fixes([(0, 0), (60, 500), (120, 1000)])
    line = drawn(traces).lines[0]
    assert placed(line)[:, 0] * UNIT * 40_075_017 == pytest.approx([0, 500, 1000], abs=0.2)  # a unit is 15 cm


def test_the_length_is_that_of_the_geodesics():
    traces = synthetic_city(people=1, days=2, seed=4)
    found = tracks_of(traces, Projection.around(traces["latitude"].to_numpy(), traces["longitude"].to_numpy()))
    whole = Geod(ellps="WGS84").line_length(traces["longitude"], traces["latitude"])
    # Mercator is stretched by the ellipsoid, 0.2 % from north to south here; and jumps over gaps are not counted
    assert whole * 0.9 <= found.metres <= whole * 1.003


def test_long_traces_are_thinned_to_a_bounded_number_of_points():
    generator = np.random.default_rng(0)
    steps = generator.normal(0, 30, 250_000)
    traces = fixes(np.c_[np.arange(len(steps)) * 60.0, np.cumsum(steps) % 20_000])
    found = drawn(traces)
    assert found.fixes == len(steps)
    assert 10_000 < sum(len(line) // 2 for _, line in found.lines) <= module.MOST_POINTS


def test_more_lines_than_points_leave_out_the_shortest(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 5)
    apart = [(day * 86_400 + minute * 60, day * 5000 + minute * 300) for day in range(4) for minute in range(day + 1)]
    found = drawn(fixes(apart))
    assert sum(len(line) // 2 for _, line in found.lines) <= 5
    assert max(len(line) // 2 for _, line in found.lines) >= 2


def test_one_fix_is_a_point_alone():
    assert drawn(fixes([(0, 0)])).lines == ((0, (0, 0)),)
