"""A run of accesses as a hidden Markov chain: how the true places move, and what is exposed and guessed on the way.

True places are hidden states that move step by step. A state holds the places that anything still to come depends on,
so that the distribution of the states given what was exposed, the belief, is all that an adversary who remembers every
release can know. Beliefs are filtered and smoothed in :mod:`hideseek.adversary.filtering`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hideseek.adversary.exposers import Exposer, Kind, kinds_of
from hideseek.adversary.guesses import Aim
from hideseek.adversary.movements import Movement, movements
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.stage import NOTHING, distinct
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.belief import gather
from hideseek.model.profile import Profile
from hideseek.util.arrays import FloatArray, IntArray, encoded, product
from hideseek.util.checks import whole_number
from hideseek.util.limits import refuse_if_too_large

ACCESSES = 200  # of a run
AT_ONCE = 500  # walks in one pass: more would gain nothing
STEP_SIZE = 1024  # bytes for each step of a run, whatever the places


class Run:
    """A run of accesses: the moves of the true places, what is exposed on the way, and what is to be guessed.

    The releases of the access at step t are read at step t + ``ahead``, when all that they look at has happened, and
    its targets have all happened at step t + ``reach``.
    """

    def __init__(
        self,
        exposer: Exposer,
        profile: Profile,
        *,
        privacy: MetricLike | None = None,
        accesses: int = ACCESSES,
        owner: str = "attack",
    ) -> None:
        metric = checked_privacy(exposer, profile, privacy, owner)
        places = profile.places
        self.exposer, self.profile, self.privacy = exposer, profile, as_metric(metric, "privacy", profile, owner)
        self.accesses = whole_number(accesses, "accesses", owner)
        self.kinds = kinds_of(exposer)
        if isinstance(exposer, Policy):
            self.symbols = exposer.symbols
        else:
            self.symbols = int(self.kinds[0].tables[0].matrix.shape[1])
        self.every, self.release = self.kinds[0].scenario.every, self.kinds[0].scenario.release
        scenarios = [kind.scenario for kind in self.kinds]
        self.ahead = max(0, *(own.known[-1] for own in scenarios))
        self.reach = max(self.ahead, *(max(*own.target, *own.quality, *own.release) for own in scenarios))
        steps = self.accesses * self.every
        what = f"A run of {self.accesses} accesses over {places} places"
        refuse_if_too_large(steps * (STEP_SIZE + 48 * places), what, "Look at a shorter run.", parameter="accesses")
        self._aims: dict[tuple[int, tuple[int, ...]], Aim] = {}
        self._likely: tuple[tuple[int, int, bytes, bytes], FloatArray] | None = None

    def kind(self, access: int) -> Kind:
        """What happens at an access."""
        return self.kinds[min(access, len(self.kinds) - 1)]

    def times(self, access: int, offsets: Sequence[int]) -> tuple[int, ...]:
        """The steps at these offsets from an access."""
        return tuple(access * self.every + offset for offset in offsets)

    def read_at(self, step: int) -> int | None:
        """The access whose releases are read at a step, if there is one; the last may be the access after the run."""
        access, off = divmod(step - self.ahead, self.every)
        return access if not off and 0 <= access <= self.accesses else None

    @property
    def between(self) -> list[int]:
        """The steps between the accesses, at which nothing is exposed."""
        last = (self.accesses - 1) * self.every
        return [step for step in range(last) if step % self.every not in self.release]

    @property
    def end(self) -> int:
        """The step of the last target, that of the access after the run."""
        return self.accesses * self.every + self.reach

    @property
    def last(self) -> int:
        """The step of the last target within the run."""
        return (self.accesses - 1) * self.every + self.reach

    @cached_property
    def moves(self) -> list[Movement]:
        """The moves to all steps up to the end."""
        needed: list[set[int]] = [{step} for step in range(self.end + 1)]
        for access in range(self.accesses + 1):
            scenario = self.kind(access).scenario
            needed[access * self.every + self.ahead].update(self.times(access, scenario.known))
            needed[access * self.every + self.reach].update(self.times(access, (*scenario.target, *scenario.quality)))
        return list(movements(self.profile, needed))

    def push(self, belief: FloatArray, start: int, stop: int) -> FloatArray:
        """The belief at a later step, when nothing more is read."""
        for move in self.moves[start + 1 : stop + 1]:
            belief = move.matrix @ belief
        return belief

    @cached_property
    def prior(self) -> list[FloatArray]:
        """The distribution of the states at every step when nothing is exposed, [state, 1]."""
        found = [self.moves[0].matrix @ np.ones((1, 1))]
        for move in self.moves[1:]:
            found.append(move.matrix @ found[-1])
        return found

    def places_at(self, step: int, times: Sequence[int]) -> IntArray:
        """The places at these times in each state of a step, [state, time]."""
        move = self.moves[step]
        return move.states[:, [move.kept.index(time - step) for time in times]]

    def aim(self, step: int, times: Sequence[int]) -> Aim:
        """The guess of the places at these times, from the states of a step."""
        key = id(self.moves[step]), tuple(time - step for time in times)
        if key not in self._aims:
            places = self.profile.places
            truths, index = distinct(self.places_at(step, times), places)
            needed = 8 * places ** len(times) * (len(truths) + len(times) + AT_ONCE)
            refuse_if_too_large(needed, "What is to be guessed", parameter="scenario")
            d_p = self.privacy.between(product(places, len(times)), truths, NOTHING)
            self._aims[key] = Aim(gather(index, len(truths)), index, encoded(truths, places), d_p)
        return self._aims[key]

    def target(self, access: int) -> Aim:
        """The guess of the target of an access, from the states at which all of it has happened."""
        times = self.times(access, self.kind(access).scenario.target)
        return self.aim(access * self.every + self.reach, times)

    def about(self, access: int, belief: FloatArray) -> FloatArray:
        """The belief about an access's target, from that about the states in which its releases are read."""
        start = access * self.every + self.ahead
        return np.asarray(self.target(access).gather @ self.push(belief, start, start + self.reach - self.ahead))

    @cached_property
    def prior_risks(self) -> FloatArray:
        """The adversary's expected error about each access's target when nothing is exposed."""
        read = [self.prior[access * self.every + self.ahead] for access in range(self.accesses)]
        return np.array([self.target(n).guessed(self.about(n, belief))[0, 0] for n, belief in enumerate(read)])

    def known(self, access: int) -> IntArray:
        """What an access's mechanism may look at, in each state in which its releases are read."""
        return self.places_at(access * self.every + self.ahead, self.times(access, self.kind(access).scenario.known))

    def likelihood(self, access: int, seen: IntArray, drawn: IntArray) -> FloatArray:
        """How likely these releases of an access are, [state, (seen, drawn)]; the last answer is remembered."""
        kind, move = self.kind(access), self.moves[access * self.every + self.ahead]
        key = id(kind), id(move), seen.tobytes(), drawn.tobytes()
        if self._likely is None or self._likely[0] != key:
            self._likely = key, kind.likelihood(seen, drawn, self.known(access))
        return self._likely[1]


def checked_privacy(exposer: Exposer, profile: Profile, privacy: MetricLike | None, owner: str) -> MetricLike:
    """The metric of the adversary's error, by default the codebook's; refuse what does not go together."""
    if not isinstance(profile, Profile):
        raise broken_rule("profile", owner, "a Profile", type(profile).__name__)
    places = profile.places
    if not isinstance(exposer, Exposer):
        raise broken_rule("exposer", owner, "a Mechanism, a Policy or a Codebook", type(exposer).__name__)
    if isinstance(exposer, Codebook):
        if exposer.places != places:
            rule = f"one over the {exposer.places} places of the codebook"
            raise broken_rule("profile", owner, rule, f"{places} places")
        return exposer.privacy if privacy is None else privacy
    if privacy is None:
        raise broken_rule("privacy", owner, "the metric, as a mechanism has none of its own", None)
    if isinstance(exposer, Mechanism) and len(exposer.table) != places:
        rule = f"a table with one row for each of the {places} places of the profile"
        raise broken_rule("mechanism", owner, rule, exposer.table.shape)
    return privacy
