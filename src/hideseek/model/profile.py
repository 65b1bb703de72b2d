"""What a profile is: a model of how a person moves, which gives the probability of any sequence of places.

Anything with ``places``, ``memory`` and ``following`` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from hideseek.errors import broken_rule
from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import numbered, whole_number
from hideseek.util.display import html_table
from hideseek.util.limits import refuse_if_too_large
from hideseek.util.on_map import OnMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEP = "5min"  # the paper's: 288 steps per day


@runtime_checkable
class Profile(Protocol):
    """Any model that gives the probabilities of sequences of places."""

    @property
    def places(self) -> int:
        """How many places there are."""
        ...

    @property
    def memory(self) -> int:
        """How many of the last places the next one depends on."""
        ...

    def following(self, past: IntArray, time: int) -> FloatArray:
        """The distribution of the place at ``time`` after each of these pasts, [past, place].

        Times count steps: now is 0, what came before is negative. A past holds the last places, the oldest first, at
        most ``memory`` of them; for the first place it is empty.
        """
        ...


class DrawnProfile(Protocol):
    """What a drawing of a profile needs."""

    @property
    def stationary(self) -> FloatArray:
        """The distribution of the place in the long run, [place]."""
        ...

    @property
    def regions(self) -> Regions | None:
        """The places themselves, where they are known."""
        ...


@checked
def sequence_probability(profile: Profile, sequence: Sequence[int]) -> float:
    """The probability that a person goes through these places, one per step.

    >>> from hideseek.model.markov import MarkovProfile
    >>> sequence_probability(MarkovProfile.from_matrix([[0.5, 0.5], [1.0, 0.0]]), (0, 1, 0)).round(6)
    np.float64(0.333333)
    """
    path = np.array(sequence, dtype=np.int64)
    result = np.float64(1.0)
    for time, place in enumerate(path):
        if not 0 <= place < profile.places:
            raise broken_rule("sequence", "sequence_probability", f"places from 0 to {profile.places - 1}", place)
        if result > 0:
            past = path[max(0, time - profile.memory) : time]
            result *= profile.following(past[None, :], time)[0, place]
    return result


@checked
def sample_places(profile: Profile, steps: int, *, count: int = 1, seed: int = 0) -> IntArray:
    """Draw ``count`` walks of ``steps`` places, [walk, time]. For simulation only: the generator is not a secure one.

    >>> from hideseek.model.markov import MarkovProfile
    >>> sample_places(MarkovProfile.from_matrix([[0.0, 1.0], [1.0, 0.0]]), steps=4, seed=1).tolist()
    [[1, 0, 1, 0]]
    """
    whole_number(steps, "steps", "sample")
    whole_number(count, "count", "sample")
    whole_number(seed, "seed", "sample", least=0)
    what = f"{count} walks of {steps} steps over {profile.places} places"
    way_out = "Draw fewer or shorter ones at a time."
    refuse_if_too_large(8 * count * (steps + 3 * profile.places), what, way_out, parameter="steps, count")
    generator = np.random.default_rng(seed)
    walks = np.zeros((count, steps), np.int64)
    for time in range(steps):
        distribution = profile.following(walks[:, max(0, time - profile.memory) : time], time)
        walks[:, time] = drawn(distribution, generator)
    return walks


def drawn(distributions: FloatArray, generator: np.random.Generator) -> IntArray:
    """One draw from each distribution [..., value]. For simulation only: the generator is not a secure one.

    >>> drawn(np.array([[0.0, 1.0], [1.0, 0.0]]), np.random.default_rng(0))
    array([1, 0])
    """
    edges = np.cumsum(distributions, axis=-1)
    threshold = generator.random((*distributions.shape[:-1], 1)) * edges[..., -1:]
    return np.asarray((edges <= threshold).sum(axis=-1))


@checked
class LearnedProfile(OnMap):
    """What the profiles that are learned offer beside the protocol."""

    @property
    def facts(self) -> dict[str, object]:
        """What a notebook shows."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self.facts)

    def plot(self: DrawnProfile, ax: Axes | None = None) -> Axes:
        """Draw where the person is in the long run: a map, or bars where the profile knows no regions.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            What was drawn on.
        """
        from hideseek.plots.profiles import draw_profile  # matplotlib loads only when something is drawn

        return draw_profile(self.stationary, self.regions, ax)

    def sample(self: Profile, steps: int, *, count: int = 1, seed: int = 0) -> IntArray:
        """Draw walks from the profile: see :func:`sample_places`."""
        return sample_places(self, steps, count=count, seed=seed)

    def probability(self: Profile, sequence: Sequence[int]) -> float:
        """The probability of a sequence: see :func:`sequence_probability`."""
        return sequence_probability(self, sequence)


def check_past(profile: Profile, past: IntArray) -> None:
    """Refuse pasts that are longer than the profile looks back, or hold what is no place."""
    owner = f"{type(profile).__name__}.following"
    if past.ndim != 2 or past.shape[1] > profile.memory:
        rule = f"an array [past, place] with at most {profile.memory} places per past"
        raise broken_rule("past", owner, rule, f"the shape {past.shape}")
    numbered(past, profile.places, "past", owner)


def regions_of(profile: Profile) -> Regions:
    """The profile's places on the map."""
    regions: Regions | None = getattr(profile, "regions", None)
    if regions is None:
        hint = "Give from_matrix its regions, or fit the profile to traces."
        raise broken_rule("regions", "the profile", "known here", None, hint)
    return regions
