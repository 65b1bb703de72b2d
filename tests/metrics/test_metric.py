"""What a metric tells of itself."""

from __future__ import annotations

from hideseek import Places
from hideseek.metrics import (
    distance,
    hamming,
)

MAP = Places([46.50, 46.51, 46.53], [6.57, 6.57, 6.59])


def test_a_metric_shows_its_name_and_unit_and_no_matrix():
    assert repr(distance(MAP)) == "Metric('distance', in m)"
    assert repr(hamming()) == "Metric('Hamming')"
