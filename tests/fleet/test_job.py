"""What is done for one user of a fleet."""

from __future__ import annotations

import time
from dataclasses import replace

import pandas as pd
import pytest

from hideseek import Grid, MarkovProfile, ParameterError, Places, Scenario
from hideseek.codebook.codebook import codebook_from
from hideseek.errors import EngineError, MissingExtraError, SolverError
from hideseek.fleet import Job, run_fleet
from hideseek.fleet import job as jobs
from hideseek.fleet.job import protect
from tests.support.fleets import CITY, JOB

ONE = CITY[CITY["user_id"] == "person-000"].reset_index(drop=True)
# from noon to noon of the next day; a quarter of the fixes lies north of the box
SEEN = pd.DataFrame(
    {
        "user_id": "ann",
        "tracked_at": pd.date_range("2026-01-05T12:00", periods=48, freq="30min", tz="UTC"),
        "latitude": [46.55, 46.55, 46.55, 46.9] * 12,
        "longitude": [6.55, 6.55, 6.65, 6.65] * 12,
    }
)
LARGE = Job(grid=(1, 2), box=(46.5, 46.6, 6.5, 6.7), step="30min", budgets=("500m", "3km"), over="access")


def test_a_design_that_fails_does_not_take_the_others_with_it(monkeypatch):
    designed = jobs.designed

    def failing(*given):
        if given[-1] == "20%":
            raise SolverError("HiGHS refuses the program.")
        return designed(*given)

    monkeypatch.setattr(jobs, "designed", failing)
    start = time.perf_counter()
    results = protect("person-000", ONE, replace(JOB, budgets=("20%", "40%")))
    assert sum(row.seconds for row, _ in results) <= time.perf_counter() - start
    assert [(row.asked, row.reason, list(files)) for row, files in results] == [
        ("20%", "HiGHS refuses the program.", []),
        ("40%", None, ["codebook"]),
    ]


def test_every_option_of_a_job_reaches_the_codebook():
    job = Job(grid=(1, 2), step="20min", memory=2, privacy=("euclid",), quality="hamming", budgets=("30%",))
    ((row, files),) = protect("person-000", ONE, job)
    book = codebook_from(memoryview(files["codebook"]))
    assert (book.step, book.scenario) == ("20min", Scenario.past_present(2))
    assert (book.privacy.name, book.quality.name) == ("distance", "Hamming")
    busiest = MarkovProfile.fit(ONE, Grid.covering(ONE, rows=1, columns=2), step="20min").stationary.max()
    assert row.budget == pytest.approx(0.3 * (1 - busiest))  # always the busiest place: that reveals nothing


def test_an_unexpected_error_is_told_by_its_name_alone(monkeypatch):
    def failing(*_, **__):
        raise ZeroDivisionError("at 37.75134 -122.39488")

    monkeypatch.setattr(jobs, "evaluate", failing)
    ((row, files),) = protect("person-000", ONE, JOB)
    assert (row.reason, files, row.codebook) == ("unexpected ZeroDivisionError", {}, None)


def test_a_job_is_refused_where_it_is_made():
    wrongs = {"privacy": ("metres",)}, {"privacy": ()}, {"quality": "metres"}, {"budgets": ()}, {"budgets": ("-5%",)}
    for wrong in (*wrongs, {"box": (2.0, 1.0, 3.0, 4.0)}):
        with pytest.raises(ParameterError):
            Job(**wrong)
    with pytest.raises(ParameterError, match="'job'"):
        run_fleet(".", "out", job="design")
    assert issubclass(MissingExtraError, ImportError)
    assert not issubclass(EngineError, ParameterError)


def test_a_sensitive_location_matters_to_the_users_who_go_there_only():
    latitude, longitude = ONE["latitude"].iloc[0], ONE["longitude"].iloc[0]
    texts = {"near": f"x={latitude},{longitude}:5", "far": f"x={-latitude},{longitude}:5"}
    found = {name: protect("person-000", ONE, replace(JOB, sensitive=(text,)))[0] for name, text in texts.items()}
    plain = protect("person-000", ONE, JOB)[0]
    assert [found[name][0].sensitive_places for name in ("near", "far")] == [1, 0]
    assert found["far"][1] == plain[1]
    assert codebook_from(memoryview(found["near"][1]["codebook"])).privacy.name.startswith("sensitive ")
    assert found["near"][0].prior_risk > plain[0].prior_risk  # errors about one place count five times


def test_losses_stand_in_metres_beside_square_metres():
    row = protect("person-000", ONE, replace(JOB, quality="squared", budgets=("300m", 8100.0)))[0][0]
    assert (row.asked, row.budget, row.budget_metres) == ("300m", 90_000.0, 300.0)
    assert row.quality_loss_metres == pytest.approx(row.quality_loss**0.5)
    assert row.worst_loss_metres <= 300 * (1 + 1e-9)
    assert replace(JOB, quality="squared", budgets=("300m", 8100.0)).budgets == ("300m", "90m")
    with pytest.raises(ParameterError, match=r"500 could be 500 m of root mean square displacement"):
        Job(budgets=("500",))


def test_every_design_says_what_the_places_cover_and_if_its_budget_is_narrow(monkeypatch):
    rows = [row for row, _ in protect("ann", SEEN, LARGE)]
    side = 0.1 * 40_008_000 / 360  # metres of a tenth of a degree along a meridian
    for row in rows:
        assert (row.places, row.outside, row.hours, row.days) == (2, 0.25, pytest.approx(48 * 5 / 60), 2)
        assert row.width == pytest.approx(side * 0.6877**0.5, rel=0.01)  # the cosine of 46.55 degrees
    assert [row.narrow for row in rows] == [True, False]  # a fifth of the width is 1.8 km
    (row,) = (row for row, _ in protect("ann", SEEN, replace(LARGE, quality="hamming", budgets=("1%",))))
    assert (row.narrow, row.days) == (None, 2)
    monkeypatch.setattr(jobs, "planned", None)
    assert [(len(files), row.outside, row.days) for row, files in protect("ann", SEEN, LARGE)] == [(0, 0.25, 2)] * 2


def test_places_that_are_points_have_no_width_and_no_budget_is_narrow():
    points = Job(places=Places([46.55, 46.55], [6.55, 6.65]), step="30min", budgets=("10m",), over="access")
    ((row, _),) = protect("ann", SEEN, points)
    assert (row.reason, row.places, row.width, row.narrow) == (None, 2, None, False)
