"""A stage in the making: the mechanism of every history, and the tables of whole numbers that they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from hideseek.codebook.joint_distribution import History
from hideseek.codebook.stage import Attack, Outcome, Prior, Stage, View, distinct
from hideseek.codebook.weights import Table
from hideseek.game.alternatives import Alternatives, as_alternatives
from hideseek.game.game import Game
from hideseek.metrics.metric import Metric
from hideseek.model.belief import gather
from hideseek.model.scenario import Scenario
from hideseek.solvers.dispatch import solve
from hideseek.solvers.full_program import safe_mechanism
from hideseek.solvers.growing_program import Pairs
from hideseek.solvers.repair import cheapest_releases
from hideseek.solvers.solution import Solution
from hideseek.solvers.tie_break import prefer
from hideseek.util.arrays import BoolArray, FloatArray, IntArray, encoded, product

TRADED = 1e-4  # optimality gap of a table that trades privacy now for later
Ends = tuple[Pairs | None, Pairs | None]
NEXT_TO_NOTHING = 1e-12  # the weight of an input that a history rules out, and a later one does not


class Choice(StrEnum):
    """Which of the optimal tables to take."""

    PLAIN = "plain"  # the solver's own
    UNINFORMATIVE = "uninformative"  # the one that reveals the least about the next target


@dataclass(frozen=True, eq=False)
class Made:
    """A history's mechanism before it becomes whole numbers.

    ``safe`` is the one that it can be mixed towards, ``plain`` the solver's own, ``attack`` and ``price`` the proof,
    and ``ends`` what was binding in the programs of its game, and of the choice.
    """

    inputs: IntArray
    mass: FloatArray
    table: FloatArray
    safe: FloatArray
    plain: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    attack: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    price: float = 0.0
    ends: Ends = (None, None)


def make(game: Game, second: Game | None, starts: Ends, proof: Solution | None = None, weight: float = 0.0) -> Made:
    """Solve one history's game; where there is a second, choose among the optima, or trade with a ``weight`` of it.

    Where the budget holds on average over the histories, the ``proof`` is that of the price which they have in common.
    """
    plain = solve(game, start=starts[0])
    if second is None:
        chosen = replace(plain, end=starts[1])
    elif weight:
        shares = np.array([1, weight]) / (1 + weight)
        chosen = solve(Alternatives((game, second), weights=shares), tolerance=TRADED)
    else:
        chosen = prefer(plain, second, start=starts[1])
    safe = safe_mechanism(as_alternatives(game))
    table = chosen.mechanism.table
    if safe is None:
        safe = cheapest_releases(game.cost, table)
    ends = plain.end or starts[0], chosen.end
    proof = proof or plain
    return Made(game.inputs, game.mass, table, safe, plain.mechanism.table, proof.attack, proof.price, ends)


def tables_of(scenario: Scenario, made: dict[History, Made], places: int) -> tuple[Table, ...]:
    """The mechanisms of all histories as whole numbers, one table for each release of an access.

    A release number p is drawn given the history, the releases before it and what is known by then. Known places that
    were never seen with this past get what is released on average.
    """
    keys = keys_of(made)
    table, mass = np.vstack([one.table for one in made.values()]), np.concatenate([one.mass for one in made.values()])
    seen, tables = len(scenario.seen), []
    for position, moment in enumerate(scenario.release):
        columns = [seen + k for k, offset in enumerate(scenario.known) if offset <= moment or not scenario.causal]
        drawn = table.reshape(len(table), places ** (position + 1), -1).sum(axis=2)
        joint = np.maximum(mass, NEXT_TO_NOTHING)[:, None] * drawn
        alike, whole = keys[:, [*range(seen), *columns]], keys[:, : seen + len(columns)].copy()
        whole[:, seen:] = places
        rows, parts = [], []
        for vectors in (alike, whole):
            different, index = distinct(vectors, places + 1)
            rows.append(different)
            parts.append((gather(index, len(different)) @ joint).reshape(len(different), -1, places))
        known, released = np.vstack(rows), np.concatenate(parts)
        row, prefix = np.nonzero(released.any(axis=2))
        before = product(places, position)[prefix]
        told = np.c_[known[row, :seen], before, known[row, seen:]]
        tables.append(Table.from_distributions(places, told, released[row, prefix]))
    return tuple(tables)


def keys_of(made: dict[History, Made]) -> IntArray:
    """What was seen and what is known in every row of all mechanisms."""
    pasts = np.array(list(made), np.int64).reshape(len(made), -1)
    rows = [len(one.inputs) for one in made.values()]
    return np.hstack([np.repeat(pasts, rows, axis=0), np.vstack([one.inputs for one in made.values()])])


def attack_of(mades: Sequence[Made]) -> Attack:
    """The attacks and prices of these mechanisms, one per history of a prior, as a proof to be stored."""
    strategies = [np.nonzero(made.attack) for made in mades]
    return Attack(
        np.repeat(np.arange(len(mades)), [len(release) for release, _ in strategies]),
        np.concatenate([release for release, _ in strategies]),
        np.concatenate([guess for _, guess in strategies]),
        np.concatenate([made.attack[at] for made, at in zip(mades, strategies, strict=True)]),
        np.array([made.price for made in mades]),
    )


class Draft:
    """A stage in the making: the mechanisms of its histories, and the tables they give."""

    def __init__(self, scenario: Scenario, then: int) -> None:
        self.scenario, self.then = scenario, then
        self.made: dict[History, Made] = {}
        self.view: tuple[IntArray, View] | None = None
        self.own: tuple[IntArray, BoolArray] | None = None

    @classmethod
    def of(cls, stage: Stage) -> Draft:
        """A stage that is made."""
        draft = cls(stage.scenario, stage.then)
        draft.stage = stage
        return draft

    def take(self, made: dict[History, Made], places: int, afresh: bool = False) -> None:
        """Add or replace mechanisms, or replace them all."""
        self.made = made if afresh else self.made | made
        self.stage = Stage(self.scenario, then=self.then, tables=tables_of(self.scenario, self.made, places))
        self.view = self.own = None

    def under(self, prior: Prior, privacy: Metric, quality: Metric) -> Outcome:
        """What the tables do under a distribution; what they do under all with its entries is computed once."""
        if self.view is None or self.view[0] is not prior.sequences:
            self.view = prior.sequences, self.stage.view(prior, privacy, quality)
        return Outcome(self.view[1], prior.probability)

    def unmade(self, prior: Prior, places: int) -> list[History]:
        """The histories after which something can be known that there is no table for."""
        if self.own is None or self.own[0] is not prior.sequences:
            codes = encoded(np.c_[prior.histories[prior.history], prior.at(self.scenario.known)], places)
            made = encoded(keys_of(self.made), places) if self.made else ()
            self.own = prior.sequences, np.isin(codes, made)
        missing = ~self.own[1] & (prior.probability > 0)
        return [tuple(prior.histories[k].tolist()) for k in np.unique(prior.history[missing])]

    def blended(self, past: History, made: Made, share: float) -> Made:
        """A history's mechanism moved a share of the way to another one, with its rows for inputs that it lacked."""
        own = self.made.get(past)
        if own is None:
            return made
        inputs, index = np.unique(np.r_[own.inputs, made.inputs], axis=0, return_inverse=True)
        old, new = np.split(index.ravel(), [len(own.inputs)])
        weight = np.zeros((len(inputs), 1))
        weight[new] = share
        weight[np.setdiff1d(new, old)] = 1
        width = own.table.shape[1]
        rows = np.zeros((2, len(inputs), 2 * width + 1))
        rows[0, old], rows[1, new] = (np.c_[one.table, one.safe, one.mass] for one in (own, made))
        table, safe, mass = np.split((1 - weight) * rows[0] + weight * rows[1], [width, 2 * width], axis=1)
        return replace(own, inputs=inputs, table=table, safe=safe, mass=mass[:, 0])
