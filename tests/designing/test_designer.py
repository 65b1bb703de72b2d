"""Design through time: the joint distribution against plain enumeration, the budget after every history."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hideseek import Game, MarkovProfile, ParameterError, PeriodicProfile, Scenario, design, solve
from hideseek.codebook.joint_distribution import DIED_OUT
from hideseek.errors import BudgetError, SizeError
from hideseek.metrics import from_function, from_matrix, hamming, speed, total
from hideseek.model.regions import Places
from tests.oracles.enumeration import everything, law_of, outcome_at, prior_at, rows_of
from tests.support.designs import CHAIN, LINE, PAIR, SCENARIOS, SECOND_ORDER, made


def added(matrix):
    """A matrix over places as a plain function of vectors."""
    return lambda left, right: sum(matrix[a][b] for a, b in zip(left, right, strict=True))


def assert_same_law(stage, law):
    mine = {}
    for history, sequence, probability in zip(
        stage.prior.history, stage.prior.sequences.tolist(), stage.prior.probability, strict=True
    ):
        mine[tuple(stage.prior.histories[history].tolist()), tuple(sequence)] = probability
    assert mine.keys() == law.keys()
    np.testing.assert_allclose([mine[key] for key in law], list(law.values()), atol=1e-13)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_joint_distribution_is_that_of_all_paths_written_out(name):
    scenario = SCENARIOS[name]
    profile = PAIR if len(scenario.release) > 1 or "two" in name else CHAIN
    codebook = made(profile, scenario)
    firsts = min(codebook.repeating, 3)
    paths = everything(codebook, profile, firsts + 1)
    metric = added(LINE)
    for access in range(firsts):
        stage, now = codebook.stages[access], access * scenario.every
        assert_same_law(stage, prior_at(paths, stage.scenario, now))
        worth = stage.worth(codebook.privacy, codebook.quality, codebook.budget)
        found = outcome_at(paths, stage.scenario, now, metric, metric, profile.places)
        for k, past in enumerate(map(tuple, stage.prior.histories.tolist())):
            np.testing.assert_allclose((worth.weight[k], worth.privacy[k], worth.loss[k]), found[past], atol=1e-12)


@pytest.mark.parametrize("name", ["location", "transition", "location, two seen"])
def test_the_joint_distribution_is_right_for_profiles_that_remember_more(name):
    codebook = made(SECOND_ORDER, SCENARIOS[name], steps=4)
    paths = everything(codebook, SECOND_ORDER, 4)
    for access in range(4):
        stage = codebook.stages[access]
        assert_same_law(stage, prior_at(paths, stage.scenario, access))


def test_one_release_seen_is_the_recursion_of_the_papers_appendix():
    """Pr(o|r) at t-1 = sum over o', r' at t-2 of f(o|r, r', o') Pr(o'|r') Pr(r'|r): the paper's last equation."""
    codebook = made(CHAIN, Scenario.past_present(1, protect="way"), steps=4)
    places, move, stays = 3, CHAIN.transition, CHAIN.stationary
    back = (stays[:, None] * move).T / stays[:, None]  # Pr(before|now)
    rows = [rows_of(stage.tables[0]) for stage in codebook.stages]
    exposed = np.zeros((places, places))  # Pr(o|r), access by access
    for r in range(places):
        for o, chance in law_of(rows[0], places, (), (r,)).items():
            exposed[r, o] = chance
    for access in range(1, 4):
        posterior = exposed * stays[:, None]
        posterior /= posterior.sum(axis=0)
        prior = posterior[:, None, :] * move[:, :, None]  # psi(r_t, r_{t-1} | o_{t-1}), [r_{t-1}, r_t, o_{t-1}]
        stage = codebook.stages[access]
        weight = (exposed * stays[:, None]).sum(axis=0)
        law = {
            ((o,), (before, now)): prior[before, now, o] * weight[o]
            for before, now, o in itertools.product(range(places), repeat=3)
            if prior[before, now, o] * weight[o] > 0
        }
        assert_same_law(stage, law)
        following = np.zeros_like(exposed)
        for r, before, seen in itertools.product(range(places), repeat=3):
            if back[r, before] * exposed[before, seen] > 0:
                for o, chance in law_of(rows[access], places, (seen,), (before, r)).items():
                    following[r, o] += float(chance) * exposed[before, seen] * back[r, before]
        exposed = following


@pytest.mark.parametrize("name", ["location", "transition", "location, two seen", "in between"])
def test_the_first_tables_are_optimal_for_every_history(name):
    """Against the paper's linear program, written out and solved by scipy, for the stage's own distribution."""
    codebook = made(CHAIN, SCENARIOS[name])
    for stage in codebook.stages[: codebook.repeating]:
        worth = stage.worth(codebook.privacy, codebook.quality, codebook.budget)
        for k in range(len(worth.weight)):
            value = whole_program(stage, k, 3, codebook.budget)
            assert worth.privacy[k] == pytest.approx(value, rel=3e-6, abs=3e-9)  # 1e-6 of the solver, and the integers
            assert worth.bound[k] >= value * (1 - 1e-9)


def whole_program(stage, history, places, budget):
    own = stage.prior.history == history
    scenario, law = stage.scenario, stage.prior.probability[own] / stage.prior.weight[history]
    column = {offset: stage.prior.sequences[own][:, k] for k, offset in enumerate(stage.prior.offsets)}
    known = [tuple(column[offset][n] for offset in scenario.known) for n in range(len(law))]
    inputs = sorted(set(known))
    width = len(inputs) * places
    guesses = list(itertools.product(range(places), repeat=len(scenario.target)))
    rows = np.zeros((len(guesses) * places + 1, width + places))
    for n, chance in enumerate(law):
        i = inputs.index(known[n])
        target = tuple(column[offset][n] for offset in scenario.target)
        wanted = tuple(column[offset][n] for offset in scenario.quality)
        for o in range(places):
            for g, guess in enumerate(guesses):
                rows[g * places + o, i * places + o] -= chance * added(LINE)(guess, target)
                rows[g * places + o, width + o] = 1
            rows[-1, i * places + o] += chance * added(LINE)(wanted, (o,))
    sums = np.zeros((len(inputs), width + places))
    for i in range(len(inputs)):
        sums[i, i * places : (i + 1) * places] = 1
    found = linprog(
        -np.r_[np.zeros(width), np.ones(places)],
        A_ub=rows,
        b_ub=np.r_[np.zeros(len(rows) - 1), budget],
        A_eq=sums,
        b_eq=np.ones(len(inputs)),
        bounds=[(0, None)] * width + [(None, None)] * places,
    )
    return -found.fun


def test_nothing_seen_is_the_sporadic_case():
    codebook = made(CHAIN, Scenario.sporadic(), budget=0.3)
    assert len(codebook.stages) == 1
    best = solve(
        Game.from_scenario(CHAIN, Scenario.sporadic(), privacy=from_matrix(LINE), quality=from_matrix(LINE), budget=0.3)
    )
    assert codebook.deployed.privacy == pytest.approx(best.privacy, rel=1e-6)


@example(seed=9391, share=0.1374009154472453, name="transition, two seen")
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.9), name=st.sampled_from(sorted(SCENARIOS)))
def test_the_budget_holds_at_every_access_after_every_history(seed, share, name):
    """As deployed, by a plain recursion over (true places, releases) under the stored integers."""
    generator, scenario = np.random.default_rng(seed), SCENARIOS[name]
    places = 2 if scenario.every > 1 else 3
    profile = MarkovProfile.from_matrix(0.9 * generator.dirichlet(np.full(places, 0.3), size=places) + 0.1 / places)
    metric = generator.random((places, places)) * (1 - np.eye(places))
    enough = Game.from_scenario(
        profile, Scenario.sporadic(), privacy=from_matrix(metric), quality=from_matrix(metric)
    ).saturation
    budget = share * enough * len(scenario.release)
    codebook = design(
        profile, scenario, privacy=total(from_matrix(metric)), quality=total(from_matrix(metric)), budget=budget
    )
    deployed, worst, least, means = codebook.deployed, 0.0, np.inf, []
    for moment in forward(codebook, profile, deployed.accesses):
        weight, loss, privacy = losses(*moment, codebook, metric)
        worst, least = max(worst, *loss.values()), min(least, *privacy.values())
        means.append([sum(weight[past] * own[past] for past in weight) for own in (loss, privacy)])
    assert worst <= budget * (1 + 1e-9)
    assert deployed.worst_loss == pytest.approx(worst, rel=1e-9)
    assert deployed.quality_loss == pytest.approx(np.mean(means, axis=0)[0], rel=1e-9)
    if max(scenario.target) <= max(scenario.release):
        assert deployed.worst_privacy == pytest.approx(least, rel=1e-9, abs=1e-12)
        assert deployed.privacy == pytest.approx(np.mean(means, axis=0)[1], rel=1e-9)


def test_small_steps_towards_the_optimum_gain_in_the_long_run(monkeypatch):
    generator = np.random.default_rng(8)
    profile = MarkovProfile.from_matrix(0.7 * np.eye(5) + 0.3 * generator.dirichlet(np.full(5, 0.4), size=5))
    points = generator.random((5, 2))
    far = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))

    def long_run():
        codebook = design(profile, Scenario.past_present(1), privacy=far, quality=far**2, budget=0.02)
        worth = codebook.stages[codebook.repeating].worth(codebook.privacy, codebook.quality, codebook.budget)
        return float(worth.weight @ worth.privacy)

    moved = long_run()
    monkeypatch.setattr("hideseek.designing.designer.PACE", 0.0)
    assert moved > 1.1 * long_run()


def test_a_budget_may_be_the_least_possible_loss():
    codebook = design(CHAIN, Scenario.past_present(1), privacy=LINE, quality=LINE + 1, budget=1.0)
    assert codebook.deployed.worst_loss == pytest.approx(1.0, rel=1e-9)


def forward(codebook, profile, accesses):
    """The distribution before every access, as dictionaries: (true places as needed, releases) -> probability."""
    every, last = codebook.scenario.every, max(codebook.scenario.release)
    reach = max(-min(codebook.scenario.offsets), every) + last
    law = {((), ()): 1.0}
    for access in range(accesses):
        stage = codebook.stage_at(access)
        for _ in range(every if access else 1 + last):
            law = stepped(law, profile, reach)
        yield stage, law, last
        own = codebook.stages[stage]
        tables = [floats(table) for table in own.tables]
        for position, moment in enumerate(own.scenario.release):
            after = {}
            for (path, exposed), weight in law.items():
                place = dict(zip(range(last - len(path) + 1, last + 1), path, strict=True))
                seen = dict(zip(range(last - len(exposed) + 1, last + 1), exposed, strict=True))
                before = tuple(seen[o] for o in (*own.scenario.seen, *own.scenario.release[:position]))
                known = tuple(place[o] for o in own.known_at(position))
                for release, chance in law_of(tables[position], codebook.places, before, known).items():
                    seen[moment] = release
                    key = path, tuple(seen[o] for o in sorted(seen))
                    after[key] = after.get(key, 0.0) + weight * chance
            law = after


@functools.cache
def floats(table):
    return {code: {o: float(p) for o, p in row.items()} for code, row in rows_of(table).items()}


def stepped(law, profile, reach):
    after = {}
    for (path, exposed), weight in law.items():
        chances = profile.transition[path[-1]] if path else profile.stationary
        for place, chance in enumerate(chances):
            if chance > 0:
                key = (*path, place)[-reach - 1 :], (*exposed, -1)[-reach - 1 :]
                after[key] = after.get(key, 0.0) + weight * chance
    return after


def losses(stage, law, last, codebook, metric):
    """For every history: its probability, the expected loss, and the expected error of the best guesses."""
    own = codebook.stages[stage]
    tables = [floats(table) for table in own.tables]
    weight, loss, joint = {}, {}, {}
    for (path, exposed), chance in law.items():
        place = dict(zip(range(last - len(path) + 1, last + 1), path, strict=True))
        seen = dict(zip(range(last - len(exposed) + 1, last + 1), exposed, strict=True))
        past = tuple(seen[o] for o in own.scenario.seen)
        weight[past] = weight.get(past, 0.0) + chance
        drawn = {(): 1.0}
        for position in range(len(own.scenario.release)):
            known = tuple(place[o] for o in own.known_at(position))
            drawn = {
                (*before, o): p * q
                for before, p in drawn.items()
                for o, q in law_of(tables[position], codebook.places, (*past, *before), known).items()
            }
        wanted = [place[o] for o in own.scenario.quality]
        cost = sum(p * sum(metric[a][o] for a, o in zip(wanted, release, strict=True)) for release, p in drawn.items())
        loss[past] = loss.get(past, 0.0) + chance * cost
        if max(own.scenario.target) <= last:
            target = tuple(place[o] for o in own.scenario.target)
            for release, p in drawn.items():
                errors = joint.setdefault((past, release), {})
                errors[target] = errors.get(target, 0.0) + chance * p
    privacy = dict.fromkeys(weight, 0.0)
    for (past, _), errors in joint.items():
        guesses = itertools.product(range(codebook.places), repeat=len(own.scenario.target))
        privacy[past] += min(sum(p * added(metric)(guess, a) for a, p in errors.items()) for guess in guesses)
    # a history that dies out is followed until its probability has no digits left
    weight = {past: chance for past, chance in weight.items() if chance > DIED_OUT}
    return weight, *({past: own[past] / weight[past] for past in weight} for own in (loss, privacy))


def test_what_repeats_has_settled():
    codebook = made(CHAIN, Scenario.past_present(1))
    assert codebook.deployed.settled
    law = list(forward(codebook, CHAIN, codebook.deployed.accesses + 5))[-1][1]
    stage = codebook.stages[codebook.repeating]
    found = {}
    for (path, exposed), weight in law.items():
        key = (exposed[-2],), (path[-1],)
        found[key] = found.get(key, 0.0) + weight
    for history, sequence, probability in zip(
        stage.prior.history, stage.prior.sequences.tolist(), stage.prior.probability, strict=True
    ):
        key = tuple(stage.prior.histories[history].tolist()), tuple(sequence)
        assert found[key] == pytest.approx(probability, abs=1e-10)


@pytest.mark.parametrize("memory", [1, 2])
def test_a_chain_that_never_settles_is_certified_for_as_long_as_is_said(memory, monkeypatch):
    monkeypatch.setattr("hideseek.designing.deployed_run.HORIZON", 40)
    ring = MarkovProfile.from_matrix(np.roll(np.eye(3), 1, axis=1))
    codebook = design(
        ring, Scenario.past_present(memory), privacy=hamming(), quality=hamming(), budget=0.1, choice="plain"
    )
    assert (codebook.deployed.accesses, codebook.deployed.settled) == (40, False)
    metric = 1 - np.eye(3)
    for moment in forward(codebook, ring, 40):
        assert max(losses(*moment, codebook, metric)[1].values()) <= 0.1 * (1 + 1e-9)


def test_the_chosen_optimum_tells_less_about_the_next_place():
    """Next to home and work, a place between them: which of the optimal tables is taken decides what follows."""
    generator = np.random.default_rng(5)
    gains = []
    for _ in range(4):
        profile = MarkovProfile.from_matrix(0.85 * np.eye(4) + 0.15 * generator.dirichlet(np.ones(4), size=4))
        chosen, plain = (
            design(
                profile,
                Scenario.past_present(1),
                privacy=hamming(),
                quality=hamming(),
                budget=0.1,
                first_stages=3,
                choice=choice,
            )
            for choice in ("uninformative", "plain")
        )
        for book in (chosen, plain):
            first = book.stages[0].worth(hamming(), hamming(), 0.1)
            assert first.privacy[0] == pytest.approx(0.1, rel=1e-6)  # both are optimal at the first access
        then = [book.stages[1].worth(hamming(), hamming(), 0.1) for book in (chosen, plain)]
        values = [float(worth.weight @ worth.privacy) for worth in then]
        assert values[0] >= values[1] * (1 - 1e-6)
        claims = (chosen.deployed.second_privacy, chosen.deployed.plain_second_privacy)
        assert claims == pytest.approx(values, rel=1e-6)
        gains.append(values[0] - values[1])
    assert max(gains) > 0.005


def test_what_was_never_seen_with_a_past_gets_the_average_of_that_past():
    codebook = made(CHAIN, Scenario.past_present(1, protect="way"))
    for stage in codebook.stages[: codebook.repeating]:
        rows = rows_of(stage.tables[0])
        for k, past in enumerate(map(tuple, stage.prior.histories.tolist())):
            own = stage.prior.history == k
            whole = np.zeros(3)
            for places, chance in zip(
                stage.prior.at(stage.scenario.known)[own].tolist(), stage.prior.probability[own], strict=True
            ):
                for o, q in law_of(rows, 3, past, tuple(places)).items():
                    whole[o] += float(q) * chance / stage.prior.weight[k]
            stored = law_of(rows, 3, past, (3,) * len(stage.scenario.known))
            np.testing.assert_allclose([float(stored.get(o, 0)) for o in range(3)], whole, atol=1e-8)


@pytest.mark.parametrize("quality", [LINE, LINE**2])
def test_two_designs_are_equal_to_the_last_bit_whoever_works(quality, monkeypatch):
    """With the second metric the games have no closed form; their programs begin with the rows that were binding."""
    chosen = {"privacy": LINE, "quality": quality, "budget": 0.2}
    one = design(CHAIN, Scenario.past_present(2), workers=1, **chosen)
    monkeypatch.setattr("hideseek.designing.history_solver.MANY", 1)
    two = design(CHAIN, Scenario.past_present(2), workers=2, **chosen)
    assert one.content == two.content


def test_progress_counts_the_games():
    heard = []
    made(PAIR, Scenario.past_present(1), progress=lambda what, done, count: heard.append((what, done, count)))
    assert heard
    assert all(1 <= done <= count for _, done, count in heard)


def test_a_quality_that_looks_back_is_designed_for():
    places = Places([0.0, 0.0, 0.0], [0.0, 0.01, 0.03])
    scenario = Scenario(target=(0,), seen=(-1,), quality=(-1, 0))
    codebook = design(CHAIN, scenario, privacy=from_matrix(LINE), quality=speed(places), budget=1500.0)
    assert codebook.deployed.worst_loss <= 1500 * (1 + 1e-9)
    assert codebook.deployed.quality_loss > 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first_stages": 0}, "'first_stages' parameter of design must be at least 1"),
        ({"first_stages": 2.5}, "'first_stages' parameter of design"),
        ({"workers": 0}, "'workers' parameter of design"),
        ({"budget": float("nan")}, "'budget' parameter of design"),
        ({"choice": "best"}, "'choice' parameter of design must be one of 'plain', 'uninformative'"),
        ({"scenario": "now"}, "'scenario' parameter of design must be a Scenario"),
        ({"scenario": Scenario(target=(0,), release=(1,), every=2)}, "releases now and the steps right after"),
        (
            {"scenario": Scenario(target=(-1, 0), seen=(-2,), every=2)},
            "known places are that of now, and others",
        ),
        ({"scenario": Scenario(target=(-1,), seen=(-1,))}, "known places are that of now"),
        ({"scenario": Scenario(target=(0, 1), seen=(-1,))}, "known places are that of now"),
        ({"scenario": Scenario(target=(0,), seen=(-2,))}, "remembers all releases since the oldest"),
        ({"privacy": np.zeros((2, 2))}, "a matrix over the 3 places"),
    ],
)
def test_bad_parameters_are_named(change, message):
    given = {"scenario": Scenario.past_present(1), "privacy": LINE, "quality": LINE, "budget": 0.1} | change
    with pytest.raises(ParameterError, match=message):
        design(CHAIN, **given)


def test_a_budget_that_no_table_meets_is_refused_with_the_least():
    with pytest.raises(BudgetError) as caught:
        design(CHAIN, Scenario.past_present(1), privacy=LINE, quality=LINE + 1, budget=0.5)
    assert caught.value.least == pytest.approx(1.0)


def test_a_scenario_that_does_not_fit_in_memory_is_refused():
    ring = MarkovProfile.from_matrix((np.eye(60) + np.roll(np.eye(60), 1, axis=1)) / 2)
    with pytest.raises(SizeError):
        design(ring, Scenario.in_between(5), privacy=hamming(), quality=hamming(), budget=0.1)


def test_a_profile_that_tells_the_time_is_refused():
    day_and_night = PeriodicProfile(
        np.array([[[0.9, 0.1], [0.5, 0.5]], [[0.3, 0.7], [0.2, 0.8]]]), np.array([0, 0, 1, 1])
    )
    with pytest.raises(ParameterError, match="a MarkovProfile, the same at all times"):
        design(day_and_night, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.1)


def test_metrics_may_be_functions():
    off_by = from_function(lambda a, b: abs(a[0] - b[0]))
    one = design(CHAIN, Scenario.past_present(1), privacy=off_by, quality=off_by, budget=0.2)
    assert one.deployed == made(CHAIN, Scenario.past_present(1)).deployed
