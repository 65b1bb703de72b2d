"""Figures are drawn without a screen, and none stays open."""

from __future__ import annotations

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    plt.switch_backend("Agg")
    yield
    plt.close("all")
