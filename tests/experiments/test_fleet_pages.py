"""The page of a fleet: who is badly protected and why, and a table that is sorted without any network."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from hideseek.experiments.fleet_pages import fleet_report

USUAL = {
    "fixes": 99, "privacy_metric": "euclid", "asked": "20%", "over": "access",
    "few_days": False, "narrow": False, "days": 9,
    "hit_rates": [{"place": "home", "share": 0.6, "there": 0.3, "elsewhere": 0.2}], "filter": 800.0, "ceiling": 900.0,
    "prior_risk": 1000.0, "risk_share": 0.8, "kept": 0.89, "reason": None,
}  # fmt: skip
NAMED = [{"place": "home", "share": 0.6, "there": 0.3, "elsewhere": 0.2},
         {"place": "<clinic>", "share": 0.1, "there": 0.9, "elsewhere": 0.1}]  # fmt: skip


def page_of(*changes):
    rows = [USUAL | {"user": f"user {number}"} | change for number, change in enumerate(changes)]
    return fleet_report(pd.DataFrame(rows))


def section(page, heading):
    """The rows of the table under a heading, as lists of text."""
    part = page.split(f"<h2>{heading}</h2>")[1].split("<h2>")[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", part)]


@pytest.mark.parametrize(
    ("change", "mark"),
    [
        ({"few_days": True, "days": 3}, "few days"),
        ({"narrow": True}, "narrow budget"),
        ({"risk_share": 0.4, "ceiling": 450.0}, "low ceiling"),
        ({"risk_share": 0.4, "ceiling": 900.0}, "short of the ceiling"),
        ({"hit_rates": NAMED}, "-"),
    ],
)
def test_who_is_badly_protected_is_told_with_the_reason(change, mark):
    page = page_of({}, change)
    (row,) = section(page, "Who is badly protected, and why")
    assert (row[0], row[2]) == ("user 1", mark)
    assert row[4] == ("&lt;clinic&gt;: 90%" if "hit_rates" in change else "home: 30%")
    assert (f"{mark.capitalize()}: " in page) == (mark != "-")


def test_where_all_is_well_nobody_is_called_badly_protected():
    page = page_of({}, {})
    assert "badly protected" not in page
    assert "Who could not be protected" not in page
    assert len(section(page, "Everybody")) == 2


def test_the_worst_come_first_and_everybody_has_a_row():
    page = page_of({"risk_share": 0.4}, {"risk_share": 0.1}, {}, {"kept": None, "reason": "the file is empty"})
    assert [row[0] for row in section(page, "Who is badly protected, and why")] == ["user 1", "user 0"]
    assert section(page, "Who could not be protected") == [["the file is empty", "1"]]
    first, *others = section(page, "Everybody")
    assert first == ["user 0", "euclid, 20%", "short of the ceiling", "home", "30%", "20%", "800", "40%", "89%", "9"]
    assert len(others) == 2


def test_the_spread_of_many_is_told_by_quantiles():
    page = page_of(*({"risk_share": share / 100} for share in range(20, 71, 5)))
    assert "the median is 45% of the prior risk, nine of ten have 25% or more, one of ten 65% or more" in page


def test_users_with_few_days_do_not_count_in_what_is_told_of_all():
    page = page_of({"risk_share": 0.6}, {"risk_share": 0.7}, {"risk_share": 0.8}, {"risk_share": 0.1, "few_days": True})
    assert "Of those seen for a week or more: 60%, 70%, 80% of the prior risk." in page
    assert "4 users, 4 of them protected and 3 seen for a week or more" in page
    assert "none of whom was seen for a week" in page_of({"few_days": True})


def test_the_page_stands_alone_and_only_one_table_sorts():
    page = page_of({}, {"risk_share": 0.1})
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count('class="sortable"') == page.count("<script>") == 1


def test_a_fleet_in_which_nobody_is_protected_has_a_page():
    page = page_of({"kept": None, "risk_share": None, "reason": "still"})
    assert section(page, "Who could not be protected") == [["still", "1"]]
    assert not section(page, "Everybody")


LOST = {"over": "1 day", "budget": 250_000.0, "quality_loss": 249_001.0, "realised": 252_004.0,
        "worst_window": 360_000.0, "worst_loss": 1_440_000.0, "quality_metric": "squared"}  # fmt: skip


def test_what_budgets_over_a_window_lose_is_told_in_metres_and_in_words():
    page = page_of(LOST, {}, LOST | {"budget": 490_000.0})
    heading = "What is lost, with budgets over 1 day"
    first, second = section(page, heading)
    assert first == ["user 0", "euclid, 20%", "500", "499", "502", "600", "1.2e+03"]
    assert second[:3] == ["user 2", "euclid, 20%", "700"]
    assert "over as many answers in a row as an app may ask for in 1 day it may be 1.41 times as many metres" in page
    told = page_of(LOST | {"quality_metric": "hamming", "budget": 0.25, "worst_window": 0.4})
    assert "over as many answers in a row as an app may ask for in 1 day it may be twice as much" in told
    assert section(told, heading)[0][2] == "0.25"
    assert "What is lost" not in page_of({}, {"over": None})
