"""Lengths of time mean what pandas, which wrote the files, takes them for."""

from __future__ import annotations

import warnings
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import ParameterError
from hideseek.util.time_steps import SPELLINGS, UNITS, checked_step, written_step

CASES = sorted({*UNITS, *map(str.upper, UNITS), *map(str.title, UNITS), *SPELLINGS} - {"M", "µS"})
numbers = st.integers(0, 400).map(str) | st.decimals(0, 100, places=2).map(str) | st.sampled_from(["007", "5.", "1.5"])
parts = st.tuples(numbers, st.sampled_from(["", " "]), st.sampled_from(CASES)).map("".join)
joints = st.sampled_from(["", " ", ", ", " +", "+"])
clocks = st.tuples(*[st.integers(0, 99)] * 3, st.sampled_from(["", ".5", ".000001", ".123456"])).map(
    lambda clock: "{:02d}:{:d}:{:02d}{}".format(*clock)
)
several = st.lists(st.tuples(parts, joints).map("".join), min_size=1, max_size=4).map("".join)
mixed = st.tuples(several, st.just(" "), clocks).map("".join)
counts = st.integers(0, 50).map(str)
iso = st.tuples(st.none() | counts, st.none() | counts, st.none() | counts, st.none() | counts).map(
    lambda found: "P{}T{}".format(
        f"{found[0]}D" if found[0] else "",
        "".join(f"{number}{unit}" for number, unit in zip(found[1:], "HMS", strict=True) if number),
    )
)
lengths = st.timedeltas(timedelta(microseconds=1), timedelta(days=10_000))


def by_pandas(text):
    """The length that pandas reads, or None where it reads none that a step may have."""
    with warnings.catch_warnings(action="ignore"):  # of spellings that pandas will give up
        try:
            length = pd.Timedelta(text)
        except ValueError:
            return None
    if pd.isna(length) or length < pd.Timedelta(1, "us"):
        return None
    return length.to_pytimedelta()


def ours(text):
    try:
        return checked_step(text, "fit")
    except ParameterError:
        return None


def same(own, other, text):
    """Equal; pandas multiplies fractions as floating-point numbers, and may be off by the last microsecond."""
    if own is None or other is None or "." not in text:
        return own == other
    return abs(own - other) <= timedelta(microseconds=1)


@settings(max_examples=400)
@given(several | clocks | mixed | iso | st.integers(0, 2**64).map(str))
def test_a_length_is_the_one_that_pandas_reads(text):
    assert same(ours(text), by_pandas(text), text), text


@given(lengths)
def test_what_pandas_writes_is_read_and_written_alike(length):
    text = str(pd.Timedelta(length))
    assert checked_step(text, "fit") == checked_step(length, "fit") == length
    assert checked_step(pd.Timedelta(length).isoformat(), "fit") == length
    assert written_step(length) == text


@given(st.text("0123456789 .:,+-PTWDHMSminsuhdayµ\n\t", max_size=12))
def test_no_text_is_read_as_another_length_than_by_pandas(text):
    own = ours(text)
    assert own is None or same(own, by_pandas(text), text), text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaT",
        "soon",
        "5",
        "0min",
        "-5min",
        "5H5",
        "1M",
        "5 weeks",
        "min",
        "5min\n",
        "00:05",
        "P",
        "PT",
        "P1Y",
        "1e3s",
    ],
)
def test_what_is_no_length_of_time_is_refused(text):
    with pytest.raises(ParameterError, match=r"'step' parameter of fit must be a length of time"):
        checked_step(text, "fit")
    assert by_pandas(text) is None


@pytest.mark.parametrize("step", [None, 5, 5.0, b"5min", pd.NaT, np.timedelta64(5, "m"), timedelta(0), timedelta(-1)])
def test_what_is_neither_text_nor_a_length_is_refused(step):
    with pytest.raises(ParameterError, match="length of time"):
        checked_step(step, "fit")


@pytest.mark.parametrize("text", ["9" * 40 + "D", "106752 days", "9" * 5000, "0." + "0" * 5000 + "1s", "1" * 60 + "ns"])
def test_a_length_that_no_number_holds_is_refused(text):
    with pytest.raises(ParameterError, match="length of time"):
        checked_step(text, "fit")
