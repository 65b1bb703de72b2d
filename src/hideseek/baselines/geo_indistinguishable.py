"""The cheapest mechanisms that keep geo-indistinguishability, and the rows that ask any mechanism to keep it.

A mechanism is epsilon-geo-indistinguishable when no release tells two places apart by more than their distance allows:

    f(o|i) <= exp(epsilon d(i, i')) f(o|i')     for all places i, i' and releases o

(Andrés et al. 2013). Where a path leads from i to i', the rows along it imply the row of its length; so rows for the
edges of a spanner whose paths are at most D times as long as the distances, at epsilon / D, imply all (Bordenabe et al.
2014), with far fewer of them. They ask for more than epsilon does, which costs quality and privacy. At epsilon itself
the same rows ask for less than all pairs do, and so prove how much that is at most: every ``bound`` here holds for all
epsilon-geo-indistinguishable mechanisms, whichever rows were solved.

The most private mechanism under these rows and a budget (Shokri 2014) is the game itself with these rows, solved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from hideseek.baselines.rival import Setting
from hideseek.errors import broken_rule
from hideseek.game.game import Game
from hideseek.game.linear_rows import LinearRows
from hideseek.game.mechanism import Mechanism
from hideseek.solvers.certificate import relative_gap
from hideseek.solvers.dispatch import solve
from hideseek.solvers.interior_point import LeastLoss, least_loss
from hideseek.solvers.solution import Solution, Status
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative, scalar

# places up to which the rows of all pairs are solved by default. On the cells of a cab, at 1 / epsilon = 1 km, they
# take 0.3 s at 39 places, 2.9 s at 71, 10 s at 98 and 39 s at 122 (the joint optimum 0.6, 5.5, 26 and 90 s). A spanner
# takes a quarter of that, and at the same epsilon loses 2 to 64 % more quality on cabs of 19 to 41 places
AFFORDABLE = 100
DILATION = 1.1  # of the spanner beyond
EXACT = 1 + 1e-9  # a stretch below is rounding


@checked
def spanner(distance: npt.ArrayLike, *, dilation: float) -> IntArray:
    """Pairs of places [edge, 2] that connect all places by paths at most ``dilation`` times as long as the distances.

    Greedy: from the nearest pair to the furthest, a pair becomes an edge unless the edges so far already have such a
    path for it. A dilation of 1 leaves out just those pairs that others explain exactly.

    Parameters
    ----------
    distance
        d[place, place], symmetric, more than 0 between different places.
    dilation
        How many times as long a path may be, >= 1.

    Returns
    -------
    array [edge, 2]
        The pairs, from the nearest to the furthest.

    Raises
    ------
    ParameterError
        Where the dilation is below 1, the matrix is not symmetric, or two places are no distance apart.

    References
    ----------
    Bordenabe, Chatzikokolakis and Palamidessi: Optimal geo-indistinguishable mechanisms for location privacy. CCS 2014.

    Examples
    --------
    >>> spanner([[0, 1, 2], [1, 0, 1], [2, 1, 0]], dilation=1).tolist()
    [[0, 1], [1, 2]]
    """
    apart = between_places(distance, "spanner")
    dilation = scalar(dilation, "dilation", "spanner", "a finite number >= 1", least=1.0)
    first, second = np.triu_indices(len(apart), 1)
    path = np.where(np.eye(len(apart), dtype=np.bool_), 0.0, np.inf)
    edges = []
    for pair in np.argsort(apart[first, second], kind="stable"):
        i, j = first[pair], second[pair]
        if path[i, j] > dilation * apart[i, j] * (1 + 1e-12):
            edges.append((i, j))
            through = path[:, [i]] + apart[i, j] + path[[j]]
            path = np.minimum(path, np.minimum(through, through.T))
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def between_places(distance: npt.ArrayLike, owner: str) -> FloatArray:
    """A symmetric matrix of distances, refused where two places are no distance apart."""
    apart = nonnegative(distance, "distance", owner, 2)
    rule = "a symmetric matrix [place, place]"
    if apart.shape[0] != apart.shape[1]:
        raise broken_rule("distance", owner, rule, f"the shape {apart.shape}")
    one_sided = ~np.isclose(apart, apart.T, rtol=1e-9, atol=0)
    if one_sided.any():
        i, j = np.argwhere(one_sided)[0]
        raise broken_rule("distance", owner, rule, f"{apart[i, j]} and {apart[j, i]} between {i} and {j}")
    if not np.array_equal(apart > 0, ~np.eye(len(apart), dtype=np.bool_)):
        rule = "0 on the diagonal and more than 0 elsewhere"
        raise broken_rule("distance", owner, rule, "other zeros", "Merge places that lie in one spot.")
    shorter: FloatArray = np.minimum(apart, apart.T)
    return shorter


@checked
def geo_indistinguishable_rows(
    distance: npt.ArrayLike, *, epsilon: float, releases: int, dilation: float = 1.0
) -> LinearRows:
    """The rows under which every mechanism is ``epsilon``-geo-indistinguishable, for all pairs of places.

    They stand for the edges of a :func:`spanner`, at epsilon over the dilation that it really has. With a dilation of 1
    they mean the same as the rows of all pairs; a little more leaves few rows, a little stricter than asked.

    Parameters
    ----------
    distance
        d[place, place], in metres, symmetric.
    epsilon
        Per metre, > 0.
    releases
        How many releases the mechanism has.
    dilation
        Of the spanner, >= 1.

    Returns
    -------
    LinearRows
        Linear constraints on f(o|i), for a :class:`Game`.

    Raises
    ------
    ParameterError
        Where epsilon is not above 0, the dilation is below 1, the matrix is not symmetric, or two places are no
        distance apart.

    References
    ----------
    Bordenabe, Chatzikokolakis and Palamidessi: Optimal geo-indistinguishable mechanisms for location privacy. CCS 2014.

    Examples
    --------
    >>> rows = geo_indistinguishable_rows([[0, 1], [1, 0]], epsilon=np.log(2), releases=2)
    >>> rows.matrix.toarray()
    array([[ 0.5,  0. , -1. ,  0. ],
           [ 0. ,  0.5,  0. , -1. ],
           [-1. ,  0. ,  0.5,  0. ],
           [ 0. , -1. ,  0. ,  0.5]])
    """
    owner = "geo_indistinguishable_rows"
    apart = between_places(distance, owner)
    epsilon = scalar(epsilon, "epsilon", owner, "a finite number > 0", least=np.finfo(float).tiny)
    edges = spanner(apart, dilation=dilation)
    likelier, other = np.vstack([edges, edges[:, ::-1]]).T
    row = np.arange(len(likelier))
    # divided by exp(epsilon d), which may be more than a float can hold
    value = np.r_[np.exp(-epsilon / stretch(apart, edges) * apart[likelier, other]), np.full(len(row), -1.0)]
    place = (np.r_[row, row], np.r_[likelier, other])
    return LinearRows.for_each_release(sparse.csr_array((value, place), shape=(len(row), len(apart))), releases)


def stretch(apart: FloatArray, edges: IntArray) -> float:
    """How many times as long as the distance the shortest path along the edges is at most."""
    path = csgraph.shortest_path(sparse.csr_array((apart[*edges.T], edges.T), shape=apart.shape), directed=False)
    return float(np.max(path / np.where(apart > 0, apart, 1.0), initial=1.0))


@checked
def optimal_geo_indistinguishable(setting: Setting, *, epsilon: float, dilation: float | None = None) -> LeastLoss:
    """The ``epsilon``-geo-indistinguishable mechanism of least expected quality loss.

    Parameters
    ----------
    setting
        The person, and the metric of the loss.
    epsilon
        Per metre, > 0.
    dilation
        Of the spanner whose rows are kept, by default 1 (all pairs) up to a hundred places, and 1.1 beyond.

    Returns
    -------
    LeastLoss
        The cheapest mechanism of all, or of those that keep the rows of a spanner, which are fewer and stricter. What
        that costs at most is the ``optimality_gap``: none of these loses less than ``within``, and no
        geo-indistinguishable mechanism less than ``bound``.

    Raises
    ------
    ParameterError
        Where epsilon is not above 0, the dilation is below 1, or the places have no regions or lie in one spot.

    References
    ----------
    Bordenabe, Chatzikokolakis and Palamidessi: Optimal geo-indistinguishable mechanisms for location privacy. CCS 2014.

    Examples
    --------
    >>> from hideseek.metrics import distance, hamming
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> two = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> setting = Setting(two, privacy=hamming(), quality=distance(two.regions))
    >>> best = optimal_geo_indistinguishable(setting, epsilon=np.log(3) / setting.metres[0, 1])
    >>> best.mechanism.table.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    strict, loose = with_rows(setting, epsilon, dilation)
    found = least_loss(strict)
    if loose is None:
        return found
    bound = least_loss(loose).bound
    return replace(found, bound=bound, optimality_gap=relative_gap(bound, found.quality_loss, strict.saturation))


@checked
def joint_optimum(setting: Setting, *, budget: float, epsilon: float, dilation: float | None = None) -> Solution:
    """The most private of the ``epsilon``-geo-indistinguishable mechanisms within a budget.

    The adversary's expected error is as large as any such mechanism can make it, and even an adversary with another
    prior tells two places apart no better than epsilon allows.

    Parameters
    ----------
    setting
        The person, and the metrics of the error and of the loss.
    budget
        The largest expected loss, in units of the quality metric.
    epsilon
        Per metre, > 0.
    dilation
        Of the spanner whose rows are kept, by default 1 (all pairs) up to a hundred places, and 1.1 beyond.

    Returns
    -------
    Solution
        With a spanner its status says so, ``within`` bounds the mechanisms that keep the rows of the spanner, and
        ``bound`` all geo-indistinguishable ones.

    Raises
    ------
    BudgetError
        Where no such mechanism loses as little as the budget.
    ParameterError
        Where epsilon is not above 0, the dilation is below 1, or the places have no regions or lie in one spot.

    References
    ----------
    Shokri: Privacy games: Optimal user-centric data obfuscation. PoPETs 2015.

    Examples
    --------
    >>> from hideseek.metrics import distance
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> two = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> setting = Setting(two, privacy=distance(two.regions), quality=distance(two.regions))
    >>> best = joint_optimum(setting, budget=0.3 * setting.metres[0, 1], epsilon=np.log(3) / setting.metres[0, 1])
    >>> f"{best.privacy / setting.metres[0, 1]:.6f}"
    '0.300000'
    """
    strict, loose = with_rows(setting, epsilon, dilation)
    found = solve(strict.with_budget(budget))
    if loose is None:
        return found
    free = solve(loose.with_budget(budget))
    gap = relative_gap(found.privacy, free.bound, strict.prior_risk)
    status = Status.OPTIMAL_ON_SPANNER if found.status is Status.OPTIMAL else found.status
    return replace(found, bound=free.bound, within=found.bound, optimality_gap=gap, status=status, unrestricted=free)


def with_rows(setting: Setting, epsilon: float, dilation: float | None) -> tuple[Game, Game | None]:
    """The sporadic game of a setting, among geo-indistinguishable mechanisms alone.

    Where a spanner makes it stricter than that, a second game has the spanner's rows at epsilon itself, which all
    geo-indistinguishable mechanisms keep, and others too.
    """
    game = setting.game
    places = game.inputs[:, 0]
    apart = setting.metres[np.ix_(places, places)]
    if dilation is None:
        dilation = 1.0 if len(apart) <= AFFORDABLE else DILATION

    def rows_of(rate: float) -> LinearRows:
        return geo_indistinguishable_rows(apart, epsilon=rate, releases=len(game.releases), dilation=dilation)

    strict = replace(game, rows=rows_of(epsilon))
    longer = stretch(apart, spanner(apart, dilation=dilation))
    if longer <= EXACT:
        return strict, None
    return strict, replace(game, rows=rows_of(longer * epsilon))


@checked
def with_distortion(setting: Setting, *, epsilon: float) -> Mechanism:
    """The joint optimum at an epsilon, with the budget that the cheapest mechanism takes at half of it.

    With the budget that the cheapest takes at the same epsilon there would be little to choose.

    Parameters
    ----------
    setting
        The person, and the metrics of the error and of the loss.
    epsilon
        Per metre, > 0.

    Returns
    -------
    Mechanism
        f[place, release].

    Raises
    ------
    ParameterError
        Where epsilon is not above 0, or the places have no regions or lie in one spot.

    References
    ----------
    Shokri: Privacy games: Optimal user-centric data obfuscation. PoPETs 2015.

    Examples
    --------
    >>> from hideseek.metrics import distance
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.regions import Places
    >>> two = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> setting = Setting(two, privacy=distance(two.regions), quality=distance(two.regions))
    >>> with_distortion(setting, epsilon=2 * np.log(3) / setting.metres[0, 1]).table.round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    losses = [optimal_geo_indistinguishable(setting, epsilon=share * epsilon).quality_loss for share in (0.5, 1.0)]
    # next to no loss, rounding may exchange them
    return joint_optimum(setting, budget=max(losses), epsilon=epsilon).mechanism
