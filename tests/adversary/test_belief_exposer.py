"""What chooses its table at the belief: held against enumeration, over any pattern of accesses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, Places, Scenario, make_playbook, plan
from hideseek.adversary import attack
from hideseek.adversary.belief_exposer import BeliefPolicy, follow_beliefs, windows_seen
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.naming import namings
from hideseek.adversary.policies import policy_loss
from hideseek.metrics import from_matrix
from hideseek.model.exposed_walks import at_beliefs
from hideseek.planning import BeliefGame

METRES = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
MOVES = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
PROFILE = MarkovProfile.from_matrix(MOVES)
GAME = BeliefGame.of(PROFILE, privacy=from_matrix(METRES), quality=from_matrix(METRES), budget=1.0)


def choose(belief):
    """Noise towards what is believed, and more of it where that is nearly known."""
    noise = 0.2 + 0.6 * belief.max()
    return (1 - noise) * np.eye(3) + noise * (belief + 0.1) / 1.3


def by_enumeration(waits):
    """By the definition, over all places and releases: the errors of filter and smoother, the losses and namings."""
    accesses = len(waits)
    moves = [np.linalg.matrix_power(MOVES, wait) for wait in waits]
    now, whole, loss, worst = {}, {}, 0.0, 0.0
    for drawn in itertools.product(range(3), repeat=accesses):
        belief, tables, likely = PROFILE.stationary, [], 1.0
        for n, release in enumerate(drawn):
            tables.append(choose(belief))
            expected = float((belief[:, None] * tables[-1] * METRES).sum())
            worst, joint = max(worst, expected), belief * tables[-1][:, release]
            if release == 0 and not any(drawn[n:]):  # once for every history before this access
                loss += likely * expected / accesses
            likely *= joint.sum()
            belief = joint / joint.sum() @ moves[n]
        for places in itertools.product(range(3), repeat=accesses):
            weight = PROFILE.stationary[places[0]]
            for n, place in enumerate(places):
                weight *= (moves[n - 1][places[n - 1], place] if n else 1.0) * tables[n][place, drawn[n]]
            for n, place in enumerate(places):
                now.setdefault((n, drawn[: n + 1]), np.zeros(3))[place] += weight / accesses
                whole.setdefault((n, drawn), np.zeros(3))[place] += weight / accesses
    errors = [sum((METRES @ law).min() for law in known.values()) for known in (now, whole)]
    named = np.zeros((3, 3))  # guess, place
    for law in now.values():
        named[(METRES @ law).argmin()] += law
    there = np.diag(named) / named.sum(axis=0)
    elsewhere = (named.sum(axis=1) - np.diag(named)) / (1 - named.sum(axis=0))
    return *errors, loss, worst, there, elsewhere


def test_every_adversary_attacks_a_choice_at_the_belief_as_a_policy():
    filtered, smoothed, loss, _, there, elsewhere = by_enumeration([1, 1, 1, 1])
    policy = BeliefPolicy(GAME, at_beliefs(choose))
    for adversary, error in (("filter", filtered), ("smoother", smoothed)):
        found = attack(policy, PROFILE, adversary=adversary, privacy=METRES, accesses=4)
        assert found.exact
        assert found == pytest.approx(error, abs=1e-12)
    run = Run(policy, PROFILE, privacy=METRES, accesses=4)
    assert policy_loss(run, from_matrix(METRES)) == pytest.approx(loss, abs=1e-12)
    found = namings(run, walks=10)
    assert [one.share for one in found] == pytest.approx(PROFILE.stationary, abs=1e-12)
    assert [one.there for one in found] == pytest.approx(there, abs=1e-12)
    assert [one.elsewhere for one in found] == pytest.approx(elsewhere, abs=1e-12)


@pytest.mark.parametrize("waits", [[1, 1, 1, 1], [1, 4, 2, 1], [40, 1, 40, 1]])
def test_any_pattern_of_accesses_is_followed(waits):
    """Within one and a half half-widths of what enumeration gives: 3.0 standard errors."""
    filtered, smoothed, loss, worst, there, elsewhere = by_enumeration(waits)
    found = follow_beliefs(GAME, at_beliefs(choose), accesses=4, walks=1500, waits=np.array(waits), seed=3)
    pairs = [(found.filter, filtered), (found.smoother, smoothed), (found.quality_loss, loss)]
    pairs += zip([one.there for one in found.namings], there, strict=True)
    pairs += zip([one.elsewhere for one in found.namings], elsewhere, strict=True)
    for estimate, exact in pairs:
        assert abs(estimate - exact) <= 0.75 * (estimate.interval[1] - estimate.interval[0]) + 1e-12
        assert estimate.interval[1] - estimate.interval[0] < 0.1
    assert found.worst_loss == pytest.approx(worst, abs=1e-12)  # 1500 walks see all 27 pasts


def test_each_walk_may_have_accesses_of_its_own():
    alike, own = (
        follow_beliefs(GAME, at_beliefs(choose), accesses=3, walks=4, waits=waits)
        for waits in (np.array([2, 5, 1]), np.tile([2, 5, 1], (4, 1)))
    )
    assert alike == own
    other = follow_beliefs(GAME, at_beliefs(choose), accesses=3, walks=4, waits=np.tile([9, 5, 1], (4, 1)))
    assert other.filter != own.filter


def test_a_belief_keeps_the_table_that_it_was_given_first():
    asked = []

    def another(belief):
        asked.append(belief)
        return np.roll(np.eye(3), len(asked), axis=1)

    policy = BeliefPolicy(GAME, at_beliefs(another))
    state = policy.start(2)
    first = policy.tables(state)[0]
    assert np.array_equal(policy.tables(state)[0], first)
    assert len(asked) == 1
    exposed = first[0].argmax(axis=1)[:2]
    assert policy.after(state, exposed).belief == pytest.approx(MOVES[:2])


def test_a_playbook_is_followed_by_what_its_file_holds_alone():
    regions = Places([46.52, 46.53, 46.54], [6.57, 6.58, 6.57])
    profile = MarkovProfile.from_matrix(MOVES, regions)
    game = BeliefGame.of(profile, privacy="hamming", quality="hamming", budget=0.2)
    book = make_playbook(game, plan(game, walks=2))
    assert not isinstance(book, BeliefGame)
    by = [
        follow_beliefs(one, at_beliefs(choose), accesses=3, walks=4, waits=np.array([1, 5, 2])) for one in (game, book)
    ]
    assert by[0].filter == pytest.approx(
        by[1].filter, abs=1e-9
    )  # the ceilings that chance is told by differ in rounding
    assert by[0].namings == by[1].namings
    policies = [BeliefPolicy(one, at_beliefs(choose)) for one in (game, book)]
    errors = [attack(one, profile, adversary="filter", privacy="hamming", accesses=3) for one in policies]
    assert errors[0] == errors[1]


def test_what_protects_an_earlier_place_is_followed_by_guesses_at_once():
    """The tables look at the current place: filter and smoother, by enumeration, within three standard errors."""
    later = BeliefGame.of(
        PROFILE,
        scenario=Scenario.read_later(1),
        privacy=from_matrix(METRES),
        quality=from_matrix(METRES),
        budget=1.0,
    )
    current = later.states[:, -1]

    def on_pairs(belief):
        return choose(np.bincount(current, belief, minlength=3))[current]

    found = follow_beliefs(later, at_beliefs(on_pairs), accesses=3, walks=600)
    now, whole, loss, *_ = by_enumeration((1, 1, 1))
    for estimate, exact in ((found.filter, now), (found.smoother, whole), (found.quality_loss, loss)):
        assert abs(estimate - exact) <= 0.75 * (estimate.interval[1] - estimate.interval[0])


def test_a_run_sees_two_windows_whole_on_fewer_walks_but_enough_of_them():
    chain = BeliefGame.of(PROFILE, privacy=from_matrix(METRES), quality=from_matrix(METRES), budget=1.0, over="1 day")
    assert chain.window == 288
    assert windows_seen(chain.window, 144, 100) == (576, 25)  # as many accesses in all
    assert windows_seen(chain.window, 144, 20) == (576, 8)
    assert windows_seen(chain.window, 10, 3) == (576, 3)
    assert windows_seen(chain.window, 1000, 40) == (1000, 40)
    assert windows_seen(GAME.window, 1, 5) == (1, 5)


def test_what_cannot_be_followed_is_refused():
    both = BeliefGame.of(PROFILE, scenario=Scenario(target=(-1, 0)), privacy="hamming", quality="hamming", budget=0.5)
    with pytest.raises(ParameterError, match="protects the current place"):
        follow_beliefs(both, choose, accesses=2, walks=2)
    ahead = BeliefGame.of(
        PROFILE, scenario=Scenario(target=(1,), known=(0,)), privacy="hamming", quality="hamming", budget=0.5
    )
    with pytest.raises(ParameterError, match="protects the current place"):
        follow_beliefs(ahead, choose, accesses=2, walks=2)
    with pytest.raises(ParameterError, match="knows the current place alone"):
        BeliefPolicy(both, choose)
    for waits in (np.array([1, 0]), np.ones((3, 2), np.int64), np.array([1])):
        with pytest.raises(ParameterError, match="'waits'"):
            follow_beliefs(GAME, at_beliefs(choose), accesses=2, walks=2, waits=waits)
