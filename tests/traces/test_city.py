"""The synthetic city keeps its promises: reproducible, well formed, and plausible as a life."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyproj import Geod

from hideseek.errors import ParameterError
from hideseek.traces.city import BOX, Person, city_people, synthetic_city

PEOPLE, DAYS, SEED = 12, 14, 5


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return synthetic_city(PEOPLE, days=DAYS, seed=SEED)


@pytest.fixture(scope="module")
def people() -> tuple[Person, ...]:
    return city_people(PEOPLE, seed=SEED)


def metres(lat_a, lon_a, lat_b, lon_b) -> np.ndarray:
    lat_a, lon_a, lat_b, lon_b = np.broadcast_arrays(lat_a, lon_a, lat_b, lon_b)
    return Geod(ellps="WGS84").inv(lon_a, lat_a, lon_b, lat_b)[2]


def distance_to(kind: str, fixes: pd.DataFrame, people: tuple[Person, ...]) -> np.ndarray:
    """Metres from every fix to its person's home or work."""
    places = {person.user_id: getattr(person, kind) for person in people}
    there = [places[name] for name in fixes["user_id"]]
    lat, lon = [place.latitude for place in there], [place.longitude for place in there]
    return metres(fixes["latitude"], fixes["longitude"], lat, lon)


def at_hours(table: pd.DataFrame, start: float, stop: float) -> pd.DataFrame:
    clock = table["tracked_at"].dt
    hour = clock.hour + clock.minute / 60
    return table[(hour >= start) & (hour < stop)]


def steps(table: pd.DataFrame) -> pd.DataFrame:
    """Seconds and metres from every fix to the next one of the same person."""
    after = table.groupby("user_id").shift(-1)
    moved = metres(table["latitude"], table["longitude"], after["latitude"], after["longitude"])
    seconds = (after["tracked_at"] - table["tracked_at"]).dt.total_seconds()
    return pd.DataFrame({"seconds": seconds, "metres": moved}).dropna()


def test_same_seed_gives_the_same_table(table):
    pd.testing.assert_frame_equal(table, synthetic_city(PEOPLE, days=DAYS, seed=SEED), check_exact=True)


def test_whole_numbers_of_numpy_are_as_good_as_those_of_python():
    wrapped = synthetic_city(np.int64(2), days=np.int32(1), seed=np.uint8(3))
    pd.testing.assert_frame_equal(wrapped, synthetic_city(2, days=1, seed=3), check_exact=True)


def test_another_seed_gives_another_city(people):
    others = city_people(PEOPLE, seed=SEED + 1)
    assert [person.home for person in people] != [other.home for other in others]
    one, other = synthetic_city(1, days=1, seed=SEED), synthetic_city(1, days=1, seed=SEED + 1)
    assert not one["latitude"].iloc[:500].equals(other["latitude"].iloc[:500])


def test_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()
    synthetic_city(1, days=1, seed=SEED)
    assert np.array_equal(before, np.random.get_state()[1])


@pytest.mark.parametrize("fewer", [1, 5])
def test_a_person_does_not_depend_on_how_many_people_there_are(table, people, fewer):
    ids = [f"person-{index:03d}" for index in range(fewer)]
    pd.testing.assert_frame_equal(
        synthetic_city(fewer, days=DAYS, seed=SEED), table[table["user_id"].isin(ids)], check_exact=True
    )
    assert city_people(fewer, seed=SEED) == people[:fewer]


def test_people_differ_from_each_other(table, people):
    assert len({person.home for person in people}) == PEOPLE
    medians = at_hours(table, 2, 4).groupby("user_id")["latitude"].median()
    assert medians.nunique() == PEOPLE


def test_popular_places_are_shared(people):
    visits = [place for person in people for place in person.leisure]
    assert len(set(visits)) < len(visits)
    assert len({person.work for person in people}) < PEOPLE


def test_table_has_the_projects_columns_in_utc(table):
    assert list(table.columns) == ["user_id", "tracked_at", "latitude", "longitude"]
    assert str(table["tracked_at"].dt.tz) == "UTC"
    assert table["latitude"].dtype == table["longitude"].dtype == np.float64
    assert all(isinstance(name, str) for name in table["user_id"].unique())
    assert table.index.equals(pd.RangeIndex(len(table)))
    assert not table.isna().any().any()


def test_fixes_are_sorted_by_person_and_time_without_duplicates(table):
    assert table["user_id"].is_monotonic_increasing
    assert (steps(table)["seconds"] > 0).all()
    assert not table.duplicated(["user_id", "tracked_at"]).any()


def test_names_stay_sorted_beyond_a_thousand_people():
    many = synthetic_city(1_002, days=1, seed=SEED)
    assert many["user_id"].is_monotonic_increasing
    assert many["user_id"].nunique() == 1_002


def test_fixes_stay_in_the_box(table):
    # The outermost streets lie a block or more inside, far beyond GPS noise: a grid over BOX loses nothing.
    assert table["latitude"].between(BOX.south, BOX.north).all()
    assert table["longitude"].between(BOX.west, BOX.east).all()


def test_box_is_eight_kilometres_wide_and_high():
    middle, centre = (BOX.south + BOX.north) / 2, (BOX.west + BOX.east) / 2
    sides = metres([BOX.south, middle], [centre, BOX.west], [BOX.north, middle], [centre, BOX.east])
    assert sides == pytest.approx([8_000, 8_000], rel=1e-3)


def test_nights_are_at_home(table, people):
    night = at_hours(table, 2, 4).copy()
    night["day"] = night["tracked_at"].dt.floor("D")
    medians = night.groupby(["user_id", "day"])[["latitude", "longitude"]].median().reset_index()
    assert len(medians) > 0.8 * PEOPLE * DAYS
    assert (distance_to("home", medians, people) < 100).all()


def test_days_start_and_end_at_home(table, people):
    midnight = pd.concat([at_hours(table, 23.9, 24), at_hours(table, 0, 0.1)])
    assert len(midnight) > 0
    assert (distance_to("home", midnight, people) < 100).all()


def test_afternoons_are_at_work_on_weekdays_and_elsewhere_at_weekends(table, people):
    afternoon = at_hours(table, 14.75, 16)  # lunch ends by 14:00 and the way back takes half an hour at most
    at_work = distance_to("work", afternoon, people) < 50
    weekend = (afternoon["tracked_at"].dt.day_of_week >= 5).to_numpy()
    assert at_work[~weekend].all()
    assert at_work[weekend].mean() < 0.1  # a favourite place may be at the same corner


def test_everybody_goes_out_at_weekends(table, people):
    weekend = table[table["tracked_at"].dt.day_of_week >= 5]
    away = pd.Series(distance_to("home", weekend, people) > 100).groupby(weekend["user_id"].to_numpy()).mean()
    assert len(away) == PEOPLE
    assert away.between(0.01, 0.7).all()


def test_nobody_breaks_the_speed_limit(table):
    # The fastest drive is 9 m/s + 20 %; noise adds less than 1 m/s to a step of at least 20 s. The limit in town is
    # 50 km/h = 13.9 m/s, and must hold for every step, not only for most.
    step = steps(table)
    speed = step["metres"] / step["seconds"]
    assert speed.max() < 13.9
    moving = speed[speed > 1]
    assert len(moving) > 20 * PEOPLE * DAYS  # at least two trips of ten minutes a day, before gaps
    assert (moving > 3).mean() > 0.2  # not everybody walks


def test_moves_follow_the_streets(table):
    # A street runs north-south or east-west: apart from the minutes with a turn, a step keeps one coordinate to
    # within noise (sd of a difference of two fixes is below 6 m).
    after = table.groupby("user_id").shift(-1)
    seconds = (after["tracked_at"] - table["tracked_at"]).dt.total_seconds()
    north = metres(table["latitude"], table["longitude"], after["latitude"], table["longitude"])
    east = metres(table["latitude"], table["longitude"], table["latitude"], after["longitude"])
    moving = (seconds < 120) & (np.maximum(north, east) > 60)
    assert (np.minimum(north, east)[moving] < 20).mean() > 0.8


def test_gps_errs_by_a_few_metres(table, people):
    night = at_hours(table, 2, 4)
    error = distance_to("home", night, people)
    # Independent errors of 2 m and interpolated ones of 4 m per axis: the median distance is near 4.5 m.
    assert 3 < np.median(error) < 6
    assert error.max() < 40


def test_gps_errors_of_neighbouring_fixes_are_correlated(table):
    one = table[table["user_id"] == "person-000"]
    nights = at_hours(one, 1, 5)["latitude"]
    centred = (nights - nights.median()).to_numpy()
    assert 0.4 < np.corrcoef(centred[:-1], centred[1:])[0, 1] < 0.95


def test_fixes_come_about_once_a_minute_with_jitter(table):
    seconds = steps(table)["seconds"]
    assert 50 < seconds.median() < 70
    assert seconds[seconds < 120].std() > 5


def test_some_hours_are_lost_now_and_then(table):
    seconds = steps(table)["seconds"]
    assert (seconds > 3_600).sum() > PEOPLE * DAYS / 4
    assert 1_050 < len(table) / (PEOPLE * DAYS) < 1_350


def test_a_grid_profile_has_states_to_learn(table):
    # 8 x 8 cells at steps of five minutes; one sample per step.
    row = ((table["latitude"] - BOX.south) / (BOX.north - BOX.south) * 8).astype(int)
    column = ((table["longitude"] - BOX.west) / (BOX.east - BOX.west) * 8).astype(int)
    visits = table.assign(cell=8 * row + column, step=table["tracked_at"].dt.floor("5min"))
    cells = visits.groupby(["user_id", "step"])["cell"].first().groupby("user_id")
    assert 12 <= cells.nunique().median() <= 25
    assert cells.apply(lambda cell: (cell.diff().fillna(0) != 0).sum()).min() > 3 * DAYS
    assert (cells.apply(lambda cell: cell.value_counts(normalize=True).iloc[:2].sum()) > 0.6).all()


@pytest.mark.parametrize(
    ("parameter", "value", "least"),
    [
        ("people", 0, 1),
        ("people", -3, 1),
        ("days", 0, 1),
        ("seed", -1, 0),
    ],
)
def test_a_bad_argument_is_named_with_its_rule_and_value(parameter, value, least):
    expected = f"The '{parameter}' parameter of synthetic_city must be an integer >= {least}. Got {value} instead."
    with pytest.raises(ParameterError) as caught:
        synthetic_city(**{parameter: value})
    assert str(caught.value) == expected


@pytest.mark.parametrize(("parameter", "value"), [("people", 0), ("seed", -1), ("seed", None)])
def test_city_people_checks_its_arguments_too(parameter, value):
    with pytest.raises(ParameterError, match=f"'{parameter}' parameter of city_people"):
        city_people(**{parameter: value})
