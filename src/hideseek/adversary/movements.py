"""How true places move: hidden states step by step, each with the places that anything still to come depends on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import Profile
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.limits import refuse_if_too_large


@dataclass(frozen=True, eq=False)
class Movement:
    """One step of the true places, from the states before it to ``states``: places at the offsets ``kept`` from it.

    ``following`` [before, place] is the probability of the place that is moved to, ``leads`` [before, place] the state
    that this gives, and ``matrix`` [state, before] the probability of that.
    """

    kept: tuple[int, ...]
    states: IntArray
    following: FloatArray
    leads: IntArray
    matrix: sparse.csr_array


def moved(profile: Profile, states: IntArray, before: Sequence[int], kept: tuple[int, ...], step: int) -> Movement:
    """The move to a step from states that hold the places at the offsets ``before`` from it."""
    pasts, index = np.unique(states[:, max(0, states.shape[1] - profile.memory) :], axis=0, return_inverse=True)
    following = np.asarray(profile.following(pasts, step))[index.ravel()]
    origin, place = np.nonzero(following)
    needed = 8 * (4 * following.size + len(origin) * (len(kept) + 6))
    refuse_if_too_large(needed, f"The moves of a hidden state of {len(kept)} places", parameter="scenario")
    columns = [(*before, 0).index(offset) for offset in kept]
    after, which = np.unique(np.c_[states[origin], place][:, columns], axis=0, return_inverse=True)
    leads = np.zeros(following.shape, np.int64)
    leads[origin, place] = which.ravel()
    shape = (len(after), len(states))
    matrix = sparse.csr_array((following[origin, place], (which.ravel(), origin)), shape=shape)
    return Movement(kept, after, following, leads, matrix)


def movements(profile: Profile, needed: Sequence[set[int]]) -> Iterator[Movement]:
    """The moves to one step after another, where ``needed[step]`` are the times whose places are asked for there.

    A state keeps what any later step needs. Moves of an unchanging chain that are the same are made once.
    """
    wanted = [set(times) for times in needed]
    for step in reversed(range(len(wanted) - 1)):
        wanted[step] |= {time for time in wanted[step + 1] if time <= step}
    made: dict[tuple[tuple[int, ...], tuple[int, ...], bytes], Movement] = {}
    states = np.zeros((1, 0), np.int64)
    kept: tuple[int, ...] = ()
    for step, times in enumerate(wanted):
        before = tuple(offset - 1 for offset in kept)
        recent = range(max(0, step - profile.memory + 1), step)
        kept = tuple(sorted(time - step for time in times | set(recent)))
        key = before, kept, states.tobytes()
        if key not in made or not isinstance(profile, MarkovProfile):
            made[key] = moved(profile, states, before, kept, step)
        states = made[key].states
        yield made[key]
