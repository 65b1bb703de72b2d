"""Budgets in words: a number, or a percentage of the saturating budget, at which releases reveal nothing."""

from __future__ import annotations

from hideseek.errors import HideseekError, broken_rule
from hideseek.game.game import Game
from hideseek.metrics.named import MetricLike
from hideseek.model.markov import MarkovProfile
from hideseek.model.scenario import Scenario
from hideseek.util.checks import scalar


def parsed_budget(text: str, owner: str) -> tuple[float, bool]:
    """The number in a budget, and whether it is a share, written as a percentage.

    >>> parsed_budget("20%", "design"), parsed_budget("0.3", "design")
    ((0.2, True), (0.3, False))
    """
    words = text.strip()
    try:
        if words.endswith("%"):
            return scalar(float(words[:-1]), "budget", owner, "a percentage >= 0") / 100, True
        return scalar(float(words), "budget", owner), False
    except ValueError as error:
        if isinstance(error, HideseekError):
            raise
        raise broken_rule("budget", owner, "a number, or a percentage such as 20%", repr(text)) from None


def budget_of(text: str, game: Game, owner: str) -> float:
    """A number, or a percentage of the game's saturating budget."""
    amount, share = parsed_budget(text, owner)
    return max(amount * game.saturation, game.least_loss) if share else amount


def budget_through_time(
    text: str, profile: MarkovProfile, scenario: Scenario, privacy: MetricLike, quality: MetricLike, owner: str
) -> float:
    """As :func:`budget_of`, with the saturating budget of the places of one access."""
    alone = Scenario(target=scenario.release, release=scenario.release, quality=scenario.quality)
    return budget_of(text, Game.from_scenario(profile, alone, privacy=privacy, quality=quality), owner)
