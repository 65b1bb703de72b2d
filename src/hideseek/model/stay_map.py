"""The places of one person: discs where the person stays, and tiles of the map for the ways between them.

Tiles are those of web maps: tile 0/0/0 is the world in Mercator's projection, and each has four half as wide inside.
They do not depend on the person, so that other days of the same person give mostly the same tiles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.model.regions import EQUATOR, ByCentre, checked_points, in_space, kept, on_ground
from hideseek.util.arrays import FloatArray, IntArray, blocks, frozen
from hideseek.util.boundary import checked
from hideseek.util.checks import numbered, scalar

DEEPEST = 24  # zoom: tiles of two metres at the equator
CORNERS = 32  # of the outline of a disc
POLE = 86.0  # degrees, just past the edge of the projection

Tile = tuple[int, int, int]  # zoom, column from the west, row from the north


@checked
@dataclass(frozen=True)
class Disc:
    """All points within some metres of one.

    Parameters
    ----------
    name : str
        What the place is called.
    latitude, longitude : float
        The centre, in degrees (WGS84).
    radius : float
        Metres, > 0.

    Examples
    --------
    >>> Disc("home", latitude=46.52, longitude=6.57, radius=150.0).name
    'home'
    """

    name: str
    _: KW_ONLY
    latitude: float
    longitude: float
    radius: float

    def __post_init__(self) -> None:
        (latitude,), (longitude,) = checked_points(self.latitude, self.longitude, "Disc")
        radius = scalar(self.radius, "radius", "Disc", "a number of metres > 0", least=np.finfo(float).tiny)
        for name, value in (("latitude", latitude), ("longitude", longitude), ("radius", radius)):
            object.__setattr__(self, name, float(value))


@checked
@dataclass(frozen=True, repr=False)
class StayMap(ByCentre):
    """Discs, and tiles of the map around them.

    Places are numbered in this order. A point belongs to the first disc that holds it, else to the tile that does.

    Parameters
    ----------
    discs : tuple of Disc
        Where the person stays.
    tiles : tuple of (zoom, column, row)
        Tiles of the map, none inside another.
    kept : tuple of int, optional
        The discs and tiles that are places, in the order of their numbers; by default all.

    Examples
    --------
    >>> home = Disc("home", latitude=46.52, longitude=6.57, radius=150.0)
    >>> stays = StayMap((home,), ((12, 2122, 1448), (12, 2123, 1448)))
    >>> stays.names, stays.locate([46.52, 46.53, 0.0], [6.57, 6.55, 0.0]).tolist()
    (('home', 'cell 1', 'cell 2'), [0, 1, -1])
    """

    discs: tuple[Disc, ...]
    tiles: tuple[Tile, ...]
    _: KW_ONLY
    kept: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        tiles = tuple((int(zoom), int(column), int(row)) for zoom, column, row in self.tiles)
        for zoom, column, row in tiles:
            if not (0 <= zoom <= DEEPEST and 0 <= column < 2**zoom and 0 <= row < 2**zoom):
                raise broken_rule("tiles", "StayMap", f"tiles of the zooms 0 to {DEEPEST}", "one that does not exist")
        known = set(tiles)
        within = (parent in known for tile in tiles for parent in ancestors(tile))
        if len(known) < len(tiles) or any(within):
            raise broken_rule("tiles", "StayMap", "tiles of which none lies in another", "others")
        object.__setattr__(self, "discs", tuple(self.discs))
        object.__setattr__(self, "tiles", tiles)
        if self.kept is not None:  # one way to say that all are
            some = tuple(map(int, self.kept))
            object.__setattr__(self, "kept", None if some == tuple(range(len(self.discs) + len(tiles))) else some)
        if not len(self._all):
            raise broken_rule("discs and tiles", "StayMap", "at least one place", "none")
        numbered(self._all, len(self.discs) + len(tiles), "kept", "StayMap")
        if len(np.unique(self._all)) < len(self._all):
            raise broken_rule("kept", "StayMap", "numbers of which none stands there twice", "others")

    def __repr__(self) -> str:
        some = "" if self.kept is None else f", {len(self.kept)} kept"
        return f"StayMap({len(self.discs)} discs, {len(self.tiles)} tiles{some})"

    @cached_property
    def _all(self) -> IntArray:
        """The number among all discs and tiles of every place."""
        every = len(self.discs) + len(self.tiles)
        return np.arange(every) if self.kept is None else np.array(self.kept, dtype=np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """What every place is called: stays by their names, cells by numbers."""
        every = [disc.name for disc in self.discs] + [f"cell {k + 1}" for k in range(len(self.tiles))]
        return tuple(every[k] for k in self._all)

    @property
    def is_stay(self) -> npt.NDArray[np.bool_]:
        """Which places are stays, [place]; the others are cells."""
        return self._all < len(self.discs)

    @cached_property
    def centres(self) -> FloatArray:  # type: ignore[override]
        """Latitude and longitude of every centre, [place, 2]."""
        discs = np.array([(disc.latitude, disc.longitude) for disc in self.discs]).reshape(-1, 2)
        corners = np.array([tile_corners(tile) for tile in self.tiles]).reshape(-1, 2, 2)
        return frozen(np.vstack([discs, corners.mean(axis=1)])[self._all])

    @property
    def outlines(self) -> list[FloatArray]:
        """The corners of every place; those of a tile include the discs in it."""
        return [
            around(self.discs[k]) if k < len(self.discs) else square(self.tiles[k - len(self.discs)]) for k in self._all
        ]

    def locate(self, latitude: npt.ArrayLike, longitude: npt.ArrayLike) -> IntArray:
        """The place that holds each point, -1 where none does.

        A point is compared with every disc and every tile, so that the time this takes on a device reveals nothing.
        """
        latitudes, longitudes = checked_points(latitude, longitude, "StayMap")
        points, (x, y) = in_space(latitudes, longitudes), projected(latitudes, longitudes)
        centre = in_space(*np.array([(disc.latitude, disc.longitude) for disc in self.discs]).reshape(-1, 2).T)
        radius = np.array([disc.radius for disc in self.discs])
        zoom, column, row = np.array(self.tiles, dtype=np.int64).reshape(-1, 3).T
        every = len(self.discs) + len(self.tiles)
        number = np.full(every + 1, -1)  # the last is for points that nothing holds
        number[self._all] = np.arange(len(self._all))
        found = np.empty(len(latitudes), np.int64)
        for own in blocks(len(found), every):
            away = ((points[:, own, None] - centre[:, None, :]) ** 2).sum(axis=0)
            in_column = np.floor(x[own, None] * 2.0**zoom) == column
            in_row = np.floor(y[own, None] * 2.0**zoom) == row
            holds = np.c_[away <= radius**2, in_column & in_row, np.ones(len(away), np.bool_)]
            found[own] = number[holds.argmax(axis=1)]
        return found

    def keep(self, places: Iterable[int]) -> StayMap:
        """Only these places, renumbered in this order; what the others held belongs to none."""
        return replace(self, kept=tuple(self._all[kept(places, len(self), "StayMap.keep")].tolist()))


def ancestors(tile: Tile) -> Iterable[Tile]:
    """The tiles that a tile lies in."""
    zoom, column, row = tile
    return ((up, column >> (zoom - up), row >> (zoom - up)) for up in range(zoom))


def projected(latitudes: FloatArray, longitudes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points on the tile 0/0/0, from 0 to 1 eastwards and southwards; beyond that near the poles."""
    sine = np.sin(np.radians(np.clip(latitudes, -POLE, POLE)))
    return (longitudes + 180) / 360 % 1, 0.5 - np.arctanh(sine) / (2 * np.pi)


def tile_corners(tile: Tile) -> FloatArray:
    """The south-western and the north-eastern corner: latitude and longitude, [corner, 2]."""
    zoom, column, row = tile
    x, y = np.array([column, column + 1]) / 2**zoom, np.array([row + 1, row]) / 2**zoom
    degrees: FloatArray = np.c_[np.degrees(np.arcsin(np.tanh(np.pi * (1 - 2 * y)))), 360 * x - 180]
    return degrees


def tile_side(tile: Tile) -> float:
    """The length of the shortest side of a tile, in metres.

    >>> round(tile_side((14, 8192, 8191)))
    2446
    """
    latitude = np.abs(tile_corners(tile)[:, 0]).max()
    return float(2 * np.pi * EQUATOR * np.cos(np.radians(latitude)) / 2 ** tile[0])


def square(tile: Tile) -> FloatArray:
    """The four corners of a tile."""
    (south, west), (north, east) = tile_corners(tile)
    return np.array([[south, west], [south, east], [north, east], [north, west]])


def around(disc: Disc) -> FloatArray:
    """Points on the edge of a disc."""
    phi, lam = np.radians([disc.latitude, disc.longitude])
    east = np.array([-np.sin(lam), np.cos(lam), 0.0])
    north = np.array([-np.sin(phi) * np.cos(lam), -np.sin(phi) * np.sin(lam), np.cos(phi)])
    centre = in_space(np.array([disc.latitude]), np.array([disc.longitude]))
    turn = 2 * np.pi * np.arange(CORNERS) / CORNERS
    return on_ground(centre + disc.radius * (np.outer(east, np.cos(turn)) + np.outer(north, np.sin(turn))))
