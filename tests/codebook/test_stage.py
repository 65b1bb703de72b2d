"""What stored tables are worth, against a plain evaluation in fractions that shares no code with it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product as every

import numpy as np
import pytest

from hideseek import Game, MarkovProfile, Places, Scenario, design, metrics, solve
from hideseek.codebook.stage import Attack, Prior, Stage
from hideseek.codebook.weights import Table
from hideseek.errors import CodebookError, SizeError
from hideseek.model.trajectories import Trajectories

REGIONS = Places([46.52, 46.53, 46.55], [6.57, 6.58, 6.57])
THREE = MarkovProfile.from_matrix([[0.6, 0.3, 0.1], [0.25, 0.5, 0.25], [0.0, 0.4, 0.6]], REGIONS)
TWO = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]])
HAMMING = metrics.hamming()
STEPS = metrics.from_matrix([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0], [2.5, 0.5, 0.0]])

CASES = {
    "sporadic": (THREE, Scenario.sporadic(), STEPS, metrics.squared(metrics.distance(REGIONS)), 2e5),
    "past_present(1)": (THREE, Scenario.past_present(1), STEPS, STEPS, 0.3),
    "transition": (THREE, Scenario.past_present(1, protect="way"), metrics.total(HAMMING), STEPS, 0.3),
    "past_present(2)": (TWO, Scenario.past_present(2), HAMMING, HAMMING, 0.1),
    "in_between(2)": (TWO, Scenario.in_between(2), metrics.total(HAMMING), HAMMING, 0.1),
    "unknown": (TWO, Scenario.present_future(), HAMMING, metrics.total(HAMMING), 0.3),
    "planned": (TWO, Scenario.present_future(planned=True), HAMMING, metrics.total(HAMMING), 0.3),
}


@cache
def designed(name):
    profile, scenario, privacy, quality, budget = CASES[name]
    return design(profile, scenario, privacy=privacy, quality=quality, budget=budget, workers=1)


def number(metric, left, right, seen=()) -> Fraction:
    vectors = np.array([left]), np.array([right]), np.array(seen, dtype=np.int64)
    return Fraction(metric.between(*vectors)[0, 0])


def weights(table, seen, known) -> dict[int, Fraction]:
    """The distribution of one row, looked up digit by digit in the raw arrays."""
    codes = [int(code) for code in table.codes]
    for last in (known, [table.places] * len(known)):
        code = 0
        for digit in [*seen, *last]:
            code = code * (table.places + 1) + int(digit)
        if code in codes:
            row = codes.index(code)
            own = range(int(table.start[row]), int(table.start[row + 1]))
            return {int(table.releases[k]): Fraction(int(table.weights[k]) or 2**32, 2**32) for k in own}
    raise AssertionError("no row")


def may_know(scenario, position, known):
    """The known places that release number ``position`` may look at."""
    moment = scenario.release[position]
    return tuple(p for p, o in zip(known, scenario.known, strict=True) if not scenario.causal or o <= moment)


def law_of(stage, seen, known, releases) -> Fraction:
    chance = Fraction(1)
    for position, table in enumerate(stage.tables):
        row = weights(table, [*seen, *releases[:position]], may_know(stage.scenario, position, known))
        chance *= row.get(releases[position], Fraction(0))
        if not chance:
            break
    return chance


def best_reply(stage, nets, prefix, places) -> Fraction:
    """The most that (known, net gain of every release) yield when the releases are chosen one after the other."""
    position = len(prefix)
    if position == len(stage.tables):
        return sum(net[prefix] for _, net in nets)
    groups = {}
    for known, net in nets:
        groups.setdefault(may_know(stage.scenario, position, known), []).append((known, net))
    return sum(
        max(best_reply(stage, group, (*prefix, release), places) for release in range(places))
        for group in groups.values()
    )


def plainly(stage, privacy, quality, budget, history):
    """Weight, privacy, bound and loss of one history, exactly."""
    scenario, prior, attack = stage.scenario, stage.prior, stage.attack
    places = stage.tables[0].places
    past = prior.histories[history].tolist()
    entries = []
    for k in np.flatnonzero(prior.history == history):
        at = dict(zip(prior.offsets, prior.sequences[k].tolist(), strict=True))
        entries.append((Fraction(prior.probability[k]), *(tuple(at[o] for o in offsets) for offsets in
                        (scenario.known, scenario.target, scenario.quality))))  # fmt: skip
    weight = sum(entry[0] for entry in entries)
    combinations = list(every(range(places), repeat=len(scenario.release)))
    guesses = list(every(range(places), repeat=len(scenario.target)))
    law = {
        (known, releases): law_of(stage, past, known, releases)
        for known in {entry[1] for entry in entries}
        for releases in combinations
    }
    error = {(g, a): number(privacy, g, a) for g in guesses for a in {entry[2] for entry in entries}}
    cost = {(q, o): number(quality, q, o, past) for q in {entry[3] for entry in entries} for o in combinations}
    reached = sum(
        min(sum(p * law[known, o] * error[g, a] for p, known, a, _ in entries) for g in guesses) for o in combinations
    )
    loss = sum(p * law[known, o] * cost[q, o] for p, known, _, q in entries for o in combinations)
    strategy = {}
    for k in np.flatnonzero(attack.history == history):
        own = strategy.setdefault(combinations[attack.release[k]], {})
        guess = guesses[attack.guess[k]]
        own[guess] = own.get(guess, 0) + Fraction(attack.weight[k])
    price = Fraction(attack.price[history])
    nets = {}
    for p, known, a, q in entries:
        net = nets.setdefault(known, dict.fromkeys(combinations, Fraction(0)))
        for o in combinations:
            erring = sum(w * error[g, a] for g, w in strategy[o].items()) / sum(strategy[o].values())
            net[o] += p * (erring - price * cost[q, o])
    bound = price * Fraction(budget) + best_reply(stage, list(nets.items()), (), places) / weight
    return weight, reached / weight, bound, loss / weight


@pytest.mark.parametrize("name", CASES)
def test_the_worth_is_that_of_a_plain_evaluation_and_rounded_against_us(name):
    codebook = designed(name)
    for stage in codebook.stages:
        worth = stage.worth(codebook.privacy, codebook.quality, codebook.budget)
        for history in range(len(stage.prior.histories)):
            exact = plainly(stage, codebook.privacy, codebook.quality, codebook.budget, history)
            found = [float(part[history]) for part in (worth.weight, worth.privacy, worth.bound, worth.loss)]
            np.testing.assert_allclose(found, [float(part) for part in exact], rtol=1e-12, atol=1e-15)
            assert found[1] <= exact[1] <= exact[2] <= found[2]
            assert exact[3] <= found[3]
            assert exact[3] <= Fraction(codebook.budget) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("name", CASES)
def test_the_bound_is_that_of_every_history_s_game(name):
    profile, _, privacy, quality, budget = CASES[name]
    for stage in designed(name).stages:
        worth, prior = stage.worth(privacy, quality, budget), stage.prior
        for history, past in enumerate(prior.histories.tolist()):
            own = prior.history == history
            law = Trajectories(
                prior.offsets, prior.sequences[own], probability=prior.probability[own] / worth.weight[history]
            )
            game = Game.from_scenario(
                profile, stage.scenario, privacy=privacy, quality=quality, budget=budget, distribution=law, seen=past
            )
            solution = solve(game)
            assert worth.bound[history] >= solution.privacy * (1 - 1e-12)
            assert worth.bound[history] == pytest.approx(solution.bound, rel=1e-6, abs=1e-9)


def test_a_metric_that_looks_back_is_worked_out_for_every_history(repeating):
    far = metrics.from_function(lambda truth, release, seen: abs(truth[0] - release[0]) + abs(release[0] - seen[0]) / 4)
    worth = repeating.worth(STEPS, far, 0.5)
    for history in range(3):
        exact = plainly(repeating, STEPS, far, 0.5, history)
        np.testing.assert_allclose(worth.loss[history], float(exact[3]), rtol=1e-12)
        np.testing.assert_allclose(worth.bound[history], float(exact[2]), rtol=1e-12)


def test_the_bound_holds_for_any_price_although_large_numbers_cancel(repeating):
    """Where every release costs something, the price times the budget all but cancels the price times the cost."""
    costly = metrics.from_matrix([[0.1, 0.7, 0.3], [0.2, 0.1, 0.3], [0.9, 0.3, 0.7]])
    least = np.array([0.1, 0.1, 0.3])
    for price in 10.0 ** np.arange(0, 13):
        dear = with_attack(repeating, price=np.full(3, price))
        for history in range(3):
            own = repeating.prior.history == history
            law = repeating.prior.probability[own] / repeating.prior.probability[own].sum()
            budget = float(law @ least[repeating.prior.sequences[own, -1]])
            bound = dear.worth(STEPS, costly, budget).bound[history]
            assert plainly(dear, STEPS, costly, budget, history)[2] <= bound


@pytest.mark.parametrize("name", ["unknown", "planned", "past_present(1)"])
def test_the_best_replies_are_those_of_a_plain_search(name):
    stage = designed(name).stages[-1]
    places, releases = stage.tables[0].places, len(stage.tables)
    known = np.array(list(every(range(places), repeat=len(stage.scenario.known))))
    owner = np.repeat([0, 1], len(known))
    combinations = list(every(range(places), repeat=releases))
    for seed in range(20):
        net = np.random.default_rng(seed).integers(-50, 50, (2 * len(known), len(combinations))).astype(float)
        found = np.bincount(owner, stage.best_replies(net, np.tile(known, (2, 1)), owner))
        for history in range(2):
            rows = [dict(zip(combinations, row.tolist(), strict=True)) for row in net[owner == history]]
            nets = list(zip(map(tuple, known.tolist()), rows, strict=True))
            assert found[history] == best_reply(stage, nets, (), places)


def test_distributions_are_products_of_the_tables():
    stage = designed("unknown").stages[0]
    known = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    laws = stage.distributions(np.zeros((4, 0), int), known)
    exact = [[law_of(stage, (), tuple(k), o) for o in every(range(2), repeat=2)] for k in known.tolist()]
    np.testing.assert_array_equal(laws, np.array(exact, float))
    # the first release must not tell the second place
    first = laws.reshape(4, 2, 2).sum(axis=2)
    np.testing.assert_array_equal(first[[0, 2]], first[[1, 3]])


@pytest.fixture(scope="module")
def repeating() -> Stage:
    codebook = designed("past_present(1)")
    return codebook.stages[codebook.repeating].checked()


def with_prior(stage, **changed) -> Stage:
    return replace(stage, prior=replace(stage.prior, **changed))


def with_attack(stage, **changed) -> Stage:
    return replace(stage, attack=replace(stage.attack, **changed))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda s: with_prior(s, probability=s.prior.probability * 2), "sum to 1"),
        (lambda s: with_prior(s, probability=s.prior.probability[:-1]), "fit together"),
        (lambda s: with_prior(s, probability=-s.prior.probability), "below 0"),
        (lambda s: with_prior(s, probability=s.prior.probability * np.nan), "not finite"),
        (lambda s: with_prior(s, probability=s.prior.probability * np.inf), "not finite"),
        (lambda s: with_prior(s, history=np.zeros_like(s.prior.history)), "leaves a history out"),
        (lambda s: with_prior(s, history=s.prior.history + 1), "does not exist"),
        (lambda s: with_prior(s, sequences=s.prior.sequences + 1), "does not exist"),
        (lambda s: with_prior(s, histories=s.prior.histories + 1), "does not exist"),
        (lambda s: with_prior(s, histories=s.prior.histories[::-1]), "out of order"),
        (lambda s: with_prior(s, histories=s.prior.histories * 0), "twice"),
        (lambda s: with_prior(s, histories=np.zeros((3, 2), int)), "fit together"),
        (lambda s: with_attack(s, price=-s.attack.price - 1), "below 0"),
        (lambda s: with_attack(s, price=s.attack.price[1:]), "fit together"),
        (lambda s: with_attack(s, weight=-s.attack.weight), "below 0"),
        (lambda s: with_attack(s, weight=s.attack.weight[1:]), "fit together"),
        (lambda s: with_attack(s, release=s.attack.release + 3), "does not exist"),
        (lambda s: with_attack(s, guess=s.attack.guess + 3), "does not exist"),
        (lambda s: with_attack(s, history=s.attack.history + 3), "does not exist"),
        (lambda s: replace(s, attack=Attack(*(a[:8] for a in vars(s.attack).values()))), "distribution of guesses"),
        (lambda s: replace(s, scenario=Scenario.past_present(2)), "fit together"),
    ],
)
def test_a_stage_whose_parts_do_not_fit_is_refused(repeating, broken, message):
    with pytest.raises(CodebookError, match=message):
        broken(repeating).checked()


def test_an_attack_that_is_no_distribution_is_refused(repeating):
    attack = repeating.attack
    for factor in (1.001, 0.5):
        with pytest.raises(CodebookError, match="distribution of guesses"):
            with_attack(repeating, weight=attack.weight * factor).worth(STEPS, STEPS, 0.3)
    # what sums to infinity would divide any bound away
    twice = Attack(*(np.tile(part, 2) for part in (attack.history, attack.release, attack.guess)),
                   np.full(2 * len(attack.weight), 1e308), attack.price)  # fmt: skip
    with pytest.raises(CodebookError, match="distribution of guesses"), np.errstate(over="ignore"):
        replace(repeating, attack=twice).worth(STEPS, STEPS, 0.3)


def test_an_attack_without_a_guess_for_some_release_is_refused(repeating):
    release = repeating.attack.release.copy()
    release[release == 2] = 1
    with pytest.raises(CodebookError, match="distribution of guesses"):
        with_attack(repeating, release=release).worth(STEPS, STEPS, 0.3)


def without(table: Table, row: int) -> Table:
    laws = np.delete(table.distributions(np.arange(len(table.codes))), row, axis=0)
    return Table.from_distributions(table.places, np.delete(table.codes, row).astype(np.int64)[:, None], laws)


def test_a_history_without_a_row_for_the_unknown_is_refused(repeating):
    table = repeating.tables[0]
    for history in range(3):
        row = table.row([history], [3])
        with pytest.raises(CodebookError, match="no row"):
            replace(repeating, tables=(without(table, row),)).checked()


def test_a_second_release_without_a_row_after_a_possible_first_is_refused():
    stage = designed("unknown").stages[0].checked()
    first, second = stage.tables
    for release in set(first.releases.tolist()):
        row = second.row([release], [2, 2])
        with pytest.raises(CodebookError, match="no row"):
            replace(stage, tables=(first, without(second, row))).checked()


def test_a_row_with_too_many_digits_is_refused(repeating):
    table = repeating.tables[0]
    codes = table.codes.copy()
    codes[-1] = 4**2
    with pytest.raises(CodebookError, match="more places"):
        replace(repeating, tables=(replace(table, codes=codes),)).checked()


def test_a_row_missing_for_what_can_happen_is_a_typed_error(repeating):
    table = Table.from_distributions(3, np.array([[0, 0], [0, 3]]), np.eye(3)[:2])
    with pytest.raises(CodebookError, match="no row"):
        replace(repeating, tables=(table,)).under(repeating.prior, STEPS, STEPS)


def test_what_would_not_fit_in_memory_is_refused_before_it_is_made():
    places = 2**20
    table = Table.from_distributions(3, np.array([[0], [3]]), np.eye(3)[:2])
    stage = Stage(Scenario(target=(-2, -1, 0), known=(0,)), then=0, tables=(replace(table, places=places),))
    zero = np.zeros(1, np.int64)
    prior = Prior((-2, -1, 0), np.zeros((1, 0), np.int64), zero, np.zeros((1, 3), np.int64), np.ones(1))
    with pytest.raises(SizeError, match="GiB"):
        stage.under(prior, HAMMING, HAMMING)
    many = tuple(range(-4, 1))
    longer = replace(stage, scenario=Scenario(target=(0,), quality=many))
    with pytest.raises(CodebookError, match="63 bits"):
        longer.under(replace(prior, offsets=many, sequences=np.zeros((1, 5), np.int64)), HAMMING, HAMMING)


def test_a_metric_of_another_shape_is_a_typed_error(repeating):
    wrong = metrics.Metric("wrong", "", between=lambda left, right, seen: np.zeros((1, 1)))
    with pytest.raises(ValueError, match="each pair"):
        repeating.under(repeating.prior, wrong, STEPS)
