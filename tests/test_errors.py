"""Errors say what broke, also when they come back from another process."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hideseek as hs
from hideseek.errors import (
    BudgetError,
    MissingExtraError,
    ParameterError,
    PlanError,
    ReducibleError,
    SizeError,
    TraceError,
    broken_rule,
    without_value,
)
from hideseek.storage.documents import MetricDocument, metric_from
from hideseek.storage.regions_document import GridDocument, regions_from

FIELDS = {"parameter": "budget", "owner": "solve", "rule": "a number", "value": "nan", "hint": "Give one."}


@pytest.mark.parametrize(
    ("error", "more"),
    [
        (BudgetError("too small", least=3.5), {"least": 3.5}),
        (ReducibleError("no way back", places=(1, 4)), {"places": (1, 4)}),
        (SizeError("too large", needed=2**40), {"needed": 2**40}),
        (broken_rule("budget", "solve", "a number", "nan", "Give one."), FIELDS),
        (BudgetError.breaking(**FIELDS, least=3.5), FIELDS | {"least": 3.5}),
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


def test_an_error_pickles_whatever_value_broke_the_rule():
    error = broken_rule("order", "fit", "an integer", lambda: None)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("kind", [ParameterError, PlanError])
def test_the_sentence_and_the_fields_say_the_same(kind):
    error = kind.breaking("budget", "solve", "a number", float("nan"), "Give one.")
    assert str(error) == "The 'budget' parameter of solve must be a number. Got nan instead. Give one."
    assert {name: getattr(error, name) for name in FIELDS} == FIELDS


def test_an_error_that_breaks_no_rule_has_empty_fields():
    error = TraceError("There is no file.")
    assert {name: getattr(error, name) for name in FIELDS} == dict.fromkeys(FIELDS, "")
    assert without_value(error) == "There is no file."


def test_a_huge_value_is_not_repeated_whole():
    huge = broken_rule("grid", "learn", "small", "9" * 10**6, "Try 10x25.")
    assert len(str(huge)) < 400
    assert str(huge).endswith("Try 10x25.")
    assert without_value(huge) == "The 'grid' parameter of learn must be small. Try 10x25."


@pytest.mark.parametrize("value", ["8 instead. 46.52", "home Got 46.52", " Got 1 instead. Got 46.52 instead. "])
@pytest.mark.parametrize("hint", ["", "Try again."])
def test_redaction_does_not_leak_a_value_that_reads_like_the_sentence(value, hint):
    error = broken_rule("place", "expose", "a number", value, hint)
    assert value in str(error)
    assert without_value(error) == f"The 'place' parameter of expose must be a number. {hint}".strip()


LARGE = hs.Game.from_prior(np.ones(60) / 60, privacy=1 - np.eye(60), quality=1 - np.eye(60), budget=0.1)
CHAIN = hs.MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
PLAYED = hs.planning.BeliefGame.of(CHAIN, privacy="hamming", quality="hamming", budget=0.1)
TWICE = {"name": "sensitive", "arguments": {"factors": {"type": "pairs", "pairs": [[1, 2.0], [1, 3.0]]}}}


@pytest.mark.parametrize(
    ("call", "kind", "parameter"),
    [
        (lambda: hs.Grid(0, 1, 0, 1, rows=10**6, columns=10**6), SizeError, "rows, columns"),
        (lambda: hs.model.possible_trajectories(CHAIN, range(60)), SizeError, "offsets"),
        (lambda: hs.planning.follow(PLAYED, hs.plan(PLAYED, outlook="plain"), accesses=10**9), SizeError, "accesses"),
        (lambda: hs.solvers.solve_worst_case(LARGE), SizeError, "game"),
        (lambda: hs.solve(LARGE, method="best"), ParameterError, "method"),
        (lambda: hs.MarkovProfile.from_matrix([[1.0, 0.0], [0.0, 1.0]]).stationary, ReducibleError, "matrix"),
        (lambda: hs.Game.from_prior([1.0], privacy=[[0.0]], quality=[[2.0]], budget=1), BudgetError, "budget"),
        (lambda: metric_from(MetricDocument("eval", {}), None, 2), ParameterError, "metric"),
        (lambda: metric_from(msgspec.convert(TWICE, MetricDocument), None, 2), ParameterError, "metric"),
        (lambda: regions_from(GridDocument(0, 1, 0, 1, 2, 2, [5])), ParameterError, "grid"),
    ],
    ids=range(10),
)
def test_an_error_about_a_value_has_its_fields_filled(call, kind, parameter):
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert error.parameter == parameter
    assert error.rule
    assert error.value in str(error)
    assert error.hint or kind is not SizeError


def test_no_error_about_a_value_is_made_without_its_fields():
    """Such errors are made by ``broken_rule`` or ``breaking``, or their fields are filled in where they are raised."""
    kinds = {kind.__name__ for kind in (ParameterError, BudgetError, ReducibleError, SizeError)}
    source = Path(hs.__file__).parent
    bare = [
        f"{file.relative_to(source)}:{node.lineno}"
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and getattr(node.exc.func, "id", "") in kinds
    ]
    assert bare == []


@given(st.text())
def test_redaction_depends_on_no_value(value):
    assert without_value(broken_rule("p", "o", "r", value, "h")) == "The 'p' parameter of o must be r. h"
