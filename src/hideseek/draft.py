"""A stage in the making: the mechanism of every history, and the tables of whole numbers that they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from hideseek.arrays import FloatArray, IntArray, encoded, product
from hideseek.game import Alternatives, Game, as_alternatives
from hideseek.joint import History, gather
from hideseek.scenario import Scenario
from hideseek.solve import prefer, solve
from hideseek.solve.certificate import cheapest_releases
from hideseek.solve.full_program import safe_mechanism
from hideseek.stage import Attack, Prior, Stage
from hideseek.table import Table

TRADED = 1e-4  # relative gap of a table that trades privacy now for later
NEXT_TO_NOTHING = 1e-12  # the weight of an input that a history's law rules out, and a later one does not


class Choice(StrEnum):
    """Which of the optimal tables to take."""

    PLAIN = "plain"  # the solver's own
    UNINFORMATIVE = "uninformative"  # the one that tells the least about the next target


@dataclass(frozen=True, eq=False)
class Made:
    """A history's mechanism before it becomes whole numbers.

    ``safe`` is the one that it can be mixed towards, ``plain`` the solver's own, ``attack`` and ``price`` the proof.
    """

    inputs: IntArray
    mass: FloatArray
    table: FloatArray
    safe: FloatArray
    plain: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    attack: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    price: float = 0.0


def make(game: Game, second: Game, choice: Choice, weight: float = 0.0) -> Made:
    """Solve one history's game, and choose among the optimal mechanisms, or trade with a ``weight`` of the second."""
    plain = solve(game)
    if weight:
        shares = np.array([1, weight]) / (1 + weight)
        chosen = solve(Alternatives((game, second), weights=shares), tolerance=TRADED)
    else:
        chosen = plain if choice is Choice.PLAIN else prefer(plain, second)
    safe = safe_mechanism(as_alternatives(game))
    table = chosen.mechanism.table
    if safe is None:
        safe = cheapest_releases(game.cost, table)
    return Made(game.inputs, game.mass, table, safe, plain.mechanism.table, plain.attack, plain.price)


def tables_of(scenario: Scenario, made: dict[History, Made], places: int) -> tuple[Table, ...]:
    """The mechanisms of all histories as whole numbers, one table for each release of an access.

    A release number p is drawn given the history, the releases before it and what is known by then. Known places that
    were never seen with this past get what is released on the whole.
    """
    tables = []
    for position, moment in enumerate(scenario.release):
        columns = [k for k, offset in enumerate(scenario.known) if offset <= moment or not scenario.causal]
        keys, laws = [], []
        for past, one in made.items():
            drawn = one.table.reshape(len(one.table), places ** (position + 1), -1).sum(axis=2)
            joint = (np.maximum(one.mass, NEXT_TO_NOTHING)[:, None] * drawn).reshape(len(drawn), -1, places)
            alike, group = np.unique(one.inputs[:, columns], axis=0, return_inverse=True)
            apart = (gather(group.ravel(), len(alike)) @ joint.reshape(len(joint), -1)).reshape(-1, *joint.shape[1:])
            apart = np.concatenate([apart, joint.sum(axis=0, keepdims=True)])
            known = np.vstack([alike, np.full((1, len(columns)), places)])
            row, prefix = np.nonzero(apart.sum(axis=2))
            keys.append(with_past(past, np.c_[product(places, position)[prefix], known[row]]))
            laws.append(apart[row, prefix])
        tables.append(Table.from_laws(places, np.vstack(keys), np.vstack(laws)))
    return tuple(tables)


def with_past(past: History, vectors: IntArray) -> IntArray:
    """The same past in front of every vector."""
    return np.hstack([np.tile(np.array(past, np.int64), (len(vectors), 1)), vectors])


def attack_of(mades: Sequence[Made]) -> Attack:
    """The attacks and prices of these mechanisms, one a history of a prior, as a proof to be stored."""
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
        self.codes: IntArray = np.zeros(0, np.int64)

    def take(self, made: dict[History, Made], places: int, afresh: bool = False) -> None:
        """Add or replace mechanisms, or replace them all."""
        self.made = made if afresh else self.made | made
        self.stage = Stage(self.scenario, self.then, tables_of(self.scenario, self.made, places))
        keys = [with_past(past, one.inputs) for past, one in self.made.items()]
        self.codes = encoded(np.vstack(keys), places)

    def unmade(self, prior: Prior, places: int) -> list[History]:
        """The histories after which something can be known that there is no table for."""
        codes = encoded(np.c_[prior.histories[prior.history], prior.at(self.scenario.known)], places)
        missing = ~np.isin(codes, self.codes)
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
