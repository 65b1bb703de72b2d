"""Codebooks to save, damage and load."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hideseek import (
    Codebook,
    HideseekError,
    MarkovProfile,
    Places,
    Scenario,
    design,
    metrics,
)
from hideseek.codebook.codebook import codebook_from

MATRIX = [[0.6, 0.3, 0.1], [0.25, 0.5, 0.25], [0.1, 0.3, 0.6]]
REGIONS = Places(
    [46.52, 46.53, 46.55], [6.57, 6.58, 6.57], names=('a "quoted" \\ name', "Zürich\n\x7f", "日本 😀 \u2028")
)
HAMMING = metrics.hamming()
GAPS = Path(__file__).parents[1] / "data" / "gaps"


@cache
def made(regions=REGIONS, scenario=None, budget=0.1) -> Codebook:
    profile = MarkovProfile.from_matrix(MATRIX, regions)
    return design(
        profile,
        scenario or Scenario.past_present(1),
        privacy=HAMMING,
        quality=HAMMING,
        budget=budget,
        workers=1,
    )


@cache
def with_gaps(name="named") -> Codebook:
    """A codebook with stages for gaps, as hideseek 0.2.0 made them; the one with names is like ``made()``."""
    return Codebook.load(GAPS / f"{name}.hideseek")


@cache
def smallest() -> bytes:
    """Two places, one stage."""
    profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]])
    return design(profile, Scenario.sporadic(), privacy=HAMMING, quality=HAMMING, budget=0.1, workers=1).content


def refused(content: bytes, message: str) -> None:
    with pytest.raises(HideseekError, match=message):
        codebook_from(memoryview(content))


def tensor(name: str, values, dtype=None):
    """Replace a tensor by other values, or by a function of its own."""
    kinds = {"U16": "<u2", "U32": "<u4", "U64": "<u8", "F64": "<f8"}

    def change(document, tensors):
        kind, shape, data = tensors[name]
        own = np.frombuffer(data, kinds[kind]).reshape(shape).copy()
        new = np.array(values(own) if callable(values) else values, dtype=kinds[dtype or kind])
        tensors[name] = [dtype or kind, list(new.shape), new.tobytes()]

    return change


def first(value):
    def change(own):
        own.flat[0] = value
        return own

    return change
