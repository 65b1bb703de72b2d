"""The map of a day: from how near it is looked at, and which names stand on it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from hideseek import Grid, Places
from hideseek.experiments.day_map import WIDE, day_map, near_width, on_page
from hideseek.experiments.exposed_day import ExposedDay


def map_of(regions, visited):
    places, belief = np.array(visited), np.eye(len(regions))[visited]
    day = ExposedDay("Monday", np.arange(len(visited)) * 5.0, places, places >= 0, places, places, belief)
    page = day_map(day, regions, {visited[0]: "<home>", visited[-1]: "work"})
    return page, json.loads(re.search(r'id="day-data">(.*?)</script>', page)[1])


@pytest.mark.parametrize(("rows", "columns", "near"), [(2, 3, False), (10, 25, True)])
def test_a_map_of_many_small_cells_is_looked_at_from_near_first(rows, columns, near):
    grid = Grid(south=37.6, north=37.8, west=-122.5, east=-122.3, rows=rows, columns=columns)
    page, data = map_of(grid, [0, len(grid) - 1])
    assert (data["near"] > 0) is near
    corners, at = on_page(grid, np.array([0, len(grid) - 1]))
    side = np.sqrt(np.ptp(corners[0][:, 0]) * np.ptp(corners[0][:, 1]))
    assert data["near"] == pytest.approx(10 * side * near, rel=2e-3)  # cells are narrower in the north
    assert near_width(corners, at) <= 0.6 * WIDE
    assert page.count('class="name"') == 2
    assert "&lt;home&gt;" in page


def test_points_are_looked_at_by_how_far_the_next_one_is():
    _, data = map_of(Places([46.5, 46.5, 47.5, 47.5], [6.5, 6.501, 6.5, 6.501]), [0, 3])
    assert 0 < data["near"] < 0.05 * WIDE
