"""Points to regions and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod, Transformer
from scipy.spatial import KDTree

from hideseek import Grid, Hexagons, ParameterError, Places
from hideseek.errors import MissingExtraError
from hideseek.model import distances
from hideseek.model import regions as module
from hideseek.model.geodesy import plane
from hideseek.model.regions import in_space

BAY = Grid(south=37.55, north=37.85, west=-122.55, east=-122.10, rows=10, columns=25)
MANY = Places(
    np.random.default_rng(0).uniform(-80, 80, 60).tolist(), np.random.default_rng(1).uniform(-180, 180, 60).tolist()
)


@pytest.mark.parametrize("regions", [BAY, MANY, Hexagons.around(BAY.centres[:, 0], BAY.centres[:, 1], resolution=7)])
def test_every_centre_lies_in_its_own_region(regions):
    latitude, longitude = regions.centres.T
    assert regions.locate(latitude, longitude).tolist() == list(range(len(regions)))
    assert regions.nearest(latitude, longitude).tolist() == list(range(len(regions)))


@given(st.floats(37.55, 37.85), st.floats(-122.55, -122.10))
def test_a_point_in_the_grid_lies_within_its_cell_s_outline(latitude, longitude):
    (cell,) = BAY.locate(latitude, longitude)
    low, high = BAY.outlines[cell].min(axis=0), BAY.outlines[cell].max(axis=0)
    assert (low <= np.array([latitude, longitude]) + 1e-9).all()
    assert (np.array([latitude, longitude]) <= high + 1e-9).all()


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_the_nearest_place_is_the_geodesic_one(latitude, longitude):
    (found,) = MANY.locate(latitude, longitude)
    geod = Geod(ellps="WGS84")
    metres = geod.inv(np.full(60, longitude), np.full(60, latitude), MANY.centres[:, 1], MANY.centres[:, 0])[2]
    # straight lines through the Earth and ways along it may disagree where two places are equally far, to 0.5 %
    assert metres[found] <= metres.min() * 1.005


@pytest.mark.parametrize("regions", [replace(BAY), replace(MANY), Hexagons.around(*BAY.centres.T, resolution=7)])
def test_one_point_is_compared_with_every_centre_and_finds_what_many_find(regions):
    latitudes, longitudes = np.random.default_rng(2).uniform([[-90], [-180]], [[90], [180]], (2, 500))
    found = [regions.nearest(*point).tolist() for point in zip(latitudes, longitudes, strict=True)]
    assert found == regions.nearest(latitudes, longitudes)[:, None].tolist()


def test_points_in_space_are_those_of_a_library_of_geodesy():
    latitudes, longitudes = np.random.default_rng(3).uniform([[-90], [-180]], [[90], [180]], (2, 500))
    to_space = Transformer.from_crs("EPSG:4979", "EPSG:4978", always_xy=True)
    expected = to_space.transform(longitudes, latitudes, np.zeros(500))
    np.testing.assert_allclose(in_space(latitudes, longitudes), expected, rtol=0, atol=1e-8)  # ten roundings of 1e7


@pytest.mark.parametrize("count", [1, 7, 300])
def test_the_nearest_places_are_those_of_a_search_tree(count):
    random = np.random.default_rng(count)
    places = Places(*random.uniform([[46], [6]], [[47], [8]], (2, count)))
    points = random.uniform([[45], [5]], [[48], [9]], (2, 2000))
    tree = KDTree(in_space(*places.centres.T).T)
    assert places.nearest(*points).tolist() == tree.query(in_space(*points).T)[1].tolist()


def test_the_date_line_is_no_wall():
    assert Places([0.0, 0.0], [179.9, 0.0]).locate([0.0], [-179.9]).tolist() == [0]


def test_outside_the_grid_is_nowhere_but_has_a_nearest_cell():
    assert BAY.locate([10.0, 37.86], [0.0, -122.3]).tolist() == [-1, -1]
    assert BAY.nearest([37.9], [-122.545]).tolist() == [9 * 25]
    corners = BAY.locate([37.55, 37.85, 37.55, 37.85], [-122.55, -122.55, -122.10, -122.10])
    assert corners.tolist() == [0, 225, 24, 249]


def test_keeping_some_renumbers_them_and_forgets_the_rest():
    kept = BAY.keep([30, 7])
    assert len(kept) == 2
    np.testing.assert_allclose(kept.centres, BAY.centres[[30, 7]])
    assert kept.locate(*BAY.centres[[7, 30, 8]].T).tolist() == [1, 0, -1]
    assert kept.keep([1]).locate(*BAY.centres[[7]].T).tolist() == [0]
    named = Places([1.0, 2.0, 3.0], [0.0, 0.0, 0.0], names=("a", "b", "c")).keep([2, 0])
    assert named.names == ("c", "a")
    assert named.latitudes == (3.0, 1.0)


def test_a_covering_grid_holds_every_fix():
    when = pd.to_datetime(["2024-01-01T00:00Z", "2024-01-01T00:01Z"])
    traces = pd.DataFrame({"user_id": "a", "tracked_at": when, "latitude": [1.0, 2.0], "longitude": [3.0, 5.0]})
    grid = Grid.covering(traces, rows=2, columns=3)
    assert grid.locate(traces["latitude"], traces["longitude"]).tolist() == [0, 5]
    assert len(Hexagons.covering(traces, resolution=5)) == 2


def test_distances_of_a_grid_cell():
    grid = Grid(0, 1, 0, 1, rows=1, columns=2)
    assert distances(grid)[0, 1] == pytest.approx(Geod(ellps="WGS84").inv(0.25, 0.5, 0.75, 0.5)[2])


@pytest.mark.parametrize(
    "regions",
    [
        BAY,
        Grid(60.0, 60.5, 24.0, 25.0, rows=4, columns=5),
        Grid(-34.1, -33.5, 150.5, 151.5, rows=4, columns=5),
        Places([0.0, 0.1], [179.9, -179.9]),
        Places([52.0, 52.3, 51.8], [179.5, -179.6, -179.9]),
    ],
)
def test_distances_on_the_plane_are_those_on_the_ground(regions):
    """To one in ten thousand, wherever the places lie; east is to the right, north is up."""
    points = plane(regions)
    away = np.linalg.norm(points[:, None] - points, axis=2)
    np.testing.assert_allclose(away, distances(regions), rtol=1e-4)
    latitude, longitude = regions.centres.T
    assert np.corrcoef(points[:, 1], latitude)[0, 1] > 0.99
    assert np.corrcoef(points[:, 0], longitude % 360)[0, 1] > 0.99


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grid(1, 0, 0, 1, rows=2, columns=2),
        lambda: Grid(0, 91, 0, 1, rows=2, columns=2),
        lambda: Grid(0, 1, 0, 200, rows=2, columns=2),
        lambda: Grid(np.nan, 1, 0, 1, rows=2, columns=2),
        lambda: Grid(0, 1, 0, 1, rows=0, columns=2),
        lambda: Grid(0, 1, 0, 1, rows=2, columns=2.5),
        lambda: BAY.locate([91.0], [0.0]),
        lambda: BAY.locate([np.nan], [0.0]),
        lambda: BAY.locate([1.0, 2.0], [0.0]),
        lambda: BAY.locate("here", [0.0]),
        lambda: Places([], []),
        lambda: Places([1.0, 1.0], [2.0, 2.0]),
        lambda: Places([1.0], [2.0], names=("a", "b")),
        lambda: Hexagons(("not a cell",)),
        lambda: Hexagons(()),
        lambda: Hexagons.around([0.0], [0.0], resolution=16),
    ],
)
def test_bad_regions_are_refused(make):
    with pytest.raises(ParameterError, match=r"The '.*' parameter of .* must be"):
        make()


def test_a_point_with_its_sides_confused_is_not_repeated_in_the_error():
    with pytest.raises(ParameterError, match=r"from -90 to 90\. Got another at position 1 instead") as caught:
        BAY.locate([37.7512, -122.3948], [-122.3948, 37.7512])
    assert "122.39" not in str(caught.value)


def test_hexagons_without_h3_say_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"pip install 'hideseek\[geo\]'"):
        Hexagons.around([0.0], [0.0], resolution=5)
