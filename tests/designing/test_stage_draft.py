"""Stages in the making: rows for all that is known, blends, and what is missing."""

from __future__ import annotations

import numpy as np

from hideseek import Scenario
from hideseek.codebook.stage import Prior
from hideseek.designing.stage_draft import Draft, Made

LOCATION = Scenario.past_present(1)


def mechanism(inputs, table, mass) -> Made:
    return Made(np.array(inputs)[:, None], np.array(mass), np.array(table, float), np.eye(3)[list(inputs)])


def law(draft, seen, known):
    table = draft.stage.tables[0]
    return table.distributions(table.rows(np.array([[seen]]), np.array([[known]])))[0]


def test_an_input_that_the_history_rules_out_keeps_its_own_row():
    draft = Draft(LOCATION, 0)
    draft.take({(0,): mechanism([0, 1], [[0.5, 0.5, 0], [0, 0, 1]], [1.0, 0.0])}, 3)
    np.testing.assert_allclose(law(draft, 0, 1), [0, 0, 1])
    np.testing.assert_allclose(law(draft, 0, 2), [0.5, 0.5, 0], atol=1e-9)  # never known: what is released on the whole


def test_a_blend_moves_shared_rows_and_takes_new_ones_whole():
    draft = Draft(LOCATION, 0)
    draft.take({(0,): mechanism([0, 1], [[1, 0, 0], [0, 1, 0]], [0.5, 0.5])}, 3)
    other = mechanism([1, 2], [[0, 0, 1], [0.5, 0, 0.5]], [0.25, 0.75])
    blend = draft.blended((0,), other, 0.2)
    assert blend.inputs.ravel().tolist() == [0, 1, 2]
    np.testing.assert_allclose(blend.table, [[1, 0, 0], [0, 0.8, 0.2], [0.5, 0, 0.5]])
    np.testing.assert_allclose(blend.mass, [0.5, 0.45, 0.75])
    assert draft.blended((1,), other, 0.2) is other


def test_what_has_no_table_is_told_by_history():
    draft = Draft(LOCATION, 0)
    draft.take({(0,): mechanism([0], [[1, 0, 0]], [1.0]), (2,): mechanism([1], [[0, 1, 0]], [1.0])}, 3)
    histories, history = np.array([[0], [1], [2]]), np.array([0, 1, 2, 2])
    prior = Prior((0,), histories, history, np.array([[0], [0], [1], [2]]), np.full(4, 0.25))
    assert draft.unmade(prior, 3) == [(1,), (2,)]
