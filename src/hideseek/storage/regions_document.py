"""Regions as plain data, for files."""

from __future__ import annotations

from typing import Annotated

import msgspec

from hideseek.errors import broken_rule
from hideseek.model.regions import Grid, Hexagons, Places, Regions

LARGEST_GRID = 10**7
OWNER = "a file"  # what the parts belong to that break a rule


class GridDocument(msgspec.Struct, tag="grid", forbid_unknown_fields=True):
    """A grid and the cells it keeps."""

    south: float
    north: float
    west: float
    east: float
    rows: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    columns: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    kept: list[int]


class PlacesDocument(msgspec.Struct, tag="places", forbid_unknown_fields=True):
    """Points, with their names if they have any."""

    latitudes: list[float]
    longitudes: list[float]
    names: list[str]


class HexagonsDocument(msgspec.Struct, tag="hexagons", forbid_unknown_fields=True):
    """H3 cells."""

    cells: list[Annotated[str, msgspec.Meta(max_length=16)]]  # 64 bits as hexadecimal digits


RegionsDocument = GridDocument | PlacesDocument | HexagonsDocument


def regions_document(regions: Regions) -> RegionsDocument:
    """Regions as plain data."""
    match regions:
        case Grid():
            kept = range(regions.rows * regions.columns) if regions.kept is None else regions.kept
            return GridDocument(
                regions.south, regions.north, regions.west, regions.east, regions.rows, regions.columns, list(kept)
            )
        case Places():
            return PlacesDocument(list(regions.latitudes), list(regions.longitudes), list(regions.names))
        case Hexagons():
            return HexagonsDocument(list(regions.cells))
    raise broken_rule("regions", OWNER, "a Grid, Places or Hexagons: others have no format", type(regions).__name__)


def regions_from(document: RegionsDocument) -> Regions:
    """Regions from plain data."""
    match document:
        case GridDocument():
            cells = document.rows * document.columns
            if cells > LARGEST_GRID:
                raise broken_rule("grid", OWNER, f"one of at most {LARGEST_GRID} cells", f"{cells} cells")
            if len(set(document.kept)) < len(document.kept) or not all(0 <= cell < cells for cell in document.kept):
                raise broken_rule(
                    "grid", OWNER, "one that keeps no cell twice, and none that it does not have", "others"
                )
            grid = Grid(
                document.south,
                document.north,
                document.west,
                document.east,
                rows=document.rows,
                columns=document.columns,
            )
            return grid.keep(document.kept)
        case PlacesDocument():
            return Places(document.latitudes, document.longitudes, names=tuple(document.names))
        case HexagonsDocument():
            return Hexagons(tuple(document.cells))
