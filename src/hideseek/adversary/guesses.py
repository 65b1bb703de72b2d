"""Guesses with the least expected error; of equally good ones, the likeliest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.model.belief import gather
from hideseek.model.belief_chain import BeliefChain
from hideseek.util.arrays import FloatArray, IntArray

TIE = 1e-6  # guesses whose errors differ by less, as a share of the largest error, are equally good


def best_of(d_p: FloatArray, belief: FloatArray, code: IntArray | slice = slice(None)) -> tuple[FloatArray, FloatArray]:
    """The least expected error about each belief [..., truth, belief]; and where a truth is as good a guess as any,
    its probability, else -1. ``d_p`` is [guess, truth], and truth k is guess number ``code[k]``.

    >>> best_of(1 - np.eye(2), np.array([[0.3], [0.7]]))
    (array([0.3]), array([[-1. ],
           [ 0.7]]))
    """
    errors = d_p @ belief  # of all guesses, as ties need them: least_errors gives only the best one
    least = errors.min(axis=-2, keepdims=True)
    good = errors[..., code, :] <= least + TIE * d_p.max() * belief.sum(axis=-2, keepdims=True)
    return least[..., 0, :], np.where(good, belief, -1.0)


def likeliest_guesses(d_p: FloatArray, belief: FloatArray) -> IntArray:
    """The guess of a place with the least expected error for each belief [..., place, belief]."""
    return np.asarray(best_of(d_p, belief)[1].argmax(axis=-2))


def over_places(chain: BeliefChain, protected: int = -1) -> tuple[sparse.csr_array, FloatArray]:
    """What adds up a belief to one over current places, [place, state]; the error of a guess, [guess, place].

    ``protected`` is the column of the states that the errors are about.
    """
    places = chain.cost.shape[1]
    metric = np.zeros((len(chain.error), places))
    metric[:, chain.states[:, protected]] = chain.error  # where nobody ever is, no error counts
    return gather(chain.states[:, -1], places), metric


@dataclass(frozen=True, eq=False)
class Aim:
    """What is guessed about a state: ``gather`` [truth, state], ``index`` of the truth by state, its ``code``, d_p."""

    gather: sparse.csr_array
    index: IntArray
    code: IntArray
    d_p: FloatArray

    def guessed(self, belief: FloatArray) -> FloatArray:
        """Expected error and hit rate of the best guess for each belief [truth, belief]."""
        error, good = best_of(self.d_p, belief, self.code)
        return np.array([error, np.maximum(good.max(axis=0), 0.0)])

    def chosen(self, belief: FloatArray) -> IntArray:
        """The number of the best guess for each belief [truth, belief]."""
        good = best_of(self.d_p, belief, self.code)[1]
        own = self.code[good.argmax(axis=0)]
        return np.asarray(np.where(good.max(axis=0) >= 0, own, (self.d_p @ belief).argmin(axis=0)))

    def scored(self, belief: FloatArray, guess: IntArray) -> FloatArray:
        """Expected error and hit rate when the guess of this number is made for each belief [truth, belief]."""
        hit = np.where(self.code[:, None] == guess, belief, 0.0)
        return np.array([(self.d_p[guess].T * belief).sum(axis=0), hit.sum(axis=0)])
