"""Planners on one scale: the rows against direct calls, the means against arithmetic, the pages as users get them."""

from __future__ import annotations

import csv
import json
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hideseek import Game, Grid, MarkovProfile, ParameterError, Places, Scenario, solve, synthetic_city
from hideseek.adversary import Estimate
from hideseek.errors import SizeError
from hideseek.experiments import planner_study, study
from hideseek.experiments.planner_study import CELLS, WARM, Study, expected_seconds, rows_of
from hideseek.experiments.planner_study_pages import FIELDS, facts_of, table_of, users_table, write_pages
from hideseek.experiments.planner_study_rows import mean_kept
from hideseek.experiments.user_days import BAY, CITY, UserDay, days_of, drawn_from
from hideseek.metrics import hamming
from hideseek.planning import BeliefGame, Outlook, follow, plan
from hideseek.planning.simulation import Walk, controlled
from hideseek.util.choices import MetricName
from tests.support.results import made_up_study as made_up
from tests.support.strolls import stroll

STREET = Grid(0.0, 0.1, 0.0, 1.0, rows=1, columns=12)
PLANNERS = [str(outlook) for outlook in Outlook]
DEFAULT = [Outlook.PLAIN, Outlook.SECONDARY, Outlook.FAR_SIGHTED]


TRACES = pd.concat([stroll("ann", 10, 1), stroll("bob", 11, 2), stroll("homely", 9, 3)])
SHORT = pd.concat([stroll("ann", 4, 1), stroll("bob", 5, 2), stroll("homely", 3, 3)])  # in few places, which is faster
PAPER = {"privacy": "hamming", "quality": "hamming", "over": "access"}  # windows: test_planner_study_window


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planner_study, "CELLS", 4)
        return study(SHORT, STREET, users=2, accesses=60, budgets=(0.5, 0.2), workers=1, planners=PLANNERS, **PAPER)


def test_every_user_budget_and_planner_has_its_row_in_order(found):
    keys = [(row.user, row.budget_share, str(row.planner)) for row in found.rows]
    users = list(dict.fromkeys(row.user for row in found.rows))
    assert sorted(users) == ["ann", "bob"]  # three cells are too few
    assert keys == [(user, budget, planner) for user in users for budget in (0.2, 0.5) for planner in PLANNERS]
    assert {row.user: row.places for row in found.rows} == {"ann": 4, "bob": 5}


def test_rows_are_what_training_and_following_give(found):
    row = next(row for row in found.rows if row.user == "bob" and row.planner is Outlook.FAR_SIGHTED)
    profile = MarkovProfile.fit(SHORT[SHORT["user_id"] == "bob"], STREET, step="5min")
    budget = (
        row.budget_share
        * Game.from_scenario(profile, Scenario.sporadic(), privacy=hamming(), quality=hamming()).saturation
    )
    game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=budget)
    one = follow(game, plan(game, outlook="far-sighted"), accesses=60)
    assert (row.filter, row.smoother, row.quality_loss) == (one.filter, one.smoother, one.quality_loss)
    assert (row.kept, row.interval) == (one.kept, one.kept.interval)
    assert row.bound == one.bound
    look = next(row for row in found.rows if row.user == "bob" and row.planner is Outlook.LOOK_AHEAD)
    assert look.filter == follow(game, plan(game, outlook="look-ahead", walks=WARM), accesses=60).filter


@pytest.mark.parametrize("planners", [None, ("far-sighted", "plain"), ("far-sighted", "look-ahead", "plain")])
def test_the_chosen_planners_run_and_look_ahead_is_not_one_by_default(monkeypatch, planners):
    ran = []
    monkeypatch.setattr(planner_study, "CELLS", 4)
    monkeypatch.setattr(
        planner_study, "plan", lambda game, **names: ran.append(names["outlook"]) or plan(game, **names)
    )
    names = PAPER if planners is None else PAPER | {"planners": planners}
    found = study(SHORT, STREET, users=1, accesses=20, budgets=(0.5,), workers=1, **names)
    chosen = ("plain", "secondary", "far-sighted") if planners is None else planners
    assert [row.planner for row in found.rows] == ran == [name for name in PLANNERS if name in chosen]
    assert [mean.planner for mean in found.means] == ran
    assert len(found.findings) == 1


def test_pages_show_the_planners_that_ran(tmp_path):
    everybody = made_up((0.4, 0.8), (0.2, 0.3))
    found = replace(everybody, rows=tuple(row for row in everybody.rows if row.planner is not Outlook.LOOK_AHEAD))
    report = write_pages(found, "strollers", tmp_path)["report"].read_text()
    assert "secondary" in report
    assert "look-ahead" not in report


@pytest.mark.parametrize(
    "more",
    [
        {"places": [10, 10, 10]},
        {"places": [10, 20]},
        {"accesses": 600},
        {"outlooks": list(Outlook)},
        {"workers": 1},
    ],
)
def test_more_work_is_expected_to_take_longer(more):
    work = {"places": [10, 10], "accesses": 300, "outlooks": DEFAULT, "workers": 2}
    assert 0 < expected_seconds(**work) < expected_seconds(**(work | more))


def test_the_seconds_expected_are_told_before_anything_is_solved(monkeypatch):
    told = []

    def stop(*_, **__):
        told.append("plan")
        raise InterruptedError

    monkeypatch.setattr(planner_study, "CELLS", 4)
    monkeypatch.setattr(planner_study, "plan", stop)
    with pytest.raises(InterruptedError):
        study(SHORT, STREET, users=2, accesses=60, budgets=(0.2, 0.5), workers=1, expect=told.append, **PAPER)
    assert told == [expected_seconds([4, 5, 4, 5], 60, DEFAULT, 1), "plan"]


@pytest.mark.parametrize(("seconds", "words"), [(5, "less than a minute"), (50, "about a minute"), (400, "7 minutes")])
def test_the_command_says_how_long_it_will_take_beside_what_machines_read(run, found, monkeypatch, seconds, words):
    def answer(*_, **names):
        names["expect"](seconds)
        return found

    monkeypatch.setattr(planner_study, "study", answer)
    status, out, err = run("study", "--json")
    assert status == 0
    assert words in err
    assert json.loads(out)["rows"]


def test_ceilings_are_those_of_one_access(found):
    for user, own in found.to_frame().groupby("user"):
        profile = MarkovProfile.fit(SHORT[SHORT["user_id"] == user], STREET, step="5min")
        risk = 1 - profile.stationary.max()  # Hamming both: the least of the budget and of the prior risk
        np.testing.assert_allclose(own["ceiling"], own["budget_share"] * risk, rtol=1e-6)
        game = Game.from_scenario(profile, Scenario.sporadic(), privacy=hamming(), quality=hamming(), budget=0.2 * risk)
        assert own["ceiling"].iloc[0] == pytest.approx(solve(game).bound, rel=1e-9)


def test_numbers_stand_between_nothing_and_their_bounds(found):
    for row in found.rows:
        assert 0 <= row.interval[0] <= row.kept <= row.interval[1] <= 1
        assert row.bound <= row.ceiling
        assert row.filter.interval[0] <= row.bound * (1 + 1e-9)
        assert row.kept == pytest.approx(np.clip(row.filter / row.ceiling, 0, 1))
    by = {(row.user, row.budget_share): row.bound for row in found.rows}
    assert all(
        row.bound == by[row.user, row.budget_share] for row in found.rows
    )  # the best that is known, for all planners


def test_nothing_depends_on_the_number_of_processes(found, monkeypatch):
    monkeypatch.setattr(planner_study, "CELLS", 4)
    told = []

    def tell(*news):
        told.append(news)

    again = study(
        SHORT, STREET, users=2, accesses=60, budgets=(0.2,), workers=2, progress=tell, planners=PLANNERS, **PAPER
    )
    assert again.rows == tuple(row for row in found.rows if row.budget_share == 0.2)
    assert told == [("users and budgets", 1, 2), ("users and budgets", 2, 2)]


def test_planning_ahead_wins_where_the_solver_s_own_optimum_tells_all():
    """Who goes around between three places gives all the later ones away by telling the truth once."""
    town = Places([0.0, 0.0, 0.01], [0.0, 0.01, 0.0])
    around = MarkovProfile.from_matrix([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]], town)
    rows = rows_of(UserDay("who", around, 288), 0.5, MetricName.EUCLID, MetricName.EUCLID, 300, 0, DEFAULT, "access")
    plain, *_, ahead = rows
    assert ahead.interval[0] > plain.interval[1]
    assert ahead.filter.interval[1] >= 0.9 * ahead.bound


def test_means_are_those_of_the_users():
    plain, *_, ahead = made_up((0.4, 0.8), (0.2, 0.3)).means
    assert (plain.kept, ahead.kept) == (pytest.approx(0.3), pytest.approx(0.55))
    assert ahead.gain == pytest.approx(0.55 / 0.3 - 1)  # of the means
    assert ahead.own_gain == pytest.approx((1.0 + 0.5) / 2)  # the mean of the users' own
    assert ahead.attained == pytest.approx((0.8 / 0.9 + 0.3 / 0.9) / 2)
    assert ahead.limit == pytest.approx(0.9)
    assert ahead.smoother == pytest.approx(0.275)
    assert plain.gain == plain.own_gain == plain.losers == 0


@pytest.mark.parametrize(("far", "losers"), [(0.379, 1), (0.381, 0), (0.41, 0)])
def test_a_user_loses_only_beyond_both_intervals(far, losers):
    """Both are known to 0.01."""
    assert made_up((0.4, far), (0.2, 0.3)).means[-1].losers == losers


def test_gains_over_nothing_are_not_told():
    assert made_up((0.0, 0.5)).means[-1].gain is None
    assert made_up((0.0, 0.5), (0.25, 0.5)).means[-1].own_gain == pytest.approx(1.0)


def test_independent_errors_add_up_in_squares():
    shares = [Estimate(0.5, (0.4, 0.6)) for _ in range(4)]
    assert mean_kept(shares).interval == pytest.approx((0.45, 0.55))
    assert mean_kept(shares[:1]).interval == pytest.approx((0.4, 0.6))


def test_findings_tell_the_numbers():
    (finding,) = made_up((0.4, 0.8), (0.2, 0.1)).findings
    for words in ("20% of the saturating", "keeps 45%", "plain optimum 30%", "1.50 times", "than 90%", "1 of 2."):
        assert words in finding


def test_the_pages_hold_every_row(found, tmp_path):
    files = write_pages(found, "strollers", tmp_path)
    assert {path.name for path in files.values()} == {"rows.csv", "report.html", "foresight.pdf", "foresight.png"}
    for path in files.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with files["rows"].open() as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["user"], float(row["budget"]), row["planner"]) for row in rows] == [
        (row.user, row.budget_share, str(row.planner)) for row in found.rows
    ]
    names = (
        "user places budget planner filter smoother quality_loss worst_loss kept bound ceiling over kept_low kept_high"
    )
    assert list(rows[0]) == names.split()
    assert float(rows[0]["kept_low"]) == found.rows[0].interval[0]
    report = files["report"].read_text()
    for words in (*PLANNERS, *found.findings, "ann", "bob", "2 strollers"):
        assert words in report
    assert "http" not in report.replace("http://www.w3.org", "")  # stands alone
    assert len(table_of(found).rows) == 8
    assert [row[0] for row in users_table(found).rows] == list(dict.fromkeys(row.user for row in found.rows))


def test_a_study_of_a_user_who_is_a_formula_is_a_table_of_text(found, tmp_path):
    link = '=HYPERLINK("http://x")'
    rows = tuple(replace(row, user=link if row.user == "ann" else row.user) for row in found.rows)
    files = write_pages(Study(rows, found.privacy, found.quality, found.accesses, found.seed), "strollers", tmp_path)
    with files["rows"].open(newline="") as stream:
        cells = list(csv.DictReader(stream))
    assert {cell["user"] for cell in cells} == {f"'{link}", "bob"}
    assert [float(cell["kept"]) for cell in cells] == [row.kept for row in rows]


def test_a_study_for_machines_has_the_fields_asked_for(found):
    facts = json.loads(json.dumps(facts_of(found)))
    for row, original in zip(facts["rows"], found.rows, strict=True):
        assert row.keys() == {*FIELDS, "places", "ceiling"}
        assert row["interval"] == list(original.interval)
        assert row["filter"] == float(original.filter)
    assert [mean["planner"] for mean in facts["means"]] == 2 * PLANNERS


@pytest.fixture
def asked(found, monkeypatch):
    """What the command asks to be studied; it gets what was found already."""
    calls = []

    def answer(traces, *words, **names):
        calls.append((*words, names))
        return found

    monkeypatch.setattr(planner_study, "study", answer)
    return calls


def test_the_command_prints_rows_for_machines(run, found, asked, tmp_path):
    TRACES.to_csv(tmp_path / "street.csv", index=False)
    words = ("--users", 2, "--accesses", 60, "--privacy", "hamming", "--quality", "euclid", "--seed", 3, "--workers", 1)
    words += ("--planners", "plain, look-ahead ,far-sighted")
    status, out, err = run("study", "street.csv", "--box", "0,0.1,0,1", *words, "--json")
    assert status == 0, err
    facts = json.loads(out)
    assert facts["rows"] == json.loads(json.dumps(facts_of(found)))["rows"]
    assert facts["files"] == {}
    grid, names = asked[0]
    assert grid == Grid(0.0, 0.1, 0.0, 1.0, rows=10, columns=25)
    del names["progress"], names["expect"]
    assert names == {
        "users": 2,
        "accesses": 60,
        "privacy": "hamming",
        "quality": "euclid",
        "seed": 3,
        "step": "5min",
        "clock": "0s",
        "workers": 1,
        "over": "1 day",
        "planners": ["plain", "look-ahead", "far-sighted"],
    }
    assert list(tmp_path.iterdir()) == [tmp_path / "street.csv"]


def test_cabs_get_the_clock_of_the_bay_and_no_data_a_synthetic_city(run, asked, tmp_path):
    TRACES.to_csv(tmp_path / "street.csv", index=False)
    cabs = TRACES.assign(latitude=TRACES["latitude"] / 10 + 37.6, longitude=TRACES["longitude"] / 10 - 122.4)
    cabs.to_csv(tmp_path / "cabs.csv", index=False)
    run("study", "cabs.csv")
    run("study")
    run("study", "street.csv", "--step", "10min")
    run("study", "cabs.csv", "--timezone", "Asia/Kolkata")
    assert [(call[0], call[-1]["clock"], call[-1]["step"]) for call in asked] == [
        (BAY, "-7h", "5min"),
        (CITY, "0h", "5min"),
        (Grid.covering(TRACES, rows=10, columns=25), "0s", "10min"),
        (BAY, "19800s", "5min"),
    ]


def test_the_command_leaves_a_report_where_asked(run, asked, tmp_path):
    status, out, err = run("study", "--out", "seen")
    assert status == 0, err
    assert "far-sighted" in out
    assert "saturating budget" in out
    assert (tmp_path / "seen" / "report.html").exists()


def test_a_study_says_for_whom_its_bound_holds_and_what_it_assumes(run, asked, tmp_path):
    told = " ".join(run("study", "--out", "seen")[1].split())
    facts = json.loads(run("study", "--json")[1])
    page = (tmp_path / "seen" / "report.html").read_text()
    for text in (told, facts["bound_holds_for"], page):
        assert "keep the budget given every release. For a codebook only the ceiling holds." in text
    for text in (told, facts["assumption"], page):
        assert "reveal nothing about the place" in text


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"privacy": "feet"}, "'privacy' parameter of study must be one of 'hamming', 'euclid', 'squared'"),
        ({"quality": "taste"}, "'quality'"),
        (
            {"users": 3},
            "at most 2, the users with a day that covers 80% of its steps in the regions, in 10 cells or more",
        ),
        ({"users": 0}, "'users'"),
        ({"accesses": 9}, "'accesses'"),
        ({"budgets": ()}, "'budgets'"),
        ({"budgets": (0.2, 0.0)}, "'budgets'"),
        ({"budgets": (-1.0,)}, "'budgets'"),
        ({"seed": -1}, "'seed'"),
        ({"clock": "noon"}, "'clock' parameter of study"),
        ({"workers": 0}, "'workers'"),
        ({"planners": ("plain", "clever")}, "'planners' parameter of study must be one of 'plain'"),
        ({"planners": ("plain", "look-ahead")}, "'planners' parameter of study must be some of"),
        ({"planners": ("far-sighted",)}, "'planners'"),
        ({"planners": ()}, "'planners'"),
        ({"traces": synthetic_city(1, days=1)}, "at most 0"),
    ],
)
def test_what_cannot_be_studied_is_refused(wrong, match):
    with pytest.raises(ParameterError, match=match):
        study(**({"traces": TRACES, "regions": STREET, "users": 1, "accesses": 20, "workers": 1} | wrong))


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["nowhere"], "TraceError", "nowhere"),
        (["homely.csv"], "ParameterError", "at most 0, the users"),
        (["homely.csv", "--box", "here"], "ParameterError", "--box"),
        (["--users", "0"], "ParameterError", "users"),
        (["--users", "41"], "ParameterError", "cells or more"),
    ],
)
def test_what_the_command_cannot_study_is_told(run, tmp_path, words, error, message):
    stroll("homely", 9, 3).to_csv(tmp_path / "homely.csv", index=False)
    status, out, _ = run("study", *words, "--json")
    assert status == 2
    assert json.loads(out)["error"] == error
    assert message in json.loads(out)["message"]


def test_the_best_covered_day_in_enough_cells_is_taken():
    later = stroll("ann", 12, 4).assign(tracked_at=lambda day: day["tracked_at"] + pd.Timedelta("1D")).iloc[:250]
    days = {cells: days_of(pd.concat([TRACES, later]), STREET, "0h", "test", cells) for cells in (2, 10, 12, 13)}
    assert {cells: {day.user: day.profile.places for day in own} for cells, own in days.items()} == {
        2: {"ann": 10, "bob": 11, "homely": 9},
        10: {"ann": 10, "bob": 11},
        12: {"ann": 12},
        13: {},
    }
    assert drawn_from(days[12], 1, 0, "test", 12) == days[12]
    assert CELLS == 10


def test_walks_that_hardly_vary_do_not_make_numbers_out_of_nothing():
    """Nine walks rest at home, where rounding goes up and down with the error; one goes out."""
    game = BeliefGame.of(
        MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), privacy=hamming(), quality=hamming(), budget=0.5
    )
    assert game.ceiling_cut == pytest.approx([0, 1])  # nothing is released: the adversary's guess is home
    generator = np.random.default_rng(0)
    runs = []
    for _ in range(9):
        tiny = 1e-12 * generator.random(60)
        runs.append((1e3 * tiny, np.column_stack([1 - tiny, tiny])))
    runs.append((np.full(60, 0.1), np.full((60, 2), 0.5)))
    ways = [Walk(game, laws, laws, laws, errors, errors) for errors, laws in runs]
    assert np.abs(controlled(ways, game)).max() <= 1


def test_a_lower_bound_for_one_planner_holds_for_all(monkeypatch):
    around = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    found = iter((0.09, 0.07, 0.1, 0.08))
    monkeypatch.setattr(
        planner_study, "follow", lambda *words, **names: replace(follow(*words, **names), bound=next(found))
    )
    rows = rows_of(
        UserDay("who", around, 288), 0.3, MetricName.HAMMING, MetricName.HAMMING, 20, 0, list(Outlook), "access"
    )
    assert [row.bound for row in rows] == [0.07] * 4


def test_what_does_not_fit_is_refused_before_its_time_is_told():
    told = []
    with pytest.raises(SizeError, match="Ask for fewer accesses"):
        study(TRACES, STREET, users=1, accesses=10**18, workers=1, expect=told.append)
    assert not told


def test_the_command_says_which_planners_it_cannot_do_without(run):
    words = run("study", "--help")[1].replace("│", " ").split()
    assert "plain and far-sighted must be among them" in " ".join(words)
