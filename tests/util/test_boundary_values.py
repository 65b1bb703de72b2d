"""Values that are nearly right: numbers of other kinds, sequences that are too long, places beyond the last."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import hideseek as hs
from hideseek import ParameterError
from hideseek.model.markov import profile_from_kernel

APART = 1 - np.eye(2)


def test_numbers_of_any_kind_are_numbers():
    half = Fraction(1, 2)
    assert hs.Game.from_prior([0.5, 0.5], privacy=APART, quality=APART, budget=half).budget == 0.5
    assert hs.Game.from_prior([0.5, 0.5], privacy=APART, quality=APART, budget=np.float32(0.5)).budget == 0.5
    assert len(hs.Grid(0, 1, np.int32(0), 1.0, rows=np.int16(2), columns=2)) == 4


def test_values_one_after_the_other_are_looked_at_in_whatever_holds_them():
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    masked = np.ma.masked_array([46.5, 46.6], [False, True])
    for values in (table, masked, np.array("46.5"), range(10**9), range(10**30), pd.Series(["a", "b"])):
        with pytest.raises(ParameterError, match="latitude"):
            hs.Places(values, [6.5, 6.6])
    assert hs.Places(pd.Series([46.5, 46.6]), np.array([6.5, 6.6]), names=np.array(["a", "b"])).names == ("a", "b")
    assert hs.Places([46.5, 46.6], [6.5, 6.6], names=np.array([])).names == ()


def test_a_sequence_that_is_too_long_is_told_by_its_length():
    for values, length in (
        (range(10**9), "of 1000000000 values"),
        (range(10**30), "of over 9223372036854775807 values"),
    ):
        with pytest.raises(ParameterError, match=f"{length}, more than the 10000000"):
            hs.Places(values, [6.5, 6.6])


def test_places_beyond_the_last_are_not_those_of_another_state():
    """With two places, the digits of (0, 2) make the same number as those of (1, 0)."""
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    profile = profile_from_kernel(states, np.full((4, 2), 0.5), None, "5min", "kernel", "test")
    assert profile.following(np.array([[1, 0]]), 1).tolist() == [[0.5, 0.5]]
    for past in ([[0, 2]], [[1, -2]], [[0, 0, 0]]):
        with pytest.raises(ParameterError, match=r"'past' parameter of MarkovProfile\.following"):
            profile.following(np.array(past), 1)
