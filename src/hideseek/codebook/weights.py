"""A mechanism as a device holds it: rows of whole numbers that sum to 2^32, so that 32 random bits draw exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hideseek.errors import CodebookError
from hideseek.util.arrays import FloatArray, IntArray, encoded

WORDS = 2**32  # equally likely random words; what the weights of a row sum to
CODES = 2**63  # codes are below this, so that signed numbers hold them
Unsigned = npt.NDArray[Any]  # of an unsigned type, as stored


@dataclass(frozen=True, eq=False)
class Table:
    """Distributions of releases, one per row, found by a code.

    A code is a vector of places written as one number in base ``places`` + 1: what was seen, then what is known. The
    digit ``places`` stands for anything: a row known by it alone is for what was never seen in training. Row r holds
    ``releases[start[r]:start[r + 1]]`` with these ``weights``; a certain release has the weight 0, which is 2^32.
    """

    places: int
    _: KW_ONLY
    codes: Unsigned = field(repr=False)
    start: Unsigned = field(repr=False)
    releases: Unsigned = field(repr=False)
    weights: Unsigned = field(repr=False)

    @classmethod
    def from_distributions(cls, places: int, keys: IntArray, distributions: FloatArray) -> Table:
        """Round distributions [row, release] to whole weights, one row for each key.

        >>> table = Table.from_distributions(3, np.array([[0], [1]]), np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]))
        >>> table.weights.tolist(), table.releases.tolist()
        ([2147483648, 1073741824, 1073741824, 0], [0, 1, 2, 1])
        """
        refuse_long_codes(places, keys.shape[1])
        codes = encoded(keys, places + 1).astype(np.uint64)
        order = np.argsort(codes, kind="stable")
        weights = largest_remainder(distributions[order])
        row, release = np.nonzero(weights)
        kind = np.uint16 if places < 2**16 else np.uint32
        return cls(
            places,
            codes=codes[order],
            start=np.searchsorted(row, np.arange(len(codes) + 1)).astype(np.uint32),
            releases=release.astype(kind),
            weights=(weights[row, release] % WORDS).astype(np.uint32),
        )

    def checked(self) -> Table:
        """The table, refused unless every row is a distribution over the places and codes are in order."""
        start, rows = self.start.astype(np.int64), len(self.codes)
        if len(start) != rows + 1 or not rows or start[0] or start[-1] != len(self.weights):
            raise CodebookError("A table has no rows, or does not say where they begin and end.")
        length = np.diff(start)
        if (length < 1).any() or len(self.releases) != len(self.weights) or (self.codes[1:] <= self.codes[:-1]).any():
            raise CodebookError("A table has a row without releases, or a code that stands twice or out of order.")
        row = np.repeat(np.arange(rows), length)
        if (self.releases >= self.places).any() or (
            np.diff(self.releases.astype(np.int64))[np.diff(row) == 0] <= 0
        ).any():
            raise CodebookError("A table releases a place that does not exist, or one twice in a row.")
        whole = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(WORDS)
        if ((self.weights == 0) != (length == 1)[row]).any() or (self.ends[start[1:] - 1] != whole).any():
            raise CodebookError("The weights of a row do not sum to 2^32.")
        return self

    @cached_property
    def ends(self) -> Unsigned:
        """Where each entry's share of the words ends, all rows one after the other."""
        weight = self.weights.astype(np.uint64)
        weight[weight == 0] = WORDS
        return np.cumsum(weight)

    @property
    def matrix(self) -> FloatArray:
        """The distributions of all rows, [row, release]."""
        return self.distributions(np.arange(len(self.codes)))

    def distributions(self, rows: IntArray) -> FloatArray:
        """The distributions of these rows, [row, release].

        >>> table = Table.from_distributions(2, np.array([[0], [1]]), np.array([[0.75, 0.25], [0, 1]]))
        >>> table.distributions(np.array([1, 0])).tolist()
        [[0.0, 1.0], [0.75, 0.25]]
        """
        first = self.start[rows].astype(np.int64)
        length = self.start[rows + 1] - first
        row = np.repeat(np.arange(len(rows)), length)
        entry = np.arange(len(row)) + (first - np.cumsum(length) + length)[row]
        weight = self.weights[entry].astype(np.float64)
        weight[weight == 0] = WORDS
        result = np.zeros((len(rows), self.places))
        result[row, self.releases[entry]] = weight / WORDS
        return result

    def find(self, codes: IntArray) -> IntArray:
        """The row of each code, -1 where there is none."""
        wanted = np.asarray(codes).astype(np.uint64)
        row = np.minimum(np.searchsorted(self.codes, wanted), len(self.codes) - 1)
        return np.where(self.codes[row] == wanted, row, np.int64(-1))

    def rows(self, seen: IntArray, known: IntArray) -> IntArray:
        """The row for each (seen, known); what was never known with this past gets the past's own row, or -1.

        >>> table = Table.from_distributions(2, np.array([[0, 0], [0, 2]]), np.array([[1.0, 0.0], [0.5, 0.5]]))
        >>> table.rows(np.array([[0], [0], [1]]), np.array([[0], [1], [1]])).tolist()
        [0, 1, -1]
        """
        width = known.shape[1]
        past = encoded(seen, self.places + 1)
        row = self.find(past * (self.places + 1) ** width + encoded(known, self.places + 1))
        missing = row < 0
        if missing.any():
            row[missing] = self.find((past[missing] + 1) * (self.places + 1) ** width - 1)
        for vectors in (seen, known):
            if vectors.min(initial=0) < 0 or vectors.max(initial=0) > self.places:
                # as a digit, a place that does not exist would lead to the row of others
                row[((vectors < 0) | (vectors > self.places)).any(axis=1)] = -1
        return row

    def row(self, seen: Sequence[int], known: Sequence[int]) -> int:
        """As :meth:`rows`, for one, fast, and by the same work whichever it is."""
        base = self.places + 1
        if not all(0 <= place < base for place in (*seen, *known)):
            return -1
        past = 0
        for place in seen:
            past = past * base + place
        code = past
        for place in known:
            code = code * base + place
        default = (past + 1) * base ** len(known) - 1
        # both are looked up, so that the time it takes does not reveal what was never seen
        rows = self.codes.searchsorted(np.array((code, default), np.uint64))
        (own, past_own), found = rows.tolist(), self.codes.take(rows, mode="clip").tolist()
        return own if found[0] == code else past_own if found[1] == default else -1

    def draw(self, rows: IntArray, words: Unsigned) -> IntArray:
        """The release that each word (a whole number below 2^32) draws from each row.

        >>> table = Table.from_distributions(2, np.array([[0]]), np.array([[0.75, 0.25]]))
        >>> table.draw(np.zeros(2, int), np.array([2**31, 2**32 - 1], np.uint32)).tolist()
        [0, 1]
        """
        if rows.min(initial=0) < 0:
            raise CodebookError("A table has no row for something that can happen.")
        at = rows.astype(np.uint64) * np.uint64(WORDS) + words.astype(np.uint64)
        drawn: IntArray = np.asarray(self.releases[self.ends.searchsorted(at, side="right")], dtype=np.int64)
        return drawn


def refuse_long_codes(places: int, digits: int) -> None:
    """Refuse vectors of so many places that no code holds them."""
    if (places + 1) ** digits > CODES:
        raise CodebookError(f"Vectors of {digits} among {places} places have no codes of 63 bits.")


def largest_remainder(shares: FloatArray, total: int = WORDS) -> IntArray:
    """Whole numbers in proportion to each row that sum to ``total`` exactly: rounded down, the rest to the nearest.

    >>> largest_remainder(np.array([[1 / 3, 2 / 3]]), total=8).tolist()
    [[3, 5]]
    """
    row, column = np.nonzero(shares)  # a release of probability 0 stays impossible
    share = shares[row, column] / shares.sum(axis=1)[row] * total
    down = np.floor(share).astype(np.int64)
    whole: IntArray = np.zeros(shares.shape, np.int64)
    whole[row, column] = down
    rest = total - whole.sum(axis=1)
    order = np.lexsort((down - share, row))  # the largest remainder of each row first, and ties by number
    first = np.searchsorted(row, np.arange(len(shares)))
    more = order[np.arange(len(order)) - first[row] < rest[row]]
    whole[row[more], column[more]] += 1
    whole[np.arange(len(whole)), whole.argmax(axis=1)] += np.minimum(rest, 0)  # if rounding alone went past the total
    return whole
