"""A mechanism, for every input the distribution of what is released; and a policy, which adapts to earlier releases."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray, unlabelled
from hideseek.util.boundary import checked
from hideseek.util.checks import labelled, nonnegative
from hideseek.util.display import html_table
from hideseek.util.sparse import Matrix, dense, with_entries


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Mechanism:
    """For every input, the distribution of what is released.

    Parameters
    ----------
    distributions
        f(o|i), [inputs, releases]: each row sums to 1. A sparse matrix on a large map; :attr:`table` is an array
        whatever they are.
    inputs, releases
        The region numbers that the indices stand for, one row for each index. By default an index stands for itself.

    Raises
    ------
    ParameterError
        If a row is no distribution, or the labels do not fit.

    Examples
    --------
    >>> Mechanism([[1, 0], [0.5, 0.5]])
    Mechanism of 2 inputs and 2 releases, with 3 probabilities above 0
    """

    distributions: Matrix
    _: KW_ONLY
    inputs: IntArray = field(default_factory=unlabelled)
    releases: IntArray = field(default_factory=unlabelled)

    def __post_init__(self) -> None:
        given: Matrix = self.distributions
        if isinstance(given, sparse.csr_array):
            given = with_entries(given, nonnegative(given.data, "distributions", "Mechanism", 1))
        else:
            given = nonnegative(given, "distributions", "Mechanism", 2)
        total = given.sum(axis=1)
        if np.abs(total - 1).max() > 1e-6:
            worst = int(np.abs(total - 1).argmax())
            raise broken_rule("distributions", "Mechanism", "rows that sum to 1", f"{total[worst]:g} in row {worst}")
        object.__setattr__(self, "distributions", given)
        object.__setattr__(self, "inputs", labelled(self.inputs, given.shape[0], "inputs", "Mechanism"))
        object.__setattr__(self, "releases", labelled(self.releases, given.shape[1], "releases", "Mechanism"))

    @cached_property
    def table(self) -> FloatArray:
        """The distributions as an array f[i, o]."""
        return dense(self.distributions)

    def _facts(self) -> dict[str, int]:
        inputs, releases = self.distributions.shape
        positive = len(self.distributions.nonzero()[0])
        return {"inputs": inputs, "releases": releases, "probabilities above 0": positive}

    def __repr__(self) -> str:
        inputs, releases, positive = self._facts().values()
        return f"Mechanism of {inputs} inputs and {releases} releases, with {positive} probabilities above 0"

    def _repr_html_(self) -> str:
        return html_table("Mechanism", self._facts())


@runtime_checkable
class Policy(Protocol):
    """A mechanism that adapts to what it has exposed before, one release per step.

    What it does next is a function of its releases so far, which are public: the adversary follows its state as well as
    the mechanism does. A state is that of all sequences of releases
    that are followed: an array with one row for each, or whatever the policy's own functions take.
    """

    @property
    def symbols(self) -> int:
        """How many places it may release."""
        ...

    def start(self, sequences: int) -> Any:
        """The state of as many sequences before anything is exposed."""
        ...

    def tables(self, state: Any) -> tuple[FloatArray, IntArray]:
        """The tables [kind, place, release] in use now, and which of them each sequence uses."""
        ...

    def after(self, state: Any, exposed: IntArray) -> Any:
        """The state of each sequence once this was exposed."""
        ...
