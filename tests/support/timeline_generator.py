"""A synthetic Timeline as Android exports it, for measuring: by default a year, about 100 MB of JSON.

python -m tests.support.timeline_generator Timeline.json [days]
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO

YEAR = 365
START = datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1)))
HOME, WORK = (50.0506312, 14.3439906), (50.0874654, 14.4212535)
SECONDS = 50  # between two points of a path
SIGNALS = 30  # days for which raw signals are kept


def degrees(place: tuple[float, float]) -> str:
    return f"{place[0]:.7f}°, {place[1]:.7f}°"


def near(place: tuple[float, float], chance: random.Random) -> tuple[float, float]:
    return place[0] + chance.gauss(0, 2e-4), place[1] + chance.gauss(0, 3e-4)


def stamp(day: int, seconds: float) -> str:
    return (START + timedelta(days=day, seconds=seconds)).isoformat(timespec="milliseconds")


def visit(day: int, start: float, end: float, place: tuple[float, float]) -> dict:
    candidate = {
        "placeId": "ChIJ" + "x" * 23,
        "semanticType": "INFERRED_HOME" if place == HOME else "INFERRED_WORK",
        "probability": 0.9,
        "placeLocation": {"latLng": degrees(place)},
    }
    return {
        "startTime": stamp(day, start),
        "endTime": stamp(day, end),
        "startTimeTimezoneUtcOffsetMinutes": 60,
        "endTimeTimezoneUtcOffsetMinutes": 60,
        "visit": {"hierarchyLevel": 0, "probability": 0.85, "topCandidate": candidate},
    }


def activity(day: int, start: float, end: float, there: tuple, here: tuple) -> dict:
    travel = {
        "start": {"latLng": degrees(there)},
        "end": {"latLng": degrees(here)},
        "distanceMeters": 6834.5,
        "topCandidate": {"type": "IN_PASSENGER_VEHICLE", "probability": 0.7},
    }
    return {"startTime": stamp(day, start), "endTime": stamp(day, end), "activity": travel}


def segments_of(day: int, chance: random.Random) -> Iterator[dict]:
    """At home until 8, at work from 9 to 17, at home from 18, and a path for every two hours."""
    hour = 3600
    for start in range(0, 24 * hour, 2 * hour):
        place = WORK if 9 * hour <= start < 17 * hour else HOME
        seconds = range(start, start + 2 * hour, SECONDS)
        path = [{"point": degrees(near(place, chance)), "time": stamp(day, second)} for second in seconds]
        yield {"startTime": stamp(day, start), "endTime": stamp(day, start + 2 * hour), "timelinePath": path}
    yield visit(day, 0, 8 * hour, HOME)
    yield activity(day, 8 * hour, 9 * hour, HOME, WORK)
    yield visit(day, 9 * hour, 17 * hour, WORK)
    yield activity(day, 17 * hour, 18 * hour, WORK, HOME)
    yield visit(day, 18 * hour, 24 * hour, HOME)


def signals_of(day: int, chance: random.Random) -> Iterator[dict]:
    for second in range(30, 24 * 3600, 60):
        fix = {
            "LatLng": degrees(near(HOME, chance)),
            "accuracyMeters": chance.choice([5, 13, 30, 900]),
            "altitudeMeters": 240.5,
            "source": "WIFI",
            "timestamp": stamp(day, second),
            "speedMetersPerSecond": 0.0,
        }
        yield {"position": fix}
        scan = [{"mac": chance.getrandbits(48), "rawRssi": -chance.randrange(40, 90)} for _ in range(4)]
        yield {"wifiScan": {"deliveryTime": stamp(day, second), "devicesRecords": scan}}


def write_timeline(file: IO[bytes], days: int = YEAR, seed: int = 16) -> Counter[str]:
    """Write so many days, indented as Android does; how many rows of each kind a reader must find."""
    chance, count = random.Random(seed), Counter[str]()

    def array(name: str, found: Iterator[dict], last: bool) -> None:
        file.write(f'  "{name}": ['.encode())
        for number, one in enumerate(found):
            text = json.dumps(one, indent=2, ensure_ascii=False).replace("\n", "\n    ")
            file.write(("," * (number > 0) + f"\n    {text}").encode())
            count["paths"] += len(one.get("timelinePath", ()))
            count["visits"] += "visit" in one
            count["activities"] += 2 * ("activity" in one)
            count["positions"] += "position" in one
        file.write(b"\n  ]" + b"," * (not last) + b"\n")

    file.write(b"{\n")
    array("semanticSegments", (one for day in range(days) for one in segments_of(day, chance)), last=False)
    late = range(max(0, days - SIGNALS), days)
    array("rawSignals", (one for day in late for one in signals_of(day, chance)), last=True)
    file.write(b"}\n")
    return count


if __name__ == "__main__":
    with Path(sys.argv[1]).open("wb") as made:
        print(dict(write_timeline(made, int(sys.argv[2]) if len(sys.argv) > 2 else YEAR)))
