"""Our own mechanisms in a comparison: the rows that are there are those of what a device does, and no row goes missing
in silence.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from hideseek import MarkovProfile, make_playbook, plan, save_profile
from hideseek.adversary.belief_exposer import follow_beliefs
from hideseek.experiments.comparison import compare
from hideseek.experiments.comparison_measure import FAR_SIGHTED, LIVE, OURS, PLAYBOOK, WINDOWED
from hideseek.experiments.comparison_pages import facts_of, write_pages
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame
from hideseek.planning import steering_training as training
from tests.support.rivals import town

PROFILE = town(3, 4)
RUN = {"rivals": (), "accesses": 12, "walks": 100, "workers": 1}


@pytest.fixture(scope="module")
def found():
    return compare(PROFILE, privacy="euclid", quality="squared", budget="20%", over="access", **RUN)


def test_the_row_of_a_playbook_is_what_its_own_walks_measure(found):
    """The row attacks all that may be exposed as a policy; walks of the file's tables are followed belief by belief."""
    row = next(row for row in found.rows if row.mechanism == PLAYBOOK)
    game = BeliefGame.of(PROFILE, privacy="euclid", quality="squared", budget="20%")
    book = make_playbook(game, plan(game))
    own = follow_beliefs(book, at_beliefs(lambda belief: book.play(belief).by_state), accesses=12, walks=100, seed=8)
    assert (row.dial, row.noise) == ("tables", len(book.anchors))
    for one, other in ((row.filter, own.filter), (row.smoother, own.smoother), (row.quality_loss, own.quality_loss)):
        wide = sum(high - low for low, high in (one.interval, other.interval))
        assert abs(one - other) <= 0.75 * wide + 1e-9  # three standard errors of the difference, or a little more
    assert own.worst_loss <= game.budget * (1 + 1e-9)


def test_a_playbook_is_near_the_live_planner_at_the_same_budget(found):
    rows = {row.mechanism: row for row in found.rows}
    assert rows[PLAYBOOK].filter >= 0.95 * rows[LIVE].filter
    assert rows[PLAYBOOK].quality_loss <= found.quality_loss * (1 + 1e-9)
    assert not found.notes


def test_a_budget_over_a_window_has_a_row_that_loses_the_same_on_average(found, monkeypatch):
    """The account begins half full: so 12 accesses of 72 lose about the budget, by what is saved up or spent."""
    monkeypatch.setattr(training, "ROUND", 36)
    both = compare(PROFILE, privacy="euclid", quality="squared", budget="20%", over="6 hours", **RUN)
    rows = {row.mechanism: row for row in both.rows}
    own, at_every_access = rows[WINDOWED], rows[PLAYBOOK]
    assert (own.dial, own.noise) == ("accesses of the window", 72)
    assert 0.7 * both.quality_loss <= own.quality_loss <= 1.3 * both.quality_loss
    assert own.filter.interval[1] > at_every_access.filter
    assert WINDOWED not in {row.mechanism for row in found.rows}
    assert both.equal(own)


def test_without_regions_the_missing_playbook_is_told(tmp_path):
    nowhere = compare(replace(PROFILE, regions=None), privacy="hamming", quality="hamming", budget="20%", **RUN)
    assert {row.mechanism for row in nowhere.rows} & set(OURS) == set(OURS) - {PLAYBOOK, WINDOWED}
    (told,) = nowhere.notes
    assert told.startswith("Without a row: playbook. The profile does not say where")
    assert facts_of(nowhere)["notes"] == (told,)
    report = write_pages(nowhere, "Hamming", "Hamming", "", tmp_path)["report"].read_text()
    assert told.replace("'", "&#x27;") in report


def test_a_budget_that_some_place_exceeds_is_told_with_what_it_leaves_out():
    """At the third place every release loses at least 0.3: whoever may come to believe in it alone is over 0.25."""
    moves = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.3, 0.1, 0.6]])
    loss = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0.3]])
    short = compare(moves, privacy="hamming", quality=loss, budget=0.25, **RUN)
    assert not {row.mechanism for row in short.rows} & {LIVE, PLAYBOOK, FAR_SIGHTED}
    (told,) = short.notes
    assert told.startswith("Without a row: live planner; playbook; codebook, far-sighted. The budget cannot be kept")


def test_the_command_tells_what_has_no_row(found, run, tmp_path, monkeypatch):
    lacking = replace(found, rows=tuple(row for row in found.rows if row.mechanism != FAR_SIGHTED))
    monkeypatch.setattr("hideseek.experiments.comparison.compare", lambda *_, **__: lacking)
    save_profile(PROFILE, tmp_path / "town.json")
    status, out, err = run("compare", "town.json", "--json")
    assert status == 0, err
    (told,) = json.loads(out)["notes"]
    assert told.startswith("Without a row: codebook, far-sighted. Its plan values no later access")
    assert f"note: {told}" in " ".join(err.split())
