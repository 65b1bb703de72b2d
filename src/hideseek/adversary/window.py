"""The adversary with a window, exactly: the joint distribution of states and releases, carried through a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hideseek.adversary.filtering import no_row
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.misled import Mind
from hideseek.adversary.movements import Movement
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.joint_distribution import SETTLED
from hideseek.codebook.stage import distinct
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Policy
from hideseek.metrics.metric import Metric
from hideseek.model.belief import forgetting, gather, with_release
from hideseek.model.markov import MarkovProfile
from hideseek.util.arrays import FloatArray, IntArray, encoded, product
from hideseek.util.limits import refuse_if_too_large


@dataclass(frozen=True, eq=False)
class RememberedJoint:
    """The distribution of states and releases, ``mass`` [state, past]: ``releases`` [past, moment] at ``moments``.

    It is another object than the designer's :class:`hideseek.codebook.joint_distribution.Joint`: an adversary may
    remember more or other releases than the codebook does, so that releases go by moments and not by a history.
    """

    move: Movement
    mass: FloatArray
    moments: tuple[int, ...]
    releases: IntArray

    def at(self, moments: Sequence[int]) -> IntArray:
        """The releases at these moments, [past, moment]."""
        return self.releases[:, [self.moments.index(moment) for moment in moments]]

    def only(self, moments: tuple[int, ...], symbols: int) -> RememberedJoint:
        """The distribution of no more than the possible releases at these moments."""
        releases, index = distinct(self.at(moments), symbols)
        mass = forgetting(self.mass, gather(index, len(releases)))
        occurs = mass.any(axis=0)
        return RememberedJoint(self.move, mass[:, occurs], moments, releases[occurs])

    def settled_from(self, before: RememberedJoint) -> bool:
        """Whether nothing has changed since the access before but the time."""
        same = self.move is before.move and np.array_equal(self.releases, before.releases)
        return same and bool(np.abs(self.mass - before.mass).sum() <= SETTLED)


@dataclass(frozen=True, eq=False)
class Carried:
    """At each access: the error and hit rate of the adversary with a window; the expected quality loss, and that after
    the worst history, which is what the codebook remembers.
    """

    error: FloatArray
    hit: FloatArray
    loss: FloatArray
    worst_loss: FloatArray


def carry(run: Run, window: int | None = None, mind: Mind | None = None) -> Carried:
    """Carry the joint distribution through a run in which the adversary remembers ``window`` releases.

    By default these are the releases that the codebook remembers; the current release is always seen. This is exact,
    also where the adversary guesses by another joint distribution than the true one: by a ``mind``.
    """
    if isinstance(run.exposer, Policy):
        raise broken_rule("exposer", "carry", "a Mechanism or a Codebook", type(run.exposer).__name__)
    views, needed = remembered(run, window)
    values, theirs = np.zeros((4, run.accesses)), None if mind is None else joints(mind, needed)
    for n, (after, settled) in enumerate(joints(run, needed)):
        thought, also = (after, True) if theirs is None else next(theirs)
        if settled and also:
            values[:, n:] = values[:, n - 1, None]
            break
        moments = (*views[n], *run.times(n, run.release))
        seen = after.only(moments, run.symbols)
        aim, about = run.target(n), run.about(n, seen.mass)
        if mind is None:
            values[:2, n] = aim.guessed(about).sum(axis=1)
        else:
            guess = guesses_of(mind, n, thought.only(moments, run.symbols), seen.releases)
            values[:2, n] = aim.scored(about, guess).sum(axis=1)
        if isinstance(run.exposer, Codebook):
            values[2:, n] = losses(run, n, after, run.exposer.quality)
    return Carried(*values)


def joints(run: Run, needed: Sequence[tuple[int, ...]]) -> Iterator[tuple[RememberedJoint, bool]]:
    """The joint distribution with the releases of each access, and whether nothing has changed since the one before."""
    step, joint = -1, RememberedJoint(run.moves[0], np.ones((1, 1)), (), np.zeros((1, 0), np.int64))
    before = joint
    for n in range(run.accesses):
        start, step = step, n * run.every + run.ahead
        joint = replace(joint, move=run.moves[step], mass=run.push(joint.mass, start, step))
        unchanging = isinstance(run.profile, MarkovProfile) and n >= len(run.kinds)
        settled = unchanging and joint.settled_from(before)
        before, after = joint, exposing(run, n, joint)
        yield after, settled
        joint = after.only(needed[n], run.symbols)


def guesses_of(mind: Mind, access: int, thought: RememberedJoint, releases: IntArray) -> IntArray:
    """The best guesses after these releases [past, moment], by a joint distribution that may hold them impossible."""
    codes, wanted = encoded(thought.releases, mind.symbols), encoded(releases, mind.symbols)
    order, possible = np.argsort(codes), np.isin(wanted, codes)
    belief = np.repeat(mind.prior[access * mind.every + mind.ahead], len(wanted), axis=1)
    belief[:, possible] = thought.mass[:, order[np.searchsorted(codes, wanted[possible], sorter=order)]]
    return mind.target(access).chosen(mind.about(access, belief))


def remembered(run: Run, window: int | None) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """At each access, the moments before it that the adversary remembers, and those that later accesses need."""
    every, count = range(run.accesses), len(run.release)
    moments = [moment for n in every for moment in run.times(n, run.release)]
    seen = [run.times(n, run.kind(n).scenario.seen) for n in every]
    views = seen if window is None else [tuple(moments[max(0, n * count - window) : n * count]) for n in every]
    needed: list[tuple[int, ...]] = [()]  # by the accesses from each one on, the last access first
    for n in reversed(every):
        later = {*needed[-1], *seen[n], *views[n]}
        needed.append(tuple(sorted(moment for moment in later if moment < n * run.every)))
    if run.symbols ** (max(map(len, needed)) + count) >= 2**63:
        raise broken_rule("window", "attack", "short enough to number what it may hold", window)
    return views, needed[-2::-1]


def exposing(run: Run, access: int, joint: RememberedJoint) -> RememberedJoint:
    """The joint distribution with the releases of an access."""
    drawn, count = product(run.symbols, len(run.release)), len(joint.releases)
    what = "The joint distribution of states and releases"
    refuse_if_too_large(32 * joint.mass.size * len(drawn), what, parameter="window")
    pasts = np.c_[np.repeat(joint.releases, len(drawn), axis=0), np.tile(drawn, (count, 1))]
    after = RememberedJoint(joint.move, joint.mass, (*joint.moments, *run.times(access, run.release)), pasts)
    seen = after.at(run.times(access, run.kind(access).scenario.seen))
    likely = run.likelihood(access, seen, pasts[:, joint.releases.shape[1] :])
    mass = with_release(joint.mass, likely.reshape(*joint.mass.shape, len(drawn)))
    if np.isnan(mass).any():
        raise no_row()
    return replace(after, mass=mass.reshape(len(mass), -1))


def losses(run: Run, access: int, joint: RememberedJoint, quality: Metric) -> tuple[float, float]:
    """The expected quality loss at an access, from the distribution with its releases, and after the worst history."""
    scenario, step = run.kind(access).scenario, access * run.every + run.reach
    seen = run.times(access, scenario.seen)
    own = joint.only((*seen, *run.times(access, run.release)), run.symbols)
    wanted, want = distinct(run.places_at(step, run.times(access, scenario.quality)), run.profile.places)
    mass = gather(want, len(wanted)) @ run.push(own.mass, access * run.every + run.ahead, step)
    pasts, past = distinct(own.releases[:, : len(seen)], run.symbols)
    drawn = product(run.symbols, len(run.release))
    d_q = np.array([quality.between(wanted, drawn, one) for one in (pasts if quality.looks_back else pasts[:1])])
    which = past if quality.looks_back else np.zeros_like(past)
    lost = (mass.T * d_q[which, :, encoded(own.releases[:, len(seen) :], run.symbols)]).sum(axis=1)
    each = np.bincount(past, lost) / np.bincount(past, mass.sum(axis=0))
    return float(lost.sum()), float(each.max())
