"""Overland's batches: ``{"locations": [...]}`` of GeoJSON features, as the phone sends them to a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

import pandas as pd

from hideseek.traces.geojson import degrees
from hideseek.traces.json_stream import Row, blocks_of, elements, inside, number, outline, pieces_of, plain

FEATURE = {f"locations.item.{key}" for key in ("type=Feature", "geometry", "properties")}


def looks_like_overland(head: bytes) -> bool:
    """Whether a file that starts so is a batch of Overland's."""
    return not FEATURE.isdisjoint(outline(head))


def read_overland(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read the fixes and visits of one or more batches.

    A feature without geometry, such as a note, says no place and is left out. A visit is a stretch of time once its
    departure is known.
    """
    return blocks_of(rows_of(elements(pieces_of(stream), "Overland", ("locations",))))


def rows_of(features: Iterable[Any]) -> Iterator[Row]:
    """The fixes and visits of all features."""
    for feature in features:
        if isinstance(feature, dict) and feature.get("geometry") is None:
            continue
        said = inside(feature, "properties")
        start, end = plain(inside(said, "arrival_date")), plain(inside(said, "departure_date"))
        if start is None or end is None:
            start, end = plain(inside(said, "timestamp")), None
        place = degrees(inside(feature, "geometry", "coordinates"))
        yield *place, start, end, number(inside(said, "horizontal_accuracy"))
