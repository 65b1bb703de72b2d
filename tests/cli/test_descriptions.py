"""Solutions, codebooks and labels in words and numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hideseek import Game, MarkovProfile, Places, Scenario, design, evaluate, solve, trade_off
from hideseek.cli.descriptions import (
    codebook_facts,
    codebook_words,
    curve_rows,
    label_facts,
    price_words,
    solution_facts,
    solution_words,
    stage_rows,
    together,
    unweighted_rows,
)
from hideseek.experiments.wording import label_table, loss_words
from hideseek.metrics import distance, hamming, minimum, sensitive_to, squared
from hideseek.metrics.named import MetricName, metric_of
from hideseek.util.units import shown

REGIONS = Places([46.52, 46.53, 46.52, 46.55], [6.57, 6.57, 6.59, 6.60], names=("home", "clinic", "work", "far"))
PERSON = MarkovProfile.from_matrix(
    [[0.7, 0.1, 0.1, 0.1], [0.4, 0.4, 0.1, 0.1], [0.3, 0.1, 0.5, 0.1], [0.3, 0.1, 0.1, 0.5]], REGIONS
)
METRICS = {"hamming": hamming(), "euclid": distance(REGIONS), "squared": squared(distance(REGIONS))}


def game_of(privacy, quality, budget):
    metrics = {"privacy": METRICS[privacy], "quality": METRICS[quality]}
    return Game.from_scenario(PERSON, Scenario.sporadic(), **metrics, budget=budget)


@pytest.mark.parametrize("privacy", ["euclid", "squared", "hamming"])
@pytest.mark.parametrize(
    ("quality", "budgets"),
    [
        ("squared", ("50m", "400m", "900m", "1.5km", "9km")),
        ("euclid", ("50m", "500m", "9km")),
        ("hamming", ("0.05", "60%")),
    ],
)
def test_no_second_solve_buys_more_than_a_price_says(privacy, quality, budgets):
    for budget in budgets:
        game = game_of(privacy, quality, budget)
        name, words = price_words(solve(game), game)
        step = {"squared": (game.budget**0.5 + 100) ** 2, "euclid": game.budget + 100, "hamming": game.budget + 0.01}
        assert name.startswith("one percentage point" if quality == "hamming" else "100 m more displacement")
        said = float(re.search(r"at most (\S+)", words)[1])
        unit = game.units[0]
        bought = shown(solve(game.with_budget(step[quality])).privacy, unit) - shown(solve(game).privacy, unit)
        assert bought <= said * 1.005 + 1e-6  # three digits are shown


def test_a_price_is_what_is_bought_where_the_curve_has_no_corner_on_the_way():
    """Two places, each as likely: a lie with probability p loses p d², and leaves an error of p d."""
    away = 2000.0
    game = Game(
        [[0, away / 2], [away / 2, 0]], [[0, away**2 / 2], [away**2 / 2, 0]], budget=500.0**2, units=("m", "m²")
    )
    assert price_words(solve(game), game)[1] == f"at most {(600**2 - 500**2) / away:.3g} m of privacy"
    whole = game.with_budget("100%")
    assert price_words(solve(whole), whole)[1] == "at most 0 m of privacy"


def test_people_see_root_mean_square_metres_and_machines_both():
    game = game_of("euclid", "squared", "500m")
    solution = solve(game)
    words = dict(solution_words(solution, game, METRICS["euclid"], METRICS["squared"]))
    assert words["quality loss"] == "500 of 500 m (root mean square)"
    assert words["privacy, certified"] == f"{solution.privacy:.6g} m"
    facts = solution_facts(solution, game, METRICS["euclid"], METRICS["squared"])
    assert (facts["budget"], facts["budget_metres"], facts["quality_metric"]) == (
        250_000.0,
        500.0,
        "squared distance, m²",
    )
    assert facts["saturation_metres"] == pytest.approx(facts["saturation"] ** 0.5)
    header, rows = curve_rows(trade_off(game, budgets=["100m", "500m"]))
    assert header[:2] == ("budget (m, root mean square)", "privacy (m)")
    assert [row[0] for row in rows] == ["100", "500"]


def test_a_codebook_is_told_in_metres_with_its_sensitive_places():
    privacy = sensitive_to("euclid", REGIONS, places=["clinic=46.53,6.57:5"])
    codebook = design(PERSON, Scenario.past_present(1), privacy=privacy, quality="squared", budget="500m", workers=1)
    label = evaluate(codebook, PERSON, accesses=4)
    words = dict(codebook_words(codebook))
    assert words["sensitive places"].startswith("clinic (weight 5); errors are weighted")
    assert words["loss, worst history"].endswith("of 500 m (root mean square)")
    assert codebook_facts(codebook)["budget_metres"] == 500.0
    assert label_facts(label)["quality_loss_metres"] == pytest.approx(label.quality_loss**0.5)
    assert label_table(label, label.unit).header[1] == "expected error (weighted m)"
    assert "of 500 m (root mean square) on average" in loss_words(label, codebook.budget, label.loss_unit)
    told = [*words.values(), *stage_rows(codebook)[0], loss_words(label, codebook.budget, label.loss_unit), repr(label)]
    assert not any("m²" in text for text in told)


def test_beside_a_weighted_privacy_stands_the_error_without_weights():
    privacy, scenario = sensitive_to("euclid", REGIONS, places=["clinic=46.53,6.57:5"]), Scenario.sporadic()
    game = Game.from_scenario(PERSON, scenario, privacy=privacy, quality="squared", budget="900m")
    solution = solve(game)
    ((name, words),) = unweighted_rows(solution, PERSON, scenario, privacy)
    every = np.arange(4)[:, None]
    joint = PERSON.stationary[:, None] * solution.mechanism.table
    by_hand = (METRICS["euclid"].between(every, every, np.zeros(0)) @ joint).min(axis=0).sum()
    assert (name, float(words.removesuffix(" m"))) == ("privacy, without weights", pytest.approx(by_hand, rel=1e-5))
    assert by_hand < solution.privacy
    assert unweighted_rows(solve(game_of("euclid", "squared", "900m")), PERSON, scenario, METRICS["euclid"]) == []


@pytest.mark.parametrize("name", ["euclid", "squared", "hamming"])
def test_the_number_of_two_places_is_told_to_be_a_sum_where_it_is_one(name):
    """A person who jumps to either of two places: twice the error for two of them, if the metric adds."""
    pair = Places([46.52, 46.53], [6.57, 6.57])
    person = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], pair)
    metric = metric_of(MetricName(name), pair)
    one, two = (
        Game.from_scenario(person, scenario, privacy=metric, quality=metric)
        for scenario in (Scenario.sporadic(), Scenario.present_future())
    )
    doubled = two.prior_risk == pytest.approx(2 * one.prior_risk) and two.saturation == pytest.approx(
        2 * one.saturation
    )
    assert together(metric, 2).endswith("of 2 places together" + ", in sum" * doubled)
    assert "together" not in together(metric, 1)


def test_minima_over_places_are_not_told_to_be_sums():
    assert together(minimum(distance(REGIONS)), 2).endswith("of 2 places together")
