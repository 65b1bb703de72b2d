"""Google Timeline as phones export it: Android's ``Timeline.json`` and iOS's ``location-history.json``.

Android writes an object with ``semanticSegments`` and ``rawSignals``, and degrees as "50.0506312°, 14.3439906°"; iOS
writes a bare array of segments, numbers as text, and degrees as "geo:50.0506312,14.3439906". The segments are the same:
a path has fixes, an activity has one at its start and one at its end, and a visit is a stretch of time at a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import IO, Any

import numpy as np
import pandas as pd

from hideseek.traces.json_stream import NOTHING, Row, blocks_of, elements, inside, number, outline, pieces_of, plain

ANDROID = {"semanticSegments", "rawSignals", "userLocationProfile"}
IOS = {"item.timelinePath", "item.timelineMemory", "item.visit.topCandidate", "item.activity.topCandidate"}
SIGNS = str.maketrans({"°": "", "\N{MINUS SIGN}": "-"})


def looks_like_google_timeline(head: bytes) -> bool:
    """Whether a file that starts so is a Timeline of Android or iOS."""
    return not (ANDROID | IOS).isdisjoint(outline(head))


def read_google_timeline(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read paths, visits, activities and raw positions.

    Segments and signals of other kinds say no place and are left out, and so are visits inside another visit
    (``hierarchyLevel`` above 0): the outer one covers their time. A visit without a location is a row without degrees.
    """
    found = elements(pieces_of(stream), "Google Timeline", ("", "semanticSegments", "rawSignals"))
    return blocks_of(rows_of(found))


def rows_of(segments: Iterable[Any]) -> Iterator[Row]:
    """The fixes and stretches of all segments."""
    for segment in segments:
        if not isinstance(segment, dict):
            yield NOTHING
            continue
        start, end = plain(segment.get("startTime")), plain(segment.get("endTime"))
        for point in path if isinstance(path := segment.get("timelinePath"), list) else ():
            time = plain(inside(point, "time"))
            if time is None:
                time = later(start, inside(point, "durationMinutesOffsetFromStartTime"))
            yield *degrees(inside(point, "point")), time, None, None
        visit, activity, position = segment.get("visit"), segment.get("activity"), segment.get("position")
        if isinstance(visit, dict) and not number(visit.get("hierarchyLevel")) > 0:
            yield *degrees(inside(visit, "topCandidate", "placeLocation")), start, end, None
        if isinstance(activity, dict):
            yield *degrees(activity.get("start")), start, None, None
            yield *degrees(activity.get("end")), end, None, None
        if isinstance(position, dict):
            accuracy = number(position.get("accuracyMeters"))
            yield *degrees(position), plain(position.get("timestamp")), None, accuracy


def degrees(place: Any) -> tuple[float, float]:
    """Latitude and longitude of a place as either phone writes it; NaN for anything else.

    >>> degrees("50.05°, 14.34°"), degrees({"latLng": "-1.5, 2"}), degrees("geo:27.7,-97.3"), degrees("50,05°, 14,34°")
    ((50.05, 14.34), (-1.5, 2.0), (27.7, -97.3), (nan, nan))
    """
    if isinstance(place, dict):
        place = place.get("latLng", place.get("LatLng"))
    if not isinstance(place, str):
        return np.nan, np.nan
    parts = place.removeprefix("geo:").translate(SIGNS).split(",")
    return (number(parts[0]), number(parts[1])) if len(parts) == 2 else (np.nan, np.nan)


def later(start: Any, minutes: Any) -> str | None:
    """The time so many minutes after a start in ISO 8601, with the offset of the start.

    >>> later("2023-08-27T20:00:00.000-05:00", "49")
    '2023-08-27T20:49:00-05:00'
    """
    try:
        return (datetime.fromisoformat(start) + timedelta(minutes=number(minutes))).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None
