"""After every pattern of gaps the loss is as said, by writing out all true paths and all exposed ones."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, Scenario, design
from hideseek.designing import worst_loss_after_gaps
from hideseek.errors import CodebookError
from hideseek.metrics import hamming
from tests.oracles.enumeration import everything
from tests.support.saved_codebooks import with_gaps

CHAIN = MarkovProfile.from_matrix([[0.9, 0.1], [0.3, 0.7]])
ROUNDING = 1e-9  # of the sums, and of losses that are rounded up


def losses(codebook, gaps, given):
    """The expected Hamming loss at the last access after these gaps, by what ``given(path, exposed, starts)`` says."""
    starts = list(itertools.accumulate((0, *gaps)))
    paths = everything(codebook, CHAIN, len(starts), dict(enumerate(gaps, start=1)))
    lost, weight = defaultdict(float), defaultdict(float)
    for (path, exposed), chance in paths.items():
        past = given(path, exposed, starts)
        weight[past] += chance
        lost[past] += chance * (path[-1] != exposed[-1])
    return {past: lost[past] / weight[past] for past in weight}


@pytest.mark.parametrize(("memory", "budget"), [(1, 0.1), (1, 0.03), (2, 0.1)])
def test_no_pattern_of_gaps_loses_more_than_is_said_and_one_loses_it(memory, budget):
    codebook = design(
        CHAIN, Scenario.past_present(memory), privacy=hamming(), quality=hamming(), budget=budget, workers=1
    )
    said, reached = worst_loss_after_gaps(codebook), 0.0
    assert said > budget
    for gaps in itertools.product([1, 2, 3], repeat=memory + 1):
        last = max((number for number, gap in enumerate(gaps, start=1) if gap > 1), default=0)  # the access after a gap

        def since(exposed, starts, first=last):
            return tuple(exposed[start] for start in starts[max(first, len(starts) - 1 - memory) : -1])

        own = losses(codebook, gaps, lambda _, exposed, starts: since(exposed, starts))
        assert max(own.values()) <= budget * (1 + ROUNDING)  # given what the codebook remembers since the gap
        window = losses(codebook, gaps, lambda _, exposed, starts: tuple(exposed[s] for s in starts[-1 - memory : -1]))
        assert max(window.values()) <= said * (1 + ROUNDING)  # given the last releases, also those before the gap
        if last > len(gaps) - memory:
            place = losses(
                codebook, gaps, lambda path, exposed, starts, at=last: (path[starts[at - 1]], since(exposed, starts))
            )
            reached = max(reached, *place.values())
    assert reached == pytest.approx(said, rel=ROUNDING)


def test_a_codebook_that_remembers_nothing_loses_the_same_after_gaps():
    codebook = design(CHAIN, Scenario.sporadic(), privacy=hamming(), quality=hamming(), budget=0.1, workers=1)
    assert worst_loss_after_gaps(codebook) == codebook.deployed.worst_loss


def test_a_longer_gap_that_has_no_tables_loses_no_more_than_a_shorter_one():
    """Files with tables for gaps start afresh after longer ones only, when less is known of the place."""
    matrix = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
    codebook = with_gaps("past")
    table = codebook.stages[0].tables[0]
    lost = 1 - np.diagonal(table.distributions(table.rows(np.zeros((3, 0), int), np.arange(3)[:, None])))
    after_four = (np.linalg.matrix_power(matrix, 4) @ lost).max()
    expected = max(after_four, codebook.deployed.worst_loss)
    assert worst_loss_after_gaps(codebook) == pytest.approx(expected, rel=ROUNDING)


def test_without_a_profile_the_loss_is_not_known():
    with pytest.raises(CodebookError, match="holds no profile"):
        worst_loss_after_gaps(replace(with_gaps(), chain=None))
