"""The account of a budget: what it promises, in exact rationals, whatever is asked of it."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hideseek import ParameterError
from hideseek.model.account import Account, checked_cap, window_of

budgets = st.floats(1e-6, 1e9)
shares = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(budget=budgets, window=st.integers(1, 40), shares=shares, start=st.floats(0, 1))
def test_no_history_overdraws_it_and_every_window_keeps_its_bound_exactly(budget, window, shares, start):
    account = Account(budget, window)
    saved, savings, losses = start * account.most, [], []
    for share in shares:
        savings.append(saved)
        losses.append(share * float(account.limit(saved)))
        saved = float(account.after(saved, losses[-1]))
        assert 0 <= saved <= account.most
    exact = [Fraction(loss) for loss in losses]
    for first in range(len(exact)):
        for last in range(first, len(exact)):
            bound = (last - first + 1) * Fraction(budget) + Fraction(savings[first])
            assert sum(exact[first : last + 1]) <= bound


@pytest.mark.parametrize("pattern", [(0, 1), (0, 0, 1), (0.5, 1), (0.25, 0, 1), (0.9, 0.1, 1)])
@pytest.mark.parametrize("budget", [0.1, 1 / 3, 0.7, 1e-3])
def test_who_spends_all_there_is_again_and_again_loses_no_last_digit_more(budget, pattern):
    account, saved, spent = Account(budget, 1000), 0.0, Fraction(0)
    for access in range(300):
        share = pattern[access % len(pattern)]
        loss = float(account.limit(saved)) if share == 1 else share * budget
        saved = float(account.after(saved, loss))
        spent += Fraction(loss)
        assert spent + Fraction(saved) <= (access + 1) * Fraction(budget)


@given(budget=budgets, shares=shares)
def test_a_window_of_one_access_is_the_budget_of_every_access(budget, shares):
    account, saved = Account(budget), 0.0
    for share in shares:
        assert account.limit(saved) == budget
        saved = float(account.after(saved, share * budget))
        assert saved == 0


@given(budget=budgets, window=st.integers(2, 40), cap=st.floats(1, 10), saved=st.floats(0, 1))
def test_a_cap_holds_at_every_access_and_saves_the_rest(budget, window, cap, saved):
    capped, free = Account(budget, window, cap), Account(budget, window)
    before = saved * free.most
    limit = float(capped.limit(before))
    assert limit == min(float(free.limit(before)), cap * budget)
    assert capped.after(before, limit) == free.after(before, limit)
    assert capped.largest == min(free.largest, cap * budget)


def test_a_million_accesses_with_random_gaps_never_overdraw_it():
    """Gaps do not count: it earns at an access. Many accounts at once; losses as wild as the limit lets them be."""
    account, generator = Account(2.5, 288), np.random.default_rng(0)
    saved, spent = np.full(1000, account.half), np.zeros(1000)
    for access in range(1, 1001):
        greedy = generator.random(1000) < 0.3
        limit = account.limit(saved)
        loss = np.where(greedy, limit, generator.random(1000) * np.minimum(limit, 5.0))
        saved = account.after(saved, loss)
        spent += loss
        assert saved.min() >= 0
        assert (spent <= (access * 2.5 + account.half) * (1 + 1e-12)).all()


def test_it_begins_half_full_and_holds_no_more_than_the_window():
    account = Account(10.0, 4)
    assert (account.full, account.most, account.half) == (40.0, 30.0, 10.0)
    assert account.level(account.half) == pytest.approx(0.5, rel=1e-15)
    saved = 0.0
    for _ in range(9):
        saved = float(account.after(saved, 0.0))
    assert saved == 30.0
    assert account.limit(saved) == pytest.approx(40.0, rel=1e-15)


@pytest.mark.parametrize(
    ("over", "step", "every", "window"),
    [
        *[("access", "5min", 1, 1), ("1 day", "5min", 1, 288), ("1day", "5min", 2, 144), ("7min", "5min", 1, 1)],
        *[(timedelta(hours=1), "10min", 1, 6), ("7 days", "10min", 1, 1008)],
    ],
)
def test_windows_in_words(over, step, every, window):
    assert window_of(over, step, every, "plan") == window


@pytest.mark.parametrize(
    "over", ["4min", "0min", "-1 day", "a day", "", "1e9 days", None, 5.0, float("nan"), "access "]
)
def test_windows_that_are_none_are_refused(over):
    with pytest.raises(ParameterError, match="'over' parameter of plan must be"):
        window_of(over, "5min", 1, "plan")


@pytest.mark.parametrize("cap", [0.99, 0, -1, float("inf"), float("nan"), "two"])
def test_caps_below_one_budget_or_without_a_window_are_refused(cap):
    with pytest.raises(ParameterError, match="'cap' parameter of plan must be"):
        checked_cap(cap, 10, "plan")
    with pytest.raises(ParameterError, match="left out"):
        checked_cap(2.0, 1, "plan")
