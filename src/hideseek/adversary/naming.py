"""How often an adversary's best guess names a place: when the person is there, and when the person is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hideseek.adversary.filtering import Forward
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.sequences import enumerable, over_sequences
from hideseek.errors import broken_rule
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.estimates import Estimate


@dataclass(frozen=True)
class Naming:
    """How often the best guess of an adversary who remembers every release names a place.

    ``there`` is the probability of that at accesses at which the person is at the ``place``, ``elsewhere`` at all
    others, and ``share`` the share of the accesses at which the person is there.
    """

    place: int
    share: float
    there: Estimate
    elsewhere: Estimate


def namings(run: Run, *, walks: int, seed: int = 0) -> tuple[Naming, ...]:
    """How often the filter names each place in a run of a mechanism, a policy or a codebook that protects a place.

    >>> from hideseek import MarkovProfile, Mechanism
    >>> coin = Mechanism([[0.8, 0.2], [0.2, 0.8]])
    >>> moves = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    >>> [first, _] = namings(Run(coin, moves, privacy="hamming", accesses=3), walks=10)
    >>> round(first.there, 9), round(first.elsewhere, 9)
    (0.8, 0.2)
    """
    if any(kind.scenario.target != (0,) for kind in run.kinds):
        raise broken_rule("exposer", "namings", "one that protects the current place", "one that protects others")

    def counted(read: Forward) -> FloatArray:
        found = np.zeros((3, run.profile.places, len(read.exposed)))
        for access, filtered in enumerate(read.filtered):
            aim, believed = run.target(access), run.about(access, filtered)
            belief = np.zeros(found.shape[1:])
            belief[aim.code] = believed
            found += named(aim.chosen(believed), belief)
        return found / run.accesses

    counts, weights = over_sequences(run, counted, walks, seed)
    return namings_of(counts, weights if enumerable(run) else None)


def named(guess: IntArray, weight: FloatArray) -> FloatArray:
    """Where the guess of each column names a place: [named there, named elsewhere, there] of every place and column.

    ``weight`` is how likely each place is, [place, column].

    >>> named(np.array([0, 0]), np.array([[0.3, 0.1], [0.4, 0.2]])).round(9).tolist()
    [[[0.3, 0.1], [0.0, 0.0]], [[0.4, 0.2], [0.0, 0.0]], [[0.3, 0.1], [0.4, 0.2]]]
    """
    chosen = np.arange(len(weight))[:, None] == guess
    there = np.where(chosen, weight, 0.0)
    return np.array([there, np.where(chosen, weight.sum(axis=0), 0.0) - there, weight])


def namings_of(counts: FloatArray, weights: FloatArray | None) -> tuple[Naming, ...]:
    """The rates from what :func:`named` counts on each walk, [3, place, walk]; exact where the walks have weights."""
    found = []
    for place, (there, elsewhere, present) in enumerate(counts.transpose(1, 0, 2)):
        rates = share_of(there, present, weights), share_of(elsewhere, 1 - present, weights)
        found.append(Naming(place, float(np.average(present, weights=weights)), *rates))
    return tuple(found)


def share_of(part: FloatArray, whole: FloatArray, weights: FloatArray | None) -> Estimate:
    """The mean of the part over that of the whole, from both on each walk; 0 where there is no whole.

    The interval is that of part - share * whole, which has the mean 0 but for rounding.
    """
    size = float(np.average(whole, weights=weights))
    if not size > 0:
        return Estimate(0.0)
    share = min(float(np.average(part, weights=weights)) / size, 1.0)
    if weights is not None:
        return Estimate(share)
    low, high = Estimate.mean_of(part - share * whole).interval
    off = (high - low) / 2 / size
    return Estimate(share, (max(share - off, 0.0), min(share + off, 1.0)))
