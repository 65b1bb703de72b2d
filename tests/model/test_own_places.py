"""Places from the person: home is one place, and the same fixes give the same places."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyproj import Geod

from hideseek import Grid, MarkovProfile, ParameterError, Places
from hideseek.model import Coverage, Disc, coverage, coverage_warnings, narrow_budget, places_of
from hideseek.model.own_places import RADIUS, widths_of
from hideseek.model.region_choice import square_cells
from hideseek.model.stay_map import tile_side
from hideseek.traces.city import city_people, synthetic_city
from tests.support.lives import METRE, commuter

GEOD = Geod(ellps="WGS84")
HOME, WORK = (46.52, 6.57), (46.55, 6.63)
SEED = 5
CITY = synthetic_city(people=3, days=21, seed=SEED)
PEOPLE = city_people(people=3, seed=SEED)


def metres(place, latitude, longitude):
    return GEOD.inv(place[1], place[0], longitude, latitude)[2]


def one_person(number):
    return CITY[CITY["user_id"] == f"person-{number:03d}"].reset_index(drop=True)


@pytest.mark.parametrize("number", range(3))
def test_home_and_work_of_synthetic_people_are_found_where_they_are(number):
    places = places_of(one_person(number))
    for name, true in (("home", PEOPLE[number].home), ("work", PEOPLE[number].work)):
        found = places.centres[places.names.index(name)]
        assert metres(found, true.latitude, true.longitude) < 20  # five times the slow error of the GPS


@pytest.mark.parametrize("number", range(3))
def test_people_have_15_to_40_places_and_nearly_all_fixes_lie_in_them(number):
    places = places_of(one_person(number))
    assert 15 <= len(places) <= 40
    assert coverage(one_person(number), places).outside < 0.02


@pytest.mark.parametrize("about", [10, 20, 60])
def test_the_number_of_places_follows_the_one_asked_for(about):
    assert 0.75 * about <= len(places_of(one_person(0), about=about)) <= 1.25 * about


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_nothing(seed):
    traces = one_person(1)
    assert places_of(traces.iloc[np.random.default_rng(seed).permutation(len(traces))]) == places_of(traces)


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 0.1), st.floats(0, 0.1))
def test_home_is_one_place_wherever_it_lies_on_the_grid(north, east):
    home = (HOME[0] + north, HOME[1] + east)
    traces = commuter(home=home, work=(home[0] + 0.03, home[1] + 0.06))
    places = places_of(traces)
    at_home = traces["tracked_at"].dt.hour < 7
    found = places.locate(traces["latitude"][at_home], traces["longitude"][at_home])
    assert set(found.tolist()) == {places.names.index("home")}


@pytest.mark.parametrize("home", [(-16.8, 180.0), (64.1, -21.9), (-54.8, -68.3), (78.2, 15.6), (0.0, 0.0)])
def test_home_is_found_anywhere_on_earth(home):
    work = (home[0] + 0.02, (home[1] + 0.05 + 180) % 360 - 180)
    traces = commuter(home=home, work=(home[0] + 0.02, home[1] + 0.05))
    places = places_of(traces, timezone="UTC")
    assert metres(places.centres[places.names.index("home")], *home) < 20
    assert metres(places.centres[places.names.index("work")], *work) < 20


def test_hours_are_those_of_the_person_s_clock():
    """The night of Greenwich is the working day of Tokyo."""
    traces = commuter(home=HOME, work=WORK, utc="+09:00")
    local = places_of(traces, timezone="Asia/Tokyo")
    assert metres(local.centres[local.names.index("home")], *HOME) < 20
    assert metres(local.centres[local.names.index("work")], *WORK) < 20
    elsewhere = places_of(traces, timezone="UTC")
    assert metres(elsewhere.centres[elsewhere.names.index("home")], *WORK) < 20


@pytest.mark.parametrize("finest", ["150m", "400m", "2km", 50.0])
def test_nothing_is_finer_than_asked(finest):
    width = {"150m": 150, "400m": 400, "2km": 2000, 50.0: 50}[finest]
    places = places_of(one_person(0), finest=finest, about=60)
    assert min(map(tile_side, places.tiles)) >= width
    assert min(2 * disc.radius for disc in places.discs) >= width
    assert widths_of(places).min() >= 0.88 * width  # of a disc, the square as large is narrower: sqrt(pi) / 2


def test_cells_are_smaller_where_the_person_is_more_often():
    """A hundred ways through one quarter of a city, and one through each of the others."""
    rng = np.random.default_rng(1)
    often = rng.uniform([46.5, 6.5], [46.53, 6.54], (2_000, 2))
    seldom = rng.uniform([46.7, 6.8], [46.73, 6.84], (20, 2))
    points = np.vstack([often, seldom])
    times = pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(5 * np.arange(len(points)), unit="min")
    traces = pd.DataFrame({"user_id": "a", "tracked_at": times, "latitude": points[:, 0], "longitude": points[:, 1]})
    places = places_of(traces)
    sides = np.array([tile_side(places.tiles[place]) for place in places.locate(*points.T) - len(places.discs)])
    assert np.median(sides[:2000]) < np.median(sides[2000:])


@dataclass(frozen=True)
class Clinic:
    """What the command line makes of ``clinic=46.535,6.6``, by its attributes."""

    name: str = "clinic"
    latitude: float = 46.535
    longitude: float = 6.6
    weight: float = 5.0
    radius: float = 300.0


def test_a_sensitive_place_is_a_place_of_its_own_whether_visited_or_not():
    traces = commuter(home=HOME, work=WORK)
    clinic, never = Clinic(), Clinic("court", latitude=46.6, longitude=6.9, radius=80.0)
    places = places_of(traces, sensitive=(clinic, never))
    assert places.names[:4] == ("clinic", "court", "home", "work")
    rng = np.random.default_rng(2)
    points = np.array([46.535, 6.6]) + rng.uniform(-290, 290, (200, 2)) / np.sqrt(2) * METRE
    assert set(places.locate(*points.T).tolist()) == {0}
    assert places.discs[1].radius == 80.0


def test_home_within_a_sensitive_place_is_that_place():
    places = places_of(commuter(home=HOME, work=WORK), sensitive=(Clinic("shelter", *HOME),))
    assert places.names[:2] == ("shelter", "work")


def test_somebody_who_never_moves_has_a_home_and_nothing_else():
    places = places_of(commuter(home=HOME, work=HOME))
    assert places.names == ("home",)


def test_one_fix_is_one_cell():
    traces = commuter(home=HOME, work=WORK).iloc[:1]
    assert places_of(traces).names == ("cell 1",)


def test_fixes_at_the_pole_and_in_the_last_year_are_taken():
    traces = commuter(home=(89.9, 0.0), work=(89.9, 0.0))
    later = traces.assign(
        tracked_at=pd.Timestamp("2099-01-03T00:00:00Z") + (traces["tracked_at"] - traces["tracked_at"][0])
    )
    assert places_of(later).names == ("home",)
    wandering = pd.DataFrame(
        {
            "user_id": "a",
            "tracked_at": pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(np.arange(0, 600, 10), unit="min"),
            "latitude": 90 - np.arange(60) / 100,
            "longitude": 10.0,
        }
    )
    with pytest.raises(ParameterError, match="on the map"):
        places_of(wandering)


@pytest.mark.parametrize(
    "wrong",
    [{"about": 1}, {"about": 1001}, {"finest": "0m"}, {"finest": "wide"}, {"finest": -1.0}, {"timezone": "Mars/Base"}],
)
def test_what_cannot_be_asked_for_is_refused_by_name(wrong):
    with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}'"):
        places_of(one_person(0), **wrong)


def test_a_profile_is_learned_over_the_places_of_the_person():
    traces = one_person(2)
    places = places_of(traces)
    profile = MarkovProfile.fit(traces, places)
    assert profile.regions.names[0] == "home"
    assert profile.stationary.argmax() == 0


def test_the_discs_are_as_wide_as_they_are_said_to_be():
    disc = Disc("home", latitude=46.5, longitude=6.5, radius=RADIUS)
    places = replace(places_of(one_person(0)), discs=(disc,), tiles=())
    assert widths_of(places) == pytest.approx([RADIUS * np.sqrt(np.pi)], rel=0.01)  # a polygon of 32 corners


def test_coverage_counts_what_is_there():
    grid = Grid(46.5, 46.6, 6.5, 6.6, rows=10, columns=5)
    traces = commuter(home=(46.51, 6.51), work=(46.51, 6.7), days=7, noise=0.0)
    covered = coverage(traces, grid)
    east = traces["longitude"] > 6.6
    assert covered.outside == pytest.approx(east.mean())
    assert (covered.places, covered.days, covered.hours, covered.fixes) == (50, 7, 7 * 24, 7 * 288)
    height, width = (GEOD.inv(6.5, 46.5, *to)[2] for to in ((6.5, 46.51), (6.52, 46.5)))
    assert covered.median == pytest.approx(np.sqrt(height * width), rel=1e-3)
    assert covered.smallest <= covered.median <= covered.largest
    assert str(covered).startswith("50 places, about 1.3 km wide; ")


def test_points_have_no_width_and_no_warning_about_it():
    covered = coverage(commuter(home=HOME, work=WORK), Places([46.52, 46.55], [6.57, 6.63]))
    assert covered.median is None
    assert str(covered) == "2 places; 0 % of 4032 fixes outside; 336 hours on 14 days covered"
    assert narrow_budget(Places([46.52, 46.55], [6.57, 6.63]), 1.0) == []


@pytest.mark.parametrize(("budget", "told"), [("199m", 1), ("201m", 0), (199.0, 1), ("0.5km", 0)])
def test_a_budget_far_below_the_width_of_a_place_is_told(budget, told):
    kilometres = square_cells(46.5, 46.6, 6.5, 6.6, size=1000.0)
    assert len(narrow_budget(kilometres, budget)) == told


@pytest.mark.parametrize(("days", "told"), [(1, True), (6, True), (7, False)])
def test_too_few_days_are_told(days, told):
    covered = Coverage(30, smallest=200.0, median=1000.0, largest=5e3, fixes=9, outside=0.0, hours=9.0, days=days)
    assert any("too few" in sentence for sentence in coverage_warnings(covered)) == told
