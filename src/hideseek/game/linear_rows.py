"""Extra linear rows on a mechanism: those that a user gives, the same ones for every release, and those of a mechanism
that may not look ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.limits import refuse_if_too_large


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LinearRows:
    """Extra linear rows on a mechanism: ``lower <= matrix @ f.ravel() <= upper``, f[i, o] laid out row by row.

    Each row is kept in units of its largest coefficient, so that solvers and certificates mean the same by a tolerance.

    Parameters
    ----------
    matrix
        [rows, inputs x releases].
    lower, upper
        [rows]: limits, of which -inf and inf are none.
    mend
        Turns a row-stochastic table that nearly meets the rows into one that does, to rounding.
    block
        What :meth:`for_each_release` repeats, [rows, inputs], from which a solver gains much.

    Raises
    ------
    ParameterError
        If the shapes do not fit, a coefficient is not finite, or a lower limit exceeds the upper one.

    Examples
    --------
    >>> LinearRows([[1, 0, 0, -1]], lower=[0], upper=[0])  # f(0|0) = f(1|1)
    LinearRows: 1 row over 4 probabilities
    """

    matrix: sparse.csr_array
    _: KW_ONLY
    lower: FloatArray
    upper: FloatArray
    mend: Callable[[FloatArray], FloatArray] | None = None
    block: sparse.csr_array | None = None

    def __post_init__(self) -> None:
        matrix = sparse_matrix(self.matrix, "matrix", "LinearRows")
        lower, upper = (np.asarray(side, dtype=np.float64) for side in (self.lower, self.upper))
        count = matrix.shape[0]
        if lower.shape != (count,) or upper.shape != (count,):
            rule = f"arrays of {count} numbers, one per row"
            raise broken_rule("lower and upper", "LinearRows", rule, f"{lower.shape} and {upper.shape}")
        wrong = ~(lower <= upper)
        if wrong.any():
            at = int(wrong.argmax())
            raise broken_rule("lower", "LinearRows", "at most 'upper'", f"{lower[at]} and {upper[at]} in row {at}")
        if not np.isfinite(matrix.data).all():
            raise broken_rule("matrix", "LinearRows", "of finite numbers", matrix.data[~np.isfinite(matrix.data)][0])
        largest = abs(matrix).max(axis=1).toarray().ravel()
        unit = 1 / np.where(largest > 0, largest, 1.0)
        scaled = sparse.csr_array(sparse.diags_array(unit) @ matrix)
        for name, value in (("matrix", scaled), ("lower", lower * unit), ("upper", upper * unit)):
            object.__setattr__(self, name, value)

    @classmethod
    def for_each_release(cls, block: npt.ArrayLike | sparse.csr_array, releases: int) -> LinearRows:
        """The same rows for every release:  ``block @ f[:, o] <= 0``.

        A table that breaks them is mended by mixing it with its average distribution, just enough, first in the
        releases concerned.

        Parameters
        ----------
        block
            [rows, inputs], each row with coefficients that sum to less than 0, so that a constant mechanism keeps it
            with something to spare.
        releases
            How many releases there are.

        Examples
        --------
        >>> rows = LinearRows.for_each_release([[1, -2], [-2, 1]], releases=3)  # neither more than twice as likely
        >>> rows.matrix.shape, rows.mend(np.array([[0.5, 0.5, 0], [0.2, 0.8, 0]])).round(3).tolist()
        ((6, 6), [[0.472, 0.528, 0.0], [0.236, 0.764, 0.0]])
        """
        owner = "LinearRows.for_each_release"
        whole_number(releases, "releases", owner)
        own = sparse_matrix(block, "block", owner)
        entries = 16 * releases * max(own.nnz, *own.shape)
        what = f"LinearRows for each of {releases} releases"
        refuse_if_too_large(entries, what, "Use fewer releases.", parameter="releases")
        largest = abs(own).max(axis=1).toarray().ravel()
        own = sparse.csr_array(sparse.diags_array(1 / np.where(largest > 0, largest, 1.0)) @ own)
        total = own.sum(axis=1)
        if not (total < 0).all():
            rule = "of rows whose coefficients sum to less than 0"
            raise broken_rule("block", owner, rule, f"{total[~(total < 0)][0]} in one of them")

        def mend(table: FloatArray) -> FloatArray:
            """Mix releases, then the whole, with what is released on average: no other release moves far."""
            for whole in (False, True):
                mean = table.mean(axis=0)
                broken = np.maximum(own @ table, 0)
                share = np.divide(broken, broken - total[:, None] * mean, out=broken, where=broken > 0)
                most = share.max(initial=0.0) if whole else share.max(axis=0, initial=0.0)
                table = (1 - most) * table + most * mean
                table /= table.sum(axis=1, keepdims=True)
            return table

        matrix = sparse.kron(own, sparse.eye_array(releases), format="csr")
        count = matrix.shape[0]
        return cls(sparse.csr_array(matrix), lower=np.full(count, -np.inf), upper=np.zeros(count), mend=mend, block=own)

    def __repr__(self) -> str:
        count, width = self.matrix.shape
        return f"LinearRows: {count} {'row' if count == 1 else 'rows'} over {width} probabilities"


def sparse_matrix(value: npt.ArrayLike | sparse.csr_array, parameter: str, owner: str) -> sparse.csr_array:
    """A matrix of floats with at least one column."""
    rule = "a matrix of numbers with at least one column"
    try:  # by way of numpy, as scipy takes tuples for other things
        matrix = sparse.csr_array(value if sparse.issparse(value) else np.asarray(value), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule(parameter, owner, rule, type(value).__name__) from None
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise broken_rule(parameter, owner, rule, f"the shape {matrix.shape}")
    return matrix


def causal_rows(groups: Sequence[tuple[int, IntArray]], releases: IntArray) -> LinearRows:
    """The distribution of the releases up to a time must be the same for all inputs that agree up to that time.

    ``groups`` holds pairs (length of the release's prefix, group label of each input), the shortest prefix first.
    """
    levels = []
    parts = []
    for length, label in groups:
        prefix = np.unique(releases[:, :length], axis=0, return_inverse=True)[1].ravel()
        marginal = sparse.csr_array((np.ones(len(releases)), (prefix, np.arange(len(releases)))))
        members = sparse.csr_array((np.ones(len(label)), (label, np.arange(len(label)))))
        first = np.unique(label, return_index=True)[1][label]
        others = np.flatnonzero(first != np.arange(len(label)))
        identity = sparse.eye_array(len(label), format="csr")
        parts.append(sparse.kron(identity[others] - identity[first[others]], marginal, format="csr"))
        levels.append((marginal, members, label))

    def mend(table: FloatArray) -> FloatArray:
        """Give every input its group's average distribution of the prefix, and keep its own of what follows."""
        for marginal, members, label in levels:
            own = table @ marginal.T
            shared = ((members @ own) / members.sum(axis=1)[:, None])[label]
            ratio = np.divide(shared, own, out=np.zeros_like(own), where=own > 0)
            missing = np.where(own > 0, 0, shared) / marginal.sum(axis=1)
            table = table * (ratio @ marginal) + missing @ marginal
        return table

    matrix = sparse.csr_array(sparse.vstack(parts, format="csr"))
    zeros = np.zeros(matrix.shape[0])
    return LinearRows(matrix, lower=zeros, upper=zeros, mend=mend)


def same_rows(one: LinearRows | None, other: LinearRows | None) -> bool:
    """Whether two games have the same extra rows."""
    if one is None or other is None or one is other:
        return one is other
    if one.matrix.shape != other.matrix.shape or (one.matrix != other.matrix).nnz:
        return False
    return np.array_equal(one.lower, other.lower) and np.array_equal(one.upper, other.upper)
