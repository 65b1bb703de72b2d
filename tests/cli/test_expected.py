"""Long work says how long it will take, and short work says nothing."""

from __future__ import annotations

import pytest

from hideseek import MarkovProfile, Places, Scenario, save_profile
from hideseek.cli import expected
from hideseek.util.choices import Protect

REGIONS = Places([46.50, 46.51], [6.50, 6.52])


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = [0.0]
    monkeypatch.setattr(expected.time, "monotonic", lambda: now[0])
    return now


def test_the_rest_of_a_fleet_is_told_once_when_the_pace_is_known(clock, capsys):
    heard = []
    tell = expected.Telling(lambda *news: heard.append(news), "users")
    for when, news in (
        (0, ("reading", 3, 0)),
        (5, ("users", 10, 100)),  # ten were done by an earlier run
        (65, ("users", 11, 100)),
        (66, ("users", 12, 100)),
    ):
        clock[0] = when
        tell(*news)
    # a minute for one user, and 89 are left
    assert capsys.readouterr().err.split("\n")[:-1] == ["note: about 89 minutes, if the machine is idle"]
    assert [news[0] for news in heard] == ["reading", "users", "users", "users"]


def test_what_is_soon_done_says_nothing(clock, capsys):
    tell = expected.Telling(lambda *_: None, "users")
    for when, done in ((0, 0), (1, 1), (2, 2)):
        clock[0] = when
        tell("users", done, 5)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "words", [*(("design", "--protect", one) for one in Protect), ("plan",), ("compare",)], ids=" ".join
)
def test_long_work_is_told_before_it_starts(run, tmp_path, monkeypatch, words):
    """With 30 seconds made so short that everything is long, and nothing done."""
    save_profile(MarkovProfile.from_matrix([[0.6, 0.4], [0.3, 0.7]], REGIONS), tmp_path / "me.json")
    monkeypatch.setattr(expected, "LONG", 0)
    target = {
        "design": "planning.training.plan" if "place" in words else "designing.designer.design",
        "plan": "planning.training.plan",
        "compare": "experiments.comparison.compare",
    }

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"hideseek.{target[words[0]]}", interrupted)
    status, _, err = run(*words, "me.json")
    assert status == 130
    assert "note: less than a minute" in err


def test_what_protects_more_is_expected_to_take_longer():
    """As measured at 16 and 20 places: a place, both on the way, all between two accesses; more of each, longer."""
    of = Scenario.past_present
    ordered = [of(1), of(1, protect="way"), Scenario.in_between(2), Scenario.in_between(3)]
    for places in (16, 20, 40):
        times = [expected.design_seconds(places, one) for one in ordered]
        assert times == sorted(set(times))
        assert expected.design_seconds(places, of(2, protect="way")) > times[1]


def test_a_comparison_takes_longer_than_what_is_designed_for_it():
    """Two codebooks, and a live planner and a playbook that take as long as several more."""
    for places in (30, 60, 90):
        alone = expected.design_seconds(places, Scenario.past_present(1))
        assert expected.comparison_seconds(places, accesses=50, walks=200) > 8 * alone
