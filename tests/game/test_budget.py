"""Budgets in words."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Game, MarkovProfile, ParameterError, Places, Scenario, design, plan, trade_off
from hideseek.experiments import compare
from hideseek.fleet.job import Job
from hideseek.game.budget import budget_of, parsed_budget
from hideseek.metrics import distance, squared
from hideseek.planning import BeliefGame


def test_a_percentage_is_never_below_the_least_possible_loss():
    game = Game.from_prior(
        [0.5, 0.5], privacy=1 - np.eye(2), quality=[[1.0, 3.0], [3.0, 1.0]], budget=4.0
    )  # the truth loses 1, a constant 2
    budgets = {text: budget_of(text, game, "design") for text in ("80%", "1%", "0.1")}
    assert budgets == {"80%": pytest.approx(1.6), "1%": 1.0, "0.1": 0.1}
    for text in ("-5%", "some", "nan", "inf", "", "%", "-1"):
        rule = "a finite number >= 0, or a percentage such as 20%"
        with pytest.raises(ParameterError, match=rf"'budget' parameter of design must be {rule}\."):
            budget_of(text, game, "design")


@pytest.mark.parametrize(
    ("text", "squared_unit", "unit"),
    [("500m", 250_000.0, 500.0), ("2km", 4e6, 2000.0), ("0.5 km", 250_000.0, 500.0), (" .5KM ", 250_000.0, 500.0),
     ("1e3 m", 1e6, 1000.0), ("0m", 0.0, 0.0)],
)  # fmt: skip
def test_metres_are_squared_where_losses_are_and_only_there(text, squared_unit, unit):
    assert parsed_budget(text, "m²", "solve") == (squared_unit, False)
    assert parsed_budget(text, "m", "solve") == (unit, False)


def test_a_bare_number_of_square_metres_is_refused_with_its_two_meanings():
    with pytest.raises(ParameterError, match="must be a root mean square displacement such as 500m") as caught:
        parsed_budget("500", "m²", "design")
    assert "500 could be 500 m of root mean square displacement (write 500m) or 500 square metres, 22.4 m" in str(
        caught.value
    )
    assert parsed_budget("500", "m", "design") == (500.0, False)


@pytest.mark.parametrize("unit", ["", "m per step", "m²²"])
def test_a_length_is_refused_where_losses_are_no_length(unit):
    with pytest.raises(ParameterError, match="not in metres, so that no length can be allowed"):
        parsed_budget("500m", unit, "design")
    assert parsed_budget("0.3", unit, "design") == (0.3, False)


@pytest.mark.parametrize(
    "text", ["1e400m", "1e200m", "-500m", "m", "500 miles", "5 00m", "nan m", "٣m", "1e999", "5m²"]
)
def test_a_length_that_is_none_or_has_no_finite_square_is_refused(text):
    with pytest.raises(ParameterError, match="'budget' parameter of design"):
        parsed_budget(text, "m²", "design")


REGIONS = Places([0.0, 0.0, 0.02], [0.0, 0.01, 0.0])
PERSON = MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.3, 0.1, 0.6]], REGIONS)


@pytest.mark.parametrize(("quality", "text", "number"), [("squared", "300m", 9e4), ("euclid", "0.3km", 300.0)])
def test_every_function_that_takes_a_budget_takes_the_same_words(quality, text, number):
    metrics = {"privacy": "euclid", "quality": quality}
    game = Game.from_scenario(PERSON, Scenario.sporadic(), **metrics)
    assert (
        game.with_budget(text).budget == Game.from_scenario(PERSON, Scenario.sporadic(), **metrics, budget=text).budget
    )
    books = [design(PERSON, Scenario.past_present(1), **metrics, budget=one, workers=1) for one in (text, number)]
    assert books[0].content == books[1].content
    assert BeliefGame.of(PERSON, **metrics, budget=text).budget == number
    assert (
        plan(PERSON, **metrics, budget=text, walks=2).sha256 == plan(PERSON, **metrics, budget=number, walks=2).sha256
    )
    assert trade_off(game, budgets=["100m", text]).budget[-1] == number
    measure = distance(REGIONS) if quality == "euclid" else squared(distance(REGIONS))
    assert (
        Game.from_prior(PERSON.stationary, **(metrics | {"privacy": measure, "quality": measure}), budget=text).budget
        == number
    )
    job = Job(quality=quality, budgets=(text, number + 1))
    assert job.budgets[0] == "300m"
    options = {"rivals": (), "accesses": 3, "walks": 2, "workers": 1}
    found = [compare(PERSON, **metrics, budget=one, **options).quality_loss for one in (text, number)]
    assert found[0] == found[1] <= number * (1 + 1e-9)


def test_a_share_through_time_is_of_the_saturating_budget_of_one_access():
    metrics = {"privacy": "euclid", "quality": "squared"}
    alone = Game.from_scenario(PERSON, Scenario.sporadic(), **metrics)
    centre = distance(REGIONS).between(np.arange(3)[:, None], np.arange(3)[:, None], np.zeros(0))
    by_hand = 0.2 * (PERSON.stationary @ centre**2).min()  # the cheapest release that is the same everywhere
    assert BeliefGame.of(PERSON, **metrics, budget="20%").budget == pytest.approx(by_hand, rel=1e-12)
    assert design(PERSON, Scenario.past_present(1), **metrics, budget="20%", workers=1).budget == pytest.approx(by_hand)
    assert alone.with_budget("20%").budget == pytest.approx(by_hand)
