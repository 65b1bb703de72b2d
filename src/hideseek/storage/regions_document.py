"""Regions as plain data, for files."""

from __future__ import annotations

from typing import Annotated

import msgspec

from hideseek.errors import broken_rule
from hideseek.model.regions import Grid, Hexagons, Places, Regions
from hideseek.model.stay_map import Disc, StayMap

LARGEST_GRID = 10**7
OWNER = "a file"  # what the parts belong to that break a rule
TileNumber = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


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


class StayMapDocument(msgspec.Struct, tag="stays", forbid_unknown_fields=True):
    """Discs, tiles as zoom, column and row, and which of them are places."""

    names: list[str]
    latitudes: list[float]
    longitudes: list[float]
    radii: list[float]
    tiles: list[tuple[TileNumber, TileNumber, TileNumber]]
    kept: list[int]


RegionsDocument = GridDocument | PlacesDocument | HexagonsDocument | StayMapDocument


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
        case StayMap():
            every = range(len(regions.discs) + len(regions.tiles)) if regions.kept is None else regions.kept
            return StayMapDocument(
                [disc.name for disc in regions.discs],
                [disc.latitude for disc in regions.discs],
                [disc.longitude for disc in regions.discs],
                [disc.radius for disc in regions.discs],
                list(regions.tiles),
                list(every),
            )
    rule = "a Grid, Places, Hexagons or StayMap: others have no format"
    raise broken_rule("regions", OWNER, rule, type(regions).__name__)


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
        case StayMapDocument():
            columns = (document.names, document.latitudes, document.longitudes, document.radii)
            if len({len(column) for column in columns}) > 1:
                raise broken_rule("stays", OWNER, "discs with a name, a centre and a radius each", "others")
            discs = tuple(
                Disc(name, latitude=latitude, longitude=longitude, radius=radius)
                for name, latitude, longitude, radius in zip(*columns, strict=True)
            )
            return StayMap(discs, tuple(document.tiles), kept=tuple(document.kept))
