"""The cheapest mechanisms that keep geo-indistinguishability, and the rows that ask any mechanism to keep it.

A mechanism is epsilon-geo-indistinguishable when no release tells two places apart by more than their distance allows:

    f(o|i) <= exp(epsilon d(i, i')) f(o|i')     for all places i, i' and releases o

(Andrés et al. 2013). Where a path leads from i to i', the rows along it imply the row of its length; so rows for the
edges of a spanner whose paths are at most D times as long as the distances, at epsilon / D, imply all (Bordenabe et al.
2014), with far fewer of them.

The most private mechanism under these rows and a budget (Shokri 2014) is the game itself with these rows, solved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from hideseek.arrays import FloatArray, IntArray, nonnegative, scalar
from hideseek.baselines.rival import Setting
from hideseek.boundary import checked
from hideseek.errors import broken_rule
from hideseek.game import Game, Rows
from hideseek.mechanism import Mechanism
from hideseek.solve import LeastLoss, Solution, least_loss, solve


@checked
def spanner(distance: npt.ArrayLike, dilation: float) -> IntArray:
    """Pairs of places [edge, 2] that connect all places by paths at most ``dilation`` times as long as the distances.

    Greedy: from the nearest pair to the furthest, a pair becomes an edge unless the edges so far already have such a
    path for it. A dilation of 1 leaves out just those pairs that others explain exactly.

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
def geo_indistinguishable_rows(distance: npt.ArrayLike, epsilon: float, releases: int, dilation: float = 1.0) -> Rows:
    """The rows under which every mechanism is ``epsilon``-geo-indistinguishable, for all pairs of places.

    They stand for the edges of a :func:`spanner`, at epsilon over the dilation that it really has. With a dilation of 1
    they mean the same as the rows of all pairs; a little more leaves few rows, a little stricter than asked.

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
    edges = spanner(apart, dilation)
    likelier, other = np.vstack([edges, edges[:, ::-1]]).T
    row = np.arange(len(likelier))
    length = apart[likelier, other]
    path = csgraph.shortest_path(sparse.csr_array((length, (likelier, other)), shape=apart.shape))
    stretch = float(np.max(path / np.where(apart > 0, apart, 1.0), initial=1.0))
    # divided by exp(epsilon d), which may be more than a float can hold
    value = np.r_[np.exp(-epsilon / stretch * length), np.full(len(row), -1.0)]
    place = (np.r_[row, row], np.r_[likelier, other])
    return Rows.for_each_release(sparse.csr_array((value, place), shape=(len(row), len(apart))), releases)


@checked
def optimal_geo_indistinguishable(setting: Setting, epsilon: float, dilation: float = 1.1) -> LeastLoss:
    """The ``epsilon``-geo-indistinguishable mechanism of least expected quality loss; epsilon is per metre.

    With a dilation of 1 it is the cheapest of all. A larger one solves faster and loses a little more; the certified
    ``bound`` is then that of the stricter mechanisms which keep the spanner's rows.

    >>> from hideseek import MarkovProfile, Places, distance, hamming
    >>> two = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> setting = Setting(two, privacy=hamming(), quality=distance(two.regions))
    >>> best = optimal_geo_indistinguishable(setting, np.log(3) / setting.metres[0, 1], dilation=1)
    >>> best.mechanism.table.round(6).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    return least_loss(with_rows(setting, epsilon, dilation))


@checked
def joint_optimum(setting: Setting, epsilon: float, budget: float, dilation: float = 1.1) -> Solution:
    """The most private of the ``epsilon``-geo-indistinguishable mechanisms within a budget (Shokri 2014).

    Whoever guesses errs as much as any such mechanism can make him, and two places are told apart no more than epsilon
    allows even by somebody with another prior.

    >>> from hideseek import MarkovProfile, Places, distance
    >>> two = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([0.0, 0.0], [0.0, 0.01]))
    >>> setting = Setting(two, privacy=distance(two.regions), quality=distance(two.regions))
    >>> best = joint_optimum(setting, np.log(3) / setting.metres[0, 1], budget=0.3 * setting.metres[0, 1])
    >>> f"{best.privacy / setting.metres[0, 1]:.6f}"
    '0.300000'
    """
    return solve(with_rows(setting, epsilon, dilation).with_budget(budget))


def with_rows(setting: Setting, epsilon: float, dilation: float) -> Game:
    """The sporadic game of a setting, among geo-indistinguishable mechanisms alone."""
    game = setting.game
    places = game.inputs[:, 0]
    rows = geo_indistinguishable_rows(setting.metres[np.ix_(places, places)], epsilon, len(game.releases), dilation)
    return replace(game, rows=rows)


@checked
def with_distortion(setting: Setting, epsilon: float) -> Mechanism:
    """The joint optimum at an epsilon, for what the cheapest mechanism loses at half of it.

    For what the cheapest loses at the same epsilon there would be little to choose.
    """
    losses = [optimal_geo_indistinguishable(setting, share * epsilon).quality_loss for share in (0.5, 1.0)]
    return joint_optimum(setting, epsilon, max(losses)).mechanism  # next to no loss, rounding may turn them round
