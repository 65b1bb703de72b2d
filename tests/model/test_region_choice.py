"""Which regions are asked for: squares that are squares, and one way at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

from hideseek import Grid, ParameterError, Places, synthetic_city
from hideseek.model.own_places import places_of
from hideseek.model.region_choice import RegionChoice, square_cells

CITY = synthetic_city(people=1, days=1)
EARTH = Geod(ellps="WGS84")


@given(
    south=st.floats(-79, 79),
    west=st.floats(-179, 178),
    high=st.floats(0.02, 0.3),
    wide=st.floats(0.02, 0.3),
    size=st.floats(100, 5000),
)
def test_cells_are_square_on_the_ellipsoid_and_cover_the_box(south, west, high, wide, size):
    grid = square_cells(south, south + high, west, west + wide, size=size)
    assert grid.north >= south + high - 1e-12
    assert grid.east >= west + wide - 1e-12
    middle, up, right = south + high / 2, (grid.north - grid.south) / grid.rows, (grid.east - grid.west) / grid.columns
    # along the meridian and the parallel through the middle of the box; a cell is short against the Earth
    assert EARTH.inv(west, middle - up / 2, west, middle + up / 2)[2] == pytest.approx(size, rel=1e-4)
    assert EARTH.inv(west, middle, west + right, middle)[2] == pytest.approx(size, rel=1e-4)
    assert grid.rows - 1 < (high / up) + 1e-9
    assert grid.columns - 1 < (wide / right) + 1e-9


def test_nothing_said_is_where_the_person_stays():
    assert RegionChoice().regions(CITY) == places_of(CITY)
    assert RegionChoice(about=12).regions(CITY) == places_of(CITY, about=12)
    assert RegionChoice().by_stays
    assert not RegionChoice(h3=5).by_stays


def test_a_box_alone_is_a_grid_of_ten_by_twenty_five():
    box = (45.0, 45.1, -5.0, -4.8)
    assert RegionChoice(box=box).regions(CITY) == Grid(*box, rows=10, columns=25)


def test_every_way_gives_its_own_regions():
    here = Places([45.0], [-5.0])
    assert RegionChoice(places=here).regions(CITY) is here
    assert RegionChoice(grid=(2, 3)).regions(CITY) == Grid.covering(CITY, rows=2, columns=3)
    assert len(RegionChoice(h3=5).regions(CITY)) >= 1
    box = (45.0, 45.1, -5.0, -4.8)
    assert RegionChoice(cell="1km", box=box).regions(CITY) == square_cells(*box, size=1000.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid": (2, 3), "h3": 5},
        {"cell": 500.0, "places": Places([0.0], [0.0])},
        {"grid": (0, 3)},
        {"cell": "500"},
        {"cell": "-5m"},
        {"cell": float("nan")},
        {"cell": 0.1},
        {"h3": 16},
        {"h3": -1},
        {"box": (1.0, 0.0, 0.0, 1.0)},
        {"box": (0.0, 1.0, 0.0, 1.0), "h3": 5},
    ],
)
def test_what_no_traces_can_be_cut_by_is_refused_before_there_are_any(wrong):
    with pytest.raises(ParameterError, match=r"must be .* Got"):
        RegionChoice(**wrong)
