"""The label of a playbook: against closed forms, and against the attacks on policies, which other code computes."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, Places, Scenario, make_playbook, plan
from hideseek.adversary import attack, playbook_label
from hideseek.adversary.belief_exposer import BeliefPolicy
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame

PLACES = Places([46.50, 46.51, 46.53], [6.50, 6.52, 6.55])
MOVES = [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]]


def made(moves, scenario=None):
    """A profile, and a playbook of its own."""
    profile = MarkovProfile.from_matrix(moves, PLACES)
    game = BeliefGame.of(profile, scenario=scenario, privacy="hamming", quality="hamming", budget=0.1)
    return game, make_playbook(game, plan(game, walks=2))


@pytest.fixture(scope="module")
def played():
    return made(MOVES)


def test_without_memory_in_the_chain_every_access_is_the_first():
    """Under the Hamming metric the optimum hides what the budget lets it; shown nothing, the likeliest is named."""
    _, playbook = made([[0.5, 0.3, 0.2]] * 3)
    label = playbook_label.playbook_label(playbook, accesses=5, walks=3)
    for run in (label.steady, label.missed):
        assert run.filter == pytest.approx(0.1, abs=1e-6)
        assert run.smoother == pytest.approx(0.1, abs=1e-6)
        assert run.worst_loss <= 0.1
        assert sum(one.share * one.there for one in run.namings) == pytest.approx(0.9, abs=1e-6)
    assert (label.ceiling, label.kept) == pytest.approx((0.1, 1), abs=1e-6)
    assert (label.nothing.error, label.truth.error) == pytest.approx((0.5, 0))
    for extreme, there, elsewhere in ((label.nothing, [1, 0, 0], [1, 0, 0]), (label.truth, [1, 1, 1], [0, 0, 0])):
        assert [one.there for one in extreme.namings] == there
        assert [one.elsewhere for one in extreme.namings] == elsewhere
        assert [one.share for one in extreme.namings] == pytest.approx([0.5, 0.3, 0.2])


def test_errors_are_those_of_the_attacks_on_a_policy(played):
    """Within one and a half half-widths of what enumeration gives: 3.0 standard errors."""
    game, playbook = played
    policy = BeliefPolicy(game, at_beliefs(lambda belief: playbook.play(belief).by_state))
    label = playbook_label.playbook_label(playbook, accesses=4, walks=400, seed=1)
    for name in ("filter", "smoother"):
        exact = attack(policy, game.profile, adversary=name, privacy="hamming", accesses=4)
        found = getattr(label.steady, name)
        assert exact.exact
        assert abs(found - exact) <= 0.75 * (found.interval[1] - found.interval[0])
    shares = np.array([label.steady.filter, *label.steady.filter.interval]) / game.most
    assert (label.kept, *label.kept.interval) == pytest.approx(np.minimum(shares, 1))  # no mechanism keeps more


def test_a_third_of_the_accesses_is_missed_by_chance(played, monkeypatch):
    """Among 4000 waits, whose mean is 1.5 with a deviation of 0.87: within five standard errors."""
    asked = []
    follow = playbook_label.follow_beliefs
    monkeypatch.setattr(
        playbook_label, "follow_beliefs", lambda *words, **names: asked.append(names) or follow(*words, **names)
    )
    playbook_label.playbook_label(played[1], accesses=40, walks=100)
    (waits,) = (names["waits"] for names in asked if "waits" in names)
    assert (waits.shape, waits.min()) == ((100, 40), 1)
    assert waits.mean() == pytest.approx(1.5, abs=0.07)


def test_progress_ends_with_all_accesses_of_both_runs(played):
    heard = []
    playbook_label.playbook_label(played[1], accesses=3, walks=2, progress=lambda *news: heard.append(news))
    assert [done for _, done, _ in heard] == [1, 2, 3, 4, 5, 6]
    assert {count for _, _, count in heard} == {6}


@pytest.mark.parametrize("wrong", [{"accesses": 0}, {"walks": 1}, {"seed": -1}])
def test_numbers_that_cannot_be_are_refused(played, wrong):
    with pytest.raises(ParameterError, match=f"'{next(iter(wrong))}' parameter of playbook_label"):
        playbook_label.playbook_label(played[1], **wrong)


def test_a_playbook_that_protects_other_places_is_refused():
    _, playbook = made(MOVES, Scenario(target=(0, 1), known=(0,)))
    with pytest.raises(ParameterError, match="parameter of playbook_label must be one that protects the current place"):
        playbook_label.playbook_label(playbook)
