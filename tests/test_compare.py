"""All mechanisms on one scale: equal loss, the same adversaries, and nothing above the optimum."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import (
    CertificateError,
    Estimate,
    Grid,
    MarkovProfile,
    Mechanism,
    ParameterError,
    correlation_aware_error,
    distance,
    expected_error,
    save_profile,
    solve,
    squared,
    synthetic_city,
)
from hideseek.adversaries import Adversary, estimates, policy_loss
from hideseek.baselines import RIVALS, Setting
from hideseek.compare import compare
from hideseek.compare.pages import facts_of, frame_of, table_of, write_pages
from hideseek.compare.run import ENDS, calibrated
from hideseek.course import Course
from hideseek.mechanism import Policy
from tests.test_baselines import town, turned

CITY = synthetic_city(people=1, days=7)
PROFILE = MarkovProfile.fit(CITY, Grid.covering(CITY, rows=3, columns=3), smoothing=0.05)
METRES = distance(PROFILE.regions)
SETTING = Setting(PROFILE, METRES, squared(METRES))


@pytest.fixture(scope="module")
def comparison():
    return compare(PROFILE, METRES, squared(METRES), 0.1 * SETTING.game.saturation, accesses=20, walks=60, workers=1)


def test_every_rival_loses_as_much_as_the_codebook(comparison):
    assert {row.mechanism for row in comparison.rows} >= {"codebook", "optimal sporadic", *(r.name for r in RIVALS)}
    for row in comparison.rows:
        if row.mechanism not in ENDS:  # what is simulated jumps where another release is drawn
            allowed = 1e-3 if row.quality_loss.exact else 5e-3
            assert row.quality_loss == pytest.approx(comparison.quality_loss, rel=allowed)


def test_the_ends_lose_nothing_and_tell_nothing(comparison):
    rows = {row.mechanism: row for row in comparison.rows}
    assert rows["truth"].quality_loss == rows["truth"].window == rows["truth"].filter == 0
    assert rows["constant"].quality_loss == pytest.approx(SETTING.game.saturation)
    assert rows["constant"].smoother == pytest.approx(SETTING.game.prior_risk)


def test_who_knows_more_errs_less_and_none_errs_more_than_the_optimum(comparison):
    for row in comparison.rows:
        off = 3 * max(value - value.interval[0] for value in (row.window, row.filter, row.smoother)) + 1e-6
        assert row.smoother <= row.filter + off
        assert row.filter <= row.window + off
        assert row.window <= row.ceiling + off
        bound = solve(SETTING.game.with_budget(row.quality_loss.interval[1])).bound
        assert row.ceiling == pytest.approx(bound, rel=1e-9)


def test_a_window_of_one_release_is_the_correlation_aware_attack(comparison):
    sporadic = next(row for row in comparison.rows if row.mechanism == "optimal sporadic")
    optimum = solve(SETTING.game.with_budget(comparison.quality_loss)).mechanism
    first, later = expected_error(SETTING.game, optimum), correlation_aware_error(PROFILE, optimum, METRES)
    assert sporadic.window == pytest.approx((first + 19 * later) / 20)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), turn=st.floats(0.35, 0.65))
def test_no_rival_beats_the_optimum_in_any_town(rival, seed, turn):
    """Exactly, by enumeration of all that may be exposed: for a table in its own game, for a policy along a way."""
    profile = town(seed, 3)
    setting = Setting(profile, distance(profile.regions), squared(distance(profile.regions)))
    made = turned(rival, setting, turn)
    if isinstance(made, Mechanism):
        loss, error = float(np.vdot(setting.game.cost, made.table)), expected_error(setting.game, made)
    else:
        course = Course(made, profile, setting.privacy, 4)
        loss, error = policy_loss(course, setting.quality), estimates(course, (Adversary.FILTER,))[Adversary.FILTER]
        assert isinstance(made, Policy)
        assert error.exact
    bound = solve(setting.game.with_budget(loss)).bound
    assert error <= bound * (1 + 1e-9) + 1e-9


def test_what_beats_the_optimum_is_not_believed(comparison):
    row = comparison.rows[0]
    with pytest.raises(CertificateError, match="beats the optimum"):
        replace(row, window=Estimate(row.ceiling * 1.001))
    near = Estimate(row.ceiling + 0.29, (row.ceiling + 0.19, row.ceiling + 0.39))
    assert replace(row, filter=near).filter == near


@given(st.floats(-2, 2), st.floats(0.1, 3))
def test_a_dial_is_turned_until_the_loss_is_the_target(exponent, power):
    target = 10.0**exponent
    found = calibrated(lambda noise: Estimate(noise**power), (1e-6, 1e6), target)
    if 1e-6**power < target < 1e6**power:
        assert found**power == pytest.approx(target, rel=2e-6)
    assert calibrated(lambda share: Estimate(500 * share), (0.0, 1.0), target) == pytest.approx(target / 500, rel=2e-6)
    assert calibrated(lambda noise: Estimate(5 + noise), (1.0, 2.0), 3.0) == 1.0
    assert calibrated(lambda noise: Estimate(5 + noise), (1.0, 2.0), 9.0) == 2.0


def test_a_steep_dial_is_turned_far_enough():
    """As of squares, which let several places in at nearly the same size."""
    found = calibrated(lambda noise: Estimate(np.clip((noise - 3329.0) / 1e-6, 0, 1)), (1.0, 1e6), 0.3)
    assert (found - 3329.0) / 1e-6 == pytest.approx(0.3, rel=1e-3)


def test_the_pages_hold_every_row(comparison, tmp_path):
    files = write_pages(comparison, "distance, m", "squared distance, m²", "m", tmp_path)
    assert {path.name for path in files.values()} == {
        "comparison.csv", "report.html", "comparison.pdf", "comparison.png",
    }  # fmt: skip
    assert files["figure, pdf"].read_bytes().startswith(b"%PDF")
    report = files["report"].read_text()
    for row in comparison.rows:
        assert row.mechanism in report
    assert "http" not in report.replace("http://www.w3.org", "")  # stands alone
    frame = frame_of(comparison)
    assert (frame["filter_low"] <= frame["filter"]).all()
    assert len(table_of(comparison).rows) == len(frame) == len(facts_of(comparison)["rows"])


def test_the_command_prints_rows_for_machines(run, tmp_path):
    save_profile(town(3, 3), tmp_path / "town.json")
    status, out, err = run("compare", "--data", "town.json", "--accesses", 3, "--workers", 1, "--json")
    assert status == 0, err
    found = json.loads(out)
    for row in found["rows"]:
        assert {"mechanism", "window", "filter", "smoother", "viterbi", "quality_loss"} <= row.keys()
    assert {row["mechanism"] for row in found["rows"]} > {rival.name for rival in RIVALS}
    status, out, err = run("compare", "--data", "town.json", "--accesses", 3, "--workers", 1, "--budget", "10%")
    assert status == 0, err
    assert "report.html" in out
    assert "planar Laplace" in out


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"profile": "me"}, "'profile'"),
        ({"budget": -1}, "'budget'"),
        ({"walks": 1}, "'walks'"),
        ({"accesses": 0}, "'accesses'"),
    ],
)
def test_what_cannot_be_compared_is_refused(wrong, match):
    given = {"profile": PROFILE, "privacy": METRES, "quality": METRES, "budget": 100.0, "rivals": (), "workers": 1}
    with pytest.raises(ParameterError, match=match):
        compare(**(given | wrong))
