"""Discs and tiles: which place holds a point, against geodesics and the textbook formula of web maps."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

from hideseek import ParameterError
from hideseek.model import Disc, StayMap
from hideseek.model.stay_map import tile_side

GEOD = Geod(ellps="WGS84")
HOME = Disc("home", latitude=46.52, longitude=6.57, radius=200.0)
WORK = Disc("work", latitude=46.522, longitude=6.57, radius=400.0)  # 222 m to the north: the two overlap
TILES = ((13, 4245, 2897), (13, 4245, 2896), (12, 2123, 1448), (4, 9, 5))
MAP = StayMap((HOME, WORK), TILES)
NEAR = st.tuples(st.floats(46.45, 46.6), st.floats(6.45, 6.75))
ANYWHERE = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def place_by_hand(latitude, longitude):
    """The disc by its geodesic, the first of several, else the tile by the formula of OpenStreetMap's wiki."""
    for number, disc in enumerate((HOME, WORK)):
        metres = GEOD.inv(longitude, latitude, disc.longitude, disc.latitude)[2]
        if abs(metres - disc.radius) < 1e-3:
            return None  # an edge: straight lines and geodesics differ by less than this
        if metres < disc.radius:
            return number
    if abs(latitude) > 85.05:
        return -1
    for number, (zoom, column, row) in enumerate(TILES, start=2):
        phi = math.radians(latitude)
        x = (longitude + 180) / 360 * 2**zoom
        y = (1 - math.log(math.tan(phi) + 1 / math.cos(phi)) / math.pi) / 2 * 2**zoom
        if any(abs(value - round(value)) < 1e-9 for value in (x, y)):
            return None  # an edge again
        if (math.floor(x), math.floor(y)) == (column, row):
            return number
    return -1


@given(st.one_of(NEAR, ANYWHERE))
def test_a_point_is_located_as_by_hand(point):
    expected = place_by_hand(*point)
    if expected is not None:
        assert MAP.locate(*point).tolist() == [expected]


def test_many_points_are_located_as_one_by_one():
    points = np.random.default_rng(0).uniform([46.48, 6.52], [46.56, 6.66], (2000, 2))
    together = MAP.locate(*points.T)
    assert together.tolist() == [int(MAP.locate(*point)[0]) for point in points]
    assert set(together) == {-1, 0, 1, 2, 3, 4}


def test_discs_go_before_tiles_and_earlier_discs_before_later_ones():
    between = (46.521, 6.57)  # 111 m from both centres
    assert MAP.locate(*between).tolist() == [0]
    assert StayMap((WORK, HOME), TILES).locate(*between).tolist() == [0]
    assert MAP.names == ("home", "work", "cell 1", "cell 2", "cell 3", "cell 4")


@pytest.mark.parametrize("latitude", [-90.0, -86.0, 86.0, 90.0])
def test_the_poles_are_on_no_tile(latitude):
    assert StayMap((), ((0, 0, 0),)).locate(latitude, 10.0).tolist() == [-1]


def test_the_date_line_is_one_line():
    fiji = StayMap((Disc("home", latitude=-16.8, longitude=180.0, radius=500.0),), ((5, 0, 17), (5, 31, 17)))
    assert fiji.locate([-16.8, -16.8], [-179.999, 179.999]).tolist() == [0, 0]
    assert fiji.locate([-17.0, -17.0], [180.0, -180.0]).tolist() == [1, 1]
    assert fiji.locate([-17.0], [179.9]).tolist() == [2]


def test_what_is_not_kept_belongs_to_none_and_the_rest_is_as_before():
    some = MAP.keep([3, 0, 4])
    points = np.random.default_rng(1).uniform([46.45, 6.45], [46.6, 6.75], (500, 2)).T
    new = {3: 0, 0: 1, 4: 2}
    assert some.locate(*points).tolist() == [new.get(place, -1) for place in MAP.locate(*points).tolist()]
    np.testing.assert_array_equal(some.centres, MAP.centres[[3, 0, 4]])
    assert some.names == ("cell 2", "home", "cell 3")
    assert some.is_stay.tolist() == [False, True, False]
    assert some.keep([2, 1]) == MAP.keep([4, 0])
    assert MAP.keep(range(6)) == MAP


def test_outlines_go_around_what_they_hold():
    for number in (0, 1):
        disc, corners = MAP.discs[number], MAP.outlines[number]
        size = len(corners)
        metres = GEOD.inv(corners[:, 1], corners[:, 0], [disc.longitude] * size, [disc.latitude] * size)[2]
        np.testing.assert_allclose(metres, disc.radius, rtol=1e-3)
    for number in (2, 3, 4, 5):
        corners = MAP.outlines[number]
        inwards = MAP.centres[number] + 0.999 * (corners - MAP.centres[number])
        without_discs = StayMap((), TILES)
        assert set(without_discs.locate(*inwards.T).tolist()) == {number - 2}


@pytest.mark.parametrize("tile", [(14, 8192, 8191), (13, 4245, 2897), (10, 163, 395), (6, 30, 50)])
def test_the_side_of_a_tile_is_its_shortest_on_the_ground(tile):
    corners = StayMap((), (tile,)).outlines[0]
    after = np.roll(corners, -1, axis=0)
    metres = GEOD.inv(corners[:, 1], corners[:, 0], after[:, 1], after[:, 0])[2]
    assert tile_side(tile) == pytest.approx(metres.min(), rel=0.01)  # Mercator's sphere is not the ellipsoid


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: StayMap((), ()),
        lambda: StayMap((HOME,), (), kept=()),
        lambda: StayMap((HOME,), (), kept=(0, 0)),
        lambda: StayMap((HOME,), (), kept=(1,)),
        lambda: StayMap((), ((25, 0, 0),)),
        lambda: StayMap((), ((3, 8, 0),)),
        lambda: StayMap((), ((3, 0, -1),)),
        lambda: StayMap((), ((3, 1, 1), (3, 1, 1))),
        lambda: StayMap((), ((3, 1, 1), (5, 5, 6))),
        lambda: Disc("x", latitude=91.0, longitude=0.0, radius=1.0),
        lambda: Disc("x", latitude=9.0, longitude=0.0, radius=0.0),
        lambda: Disc("x", latitude=9.0, longitude=0.0, radius=math.nan),
    ],
)
def test_places_that_cannot_be_are_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()


def test_a_device_can_use_it_without_large_packages():
    program = """
import sys
from hideseek.model.stay_map import Disc, StayMap
from hideseek.storage.documents import read_regions
from hideseek.storage.regions_document import regions_document
stays = StayMap((Disc("home", latitude=46.52, longitude=6.57, radius=200.0),), ((4, 8, 5),))
back = read_regions(regions_document(stays))
print(back.locate([46.52], [6.57]), back.nearest([46.52], [6.57]), back == stays)
print([name for name in ("pandas", "scipy", "pyproj", "matplotlib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[0] [0] True", "[]"]
