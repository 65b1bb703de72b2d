"""What exposes places: mechanisms, policies and codebooks, all read as the tables of one access after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.codebook.codebook import Codebook
from hideseek.codebook.weights import Table
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.sparse import dense

ROW_SUM = 1e-6  # by how much the rows of a policy's table may miss a sum of 1

Exposer = Mechanism | Policy | Codebook


@dataclass(frozen=True, eq=False)
class Plain:
    """A memoryless mechanism, read as a table of a codebook is."""

    matrix: sparse.csr_array

    def rows(self, seen: IntArray, known: IntArray) -> IntArray:  # noqa: ARG002
        """The place is the row."""
        return known[:, 0]


@dataclass(frozen=True, eq=False)
class Kind:
    """What happens at an access: ``tables[p]`` draws its release number p, which looks at the offsets ``looks[p]``."""

    scenario: Scenario
    looks: tuple[tuple[int, ...], ...]
    tables: tuple[Table | Plain, ...]

    def likelihood(self, seen: IntArray, drawn: IntArray, known: IntArray) -> FloatArray:
        """How likely these releases are after these were seen, [known, (seen, drawn)]; nan where no table has a row."""
        likely = np.ones((len(known), len(seen)))
        for position, (table, looks) in enumerate(zip(self.tables, self.looks, strict=True)):
            columns = [self.scenario.known.index(offset) for offset in looks]
            inputs, which = np.unique(known[:, columns], axis=0, return_inverse=True)
            before, each = np.c_[seen, drawn[:, :position]], np.arange(len(seen))
            pair = np.repeat(each, len(inputs))
            row = table.rows(before[pair], np.tile(inputs, (len(seen), 1)))
            own = np.where(row < 0, np.nan, dense(table.matrix)[row, drawn[pair, position]])
            own = own.reshape(len(seen), len(inputs)).T[which.ravel()]
            # no table is needed after a release that is impossible
            likely = np.where(likely == 0, 0.0, likely * own)
        return likely


def kinds_of(exposer: Exposer) -> tuple[Kind, ...]:
    """The kinds of the first accesses; the last one repeats. A policy has its own tables, different at every access."""
    if isinstance(exposer, Mechanism):
        return (Kind(Scenario.sporadic(), ((0,),), (Plain(sparse.csr_array(exposer.table)),)),)
    if not isinstance(exposer, Codebook):
        return (Kind(Scenario.sporadic(), (), ()),)
    return tuple(
        Kind(stage.scenario, tuple(stage.known_at(position) for position in range(len(stage.tables))), stage.tables)
        for stage in exposer.stages[: exposer.repeating + 1]
    )


def followed(policy: Policy, exposed: IntArray, accesses: int, places: int) -> Iterator[tuple[FloatArray, IntArray]]:
    """The tables that a policy uses at every access, and which of them for each exposed sequence."""
    state = policy.start(len(exposed))
    shape = places, policy.symbols
    for access in range(accesses):
        tables, which = policy.tables(state)
        if tables.shape[1:] != shape:
            rule = f"one whose tables are [kind, place, release] over {shape[0]} places and {shape[1]} releases"
            raise broken_rule("policy", "attack", rule, f"the shape {tables.shape}")
        if not (tables.min() >= 0 and np.abs(tables.sum(axis=2) - 1).max() <= ROW_SUM):
            raise broken_rule("policy", "attack", "one whose rows are distributions: >= 0, and in sum 1", "others")
        yield tables, which
        state = policy.after(state, exposed[:, access])
