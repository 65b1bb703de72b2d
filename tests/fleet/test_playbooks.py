"""The playbooks of a fleet: a row says what one command after the other gives, and what other attacks find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from hideseek import Grid, MarkovProfile, Places, load_plan, make_playbook, plan
from hideseek.adversary import attack
from hideseek.adversary.belief_exposer import BeliefPolicy
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.naming import namings
from hideseek.fleet import Job, outputs, run_fleet
from hideseek.fleet.job import protect
from hideseek.metrics import distance
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame
from hideseek.playbook import Playbook
from tests.support.fleets import CITY, labels_of

ONE = CITY[CITY["user_id"] == "person-000"].reset_index(drop=True)
JOB = Job(grid=(2, 2), privacy=("euclid",), quality="hamming", over="access")


@pytest.fixture(scope="module")
def protected():
    ((row, files),) = protect("person-000", ONE, JOB)
    assert row.reason is None
    return row, files


@pytest.fixture(scope="module")
def same():
    """The playbook of the same plan, made step by step."""
    profile = MarkovProfile.fit(ONE, Grid.covering(ONE, rows=2, columns=2))
    game = BeliefGame.of(profile, privacy=distance(profile.regions), quality="hamming", budget="20%")
    return profile, make_playbook(game, plan(game))


def test_a_user_has_the_plan_and_the_playbook_that_planning_gives(protected, same, tmp_path):
    row, files = protected
    assert list(files) == ["plan", "playbook"]
    profile, book = same
    assert files["playbook"] == book.content
    (tmp_path / "p.plan").write_bytes(files["plan"])
    game, _ = load_plan(tmp_path / "p.plan", profile=profile)
    assert (row.tables, row.budget) == (len(book.anchors), game.budget)
    assert (row.codebook, row.window, row.optimality_gap) == (None, None, None)


def test_a_row_holds_what_other_attacks_on_the_same_playbook_find(protected, same):
    """Attacked as a policy over all that may be exposed, with other walks: within three standard errors of both."""
    row, _ = protected
    profile, book = same
    policy = BeliefPolicy(book, at_beliefs(lambda belief: book.play(belief).by_state))
    for name in ("filter", "smoother"):
        found = attack(policy, profile, adversary=name, privacy="euclid", accesses=row.accesses, walks=100, seed=5)
        wide = found.interval[1] - found.interval[0] + getattr(row, f"{name}_high") - getattr(row, f"{name}_low")
        assert abs(getattr(row, name) - found) <= 0.75 * wide
    prior = min(profile.stationary @ column for column in distance_between(profile))
    assert row.prior_risk == pytest.approx(prior)
    assert row.risk_share == pytest.approx(row.filter / prior)
    assert row.kept == pytest.approx(row.filter / row.ceiling)
    assert row.smoother <= row.filter <= row.ceiling


def distance_between(profile):
    every = np.arange(profile.places)[:, None]
    return distance(profile.regions).between(every, every, np.zeros(0, np.int64))


def test_the_budget_is_kept_after_every_history_also_with_gaps(protected):
    row, _ = protected
    assert 0 < row.quality_loss <= row.worst_loss <= row.budget * (1 + 1e-12)
    assert 0 < row.gap_worst_loss <= row.budget * (1 + 1e-12)
    assert row.gap_filter >= row.filter - (row.gap_filter_high - row.gap_filter_low)  # fewer releases reveal less


def test_hit_rates_are_told_of_places_with_a_name_and_of_sensitive_ones(same):
    profile, book = same
    centres = profile.regions.centres
    clinic = int(np.argsort(profile.stationary)[-2])
    text = "clinic={:.6f},{:.6f}:1@1m".format(*centres[clinic])
    ((row, _),) = protect("person-000", ONE, replace(JOB, sensitive=(text,)))
    (rate,) = row.hit_rates  # cells of a grid have no names
    policy = BeliefPolicy(book, at_beliefs(lambda belief: book.play(belief).by_state))
    run = Run(policy, profile, privacy="euclid", accesses=row.accesses)
    other = namings(run, walks=100, seed=5)[clinic]
    assert rate.place == "clinic"
    assert rate.share == pytest.approx(profile.stationary[clinic], abs=0.05)
    assert rate.there == pytest.approx(other.there, abs=0.1)
    assert rate.elsewhere == pytest.approx(other.elsewhere, abs=0.1)
    for name in ("there", "elsewhere"):  # three standard errors of both
        low, high = getattr(rate, f"{name}_low"), getattr(rate, f"{name}_high")
        assert 0 <= low < getattr(rate, name) < high <= 1
        wide = high - low + np.ptp(getattr(other, name).interval)
        assert abs(getattr(rate, name) - getattr(other, name)) < 3 / 4 * wide
    named = Job(
        places=Places(*centres.T, names=tuple("abcd"[: len(centres)])),
        privacy=("euclid",),
        quality="hamming",
        over="access",
    )
    ((row, _),) = protect("person-000", ONE, named)
    assert "".join(rate.place for rate in row.hit_rates) == "abcd"[: len(centres)]


def test_codebooks_have_hit_rates_and_what_they_lose_after_gaps():
    ((row, files),) = protect("person-000", ONE, replace(JOB, memory=1, places=None))
    assert list(files) == ["codebook"]
    assert row.gap_worst_loss >= row.worst_loss
    assert row.hit_rates == []
    assert (row.tables, row.gap_filter) == (None, None)


@pytest.mark.parametrize(("days", "few"), [(6, True), (7, False)])
def test_users_with_too_few_days_are_marked(days, few):
    times = pd.date_range("2026-01-05", periods=48 * days, freq="30min", tz="UTC")
    west = np.random.default_rng(1).integers(0, 2, len(times))
    seen = pd.DataFrame({"user_id": "ann", "tracked_at": times, "latitude": 46.55, "longitude": 6.55 + 0.1 * west})
    job = Job(grid=(1, 2), box=(46.5, 46.6, 6.5, 6.7), step="30min", over="access")
    ((row, _),) = protect("ann", seen, job)
    assert (row.days, row.few_days, row.answered) == (days, few, 1.0)


def test_a_folder_holds_plans_playbooks_and_a_table_with_both(city, tmp_path):
    home = "home={latitude},{longitude}".format(**ONE.iloc[0])
    job = Job(grid=(1, 2), privacy=("hamming",), sensitive=(home,), over="access")
    found = run_fleet(city, tmp_path / "out", job=job, workers=2)
    assert (found.users, found.playbooks, found.codebooks, found.few_days) == (4, 4, 0, 4)
    assert repr(found).startswith("Fleet of 4 users: 4 playbooks, 0 unusable")
    labels = labels_of(tmp_path / "out")
    for row in labels.itertuples():
        assert len(Playbook.load(tmp_path / "out" / row.playbook).anchors) == row.tables
        assert load_plan(tmp_path / "out" / row.plan)[0].budget == row.budget
        assert (tmp_path / "out" / row.playbook).stat().st_size == row.bytes
        assert (tmp_path / "out" / row.plan).stat().st_size == row.plan_bytes
    (rate,) = labels.loc["person-000", "hit_rates"]
    assert rate["place"] == "home"
    assert 0 < rate["elsewhere"] < rate["there"] <= 1
    assert rate["there_low"] <= rate["there"] <= rate["there_high"]
    assert run_fleet(city, tmp_path / "out", job=job, workers=1).reused == 4
    (tmp_path / "out" / labels["plan"].iloc[0]).unlink()
    assert run_fleet(city, tmp_path / "out", job=job, workers=1).reused == 3
    assert (tmp_path / "out" / labels["plan"].iloc[0]).exists()


@pytest.mark.parametrize("name", ["plans/hamming-20%/ann.plan", "playbooks/hamming-20%/ann.playbook"])
def test_plans_and_playbooks_without_their_job_are_another_ones(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match="results without a readable"), outputs.Outputs(tmp_path, JOB).taken():
        pass
