"""Rivals that were made for traces and adapt to what they exposed: predictions, and sets of likely places."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np

from hideseek.baselines.cells import (
    Edges,
    Hull,
    hull_flow,
    nearest_place_distribution,
    nearest_place_on_line,
    voronoi_edges,
)
from hideseek.baselines.laplace import POSITIVE, planar_laplace
from hideseek.errors import broken_rule
from hideseek.model.belief import updated
from hideseek.model.geodesy import plane
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import numbered, scalar, shaped, whole_number
from hideseek.util.limits import refuse_if_too_large

DELTA = 0.01  # the true place is replaced in at most one step of a hundred on average, so little is lost without noise
FEWER = "Simulate fewer sequences at a time."
REMEMBERED = 2**28  # bytes of tables that are kept, since walks return to the same sets of likely places


@checked
@dataclass(frozen=True, eq=False)
class Predictive:
    """Release the last release again if it is still about right, else fresh noise.

    The prediction passes if its distance from the true place, with Laplace noise of rate ``epsilon_test``, is at most
    ``threshold`` metres; if not, planar Laplace noise of rate ``epsilon_noise`` is released, as at the first step.
    Given the past, a step is (epsilon_test + epsilon_noise)-geo-indistinguishable. The state is the last release.

    References
    ----------
    Chatzikokolakis, Palamidessi and Stronati: A predictive differentially-private mechanism for mobility traces.
    PETS 2014.

    Examples
    --------
    >>> policy = Predictive(np.array([[0.0, 0.0], [2.0, 0.0]]), epsilon_noise=1.0, epsilon_test=1.0, threshold=0.0)
    >>> policy.tables(policy.after(policy.start(1), np.array([0])))[0].round(2)  # half of the time it passes at 0
    array([[[0.88, 0.12],
            [0.29, 0.71]]])
    """

    points: FloatArray
    _: KW_ONLY
    epsilon_noise: float
    epsilon_test: float
    threshold: float

    def __post_init__(self) -> None:
        for name in ("epsilon_noise", "epsilon_test"):
            scalar(getattr(self, name), name, "Predictive", "a number > 0", POSITIVE)
        scalar(self.threshold, "threshold", "Predictive")

    @cached_property
    def fresh(self) -> FloatArray:
        """The table of the first step, and of every step whose prediction fails."""
        return planar_laplace(self.points, epsilon=self.epsilon_noise).table

    @cached_property
    def passes(self) -> FloatArray:
        """The probability that a prediction passes, [place, prediction]."""
        away = np.linalg.norm(self.points[:, None] - self.points, axis=2)
        room = self.epsilon_test * (self.threshold - away)
        half: FloatArray = np.exp(-np.abs(room)) / 2
        return np.where(room < 0, half, 1 - half)

    @property
    def symbols(self) -> int:
        """How many places it may release."""
        return len(self.points)

    def start(self, sequences: int) -> IntArray:
        """Nothing was released yet: -1."""
        count = whole_number(sequences, "sequences", "Predictive.start", least=0)
        refuse_if_too_large(8 * count, f"The states of {count} sequences", FEWER, parameter="count")
        return np.full(count, -1)

    def tables(self, state: IntArray) -> tuple[FloatArray, IntArray]:
        """One table for every last release that occurs."""
        shaped(state, (None,), "state", "Predictive.tables")
        numbered(state, self.symbols, "state", "Predictive.tables", least=-1)
        last, which = np.unique(state, return_inverse=True)
        tables = np.repeat(self.fresh[None], len(last), axis=0)
        for table, prediction in zip(tables, last, strict=True):
            if prediction >= 0:
                passed = self.passes[:, prediction]
                table *= 1 - passed[:, None]
                table[:, prediction] += passed
        return tables, which

    def after(self, state: IntArray, exposed: IntArray) -> IntArray:  # noqa: ARG002
        """What was exposed last is predicted to come again."""
        return exposed


@checked
def predictive(points: FloatArray, *, noise: float) -> Predictive:
    """The predictive mechanism with one dial.

    The threshold is 2 ``noise``, the mean error of fresh noise: a prediction that is no worse than that passes. The
    test has half the rate of the noise, as a test that costs as much as noise would save nothing. A step is
    1.5 / noise-geo-indistinguishable.

    Parameters
    ----------
    points
        The places on a plane, in metres, [place, 2].
    noise
        Fresh noise has the rate 1 / ``noise`` per metre, > 0.

    Returns
    -------
    Predictive
        A policy: it adapts to what it exposed.

    Raises
    ------
    ParameterError
        Where the noise is not above 0.

    Examples
    --------
    >>> predictive(np.array([[0.0, 0.0], [900.0, 0.0]]), noise=100.0).threshold
    200.0
    """
    scale = scalar(noise, "noise", "predictive", "a number > 0", POSITIVE)
    return Predictive(points, epsilon_noise=1 / scale, epsilon_test=0.5 / scale, threshold=2 * scale)


@checked
@dataclass(frozen=True, eq=False)
class DeltaLocationSet:
    """K-norm noise that tells no two likely places apart by more than exp(epsilon).

    The likely places are the fewest that hold 1 - ``delta`` of the belief, given all releases before; the noise has the
    density exp(-epsilon ||z - x||_K) around the true place x, K being the convex hull of their differences, and the
    place nearest to it is released. (The paper draws it where K is round and maps it back: another way to draw from
    the same distribution.) If the likely places lie on a line, so does the noise; if there is one, it is released. A
    true place that is not likely is replaced by the nearest that is. The state is the belief.

    References
    ----------
    Xiao and Xiong: Protecting locations with differential privacy under temporal correlations. CCS 2015.

    Examples
    --------
    >>> from hideseek.model.regions import Places
    >>> two = MarkovProfile.from_matrix([[0.9, 0.1], [0.1, 0.9]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> policy = DeltaLocationSet(two, epsilon=np.log(4))
    >>> policy.tables(policy.start(1))[0]
    array([[[0.75, 0.25],
            [0.25, 0.75]]])
    >>> policy.after(policy.start(1), np.array([0])).round(6)
    array([[0.7, 0.3]])
    """

    profile: MarkovProfile
    _: KW_ONLY
    epsilon: float
    delta: float = DELTA
    made: dict[bytes, FloatArray] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        owner = "DeltaLocationSet"
        if self.profile.order != 1:
            raise broken_rule("profile", owner, "a chain of order 1", f"one of order {self.profile.order}")
        scalar(self.epsilon, "epsilon", owner, "a number > 0", POSITIVE)
        if scalar(self.delta, "delta", owner, "a number >= 0 and < 1") >= 1:
            raise broken_rule("delta", owner, "a number >= 0 and < 1", self.delta)

    @cached_property
    def points(self) -> FloatArray:
        """The places on a plane, in metres."""
        return plane(regions_of(self.profile))

    @cached_property
    def edges(self) -> Edges:
        """Where the places' cells touch."""
        return voronoi_edges(self.points)

    @property
    def symbols(self) -> int:
        """How many places it may release."""
        return self.profile.places

    def start(self, sequences: int) -> FloatArray:
        """Before anything is exposed, the belief is the long-run distribution."""
        count = whole_number(sequences, "sequences", "DeltaLocationSet.start", least=0)
        refuse_if_too_large(8 * count * self.symbols, f"The beliefs of {count} sequences", FEWER, parameter="count")
        return np.tile(self.profile.stationary, (count, 1))

    def likely(self, state: FloatArray) -> BoolArray:
        """The fewest places that hold 1 - delta of each belief, the first of equals, [sequence, place]."""
        shaped(state, (None, self.symbols), "state", "DeltaLocationSet.likely")
        order = np.argsort(-state, axis=1, kind="stable")
        ranked = np.take_along_axis(state, order, axis=1)
        before = np.cumsum(ranked, axis=1) - ranked
        chosen = np.zeros(state.shape, np.bool_)
        np.put_along_axis(chosen, order, (before < 1 - self.delta) & (ranked > 0), axis=1)
        return chosen

    def noise_on(self, chosen: BoolArray) -> FloatArray:
        """The table of a set of likely places, made once."""
        shaped(chosen, (self.symbols,), "chosen", "DeltaLocationSet.noise_on")
        if not chosen.any():
            raise broken_rule("chosen", "DeltaLocationSet.noise_on", "a set with at least one place", "none")
        key = chosen.tobytes()
        if key not in self.made:
            if len(self.made) > REMEMBERED // (8 * self.symbols**2):
                self.made.clear()
            likely = np.flatnonzero(chosen)
            hull = Hull(self.points[likely])
            if len(likely) == 1:
                rows = np.eye(self.symbols)[likely]
            elif hull.flat:
                rows = nearest_place_on_line(self.points, likely, hull.longest / self.epsilon)
            else:
                rows = nearest_place_distribution(
                    self.points, self.edges, likely, hull_flow(self.edges, hull, self.epsilon)
                )
            away = np.linalg.norm(self.points[:, None] - self.points[likely], axis=2)
            self.made[key] = rows[away.argmin(axis=1)]
        return self.made[key]

    def tables(self, state: FloatArray) -> tuple[FloatArray, IntArray]:
        """One table for every set of likely places that occurs."""
        sets, which = np.unique(self.likely(state), axis=0, return_inverse=True)
        tables = np.array([self.noise_on(chosen) for chosen in sets], np.float64)
        return tables.reshape(-1, self.symbols, self.symbols), which.ravel()

    def after(self, state: FloatArray, exposed: IntArray) -> FloatArray:
        """The belief by Bayes' rule, one step later; what the tables cannot produce reveals nothing."""
        tables, which = self.tables(state)
        shaped(exposed, (len(state),), "exposed", "DeltaLocationSet.after")
        numbered(exposed, self.symbols, "exposed", "DeltaLocationSet.after")
        belief, probability = updated(state.T, tables[which, :, exposed].T)
        return np.where(probability > 0, belief, state.T).T @ self.profile.transition
