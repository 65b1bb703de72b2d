"""Many people in one comparison: means and intervals over them, from Python and from the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from hideseek import ParameterError
from hideseek.baselines import RIVALS
from hideseek.experiments.comparison import compare
from hideseek.experiments.comparison_people import compare_people
from hideseek.experiments.comparison_people_pages import facts_of, tables_of, write_pages
from tests.support.rivals import town

PEOPLE = {f"user {seed}": town(seed, 3) for seed in range(3)}
PAIRS = [("euclid", "squared"), ("hamming", "hamming")]
RUN = {"rivals": RIVALS[:2], "accesses": 3, "walks": 10, "workers": 1}


@pytest.fixture(scope="module")
def found():
    return compare_people(PEOPLE, pairs=PAIRS, budget="20%", **RUN)


def test_every_person_has_the_comparison_that_one_alone_has(found):
    alone = compare(PEOPLE["user 1"], privacy="euclid", quality="squared", budget="20%", **RUN)
    beside = found.comparisons["user 1", "euclid", "squared"]
    assert [row.mechanism for row in beside.rows] == [row.mechanism for row in alone.rows]
    assert [row.filter for row in beside.rows] == pytest.approx([row.filter for row in alone.rows])


def test_means_and_intervals_are_those_over_people(found):
    frame = found.to_frame()
    assert len(found.means) == 2 * 10  # five of ours, two rivals, the sporadic optimum, and the ends
    for row in found.means:
        own = frame[
            (frame["mechanism"] == row.mechanism)
            & (frame["privacy"] == row.privacy)
            & (frame["quality"] == row.quality)
        ]
        assert set(own["user"]) == set(PEOPLE)
        for name in ("filter", "smoother", "kept", "quality_loss"):
            values = own[name].to_numpy(np.float64)
            low, high = t.interval(0.95, 2, loc=values.mean(), scale=values.std(ddof=1) / np.sqrt(3) or 1e-300)
            assert getattr(row, name) == pytest.approx(values.mean())
            assert getattr(row, name).interval == pytest.approx((low, high), abs=1e-9)


def test_who_leaves_the_filter_most_is_first(found):
    for pair in PAIRS:
        means = [row for row in found.means if (row.privacy, row.quality) == pair]
        assert sum(row.first for row in means) == len(PEOPLE)
        assert [row.filter for row in means] == sorted((row.filter for row in means), reverse=True)
        for row in means:
            own = [one for (_, *metrics), one in found.comparisons.items() if tuple(metrics) == pair]
            most = [max((each for each in one.rows if one.equal(each)), key=lambda each: each.filter) for one in own]
            assert row.first == sum(each.mechanism == row.mechanism for each in most)


def test_the_pages_hold_every_mean(found, tmp_path):
    files = write_pages(found, "friends", tmp_path)
    report = files["report"].read_text()
    assert "Means over 3 friends" in report
    for pair, table in tables_of(found).items():
        assert f"Privacy {pair[0]}, quality {pair[1]}" in report
        assert len(table.rows) == 10
    assert len(pd.read_csv(files["means"])) == 20
    assert len(pd.read_csv(files["table"])) == 60
    assert len(facts_of(found)["means"]) == 20


def test_what_some_people_lack_has_no_mean_and_that_is_told(found, tmp_path):
    assert not found.notes
    some = PEOPLE | {"user 1": replace(PEOPLE["user 1"], regions=None)}
    lacking = compare_people(some, pairs=PAIRS[1:], budget="20%", **(RUN | {"rivals": ()}))
    assert "playbook" not in {row.mechanism for row in lacking.means}
    told = "Without a mean under hamming/hamming: playbook, which 1 of 3 people lack."
    assert lacking.notes == facts_of(lacking)["notes"]
    assert lacking.notes == (told, told.replace("playbook", "playbook, over a window"))
    assert told in write_pages(lacking, "friends", tmp_path)["report"].read_text()


def test_one_person_or_no_metric_is_refused():
    with pytest.raises(ParameterError, match="of two people or more"):
        compare_people({"alone": PEOPLE["user 1"]}, pairs=PAIRS, **RUN)
    with pytest.raises(ParameterError, match="'pairs'"):
        compare_people(PEOPLE, pairs=[], **RUN)


def test_the_command_compares_on_many_people(run, tmp_path, monkeypatch):
    monkeypatch.setattr("hideseek.cli.people.synthetic_city", lambda *_, **__: None)
    days = [type("Day", (), {"user": user, "profile": profile}) for user, profile in PEOPLE.items()]
    monkeypatch.setattr("hideseek.experiments.user_days.days_of", lambda *_: days)
    words = ("--users", 2, "--accesses", 2, "--walks", 2, "--workers", 1, "--out", "many")
    status, out, err = run("compare", *words, "--json")
    assert status == 0, err
    told = json.loads(out)
    assert {row["people"] for row in told["means"]} == {2}
    assert {"live planner", "playbook", "codebook, far-sighted"} <= {row["mechanism"] for row in told["means"]}
    status, out, err = run("compare", *words)
    assert status == 0, err
    assert "on average over 2 synthetic people" in " ".join(out.split())
    assert run("inspect", "many/comparison.csv")[0] == 0
    for wrong, match in ((("compare",), "--users"), (("compare", *words, "--sensitive", "home=1,2"), "--sensitive")):
        status, _, err = run(*wrong)
        assert status
        assert match in err
