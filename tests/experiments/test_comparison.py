"""All mechanisms on one scale: equal loss, the same adversaries, and nothing above the optimum."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Grid, MarkovProfile, Mechanism, ParameterError, save_profile, solve, synthetic_city
from hideseek.adversary import Estimate, correlation_aware_error, expected_error
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.policies import policy_loss
from hideseek.adversary.through_time import Adversary, estimates
from hideseek.baselines import RIVALS
from hideseek.baselines.plain import coin
from hideseek.baselines.rival import Rival, Setting
from hideseek.errors import BudgetError, CertificateError
from hideseek.experiments.comparison import compare, length_of
from hideseek.experiments.comparison_measure import ENDS, OURS, WINDOWED, Measure, calibrated
from hideseek.experiments.comparison_pages import facts_of, in_short, loss_words, table_of, write_pages
from hideseek.game.mechanism import Policy
from hideseek.metrics import distance, squared
from hideseek.model import StayMap, distances
from tests.support.policies import Always
from tests.support.rivals import town, turned

CITY = synthetic_city(people=1, days=7)
PROFILE = MarkovProfile.fit(CITY, Grid.covering(CITY, rows=3, columns=3), smoothing=0.05)
METRES = distance(PROFILE.regions)
SETTING = Setting(PROFILE, privacy=METRES, quality=squared(METRES))


@pytest.fixture(scope="module")
def comparison():
    return compare(
        PROFILE,
        privacy=METRES,
        quality=squared(METRES),
        budget=0.1 * SETTING.game.saturation,
        over="access",
        accesses=20,
        walks=60,
        workers=1,
    )


def test_every_rival_loses_the_budget_and_ours_lose_no_more(comparison):
    named = {row.mechanism for row in comparison.rows}
    assert named == {*OURS, *ENDS, "optimal sporadic", *(rival.name for rival in RIVALS)} - {WINDOWED}
    for row in comparison.rows:
        if row.mechanism in OURS:
            assert 0.5 * comparison.quality_loss < row.quality_loss <= comparison.quality_loss * (1 + 1e-9)
        elif row.mechanism not in ENDS:  # what is simulated jumps where another release is drawn
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
    first, later = expected_error(SETTING.game, optimum), correlation_aware_error(PROFILE, optimum, privacy=METRES)
    assert sporadic.window == pytest.approx((first + 19 * later) / 20)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), turn=st.floats(0.35, 0.65))
def test_no_rival_beats_the_optimum_in_any_town(rival, seed, turn):
    """Exactly, by enumeration of all that may be exposed: for a table in its own game, for a policy along a way."""
    profile = town(seed, 3)
    setting = Setting(profile, privacy=distance(profile.regions), quality=squared(distance(profile.regions)))
    made = turned(rival, setting, turn)
    if isinstance(made, Mechanism):
        loss, error = float(np.vdot(setting.game.cost, made.table)), expected_error(setting.game, made)
    else:
        run = Run(made, profile, privacy=setting.privacy, accesses=4)
        loss, error = policy_loss(run, setting.quality), estimates(run, (Adversary.FILTER,))[Adversary.FILTER]
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
        assert row.noise is None or f"<td>{row.noise:.4g}</td>" in report
        assert row.reference in report
    assert "http" not in report.replace("http://www.w3.org", "")  # stands alone
    frame = comparison.to_frame()
    assert (frame["filter_low"] <= frame["filter"]).all()
    columns = pd.read_csv(files["table"]).columns.tolist()
    assert columns == [name for name in frame if not name.startswith("kept")]
    assert len(table_of(comparison).rows) == len(frame) == len(facts_of(comparison)["rows"])


def test_the_command_prints_rows_for_machines(run, tmp_path):
    save_profile(town(3, 3), tmp_path / "town.json")
    status, out, err = run("compare", "town.json", "--accesses", 3, "--workers", 1, "--json")
    assert status == 0, err
    found = json.loads(out)
    for row in found["rows"]:
        assert {"mechanism", "window", "filter", "smoother", "viterbi", "quality_loss"} <= row.keys()
    assert {row["mechanism"] for row in found["rows"]} > {rival.name for rival in RIVALS}
    assert "reveal nothing about the place" in found["assumption"]
    status, out, err = run("compare", "town.json", "--accesses", 3, "--workers", 1, "--budget", "10%")
    assert status == 0, err
    assert "report.html" in out
    assert "planar Laplace" in out
    assert re.search(r"All mechanisms but [\w\s,]*(truth and constant|constant and truth) may lose", out)
    assert "reveal nothing about the place" in out


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


@pytest.mark.parametrize(
    ("least", "budget", "owner"), [(1.0, 0.5, "compare"), (0.0, 0.5, "Game"), (0.0, 0.2, "compare")]
)
def test_a_budget_that_nobody_keeps_is_refused_by_name(least, budget, owner):
    profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    quality = np.array([[least, 2.0], [2.0, 1.0]])  # at the second place every release costs 1 or more
    with pytest.raises(BudgetError, match=rf"'budget' parameter of {owner} must be at least .* Got {budget} .* Raise"):
        compare(profile, privacy=1 - np.eye(2), quality=quality, budget=budget, rivals=(), accesses=3, workers=1)


@pytest.mark.parametrize("adversary", ["window", "filter", "smoother"])
def test_an_error_above_the_ceiling_is_believed_within_three_half_widths(comparison, adversary):
    row = comparison.rows[0]

    def above(half_widths):
        error = row.ceiling + half_widths * 0.1
        return replace(row, **{adversary: Estimate(error, (error - 0.1, error + 0.1))})

    assert getattr(above(2.99), adversary) > row.ceiling
    for too_far in (lambda: above(3.01), lambda: replace(row, **{adversary: Estimate(row.ceiling * (1 + 1e-6))})):
        with pytest.raises(CertificateError, match="beats the optimum"):
            too_far()


def test_losses_are_equal_to_one_in_a_hundred(comparison):
    loss = comparison.quality_loss
    row = next(row for row in comparison.rows if row.mechanism not in (*OURS, *ENDS))
    for share, equal in ((1.0, True), (1.0099, True), (0.9901, True), (1.0101, False), (0.9899, False)):
        assert comparison.equal(replace(row, quality_loss=Estimate(share * loss))) is equal


def test_who_does_not_lose_the_common_loss_is_named(comparison):
    ours, loss = comparison.rows[0], comparison.quality_loss
    rows = {name: replace(ours, mechanism=name, quality_loss=Estimate(share * loss))
            for name, share in (("ours", 1.0), ("coarse", 1.5), ("truth", 0.0), ("constant", 3.0))}  # fmt: skip
    for names, words in (
        (("ours",), "All mechanisms may lose"),
        (("ours", "truth"), "All mechanisms but truth may lose"),
        (("ours", "truth", "constant"), "All mechanisms but truth and constant may lose"),
        (("coarse", "ours", "truth", "constant"), "All mechanisms but coarse, truth and constant may lose"),
    ):
        told = loss_words(replace(comparison, rows=tuple(rows[name] for name in names)), "metric")
        assert told.startswith(f"{words} {comparison.loss} (metric) per access. ")


def test_rows_come_by_equal_loss_and_then_by_privacy_with_the_ends_last():
    """Two rivals whose dials turn nothing stand behind the others, before the truth and the constant place."""
    profile = town(3, 3)
    metres = distance(profile.regions)
    setting = Setting(profile, privacy=metres, quality=metres)
    stuck = [
        Rival(
            name,
            "Nobody 2000",
            dial="nothing",
            make=lambda setting, _, share=share: coin(setting.game, probability=share),
            span=lambda _: (0, 1),
        )
        for name, share in (("all but truth", 0.01), ("all but constant", 0.95))
    ]
    found = compare(
        profile,
        privacy=metres,
        quality=metres,
        budget=0.3 * setting.game.saturation,
        rivals=[*stuck, *RIVALS[:3]],
        accesses=3,
        workers=1,
    )
    assert [row.mechanism for row in found.rows[-4:]] == ["all but constant", "all but truth", "constant", "truth"]
    *equal, _, _, _, _ = found.rows
    assert len(equal) == 9
    assert WINDOWED in {row.mechanism for row in equal}  # over a day, where nothing else is asked for
    for row in equal:
        assert row.mechanism in OURS or row.quality_loss == pytest.approx(found.quality_loss, rel=0.01)
    filters = [float(row.filter) for row in equal]
    assert filters == sorted(filters, reverse=True)
    assert len(set(filters)) > 1
    assert [row.mechanism for row in found.rows if not found.equal(row)] == [row.mechanism for row in found.rows[-4:]]


def test_with_no_budget_everybody_tells_the_truth(tmp_path):
    profile = town(3, 3)
    metres = distance(profile.regions)
    found = compare(profile, privacy=metres, quality=metres, budget=0.0, accesses=3, walks=10, workers=1)
    assert {row.mechanism for row in found.rows} > {rival.name for rival in RIVALS}
    assert found.quality_loss == pytest.approx(0, abs=1e-9)
    for row in found.rows:
        if row.mechanism == "constant":
            assert row.filter == pytest.approx(found.prior_risk)
        else:  # a dial turned down leaves next to nothing; sets of likely places leave a hundredth out
            assert row.filter <= 0.02 * found.prior_risk
            assert row.quality_loss <= 0.02 * metres_of(profile)
    write_pages(found, "distance, m", "distance, m", "m", tmp_path)


def metres_of(profile):
    return float(distances(profile.regions).max())


@pytest.mark.parametrize("typical", [1.0, 1.2, 0.9, 4.0, 0.1])
def test_where_few_walks_are_not_typical_the_whole_dial_is_searched_again(monkeypatch, typical):
    """A tenth of the walks makes a dial look ``typical`` times as costly as it is."""
    few_walks, spans = [], []

    def loss(measure, policy):
        few_walks.append(measure.walks < 200)
        return Estimate(policy.table.item() * (typical if few_walks[-1] else 1.0))

    def turned(measure, rival, span, target):
        spans.append(span)
        return ordinary(measure, rival, span, target)

    ordinary = Measure.turned
    monkeypatch.setattr(Measure, "loss", loss)
    monkeypatch.setattr(Measure, "turned", turned)
    monkeypatch.setattr(Measure, "rows", lambda _, name, reference, dial, noise, made: (noise, made.table.item()))
    rival = Rival(
        "dial",
        "Nobody 2000",
        dial="noise",
        make=lambda _, noise: Always(np.array([[noise]])),
        span=lambda _: (1e-3, 1e3),
    )
    found = Measure(SETTING, accesses=3, walks=200, seed=0).calibrated_rows(rival, target=5.0)
    assert found == pytest.approx((5.0, 5.0), rel=1e-5)
    assert any(few_walks)
    assert [span == (1e-3, 1e3) for span in spans] == [True, False] + [True] * (typical in (4.0, 0.1))


@pytest.mark.parametrize("target", [0.1, 0.3, 0.5, 0.8])
def test_a_dial_of_nine_decades_is_turned_by_decades(target):
    """Where each of them costs as much, the first try is right; every try may be the solution of a program."""
    tried = []

    def loss(noise):
        tried.append(noise)
        return Estimate((np.log10(noise) + 6) / 9)

    assert calibrated(loss, (1e-6, 1e3), target) == pytest.approx(10 ** (9 * target - 6), rel=1e-4)
    assert len(tried) <= 5  # the ends, which are asked twice, and what lies between


@pytest.mark.parametrize(
    ("error", "half", "words"),
    [
        (3668.2, 31.2, "3668±31"),
        (3668.24, 0.52, "3668.2±0.5"),
        (0.012345, 0.00021, "0.0123±0.0002"),
        (12.0, 0.012, "12.00±0.01"),
        (1234567.0, 0.0, "1.235e+06"),
        (0.123456, 0.0, "0.1235"),
        (0.0, 0.0, "0"),
    ],
)
def test_no_more_digits_are_shown_than_count(error, half, words):
    assert in_short(Estimate(error, (error - half, error + half))) == words


@pytest.fixture
def compared(monkeypatch):
    """The profiles that the command would compare mechanisms for."""
    profiles = []

    def stop(profile, *_, **__):
        profiles.append(profile)
        raise ParameterError("no further")

    monkeypatch.setattr("hideseek.experiments.comparison.compare", stop)
    return profiles


def test_traces_get_the_places_of_the_person_and_a_profile_stays_as_it_is(run, tmp_path, compared):
    generator = np.random.default_rng(0)
    when = pd.date_range("2024-01-01", periods=500, freq="5min", tz="UTC")
    sides = {"latitude": generator.uniform(45, 45.1, 500), "longitude": generator.uniform(6, 6.1, 500)}
    traces = pd.DataFrame({"user_id": "a", "tracked_at": when} | sides)
    traces.to_csv(tmp_path / "a.csv", index=False)

    def places(rows, columns):
        return len(
            np.unique(Grid.covering(traces, rows=rows, columns=columns).locate(traces["latitude"], traces["longitude"]))
        )

    _, _, err = run("compare", "a.csv")
    assert isinstance(compared[-1].regions, StayMap)
    assert f"{compared[-1].places} places" in err

    _, _, err = run("compare", "a.csv", "--grid", "4x10")
    assert compared[-1].places == places(4, 10)
    assert "about 3 minutes, if the machine is idle" in err

    save_profile(compared[-1], tmp_path / "a.json")
    _, _, err = run("compare", "a.json")
    assert [profile.places for profile in compared[1:]] == [places(4, 10)] * 2
    assert "note: 500 fixes" not in err


def test_a_run_is_two_windows_of_the_budget_where_nothing_is_said():
    """Of as many accesses in all as 200 walks of 50: 10,000."""
    profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    for over, asked, told in (
        ("1 day", (None, None), (576, 17)),
        ("access", (None, None), (50, 200)),
        ("1 day", (30, None), (30, 200)),
        ("1 day", (None, 5), (576, 5)),
        ("2 days", (None, None), (1152, 8)),
    ):
        assert length_of(over, profile, *asked) == told
