"""A protection whose budget holds over a window: its label says which, what any window lost, and what it may lose."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hideseek import Grid, MarkovProfile, ParameterError, PlaybookDevice, protect, synthetic_city
from hideseek.adversary import person_label
from hideseek.experiments import protection_budgets
from hideseek.experiments.protection_words import expert_table, label_from, person_facts, sentences
from hideseek.planning import steering_training
from hideseek.util.units import amount

TRACES = synthetic_city(people=1, days=3)
PROFILE = MarkovProfile.fit(TRACES, Grid.covering(TRACES, rows=2, columns=2))


@pytest.fixture(scope="module")
def made():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering_training, "ROUND", 24)
        patch.setattr(person_label, "ACCESSES", 24)
        patch.setattr(protection_budgets, "TIMES", (1 / 2,))
        return protect(TRACES, profile=PROFILE, budget="1km", over="2 hours", cap=6.0, workers=1)


def test_the_label_says_which_budget_it_is_and_what_windows_lost(made):
    label, account = made.label, made.game.account
    assert (label.window, label.cap, label.budget) == (24, 6.0, 1e6)
    assert label.worst_loss <= account.largest * (1 + 1e-9)
    assert label.worst_window <= (2 - 1 / 24) * 1e6 * (1 + 1e-9)
    assert label.worst_window >= label.quality_loss
    low, high = label.realised.interval
    assert abs(label.realised - label.quality_loss) <= 1.5 * (high - low)
    assert np.array_equal(made.playbook.guided.future, made.planner.steering.future)


def test_sentences_tell_the_window_and_the_ceiling_each_by_its_number(made):
    first, *_, ceiling, _ = sentences(made, "me")
    worst = "1400 m (root mean square)"  # sqrt(2 - 1 / 24) km, rounded up
    many = "as many answers in a row as an app may ask for in 2 hours"
    assert f"at most {amount(1e6, 'm²')} away on average, and over {many} at most {worst} (a single answer" in first
    single = int(np.ceil(made.label.worst_loss**0.5))
    assert f"a single answer on the walks: {single} m" in first
    assert "what any mechanism can reach (the ceiling)" in ceiling
    rows = dict(expert_table(made).rows)
    assert rows["budget over 2 hours"].endswith("at most 6 budgets at an access")
    assert rows[f"largest expected loss over {many}, on average"] == amount(made.label.worst_window, "m²")
    assert "saved up, for 2 hours at most" in made.report


def test_the_label_is_read_again_as_it_was_told_and_that_of_older_files_too(made):
    facts = json.loads(json.dumps(person_facts(made.label)))
    assert label_from(facts) == made.label
    for name in ("window", "cap", "realised", "worst_window"):
        del facts[name]
    older = label_from(facts)
    assert (older.window, older.cap, older.worst_window) == (1, None, older.worst_loss)
    assert older.realised == older.quality_loss


def test_what_is_made_is_for_a_device(made, tmp_path):
    device = PlaybookDevice(made.playbook, state=tmp_path / "state")
    point = made.profile.regions.centres[0].tolist()
    assert device.expose(*point, at="2026-01-05T08:00:00+00:00").status == "exposed"
    assert device.label().window == 24


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"over": "1min"}, "'over' parameter of BeliefGame"),
        ({"over": "access", "cap": 2.0}, "'cap' parameter of BeliefGame"),
        ({"over": "access", "against": "both"}, "'against' parameter of protect"),
        ({"against": "smoother"}, "'against' parameter of protect"),
    ],
)
def test_what_does_not_go_together_is_refused(wrong, words):
    with pytest.raises(ParameterError, match=words):
        protect(TRACES, profile=PROFILE, budget="1km", workers=1, **wrong)
