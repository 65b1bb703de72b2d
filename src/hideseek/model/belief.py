"""Beliefs about hidden states: Bayes' rule, the joint distribution with what is released or forgotten, and smoothing.

An adversary, a planner and a policy that adapts all follow a hidden chain by these steps. States come first in every
array, so that one call serves one belief [state] or many [state, sequence].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

import numpy as np
from scipy import sparse

from hideseek.util.arrays import BoolArray, FloatArray, IntArray
from hideseek.util.sparse import Matrix


def with_release(joint: FloatArray, tables: FloatArray) -> FloatArray:
    """Pr(state, history, release) = Pr(state, history) Pr(release | state, history).

    ``joint`` is [state, history] and ``tables`` [state, history, release], or both with histories first. What cannot
    happen stays 0, also where no table says what would be released (nan).

    >>> with_release(np.array([[0.5], [0.5]]), np.array([[[0.9, 0.1]], [[0.6, 0.4]]])).sum(axis=(0, 1))
    array([0.75, 0.25])
    """
    return np.where(joint[:, :, None] > 0, joint[:, :, None] * tables, 0.0)


def merged_release(joint: FloatArray, tables: FloatArray, alike: Sequence[slice]) -> FloatArray:
    """Pr(state, group, release): as :func:`with_release`, summed over the histories of each group.

    ``alike`` are the groups: histories that will be the same once what tells them apart is forgotten. The sum over
    histories is a matrix product, so that [state, history, release] is never built.

    >>> one = merged_release(np.array([[0.5, 0.5]]), np.array([[[0.9, 0.1], [0.7, 0.3]]]), [slice(0, 2)])
    >>> one.round(9).tolist()
    [[[0.8, 0.2]]]
    """
    before = joint[:, None, :]
    return np.concatenate([before[:, :, own] @ tables[:, own] for own in alike], axis=1)


def forgetting(joint: FloatArray, alike: sparse.csr_array) -> FloatArray:
    """Pr(state, history) when histories have become alike: ``alike`` is :func:`gather`, [history after, before].

    >>> forgetting(np.array([[0.5, 0.2, 0.3]]), gather(np.array([0, 1, 0]), 2)).tolist()
    [[0.8, 0.2]]
    """
    return np.asarray((alike @ joint.T).T)


def gather(index: IntArray, count: int) -> sparse.csr_array:
    """The matrix that adds up what has the same index, [index, entry]."""
    return sparse.csr_array((np.ones(index.size), (index.ravel(), np.arange(index.size))), shape=(count, index.size))


def updated(belief: FloatArray, likelihood: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bayes' rule: the belief after something was released, and the probability of that.

    ``likelihood`` is the probability of what was released in each state; the two shapes broadcast. What cannot be
    released leaves a belief of zeros.

    >>> updated(np.array([0.5, 0.5]), np.array([0.1, 0.4]))
    (array([0.2, 0.8]), np.float64(0.25))
    """
    weight = belief * likelihood
    total = weight.sum(axis=0)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0), total


def smoothed(
    filtered: Iterable[FloatArray],
    moves: Iterable[Matrix],
    readings: Iterable[FloatArray | None],
    forgotten: Iterable[BoolArray | None] = repeat(None),
) -> Iterator[FloatArray]:
    """The beliefs given everything that was released, from the last step back to the first (forward-backward).

    All three come from the last step back: the belief given what was released up to the step, the probabilities
    [state, state before] of the move to it, and the likelihood of what was released at it (None: nothing was). Where a
    sequence is ``forgotten`` at a step, what is released from there on says nothing about the steps before.

    >>> stays = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> list(smoothed([np.array([0.9, 0.1]), np.array([0.5, 0.5])], [stays, stays], [np.array([0.9, 0.1]), None]))
    [array([0.9, 0.1]), array([0.82, 0.18])]
    """
    later: FloatArray = np.ones(())
    steps = zip(filtered, moves, readings, strict=True)
    for (belief, move, reading), apart in zip(steps, forgotten, strict=False):
        weight = belief * later
        yield weight / weight.sum(axis=0)
        later = np.broadcast_to(later, belief.shape)
        later = move.T @ (later if reading is None else later * reading)
        if apart is not None:
            later[:, apart] = 1.0
        later = later / later.max(axis=0)
