"""What is left of a claim on other days: each part against loops over the definition."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from hideseek import Game, Grid, MarkovProfile, Mechanism, ParameterError, Scenario, solve
from hideseek.adversary import expected_error
from hideseek.experiments.reproduction.pages import robustness_of
from hideseek.experiments.reproduction.robustness_study import (
    Left,
    error_alone,
    error_of_filter,
    kept_of_claim,
    learned,
    robustness,
)
from hideseek.metrics import from_matrix
from hideseek.model import distances
from hideseek.model.profile import drawn
from hideseek.traces.city import synthetic_city

METRES = from_matrix([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]])
PROFILE = MarkovProfile.from_matrix([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
TABLE = np.array([[0.6, 0.3, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])


def test_a_day_like_the_profile_leaves_what_was_claimed():
    game = Game.from_scenario(PROFILE, Scenario.sporadic(), privacy=METRES, quality=METRES)
    usual_day = np.array([0, 1, 0, 2])
    claimed = expected_error(game, Mechanism(TABLE))
    assert error_alone(Mechanism(TABLE), PROFILE, METRES, usual_day) == pytest.approx(claimed, abs=1e-12)


def test_another_day_is_guessed_as_the_profile_has_it():
    d_p = METRES.between(np.arange(3)[:, None], np.arange(3)[:, None], np.zeros(0, int))
    day, total = [2, 2, 1], 0.0
    for place in day:
        for release in range(3):
            guess = min(range(3), key=lambda g: sum(PROFILE.stationary * TABLE[:, release] * d_p[g]))
            total += TABLE[place, release] * d_p[guess, place] / len(day)
    found = error_alone(Mechanism(TABLE), PROFILE, METRES, np.array(day))
    assert found == pytest.approx(total, abs=1e-12)


def test_the_filter_is_bayes_rule_step_by_step():
    chain = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6]])
    d_p = METRES.between(np.arange(3)[:, None], np.arange(3)[:, None], np.zeros(0, int))
    day, exposed = np.array([0, 1, 1, 2]), np.array([[0, 1, 2, 2], [2, 0, 0, 1]])
    total = 0.0
    for sequence in exposed:
        belief = chain.stationary
        for n, release in enumerate(sequence):
            belief = (belief @ chain.transition if n else belief) * TABLE[:, release]
            belief = belief / belief.sum()
            total += d_p[(d_p @ belief).argmin(), day[n]] / exposed.size
    found = error_of_filter(Mechanism(TABLE), chain, METRES, day, exposed)
    assert found == pytest.approx(total, abs=1e-12)


def test_a_profile_of_few_days_covers_the_places_it_never_saw():
    profile = learned((np.array([0, 1, 0, 1, 1]), np.arange(5)), 3, "5min")
    anywhere = np.array([3, 4, 1]) / 8
    assert profile.transition[2] == pytest.approx(anywhere)
    # from 0 always to 1; from 1 once to 0, once to 1, and at the end back to the start
    assert profile.transition[0] == pytest.approx(0.95 * np.array([0, 1, 0]) + 0.05 * anywhere)
    assert profile.transition[1] == pytest.approx(0.95 * np.array([2, 1, 0]) / 3 + 0.05 * anywhere)


def test_releases_are_drawn_from_the_distribution_of_their_step():
    laws = np.tile([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]], (2000, 1))
    releases = drawn(np.tile(laws, (10, 1, 1)), np.random.default_rng(0))
    assert (releases[:, 1::2] == 0).all()
    assert (releases[:, ::2] > 0).all()
    assert (releases[:, ::2] == 1).mean() == pytest.approx(0.5, abs=0.02)  # five standard errors


def test_robustness_of_the_synthetic_city():
    city = synthetic_city(people=2, days=8)
    grid = Grid.covering(city, rows=5, columns=5)
    found = robustness(city, grid, days=(1, 3), attacked=3, workers=1)
    assert list(found.columns) == list(Left._fields)
    assert len(found) == 2 * 2 * 2 * 2
    assert ((found["low"] <= found["privacy"]) & (found["privacy"] <= found["high"])).all()
    # one claim, one loss and one budget for each user and number of days
    assert (found.groupby(["user", "days"])[["quality_loss", "budget"]].nunique() == 1).all(axis=None)
    assert set(kept_of_claim(found)["count"]) == {2}


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"days": ()}, "'days'"),
        ({"days": (0,)}, "'days'"),
        ({"attacked": 1}, "'attacked'"),
        ({"step": "never"}, "'step'"),
    ],
)
def test_what_cannot_be_learned_or_attacked_is_refused(wrong, match):
    city = synthetic_city(people=1, days=4)
    with pytest.raises(ParameterError, match=match):
        robustness(city, Grid.covering(city, rows=5, columns=5), **{"attacked": 2, "workers": 1, **wrong})


def test_users_with_too_few_days_are_left_out():
    city = synthetic_city(people=1, days=4)
    assert not len(robustness(city, Grid.covering(city, rows=5, columns=5), days=(9,), attacked=2, workers=1))


GRID = Grid(45.0, 45.3, 6.0, 6.5, rows=3, columns=5)
CLOCK = pd.Timedelta("-5h")
DAYS = {  # by the local clock, the cell of every fourth of a day; None where there is no fix
    0: (0, 0, 7, 7),  # too long ago to be learned from
    1: (0, 7, 7, 0),
    2: (0, 0, 13, None),
    3: (None, None, None, 4),  # no full day
    4: (7, 13, 13, 0),
    5: (13, None, 7, None),  # half of a day is enough
    6: (13, 13, 0, 13),
}
CELLS = [0, 4, 7, 13]


def traces_of(user, days):
    fixes = [
        (user, pd.Timestamp("2024-03-04", tz="UTC") + pd.Timedelta(24 * day + 6 * quarter + 1, "h") - CLOCK, cell)
        for day, cells in days.items()
        for quarter, cell in enumerate(cells)
        if cell is not None
    ]
    frame = pd.DataFrame(fixes, columns=["user_id", "tracked_at", "cell"])
    latitude, longitude = GRID.centres[frame.pop("cell")].T
    return frame.assign(latitude=latitude, longitude=longitude)


def places_on(*days):
    return [CELLS.index(cell) for day in days for cell in DAYS[day] if cell is not None]


def chain_by_hand(places):
    """Moves from each fix to the next and from the last back to the first; a twentieth of them anywhere."""
    moves = np.zeros((4, 4))
    for here, there in zip(places, places[1:] + places[:1], strict=True):
        moves[here, there] += 1
    anywhere = np.array([1 + places.count(place) for place in range(4)]) / (4 + len(places))
    rows = [0.95 * row / row.sum() + 0.05 * anywhere if row.any() else anywhere for row in moves]
    law = np.full(4, 1 / 4)
    for _ in range(5000):
        law = law @ np.array(rows)
    return law, np.array(rows)


def beliefs_by_hand(law, moves, table, exposed):
    """Bayes' rule, step by step: the distribution of the place after each release, not normalised."""
    weight = law
    for n, release in enumerate(exposed):
        weight = (weight @ moves if n else weight) * table[:, release]
        yield weight


def best_guesses(law, table, metres):
    """All that have the least error after each release alone: an optimal table leaves the adversary a choice."""
    errors = metres @ (law[:, None] * table)
    return itertools.product(*(np.flatnonzero(own <= own.min() + 1e-9 * metres.max()) for own in errors.T))


def error_of_guesses(guess, table, metres, day):
    return np.mean([sum(table[place, o] * metres[guess[o], place] for o in range(4)) for place in day])


def error_by_bayes(first, law, moves, table, metres, day, sequences):
    """After these releases on a day; the first guess is that of a release alone."""
    errors = []
    for exposed in sequences:
        later = [(metres @ weight).argmin() for weight in beliefs_by_hand(law, moves, table, exposed)][1:]
        errors += [metres[guess, place] for guess, place in zip([first[exposed[0]], *later], day, strict=True)]
    return np.mean(errors)


def from_days(errors):
    """Their mean, and its 95 % confidence interval by Student's t."""
    return np.mean(errors), *ttest_1samp(errors, 0).confidence_interval(0.95)


def test_every_row_of_a_user_is_what_loops_over_the_definition_give(monkeypatch):
    """Five full days: the last three are attacked, one or two before them are learned from."""
    laws, sequences, solutions = [], [], []

    def remembered(law, generator):
        laws.append(law)
        sequences.append(drawn(law, generator))
        return sequences[-1]

    def solved(game):
        solutions.append(solve(game))
        return solutions[-1]

    monkeypatch.setitem(inspect.unwrap(robustness).__globals__, "drawn", remembered)
    monkeypatch.setitem(inspect.unwrap(robustness).__globals__, "solve", solved)  # there are several optima
    monkeypatch.setitem(inspect.unwrap(robustness).__globals__, "CLAIMED", 4)  # so short that the claim is exact
    at_home = traces_of("never moves", dict.fromkeys(range(7), (0, 0, 0, 0)))
    both = pd.concat([at_home, traces_of("moves", DAYS)], ignore_index=True)
    found = robustness(both, GRID, days=(1, 2), attacked=3, step="6h", clock="-5h", workers=1)
    assert set(found["user"]) == {"moves"}
    assert len(found) == 2 * 2 * 2
    found = found.set_index(["days", "adversary", "memory"]).sort_index()
    metres = distances(GRID.keep(CELLS))
    attacked = [places_on(4), places_on(5), places_on(6)]
    for days, learned_from in ((1, places_on(2)), (2, places_on(1, 2))):
        own, better = chain_by_hand(learned_from), chain_by_hand(places_on(4, 5, 6))
        budget = 0.2 * (own[0] @ metres**2).min()  # a fifth of what the best single place costs
        solution = solutions[days - 1]
        assert solution.privacy == pytest.approx(
            solve(Game.from_prior(own[0], privacy=metres, quality=metres**2, budget=budget)).privacy
        )
        table = solution.mechanism.table
        loss = np.mean([np.mean([table[place] @ metres[place] ** 2 for place in day]) for day in attacked])
        for day, law in zip(attacked, laws[3 * (days - 1) : 3 * days], strict=True):
            np.testing.assert_allclose(law, [table[day]] * 10, atol=1e-12)  # ten sequences per day
        claimed = 0.0
        for n in range(1, 5):
            for exposed in itertools.product(range(4), repeat=n):
                *_, weight = beliefs_by_hand(*own, table, exposed)
                claimed += (metres @ weight).min() / 4
        for adversary, (law, moves) in (("the same", own), ("the attacked", better)):
            row = found.loc[days, adversary]
            assert row["claimed"].to_dict() == pytest.approx({"one": solution.privacy, "all": claimed}, rel=1e-9)
            assert row["lost"].to_numpy() == pytest.approx(1 - (row["privacy"] / row["claimed"]).to_numpy())
            assert row["quality_loss"].to_numpy() == pytest.approx(loss, rel=1e-9)
            assert row["budget"].to_numpy() == pytest.approx(budget, rel=1e-9)
            guesses = list(best_guesses(law, table, metres))
            alone = [[error_of_guesses(guess, table, metres, day) for day in attacked] for guess in guesses]
            filtered = [
                [
                    error_by_bayes(guess, law, moves, table, metres, day, sequences[k])
                    for k, day in enumerate(attacked, start=3 * (days - 1))
                ]
                for guess in guesses
            ]
            for memory, errors in (("one", alone), ("all", filtered)):
                measured = row.loc[memory, ["privacy", "low", "high"]].tolist()
                assert any(measured == pytest.approx(from_days(own), rel=1e-9) for own in errors)
        one = found.loc[days].xs("one", level="memory")["privacy"]
        assert one["the same"] > 1.01 * one["the attacked"]  # so that it matters who guesses


def test_the_page_tells_what_is_lost_and_not_what_is_kept():
    left = pd.DataFrame(
        {
            "user": [1, 2, 3, 4],
            "days": 2,
            "adversary": "the same",
            "memory": "one",
            "lost": [0.1, 0.2, 0.1, 0.4],
            "quality_loss": [3.0, 1.0, 1.0, 1.0],
            "budget": 2.0,
        }
    )
    _, section = robustness_of(left)
    ((knows, remembers, days, lost, interval, spent),) = section.table.rows
    low, high = ttest_1samp(left["lost"], 0).confidence_interval(0.95)
    assert (knows, remembers, days) == ("the profile of the mechanism", "one release", "2")
    assert (lost, interval, spent) == ("20%", f"{low:.0%} to {high:.0%}", "75%")
