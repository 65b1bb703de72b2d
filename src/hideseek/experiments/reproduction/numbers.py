"""The numbers of the paper's evaluation: three results of each user.

1. The best mechanism for single places, attacked by an adversary who forgets the release before, and by one who
   remembers it.
2. The privacy of the current place given the release of the step before, for every budget, averaged over that release.
3. The privacy of this place and the next together, for every budget.

Both metrics are the Hamming metric, as in the paper. An optimum is rarely the only one, and the choice decides what an
adversary knows a step later: so everything that depends on it is computed for several optima.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import xlogy

from hideseek.adversary.one_shot import correlation_aware_error
from hideseek.game.game import Game
from hideseek.game.mechanism import Mechanism
from hideseek.metrics.of_places import hamming
from hideseek.model.belief import with_release
from hideseek.model.markov import MarkovProfile
from hideseek.model.scenario import Scenario
from hideseek.solvers.dispatch import solve
from hideseek.solvers.solution import Method
from hideseek.solvers.tie_break import prefer
from hideseek.util.arrays import FloatArray

BUDGETS = tuple(k / 20 for k in range(21))
COMPARED = (0.1, 0.2, 0.3, 0.5, 0.7)  # at which all optima are held against each other
MIDDLE = 0.5
LAST = 3  # the step t of the second result
ROUTES = ("planned", "unknown")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)  # of the prior risk: budgets at which linear programs check closed forms
PAIR_SHARES = (0.25, 0.5, 0.75)  # the same for pairs of places, which take long to close near saturation
CHECKED_HISTORIES = 3
NEXT_TO_NOTHING = 1e-12  # histories that are less likely are a solver's rounding


class Optimum(StrEnum):
    """Which of the optimal tables to take: all give the same privacy at this step, and differ in what they leave."""

    COIN = "coin"  # the truth or the likeliest place, by the toss of a coin: written down, not searched for
    VERTEX = "vertex"  # where the simplex method ends
    RELABELLED = "relabelled"  # where it ends when the places are numbered in another order
    UNINFORMATIVE = "uninformative"  # the one that leaves the most privacy for the next step


class Chosen(NamedTuple):
    """One optimal table f(o|r), with the privacy that it gives and what no table exceeds."""

    table: FloatArray
    privacy: float
    bound: float


def predictability(profile: MarkovProfile) -> tuple[float, float, float, float]:
    """The entropy rate; the plateaus of the place and of the pair; the place's privacy at a middle budget."""
    pairs = profile.stationary[:, None] * profile.transition
    *_, (joint, found) = through_time(profile, MIDDLE, Optimum.COIN, np.random.default_rng(0))
    middle = float(joint.sum(axis=0) @ [one.privacy for one in found])
    return entropy_rate(profile), 1 - float(profile.stationary.max()), 1 - float(pairs.max()), middle


def entropy_rate(profile: MarkovProfile) -> float:
    """How unpredictable the next place is, in bits per step: - sum_r psi(r) sum_r' P(r'|r) log2 P(r'|r).

    >>> round(entropy_rate(MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])), 9)
    1.0
    """
    return float(-profile.state_distribution @ xlogy(profile.transition, profile.transition).sum(axis=1) / np.log(2))


def optimal(
    prior: FloatArray, transition: FloatArray, budget: float, optimum: Optimum, generator: np.random.Generator
) -> Chosen:
    """An optimal mechanism for one place with this prior: the one asked for of those that there are.

    >>> stays = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> found = optimal(np.array([0.6, 0.4]), stays, 0.1, Optimum.COIN, np.random.default_rng(0))
    >>> found.table
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """
    count = len(prior)
    order = generator.permutation(count) if optimum is Optimum.RELABELLED else np.arange(count)
    inputs = np.flatnonzero(prior[order])
    differ, mass = 1 - np.eye(count), prior[order][inputs]
    game = Game.from_prior(mass, privacy=differ[:, inputs], quality=differ[inputs], budget=budget)
    searched = optimum in (Optimum.VERTEX, Optimum.RELABELLED)
    solution = solve(game, method=Method.FULL_PROGRAM if searched else Method.AUTO)
    if optimum is Optimum.UNINFORMATIVE:
        # the next game is worth min(Q, prior risk) after every release: its blind guesses, and a row for the budget
        blind = differ @ transition[inputs].T * mass
        solution = prefer(solution, Game(np.vstack([blind, budget * mass]), game.cost, budget=budget))
    table = np.eye(count)
    table[np.ix_(order[inputs], order)] = solution.mechanism.table
    return Chosen(table, solution.privacy, solution.bound)


def through_time(
    profile: MarkovProfile, budget: float, optimum: Optimum, generator: np.random.Generator
) -> Iterator[tuple[FloatArray, list[Chosen]]]:
    """Step by step, Pr(r_t, o_t-1) [place, history] and the optimum after every history: the appendix for k = 1.

    Pr(r_t, o_t) = sum_o_t-1 Pr(r_t, o_t-1) f_t(o_t | r_t, o_t-1),   Pr(r_t+1, o_t) = sum_r_t Pr(r_t, o_t) P(r_t+1|r_t)
    """
    joint = profile.stationary[:, None]
    for step in range(1, LAST + 1):
        priors = (joint / joint.sum(axis=0)).T
        # the optimum of the last step decides nothing any more
        taken = optimum if step < LAST else Optimum.COIN
        found = [optimal(prior, profile.transition, budget, taken, generator) for prior in priors]
        yield joint, found
        tables = np.stack([chosen.table for chosen in found], axis=1)
        joint = profile.transition.T @ with_release(joint, tables).sum(axis=1)
        joint = joint[:, joint.sum(axis=0) > NEXT_TO_NOTHING]


def tried(budgets: Sequence[float], compared: Sequence[float]) -> list[tuple[Optimum, float]]:
    """Every optimum with the budgets that it is computed at: the coin at all, the others at those compared."""
    return [(one, budget) for one in Optimum for budget in (budgets if one is Optimum.COIN else compared)]


def sporadic_rows(
    profile: MarkovProfile, budgets: Sequence[float], compared: Sequence[float], generator: np.random.Generator
) -> pd.DataFrame:
    """The first result: the best mechanism for single places under both attacks."""
    rows = []
    for optimum, budget in tried(budgets, compared):
        found = optimal(profile.stationary, profile.transition, budget, optimum, generator)
        aware = correlation_aware_error(profile, Mechanism(found.table), privacy=hamming())
        rows.append((budget, str(optimum), found.privacy, found.bound, aware))
    return pd.DataFrame(rows, columns=["budget", "choice", "sporadic", "bound", "aware"])


def location_rows(
    profile: MarkovProfile, budgets: Sequence[float], compared: Sequence[float], generator: np.random.Generator
) -> pd.DataFrame:
    """The second result: the privacy of the current place, averaged over the release of the step before."""
    rows = []
    for optimum, budget in tried(budgets, compared):
        for step, (joint, found) in enumerate(through_time(profile, budget, optimum, generator), start=1):
            weight = joint.sum(axis=0)
            privacy, bound = (float(weight @ [getattr(one, name) for one in found]) for name in ("privacy", "bound"))
            rows.append((budget, str(optimum), step, privacy, bound))
    return pd.DataFrame(rows, columns=["budget", "choice", "step", "privacy", "bound"])


def transition_game(profile: MarkovProfile, route: str) -> Game:
    """The game over this place and the next."""
    scenario = Scenario.present_future(planned=route == "planned")
    return Game.from_scenario(profile, scenario, privacy=hamming(), quality=hamming())


def transition_rows(profile: MarkovProfile, budgets: Sequence[float]) -> pd.DataFrame:
    """The third result: the privacy of this place and the next, known in advance (planned) or not."""
    rows = []
    for route in ROUTES:
        game = transition_game(profile, route)
        for budget in budgets:
            solution = solve(game.with_budget(budget))
            rows.append((budget, route, solution.privacy, solution.bound))
    return pd.DataFrame(rows, columns=["budget", "route", "privacy", "bound"])


def program_rows(profile: MarkovProfile, generator: np.random.Generator) -> pd.DataFrame:
    """Games of all three results by linear programs, which know nothing of the closed form min(Q, prior risk)."""
    differ = 1 - np.eye(profile.places)
    *_, (joint, _) = through_time(profile, MIDDLE, Optimum.COIN, generator)
    likeliest = joint[:, np.argsort(-joint.sum(axis=0), kind="stable")[:CHECKED_HISTORIES]]
    games = {"sporadic": Game.from_prior(profile.stationary, privacy=differ, quality=differ, budget=1.0)}
    for number, prior in enumerate((likeliest / likeliest.sum(axis=0)).T, start=1):
        games[f"history {number}"] = Game.from_prior(prior, privacy=differ, quality=differ, budget=1.0)
    games |= {f"transition, {route}": transition_game(profile, route) for route in ROUTES}
    rows = []
    for name, game in games.items():
        pairs = name.startswith("transition")
        method = Method.DOUBLE_ORACLE if pairs else Method.FULL_PROGRAM
        for share in PAIR_SHARES if pairs else SHARES:
            budget = share * game.prior_risk
            solution = solve(game.with_budget(budget), method=method)
            rows.append((name, budget, solution.privacy, solution.bound, min(budget, game.prior_risk)))
    return pd.DataFrame(rows, columns=["game", "budget", "privacy", "bound", "closed_form"])
