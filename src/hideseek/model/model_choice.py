"""Which model of a person's moves foretells days that it was not learned from best.

Days are left out in turns, each candidate is learned from the others, and the moves of the days left out are scored by
the logarithm of the probability that it gave them. In every candidate, rows of counted moves are drawn towards a
coarser model that counts as so many moves, as many as make the moves it is learned from likeliest: the next place after
one towards how often places are visited, that after two towards that after one, and slots of the day towards all day.
So a model that adds nothing loses the same up to chance: of those that are within a thousandth of the best, the
simplest is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from hideseek.errors import broken_rule
from hideseek.model.candidates import Candidate, chosen_of
from hideseek.model.clock import Clock
from hideseek.model.clock_learning import NOBODY, Moves, best_strength, counted_by_slot, learned_clock
from hideseek.model.markov import MarkovProfile, profile_from_kernel, state_index
from hideseek.model.periodic import PeriodicProfile
from hideseek.model.profile import STEP
from hideseek.model.regions import Regions
from hideseek.traces.timezones import local_zone
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of
from hideseek.util.choices import Model
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_large

FOLDS = 5  # parts of the days, each left out once
FEWEST = 3  # days, without which nothing is compared
CANDIDATES = (Model.FIRST_ORDER, Model.SECOND_ORDER, Model.CLOCK, Model.CALENDAR)  # simpler ones first

Foretold = Callable[[Moves], FloatArray]  # the probability of each of some moves


@checked
def learn(
    traces: pd.DataFrame,
    regions: Regions,
    *,
    step: str = STEP,
    timezone: str | None = None,
    model: Model | str = Model.AUTO,
) -> MarkovProfile | PeriodicProfile:
    """Learn a profile by the model that foretells days best that it was not learned from, or by a given one.

    Parameters
    ----------
    traces, regions : pandas.DataFrame, Regions
        The fixes of a person, as :func:`hideseek.read_traces` gives them; and the map.
    step, timezone : str
        The length of a time step, which divides a day; and the IANA name of the time zone, by default the offset that
        most times of the data had, else the one of the mean longitude.
    model : str
        "first-order", "second-order", "clock" (slots of the day), "calendar" (other slots at weekends), or "auto".

    Returns
    -------
    MarkovProfile or PeriodicProfile
        The profile, with what each candidate reached on days left out: none where there are fewer than 3 days, as the
        first-order chain is taken then.

    Raises
    ------
    ParameterError
        Where the traces, or a parameter, break a rule.

    Examples
    --------
    >>> from hideseek.traces.city import synthetic_city
    >>> from hideseek.model.regions import Grid
    >>> traces = synthetic_city(people=1, days=14)
    >>> profile = learn(traces, Grid.covering(traces, rows=6, columns=6))
    >>> print(*(one.model for one in sorted(profile.candidates, key=lambda one: one.log_loss)), sep=", ")
    clock, first-order, calendar, second-order
    >>> profile.clock.in_words()
    '07:00-16:00, 16:00-21:00, 21:00-07:00'
    """
    owner = "learn"
    wanted = one_of(Model, model, "model", owner)
    whole = Clock(str(local_zone(traces, timezone)[0]), step=step)
    candidates: tuple[Candidate, ...] = ()
    if wanted is Model.AUTO:
        moves = Moves.of(traces, regions, whole, owner)
        candidates = compared(moves, whole) if moves.days >= FEWEST else ()
        wanted = chosen_of(candidates) if candidates else Model.FIRST_ORDER
    if wanted is Model.FIRST_ORDER:
        return replace(MarkovProfile.fit(traces, regions, step=step), candidates=candidates)
    if wanted is Model.SECOND_ORDER:
        return replace(second_order(traces, regions, whole), candidates=candidates)
    weekends = wanted is Model.CALENDAR
    profile = PeriodicProfile.fit(traces, regions, step=step, timezone=timezone, weekends=weekends)
    return replace(profile, candidates=candidates)


def compared(moves: Moves, whole: Clock) -> tuple[Candidate, ...]:
    """What every model loses on days that it was not learned from, in bits per move, on average over days."""
    _, day = np.unique(moves.day, return_inverse=True)
    lost = {model: np.zeros(len(day)) for model in CANDIDATES}
    for fold in range(min(FOLDS, moves.days)):
        left_out = day % FOLDS == fold
        foretell, away = foretelling(moves.only(~left_out), whole, places_of(moves)), moves.only(left_out)
        for model in CANDIDATES:
            lost[model][left_out] = -np.log2(foretell[model](away))
    often = np.bincount(day)
    by_day = {model: np.bincount(day, own) / often for model, own in lost.items()}
    usual = by_day[Model.FIRST_ORDER]
    return tuple(
        Candidate(model, Estimate.mean_of(own), Estimate.mean_of(usual - own)) for model, own in by_day.items()
    )


def places_of(moves: Moves) -> int:
    """Over how many places some moves lead."""
    return int(max(moves.here.max(), moves.there.max())) + 1


def foretelling(known: Moves, whole: Clock, places: int) -> dict[Model, Foretold]:
    """The models as they are learned from some moves."""
    refuse_if_too_large(8 * 8 * places**2, f"Moves between {places} places", parameter="regions")
    counts = np.bincount(known.there, known.weight, places).astype(np.float64) + 1
    visits = counts / counts.sum()
    first = towards(known.here, known, visits[known.there], places)
    here, there = np.divmod(np.arange(places**2), places)
    chain = first(here, there, visits[there]).reshape(places, places)
    second = towards(pairs(known, places), known, chain[known.here, known.there], places)

    def by_clock(weekends: bool) -> Foretold:
        clock, strength = learned_clock(known, chain, whole, weekends)
        slots = counted_by_slot(known, places, clock) + strength * chain
        slots /= slots.sum(axis=2, keepdims=True)
        return lambda moves: np.asarray(slots[moves.slots(clock), moves.here, moves.there])

    def after_two(moves: Moves) -> FloatArray:
        prior = chain[moves.here, moves.there]
        return np.where(moves.before == NOBODY, prior, second(pairs(moves, places), moves.there, prior))

    return {
        Model.FIRST_ORDER: lambda moves: np.asarray(chain[moves.here, moves.there]),
        Model.SECOND_ORDER: after_two,
        Model.CLOCK: by_clock(weekends=False),
        Model.CALENDAR: by_clock(weekends=True),
    }


def pairs(moves: Moves, places: int) -> IntArray:
    """A number for the last two places before each move."""
    return (moves.before + 1) * places + moves.here


def towards(
    row: IntArray, known: Moves, prior: FloatArray, places: int
) -> Callable[[IntArray, IntArray, FloatArray], FloatArray]:
    """The probability of a place after a row, given its probability in a coarser model: as known moves have it."""
    code, which = np.unique(row * places + known.there, return_inverse=True)
    count = np.bincount(which, known.weight).astype(np.float64)
    rows, of = np.unique(code // places, return_inverse=True)
    first = np.unique(which, return_index=True)[1]
    total, strength = np.bincount(of, count).astype(np.float64), best_strength(count, of, prior[first])

    def found(values: FloatArray, keys: IntArray, wanted: IntArray) -> FloatArray:
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, values[at], 0.0)

    def foretold(row: IntArray, there: IntArray, prior: FloatArray) -> FloatArray:
        counted = found(count, code, row * places + there) + strength * prior
        return np.asarray(counted / (found(total, rows, row) + strength))

    return foretold


def second_order(traces: pd.DataFrame, regions: Regions, whole: Clock) -> MarkovProfile:
    """The chain of order 2 whose rows are drawn towards those of order 1, over all pairs of places that these allow."""
    owner = "learn"
    base, moves = MarkovProfile.fit(traces, regions, step=whole.step), Moves.of(traces, regions, whole, owner)
    places, states = base.places, np.argwhere(base.transition > 0)
    refuse_if_too_large(3 * 8 * len(states) ** 2, f"A chain of {len(states)} pairs of places", parameter="regions")
    after = moves.only(moves.before != NOBODY)
    if not len(after.here):
        raise broken_rule("traces", owner, "traces with three steps in a row", "none", "Use a longer 'step'.")
    index = state_index(states, np.c_[after.before, after.here], places)
    counts = np.zeros((len(states), places))
    np.add.at(counts, (index, after.there), after.weight)
    state, there = np.nonzero(counts)
    count, prior = counts[state, there], base.transition[states[state, 1], there]
    _, row = np.unique(state, return_inverse=True)
    kernel = counts + best_strength(count, row, prior) * base.transition[states[:, 1]]
    kernel /= kernel.sum(axis=1, keepdims=True)
    return profile_from_kernel(states, kernel, base.regions, base.step, "traces", owner)
