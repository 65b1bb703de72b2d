"""A playbook where the person moves by another profile: against loops over all that may be released."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hideseek import MarkovProfile, ParameterError, PeriodicProfile, Places, Scenario, make_playbook, plan
from hideseek.adversary.other_profile import against_profile
from hideseek.model.steering import Standing
from hideseek.planning import BeliefGame

PLACES = Places([46.52, 46.53], [6.57, 6.58])
STAYS = np.array([[0.9, 0.1], [0.2, 0.8]])
HABITS = MarkovProfile.from_matrix(STAYS, PLACES, step="8h")
DAYS = PeriodicProfile(np.array([STAYS, STAYS[::-1], np.full((2, 2), 0.5)]), np.arange(3), regions=PLACES, step="8h")


def made(over="access", scenario=None):
    game = BeliefGame.of(HABITS, privacy="hamming", quality="hamming", budget=0.2, over=over, scenario=scenario)
    return make_playbook(game, plan(game, walks=2))


def by_loops(book, accesses):
    """Errors of filter and smoother and the loss, over all releases and all ways, with the device followed by hand."""
    filtered = smoothed = lost = 0.0
    ways = list(itertools.product((0, 1), repeat=accesses))
    first = DAYS.distributions[0]
    chance = {
        way: first[way[0]] * np.prod([DAYS.slots[n % 3][a, b] for n, (a, b) in enumerate(itertools.pairwise(way))])
        for way in ways
    }
    for releases in itertools.product((0, 1), repeat=accesses):
        standing, likely = Standing.first(book), dict(chance)
        for n, release in enumerate(releases):
            table = book.play(standing).by_state
            lost += sum(p * table[way[n], 1 - way[n]] for way, p in likely.items()) / accesses / 2 ** (accesses - n)
            likely = {way: p * table[way[n], release] for way, p in likely.items()}
            shares = [sum(p for way, p in likely.items() if way[n] == place) for place in (0, 1)]
            # what follows is summed over all later releases, so that each share counts once
            filtered += min(shares) / accesses / 2 ** (accesses - n - 1)
            standing = standing.exposed(book, table[None], np.array([release]), log=book.follows_log).moved(book.moves)
        for n in range(accesses):
            smoothed += min(sum(p for way, p in likely.items() if way[n] == place) for place in (0, 1)) / accesses
    return filtered, smoothed, lost


@pytest.mark.parametrize("over", ["access", "1 day"])
def test_errors_are_those_of_all_that_may_happen(over):
    book = made(over)
    both = against_profile(book, DAYS, accesses=6, walks=2)
    filtered, smoothed, lost = by_loops(book, 6)
    assert both.accesses == 6
    assert both.found.errors["filter"] == pytest.approx(filtered, abs=1e-6)
    assert both.found.errors["smoother"] == pytest.approx(smoothed, abs=1e-6)
    assert both.found.loss == pytest.approx(lost, abs=1e-6)
    assert both.found.errors["filter"].exact
    assert both.found.nothing == pytest.approx(np.mean([min(DAYS.distributions[n % 3]) for n in range(6)]))
    assert both.claimed.nothing == pytest.approx(1 / 3)  # of the chain, which is at the second place that often


def test_the_same_profile_leaves_what_is_claimed():
    book = made()
    both = against_profile(book, HABITS, accesses=5, walks=2)
    assert both.found.errors == both.claimed.errors
    assert both.claimed.loss <= 0.2 + 1e-9


def test_runs_are_whole_days_with_as_many_accesses_in_all():
    both = against_profile(made(), DAYS, accesses=20, walks=30)
    assert (both.accesses, both.walks) == (21, 28)
    assert against_profile(made(), HABITS, accesses=20, walks=3).walks == 3


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (MarkovProfile.from_matrix(STAYS, PLACES, step="1h"), "one with a time step of"),
        (
            MarkovProfile.from_matrix(STAYS, Places([1.0, 2.0], [3.0, 4.0]), step="8h"),
            "over the places of the playbook",
        ),
        (MarkovProfile.from_matrix(STAYS, step="8h"), "over the places of the playbook"),
    ],
)
def test_a_profile_that_does_not_fit_is_refused(other, words):
    with pytest.raises(ParameterError, match=words):
        against_profile(made(), other)


def test_a_playbook_that_looks_back_is_refused():
    with pytest.raises(ParameterError, match="knows and protects the current place alone"):
        against_profile(made(scenario=Scenario.read_later(1)), HABITS)
