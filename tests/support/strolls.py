"""People who walk along a street."""

from __future__ import annotations

import numpy as np
import pandas as pd


def stroll(user, cells, seed):
    """A day along a street, a fix every five minutes, at least once in each of the first cells."""
    generator = np.random.default_rng(seed)
    there_and_back = [*range(cells), *range(cells - 2, 0, -1)]
    at = np.cumsum(generator.random(288) < 0.7) % len(there_and_back)
    times = pd.date_range("2024-01-01", periods=288, freq="5min", tz="UTC")
    longitude = (np.array(there_and_back)[at] + 0.5) / 12
    return pd.DataFrame({"user_id": user, "tracked_at": times, "latitude": 0.05, "longitude": longitude})
