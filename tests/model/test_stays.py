"""Stays: long enough at one place, whatever the sampling, the noise and the silences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.errors import SizeError
from hideseek.model.regions import in_space, on_ground
from hideseek.model.stays import REACH, moments_of, stays_of
from hideseek.traces.city import city_people, synthetic_city

START = pd.Timestamp("2024-03-04T08:00:00Z")
METRE = 1 / 111_195  # degrees of latitude, to within a few in a thousand


def fixes(*rows, user="anna"):
    """A table of (minute, metres north of 46.5 north); a third number ends a stretch of time."""
    table = pd.DataFrame(
        {
            "user_id": user,
            "tracked_at": [START + pd.Timedelta(minutes=row[0]) for row in rows],
            "latitude": [46.5 + row[1] * METRE for row in rows],
            "longitude": 6.5,
        }
    )
    if any(len(row) > 2 for row in rows):
        table["finished_at"] = [START + pd.Timedelta(minutes=row[2] if len(row) > 2 else row[0]) for row in rows]
    return table


def found(*rows, **names):
    """The stays as (first minute, minute of the end, metres north), to five minutes and to ten metres."""
    stays = stays_of(moments_of(fixes(*rows, **names)))
    first = START.timestamp() // 300
    north = (on_ground(stays.centre)[:, 0] - 46.5) / METRE
    return [
        (5 * int(start - first), 5 * int(end - first), round(metres, -1))
        for start, end, metres in zip(stays.start, stays.end, north, strict=True)
    ]


def test_twenty_minutes_at_one_place_are_a_stay_and_fifteen_are_not():
    assert found(*((minute, 0) for minute in range(20))) == [(0, 20, 0)]
    assert found(*((minute, 0) for minute in range(15))) == []


def test_a_person_who_walks_on_does_not_stay():
    assert found(*((minute, 80 * minute) for minute in range(120))) == []


def test_two_places_with_a_way_between_are_two_stays():
    there = [(minute, 0) for minute in range(30)]
    way = [(30 + minute, 300 * minute) for minute in range(10)]
    back = [(40 + minute, 3000) for minute in range(30)]
    assert found(*there, *way, *back) == [(0, 30, 0), (40, 70, 3000)]


def test_a_wild_fix_and_wild_minutes_do_not_end_a_stay():
    steady = [(minute, 0) for minute in range(60)]
    assert found(*((m, 50_000 if m == 30 else d) for m, d in steady)) == [(0, 60, 0)]
    assert found(*((m, 50_000 if 30 <= m < 40 else d) for m, d in steady)) == [(0, 60, 0)]
    assert found(*((m, 50_000 if 30 <= m < 45 else d) for m, d in steady)) == [(0, 30, 0)]


def test_a_silence_of_a_night_belongs_to_the_stay_and_one_of_a_day_does_not():
    assert found((0, 0), (9 * 60, 20)) == [(0, 545, 10)]
    assert found((0, 0), (24 * 60, 20)) == []


def test_an_hour_elsewhere_that_was_seen_once_is_not_skipped():
    assert found((0, 0), (60, 9_000), (120, 9_000), (180, 0)) == [(60, 125, 9000)]


def test_a_stretch_of_time_is_a_stay_however_short():
    assert found((0, 0, 12)) == [(0, 15, 0)]
    assert found((0, 0, 600), (700, 5_000)) == [(0, 600, 0)]
    assert found((1, 0, 3), (60, 9_000)) == [(0, 5, 0)]


@pytest.mark.parametrize(("end", "moments"), [(0, 1), (5, 1), (10, 2), (10 + 1e-6 / 60, 3), (120, 24), (121, 25)])
def test_a_stretch_fills_its_moments_until_its_end_and_not_the_next(end, moments):
    assert len(moments_of(fixes((0, 0, end)))) == moments


def test_people_do_not_stay_for_each_other():
    both = pd.concat([fixes((0, 0), (5, 0), user="anna"), fixes((10, 0), (15, 0), user="bob")])
    assert len(stays_of(moments_of(both))) == 0


def test_stretches_of_a_hundred_thousand_years_are_refused():
    table = fixes(*((minute, 0, minute) for minute in range(2)))
    ages = pd.concat([table.assign(finished_at=table["tracked_at"] + pd.Timedelta(days=366))] * 50_000)
    with pytest.raises(SizeError):
        moments_of(ages)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 7]))
def test_noise_and_sampling_do_not_hide_a_stay(seed, every):
    rng = np.random.default_rng(seed)
    minutes = np.arange(0, 120, every)
    noise = np.clip(rng.normal(0, 30, len(minutes)), -100, 100)
    ((start, end, north),) = found(*zip(minutes.tolist(), noise.tolist(), strict=True))
    assert start == 0
    assert end >= 115
    assert abs(north) <= 60


def test_stays_of_a_synthetic_person_are_where_the_person_lives_and_goes():
    (anna,) = city_people(people=1, seed=3)
    moments = moments_of(synthetic_city(people=1, days=7, seed=3))
    stays = stays_of(moments)
    true = np.array([(place.latitude, place.longitude) for place in (anna.home, anna.work, *anna.leisure)])
    away = np.linalg.norm(stays.centre[:, :, None] - in_space(*true.T)[:, None, :], axis=0).min(axis=1)
    assert (away < 30).all()  # a few times the errors of its GPS: 4 m and 2 m
    spread = np.linalg.norm(moments.point - stays.centre[:, stays.of], axis=0)[stays.of >= 0]
    assert spread.max() <= 2 * REACH


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_points_come_back_from_space(latitude, longitude):
    back = on_ground(in_space(np.array([latitude]), np.array([longitude])))
    np.testing.assert_allclose(in_space(*back.T), in_space(np.array([latitude]), np.array([longitude])), atol=1e-6)
