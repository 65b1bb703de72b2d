"""Findings about the paper: each holds where it should, and fails where it does not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from hideseek.experiments.reproduction import findings
from hideseek.experiments.reproduction.findings import (
    Reproduction,
    findings_of,
    predictable_users_lowest,
    rank_correlation,
    rank_interval,
)
from hideseek.experiments.reproduction.numbers import (
    LAST,
    Optimum,
)
from hideseek.experiments.reproduction.pages import findings_table
from hideseek.experiments.reproduction.robustness_study import Left

PREDICTABLE = "predictable users lowest: "


def passed(reproduction):
    return {finding.name: finding.passed for finding in findings_of(reproduction)}


def test_what_theory_promises_holds_on_the_synthetic_city(found):
    results = passed(found)
    assert all(results.values()), results
    few = replace(found, candidates=found.users)
    failed = {name for name, holds in passed(few).items() if not holds}
    assert len(failed) == 3  # no rank correlation of three users is beyond chance
    assert all(name.startswith(PREDICTABLE) for name in failed)


def below(found):
    return replace(found, sporadic=found.sporadic.assign(aware=found.sporadic["sporadic"] + 1e-6))


def falling(found):
    table = found.transition
    return replace(found, transition=table.assign(privacy=table["privacy"].where(table["budget"] != 0.75, 0.0)))


def convex(found):
    table = found.programs
    return replace(found, programs=table.assign(privacy=table["privacy"] ** 2, closed_form=table["privacy"] ** 2))


def rising(found):
    table = found.location
    return replace(found, location=table.assign(privacy=table["privacy"] + 1e-3 * table["budget"]))


def without_saturation(found):
    return replace(
        found, location=found.location.query("budget < 0.2"), transition=found.transition.query("budget < 0.2")
    )


def another_value(found):
    return replace(found, programs=found.programs.assign(privacy=found.programs["privacy"] - 1e-5))


def one_optimum(found):
    coin = found.location[found.location["choice"] == Optimum.COIN].set_index(["user", "budget", "step"])["privacy"]
    keys = pd.MultiIndex.from_frame(found.location[["user", "budget", "step"]])
    aware = found.sporadic.groupby(["user", "budget"])["aware"].transform("mean")
    return replace(
        found,
        location=found.location.assign(privacy=coin.loc[keys].to_numpy()),
        sporadic=found.sporadic.assign(aware=aware),
    )


def telling(found):
    table = found.location
    lost = (table["choice"] == Optimum.UNINFORMATIVE) & (table["step"] == LAST)
    return replace(found, location=table.assign(privacy=table["privacy"].where(~lost, 0.9 * table["privacy"])))


def unproved(found):
    return replace(found, transition=found.transition.assign(bound=found.transition["bound"] + 1e-4))


@pytest.mark.parametrize(
    ("doctored", "name"),
    [
        (below, "below the diagonal"),
        (falling, "monotone"),
        (convex, "concave per history"),
        (rising, "plateau"),
        (without_saturation, "plateau"),
        (another_value, "equal to the closed form"),
        (one_optimum, "the choice of optimum moves the first figure"),
        (telling, "the least revealing optimum keeps the privacy"),
        (unproved, "certified"),
    ],
)
def test_a_finding_fails_where_it_does_not_hold(found, doctored, name):
    assert passed(found)[name]
    assert not passed(doctored(found))[name]


def test_the_second_figure_stays_where_every_optimum_gives_the_same(found):
    name = "the choice of optimum moves the second figure"
    same = found.location.groupby(["user", "budget", "step"])["privacy"].transform("mean")
    assert not passed(replace(found, location=found.location.assign(privacy=same)))[name]


@pytest.mark.parametrize(("sign", "holds"), [(1, True), (-1, False), (0, False)])
def test_predictable_users_are_lowest_only_if_privacy_rises_with_entropy(found, sign, holds):
    number = np.arange(1, 9)
    risks = dict.fromkeys(("prior_risk", "pair_risk", "middle"), sign * number)
    everybody = pd.DataFrame({"user": number, "entropy_rate": number, **risks})
    assert {finding.passed for finding in predictable_users_lowest(replace(found, candidates=everybody))} == {holds}


def test_rank_correlation_agrees_with_scipy_and_with_all_permutations():
    left, right = np.array([0.3, 0.1, 0.7, 0.4, 0.9, 0.5]), np.array([1.0, 2.0, 2.0, 3.0, 6.0, 1.5])
    rho, p = rank_correlation(left, right)
    assert rho == pytest.approx(spearmanr(left, right).statistic, abs=1e-12)
    every = [spearmanr(left, order).statistic for order in itertools.permutations(right)]
    exact = np.mean(np.array(every) >= rho - 1e-9)
    assert p == pytest.approx(exact, abs=5 * np.sqrt(exact / 100_000))  # five standard errors of as many permutations


def shifted(name, column, by, rows="index == index"):
    """A reproduction with one column of a table moved by a little, in the rows of a query."""

    def doctored(found):
        table = getattr(found, name).copy()
        table.loc[table.eval(rows), column] += by
        return replace(found, **{name: table})

    return doctored


def proved_too_low(name, column):
    """Bounds a little below what is claimed to be reached."""

    def doctored(found):
        table = getattr(found, name)
        return replace(found, **{name: table.assign(bound=table[column] - 1e-8)})

    return doctored


@pytest.mark.parametrize(
    ("doctored", "name"),
    [
        (lambda found: shifted("sporadic", "aware", 1e-8)(at_the_diagonal(found)), "below the diagonal"),
        (shifted("location", "privacy", -0.01, "budget == 1.0 and choice == 'coin'"), "monotone"),
        (shifted("location", "privacy", -1e-8, "budget == 1.0 and choice == 'coin' and step == 1"), "monotone"),
        (shifted("transition", "privacy", -1e-8, "budget == 1.0"), "monotone"),
        (shifted("location", "privacy", 1e-8, "budget == 1.0"), "plateau"),
        (shifted("transition", "privacy", 1e-8, "budget == 1.0"), "plateau"),
        (shifted("transition", "privacy", -1e-8, "budget == 1.0"), "plateau"),
        (shifted("programs", "privacy", 3e-6, "game == 'sporadic' and budget == 0"), "equal to the closed form"),
        (shifted("programs", "privacy", -3e-6), "equal to the closed form"),
        (shifted("sporadic", "sporadic", -3e-6, "choice != 'coin'"), "equal to the closed form"),
        (shifted("programs", "privacy", 3e-6, "game == 'history 1' and budget == 0"), "concave per history"),
        (shifted("sporadic", "bound", 3e-6), "certified"),
        (shifted("location", "bound", 3e-6), "certified"),
        (shifted("transition", "bound", 3e-6), "certified"),
        (shifted("programs", "bound", 3e-6), "certified"),
        (proved_too_low("sporadic", "sporadic"), "certified"),
        (proved_too_low("location", "privacy"), "certified"),
        (proved_too_low("transition", "privacy"), "certified"),
        (proved_too_low("programs", "privacy"), "certified"),
    ],
)
def test_a_finding_fails_by_little_more_than_its_rule_allows(found, doctored, name):
    assert passed(found)[name]
    assert not passed(doctored(found))[name]


def at_the_diagonal(found):
    return replace(found, sporadic=found.sporadic.assign(aware=found.sporadic["sporadic"]))


@pytest.mark.parametrize(("lower", "moves"), [(0.04, False), (0.06, True)])
def test_a_figure_has_moved_from_a_twentieth_on(found, lower, moves):
    """One optimum gives so much less than all the others, which give the same."""
    less = {name: 1 - lower * (getattr(found, name)["choice"] == "vertex") for name in ("sporadic", "location")}
    doctored = replace(
        found,
        sporadic=found.sporadic.assign(aware=found.sporadic["budget"] * less["sporadic"]),
        location=found.location.assign(privacy=found.location["budget"] * less["location"]),
    )
    for number in ("first", "second"):
        assert passed(doctored)[f"the choice of optimum moves the {number} figure"] is moves


def test_every_finding_tells_its_rule(found):
    rules = {finding.name: finding.rule for finding in findings_of(found)}
    told = {
        "below the diagonal": "1e-09",
        "monotone": "never fall",
        "concave per history": "1e-06",
        "plateau": "1e-09",
        "equal to the closed form": "1e-06",
        "the choice of optimum moves the first figure": "5%",
        "the choice of optimum moves the second figure": "5%",
        "the least revealing optimum keeps the privacy": "99%",
        "certified": "1e-06, and none below 0",
        f"{PREDICTABLE}plateau of the place": "p < 0.05",
        f"{PREDICTABLE}the place, middle budget": "p < 0.05",
        f"{PREDICTABLE}plateau of the transition": "p < 0.05",
    }
    assert rules.keys() == told.keys()
    assert {name for name, words in told.items() if words not in rules[name]} == set()
    table = findings_table(findings_of(found))
    assert [row[-1] for row in table.rows] == list(rules.values())


@pytest.mark.parametrize(("count", "told"), [(4, True), (5, False)])
def test_fewer_than_five_users_cannot_tell(found, count, told):
    number = np.arange(1, count + 1)
    everybody = pd.DataFrame({"entropy_rate": number} | dict.fromkeys(("prior_risk", "pair_risk", "middle"), number))
    for finding in predictable_users_lowest(replace(found, candidates=everybody)):
        assert ("fewer than 5 users cannot tell" in finding.rule) is told


def users_with(entropy, privacy):
    columns = dict.fromkeys(("prior_risk", "pair_risk", "middle"), privacy)
    return pd.DataFrame({"user": np.arange(1, len(privacy) + 1), "entropy_rate": entropy} | columns)


@pytest.mark.parametrize(
    ("privacy", "verdict", "words"),
    [
        (np.arange(12.0), "PASS", "1.00 (90 % interval 1.00 to 1.00"),
        (-np.arange(12.0), "FAIL", "Not shown; the opposite is"),
        (np.array([5, 8, 2, 11, 0, 7, 9, 3, 6, 1, 10, 4.0]), "FAIL", "Not shown, nor refuted"),
    ],
)
def test_predictable_users_are_lowest_or_not_or_nobody_knows(found, privacy, verdict, words):
    everybody = users_with(np.arange(12.0), privacy)
    for finding in predictable_users_lowest(replace(found, candidates=everybody)):
        assert finding.verdict == verdict
        assert words in finding.figure
        assert "over all 12 users" in finding.figure
        assert "lowest curves" in finding.paper


@pytest.mark.parametrize("normal", [0.0, 0.5, 0.9])
def test_nine_of_ten_intervals_hold_the_rank_correlation(normal):
    """Of normal pairs it is 6/pi asin(r/2); 1,000 samples of 20 pairs tell 90 % from 87 or 93 %."""
    generator, true = np.random.default_rng(5), 6 / np.pi * np.arcsin(normal / 2)
    pairs = generator.multivariate_normal([0, 0], [[1, normal], [normal, 1]], (1000, 20))
    ranks = pairs.argsort(axis=1).argsort(axis=1)
    rhos = 1 - 6 * ((ranks[..., 0] - ranks[..., 1]) ** 2).sum(axis=1) / (20 * (20**2 - 1))
    ends = np.array([rank_interval(float(rho), 20) for rho in rhos])
    assert 0.87 < ((ends[:, 0] <= true) & (true <= ends[:, 1])).mean() < 0.93


def test_at_the_middle_budget_every_optimum_has_its_rank_correlation(found):
    """The coin ranks the three users as their entropy rates do, the vertex the other way round."""
    users = users_with([1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    levels = {"coin": (0.1, 0.2, 0.3), "vertex": (0.3, 0.2, 0.1)}
    location = pd.DataFrame(
        [
            {"user": user, "budget": 0.5, "choice": choice, "step": LAST, "privacy": privacy}
            for choice, own in levels.items()
            for user, privacy in enumerate(own, start=1)
        ]
    )
    finding = predictable_users_lowest(replace(found, users=users, location=location))[1]
    assert "which by optimum is coin 1.00, vertex -1.00" in finding.figure


def test_what_fails_is_seen_as_well_as_what_passes(found, run, monkeypatch, tmp_path):
    doctored, nobody = falling(found), pd.DataFrame(columns=Left._fields)
    monkeypatch.setattr("hideseek.experiments.reproduction.run.reproduce", lambda *_, **__: doctored)
    monkeypatch.setattr("hideseek.experiments.reproduction.robustness_study.robustness", lambda *_, **__: nobody)
    status, out, _ = run("reproduce", "--out", "paper")
    assert status == 0
    failed = [finding for finding in doctored.findings if not finding.passed]
    assert "monotone" in {finding.name for finding in failed}
    told = f"{len(doctored.findings) - len(failed)} of {len(doctored.findings)} findings PASS; FAIL: monotone"
    assert told in " ".join(out.split())
    lines = [line for line in out.splitlines() if ": PASS if " in line]
    assert lines == [f"{finding.name}: PASS if {finding.rule}." for finding in failed]
    report = (tmp_path / "paper" / "report.html").read_text()
    assert told in report
    assert report.count('class="words FAIL">FAIL<') == len(failed)
    assert report.count('class="words PASS">PASS<') == len(doctored.findings) - len(failed)
    for style in ("td.PASS, td.FAIL {", "td.FAIL {"):
        assert style in report
    for finding in doctored.findings:
        assert escape(finding.paper or "not in the paper") in report


def test_a_reproduction_tells_how_many_findings_hold(monkeypatch):
    one = findings.Finding("monotone", True, "no <fall>", "never falls")
    monkeypatch.setattr(findings, "findings_of", lambda _: (one, findings.Finding("plateau", False, "", "")))
    tables = [pd.DataFrame({"user": [1]})] * 6
    found = Reproduction(("ann",), *tables, regions=None, clock="0h", seed=0)
    assert repr(found) == "Reproduction on 1 user: 1 of 2 findings hold"
    assert "PASS: no &lt;fall&gt;" in found._repr_html_()
    assert found.to_frame()["passed"].tolist() == [True, False]
