"""Playbooks of a fleet whose budgets hold over a window: rows against loops of our own, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import msgspec
import numpy as np
import pytest

from hideseek import ParameterError
from hideseek.fleet import Job, outputs, run_fleet
from hideseek.fleet import playbooks as made_here
from hideseek.fleet.job import protect
from hideseek.model.steering import Standing
from hideseek.planning import load_plan, steering_training
from hideseek.playbook import Playbook
from hideseek.playbook.playbook import playbook_from
from tests.support.fleets import CITY, labels_of

ONE = CITY[CITY["user_id"] == "person-000"].reset_index(drop=True)
JOB = Job(grid=(2, 2), privacy=("euclid",), quality="hamming", over="access")
HOUR = replace(JOB, over="1h", quality="squared")  # 12 accesses of 5 minutes


@pytest.fixture(scope="module", autouse=True)
def short():
    """Training is what takes time: the claims hold whatever the price."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering_training, "ROUND", 24)
        yield patch


@pytest.fixture(scope="module")
def hour():
    ((row, files),) = protect("person-000", ONE, HOUR)
    assert row.reason is None
    return row, playbook_from(memoryview(files["playbook"]))


def lived(book, accesses, walks, seed):
    """Expected and realised losses [walk, access] of devices that follow the playbook, by Bayes' rule written out."""
    generator = np.random.default_rng(seed)
    expected, realised = np.zeros((2, walks, accesses))
    places = len(book.start)
    for walk in range(walks):
        standing, place = Standing.first(book), int(generator.choice(places, p=book.start))
        for access in range(accesses):
            table = book.play(standing).by_state
            joint = standing.belief[0][:, None] * table
            expected[walk, access] = (joint * book.cost).sum()
            release = int(generator.choice(table.shape[1], p=table[place] / table[place].sum()))
            realised[walk, access] = book.cost[place, release]
            standing = standing.exposed(book, table[None], np.array([release]), log=book.follows_log).moved(book.moves)
            after = (joint[:, release] / joint[:, release].sum()) @ book.moves
            np.testing.assert_allclose(standing.belief[0], after, atol=1e-9)  # rounding of single products
            place = int(generator.choice(places, p=book.moves[place]))
    return expected, realised


def worst_of(losses, window):
    """The largest mean over so many accesses in a row, walk by walk and access by access."""
    most = -np.inf
    for walk in losses:
        for first in range(len(walk) - window + 1):
            most = max(most, sum(walk[first : first + window]) / window)
    return most


def test_a_row_tells_of_the_window_what_a_loop_of_its_own_finds(hour):
    """On walks of its own: means within three standard errors, and no window beyond what any history may lose."""
    row, book = hour
    assert (row.over, book.window) == ("1 hour", 12)
    assert (row.accesses, row.walks) == (60, 40)  # four windows are fewer
    expected, realised = lived(book, 60, 40, seed=5)
    for name, losses in (("quality_loss", expected), ("realised", realised)):
        means = losses.mean(axis=1)
        assert abs(getattr(row, name) - means.mean()) <= 3 * np.sqrt(2 / 40) * means.std()
    for worst in (row.worst_window, worst_of(expected, 12)):
        assert row.quality_loss <= worst <= row.budget * (2 - 1 / 12) * (1 + 1e-12)
    assert row.worst_window <= row.worst_loss <= 12 * row.budget * (1 + 1e-12)
    assert row.worst_loss > row.budget  # something was saved up
    for name in ("worst_window", "realised", "quality_loss"):
        assert getattr(row, f"{name}_metres") == pytest.approx(getattr(row, name) ** 0.5)


def test_the_worst_window_of_a_row_is_that_of_its_own_walks(hour, monkeypatch):
    """The losses of the row's walks, each access's computed here from what was believed and drawn from."""
    row, book = hour
    followed = made_here.follow_beliefs
    losses = []

    def watched(chain, choose, **names):
        own = []

        def choosing(standing):
            tables = choose(standing)
            own.append(np.einsum("wx,wxo,xo->w", standing.belief, tables, book.cost))
            return tables

        found = followed(chain, choosing, **names)
        losses.append(np.array(own).T)
        return found

    monkeypatch.setattr(made_here, "follow_beliefs", watched)
    numbers, _ = made_here.attacked(book)
    steady, gaps = losses
    assert numbers["worst_window"] == row.worst_window == pytest.approx(worst_of(steady, 12), rel=1e-12)
    assert row.quality_loss == pytest.approx(steady.mean(), rel=1e-12)
    assert row.worst_loss == pytest.approx(steady.max(), rel=1e-12)
    assert row.gap_worst_loss == pytest.approx(gaps.max(), rel=1e-12)


def test_a_window_of_one_access_is_the_budget_of_the_paper(hour):
    assert replace(JOB, over="5min") == replace(JOB, over="access") == replace(JOB, over=timedelta(minutes=5))
    ((row, files),) = protect("person-000", ONE, JOB)
    ((again, same),) = protect("person-000", ONE, replace(JOB, over="5min"))
    assert files == same
    assert msgspec.structs.replace(again, seconds=row.seconds) == row
    assert row.worst_window == row.worst_loss
    assert row.over == "access"


def test_every_user_of_a_fleet_keeps_the_account(city, tmp_path):
    """After every access of every walk, as the account has it: never more lost than earned and saved at first."""
    job = replace(HOUR, grid=(1, 2), cap=3.0)
    found = run_fleet(city, tmp_path / "out", job=job, workers=1)
    labels = labels_of(tmp_path / "out")
    assert (found.over, found.playbooks) == ("1 hour", 4)
    assert found.worst_window == pytest.approx((labels["worst_window"] / labels["budget"]).max())
    for row in labels.itertuples():
        book = Playbook.load(tmp_path / "out" / row.playbook)
        game, planner = load_plan(tmp_path / "out" / row.plan)
        assert (book.window, book.cap, game.window, game.cap) == (12, 3.0, 12, 3.0)
        assert planner.steering is not None
        expected, _ = lived(book, 40, 4, seed=1)
        saved = 5 * row.budget  # half of twelve, less what the first access earns
        for walk in expected:
            held = saved
            for loss in walk:
                held += row.budget
                assert loss <= min(held, 3 * row.budget) * (1 + 1e-12)
                held = min(held - loss, 11 * row.budget)
        assert max(row.worst_loss, row.gap_worst_loss) <= 3 * row.budget * (1 + 1e-12)
    assert run_fleet(city, tmp_path / "out", job=job, workers=1).reused == 4


def test_the_adversary_that_was_asked_for_is_played_against():
    books = {}
    for against in (None, "both", "filter", "log"):
        ((row, files),) = protect("person-000", ONE, replace(HOUR, grid=(1, 2), against=against))
        assert row.reason is None
        books[against] = playbook_from(memoryview(files["playbook"]))
    assert books[None].sha256 == books["both"].sha256
    assert [books[name].follows_log for name in ("filter", "both", "log")] == [False, True, True]
    assert len({book.sha256 for book in books.values()}) == 3


@pytest.mark.parametrize(
    ("over", "written"),
    [
        ("1day", "1 day"),
        ("24 h", "1 day"),
        (timedelta(days=1), "1 day"),
        ("36h", "1.5 days"),
        ("100min", "0 days 01:40:00"),
    ],
)
def test_a_job_writes_a_window_in_one_way(over, written):
    job = Job(over=over)
    assert job.over == written
    assert job == Job(over=job.over)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"over": "1min"}, "'over' parameter of fleet must be \"access\" or a length of time"),
        ({"over": "soon"}, "'over' parameter of fleet"),
        ({"over": "100 years"}, "'over' parameter of fleet"),
        ({"over": "20min", "step": "30min"}, "'over' parameter of fleet"),
        ({"over": "access", "cap": 4}, "'cap' parameter of fleet must be left out, unless over is longer"),
        ({"over": "1 day", "cap": 0.5}, "'cap' parameter of fleet must be a number of budgets >= 1"),
        ({"over": "1 day", "cap": float("inf")}, "'cap' parameter of fleet"),
        ({"over": "access", "against": "log"}, "'against' parameter of fleet"),
        ({"over": "1 day", "against": "smoother"}, "'against' parameter of fleet must be 'filter', 'log' or 'both'"),
        ({"against": "everybody"}, "'against' parameter of fleet must be one of"),
        ({"memory": 1, "over": "1 day"}, "'over' parameter of fleet must be left out beside memory"),
        ({"memory": 1, "cap": 4}, "'cap' parameter of fleet must be left out beside memory"),
        ({"memory": 1, "against": "filter"}, "'against' parameter of fleet must be left out beside memory"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_user(wrong, match):
    with pytest.raises(ParameterError, match=match):
        Job(**wrong)


def test_codebooks_have_no_window():
    job = Job(memory=1, over="access")
    assert (job.over, job.cap, job.against) == (None, None, None)
    ((row, _),) = protect("person-000", ONE, replace(JOB, memory=1, over=None))
    assert (row.reason, row.over, row.worst_window, row.realised) == (None, None, None, None)


def test_a_budget_of_nothing_cannot_be_saved_up_and_is_told_as_the_reason():
    ((row, files),) = protect("person-000", ONE, replace(HOUR, budgets=("0%",)))
    assert files == {}
    assert "nothing can be saved up" in row.reason


def test_folders_of_another_window_or_of_an_older_release_are_refused(tmp_path):
    with outputs.Outputs(tmp_path, HOUR).taken():
        (tmp_path / "labels.parquet").touch()
    with pytest.raises(ParameterError, match="over 1 hour, where access is asked for"):
        outputs.Outputs(tmp_path, replace(HOUR, over="access")).begin()
    about = json.loads((tmp_path / "fleet.json").read_text())
    assert about["schema"] == 7
    assert [about.pop(name) for name in ("over", "cap", "against")] == ["1 hour", None, None]
    (tmp_path / "fleet.json").write_text(json.dumps(about | {"schema": 6}))
    with pytest.raises(ParameterError, match="with the release of hideseek it was begun with"):
        outputs.Outputs(tmp_path, HOUR).begin()
