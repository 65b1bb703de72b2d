"""A playbook and its label in words: the numbers are those of Python, and places with names come first."""

from __future__ import annotations

import json

import pytest

from hideseek import MarkovProfile, Places, Playbook, PlaybookDevice, load_profile, make_playbook, plan, save_profile
from hideseek.adversary.playbook_label import playbook_label
from hideseek.planning import BeliefGame

LATITUDES, LONGITUDES = [46.50, 46.51, 46.53], [6.50, 6.52, 6.55]
CHAIN = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]
QUICK = ("--accesses", 20, "--walks", 3)


def saved(tmp_path, names=()):
    """The file of a playbook, and what is in it."""
    profile = MarkovProfile.from_matrix(CHAIN, Places(LATITUDES, LONGITUDES, names=names))
    game = BeliefGame.of(profile, privacy="euclid", quality="squared", budget="500m")
    make_playbook(game, plan(game, walks=2)).save(tmp_path / "me.playbook")
    return game, Playbook.load(tmp_path / "me.playbook")


def flat(text):
    return " ".join(text.replace("│", " ").split())


def test_inspect_computes_what_a_playbook_holds_and_promises(run, tmp_path):
    game, playbook = saved(tmp_path)
    status, out, err = run("inspect", "me.playbook", "--json")
    assert status == 0, err
    facts = json.loads(out)
    size = (tmp_path / "me.playbook").stat().st_size
    assert (facts["kind"], facts["places"], facts["bytes"]) == ("playbook", 3, size)
    assert (facts["tables"], facts["sha256"]) == (len(playbook.anchors), Playbook.load("me.playbook").sha256)
    assert (facts["budget"], facts["budget_metres"]) == (250_000, 500)
    assert facts["ceiling"] == pytest.approx(game.ceiling.bound, rel=1e-6)
    assert facts["prior_risk"] == pytest.approx(game.at(game.start).prior_risk)
    device = PlaybookDevice(playbook, state=tmp_path / "s")
    device.expose(46.5, 6.5, at="2026-01-05T08:00:00+00:00")
    assert facts["first_privacy"] == device.label().filter
    told = flat(run("inspect", "me.playbook")[1])
    for words in (
        f"a playbook of {size / 1000:.0f} kB over 3 places",
        f"{len(playbook.anchors)} tables",
        "500 m (root mean square), kept after every full history",
        "after any gap answers, and keeps the same budget",
        "needs no solver",
        f"{facts['ceiling']:.6g} m; no mechanism exceeds it",
        "All numbers are computed here",
        "Keep it private",
    ):
        assert words in told


def test_evaluate_tells_the_label_of_a_playbook(run, tmp_path):
    _, playbook = saved(tmp_path, names=("home", "work", "gym"))
    label = playbook_label(playbook, accesses=20, walks=3)
    status, out, err = run("evaluate", "me.playbook", *QUICK, "--json")
    assert status == 0, err
    facts = json.loads(out)
    for told, found in ((facts, label.steady), (facts["with_missed_accesses"], label.missed)):
        for name in ("filter", "smoother", "quality_loss"):
            assert told[name] == getattr(found, name)
            assert tuple(told["intervals"][name]) == getattr(found, name).interval
        assert told["worst_loss"] == found.worst_loss <= 250_000
        for one, naming in zip(told["namings"], found.namings, strict=True):
            assert (one["there"], one["elsewhere"]) == (naming.there, naming.elsewhere)
            assert tuple(one["there_interval"]) == naming.there.interval
    assert [one["name"] for one in facts["namings"]] == ["home", "work", "gym"]
    assert (facts["prior_risk"], facts["truth"]) == (label.nothing.error, label.truth.error)
    assert (facts["ceiling"], facts["kept"]) == (label.ceiling, label.kept)
    assert [one["there"] for one in facts["shown_nothing"]] == [one.there for one in label.nothing.namings]
    out = run("evaluate", "me.playbook", *QUICK)[1]
    for k, name in enumerate(("home", "work", "gym")):
        (line,) = (line for line in out.splitlines() if line.startswith(f"│ {name} "))
        cells = [cell.strip() for cell in line.strip("│").split("│")]
        steady, missed = label.steady.namings[k], label.missed.namings[k]
        for cell, rate in zip(cells[2:5], (steady.there, steady.elsewhere, missed.there), strict=True):
            half = (rate.interval[1] - rate.interval[0]) / 2
            assert cell == f"{100 * rate:.1f}{f' ± {100 * half:.1f}' if half else ''}"
    (line,) = (line for line in out.splitlines() if "(filter)" in line)
    assert f" {label.steady.filter.in_words()} " in line
    assert "with and without missed accesses" in flat(out)


def test_without_names_the_busiest_places_are_told_by_number(run, tmp_path):
    saved(tmp_path)
    out = run("evaluate", "me.playbook", *QUICK)[1]
    assert "│ place 0 " in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--as", "me.json"), "The option --as of evaluate must be given with a codebook only"),
        (("--beside", "me.json"), "The option --beside of evaluate must be given with a codebook only"),
        (("--walks", "1"), "The option --walks of evaluate must be"),
    ],
)
def test_what_does_not_go_with_a_playbook_is_refused(run, tmp_path, words, told):
    game, _ = saved(tmp_path)
    save_profile(game.profile, tmp_path / "me.json")
    status, _, err = run("evaluate", "me.playbook", *words)
    assert status == 2
    assert told in flat(err)
    assert load_profile("me.json").places == 3


def test_a_codebook_is_evaluated_with_a_profile(run, tmp_path):
    game, _ = saved(tmp_path)
    save_profile(game.profile, tmp_path / "me.json")
    assert run("design", "me.json", "--memory", 1, "--out", "me.hideseek")[0] == 0
    status, _, err = run("evaluate", "me.hideseek")
    assert status == 2
    assert "The argument PROFILE of evaluate must be given with a codebook" in flat(err)
