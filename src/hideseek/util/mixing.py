"""How far a table is mixed with a cheaper one to keep a budget."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hideseek.util.arrays import FloatArray

SPARE = 1e-13  # the share of the budget that is left for rounding


def share_to_keep(loss: npt.ArrayLike, least: npt.ArrayLike, budget: float) -> FloatArray:
    """The share of a table that loses ``least`` to mix into one that loses ``loss``, so that the budget is kept.

    >>> share_to_keep([0.1, 0.3, 0.5], 0.1, budget=0.2).round(9).tolist()
    [0.0, 0.5, 0.75]
    """
    above = np.subtract(loss, least)
    over = np.subtract(loss, budget * (1 - SPARE))
    mixed = (over > 0) & (above > 0)
    return np.asarray(np.divide(np.minimum(over, above), above, out=np.zeros(np.shape(above)), where=mixed))
