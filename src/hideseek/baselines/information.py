"""The rival that reveals the fewest bits: the least mutual information for a quality loss."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hideseek.errors import SolverError, broken_rule
from hideseek.game.mechanism import Mechanism
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import distribution, nonnegative, scalar

ITERATIONS = 200  # a few dozen are usual


@checked
def blahut_arimoto(prior: npt.ArrayLike, loss: npt.ArrayLike, *, slope: float, tolerance: float = 1e-9) -> Mechanism:
    """The f(o|i) that minimises  I(place; release) + slope E[loss], the rate-distortion optimum.

    It is the fixed point of Blahut's and Arimoto's alternation  f(o|i) ~ q(o) exp(-slope loss[i, o]),  q = prior f.
    One turn of it multiplies q by c(o) = sum_i prior_i exp(-slope loss[i, o]) / sum_o' q(o') exp(-slope loss[i, o']),
    and log max c bounds what is left to gain, in nats: the answer has at most ``tolerance``. Since the alternation
    itself crawls where a release falls out of use, q is found by an interior point method for c <= 1, with c = 1 where
    q > 0.

    Parameters
    ----------
    prior
        The distribution of the place, [place].
    loss
        d_q[place, release].
    slope
        In nats per unit of the loss, >= 0: the larger, the less is lost.
    tolerance
        By how many nats the answer may miss the optimum.

    Returns
    -------
    Mechanism
        f[place, release].

    Raises
    ------
    SolverError
        If the tolerance is not reached.

    References
    ----------
    Oya, Troncoso and Pérez-González: Back to the drawing board: Revisiting the design of optimal location
    privacy-preserving mechanisms. CCS 2017.

    Examples
    --------
    >>> blahut_arimoto([0.5, 0.5], 1 - np.eye(2), slope=np.log(3)).table.round(6)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    owner = "blahut_arimoto"
    mass, table = distribution(prior, "prior", owner), nonnegative(loss, "loss", owner, 2)
    if len(table) != len(mass):
        raise broken_rule(
            "loss", owner, f"a matrix with a row for each of the {len(mass)} places of 'prior'", len(table)
        )
    kernel = np.exp(-scalar(slope, "slope", owner) * (table - table.min(axis=1, keepdims=True)))
    return Mechanism(least_information(mass, kernel, tolerance))


def least_information(mass: FloatArray, kernel: FloatArray, tolerance: float) -> FloatArray:
    """The table of :func:`blahut_arimoto` for a prior and  kernel[i, o] = exp(-slope loss[i, o])."""
    releases = kernel.shape[1]
    q, slack = np.full(releases, 1 / releases), np.ones(releases)  # slack: 1 - c, once it is solved
    for _ in range(ITERATIONS):
        share = q / q.sum()
        if np.log((mass / (kernel @ share) @ kernel).max()) <= tolerance:
            weight = kernel * share
            return np.asarray(weight / weight.sum(axis=1, keepdims=True))
        each = kernel / (kernel @ q)[:, None]
        c = mass @ each
        target = 0.1 * (q @ slack) / releases
        curvature = (each.T * mass) @ each + np.diag(slack / q)
        step = np.linalg.solve(curvature, c - 1 + target / q)
        slack_step = (target - slack * step) / q - slack
        q, slack = (
            value + change * 0.99 / max(0.99, (-change / value).max())  # stay inside
            for value, change in ((q, step), (slack, slack_step))
        )
    raise SolverError(
        f"blahut_arimoto did not come within {tolerance:g} nats in {ITERATIONS} iterations. Raise the tolerance."
    )
