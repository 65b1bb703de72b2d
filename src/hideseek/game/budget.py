"""Budgets in words: a displacement in metres, a number, or a percentage of the saturating budget.

In metres, a budget is the root mean square displacement under a metric in square metres, and the mean displacement
under one in metres. Where several places are released at once, the metric adds over them: the metres are then those of
all of them together, the root of the sum of the mean squares or the sum of the means.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from hideseek.errors import ParameterError, broken_rule
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import FloatArray
from hideseek.util.checks import scalar
from hideseek.util.lengths import LENGTH, metres

if TYPE_CHECKING:
    from hideseek.game.game import Game

RULES = {
    "m": "a mean displacement such as 500m or 2km, or a percentage such as 20%",
    "m²": "a root mean square displacement such as 500m or 2km, or a percentage such as 20%",
}
NUMBER = "a finite number >= 0, or a percentage such as 20%"
NO_LENGTH = "The quality metric is not in metres, so that no length can be allowed."


def parsed_budget(text: str, unit: str, owner: str, parameter: str = "budget") -> tuple[float, bool]:
    """The number in a budget, in the unit of the quality metric, and whether it is a share of the saturating budget.

    >>> parsed_budget("20%", "m²", "design"), parsed_budget("500m", "m²", "design"), parsed_budget("2km", "m", "design")
    ((0.2, True), (250000.0, False), (2000.0, False))
    """
    words, rule = text.strip(), RULES.get(unit, NUMBER)
    share, length = words.endswith("%"), LENGTH.fullmatch(words)
    if length and unit not in RULES:
        raise broken_rule(parameter, owner, rule, repr(text), NO_LENGTH)
    try:
        number = metres(words, parameter, owner) if length else float(words.removesuffix("%"))
        amount = scalar(number * number if length and unit == "m²" else number, parameter, owner)
    except (ParameterError, ValueError):
        raise broken_rule(parameter, owner, rule, repr(text)) from None
    if unit == "m²" and not share and not length:
        raise broken_rule(parameter, owner, rule, repr(text), two_meanings(amount))
    return (amount / 100 if share else amount), share


def two_meanings(number: float) -> str:
    """What a bare number may mean where losses are square metres.

    >>> two_meanings(500.0)
    '500 could be 500 m of root mean square displacement (write 500m) or 500 square metres, 22.4 m (write 22.4m).'
    """
    root = f"{sqrt(number):.3g}"
    return (
        f"{number:g} could be {number:g} m of root mean square displacement (write {number:g}m) or {number:g} square "
        f"metres, {root} m (write {root}m)."
    )


def allowed_loss(budget: float | str, unit: str, cost: FloatArray, owner: str) -> float:
    """A budget in the unit of the quality metric, for a game with this cost C[input, release].

    A percentage allows at least the least possible loss.
    """
    if not isinstance(budget, str):
        return scalar(budget, "budget", owner)
    amount, share = parsed_budget(budget, unit, owner)
    return max(amount * float(cost.sum(axis=0).min()), float(cost.min(axis=1).sum())) if share else amount


def budget_of(budget: float | str, game: Game, owner: str) -> float:
    """A budget in the unit of the losses of a game."""
    return allowed_loss(budget, game.units[1], game.cost, owner)


def budget_through_time(
    budget: float | str, profile: Profile, scenario: Scenario, privacy: MetricLike, quality: MetricLike, owner: str
) -> float:
    """A budget per access in the unit of the quality metric; the saturating budget is that of the places of one."""
    from hideseek.game.game import Game  # which takes budgets in words itself

    if not isinstance(budget, str):
        return scalar(budget, "budget", owner)
    d_q = as_metric(quality, "quality", profile, owner)
    amount, share = parsed_budget(budget, d_q.unit, owner)
    if not share:
        return amount
    alone = Scenario(target=scenario.release, release=scenario.release, quality=scenario.quality)
    return Game.from_scenario(profile, alone, privacy=privacy, quality=d_q, budget=budget).budget
