"""Profiles of every kind: on points, on a grid, without regions, with the time of day."""

from __future__ import annotations

import numpy as np

from hideseek import Grid, MarkovProfile, PeriodicProfile, Places

SHOWN = [
    MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], Places([46.5, 46.6], [6.5, 6.6])),
    MarkovProfile.from_matrix(np.full((30, 30), 1 / 30), Grid(0.0, 1.0, 0.0, 1.0, rows=5, columns=6)),
    MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]),
    PeriodicProfile(
        np.full((4, 3, 3), 1 / 3), np.repeat(np.arange(4), 72), regions=Places([0.0, 0.1, 0.2], [0.0, 0.1, 0.3])
    ),
]
