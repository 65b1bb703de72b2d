"""Places: grids, arbitrary points, hexagons. A region has a number, a centre and an outline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from hideseek.errors import MissingExtraError, broken_rule
from hideseek.util.arrays import FloatArray, IntArray, blocks, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import numbered, whole_number
from hideseek.util.limits import refuse_if_too_large

if TYPE_CHECKING:
    import pandas as pd

EQUATOR, FLATTENING = 6_378_137.0, 1 / 298.257223563  # metres, and the ellipsoid's shape (WGS84)


class Regions(Protocol):
    """A finite set of places, numbered from 0."""

    def __len__(self) -> int:
        """How many."""
        ...

    @property
    def centres(self) -> FloatArray:
        """Latitude and longitude of every centre, [place, 2]."""
        ...

    @property
    def outlines(self) -> list[FloatArray]:
        """The corners (latitude, longitude) of every place; a single point where it has no shape."""
        ...

    def locate(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The place that holds each point, -1 where none does."""
        ...

    def nearest(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The place whose centre is nearest to each point."""
        ...

    def keep(self, places: Iterable[int]) -> Regions:
        """Only these places, renumbered in this order."""
        ...


class ByCentre:
    """What every kind of region has from its centres."""

    centres: FloatArray

    def __len__(self) -> int:
        return len(self.centres)

    @cached_property
    def _in_space(self) -> FloatArray:
        return in_space(self.centres[:, 0], self.centres[:, 1])

    def nearest(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The place whose centre is nearest to each point, the first of several.

        A point is compared with every centre, so that the time this takes on a device reveals nothing of where it is; a
        search tree takes up to hundreds of times longer for what is far away.
        """
        points = in_space(*checked_points(latitude, longitude, type(self).__name__))
        index = np.empty(points.shape[1], np.int64)
        for own in blocks(len(index), len(self)):
            x, y, z = ((here[own, None] - centre) ** 2 for here, centre in zip(points, self._in_space, strict=True))
            index[own] = (x + y + z).argmin(axis=1)
        return index


@checked
@dataclass(frozen=True, repr=False)
class Grid(ByCentre):
    """Equal cells between latitudes and longitudes, numbered from the south-west, row by row to the north.

    Parameters
    ----------
    south, north, west, east : float
        The edges, in degrees (WGS84).
    rows, columns : int
        How many cells there are from south to north, and from west to east.
    kept : tuple of int, optional
        The cells that are places, in the order of their numbers; by default all.

    Examples
    --------
    >>> grid = Grid(south=37.55, north=37.85, west=-122.55, east=-122.10, rows=10, columns=25)
    >>> len(grid), grid.locate([37.56, 40.0], [-122.54, -122.3]).tolist()
    (250, [0, -1])
    """

    south: float
    north: float
    west: float
    east: float
    _: KW_ONLY
    rows: int
    columns: int
    kept: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        edges = (self.south, self.north, self.west, self.east)
        if not all(isinstance(edge, int | float | np.number) for edge in edges):
            raise broken_rule("south, north, west, east", "Grid", "numbers of degrees", edges)
        for low, high, limit, names in (
            (self.south, self.north, 90, "south and north"),
            (self.west, self.east, 180, "west and east"),
        ):
            if not (-limit <= low < high <= limit):
                raise broken_rule(names, "Grid", f"degrees with {-limit} <= low < high <= {limit}", (low, high))
        for name in ("rows", "columns"):
            object.__setattr__(self, name, whole_number(getattr(self, name), name, "Grid"))
        what = f"A grid of {self.rows} x {self.columns} cells"
        refuse_if_too_large(64 * self.rows * self.columns, what, parameter="rows, columns")
        for name in ("south", "north", "west", "east"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @classmethod
    def covering(cls, traces: pd.DataFrame, *, rows: int, columns: int) -> Grid:
        """The smallest grid that holds every fix, with a thousandth of a degree to spare.

        >>> from hideseek.traces.city import synthetic_city
        >>> len(Grid.covering(synthetic_city(people=1, days=1), rows=4, columns=5))
        20
        """
        from hideseek.traces.table import check_traces  # a device needs no traces

        traces = check_traces(traces, "Grid.covering")
        low = traces[["latitude", "longitude"]].min() - 1e-3
        high = traces[["latitude", "longitude"]].max() + 1e-3
        return cls(
            max(low["latitude"], -90), min(high["latitude"], 90), max(low["longitude"], -180),
            min(high["longitude"], 180), rows=rows, columns=columns,
        )  # fmt: skip

    def __repr__(self) -> str:
        box = ", ".join(f"{name}={getattr(self, name):g}" for name in ("south", "north", "west", "east"))
        kept = "" if self.kept is None else f", {len(self.kept)} cells kept"
        return f"Grid({box}, rows={self.rows}, columns={self.columns}{kept})"

    @cached_property
    def _cells(self) -> IntArray:
        return np.arange(self.rows * self.columns) if self.kept is None else np.array(self.kept, dtype=np.int64)

    @cached_property
    def centres(self) -> FloatArray:  # type: ignore[override]
        """Latitude and longitude of every centre, [place, 2]."""
        row, column = np.divmod(self._cells, self.columns)
        latitude = self.south + (row + 0.5) * (self.north - self.south) / self.rows
        longitude = self.west + (column + 0.5) * (self.east - self.west) / self.columns
        centres: FloatArray = np.c_[latitude, longitude]
        return frozen(centres)

    @property
    def outlines(self) -> list[FloatArray]:
        """The four corners of every cell."""
        half = np.array([(self.north - self.south) / self.rows, (self.east - self.west) / self.columns]) / 2
        square = np.array([[-1, -1], [-1, 1], [1, 1], [1, -1]]) * half
        return [centre + square for centre in self.centres]

    def locate(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The cell that holds each point, -1 where none does; the north and east edges belong to the grid."""
        latitudes, longitudes = checked_points(latitude, longitude, "Grid")
        row = np.floor((latitudes - self.south) / (self.north - self.south) * self.rows).astype(np.int64)
        column = np.floor((longitudes - self.west) / (self.east - self.west) * self.columns).astype(np.int64)
        row[latitudes == self.north] = self.rows - 1
        column[longitudes == self.east] = self.columns - 1
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        number = np.full(self.rows * self.columns, -1)
        number[self._cells] = np.arange(len(self._cells))
        return np.where(inside, number[np.where(inside, row * self.columns + column, 0)], -1)

    def keep(self, places: Iterable[int]) -> Grid:
        """Only these cells, renumbered in this order."""
        return replace(self, kept=tuple(int(cell) for cell in self._cells[kept(places, len(self), "Grid.keep")]))


@checked
@dataclass(frozen=True, repr=False)
class Places(ByCentre):
    """Arbitrary points; every location belongs to the nearest one.

    Parameters
    ----------
    latitudes, longitudes : sequence of float
        The points, in degrees (WGS84), none twice.
    names : tuple of str, optional
        What they are called.

    Examples
    --------
    >>> Places([46.52, 46.53], [6.57, 6.58], names=("home", "work")).locate([46.521], [6.571]).tolist()
    [0]
    """

    latitudes: Sequence[float]
    longitudes: Sequence[float]
    names: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        latitudes, longitudes = checked_points(self.latitudes, self.longitudes, "Places")
        if not len(latitudes):
            raise broken_rule("latitudes", "Places", "at least one place", "none")
        if len(np.unique(np.c_[latitudes, longitudes], axis=0)) < len(latitudes):
            raise broken_rule("latitudes and longitudes", "Places", "different places", "one of them twice")
        object.__setattr__(self, "latitudes", tuple(latitudes.tolist()))
        object.__setattr__(self, "longitudes", tuple(longitudes.tolist()))
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        if self.names and len(self.names) != len(latitudes):
            raise broken_rule("names", "Places", f"{len(latitudes)} names, or none", len(self.names))

    def __repr__(self) -> str:
        return f"Places({len(self)} {'named ' if self.names else ''}places)"

    @cached_property
    def centres(self) -> FloatArray:  # type: ignore[override]
        """Latitude and longitude of every place, [place, 2]."""
        centres: FloatArray = np.c_[self.latitudes, self.longitudes]
        return frozen(centres)

    @property
    def outlines(self) -> list[FloatArray]:
        """Points have no shape: one corner each."""
        return [centre[None, :] for centre in self.centres]

    def locate(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The nearest place: every point has one."""
        return self.nearest(latitude, longitude)

    def keep(self, places: Iterable[int]) -> Places:
        """Only these places, renumbered in this order."""
        index = kept(places, len(self), "Places.keep")
        latitudes, longitudes = self.centres[index].T
        return Places(latitudes, longitudes, names=tuple(self.names[k] for k in index) if self.names else ())


@checked
@dataclass(frozen=True, repr=False)
class Hexagons(ByCentre):
    """H3 cells (extra ``geo``).

    Parameters
    ----------
    cells : tuple of str
        The cells by their H3 names, all of one resolution.

    Examples
    --------
    >>> hexagons = Hexagons.around([46.52, 46.53], [6.57, 6.58], resolution=8)
    >>> hexagons.locate([46.52, 0.0], [6.57, 0.0]).tolist()
    [0, -1]
    """

    cells: tuple[str, ...]

    def __post_init__(self) -> None:
        h3 = h3_library()
        object.__setattr__(self, "cells", tuple(map(str, self.cells)))
        if not self.cells or len(set(self.cells)) < len(self.cells) or not all(map(h3.is_valid_cell, self.cells)):
            raise broken_rule("cells", "Hexagons", "different valid H3 cells, at least one", self.cells[:3])
        if len({h3.get_resolution(cell) for cell in self.cells}) > 1:
            raise broken_rule("cells", "Hexagons", "cells of one resolution", "several")

    def __repr__(self) -> str:
        return f"Hexagons({len(self.cells)} cells of the resolution {h3_library().get_resolution(self.cells[0])})"

    @classmethod
    def around(cls, latitude: npt.ArrayLike, longitude: npt.ArrayLike, *, resolution: int) -> Hexagons:
        """The cells of a resolution (0 to 15) that hold these points."""
        h3 = h3_library()
        if whole_number(resolution, "resolution", "Hexagons.around", least=0) > 15:
            raise broken_rule("resolution", "Hexagons.around", "an integer from 0 to 15", resolution)
        points = zip(*checked_points(latitude, longitude, "Hexagons.around"), strict=True)
        return cls(tuple(dict.fromkeys(h3.latlng_to_cell(*point, resolution) for point in points)))

    @classmethod
    def covering(cls, traces: pd.DataFrame, *, resolution: int) -> Hexagons:
        """The cells of a resolution that hold at least one fix."""
        from hideseek.traces.table import check_traces

        traces = check_traces(traces, "Hexagons.covering")
        return cls.around(traces["latitude"], traces["longitude"], resolution=resolution)

    @cached_property
    def centres(self) -> FloatArray:  # type: ignore[override]
        """Latitude and longitude of every centre, [place, 2]."""
        return frozen(np.array([h3_library().cell_to_latlng(cell) for cell in self.cells], dtype=np.float64))

    @property
    def outlines(self) -> list[FloatArray]:
        """The corners of every hexagon."""
        return [np.array(h3_library().cell_to_boundary(cell)) for cell in self.cells]

    def locate(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The cell that holds each point, -1 where none does."""
        h3 = h3_library()
        number = {cell: k for k, cell in enumerate(self.cells)}
        resolution = h3.get_resolution(self.cells[0])
        points = zip(*checked_points(latitude, longitude, "Hexagons"), strict=True)
        return np.array([number.get(h3.latlng_to_cell(*point, resolution), -1) for point in points], dtype=np.int64)

    def keep(self, places: Iterable[int]) -> Hexagons:
        """Only these cells, renumbered in this order."""
        return Hexagons(tuple(self.cells[k] for k in kept(places, len(self), "Hexagons.keep")))


def kept(places: Iterable[int], count: int, owner: str) -> IntArray:
    """Numbers of places that there are."""
    index = np.array(list(places), dtype=np.int64)
    numbered(index, count, "places", owner)
    return index


def reach(regions: Regions) -> float:
    """How far from the nearest centre a point still belongs to the map, in metres: twice the size of the largest place.

    The size of a place is the distance from its centre to its farthest corner, or to the centre of the nearest other
    place if that is further, as a point has no corners, and a map may have holes.

    >>> round(reach(Places([46.52, 46.53], [6.57, 6.57])))  # 1,112 m apart
    2223
    """
    centres = in_space(*regions.centres.T).T
    sizes = []
    for number, (centre, outline) in enumerate(zip(centres, regions.outlines, strict=True)):
        corners = np.linalg.norm(in_space(*outline.T).T - centre, axis=1)
        others = np.linalg.norm(np.delete(centres, number, axis=0) - centre, axis=1)
        sizes.append(max(corners.max(), others.min(initial=np.inf)))
    return 2 * float(max(sizes))


def in_space(latitudes: FloatArray, longitudes: FloatArray) -> FloatArray:
    """Points on the ellipsoid as x, y, z in metres, [axis, point].

    What is near there is near on the ground, also across the date line.
    """
    phi, lam = np.radians(latitudes), np.radians(longitudes)
    eccentricity = FLATTENING * (2 - FLATTENING)  # squared
    radius = EQUATOR / np.sqrt(1 - eccentricity * np.sin(phi) * np.sin(phi))  # of curvature, east to west
    return np.stack(
        [
            radius * np.cos(phi) * np.cos(lam),
            radius * np.cos(phi) * np.sin(lam),
            radius * (1 - eccentricity) * np.sin(phi),
        ]
    )


def on_ground(points: FloatArray) -> FloatArray:
    """Latitude and longitude of points near the ellipsoid, [point, 2]: the inverse of :func:`in_space`."""
    x, y, z = points
    eccentricity = FLATTENING * (2 - FLATTENING)  # squared
    degrees: FloatArray = np.degrees(np.c_[np.arctan2(z, (1 - eccentricity) * np.hypot(x, y)), np.arctan2(y, x)])
    return degrees


def checked_points(latitude: npt.ArrayLike, longitude: npt.ArrayLike, owner: str) -> tuple[FloatArray, FloatArray]:
    """Latitudes and longitudes of equal number, in range."""
    sides = []
    for name, value, limit in (("latitude", latitude, 90.0), ("longitude", longitude, 180.0)):
        rule = f"numbers from {-limit:g} to {limit:g}"
        try:
            array = np.atleast_1d(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError, OverflowError):
            raise broken_rule(name, owner, rule, type(value).__name__) from None
        wrong = ~(np.abs(array) <= limit)
        if array.ndim != 1 or wrong.any():  # where, and not which: with the two confused it is a true location
            got = f"another at position {wrong.argmax()}" if array.ndim == 1 else f"the shape {array.shape}"
            raise broken_rule(name, owner, rule, got)
        sides.append(array)
    if len(sides[0]) != len(sides[1]):
        raise broken_rule("longitude", owner, f"{len(sides[0])} numbers, one per latitude", len(sides[1]))
    return sides[0], sides[1]


def h3_library() -> Any:
    """The h3 package, if it is installed."""
    try:
        return import_module("h3")
    except ImportError:
        raise MissingExtraError("Hexagons need the h3 package: pip install 'hideseek[geo]'.") from None
