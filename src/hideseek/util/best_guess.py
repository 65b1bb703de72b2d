"""The expected error of the best guess, which privacy is measured by everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hideseek.util.arrays import FloatArray, blocks

if TYPE_CHECKING:  # a device with a codebook has no scipy
    from hideseek.util.sparse import Matrix


def least_errors(error: FloatArray, weight: Matrix) -> FloatArray:
    """The expected error of the best guess for every release:  min_g sum_i error[g, i] weight[i, o].

    Parameters
    ----------
    error
        [guesses, inputs]: W[g, i] of a game, or a metric d(g, i).
    weight
        [inputs, releases], dense or sparse: f(o|i) next to W, the joint distribution of input and release next to d.
        A dense array may have more axes before these two.

    Returns
    -------
    FloatArray
        [releases], after any further axes of ``weight``; its sum is the privacy.

    Examples
    --------
    >>> least_errors(1 - np.eye(2), np.array([[0.4, 0.1], [0.2, 0.3]])).tolist()
    [0.2, 0.1]
    """
    if weight.ndim > 2:
        stacked: FloatArray = np.matmul(error, weight).min(axis=-2)
        return stacked
    columns = weight if isinstance(weight, np.ndarray) else weight.tocsc()
    return np.concatenate([(error @ columns[:, own]).min(axis=0) for own in blocks(weight.shape[1], len(error))])
