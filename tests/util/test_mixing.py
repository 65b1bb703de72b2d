"""How far a table is mixed with a cheaper one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hideseek.util.mixing import SPARE, share_to_keep

AMOUNTS = st.floats(0, 1e30)


@given(loss=AMOUNTS, least=AMOUNTS, budget=AMOUNTS)
def test_the_mixture_keeps_the_budget_and_mixes_no_more_than_it_must(loss, least, budget):
    share = float(share_to_keep(loss, least, budget))
    assert 0 <= share <= 1
    exact = Fraction(share)
    mixed = (1 - exact) * Fraction(loss) + exact * Fraction(least)
    rounding = Fraction(1e-15) * Fraction(loss)
    if min(loss, least) <= budget * (1 - 2 * SPARE):
        assert mixed <= Fraction(budget) + rounding
    if loss <= budget * (1 - 2 * SPARE):
        assert share == 0
    elif 0 < share < 1:  # what is left over is for rounding
        assert mixed >= Fraction(budget) * (1 - 2 * Fraction(SPARE)) - rounding
    elif share == 1:
        assert least >= budget * (1 - 2 * SPARE) or loss - budget >= (loss - least) * (1 - 1e-15)


def test_every_table_has_a_share_of_its_own():
    found = share_to_keep(np.array([0.1, 0.2, 0.4, 1.0]), 0.0, budget=0.2)
    assert np.allclose(found, [0, 0, 0.5, 0.8], rtol=1e-12, atol=1e-12)


def test_where_no_mixture_keeps_the_budget_the_cheaper_one_is_taken():
    assert share_to_keep(0.5, 0.3, budget=0.1) == 1
    assert share_to_keep(0.3, 0.3, budget=0.1) == 0


def test_the_smallest_numbers_and_the_largest_are_told_apart():
    assert share_to_keep([5e-324, 1e300], 0.0, budget=0.2).tolist() == [0.0, 1.0]
    assert share_to_keep([5e-324, 1e300], 0.0, budget=0.0).tolist() == [1.0, 1.0]
