"""Estimates and their intervals."""

from __future__ import annotations

import pytest

import hideseek as hs
from hideseek import ParameterError


@pytest.mark.parametrize("interval", [(2.0, 1.0), (0.0, float("nan")), (0.0, float("inf")), (0.0,), "ab", 1.0])
def test_an_interval_has_two_ends_in_order(interval):
    with pytest.raises(ParameterError, match="'interval' parameter of Estimate"):
        hs.adversary.Estimate(0.5, interval)
    with pytest.raises(ParameterError, match="'value' parameter of Estimate"):
        hs.adversary.Estimate("0.5")
