"""A mechanism: for every input, the law of what is released; and a policy: the same, adapted to earlier releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

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


@runtime_checkable
class Policy(Protocol):
    """A mechanism that adapts to what it has exposed before, one release a step.

    What it does next is a function of its releases so far, which are public: the adversary follows its state as well as
    it does. States are arrays with one row for every sequence of releases that is followed.
    """

    @property
    def symbols(self) -> int:
        """How many places it may release."""
        ...

    def start(self, sequences: int) -> npt.NDArray[Any]:
        """The state of as many sequences before anything is exposed."""
        ...

    def tables(self, state: npt.NDArray[Any]) -> tuple[FloatArray, IntArray]:
        """The tables [kind, place, release] in use now, and which of them each sequence uses."""
        ...

    def after(self, state: npt.NDArray[Any], exposed: IntArray) -> npt.NDArray[Any]:
        """The state of each sequence once this was exposed."""
        ...
