"""Cells for the ways of a person: tiles of the map, small where the person often is and large elsewhere."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from hideseek.model.stay_map import DEEPEST, Tile, projected, tile_side
from hideseek.util.arrays import FloatArray, IntArray

COARSE = 2_400.0  # metres: a cell with few points is not shrunk below this, for the next way to be in it too
SLACK = 0.2  # how far the number of cells may be from the one asked for

Leaf = tuple[float, Tile, IntArray]  # minus its weight, the tile, and the points in it


def travel_cells(points: FloatArray, count: int, finest: float) -> tuple[Tile, ...]:
    """Tiles that hold all points, none narrower than ``finest`` metres.

    The tile with the largest weight, the number of its points times its side, is split first: that shrinks the
    distance between a person and the centre of the cell the most. It stops near ``count`` tiles, where the weight of
    the next one is the furthest below: a stop at the same number in the middle of equal weights would make the cells
    depend on chance.

    Parameters
    ----------
    points : (points, 2) float array
        Latitude and longitude, one point per unit of time.
    count : int
        About how many tiles.
    finest : float
        Metres.

    Returns
    -------
    tuple of (zoom, column, row)
        The tiles, in order.
    """
    x, y = projected(*points.T)
    inside = (y >= 0) & (y < 1)  # the poles are not on the map
    corner = np.floor(np.stack([x, y])[:, inside] * 2**DEEPEST).astype(np.int64)
    if not corner.size:
        return ()
    best: tuple[Tile, ...] = ()
    widest = 0.0
    for tiles, drop in refinements(corner, finest):
        if len(tiles) >= (1 - SLACK) * count or not np.isfinite(drop):
            if not best or (drop > widest and len(tiles) <= (1 + SLACK) * count):
                best, widest = tiles, drop
            if len(tiles) >= (1 + SLACK) * count:
                break
    return tuple(sorted(best))


def refinements(corner: IntArray, finest: float) -> Iterator[tuple[tuple[Tile, ...], float]]:
    """Finer and finer tiles, and how many times larger the last weight that was split is than the next one."""
    done: list[Tile] = []
    heap: list[Leaf] = [leaf((0, 0, 0), np.arange(corner.shape[1]), corner, finest)]
    last = -heap[0][0]
    while heap:
        weight, tile, own = heap[0]
        yield (*done, *(tile for _, tile, _ in heap)), last / -weight
        heapq.heappop(heap)
        children = split(tile, own, corner, finest)
        if not children:
            done.append(tile)
            continue
        last = min(last, -weight)
        for child, points in children:
            heapq.heappush(heap, leaf(child, points, corner, finest))
    yield tuple(done), np.inf


def leaf(tile: Tile, own: IntArray, corner: IntArray, finest: float) -> Leaf:
    """A tile with its weight, shrunk to the part that holds all of its points."""
    while tile_side(tile) > COARSE and len(children := split(tile, own, corner, finest)) == 1:
        tile = children[0][0]
    return -len(own) * tile_side(tile), tile, own


def split(tile: Tile, own: IntArray, corner: IntArray, finest: float) -> list[tuple[Tile, IntArray]]:
    """The quarters of a tile that hold points; none where one of them would be too narrow."""
    zoom = tile[0] + 1
    if zoom > DEEPEST:
        return []
    quarters = [(zoom, 2 * tile[1] + east, 2 * tile[2] + south) for east in (0, 1) for south in (0, 1)]
    columns, rows = corner[:, own] >> (DEEPEST - zoom)
    inside = [own[(columns == column) & (rows == row)] for _, column, row in quarters]
    parts = [(quarter, points) for quarter, points in zip(quarters, inside, strict=True) if len(points)]
    return parts if min(tile_side(quarter) for quarter, _ in parts) >= finest else []
