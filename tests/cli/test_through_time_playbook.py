"""design makes a playbook unless a codebook is asked for, and says what it reaches."""

from __future__ import annotations

import json
import stat

import pytest

from hideseek import Codebook, MarkovProfile, Places, Playbook, PlaybookDevice, save_profile
from hideseek.adversary.playbook_label import playbook_label
from hideseek.cli import through_time
from hideseek.planning import BeliefGame, follow, plan

PLACES = Places([46.50, 46.51, 46.53], [6.50, 6.52, 6.55], names=("home", "work", "gym"))
PROFILE = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]], PLACES)


@pytest.fixture
def profile(tmp_path):
    save_profile(PROFILE, tmp_path / "me.json")


def test_a_playbook_is_made_and_attacked_by_default(run, profile, tmp_path):
    status, out, err = run("design", "me.json", "--budget", "500m", "--json")
    assert status == 0, err
    facts, path = json.loads(out), tmp_path / "me.playbook"
    playbook = Playbook.load(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (facts["playbook"], facts["bytes"]) == ("me.playbook", path.stat().st_size)
    assert (facts["tables"], facts["budget_metres"]) == (len(playbook.anchors), 500)
    label = playbook_label(playbook, accesses=through_time.COMPARED, walks=through_time.FEW)
    assert facts["label"]["filter"] == pytest.approx(label.steady.filter, rel=1e-9)
    assert facts["label"]["worst_loss"] <= facts["budget"]
    low, high = facts["shortfall_interval"]
    assert low <= facts["shortfall"] <= high <= 0.03
    status, out, err = run("design", "me.json", "--budget", "500m")
    assert status == 0, err
    told = " ".join(out.replace("│", " ").split())
    for words in (
        f"{facts['tables']} tables",
        f"a live planner reaches {100 * facts['shortfall']:.1f} % ({100 * low:.1f} % to {100 * high:.1f} %) more",
        f"nothing {label.nothing.error:.6g}",
        f"(filter) {label.steady.filter.in_words()}",
        f"(ceiling) {label.ceiling:.6g}",
        "readable by you only: me.playbook",
    ):
        assert words in told


def test_it_reaches_what_a_live_planner_reaches(run, profile):
    """As simulated by other code: within 3 %, and the intervals of both."""
    facts = json.loads(run("design", "me.json", "--budget", "500m", "--json")[1])
    game = BeliefGame.of(PROFILE, privacy="euclid", quality="squared", budget="500m")
    live = follow(game, plan(game), accesses=1000)
    _, high = facts["label"]["intervals"]["filter"]
    assert high >= 0.97 * live.filter.interval[0]


def test_its_device_answers_after_any_gap(run, profile, tmp_path):
    assert run("design", "me.json", "--out", "other.playbook")[0] == 0
    device = PlaybookDevice(Playbook.load("other.playbook"), state=tmp_path / "s")
    for day, minute in ((5, 0), (5, 5), (5, 45), (25, 0)):
        at = f"2026-01-{day:02}T08:{minute:02}:00+00:00"
        assert device.expose(46.5, 6.5, at=at).status == "exposed"


def test_a_playbook_is_no_larger_than_was_asked_for(run, profile, tmp_path):
    assert run("design", "me.json", "--kilobytes", 5)[0] == 0
    assert (tmp_path / "me.playbook").stat().st_size <= 5000
    for size, told in (("1", "at least"), ("nan", "a finite number")):
        status, _, err = run("design", "me.json", "--kilobytes", size)
        assert status == 2
        assert f"The option --kilobytes of design must be {told}" in " ".join(err.split())


@pytest.mark.parametrize("words", [("--memory", "1"), ("--protect", "way"), ("--protect", "next")], ids=" ".join)
def test_a_codebook_is_made_where_a_playbook_cannot_be(run, profile, words):
    status, _, err = run("design", "me.json", *words, "--privacy", "hamming", "--quality", "hamming")
    assert status == 0, err
    assert Codebook.load("codebook.hideseek").places == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--farsighted",), "must be given with --memory, or with another --protect than place"),
        (("--over", "1day", "--memory", "1"), 'must be "access" or "histories", as a codebook keeps no account'),
        (("--over", "histories"), 'must be "access" or a length of time'),
        (("--workers", "1"), "must be given with --memory, or with another --protect than place"),
        (("--first-stages", "2"), "must be given with --memory, or with another --protect than place"),
        (("--kilobytes", "9", "--memory", "1"), "must be given with --protect place, and without --memory"),
        (("--kilobytes", "9", "--protect", "way"), "must be given with --protect place, and without --memory"),
    ],
)
def test_options_of_the_other_kind_are_refused(run, profile, words, told, tmp_path):
    status, _, err = run("design", "me.json", *words)
    assert status == 2
    assert f"The option {words[0]} of design {told}" in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["me.json"]
