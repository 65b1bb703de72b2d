"""How people are shown numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek.util.estimates import Estimate
from hideseek.util.units import amount, in_unit, metres_beside, shown, shown_many, unit_words, weighted


def test_square_metres_are_shown_as_their_root_and_so_is_their_interval():
    estimate = Estimate(250_000.0, (160_000.0, 360_000.0))
    assert (shown(estimate, "m²"), shown(estimate, "m²").interval) == (500.0, (400.0, 600.0))
    assert amount(estimate, "m²") == "500 ± 1e+02 m (root mean square)"
    assert shown(Estimate(1.0, (-3.0, 5.0)), "m²").interval == (0.0, pytest.approx(5**0.5))  # an interval may be wide


@pytest.mark.parametrize(("unit", "words"), [("", "0.25"), ("m", "0.25 m"), ("weighted m", "0.25 weighted m")])
def test_everything_else_is_shown_as_it_is(unit, words):
    assert amount(0.25, unit) == words
    assert unit_words(unit) == unit


def test_an_error_times_a_weight_has_a_unit_that_says_so():
    assert [weighted(unit) for unit in ("m", "m²", "")] == ["weighted m", "weighted m²", "weighted"]
    assert amount(4.0, "weighted m²") == "2 weighted m (root mean square)"
    assert metres_beside({"privacy": 4.0}, "weighted m") == {}


@given(st.lists(st.floats(0, 1e12), min_size=1), st.sampled_from(["", "m", "m²"]))
def test_what_is_shown_leads_back_to_the_number(values, unit):
    array = np.array(values)
    np.testing.assert_allclose(in_unit(shown_many(array, unit), unit), array, rtol=1e-14, atol=1e-300)
