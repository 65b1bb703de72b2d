"""map, run as a user runs it, on each kind of file."""

from __future__ import annotations

import json
import stat

import pytest

from hideseek import (
    MarkovProfile,
    Places,
    Scenario,
    design,
    evaluate,
    make_playbook,
    plan,
    save_plan,
    save_profile,
)
from hideseek.cli.descriptions import label_facts
from hideseek.cli.inputs import read_label
from hideseek.metrics import distance
from hideseek.planning import BeliefGame
from tests.support.map_pages import Page

PLACES = Places([45.02, 45.05], [-4.97, -4.92], names=("harbour", "hill"))


@pytest.fixture
def files(run, traces, tmp_path):
    """A file of every kind, in the folder of the command."""
    profile, metric = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]], PLACES), distance(PLACES)
    game = BeliefGame.of(profile, privacy=metric, quality=metric, budget=500.0)
    codebook = design(profile, Scenario.past_present(1), privacy=metric, quality=metric, budget=500.0)
    save_profile(profile, tmp_path / "p.json")
    codebook.save(tmp_path / "c.hideseek")
    planner = plan(game, walks=1)
    save_plan(game, planner, path=tmp_path / "l.plan")
    make_playbook(game, planner).save(tmp_path / "b.playbook")
    label = evaluate(codebook, profile, accesses=40, walks=5)  # simulated, so that it has intervals
    (tmp_path / "label.json").write_text(json.dumps(label_facts(label)))
    made = {"codebook": "c.hideseek", "plan": "l.plan", "playbook": "b.playbook", "label": "label.json"}
    return {"traces": traces, "profile": "p.json"} | made


def test_every_kind_of_file_becomes_a_private_map(run, files, tmp_path):
    for kind, path in files.items():
        status, out, err = run("map", path, "--out", f"{kind}.html", "--json")
        assert status == 0, err
        page = tmp_path / f"{kind}.html"
        told = {"map": f"{kind}.html", "of": kind, "bytes": page.stat().st_size, "offline": True}
        assert json.loads(out) == told
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert ("body", {"class": kind}) in Page(page.read_text()).elements
    label = Page((tmp_path / "label.html").read_text())
    assert "filter" in label.words
    assert any(words.endswith((" m", " km")) for words in label.words), "with its unit"


def test_a_label_is_read_as_it_was_written(files, tmp_path):
    facts = json.loads((tmp_path / "label.json").read_text())
    assert facts["intervals"]
    assert json.loads(json.dumps(label_facts(read_label(tmp_path / "label.json")))) == facts


def test_tracks_lie_under_places_and_a_label_beside_them(run, files, tmp_path):
    status, out, err = run("map", "c.hideseek", "--tracks", files["traces"], "--label", "label.json")
    assert status == 0, err
    assert "readable by you only" in out
    assert "keep it private" in out
    page = Page((tmp_path / "map.html").read_text())
    assert page.scene["lines"]
    assert "Expected error of each adversary" in page.words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("map", "p.json", "--tiles", "http://example.org/{z}/{x}/{y}"), "option --tiles"),
        (("map", "c.hideseek", "--label", "p.json"), "what evaluate --json prints"),
        (("map", "none.csv"), "none.csv"),
        (("map", "broken.json"), "what evaluate --json prints"),
    ],
)
def test_what_cannot_be_mapped_is_told_and_nothing_is_written(run, files, tmp_path, words, message):
    (tmp_path / "broken.json").write_text(
        '{"window": 1, "smoother": "x", "viterbi": 1, "intervals": [], "hit_rates": {}}'
    )
    status, _, err = run(*words)
    assert status == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "map.html").exists()
