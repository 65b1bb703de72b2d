"""Who protects what, when: the offsets, in time steps from now, of everything that enters a game."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from hideseek.errors import broken_rule
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.checks import shaped, whole_number
from hideseek.util.choices import Protect
from hideseek.util.limits import refuse_if_too_large

Offsets = tuple[int, ...]

OFFSET = 200  # bytes for each, where many are made and checked


@checked
@dataclass(frozen=True)
class Scenario:
    """Offsets relative to now (0): past is negative, future positive.

    Parameters
    ----------
    target : tuple of int
        The true places to protect.
    seen : tuple of int
        The earlier releases that the adversary remembers.
    release : tuple of int
        What is released now.
    quality : tuple of int
        The true places that the service's quality depends on; by default those of ``release``.
    known : tuple of int
        The true places that the mechanism looks at; by default those of ``target``.
    causal : bool
        Whether a release may depend only on places known by its time, as when the route is not planned.
    every : int
        The steps from one access of the service to the next; by default as many as are released.

    Examples
    --------
    >>> Scenario(target=(-1, 0), seen=(-1,), release=(0,)).known
    (-1, 0)
    """

    target: Offsets
    _: KW_ONLY
    seen: Offsets = ()
    release: Offsets = (0,)
    quality: Offsets = ()
    known: Offsets = ()
    causal: bool = False
    every: int = 0

    def __post_init__(self) -> None:
        defaults = {"quality": self.release, "known": self.target}
        for name in ("target", "seen", "release", "quality", "known"):
            offsets = checked_offsets(getattr(self, name), name) or checked_offsets(defaults.get(name, ()), name)
            if not offsets and name != "seen":
                raise broken_rule(name, "Scenario", "at least one offset", "none")
            object.__setattr__(self, name, offsets)
        if max(self.seen, default=-1) >= 0:
            raise broken_rule("seen", "Scenario", "offsets < 0, before now", self.seen)
        if min(self.release) < 0:
            raise broken_rule("release", "Scenario", "offsets >= 0, now or later", self.release)
        least = self.release[-1] + 1
        object.__setattr__(self, "every", whole_number(self.every or least, "every", "Scenario", least))
        if any(offset % self.every not in self.release for offset in self.seen):
            rule = f"offsets of earlier releases, when {self.release} are released every {self.every} steps"
            raise broken_rule("seen", "Scenario", rule, self.seen)

    @classmethod
    def sporadic(cls) -> Scenario:
        """One place, released now; nothing was seen.

        >>> Scenario.sporadic().offsets
        (0,)
        """
        return cls(target=(0,))

    @classmethod
    def past_present(cls, memory: int, *, protect: Protect | str = Protect.PLACE) -> Scenario:
        """The last ``memory`` releases were seen; protect the current place ("place"), or all on the way here ("way").

        >>> Scenario.past_present(1, protect="way").target
        (-1, 0)
        """
        memory = whole_number(memory, "memory", "Scenario.past_present", least=0)
        refuse_if_too_large(OFFSET * memory, f"A memory of {memory} releases", parameter="memory")
        past = tuple(range(-memory, 0))
        if protect not in (Protect.PLACE, Protect.WAY):
            raise broken_rule("protect", "Scenario.past_present", "'place' or 'way'", repr(str(protect)))
        return cls(target=(0,) if protect == Protect.PLACE else (*past, 0), seen=past)

    @classmethod
    def present_future(cls, *, planned: bool = False) -> Scenario:
        """Release this place and the next, and protect both.

        ``planned``: the next place is known in advance, as in the paper. Otherwise the release of now may not depend on
        it, as on any device that cannot see the future.

        >>> Scenario.present_future(planned=True).release, Scenario.present_future().causal
        ((0, 1), True)
        """
        return cls(target=(0, 1), release=(0, 1), causal=not planned)

    @classmethod
    def read_later(cls, lag: int, *, memory: int = 1) -> Scenario:
        """The place of ``lag`` steps ago is guessed with the releases since; the mechanism remembers the places since.

        ``memory``: how many places the next one depends on.

        >>> scenario = Scenario.read_later(2)
        >>> scenario.target, scenario.known, scenario.quality
        ((-2,), (-2, -1, 0), (0,))
        """
        lag = whole_number(lag, "lag", "Scenario.read_later")
        back = max(lag, whole_number(memory, "memory", "Scenario.read_later") - 1)
        refuse_if_too_large(OFFSET * back, f"A memory of {back} places", parameter="lag")
        return cls(target=(-lag,), known=tuple(range(-back, 1)))

    @classmethod
    def in_between(cls, every: int) -> Scenario:
        """The service is accessed every so many steps; the places between two accesses are protected with them.

        The mechanism looks at the places of the accesses; those between them the adversary infers by the model.

        >>> scenario = Scenario.in_between(3)
        >>> scenario.target, scenario.seen, scenario.known
        ((-3, -2, -1, 0), (-3,), (-3, 0))
        """
        every = whole_number(every, "every", "Scenario.in_between")
        refuse_if_too_large(OFFSET * every, f"A target of {every} places between two accesses", parameter="every")
        return cls(target=tuple(range(-every, 1)), seen=(-every,), known=(-every, 0), every=every)

    @property
    def offsets(self) -> Offsets:
        """All times at which a true place matters, those of earlier releases included."""
        return tuple(sorted({*self.target, *self.seen, *self.quality, *self.known}))

    def causal_groups(self, inputs: IntArray) -> list[tuple[int, IntArray]]:
        """For every release before the last known place: its number, and which inputs look alike by then."""
        shaped(inputs, (None, len(self.known)), "inputs", "Scenario.causal_groups")
        known = np.array(self.known)
        groups = []
        for length, moment in enumerate(self.release, start=1):
            if known[-1] > moment:
                by_then = inputs[:, known <= moment]
                groups.append((length, np.unique(by_then, axis=0, return_inverse=True)[1].ravel()))
        return groups


def checked_offsets(value: Iterable[int], name: str) -> Offsets:
    """Strictly increasing whole numbers."""
    rule = "whole numbers in increasing order, none twice"
    try:
        offsets = tuple(value)
    except TypeError:
        raise broken_rule(name, "Scenario", rule, repr(value)) from None
    whole = all(isinstance(offset, int | np.integer) and not isinstance(offset, bool) for offset in offsets)
    if not whole or list(offsets) != sorted(set(offsets)):
        raise broken_rule(name, "Scenario", rule, offsets)
    return tuple(int(offset) for offset in offsets)


def since_start(scenario: Scenario, accesses: int) -> Scenario:
    """The scenario so many accesses after the first: what would lie before it does not exist."""

    def cut(offsets: Sequence[int]) -> tuple[int, ...]:
        return tuple(offset for offset in offsets if offset >= -accesses * scenario.every)

    return replace(
        scenario,
        target=cut(scenario.target) or (0,),
        seen=cut(scenario.seen),
        quality=cut(scenario.quality),
        known=cut(scenario.known),
    )
