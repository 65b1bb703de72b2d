"""Lengths in words."""

from __future__ import annotations

import pytest

from hideseek import ParameterError
from hideseek.util.lengths import metres


@pytest.mark.parametrize(
    ("length", "found"),
    [("500m", 500.0), ("2km", 2000.0), ("0.5 km", 500.0), (" 7 M ", 7.0), ("1e3m", 1000.0), (12, 12.0)],
)  # fmt: skip
def test_a_length_is_its_number_of_metres(length, found):
    assert metres(length, "cell", "learn") == found


NONE = ["500", "", "m", "-5m", "5cm", "5 k m", "nan", "infm", "1e999m", "\N{ARABIC-INDIC DIGIT FIVE}m"]


@pytest.mark.parametrize("length", [*NONE, -1.0, float("nan"), float("inf")])
def test_text_without_a_unit_and_what_is_no_length_are_refused(length):
    with pytest.raises(ParameterError, match="'cell' parameter of learn must be a length such as 500m or 2km"):
        metres(length, "cell", "learn")
