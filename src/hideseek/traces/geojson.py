"""GeoJSON: points with a time, and lines with a time for each of their points.

Features stand in a collection or follow one another. Their properties name the time, the user and the accuracy as the
columns of a table would.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from typing import IO, Any

import numpy as np
import pandas as pd

from hideseek.traces.json_stream import COLUMNS, Row, blocks_of, elements, inside, number, outline, pieces_of, plain
from hideseek.traces.table import ALIASES

FEATURE = {"type=Feature", "geometry"}
COLLECTION = {"type=FeatureCollection", "features.item.type=Feature", "features.item.geometry"}
TIMES = ("coordTimes", "times", "timestamps")
DEPTH = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2}  # of arrays around a position


def looks_like_geojson(head: bytes) -> bool:
    """Whether a file that starts so is GeoJSON."""
    return not (FEATURE | COLLECTION).isdisjoint(outline(head))


def read_geojson(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read the positions of all features.

    A feature without a position, such as one whose geometry is null, is a row without degrees.
    """
    pieces = pieces_of(stream)
    first = next(pieces)
    alone = not FEATURE.isdisjoint(outline(first))
    found = elements(chain([first], pieces), "GeoJSON", ("features",), whole=alone)
    for block in blocks_of(rows_of(found), columns=(*COLUMNS, "user_id")):
        yield block.drop(columns="user_id") if block["user_id"].isna().all() else block


def rows_of(features: Iterable[Any]) -> Iterator[Row]:
    """The positions of all features."""
    for feature in features:
        said = inside(feature, "properties")
        names = {name.strip().lower(): name for name in said} if isinstance(said, dict) else {}
        accuracy = number(value_of(said, names, ALIASES["accuracy"]))
        user = plain(value_of(said, names, ALIASES["user_id"]))
        for position, time in positions(inside(feature, "geometry"), said, names):
            yield *degrees(position), plain(time), None, accuracy, user


def value_of(said: Any, names: dict[str, str], known: Iterable[str]) -> Any:
    """The property under the first known name that it has."""
    return next((said[names[name]] for name in known if name in names), None)


def positions(geometry: Any, said: Any, names: dict[str, str]) -> Iterator[tuple[Any, Any]]:
    """Every position of a geometry with its time; one without either where there is none."""
    depth = DEPTH.get(str(inside(geometry, "type")))
    where = inside(geometry, "coordinates")
    if depth == 0:
        yield where, value_of(said, names, ALIASES["tracked_at"])
        return
    lists = (inside(said, name) for name in TIMES)
    times = next((times for times in lists if times), inside(said, "coordinateProperties", "times"))
    lines = list_of(where) if depth == 2 else [where] if depth else []
    stamps = list_of(times) if depth == 2 else [times]
    found = False
    for line, own in zip(lines, chain(stamps, [None] * len(lines)), strict=False):
        places, moments = list_of(line), list_of(own)
        # where there are not as many times as positions, it is unknown which belong together
        for place, moment in zip_longest(places, moments if len(moments) == len(places) else ()):
            found = True
            yield place, moment
    if not found:
        yield None, None


def list_of(value: Any) -> list[Any]:
    """A list as it is, and none for anything else."""
    return value if isinstance(value, list) else []


def degrees(position: Any) -> tuple[float, float]:
    """Latitude and longitude of a position, which has them the other way round.

    >>> degrees([14.34, 50.05, 215.0])
    (50.05, 14.34)
    """
    if not isinstance(position, list) or len(position) < 2:
        return np.nan, np.nan
    return number(position[1]), number(position[0])
