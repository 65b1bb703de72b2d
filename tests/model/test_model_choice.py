"""Which model is chosen: people whose model is known, and held-out losses counted by loops."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from hideseek import MarkovProfile, PeriodicProfile
from hideseek.errors import ParameterError
from hideseek.model.candidates import chosen_of
from hideseek.model.clock import Clock
from hideseek.model.clock_learning import Moves
from hideseek.model.model_choice import FOLDS, compared, foretelling, learn
from hideseek.util.choices import Model
from tests.support.walks import LINE, walk

ZONE = "UTC+00:00"
HOURLY = Clock(ZONE, step="1h")


def lived(chance, days, seed=0):
    """Traces of somebody at 0 or 1 every hour from a Monday on; ``chance`` of 1 given the hour and the last places."""
    generator, places = np.random.default_rng(seed), [0, 1]
    for hour in range(24 * days):
        places.append(int(generator.random() < chance(hour, places[-2], places[-1])))
    return walk(places[2:], start="2024-01-01T00:00Z", step="1h")


def first_order(hour, before, last):
    return (0.2, 0.7)[last]


def second_order(hour, before, last):
    return 0.9 if before == last == 0 else 0.1 if before == last == 1 else 0.5


def clock(hour, before, last):
    return (0.1, 0.6)[last] if hour % 24 < 12 else (0.6, 0.9)[last]


def calendar(hour, before, last):
    return clock(hour, before, last) if (hour // 24) % 7 < 5 else (0.7, 0.2)[last]


PEOPLE = {
    Model.FIRST_ORDER: first_order,
    Model.SECOND_ORDER: second_order,
    Model.CLOCK: clock,
    Model.CALENDAR: calendar,
}


@pytest.mark.parametrize("model", PEOPLE)
def test_the_model_of_a_person_is_found(model):
    profile = learn(lived(PEOPLE[model], 140), LINE, step="1h", timezone=ZONE)
    assert chosen_of(profile.candidates) is model
    kind = PeriodicProfile if model in (Model.CLOCK, Model.CALENDAR) else MarkovProfile
    assert type(profile) is kind
    if model is Model.SECOND_ORDER:
        assert profile.order == 2
        assert abs(float(profile.following(np.array([[0, 0]]), 0)[0, 1]) - 0.9) < 0.05
    if kind is PeriodicProfile:
        assert (profile.clock.slots > 2) == (model is Model.CALENDAR)
        assert profile.clock.starts[0] == (11, 23)  # from which one arrives at noon and at midnight


def test_where_the_first_order_chain_is_best_it_is_the_one_that_fit_makes():
    traces = lived(first_order, 140)
    chosen, fitted = learn(traces, LINE, step="1h", timezone=ZONE), MarkovProfile.fit(traces, LINE, step="1h")
    assert chosen.transition.tobytes() == fitted.transition.tobytes()
    assert chosen.state_distribution.tobytes() == fitted.state_distribution.tobytes()


def test_the_loss_is_that_of_days_left_out():
    """The first-order chain, counted by loops; its strength is the one that the library finds."""
    moves = Moves.of(lived(first_order, 11), LINE, HOURLY, "test")
    rows = list(zip(moves.here.tolist(), moves.there.tolist(), moves.day.tolist(), strict=True))
    days = sorted({day for *_, day in rows})
    losses = []
    for day in days:
        fold = days.index(day) % FOLDS
        known = moves.only(np.isin(moves.day, [own for own in days if days.index(own) % FOLDS != fold]))
        foretold = foretelling(known, HOURLY, 2)[Model.FIRST_ORDER]
        counts = Counter(zip(known.here.tolist(), known.there.tolist(), strict=True))
        visits = [1 + sum(n for (_, there), n in counts.items() if there == place) for place in (0, 1)]
        own = [(here, there) for here, there, when in rows if when == day]
        found = foretold(moves.only(moves.day == day))
        for (here, there), probability in zip(own, found, strict=True):
            total = counts[here, 0] + counts[here, 1]
            usual = visits[there] / sum(visits)
            # (n + w b) / (N + w) lies between what was counted and what is usual
            low, high = sorted((counts[here, there] / total, usual))
            assert low - 1e-12 <= probability <= high + 1e-12
        losses.append(-sum(math.log2(one) for one in found) / len(own))
    (first, *_) = compared(moves, HOURLY)
    assert first.log_loss == pytest.approx(np.mean(losses), rel=1e-12)
    assert first.gain == 0


@pytest.mark.parametrize("model", PEOPLE)
def test_what_is_foretold_is_a_distribution(model):
    """Over the next place, after any last places, at any time, seen or not."""
    known = Moves.of(lived(PEOPLE[model], 10), LINE, HOURLY, "test")
    foretold = foretelling(known, HOURLY, 3)
    for before in (-1, 0, 1, 2):
        for here in (0, 1, 2):
            for hour in (0, 11, 12, 23):
                count = 3
                asked = Moves(
                    np.full(count, before), np.full(count, here), np.arange(count), np.full(count, 20000),
                    np.full(count, hour), np.ones(count),
                )  # fmt: skip
                for one in foretold.values():
                    probability = one(asked)
                    assert probability.min() > 0
                    assert probability.sum() == pytest.approx(1, abs=1e-12)


def test_with_few_days_nothing_is_compared():
    profile = learn(lived(clock, 2), LINE, step="1h", timezone=ZONE)
    assert (type(profile), profile.candidates) == (MarkovProfile, ())


@pytest.mark.parametrize("model", PEOPLE)
def test_a_model_can_be_asked_for(model):
    profile = learn(lived(first_order, 20), LINE, step="1h", timezone=ZONE, model=model)
    assert profile.candidates == ()
    assert profile.memory == (2 if model is Model.SECOND_ORDER else 1)
    assert isinstance(profile, PeriodicProfile) == (model in (Model.CLOCK, Model.CALENDAR))
    walks = profile.sample(30, count=5, seed=1)
    assert all(profile.probability(own) > 0 for own in walks.tolist())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "third-order"}, "'model' parameter of learn"),
        ({"step": "7h"}, "divides a day"),
        ({"timezone": "Nowhere"}, "time zone"),
    ],
)
def test_bad_input_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        learn(lived(first_order, 5), LINE, **({"step": "1h"} | arguments))


def test_a_second_order_needs_three_steps_in_a_row():
    places = [0, 1, None, 1, 0, None] * 30
    with pytest.raises(ParameterError, match="traces with three steps in a row"):
        learn(walk(places, step="1h"), LINE, step="1h", model="second-order")
