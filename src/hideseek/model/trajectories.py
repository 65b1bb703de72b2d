"""Distributions over trajectories: the sequences of places that can occur, and their probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt

from hideseek.errors import broken_rule
from hideseek.model.markov import MarkovProfile, possible_ways
from hideseek.model.profile import Profile
from hideseek.util.arrays import FloatArray, IntArray, pairs_with_equal, summed
from hideseek.util.boundary import checked
from hideseek.util.checks import nonnegative
from hideseek.util.limits import refuse_if_too_large, refuse_if_too_long

MOVE = 1e-4  # seconds for one step over two places; more places take longer


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Trajectories:
    """A distribution over true places at some offsets.

    Attributes
    ----------
    offsets : tuple of int
        The steps before (negative) and after now that it covers.
    sequences : (sequences, offsets) int array
        The sequences of places that can occur.
    probability : (sequences,) float array
        Their probabilities.
    """

    offsets: tuple[int, ...]
    sequences: IntArray
    _: KW_ONLY
    probability: FloatArray

    def __repr__(self) -> str:
        return f"Trajectories({len(self.sequences)} sequences at the offsets {self.offsets})"

    def at(self, offsets: Sequence[int]) -> IntArray:
        """The places at these offsets, [sequence, offset].

        >>> Trajectories((-1, 0), np.array([[0, 1], [1, 1]]), probability=np.array([0.5, 0.5])).at((0,)).tolist()
        [[1], [1]]
        """
        missing = sorted(set(offsets) - set(self.offsets))
        if missing:
            raise broken_rule("trajectories", "Trajectories.at", f"one that covers the offsets {missing}", self.offsets)
        return self.sequences[:, [self.offsets.index(offset) for offset in offsets]]

    def given(self, exposed: Mapping[int, int], table: npt.ArrayLike) -> Trajectories:
        """The distribution after releases were seen: Bayes' rule, when each was drawn from the table f[place, release].

        >>> distribution = Trajectories((0,), np.array([[0], [1]]), probability=np.array([0.5, 0.5]))
        >>> distribution.given({0: 1}, [[0.9, 0.1], [0.6, 0.4]]).probability
        array([0.2, 0.8])
        """
        owner = "Trajectories.given"
        mechanism = nonnegative(table, "table", owner, 2)
        if self.sequences.max(initial=0) >= len(mechanism):
            raise broken_rule("table", owner, f"a row for place {self.sequences.max()}", f"{len(mechanism)} rows")
        if not all(0 <= release < mechanism.shape[1] for release in exposed.values()):
            raise broken_rule("exposed", owner, f"releases from 0 to {mechanism.shape[1] - 1}", dict(exposed))
        weight = self.probability.copy()
        for offset, release in exposed.items():
            weight *= mechanism[self.at((offset,))[:, 0], release]
        if not weight.sum() > 0:
            raise broken_rule("exposed", owner, "releases that the table can produce", dict(exposed))
        kept = weight > 0
        return Trajectories(self.offsets, self.sequences[kept], probability=weight[kept] / weight.sum())


@checked
def possible_trajectories(profile: Profile, offsets: Iterable[int]) -> Trajectories:
    """The distribution of a person's places at some offsets; only sequences that can occur are ever built.

    Parameters
    ----------
    profile : Profile
        How the person moves.
    offsets : iterable of int
        The steps before (negative) and after now, at least one.

    Returns
    -------
    Trajectories
        The sequences with positive probability.

    Raises
    ------
    SizeError
        Where there are more sequences than fit in memory, or the offsets are too far apart.

    Examples
    --------
    >>> from hideseek.model.markov import MarkovProfile
    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]])
    >>> possible_trajectories(chain, (0, 1)).sequences.tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    wanted = tuple(sorted(set(offsets)))
    if not wanted:
        raise broken_rule("offsets", "possible_trajectories", "at least one", "none")
    if isinstance(profile, MarkovProfile):
        length = longest_run(wanted)
        ways = possible_ways(profile, length)
        what = f"A distribution over {ways:.10g} trajectories up to offset {wanted[-1]}"
        refuse_if_too_large(8 * ways * length, what, parameter="offsets")
    _, sequences, probability = continued(profile, np.zeros((1, 0), np.int64), wanted[0] - 1, wanted)
    return Trajectories(wanted, sequences, probability=probability)


def continued(
    profile: Profile, windows: IntArray, last: int, wanted: Sequence[int]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Where windows [window, place] lead that end at the offset ``last``.

    Gives which window, the places at the wanted offsets (in order; those in the window may be among them), and the
    probability of these given the window. An empty window is the beginning of time.
    """
    refuse_many_moves(wanted[-1] - last)
    kept = list(range(last - windows.shape[1] + 1, last + 1))
    origin, sequences, probability = np.arange(len(windows)), windows, np.ones(len(windows))
    for offset in range(last + 1, wanted[-1] + 1):
        width = min(sequences.shape[1], profile.memory)
        pasts, index = np.unique(sequences[:, sequences.shape[1] - width :], axis=0, return_inverse=True)
        distribution = profile.following(pasts, offset)
        count = int(np.count_nonzero(distribution, axis=1)[index.ravel()].sum())
        what = f"A distribution over {count} trajectories up to offset {offset}"
        refuse_if_too_large(count * 8 * (len(kept) + 9), what, parameter="offsets")
        past, place = np.nonzero(distribution)
        row, move = pairs_with_equal(index.ravel(), past, len(pasts))
        origin, sequences = origin[row], np.c_[sequences[row], place[move]]
        probability = probability[row] * distribution[past, place][move]
        kept.append(offset)
        # places that are neither wanted nor remembered are summed out as soon as they can be
        needed = [k for k, at in enumerate(kept) if at in wanted or k >= len(kept) - profile.memory]
        if len(needed) < len(kept):
            kept = [kept[k] for k in needed]
            both, probability = merged(np.c_[origin, sequences[:, needed]], probability)
            origin, sequences = both[:, 0], both[:, 1:]
    both, probability = merged(np.c_[origin, sequences[:, [kept.index(offset) for offset in wanted]]], probability)
    return both[:, 0], both[:, 1:], probability


def longest_run(offsets: Iterable[int]) -> int:
    """How many of the offsets follow each other without a gap.

    >>> longest_run({-3, -1, 0, 1})
    3
    """
    return max(Counter(offset - number for number, offset in enumerate(sorted(offsets))).values())


def refuse_many_moves(
    steps: int,
    hint: str = "Use offsets that are closer, or accesses that are less rare.",
    *,
    parameter: str = "offsets",
) -> None:
    """Refuse to follow a profile for so many steps, one by one."""
    refuse_if_too_long(MOVE * steps, f"Following a profile for {steps} steps", hint, parameter=parameter)


def merged(sequences: IntArray, probability: FloatArray) -> tuple[IntArray, FloatArray]:
    """Add up the probabilities of equal sequences."""
    unique, index = np.unique(sequences, axis=0, return_inverse=True)
    return unique, summed(index, probability, len(unique))
