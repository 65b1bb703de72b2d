"""Traces of two people for some days."""

from __future__ import annotations

from hideseek import synthetic_city

TRACES = synthetic_city(people=2, days=4, seed=1)
