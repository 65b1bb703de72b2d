"""People whose places are known, because they were made here."""

from __future__ import annotations

import numpy as np
import pandas as pd

METRE = 1 / 111_195  # degrees of latitude, to within a few in a thousand


def commuter(
    *, home: tuple[float, float], work: tuple[float, float], days: int = 14, utc: str = "+00:00", noise: float = 15.0
) -> pd.DataFrame:
    """At home until 8, at work from 9 to 17 on weekdays, in the local time of an offset; a fix every five minutes.

    The way is straight and takes an hour. The noise is normal, in metres each way.
    """
    rng = np.random.default_rng(0)
    minute = np.arange(0, days * 1440, 5)
    hour = minute % 1440 / 60
    weekday = minute // 1440 % 7 < 5
    there = np.interp(hour, [8, 9, 17, 18], [0, 1, 1, 0]) * weekday
    points = np.array(home) + there[:, None] * (np.array(work) - np.array(home))
    wider = np.array([1, 1 / np.cos(np.radians(home[0]))])
    points = points + rng.normal(0, noise, points.shape) * METRE * wider
    start = pd.Timestamp(f"2024-01-01T00:00:00{utc}").tz_convert("UTC")  # a Monday
    return pd.DataFrame(
        {
            "user_id": "anna",
            "tracked_at": start + pd.to_timedelta(minute, unit="min"),
            "latitude": points[:, 0],
            "longitude": (points[:, 1] + 180) % 360 - 180,
        }
    )
