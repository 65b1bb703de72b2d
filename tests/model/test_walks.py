"""Traces become one place per step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hideseek import MarkovProfile
from hideseek.errors import SizeError
from hideseek.model.profile import regions_of
from hideseek.model.walks import walks_through
from tests.support.walks import LINE, walk


def test_only_the_first_fix_of_a_step_counts():
    fast = walk([0, 3, 1, 3, 0, 3], step="150s")
    profile = MarkovProfile.fit(fast, LINE)
    np.testing.assert_allclose(regions_of(profile).centres[:, 1], [0, 1])


def test_gaps_are_bridged_by_closing_and_interrupt_without():
    gapped = [0, 1, 0, None, None, 2, 0, 1]
    closed = MarkovProfile.fit(walk(gapped), LINE)
    np.testing.assert_allclose(closed.transition[0], [0, 2 / 3, 1 / 3])
    returning = [0, 1, 2, 1, 0, None, 2, 1, 0]
    open_ended = MarkovProfile.fit(walk(returning), LINE, close=False)
    np.testing.assert_allclose(open_ended.transition, [[0, 1, 0], [2 / 3, 0, 1 / 3], [0, 1, 0]])


def by_step(rows, minutes):
    """The place of LINE in every step, as a loop over all steps and rows finds it: the first row in time that is in."""
    found = {}
    for step in range(24 * 60 // minutes):
        begin, end = step * minutes, (step + 1) * minutes
        inside = [row for row in sorted(rows) if row[0] < end and (row[0] >= begin or row[1] > begin)]
        if inside:
            found[step] = inside[0][2]
    return found


def as_table(rows):
    day = pd.Timestamp("2024-01-01", tz="UTC")
    begun, ended, place = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "user_id": "a",
            "tracked_at": day + pd.to_timedelta(begun, unit="min"),
            "finished_at": day + pd.to_timedelta(ended, unit="min"),
            "latitude": 0.0,
            "longitude": [float(at) for at in place],
        }
    )


def steps_in(table, minutes=10):
    visited, walks = walks_through(table, LINE, f"{minutes}min", "test")
    day = int(pd.Timestamp("2024-01-01", tz="UTC").timestamp()) // (60 * minutes)
    return [
        {int(moment) - day: visited[at] for at, moment in zip(place, moments, strict=True)} for place, moments in walks
    ]


def test_a_stretch_fills_every_step_until_its_end():
    assert steps_in(as_table([(0, 30, 1), (30, 30, 2), (55, 61, 3)])) == [{0: 1, 1: 1, 2: 1, 3: 2, 5: 3, 6: 3}]


@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.integers(0, 400), st.integers(0, 3)),
        min_size=2,
        max_size=12,
        unique_by=lambda row: row[0],
    )
)
def test_stretches_that_overlap_give_what_a_loop_over_the_steps_gives(rows):
    rows = [(begun, begun + long, place) for begun, long, place in rows]
    wanted = by_step(rows, 10)
    assume(len(set(wanted.values())) > 1)
    assert steps_in(as_table(rows)) == [wanted]


def test_stretches_of_one_person_say_nothing_of_another():
    rows = [(0, 100, 0), (100, 120, 1)]
    both = pd.concat([as_table(rows), as_table([(50, 60, 1), (70, 80, 0)]).assign(user_id="b")])
    assert steps_in(both) == [by_step(rows, 10), {5: 1, 7: 0}]


def test_stretches_of_millennia_are_refused_before_they_are_filled():
    year = as_table([(0, 366 * 24 * 60, 0)])
    table = pd.concat([year.assign(user_id=str(number)) for number in range(7000)])
    with pytest.raises(SizeError, match=r"traces.* steps,"):
        walks_through(table, LINE, "1s", "test")
