"""A mechanism: for every input, the law of what is released; and a policy: the same, adapted to earlier releases."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray, unlabelled
from hideseek.util.boundary import checked
from hideseek.util.checks import labelled, nonnegative
from hideseek.util.sparse import Matrix, dense, with_entries


@checked
@dataclass(frozen=True, eq=False)
class Mechanism:
    """The ``laws`` of releases f(o|i), one row an input, with the region numbers that inputs and releases stand for.

    Those of a large map are a sparse matrix; ``table`` f[i, o] is an array whatever they are.

    >>> Mechanism([[1, 0], [0.5, 0.5]]).releases.tolist()
    [[0], [1]]
    """

    laws: Matrix
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)

    def __post_init__(self) -> None:
        if isinstance(self.laws, sparse.csr_array):
            laws: Matrix = with_entries(self.laws, nonnegative(self.laws.data, "laws", "Mechanism", 1))
        else:
            laws = nonnegative(self.laws, "laws", "Mechanism", 2)
        total = laws.sum(axis=1)
        if np.abs(total - 1).max() > 1e-6:
            worst = int(np.abs(total - 1).argmax())
            raise broken_rule("laws", "Mechanism", "rows that sum to 1", f"{total[worst]:g} in row {worst}")
        object.__setattr__(self, "laws", laws)
        object.__setattr__(self, "inputs", labelled(self.inputs, laws.shape[0], "inputs", "Mechanism"))
        object.__setattr__(self, "releases", labelled(self.releases, laws.shape[1], "releases", "Mechanism"))

    @cached_property
    def table(self) -> FloatArray:
        """The laws as an array f[i, o]."""
        return dense(self.laws)


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
