"""Google Takeout before phones kept the Timeline: ``Records.json`` and the months of Semantic Location History.

Both write degrees as whole numbers of 1e-7, and times as ISO 8601 or, in older files, as milliseconds in a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
import pandas as pd

from hideseek.traces.json_stream import NOTHING, Row, blocks_of, elements, inside, number, outline, pieces_of, plain

RECORD = {f"locations.item.{key}" for key in ("latitudeE7", "longitudeE7", "timestamp", "timestampMs")}


def looks_like_google_records(head: bytes) -> bool:
    """Whether a file that starts so is a ``Records.json``."""
    return not RECORD.isdisjoint(outline(head))


def looks_like_google_semantic(head: bytes) -> bool:
    """Whether a file that starts so is a month of Semantic Location History."""
    return "timelineObjects" in outline(head)


def read_google_records(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read the fixes of a ``Records.json``."""
    return blocks_of(records(elements(pieces_of(stream), "Google Records", ("locations",))))


def read_google_semantic(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read visits, and the starts, ends and timed paths of activities.

    The waypoints of an activity have no times and are left out, and so are visits inside another visit, whose time
    that one covers.
    """
    return blocks_of(visits_and_activities(elements(pieces_of(stream), "Google Semantic", ("timelineObjects",))))


def records(found: Iterable[Any]) -> Iterator[Row]:
    """The fixes of a ``Records.json``."""
    for record in found:
        accuracy = number(inside(record, "accuracy"))
        yield *degrees(record, "latitudeE7", "longitudeE7"), moment(record, "timestamp"), None, accuracy


def visits_and_activities(found: Iterable[Any]) -> Iterator[Row]:
    """The fixes and stretches of a month."""
    for one in found:
        if not isinstance(one, dict):
            yield NOTHING
            continue
        for kind in ("placeVisit", "activitySegment"):
            if not isinstance(whole := one.get(kind), dict):
                continue
            start = moment(whole.get("duration"), "startTimestamp")
            end = moment(whole.get("duration"), "endTimestamp")
            if kind == "placeVisit":
                named = degrees(whole.get("location"), "latitudeE7", "longitudeE7")
                centre = degrees(whole, "centerLatE7", "centerLngE7")
                yield *(centre if np.isnan(named).any() else named), start, end, None
                continue
            yield *degrees(whole.get("startLocation"), "latitudeE7", "longitudeE7"), start, None, None
            yield *degrees(whole.get("endLocation"), "latitudeE7", "longitudeE7"), end, None, None
            points = inside(whole, "simplifiedRawPath", "points")
            for point in points if isinstance(points, list) else ():
                accuracy = number(inside(point, "accuracyMeters"))
                yield *degrees(point, "latE7", "lngE7"), moment(point, "timestamp"), None, accuracy


def degrees(place: Any, latitude: str, longitude: str) -> tuple[float, float]:
    """Latitude and longitude under these keys.

    Some old exports wrote negative numbers without their sign, as 32 bits would read then.

    >>> degrees({"latE7": -337000000, "lngE7": 1512000000}, "latE7", "lngE7")
    (-33.7, 151.2)
    >>> degrees({"latE7": 2**32 - 337000000, "lngE7": 2**32 - 702000000}, "latE7", "lngE7")
    (-33.7, -70.2)
    """
    north, east = number(inside(place, latitude)), number(inside(place, longitude))
    north -= 2**32 if north > 90e7 else 0
    east -= 2**32 if east > 180e7 else 0
    return north / 1e7, east / 1e7


def moment(record: Any, name: str) -> Any:
    """The time under this name, or under its name in milliseconds, in seconds."""
    time = plain(inside(record, name))
    return number(inside(record, f"{name}Ms")) / 1000 if time is None else time
