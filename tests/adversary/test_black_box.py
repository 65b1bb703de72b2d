"""Functions of anybody: what adversaries learn from their runs is held against what those who know them find."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import MarkovProfile, Mechanism, ParameterError
from hideseek.adversary import attack
from hideseek.adversary.black_box import attack_watched, learned, watched
from hideseek.metrics import from_matrix
from tests.support.policies import Echo

MOVES = np.array([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
PROFILE = MarkovProfile.from_matrix(MOVES)
METRES = np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
NOISY = np.array([[0.6, 0.2, 0.2], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
OTHER = np.array([[0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.8, 0.1, 0.1]])
RUN = {"accesses": 20, "walks": 300, "seed": 1}


def attacked(rule):
    return attack_watched(rule, PROFILE, privacy=from_matrix(METRES), quality=from_matrix(METRES), **RUN)


def by_table(place, past, rng):
    return int(rng.choice(3, p=NOISY[place]))


def by_last_release(place, past, rng):
    """Echo, as a function."""
    return int(rng.choice(3, p=(OTHER if past and past[-1] > 0 else NOISY)[place]))


class Late:
    """Tells where the person was two accesses before."""

    def __call__(self, place, past, rng):
        if not past:
            self.shown = []
        self.shown.append(place)
        return self.shown[-3] if len(self.shown) > 2 else 0


@pytest.mark.parametrize(
    ("rule", "exposer"), [(by_table, Mechanism(NOISY)), (by_last_release, Echo(NOISY, OTHER))], ids=["table", "echo"]
)
def test_who_learns_errs_little_more_than_who_knows(rule, exposer):
    """Nobody errs less than who knows the mechanism: beyond the intervals of both, and 3 % for what is not learned."""
    found, loss = attacked(rule)
    for adversary in ("window", "filter", "smoother", "viterbi"):
        window = 1 if adversary == "window" else None
        known = attack(exposer, PROFILE, adversary=adversary, privacy=METRES, window=window, accesses=20, walks=300)
        error = found[adversary]
        off = sum((one.interval[1] - one.interval[0]) / 2 for one in (error, known))
        assert known - off <= error <= 1.03 * known + off
        assert off < 0.2 * known
    if rule is by_table:
        assert loss == pytest.approx((PROFILE.stationary[:, None] * NOISY * METRES).sum(), rel=0.03)


def test_a_late_truth_is_no_secret_from_who_reads_the_log_later():
    """The smoother knows the place of all but the last two of 20 accesses; the filter that of two steps before."""
    found, _ = attacked(Late())
    blind = (METRES @ PROFILE.stationary).min()
    assert found["smoother"] < 0.1 * blind
    before = sum(p * (METRES @ np.linalg.matrix_power(MOVES, 2)[k]).min() for k, p in enumerate(PROFILE.stationary))
    assert found["filter"] == pytest.approx((18 * before + 2 * blind) / 20, rel=0.1)


def test_a_code_that_changes_with_time_is_found_by_who_counts():
    """Each access has names of its own for the places, which nothing but its number tells."""
    shift = np.random.default_rng(5).integers(3, size=RUN["accesses"]).tolist()
    found, _ = attacked(lambda place, past, rng: (place + shift[len(past)]) % 3)
    assert found["filter"] < 0.01


def test_where_nothing_is_revealed_nobody_errs_less_than_blindly():
    found, _ = attacked(lambda place, past, rng: int(rng.integers(3)))
    blind = (METRES @ PROFILE.stationary).min()
    for adversary in ("window", "filter", "smoother"):  # the likeliest path is not the guess of least error
        assert found[adversary] == pytest.approx(blind, rel=0.02)


def test_a_function_sees_the_place_its_releases_and_nothing_more():
    calls = []

    def rule(place, past, rng):
        calls.append((place, past))
        return np.int64((place + 1) % 3)

    seen = watched(rule, PROFILE, accesses=4, walks=5, seed=0)
    assert [place for place, _ in calls] == seen.places.ravel().tolist()
    assert [past for _, past in calls] == [tuple(own[:n].tolist()) for own in seen.releases for n in range(4)]
    again = watched(rule, PROFILE, accesses=4, walks=5, seed=0)
    assert np.array_equal(seen.releases, again.releases)


@pytest.mark.parametrize("released", [3, -1, 1.0, None, "0"])
def test_what_is_no_place_is_refused(released):
    with pytest.raises(ParameterError, match=r"'rivals' .* number of a place, from 0 to 2"):
        watched(lambda *_: released, PROFILE, accesses=2, walks=2, seed=0)


def test_more_facts_count_once_there_are_cases():
    """Two facts decide; where a pair was never seen, the first alone says what is likely."""
    facts = np.array([[0, 0]] * 50 + [[0, 1]] * 50)
    rows = learned(facts, np.repeat([0, 1], 50), places=2)
    assert rows[0, 0] > 0.95
    assert rows[1, 1] > 0.95
    assert rows[2:] == pytest.approx(np.full((2, 2), 0.5))
    assert rows.sum(axis=1) == pytest.approx(np.ones(4))
