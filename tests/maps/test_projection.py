"""The projection and the scale, held against pyproj; the script of the page, held against Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from pyproj import Geod, Transformer

from hideseek.maps import projection as module
from hideseek.maps.projection import UNIT, Projection, metres_per_world

EARTH = Geod(ellps="WGS84")
AROUND_THE_EQUATOR = 2 * np.pi * 6_378_137.0
LATITUDES = np.array([-84.9, -60.0, -33.9, 0.0, 12.5, 45.0, 46.52, 70.0, 85.0])
SCRIPT = Path(module.__file__).with_name("geometry.js")


def test_the_world_is_that_of_web_mercator():
    longitudes = np.linspace(-179, 179, len(LATITUDES))
    east, north = Transformer.from_crs(4326, 3857, always_xy=True).transform(longitudes, LATITUDES)
    world = Projection(0.0, 0.0).world(LATITUDES, longitudes)
    assert world[:, 0] == pytest.approx(0.5 + east / AROUND_THE_EQUATOR, abs=1e-12)
    assert world[:, 1] == pytest.approx(0.5 - north / AROUND_THE_EQUATOR, abs=1e-12)


@pytest.mark.parametrize("latitude", LATITUDES)
def test_the_scale_is_the_geodesic_from_west_to_east(latitude):
    east = 1e-3  # degrees
    _, _, metres = EARTH.inv(0.0, latitude, east, latitude)
    # the geodesic is shorter than the parallel by the square of the angle: far less than the tolerance
    assert metres_per_world(latitude) * east / 360 == pytest.approx(metres, rel=1e-8)


def test_positions_are_kept_to_the_unit():
    around = Projection.around(np.array([46.5, 46.6]), np.array([6.5, 6.7]))
    latitudes, longitudes = np.array([46.51234, 46.58765]), np.array([6.51234, 6.68765])
    back = np.array(around.origin) + around.units(latitudes, longitudes) * UNIT
    assert np.abs(back - around.world(latitudes, longitudes)).max() <= UNIT / 2 * (1 + 1e-6)


def test_what_lies_across_the_date_line_stays_beside_it():
    latitudes, longitudes = np.array([-17.0, -17.0]), np.array([179.9, -179.9])
    points = Projection.around(latitudes, longitudes).units(latitudes, longitudes)
    _, _, metres = EARTH.inv(179.9, -17.0, -179.9, -17.0)
    assert np.ptp(points[:, 0]) * UNIT * metres_per_world(-17.0) == pytest.approx(metres, rel=1e-4)


def test_the_middle_of_one_point_is_the_point():
    around = Projection.around(np.array([46.5]), np.array([6.5]))
    assert (around.latitude, around.longitude) == (46.5, 6.5)


def test_the_poles_stand_at_the_edge_of_the_world():
    world = Projection(0.0, 0.0).world(np.array([90.0, -90.0]), np.array([0.0, 0.0]))
    assert world[:, 1] == pytest.approx([0.0, 1.0], abs=1e-9)


def in_script(expression):
    """What the script of the page computes."""
    program = f"{SCRIPT.read_text()}\nconsole.log(JSON.stringify({expression}))"
    return json.loads(subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True).stdout)


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node runs the script of the page")


@needs_node
def test_the_script_has_the_same_scale_and_turns_the_projection_back():
    given = LATITUDES.tolist()
    assert in_script(f"{given}.map(metresPerWorld)") == pytest.approx([metres_per_world(one) for one in given])
    world = Projection(0.0, 0.0).world(LATITUDES, LATITUDES)
    assert in_script(f"{world[:, 1].tolist()}.map(latitudeOf)") == pytest.approx(given)
    assert in_script(f"{world[:, 0].tolist()}.map(longitudeOf)") == pytest.approx(given)
    assert in_script("longitudeOf(1.25)") == pytest.approx(-90)


@needs_node
@pytest.mark.parametrize("zoom", range(2, 23))
def test_the_scale_bar_is_true_and_round_at_every_zoom(zoom):
    metres_per_pixel = metres_per_world(46.5) / (256 * 2**zoom)
    bar = in_script(f"scaleBar({metres_per_pixel!r}, 130)")
    assert bar["pixels"] * metres_per_pixel == pytest.approx(bar["metres"])
    assert 130 / 2.5 <= bar["pixels"] <= 130 * (1 + 1e-9)
    assert f"{bar['metres']:e}"[0] in "125"
    number, unit = bar["words"].split()
    assert float(number) * {"km": 1000, "m": 1, "cm": 0.01}[unit] == pytest.approx(bar["metres"])
