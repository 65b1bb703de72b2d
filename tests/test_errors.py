"""Errors say what broke, also when they come back from another process."""

from __future__ import annotations

import copy
import pickle

import pytest

from hideseek.errors import BudgetError, MissingExtraError, ReducibleError, SizeError, broken_rule, without_value


@pytest.mark.parametrize(
    ("error", "more"),
    [
        (BudgetError("too small", least=3.5), {"least": 3.5}),
        (ReducibleError("no way back", places=(1, 4)), {"places": (1, 4)}),
        (SizeError("too large", needed=2**40), {"needed": 2**40}),
        (broken_rule("budget", "solve", "a number", "nan"), {}),
        (MissingExtraError("not installed"), {}),
    ],
    ids=lambda case: type(case).__name__,
)
@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy])
def test_an_error_comes_back_from_another_process_as_it_was(error, more, again):
    error.add_note("while solving")
    back = again(error)
    assert type(back) is type(error)
    assert (str(back), back.args) == (str(error), error.args)
    assert vars(back) == {**more, "__notes__": ["while solving"] * len(error.__notes__)}
    with pytest.raises(type(error), match=str(error)):
        raise back


def test_a_huge_value_is_not_repeated_whole():
    huge = broken_rule("grid", "learn", "small", "9" * 10**6, "Try 10x25.")
    assert len(str(huge)) < 400
    assert str(huge).endswith("Try 10x25.")
    assert without_value(huge) == "The 'grid' parameter of learn must be small. Try 10x25."
