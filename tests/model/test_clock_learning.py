"""Slots and strengths from moves: against integrals, all ways to cut a day, and clocks that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate
from scipy.special import beta

from hideseek import MarkovProfile, PeriodicProfile
from hideseek.errors import ParameterError
from hideseek.model import clock_learning as module
from hideseek.model.clock import WEEKEND, Clock
from hideseek.model.clock_learning import Likelihood, Moves, counted_by_slot, learned_clock, likelihood, strength_of
from tests.support.walks import LINE, walk

HOURLY = Clock("UTC+00:00", step="1h")
ROWS = np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.2, 0.8], [0.7, 0.3]]])


def lived(slot_of, days, seed=0, rows=ROWS):
    """Somebody whose moves follow slots of the day, as traces of one fix an hour from a Monday on."""
    generator, place, places = np.random.default_rng(seed), 0, []
    for hour in range(24 * days):
        places.append(place)
        place = int(generator.random() > rows[int(slot_of(hour))][place][0])
    return walk(places, start="2024-01-01T00:00Z", step="1h")


def moves_of(traces):
    return Moves.of(traces, LINE, HOURLY, "test")


def test_the_likelihood_is_the_integral_over_all_transitions():
    """Two rows of two places: over the probability p of the first, with a beta density around the prior."""
    counts, prior, strength = np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.6, 0.4, 0.3, 0.7]), 2.5

    def of_row(n, m, b, c):
        return integrate.quad(lambda p: p ** (n + b - 1) * (1 - p) ** (m + c - 1) / beta(b, c), 0, 1)[0]

    priors = (strength * prior).reshape(2, 2)
    expected = np.prod([of_row(*count, *own) for count, own in zip(counts.reshape(2, 2), priors, strict=True)])
    found = likelihood(counts[None], np.array([0, 0, 1, 1]), prior, strength)
    assert np.exp(found) == pytest.approx([expected], rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_cut_is_the_best_of_all_ways_to_cut_the_day(seed):
    """Six blocks: every set of starts, round the clock, is tried."""
    generator = np.random.default_rng(seed)
    count = generator.poisson(generator.choice([1.0, 6.0], size=(6, 4))).astype(float)
    one = Likelihood(count, np.array([0, 0, 1, 1]), np.array([0.5, 0.5, 0.2, 0.8]))

    def worth(starts):
        slots = np.searchsorted(starts, np.arange(6), side="right") - 1
        sums = [count[slots % len(starts) == slot].sum(axis=0) for slot in range(len(starts))]
        return likelihood(np.array(sums), one.row, one.prior, 3.0).sum()

    ways = [own for size in range(1, 7) for own in itertools.combinations(range(6), size)]
    begins = [len(own) * np.log(6) * (len(own) > 1) for own in ways]  # each may be at any block
    best = max(worth(own) - cost for own, cost in zip(ways, begins, strict=True) if len(own) > 1 or own == (0,))
    value, starts = one.best_cut(3.0)
    assert value == pytest.approx(best, rel=1e-9)
    assert worth(starts) - len(starts) * np.log(6) * (len(starts) > 1) == pytest.approx(best, rel=1e-9)


def test_slots_and_their_moves_are_found_again():
    """A day from 7 to 19 and a night: 200 days are enough to find both hours, and the rows within their noise."""
    profile = PeriodicProfile.fit(lived(lambda hour: 7 <= hour % 24 < 19, 200), LINE, step="1h", timezone="UTC+00:00")
    assert profile.clock.starts == ((7, 19),)
    night, day = profile.slots[1], profile.slots[0]
    assert np.abs(day - ROWS[1]).max() < 0.05
    assert np.abs(night - ROWS[0]).max() < 0.05


def test_weekends_are_found_again():
    def slot_of(hour):
        return (hour // 24) % 7 < 5 and 7 <= hour % 24 < 19

    profile = PeriodicProfile.fit(lived(slot_of, 210), LINE, step="1h", timezone="UTC+00:00", weekends=True)
    assert profile.clock.days == WEEKEND
    assert profile.clock.starts[0] == (7, 19)
    assert profile.clock.starts[1] == (0,)
    assert np.abs(profile.slots[2] - ROWS[0]).max() < 0.05


def test_without_a_clock_none_is_found():
    clock, strength = learned_clock(moves_of(lived(lambda hour: 0, 100)), ROWS[0], HOURLY, weekends=False)
    assert clock.starts == ((0,),)
    assert strength >= 10


def test_the_strength_is_small_where_slots_differ_much():
    clock = Clock("UTC+00:00", ((7, 19),), step="1h")
    sharp = moves_of(lived(lambda hour: 7 <= hour % 24 < 19, 100))
    alike = moves_of(lived(lambda hour: 0, 100))
    base = counted_by_slot(sharp, 2, HOURLY)[0]
    base /= base.sum(axis=1, keepdims=True)
    assert strength_of(sharp, base, clock) < 10 < 100 <= strength_of(alike, ROWS[0], clock)


def test_moves_tell_the_local_day_and_what_was_before():
    traces = walk([0, 1, 1, None, 0, 1], start="2024-03-31T00:00Z", step="1h")
    moves = Moves.of(traces, LINE, Clock("Europe/Zurich", step="1h"), "test")
    assert moves.before.tolist() == [module.NOBODY, 0, module.NOBODY]
    assert moves.here.tolist() == [0, 1, 0]
    assert moves.there.tolist() == [1, 1, 1]
    assert moves.step.tolist() == [1, 3, 6]  # the clock skips two o'clock on this day
    assert moves.days == 1


def test_moves_fade_by_half_in_a_half_life():
    faded = moves_of(lived(lambda hour: 0, 5)).fading(2.0)
    by_day = {int(day): set(faded.weight[faded.day == day]) for day in np.unique(faded.day)}
    last = max(by_day)
    assert all(own == {0.5 ** ((last - day) / 2)} for day, own in by_day.items())


def test_recent_days_weigh_more():
    """Somebody who changed habits half way: with a half-life of 5 days the new ones are learned."""
    traces = lived(lambda hour: hour >= 24 * 30, 60)
    faded = PeriodicProfile.fit(traces, LINE, step="1h", half_life=5.0, slots=1, weight=1e-9)
    even = PeriodicProfile.fit(traces, LINE, step="1h", slots=1, weight=1e-9)
    assert np.abs(faded.slots[0] - ROWS[1]).max() < 0.1
    assert np.abs(even.slots[0] - ROWS[1]).max() > 0.2


def test_rows_are_drawn_towards_the_chain_without_a_clock():
    traces = lived(lambda hour: 7 <= hour % 24 < 19, 30)
    base = MarkovProfile.fit(traces, LINE, step="1h").transition
    heavy = PeriodicProfile.fit(traces, LINE, step="1h", slots=2, weight=1e9)
    assert np.abs(heavy.slots - base).max() < 1e-5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"slots": 7}, "a divisor of the 24 steps of a day"),
        ({"slots": 6}, "at most 2, the number of days"),
        ({"slots": 2, "weekends": True}, "at most 0, the number of days"),
        ({"half_life": 0.0}, "'half_life' parameter of PeriodicProfile.fit must be days, > 0"),
        ({"weight": 0.0}, "'weight' parameter of PeriodicProfile.fit must be a number > 0"),
        ({"step": "7h"}, "a length of time that divides a day"),
        ({"timezone": "Nowhere"}, "the IANA name of a time zone"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        PeriodicProfile.fit(lived(lambda hour: 0, 2), LINE, **({"step": "1h"} | arguments))
