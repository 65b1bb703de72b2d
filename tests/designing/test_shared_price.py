"""One price for all histories: against one linear program over all of them, and the run against plain enumeration."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from hideseek import Codebook, Device, Game, MarkovProfile, ParameterError, Scenario, design, evaluate, solve, verify
from hideseek.designing.shared_price import divide
from hideseek.errors import BudgetError
from hideseek.experiments.wording import loss_words
from hideseek.planning import BeliefGame, plan
from tests.oracles.codebook_checker import Book, run
from tests.support.designs import CHAIN, LINE, PAIR, SCENARIOS, SECOND_ORDER, made
from tests.support.fuzz_sealed import put_together, taken_apart
from tests.support.saved_codebooks import MATRIX, REGIONS, refused

CLOSE = 6e-6  # of the value: 1e-6 of every solve, as much of the choice, 3e-6 of the search for the price


def one_program(beliefs, weight, budget, error=LINE, cost=LINE):
    """The most error, in one program over the tables of all histories [history, place, release], with one budget row.

    ``beliefs`` [history, place] may also get a budget each, as a sequence.
    """
    count, places = beliefs.shape
    mass = weight[:, None] * beliefs
    tables, kept = count * places * places, count * places
    index = np.arange(tables).reshape(count, places, places)
    least = tables + np.arange(kept).reshape(count, places)
    rows, limits = [], []
    for k in range(count):
        for o in range(places):
            for g in range(places):
                row = np.zeros(tables + kept)
                row[index[k, :, o]], row[least[k, o]] = -mass[k] * error[g], 1
                rows.append(row)
                limits.append(0.0)
    lost = (mass[:, :, None] * cost).reshape(count, -1)
    if np.ndim(budget):
        for k, own in enumerate(budget):
            rows.append(np.zeros(tables + kept))
            rows[-1][index[k].ravel()] = lost[k]
            limits.append(own * weight[k])
    else:
        rows.append(np.r_[lost.ravel(), np.zeros(kept)])
        limits.append(budget)
    sums = np.zeros((kept, tables + kept))
    for row, own in zip(sums, index.reshape(kept, places), strict=True):
        row[own] = 1
    bounds = [(0, None)] * tables + [(None, None)] * kept
    objective = -np.r_[np.zeros(tables), np.ones(kept)]
    return -linprog(objective, A_ub=rows, b_ub=limits, A_eq=sums, b_eq=np.ones(kept), bounds=bounds).fun


def beliefs_of(stage):
    """The beliefs of a stage about the current place [history, place], and the histories' probabilities."""
    prior, places = stage.prior, stage.tables[0].places
    joint = np.zeros((len(prior.histories), places))
    np.add.at(joint, (prior.history, prior.at((0,))[:, 0]), prior.probability)
    return joint / prior.weight[:, None], prior.weight


def arbitrary(seed, count=4, places=3):
    """Beliefs after some histories, rare ones and nearly certain ones among them."""
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(places, 0.4), count), generator.dirichlet(np.full(count, 0.5))


def divided(beliefs, weight, budget, price=None):
    games = [Game.from_prior(belief, privacy=LINE, quality=LINE, budget=1.0) for belief in beliefs]
    return divide(games, weight, budget, lambda p: [solve(game, price=p) for game in games], price)


# --- one access ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("guessed", [None, 0.01, 3.0])
def test_the_shares_are_those_of_one_program_over_all_histories(seed, guessed):
    beliefs, weight = arbitrary(seed)
    for budget in (0.05, 0.2):
        found, best = divided(beliefs, weight, budget, guessed), one_program(beliefs, weight, budget)
        assert weight @ [game.budget for game in found.games] <= budget * (1 + 1e-9)
        reached = weight @ [solve(game).privacy for game in found.games]
        assert best * (1 - CLOSE) <= reached <= best * (1 + 1e-9)
        bound = found.price * budget + weight @ [
            one.bound - found.price * one.game.budget for one in found.proofs
        ]  # each proof is for the budget that its own table spends
        assert best * (1 - 1e-9) <= bound <= best * (1 + CLOSE)


def test_a_shared_budget_is_worth_more_with_it_and_ever_less_so():
    beliefs, weight = arbitrary(1)
    budgets = np.linspace(0.0, 0.5, 9)
    values = [weight @ [solve(g).privacy for g in divided(beliefs, weight, budget).games] for budget in budgets]
    gains = np.diff(values)
    assert (gains >= -1e-6).all()
    assert (np.diff(gains) <= 1e-5).all()
    risks = [Game.from_prior(belief, privacy=LINE, quality=LINE, budget=0).prior_risk for belief in beliefs]
    assert values[-1] == pytest.approx(weight @ risks, rel=1e-9)  # which is what nothing exceeds


def test_a_budget_below_the_least_loss_on_average_is_refused():
    games = [
        Game.from_prior(belief, privacy=LINE, quality=LINE + 1, budget=2.0) for belief in np.eye(3)[:2] * 0.9 + 1 / 30
    ]
    with pytest.raises(BudgetError, match="at least the least possible loss, 1"):
        divide(games, np.array([0.5, 0.5]), 0.9, lambda p: [solve(game, price=p) for game in games], None)


# --- a design -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [CHAIN, PAIR], ids=["three places", "two"])
@pytest.mark.parametrize("budget", [0.05, 0.2])
def test_the_first_stages_are_optimal_on_average_over_their_histories(profile, budget):
    codebook = made(profile, SCENARIOS["location"], budget, over="histories")
    line = LINE[: profile.places, : profile.places]
    for number, stage in enumerate(codebook.stages):
        worth = stage.worth(codebook.privacy, codebook.quality, codebook.budget)
        best = one_program(*beliefs_of(stage), budget, line, line)
        assert worth.weight @ worth.bound == pytest.approx(best, rel=CLOSE)
        if number < codebook.repeating:
            assert worth.weight @ worth.privacy == pytest.approx(best, rel=CLOSE)


def test_the_second_access_is_better_than_with_the_budget_after_each():
    profile = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]])
    far = np.sqrt([[0.0, 1.8, 11.1], [1.8, 0.0, 5.5], [11.1, 5.5, 0.0]])
    codebook = design(profile, Scenario.past_present(1), privacy=far, quality=far**2, budget=0.6, over="histories")
    gained = []
    for stage in codebook.stages[:2]:
        beliefs, weight = beliefs_of(stage)
        worth = stage.worth(codebook.privacy, codebook.quality, codebook.budget)
        each = one_program(beliefs, weight, [0.6] * len(weight), far, far**2)
        gained.append(worth.weight @ worth.privacy / each - 1)
    assert gained[0] == pytest.approx(0, abs=CLOSE)  # nothing was exposed before
    assert gained[1] > 0.001


@pytest.mark.parametrize("choice", ["uninformative", "plain"])
@pytest.mark.parametrize(
    "name", ["sporadic", "location", "transition", "location, two seen", "in between", "planned route"]
)
def test_the_run_keeps_the_budget_on_average_at_every_access(name, choice):
    """As deployed, by a plain recursion over (true places, releases) from the bytes of the file."""
    profile = PAIR if "two" in name or "route" in name or "between" in name else CHAIN
    codebook = made(profile, SCENARIOS[name], over="histories", choice=choice)
    found, _ = run(Book(codebook.content), codebook.deployed.accesses)
    averages = [one.mean(one.loss) for one in found]
    assert max(averages) <= codebook.budget * (1 + 1e-9)
    assert codebook.deployed.worst_average_loss == pytest.approx(max(averages), rel=1e-9)
    assert codebook.deployed.worst_loss == pytest.approx(max(max(one.loss.values()) for one in found), rel=1e-9)
    assert codebook.deployed.privacy == pytest.approx(np.mean([one.mean(one.privacy) for one in found]), rel=1e-9)
    assert verify(codebook) == codebook.deployed


def test_profiles_that_remember_more_and_planners_serve_too():
    assert verify(made(SECOND_ORDER, SCENARIOS["location"], over="histories"))
    game = BeliefGame.of(CHAIN, privacy=LINE, quality=LINE, budget=0.2)
    planner = plan(game, walks=5)
    codebook = design(
        CHAIN, Scenario.past_present(1), privacy=game.privacy, quality=game.quality, budget=0.2, over="histories",
        farsighted=planner,
    )  # fmt: skip
    assert verify(codebook).worst_average_loss <= 0.2 * (1 + 1e-9)


def test_one_history_may_lose_more_than_the_least_loss_of_another():
    """A quality that costs something everywhere: the budget need not do for every history by itself."""
    cost = LINE + np.array([[0.0], [1.0], [4.0]])
    least = CHAIN.stationary @ cost.min(axis=1)
    codebook = design(CHAIN, Scenario.past_present(1), privacy=LINE, quality=cost, budget=1.1 * least, over="histories")
    assert codebook.deployed.worst_loss > codebook.budget
    assert verify(codebook).worst_average_loss <= codebook.budget * (1 + 1e-9)


def test_nothing_may_be_lost_and_everything():
    nothing = made(CHAIN, SCENARIOS["location"], 0.0, over="histories")
    assert nothing.deployed.worst_loss == nothing.deployed.privacy == 0
    everything = made(CHAIN, SCENARIOS["location"], 5.0, over="histories")
    risk = Game.from_prior(CHAIN.stationary, privacy=LINE, quality=LINE, budget=0).prior_risk
    assert everything.deployed.privacy == pytest.approx(risk, rel=1e-9)


@pytest.mark.parametrize("over", ["1 day", "1day", "run", "", "Histories", None, 5])
def test_a_codebook_has_no_account_over_a_length_of_time(over):
    with pytest.raises(ParameterError, match="over"):
        made(CHAIN, SCENARIOS["location"], over=over)


def test_what_has_no_optimum_at_a_price_is_refused():
    with pytest.raises(ParameterError, match="where several places are released and the route is not known"):
        made(PAIR, SCENARIOS["unknown route"], over="histories")


# --- its file and what is said of it ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared():
    return made(CHAIN, SCENARIOS["location"], over="histories")


def test_its_file_says_so_and_that_of_every_access_says_nothing(shared, tmp_path):
    shared.save(tmp_path / "shared.hideseek")
    loaded = Codebook.load(tmp_path / "shared.hideseek")
    assert (loaded.over, loaded.content) == ("histories", shared.content)
    document = taken_apart(shared.content)[0]
    assert (document["hideseek_codebook"], document["over"]) == (3, "histories")
    document = taken_apart(made(CHAIN, SCENARIOS["location"]).content)[0]
    assert document["hideseek_codebook"] == 2
    assert "over" not in document
    assert "worst_average_loss" not in document["deployed"]


def test_a_device_uses_it_like_any_other(tmp_path):
    profile = MarkovProfile.from_matrix(MATRIX, REGIONS)
    codebook = design(
        profile, Scenario.past_present(1), privacy="hamming", quality="hamming", budget=0.1, over="histories"
    )
    device = Device(codebook, tmp_path / "shared.state")
    answers = [device.expose(46.52, 6.57, at=f"2026-01-05T08:{minute:02}:00+00:00") for minute in (0, 5, 25)]
    assert [answer.status for answer in answers] == ["exposed"] * 3


def put(*way, to):
    def change(document, tensors):
        for key in way[:-1]:
            document = document[key]
        document[way[-1]] = to(document[way[-1]])

    return change


def gone(*way):
    def change(document, tensors):
        for key in way[:-1]:
            document = document[key]
        del document[way[-1]]

    return change


LIES = {
    "a stage loses less": (put("stages", 1, "certificate", "quality_loss", to=lambda x: 0.9 * x), "says quality_loss"),
    "the run loses less": (put("deployed", "worst_average_loss", to=lambda x: 0.9 * x), "exceed those of its stages"),
    "the run loses more": (
        put("deployed", "worst_average_loss", to=lambda x: 1.1 * x),
        "on average over the histories",
    ),
    "a smaller budget": (put("budget", to=lambda x: 0.9 * x), "Its certificate says bound|on average"),
    "no average": (gone("deployed", "worst_average_loss"), "does not say what an access loses on average"),
    "after every history": (gone("over"), "Its version is not that of its kind of budget"),
    "an older version": (put("hideseek_codebook", to=lambda x: 2), "Its version is not that of its kind of budget"),
    "over something else": (put("over", to=lambda x: "1 day"), "Its header is not that of a codebook"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_about_the_average_is_refused(shared, name):
    change, message = LIES[name]
    document, tensors = deepcopy(taken_apart(shared.content))
    change(document, tensors)
    refused(put_together(document, tensors), message)


def test_a_proof_with_several_prices_is_refused(shared):
    """For each price its bound is right for a budget after every history, and for none on average over them."""
    stage = shared.stages[1]
    uneven = replace(stage.attack, price=stage.attack.price * np.linspace(1, 2, len(stage.attack.price)))
    stages = (shared.stages[0], replace(stage, attack=uneven), *shared.stages[2:])
    refused(replace(shared, stages=stages).content, "several prices")


def test_a_claim_for_the_other_kind_of_budget_is_refused():
    document, tensors = deepcopy(taken_apart(made(CHAIN, SCENARIOS["location"]).content))
    document["deployed"]["worst_average_loss"] = 0.1
    refused(put_together(document, tensors), "an average loss that its budget does not limit")


def test_the_label_says_that_the_budget_holds_on_average(shared):
    label = evaluate(shared, CHAIN, accesses=30, walks=50)
    told = loss_words(label, shared.budget, "", shared.over)
    assert "on average over what was exposed before, within the budget" in told
    assert "at most, which the budget does not limit" in told
    assert label.worst_loss > shared.budget
    assert "ABOVE THE BUDGET" in loss_words(label, 0.5 * shared.budget, "", shared.over)
