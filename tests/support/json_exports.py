"""Small exports in every shape that the JSON readers know, and what they must be read as."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator
from typing import IO

import pandas as pd

from hideseek.traces.geojson import looks_like_geojson, read_geojson
from hideseek.traces.google_takeout import (
    looks_like_google_records,
    looks_like_google_semantic,
    read_google_records,
    read_google_semantic,
)
from hideseek.traces.google_timeline import looks_like_google_timeline, read_google_timeline
from hideseek.traces.overland import looks_like_overland, read_overland
from hideseek.traces.owntracks import looks_like_owntracks, read_owntracks

Reader = Callable[[IO[bytes]], Iterator[pd.DataFrame]]

READERS: dict[str, tuple[Reader, Callable[[bytes], bool]]] = {
    "timeline": (read_google_timeline, looks_like_google_timeline),
    "records": (read_google_records, looks_like_google_records),
    "semantic": (read_google_semantic, looks_like_google_semantic),
    "owntracks": (read_owntracks, looks_like_owntracks),
    "overland": (read_overland, looks_like_overland),
    "geojson": (read_geojson, looks_like_geojson),
}

ANDROID = {
    "semanticSegments": [
        {
            "startTime": "2024-05-06T08:00:00.000+02:00",
            "endTime": "2024-05-06T10:00:00.000+02:00",
            "timelinePath": [
                {"point": "46.5190000°, 6.5660000°", "time": "2024-05-06T08:14:00.000+02:00"},
                {"point": "46.5200000°, 6.5670000°", "time": "2024-05-06T08:16:00.000+02:00"},
            ],
        },
        {
            "startTime": "2024-05-06T08:30:00.000+02:00",
            "endTime": "2024-05-06T12:00:00.000+02:00",
            "startTimeTimezoneUtcOffsetMinutes": 120,
            "visit": {
                "hierarchyLevel": 0,
                "probability": 0.8,
                "topCandidate": {
                    "placeId": "A",
                    "semanticType": "WORK",
                    "placeLocation": {"latLng": "46.5210000°, 6.5680000°"},
                },
            },
        },
        {
            "startTime": "2024-05-06T12:00:00.000+02:00",
            "endTime": "2024-05-06T12:20:00.000+02:00",
            "activity": {
                "start": {"latLng": "46.5210000°, 6.5680000°"},
                "end": {"latLng": "46.5300000°, 6.6000000°"},
                "distanceMeters": 2600.5,
                "topCandidate": {"type": "WALKING", "probability": 0.7},
            },
        },
        {"startTime": "2024-05-06T00:00:00.000+02:00", "timelineMemory": {"trip": {"distanceFromOriginKms": 9}}},
    ],
    "rawSignals": [
        {
            "position": {
                "LatLng": "46.5310000°, 6.6010000°",
                "accuracyMeters": 13,
                "source": "WIFI",
                "timestamp": "2024-05-06T12:21:00.000+02:00",
            }
        },
        {"wifiScan": {"deliveryTime": "2024-05-06T12:22:00.000+02:00", "devicesRecords": [{"mac": 1, "rawRssi": -40}]}},
        {"activityRecord": {"probableActivities": [{"type": "STILL", "confidence": 0.9}]}},
    ],
    "userLocationProfile": {"frequentPlaces": [{"placeLocation": "46.5°, 6.5°", "label": "HOME"}]},
}
IOS = [
    {
        "startTime": "2024-05-06T08:30:00.000+02:00",
        "endTime": "2024-05-06T12:00:00.000+02:00",
        "visit": {
            "hierarchyLevel": "0",
            "probability": "0.81",
            "topCandidate": {
                "probability": "0.5",
                "semanticType": "Unknown",
                "placeID": "A",
                "placeLocation": "geo:46.521000,6.568000",
            },
        },
    },
    {
        "startTime": "2024-05-06T06:00:00.000Z",
        "endTime": "2024-05-06T08:00:00.000Z",
        "timelinePath": [
            {"point": "geo:46.519000,6.566000", "durationMinutesOffsetFromStartTime": "14"},
            {"point": "geo:46.520000,6.567000", "durationMinutesOffsetFromStartTime": 16},
        ],
    },
    {
        "startTime": "2024-05-06T12:00:00.000+02:00",
        "endTime": "2024-05-06T12:20:00.000+02:00",
        "activity": {
            "start": "geo:46.521000,6.568000",
            "end": "geo:46.530000,6.600000",
            "topCandidate": {"type": "walking", "probability": "0.7"},
        },
    },
    {"startTime": "2024-05-06T00:00:00.000Z", "endTime": "2024-05-07T00:00:00.000Z", "timelineMemory": {}},
]
RECORDS = {
    "locations": [
        {
            "latitudeE7": 465190000,
            "longitudeE7": 65660000,
            "accuracy": 20,
            "source": "WIFI",
            "timestamp": "2022-01-12T17:18:24.190Z",
        },
        {"timestampMs": "1577872800250", "latitudeE7": -337000000, "longitudeE7": -702000000, "accuracy": 1500},
    ]
}
SEMANTIC = {
    "timelineObjects": [
        {
            "placeVisit": {
                "location": {"latitudeE7": 465210000, "longitudeE7": 65680000, "placeId": "A", "name": "Somewhere"},
                "duration": {"startTimestamp": "2022-01-12T08:00:00Z", "endTimestamp": "2022-01-12T09:30:00.5Z"},
                "childVisits": [
                    {
                        "location": {"latitudeE7": 1, "longitudeE7": 1},
                        "duration": {
                            "startTimestamp": "2022-01-12T08:10:00Z",
                            "endTimestamp": "2022-01-12T08:20:00Z",
                        },
                    }
                ],
            }
        },
        {
            "activitySegment": {
                "startLocation": {"latitudeE7": 465210000, "longitudeE7": 65680000},
                "endLocation": {"latitudeE7": 465300000, "longitudeE7": 66000000},
                "duration": {"startTimestampMs": "1641979800000", "endTimestampMs": "1641981600000"},
                "waypointPath": {"waypoints": [{"latE7": 465211000, "lngE7": 65681000}]},
                "simplifiedRawPath": {
                    "points": [
                        {
                            "latE7": 465250000,
                            "lngE7": 65800000,
                            "accuracyMeters": 10,
                            "timestamp": "2022-01-12T09:45:00Z",
                        }
                    ]
                },
            }
        },
    ]
}
LOCATION = {"_type": "location", "acc": 8, "lat": 46.519, "lon": 6.566, "tid": "ph", "tst": 1714975989}
REC = (
    "2024-05-06T06:13:09Z\t*                 \t" + json.dumps(LOCATION) + "\n"
    '2024-05-06T06:14:00Z lwt {"_type":"lwt","tst":1714976040}\n'
    '2024-05-06T06:15:09Z * {"_type":"location","lat":46.52,"lon":6.567,"tst":1714976109}\n'
)
FEATURE = {
    "type": "Feature",
    "geometry": {"type": "Point", "coordinates": [6.566, 46.519]},
    "properties": {"timestamp": "2024-05-06T06:14:00Z", "horizontal_accuracy": 12, "battery_level": 0.5},
}
OVERLAND = {
    "locations": [
        FEATURE,
        {"type": "Feature", "properties": {"type": "note", "timestamp": "2024-05-06T06:15:00Z"}},
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [6.567, 46.52]},
            "properties": {
                "action": "visit",
                "timestamp": "2024-05-06T09:00:01Z",
                "arrival_date": "2024-05-06T07:00:00Z",
                "departure_date": "2024-05-06T09:00:00Z",
            },
        },
    ]
}
LINE = {
    "type": "Feature",
    "geometry": {"type": "LineString", "coordinates": [[6.567, 46.52, 400.0], [6.568, 46.521]]},
    "properties": {"coordTimes": ["2024-05-06T07:00:00Z", "2024-05-06T07:01:00Z"]},
}
COLLECTION = {"type": "FeatureCollection", "features": [FEATURE, LINE]}

SHAPES: dict[str, dict[str, str]] = {
    "timeline": {"android": json.dumps(ANDROID, ensure_ascii=False), "ios": json.dumps(IOS)},
    "records": {"records": json.dumps(RECORDS)},
    "semantic": {"semantic": json.dumps(SEMANTIC)},
    "owntracks": {
        "rec": REC,
        "array": json.dumps([LOCATION]),
        "answer": json.dumps({"count": 1, "data": [LOCATION], "status": 200}),
        "lines": json.dumps(LOCATION) + "\n" + json.dumps(LOCATION | {"tst": 1714976000}) + "\n",
        "alone": json.dumps(LOCATION, indent=1),
    },
    "overland": {"one": json.dumps(OVERLAND), "two": json.dumps(OVERLAND) + "\n" + json.dumps(OVERLAND)},
    "geojson": {
        "collection": json.dumps(COLLECTION),
        "feature": json.dumps(LINE),
        "features": json.dumps(FEATURE) + "\n" + json.dumps(LINE),
    },
}
CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]


def read(name: str, content: str | bytes | list | dict) -> list[tuple]:
    """What a reader gives: (place, latitude, longitude, tracked_at, finished_at, accuracy, user); missing is None."""
    if not isinstance(content, str | bytes):
        content = json.dumps(content)
    stream = io.BytesIO(content.encode() if isinstance(content, str) else content)
    columns = ("latitude", "longitude", "tracked_at", "finished_at", "accuracy", "user_id")
    rows = []
    for block in READERS[name][0](stream):
        assert 0 < len(block) <= 1 << 16
        assert block.index.is_unique  # what types the rows needs it
        assert set(columns[:5]) <= set(block) <= set(columns)
        lists = [block[column].tolist() if column in block else [None] * len(block) for column in columns]
        rows += zip(block.index.tolist(), *lists, strict=True)
    return [tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row) for row in rows]
