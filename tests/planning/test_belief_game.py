"""The game of every access: its matrices against all walks written out, any gap exact, and what is refused."""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Game, MarkovProfile, ParameterError, PeriodicProfile, Places, Scenario, solve, synthetic_city
from hideseek.errors import BudgetError
from hideseek.metrics import hamming, speed, total
from hideseek.model.markov import profile_from_kernel
from hideseek.model.profile import sequence_probability
from hideseek.model.regions import Grid
from hideseek.planning import BeliefGame

CHAIN = MarkovProfile.from_matrix([[0.6, 0.3, 0.1], [0.0, 0.5, 0.5], [0.7, 0.1, 0.2]])
ERROR = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 3.0], [5.0, 1.0, 0.0]])
LOSS = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 2.0], [3.0, 1.0, 0.0]])


def second_order() -> MarkovProfile:
    """Over two places, and not of the first order in disguise; after 1, 1 comes 0 for sure."""
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    kernel = np.array([[0.8, 0.2], [0.3, 0.7], [0.4, 0.6], [1.0, 0.0]])
    return profile_from_kernel(states, kernel, None, "5min", "matrix", "test")


SECOND = second_order()


@cache
def walks(profile, length: int) -> dict[tuple[int, ...], float]:
    """Every walk of this length, with its probability."""
    every = itertools.product(range(profile.places), repeat=length)
    return {walk: float(p) for walk in every if (p := sequence_probability(profile, walk)) > 0}


def summed_metric(matrix):
    """The metric between vectors that is added up over their places, as a function of one's own."""
    return lambda left, right: float(sum(matrix[a][b] for a, b in zip(left, right, strict=True)))


CASES = {
    "location": (CHAIN, Scenario.sporadic()),
    "way": (CHAIN, Scenario.past_present(1, protect="way")),
    "next": (CHAIN, Scenario(target=(0, 1), known=(0,))),
    "only the next": (CHAIN, Scenario(target=(1,), known=(0,))),
    "every third": (CHAIN, Scenario(target=(0,), every=3)),
    "every third, next": (CHAIN, Scenario(target=(0, 2), known=(0,), every=3)),
    "in between": (CHAIN, Scenario.in_between(2)),
    "quality of before": (CHAIN, Scenario(target=(0,), quality=(-1,), known=(-1, 0))),
    "second order": (SECOND, Scenario(target=(0,), known=(-1, 0))),
    "second order, way": (SECOND, Scenario(target=(-2, -1, 0))),
    "second order, next": (SECOND, Scenario(target=(0, 1), known=(-1, 0))),
    "second order, every third": (SECOND, Scenario(target=(0,), known=(-1, 0), every=3)),
}


@pytest.mark.parametrize("name", CASES)
def test_states_moves_errors_and_losses_are_those_of_all_walks_written_out(name):
    profile, scenario = CASES[name]
    places, every = profile.places, scenario.every
    error, loss = ERROR[:places, :places], LOSS[:places, :places]
    game = BeliefGame.of(
        profile, privacy=summed_metric(error), quality=summed_metric(loss), budget=9.0, scenario=scenario
    )
    first = min(scenario.offsets)
    last = max(*scenario.offsets, every)
    offsets = range(first, last + 1)
    law, moves = defaultdict(float), defaultdict(float)
    errors, losses = defaultdict(float), defaultdict(float)
    guesses = list(itertools.product(range(places), repeat=len(scenario.target)))
    for walk, p in walks(profile, len(offsets)).items():

        def at(wanted, shift=0, own=walk):
            return tuple(own[offset + shift - first] for offset in wanted)

        state = at(scenario.known)
        law[state] += p
        moves[state, at(scenario.known, every)] += p
        for k, guess in enumerate(guesses):
            errors[k, state] += p * summed_metric(error)(guess, at(scenario.target))
        for release in range(places):
            losses[state, release] += p * summed_metric(loss)(at(scenario.quality), (release,))
    states = [tuple(state) for state in game.states.tolist()]
    assert states == sorted(law)
    for k, state in enumerate(states):
        assert game.start[k] == pytest.approx(law[state], abs=1e-12)
        for to, other in enumerate(states):
            assert game.moves[k, to] == pytest.approx(moves[state, other] / law[state], abs=1e-12)
        for g in range(len(guesses)):
            assert game.error[g, k] == pytest.approx(errors[g, state] / law[state], abs=1e-12)
        for release in range(places):
            assert game.cost[k, release] == pytest.approx(losses[state, release] / law[state], abs=1e-12)
    np.testing.assert_allclose(game.start @ game.moves, game.start, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("more", [0, 1, 3])
def test_what_is_believed_after_any_gap_is_what_all_walks_say(name, more):
    profile, scenario = CASES[name]
    steps = scenario.every + more
    game = BeliefGame.of(profile, privacy=hamming(), quality=hamming(), budget=1.0, scenario=scenario)
    belief = np.random.default_rng(3).dirichlet(np.ones(len(game.states)))
    known, law = scenario.known, defaultdict(float)
    offsets = range(known[0], steps + 1)
    conditional = defaultdict(float)
    for walk, p in walks(profile, len(offsets)).items():
        state = tuple(walk[offset - known[0]] for offset in known)
        law[state] += p
        conditional[state, tuple(walk[offset + steps - known[0]] for offset in known)] += p
    states = [tuple(state) for state in game.states.tolist()]
    wanted = [sum(belief[k] * conditional[state, to] / law[state] for k, state in enumerate(states)) for to in states]
    np.testing.assert_allclose(game.later(belief, steps=steps), wanted, atol=1e-12)
    if not more:
        np.testing.assert_allclose(game.later(belief), wanted, atol=1e-12)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_bayes_rule_after_a_release(seed):
    generator = np.random.default_rng(seed)
    game = BeliefGame.of(CHAIN, privacy=hamming(), quality=hamming(), budget=0.3)
    belief, table = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(3), 3)
    joint = belief[:, None] * table
    after = [game.learned(belief, table, release=o) for o in range(3)]
    for o in range(3):
        np.testing.assert_allclose(after[o], joint[:, o] / joint[:, o].sum(), atol=1e-12)
    # on average over what may be exposed, the belief stays what it was before
    np.testing.assert_allclose(joint.sum(axis=0) @ np.array(after), belief, atol=1e-12)


def test_the_game_at_a_belief_is_that_of_the_prior():
    belief = np.array([0.2, 0.5, 0.3])
    game = BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS, budget=0.4)
    assert solve(game.at(belief)).privacy == pytest.approx(
        solve(Game.from_prior(belief, privacy=ERROR, quality=LOSS, budget=0.4)).privacy
    )


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_any_attack_and_price_bound_the_privacy_at_any_belief(seed):
    generator = np.random.default_rng(seed)
    game = BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS, budget=0.4)
    cut = game.cut(generator.dirichlet(np.ones(3), 3), generator.uniform(0, 3))
    belief = generator.dirichlet(np.ones(3))
    assert solve(game.at(belief)).privacy <= min(cut @ belief, game.ceiling_cut @ belief) + 1e-6


def test_the_ceiling_s_cut_is_the_ceiling_at_the_long_run_distribution():
    game = BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS, budget=0.4)
    assert game.ceiling_cut @ game.start == pytest.approx(game.ceiling.bound)
    assert game.ceiling.privacy == pytest.approx(
        solve(Game.from_prior(CHAIN.stationary, privacy=ERROR, quality=LOSS, budget=0.4)).privacy
    )


def test_the_checksum_knows_everything_that_matters_and_no_last_digits():
    def made(chain=CHAIN, privacy=ERROR, quality=LOSS, budget=0.4, scenario=None):
        return BeliefGame.of(chain, privacy=privacy, quality=quality, budget=budget, scenario=scenario).sha256

    other = MarkovProfile.from_matrix([[0.6, 0.3, 0.1], [0.1, 0.4, 0.5], [0.7, 0.1, 0.2]])
    assert made() == made(privacy=ERROR * (1 + 1e-15), scenario=Scenario.past_present(2))
    changed = [
        made(chain=other),
        made(privacy=ERROR * 1.001),
        made(quality=LOSS * 1.001),
        made(budget=0.4001),
        made(scenario=Scenario(target=(0,), every=2)),
        made(scenario=Scenario(target=(0,), known=(-1, 0))),
    ]
    assert len({made(), *changed}) == 7


def periodic() -> PeriodicProfile:
    traces = synthetic_city(people=1, days=3)
    return PeriodicProfile.fit(traces, Grid.covering(traces, rows=3, columns=3))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"profile": periodic()}, "MarkovProfile, the same at all times"),
        ({"scenario": "location"}, "'scenario' parameter"),
        ({"scenario": Scenario.present_future(planned=True)}, "releases one place"),
        ({"scenario": Scenario.present_future()}, "releases one place"),
        ({"scenario": Scenario(target=(0, 1), release=(0,))}, "none to come"),
        ({"scenario": Scenario(target=(-1,))}, "looks at the current place"),
        ({"scenario": Scenario(target=(-1, 0), known=(0,))}, "looks back at least as far"),
        ({"scenario": Scenario(target=(0,), quality=(-1,))}, "looks back at least as far"),
        ({"scenario": Scenario(target=(-2, 0))}, "known an access before"),
        ({"scenario": Scenario(target=(-2, 0), known=(-3, -2, 0), every=2)}, "known an access before"),
        ({"profile": SECOND, "privacy": hamming(), "quality": hamming()}, "last 2 places"),
        ({"budget": -1}, "'budget' parameter"),
        ({"budget": float("nan")}, "'budget' parameter"),
        ({"privacy": np.ones((2, 2))}, "'privacy' parameter"),
        ({"quality": speed(Places([1, 2, 3], [1, 2, 3]))}, "earlier ones"),
    ],
)
def test_games_that_do_not_repeat_are_refused(change, said):
    given_ = {"profile": CHAIN, "privacy": ERROR, "quality": LOSS, "budget": 0.4, "scenario": None} | change
    with pytest.raises(ParameterError, match=said):
        BeliefGame.of(**given_)


def test_a_budget_below_the_least_loss_of_some_place_is_refused():
    with pytest.raises(BudgetError) as caught:
        BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS + np.array([[0.0], [0.0], [1.5]]), budget=1.0)
    assert caught.value.least == pytest.approx(1.5)
    BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS + np.array([[0.0], [0.0], [1.5]]), budget=1.5)


@pytest.mark.parametrize(
    ("belief", "said"),
    [
        ([0.5, 0.5], "over the 3 states"),
        ([0.5, 0.5, 0.5], "sum to 1"),
        ([1.5, -0.5, 0.0], "numbers >= 0"),
        ([np.nan, 0.5, 0.5], "numbers >= 0"),
        ("all", "array of 1 dimension"),
    ],
)
def test_what_is_no_belief_is_refused(belief, said):
    with pytest.raises(ParameterError, match=said):
        BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS, budget=0.4).belief(belief)


def test_unreachable_beliefs_and_gaps_that_cannot_be_are_refused():
    game = BeliefGame.of(CHAIN, privacy=ERROR, quality=LOSS, budget=0.4, scenario=Scenario(target=(0,), every=3))
    with pytest.raises(ParameterError, match="can produce at this belief"):
        game.learned(np.array([1.0, 0.0, 0.0]), np.eye(3), release=2)
    for steps in (2, 0, 3.5):
        with pytest.raises(ParameterError, match="'steps' parameter"):
            game.later(game.start, steps=steps)


def test_vectors_are_measured_by_any_metric_of_vectors():
    way = Scenario.past_present(1, protect="way")
    game = BeliefGame.of(CHAIN, privacy=total(hamming()), quality=hamming(), budget=0.3, scenario=way)
    guess = [(a, b) for a in range(3) for b in range(3)]
    for g, k in itertools.product(range(9), range(len(game.states))):
        assert game.error[g, k] == sum(a != b for a, b in zip(guess[g], game.states[k].tolist(), strict=True))
