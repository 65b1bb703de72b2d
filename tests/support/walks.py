"""Walks along a line of places, as traces, and chains to draw from."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from hideseek import MarkovProfile, Places

LINE = Places([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0])


def walk(places, start="2024-01-01T00:00Z", step="5min", user="a"):
    """Traces of somebody who is at these places of LINE, one per step; None is a step without a fix."""
    times = pd.date_range(start, periods=len(places), freq=step)
    rows = [(user, time, 0.0, float(place)) for time, place in zip(times, places, strict=True) if place is not None]
    return pd.DataFrame(rows, columns=["user_id", "tracked_at", "latitude", "longitude"])


@st.composite
def chains(draw):
    size = draw(st.integers(2, 5))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    matrix = generator.random((size, size)) * (generator.random((size, size)) < 0.6) + np.roll(np.eye(size), 1, axis=1)
    return MarkovProfile.from_matrix(matrix / matrix.sum(axis=1, keepdims=True))


class Commuter:
    """A profile of somebody's own making: to and fro between 0 and 1, for ever; started at either."""

    places = 2
    memory = 1

    def following(self, past, time):
        return np.eye(2)[1 - past[:, -1]] if past.shape[1] else np.full((len(past), 2), 0.5)
