"""Numbers that were measured, with how sure they are."""

from __future__ import annotations

import numpy as np

from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked


@checked
class Estimate(float):
    """A number with its 95 % confidence ``interval``; where it is ``exact``, the interval is the number itself.

    Parameters
    ----------
    value : float
        The number.
    interval : tuple of float, optional
        Its 95 % confidence interval, the smaller end first; by default the number is exact.
    hit_rate : Estimate, optional
        Where it is an adversary's expected error: the probability that the guess is exactly right.

    Examples
    --------
    >>> error = Estimate(0.25, (0.24, 0.26))
    >>> error < 0.3, error.exact, f"{error:.1f}"
    (True, False, '0.2')
    """

    interval: tuple[float, float]
    exact: bool
    hit_rate: Estimate | None

    def __new__(
        cls, value: float, interval: tuple[float, float] | None = None, *, hit_rate: Estimate | None = None
    ) -> Estimate:
        """Exact unless an interval is given."""
        if interval is not None and not -np.inf < interval[0] <= interval[1] < np.inf:
            raise broken_rule("interval", "Estimate", "two finite numbers, the smaller one first", interval)
        self = super().__new__(cls, value)
        self.exact = interval is None
        self.interval = (float(value), float(value)) if interval is None else interval
        self.hit_rate = hit_rate
        return self

    @classmethod
    def exactly(cls, value: float) -> Estimate:
        """A number as an estimate; one that is stays as it is."""
        return value if isinstance(value, Estimate) else cls(value)

    @classmethod
    def mean_of(cls, values: FloatArray) -> Estimate:
        """The mean of independent values, with its interval by Student's distribution.

        >>> [round(end, 3) for end in Estimate.mean_of(np.array([1.0, 2.0, 3.0])).interval]
        [-0.484, 4.484]
        """
        from scipy.special import stdtrit

        mean = float(values.mean())
        spread = float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
        return cls(mean, (mean - spread, mean + spread))

    def in_words(self) -> str:
        """The number, with half of its interval's width where it is simulated.

        >>> Estimate(0.25, (0.24, 0.26)).in_words()
        '0.25 ± 0.01'
        """
        return f"{self:.6g}" if self.exact else f"{self:.6g} ± {(self.interval[1] - self.interval[0]) / 2:.2g}"
