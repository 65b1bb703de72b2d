"""A table is chosen by its value at the belief, and by nothing but products."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hideseek.errors import BudgetError
from hideseek.playbook.belief_table import grouped
from hideseek.playbook.choosing import NEAR, PAIRED, Chooser, Worth, losses, pooled, within
from tests.support.playbooks import book_of

SINGLE = 1e-5  # what only chooses has seven digits


def random_chooser(seed, tables=12, cuts=5, budget=None, discount=0.9):
    generator = np.random.default_rng(seed)
    states, releases = int(generator.integers(2, 7)), int(generator.integers(2, 6))
    cost = generator.random((states, releases))
    least = float(cost.min(axis=1).max())
    chooser = Chooser(
        generator.random((4, states)),
        cost,
        budget=float(generator.uniform(least, 1)) if budget is None else budget,
        cuts=generator.random((cuts, states)) * 3,
        discount=discount,
        anchors=generator.dirichlet(np.ones(states), size=tables),
        tables=generator.dirichlet(np.full(releases, 0.3), size=(tables, states)),
        most=1.0,
    )
    return chooser, generator.dirichlet(np.full(states, 0.5))


def value(chooser, belief, table):
    """The formula, in plain loops."""
    now = later = 0.0
    for release in range(table.shape[1]):
        joint = belief * table[:, release]
        now += min(float(row @ joint) for row in chooser.error)
        later += min((float(row @ joint) for row in chooser.cuts), default=0.0)
    return now, now + chooser.discount * later


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_the_worth_of_tables_is_what_the_formula_says(seed):
    chooser, belief = random_chooser(seed)
    found = chooser.worth(belief, chooser.tables)
    expected = np.array([value(chooser, belief, table) for table in chooser.tables.astype(float)])
    assert found.now == pytest.approx(expected[:, 0], rel=SINGLE, abs=SINGLE)
    assert found.value == pytest.approx(expected[:, 1], rel=SINGLE, abs=SINGLE)


@given(seed=st.integers(0, 10**6), tables=st.integers(1, 60), cuts=st.integers(0, 3))
@settings(max_examples=80)
def test_what_is_chosen_keeps_the_budget_and_no_near_one_is_worth_more(seed, tables, cuts):
    """No less than each near table mixed with what is cheapest, just as far as the budget asks."""
    chooser, belief = random_chooser(seed, tables, cuts)
    found = chooser.best(belief)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert found.min() >= 0
    cost = belief[:, None] * chooser.cost
    assert np.vdot(cost, found) <= chooser.budget * (1 + SINGLE)
    cheapest = np.eye(cost.shape[1])[chooser.cost.argmin(axis=1)]
    least, (_, best) = float(np.vdot(cost, cheapest)), value(chooser, belief, found)
    apart = np.abs(chooser.anchors - belief).sum(axis=1)
    for table in chooser.tables[np.argsort(apart, kind="stable")[:NEAR]].astype(float):
        loss = float(np.vdot(cost, table))
        share = 0.0 if loss <= chooser.budget else min(1.0, (loss - chooser.budget) / (loss - least))
        assert best >= value(chooser, belief, (1 - share) * table + share * cheapest)[1] - SINGLE


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_mixtures_of_the_best_are_tried(seed):
    """All tables keep the budget: what is chosen is worth no less than the best with half of each of the next."""
    chooser, belief = random_chooser(seed, budget=1.0)
    found = value(chooser, belief, chooser.best(belief))[1]
    values = [value(chooser, belief, table)[1] for table in chooser.tables.astype(float)]
    first, *others = np.argsort(values)[::-1][: PAIRED + 1]
    for share in (0.25, 0.5):
        for other in others:
            mixed = (1 - share) * chooser.tables[first] + share * chooser.tables[other]
            assert found >= value(chooser, belief, mixed)[1] - SINGLE


def test_tables_below_the_floor_come_last_by_their_privacy():
    worth = Worth(np.array([0.1, 0.3, 0.2, 0.4], np.float32), np.array([9.0, 1.0, 8.0, 0.5], np.float32))
    assert worth.order(0.0).tolist() == [0, 2, 1, 3]
    assert worth.order(0.25).tolist() == [1, 3, 2, 0]
    assert worth.order(0.5).tolist() == [3, 1, 2, 0]


def test_a_budget_that_nothing_keeps_is_refused_with_the_least():
    chooser, belief = random_chooser(0)
    states = len(belief)
    together = np.ones((1, states), bool)  # nothing is known
    least = float((belief @ chooser.cost).min())
    tight = random_chooser(0, budget=least * 0.99)[0]
    with pytest.raises(BudgetError) as told:
        tight.choose(belief, together)
    assert told.value.least == pytest.approx(least, rel=1e-12)
    found = random_chooser(0, budget=least)[0].choose(belief, together)
    assert np.vdot(belief[:, None] * chooser.cost, found) == pytest.approx(least, rel=1e-9)
    assert (found == found[0]).all()


def test_pooled_rows_are_the_average_at_the_belief_and_nobody_gets_some_row():
    book = book_of("long way")
    group = grouped(book, [0, 2])[2]
    belief = np.zeros(len(book.states))
    belief[:3] = [0.5, 0.25, 0.25]
    tables = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, len(belief))).astype(np.float32)
    found = pooled(tables, belief, group)
    assert found.sum(axis=2) == pytest.approx(1, abs=1e-6)
    for members in group:
        rows = found[:, members]
        assert (rows == rows[:, :1]).all()
        if belief[members].any():
            expected = np.average(tables[:, members], axis=1, weights=belief[members])
            assert rows[:, 0] == pytest.approx(expected, abs=1e-6)


def test_tables_are_mixed_just_as_far_as_the_budget_asks():
    cost = np.array([[0.0, 0.5], [0.5, 0.0]])
    tables = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0.5, 0.5], [0.5, 0.5]]], np.float32)
    found = within(tables, tables[0], cost, 0.25)
    assert losses(tables, cost) == pytest.approx([0, 1, 0.5])
    assert losses(found, cost) == pytest.approx([0, 0.25, 0.25], rel=1e-6)
    assert found[1] == pytest.approx(0.75 * tables[0] + 0.25 * tables[1], abs=1e-6)


def test_the_tables_that_are_looked_at_are_those_of_the_nearest_beliefs():
    chooser, belief = random_chooser(3, tables=3 * NEAR)
    apart = [sum(abs(one - other) for one, other in zip(anchor, belief, strict=True)) for anchor in chooser.anchors]
    assert sorted(chooser.nearest(belief).tolist()) == sorted(sorted(range(3 * NEAR), key=lambda k: apart[k])[:NEAR])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_tables_over_the_budget_are_mixed_with_the_best_one_within_it_too(seed):
    """What is chosen is worth no less than each such mixture, just as far as the budget asks."""
    chooser, belief = random_chooser(seed)
    cost = belief[:, None] * chooser.cost
    tables = chooser.tables.astype(float)
    lost = [float(np.vdot(cost, table)) for table in tables]
    worth = [value(chooser, belief, table)[1] for table in tables]
    within_budget = [k for k in range(len(tables)) if lost[k] <= chooser.budget]
    assume(0 < len(within_budget) < len(tables))
    best, found = max(within_budget, key=lambda k: worth[k]), value(chooser, belief, chooser.best(belief))[1]
    for k in set(range(len(tables))) - {*within_budget}:
        share = (lost[k] - chooser.budget) / (lost[k] - lost[best])
        assert found >= value(chooser, belief, (1 - share) * tables[k] + share * tables[best])[1] - SINGLE
