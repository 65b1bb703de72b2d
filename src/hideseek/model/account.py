"""The account of a budget that holds over a window: what was not lost is saved up, as far as the window reaches.

What an access loses on average, given every earlier release, follows from the belief and the table, which are public.
So a device may keep an account of it that tells nothing: every access earns the budget, pays the expected loss of the
table that is drawn from, and never pays more than there is. Every history then keeps

    loss of any n accesses in a row <= n budget + what was saved before them <= (n + window - 1) budget

whatever decides about the tables. It begins half full, where the long run keeps it. The account earns at an access and
not while nobody asks: the average is over answers, as an app feels them, and a long silence buys no wild answer after
it. A window of one access saves nothing: that is the budget of the paper, which holds at every access.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from hideseek.errors import ParameterError, broken_rule
from hideseek.util.arrays import FloatArray
from hideseek.util.checks import scalar
from hideseek.util.choices import ACCESS
from hideseek.util.time_steps import checked_step

LONGEST = 2**20  # accesses of a window


@dataclass(frozen=True)
class Account:
    """Earns the ``budget`` at every access and holds at most a ``window`` of accesses' worth.

    No access may lose more than ``cap`` budgets, if that is given.

    >>> account = Account(budget=2.0, window=3)
    >>> saved = account.after(0.0, loss=0.5)
    >>> [round(float(account.limit(one)), 9) for one in (0.0, saved, account.after(saved, loss=0.0))]
    [2.0, 3.5, 5.5]
    """

    budget: float
    window: int = 1
    cap: float | None = None

    @property
    def full(self) -> float:
        """The most that it holds at an access."""
        return self.window * self.budget

    @property
    def most(self) -> float:
        """The most that is saved between accesses: nothing where the window is one of them."""
        return (self.window - 1) * self.budget

    @property
    def any_window(self) -> float:
        """The most that the accesses of a window may lose on average."""
        return self.budget + self.most / self.window

    @property
    def half(self) -> float:
        """What is saved before an access that finds it half full, as it is in the long run."""
        return max(0.0, self.full / 2 - self.budget)

    @property
    def largest(self) -> float:
        """The most that an access may ever lose on average."""
        return float(self.limit(self.most))

    def earned(self, saved: FloatArray | float) -> FloatArray:
        """What it holds at an access, of what was ``saved`` before; rounded down, so that no sum is ever too large."""
        return np.where(np.asarray(saved) > 0, np.nextafter(np.add(saved, self.budget), 0.0), self.budget)

    def limit(self, saved: FloatArray | float) -> FloatArray:
        """The most that an access may lose on average."""
        earned = self.earned(saved)
        return earned if self.cap is None else np.minimum(earned, self.cap * self.budget)

    def after(self, saved: FloatArray | float, loss: FloatArray | float) -> FloatArray:
        """What is saved after an access with this expected loss; rounded down."""
        left = np.subtract(self.earned(saved), loss)
        return np.minimum(np.where(left > 0, np.nextafter(left, 0.0), 0.0), self.most)

    def level(self, saved: FloatArray | float) -> FloatArray:
        """How full it is at an access, from 0 to 1."""
        return np.asarray(self.earned(saved) / (self.full or 1.0))


def window_of(over: str | timedelta, step: str | timedelta, every: int, owner: str) -> int:
    """The accesses in a window, which is one "access" or a length of time such as "1 day".

    >>> window_of("access", "5min", 1, "plan"), window_of("1 day", "5min", 2, "plan")
    (1, 144)
    """
    if over == ACCESS:
        return 1
    between = every * checked_step(step, owner)
    rule = f'"{ACCESS}" or a length of time such as "1 day", of {between} (from access to access) or more'
    try:
        window = checked_step(over, owner) // between
    except ParameterError:
        window = 0
    if not 1 <= window <= LONGEST:
        raise broken_rule("over", owner, rule, repr(over))
    return int(window)


def checked_cap(cap: float | None, window: int, owner: str) -> float | None:
    """The most budgets that an access may lose; by default all that was saved."""
    if cap is None:
        return None
    if window == 1:
        raise broken_rule("cap", owner, f'left out, unless over is longer than one "{ACCESS}"', cap)
    return scalar(cap, "cap", owner, "a number of budgets >= 1", least=1.0)
