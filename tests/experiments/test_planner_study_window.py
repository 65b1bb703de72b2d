"""The planner of a study whose budget holds over a window: its row, its bound, and what its gain is counted from."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hideseek import Grid, MarkovProfile, ParameterError, Places, metrics
from hideseek.adversary import Estimate
from hideseek.experiments import planner_study, study
from hideseek.experiments.planner_study import Study, at_the_budget, expected_seconds, rows_of
from hideseek.experiments.planner_study_pages import facts_of, table_of, users_table, windows_table, write_pages
from hideseek.experiments.user_days import UserDay
from hideseek.planning import BeliefGame, Foresight, Outlook, follow, plan, steering_training
from hideseek.util.choices import MetricName
from tests.oracles.full_program import best_value
from tests.support.results import made_up_study as made_up
from tests.support.strolls import stroll

STREET = Grid(0.0, 0.1, 0.0, 1.0, rows=1, columns=12)
TRACES = pd.concat([stroll("ann", 4, 1), stroll("bob", 5, 2)])
TOWN = Places([0.0, 0.0, 0.01], [0.0, 0.01, 0.0])
STAYS = MarkovProfile.from_matrix([[0.95, 0.03, 0.02], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]], TOWN)  # steps of 5 minutes
TWO = [Outlook.PLAIN, Outlook.FAR_SIGHTED]
SHARE = 0.3


def rows_over(over):
    names = MetricName.EUCLID, MetricName.SQUARED
    return rows_of(UserDay("who", STAYS, 288), SHARE, *names, 40, 0, TWO, over)


@pytest.fixture(scope="module")
def rows():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering_training, "ROUND", 24)
        return rows_over("1 hour")


@pytest.fixture
def studied(rows):
    """A study of this person alone."""
    metres = metrics.distance(TOWN)
    return Study(tuple(rows), metres, metrics.squared(metres), accesses=40, seed=0)


def test_the_row_of_the_window_comes_last_and_the_others_stay(rows):
    assert [(row.planner, row.over) for row in rows] == [(TWO[0], "access"), (TWO[1], "access"), (TWO[1], "1 hour")]
    assert [row.name for row in rows] == ["plain", "far-sighted", "far-sighted, over 1 hour"]
    assert rows[:2] == rows_over("access") == rows_over("5min")  # a window of one access is that of the paper


def test_the_row_of_the_window_is_what_following_gives_at_equal_loss(rows, monkeypatch):
    """The price of the ceiling is the slope of its value in the budget, by differences of another program's."""
    monkeypatch.setattr(steering_training, "ROUND", 24)
    metres = metrics.distance(TOWN)
    every = np.arange(3)[:, None]
    error = metres.between(every, every, np.zeros(0, np.int64))
    saturation = float((STAYS.stationary @ error**2).min())
    game = BeliefGame.of(
        STAYS, privacy=metres, quality=metrics.squared(metres), budget=SHARE * saturation, over="1 hour"
    )
    assert game.window == 12
    found = follow(game, plan(game), accesses=10 * 2 * 12)  # two windows on each of ten walks
    values = [best_value(error, error**2, part * game.budget, STAYS.stationary) for part in (0.99, 1.0, 1.01)]
    price = (values[2] - values[0]) / (0.02 * game.budget)
    more = price * (found.quality_loss - game.budget)
    own = rows[-1]
    # both programs are exact to 1e-6 of the error, of which the difference takes a fiftieth
    assert own.filter == pytest.approx(found.filter - more, rel=1e-4)
    assert own.smoother == pytest.approx(found.smoother - more, abs=1e-4 * found.filter)
    assert np.diff(own.filter.interval) == pytest.approx(np.diff(found.filter.interval))
    assert own.kept == pytest.approx(own.filter / values[1], rel=1e-4)
    assert (own.quality_loss, own.worst_loss) == (found.quality_loss, found.worst_loss)
    assert own.worst_loss > game.budget
    assert own.worst_loss <= 12 * game.budget
    assert own.bound == found.bound <= own.ceiling


def foresight(reached, loss):
    error = Estimate(reached, (reached - 0.01, reached + 0.01))
    return Foresight(error, error, Estimate(loss), 0.5, error, bound=1.0, ceiling=1.0, accesses=100)


def test_a_loss_above_the_budget_is_taken_off_at_the_price_of_the_ceiling():
    """Under the Hamming metrics the ceiling is the budget, so that its price is 1."""
    profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    game = BeliefGame.of(profile, privacy="hamming", quality="hamming", budget=0.2, over="1 hour")
    for loss, left in ((0.25, 0.14), (0.2, 0.19), (0.15, 0.24)):
        found = at_the_budget(game, foresight(0.19, loss))
        assert found.filter == pytest.approx(left)
        assert found.filter.interval == pytest.approx((left - 0.01, left + 0.01))
        assert found.smoother == pytest.approx(left)
        assert found.kept == pytest.approx(min(left / 0.2, 1.0))
        assert found.quality_loss == loss


def windowed(*shares):
    """The made-up study, with what a planner over a window keeps of each of its users; no more than 99 %."""
    before = made_up((0.4, 0.8), (0.2, 0.3))
    rows = []
    for row in before.rows:
        rows.append(row)
        if row.planner is Outlook.FAR_SIGHTED:
            kept = shares[int(row.user[-1])]
            error = Estimate(kept, (kept - 0.01, kept + 0.01))
            rows.append(replace(row, filter=error, kept=error, bound=0.99, over="1 day"))
    return replace(before, rows=tuple(rows))


def test_a_window_s_gain_is_counted_from_the_same_planner_at_every_access():
    found = windowed(0.96, 0.27)
    *_, ahead, over = found.means
    assert (ahead.name, ahead.gain_over, ahead.limit) == ("far-sighted", Outlook.PLAIN, pytest.approx(0.9))
    assert ahead == made_up((0.4, 0.8), (0.2, 0.3)).means[-1]
    assert (over.name, over.gain_over, over.limit) == ("far-sighted, over 1 day", TWO[1], pytest.approx(0.99))
    assert over.gain == pytest.approx((0.96 + 0.27) / (0.8 + 0.3) - 1)
    assert over.own_gain == pytest.approx((0.96 / 0.8 + 0.27 / 0.3) / 2 - 1)
    assert over.losers == 1  # of 0.3 and 0.27, both known to 0.01
    assert over.attained == pytest.approx((0.96 + 0.27) / 2 / 0.99)


def test_findings_say_what_each_kind_of_budget_keeps_and_none_exceeds():
    found = windowed(0.96, 0.27)
    (every,), (over,) = found.findings, found.window_findings
    assert "planning ahead keeps 55%" in every
    assert "none with this budget at every access keeps more than 90%" in every
    for words in ("With 20% over 1 day, on average", "keeps 62%", "1.12 times as much as at every access", "1 of 2"):
        assert words in over
    assert "none that keeps it on average keeps more than 99%" in over


def test_tables_tell_each_bound_beside_its_own_planner(studied):
    bounds = [f"{row.bound / row.ceiling:.1%}" for row in studied.rows]
    assert [(row[1], row[5]) for row in table_of(studied).rows] == list(
        zip(("plain", "far-sighted", "over 1 hour"), bounds, strict=True)
    )
    assert len(users_table(studied).rows) == 1
    (row,) = windows_table(studied).rows
    own = studied.rows[-1]
    assert row[:3] == ("who", "30%", f"{own.filter:.4g}")
    assert [float(cell) for cell in row[4:6]] == pytest.approx([own.quality_loss**0.5, own.worst_loss**0.5], rel=0.005)


def test_pages_facts_and_figures_say_for_whom_each_bound_holds(studied, tmp_path):
    files = write_pages(studied, "strollers", tmp_path)
    page = files["report"].read_text()
    every, average = "keep the budget given every release", "keep the budget on average"
    for words in (every, average, "The same budget over 1 hour", "it may exceed that of the others"):
        assert words in page
    with files["rows"].open() as lines:
        told = list(csv.DictReader(lines))
    assert [row["over"] for row in told] == ["access", "access", "1 hour"]
    assert [float(row["bound"]) for row in told] == [row.bound for row in studied.rows]
    assert float(told[-1]["worst_loss_metres"]) == pytest.approx(studied.rows[-1].worst_loss ** 0.5)
    facts = json.loads(json.dumps(facts_of(studied)))
    assert every in facts["bound_holds_for"]
    assert average in facts["bound_over_a_window_holds_for"]
    assert [row["over"] for row in facts["rows"]] == [mean["over"] for mean in facts["means"]]
    assert [mean["gain_over"] for mean in facts["means"]] == ["plain", "plain", "far-sighted"]
    labels = [text.get_text() for text in studied.plot().get_legend().get_texts()]
    assert "proved: none with a budget at every access keeps more" in labels
    assert "proved: none with a budget over 1 hour, on average, keeps more" in labels


def test_without_a_window_nothing_is_said_of_one(studied, tmp_path):
    alone = replace(studied, rows=studied.rows[:2])
    page = write_pages(alone, "strollers", tmp_path)["report"].read_text()
    assert "on average over" not in page.replace("privacy on average over", "")
    assert "bound_over_a_window_holds_for" not in facts_of(alone)
    assert (len(alone.findings), alone.window_findings) == (1, ())
    assert "over" not in "".join(text.get_text() for text in alone.plot().get_legend().get_texts())


def test_a_window_takes_longer_and_is_told_before_anything_is_solved(monkeypatch):
    work = {"places": [10, 10], "accesses": 300, "outlooks": TWO, "workers": 2}
    seconds = [expected_seconds(**work, window=window) for window in (1, 12, 288, 2016)]
    assert seconds[0] == expected_seconds(**work)
    assert seconds == sorted(set(seconds))
    told = []

    def stop(*_, **__):
        raise InterruptedError

    monkeypatch.setattr(planner_study, "CELLS", 4)
    monkeypatch.setattr(planner_study, "plan", stop)
    run = {"over": "2h", "users": 2, "accesses": 60, "budgets": (0.5,), "workers": 1}
    with pytest.raises(InterruptedError):
        study(TRACES, STREET, **run, planners=TWO, expect=told.append)
    assert told == [expected_seconds([4, 5], 60, TWO, 1, window=24)]


@pytest.mark.parametrize("over", ["1min", "soon", "100 years"])
def test_windows_that_are_none_are_refused(run, over):
    with pytest.raises(ParameterError, match="'over' parameter of study must be \"access\" or a length of time"):
        study(TRACES, STREET, over=over)
    status, _, err = run("study", "--over", over)
    assert status == 2
    assert "option --over of study must be" in " ".join(err.split())
