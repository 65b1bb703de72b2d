"""Points in well-known binary (WKB), many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

LONGEST = 41  # bytes: byte order, type, number of the reference system, four coordinates
HEIGHT, MEASURE, SYSTEM = 0x80000000, 0x40000000, 0x20000000  # flags of the extended form
POINT = 1  # of which 1001, 2001 and 3001 have a height, a measure, or both
SYSTEMS = (0, 4326)  # unknown, and degrees on the globe


def points_of(starts: npt.NDArray[Any], stops: npt.NDArray[Any], data: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    """Longitude and latitude of the points that lie in ``data`` from each start to its stop, NaN where there is none.

    >>> home = np.frombuffer(bytes.fromhex("0101000000" "0000000000001a40" "0000000000404740"), dtype=np.uint8)
    >>> points_of(np.array([0]), np.array([21]), home).tolist()
    [[6.5, 46.5]]
    """
    points = np.full((len(starts), 2), np.nan)
    for mark, order in enumerate("><"):
        here = np.flatnonzero(stops - starts >= 21)
        here = here[data[starts[here]] == mark]
        start, length = starts[here], (stops - starts)[here]
        kind = words_at(data, start + 1, f"{order}u4").astype(np.int64)
        extended = kind & (HEIGHT | MEASURE | SYSTEM)
        plain = kind - extended
        more = np.select([plain == POINT + 1000 * n for n in range(4)], [0, 1, 1, 2], -1)
        more = np.where(extended > 0, np.where(plain == POINT, 0, -1), more)
        more += (extended & HEIGHT > 0) * 1 + (extended & MEASURE > 0) * 1
        shift = 4 * (extended & SYSTEM > 0)
        good = (more >= 0) & (length == 21 + 8 * more + shift)
        here, start, shift = here[good], start[good] + 5, shift[good]
        known = (shift == 0) | np.isin(words_at(data, start, f"{order}u4"), SYSTEMS)
        here, start = here[known], (start + shift)[known]
        for side in range(2):
            points[here, side] = words_at(data, start + 8 * side, f"{order}f8")
    return points


def words_at(data: npt.NDArray[np.uint8], starts: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """The numbers of a kind that begin at these bytes."""
    size = np.dtype(kind).itemsize
    return np.ascontiguousarray(data[starts[:, None] + np.arange(size)]).view(kind).reshape(-1)
