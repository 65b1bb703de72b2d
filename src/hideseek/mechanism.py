"""A mechanism: for every input, the law of what is released."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hideseek.arrays import FloatArray, IntArray, labelled, nonnegative, unlabelled
from hideseek.errors import broken_rule


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A row-stochastic ``table`` f[i, o], with the region numbers that inputs and releases stand for.

    >>> Mechanism([[1, 0], [0.5, 0.5]]).releases.tolist()
    [[0], [1]]
    """

    table: FloatArray
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)

    def __post_init__(self) -> None:
        table = nonnegative(self.table, "table", "Mechanism", 2)
        total = table.sum(axis=1)
        if np.abs(total - 1).max() > 1e-6:
            worst = int(np.abs(total - 1).argmax())
            raise broken_rule("table", "Mechanism", "rows that sum to 1", f"{total[worst]:g} in row {worst}")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "inputs", labelled(self.inputs, table.shape[0], "inputs", "Mechanism"))
        object.__setattr__(self, "releases", labelled(self.releases, table.shape[1], "releases", "Mechanism"))
