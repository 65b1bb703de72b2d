"""Which regions somebody asks for, in words that can be written down before there are traces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hideseek.errors import broken_rule
from hideseek.model.own_places import ABOUT, MOST, SensitiveArea, places_of
from hideseek.model.regions import EQUATOR, FLATTENING, Grid, Hexagons, Regions
from hideseek.util.checks import whole_number
from hideseek.util.lengths import metres

if TYPE_CHECKING:
    import pandas as pd

ROWS, COLUMNS = 10, 25  # the paper's
LEAST_CELL = 1.0  # metres
FINEST = 15  # resolution of H3
EARTH = (-90.0, 90.0, -180.0, 180.0)


@dataclass(frozen=True, kw_only=True)
class RegionChoice:
    """One way to cut the map into places, for any traces: a ``grid`` of rows and columns, square cells of the size
    ``cell``, hexagons of the resolution ``h3``, given ``places``, or ``about`` so many places by the stays and ways of
    the person (:func:`hideseek.model.places_of`), which are taken where nothing is said.

    ``box`` (south, north, west, east) says where a grid or cells lie, by default around the traces; alone it means a
    grid of 10 x 25.

    >>> RegionChoice(h3=8, cell="500m")
    Traceback (most recent call last):
    hideseek.errors.ParameterError: The 'grid, cell, h3, places, about' parameter of the map must be given one at a
    time. Got cell, h3 instead.
    """

    grid: tuple[int, int] | None = None
    cell: str | float | None = None
    box: tuple[float, float, float, float] | None = None
    h3: int | None = None
    places: Regions | None = None
    about: int | None = None

    def __post_init__(self) -> None:
        """Refuse now what would be refused for any traces."""
        owner, kinds = "the map", ("grid", "cell", "h3", "places", "about")
        said = [name for name in kinds if getattr(self, name) is not None]
        if len(said) > 1:
            raise broken_rule(", ".join(kinds), owner, "given one at a time", ", ".join(said))
        if self.box is not None and set(said) & {"h3", "places", "about"}:
            raise broken_rule("box", owner, "given for a grid or for cells", f"one for {said[0]}")
        rows, columns = self.grid or (ROWS, COLUMNS)
        Grid(*(self.box or EARTH), rows=rows, columns=columns)
        if self.cell is not None and metres(self.cell, "cell", owner) < LEAST_CELL:
            raise broken_rule("cell", owner, f"a length of {LEAST_CELL:g} m or more", self.cell)
        if self.h3 is not None and whole_number(self.h3, "h3", owner, least=0) > FINEST:
            raise broken_rule("h3", owner, f"a resolution from 0 to {FINEST}", self.h3)
        if self.about is not None:
            whole_number(self.about, "places_about", owner, least=2, most=MOST)

    @property
    def by_stays(self) -> bool:
        """Whether the places are those that the person stays at, and cells between."""
        return all(getattr(self, name) is None for name in ("grid", "cell", "box", "h3", "places"))

    def regions(
        self, traces: pd.DataFrame, *, timezone: str | None = None, sensitive: Sequence[SensitiveArea] = ()
    ) -> Regions:
        """The regions for these traces; the time zone and the sensitive places matter where it is by stays.

        >>> from hideseek.traces.city import synthetic_city
        >>> RegionChoice(grid=(2, 3)).regions(synthetic_city(people=1, days=1)).columns
        3
        """
        if self.by_stays:
            return places_of(traces, about=self.about or ABOUT, timezone=timezone, sensitive=sensitive)
        if self.places is not None:
            return self.places
        if self.h3 is not None:
            return Hexagons.covering(traces, resolution=self.h3)
        rows, columns = self.grid or (ROWS, COLUMNS)
        if self.cell is None and self.box is not None:
            return Grid(*self.box, rows=rows, columns=columns)
        around = Grid.covering(traces, rows=rows, columns=columns)
        if self.cell is None:
            return around
        box = self.box or (around.south, around.north, around.west, around.east)
        return square_cells(*box, size=metres(self.cell, "cell", "the map"))


PAPER = RegionChoice(grid=(ROWS, COLUMNS))


def square_cells(south: float, north: float, west: float, east: float, *, size: float) -> Grid:
    """Cells of ``size`` by ``size`` metres from the south-west corner of a box on, until they cover it.

    Their sides are right at the middle latitude of the box; further north cells are narrower.

    >>> grid = square_cells(46.5, 46.6, 6.5, 6.7, size=1000.0)
    >>> grid.rows, grid.columns
    (12, 16)
    """
    middle = math.radians((south + north) / 2)
    squared = FLATTENING * (2 - FLATTENING)  # eccentricity of the ellipsoid
    bent = 1 - squared * math.sin(middle) ** 2
    up = EQUATOR * (1 - squared) / bent**1.5 * math.radians(1)  # metres per degree to the north, and to the east
    across = EQUATOR / math.sqrt(bent) * max(math.cos(middle), 1e-6) * math.radians(1)
    rows, columns = math.ceil((north - south) * up / size), math.ceil((east - west) * across / size)
    top, right = south + rows * size / up, west + columns * size / across
    return Grid(south, min(top, 90.0), west, min(right, 180.0), rows=rows, columns=columns)
