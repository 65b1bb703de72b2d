"""Adversaries through time: how far off each of them is about a run of accesses, exactly or by simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from hideseek.adversary.hidden_markov import ACCESSES, Course, Exposer, Movement, likeliest_guesses, no_row
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.joint_distribution import SETTLED, gather
from hideseek.codebook.stage import NOTHING, distinct
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Policy
from hideseek.metrics import Metric, MetricLike, over_places
from hideseek.model.mobility import MarkovProfile, Profile
from hideseek.util.arrays import FloatArray, IntArray, encoded, one_of, product, refuse_if_too_large, whole_number
from hideseek.util.boundary import checked
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

WALKS = 1000  # simulated where enumeration does not fit
PARTS = 10  # of the walks, each guessed from what is learned from the others


class Adversary(StrEnum):
    """What an adversary makes his guesses from; all know the profile and the mechanism."""

    WINDOW = "window"  # the last few releases
    FILTER = "filter"  # everything exposed so far
    SMOOTHER = "smoother"  # everything exposed in the whole run
    VITERBI = "viterbi"  # the most likely whole path, given everything
    PREDICTOR = "predictor"  # everything exposed so far, about the target of the next access
    IN_BETWEEN = "in_between"  # everything exposed, about each single place between the accesses


LASTING = tuple(adversary for adversary in Adversary if adversary is not Adversary.WINDOW)  # who remember everything


def scored(course: Course, exposed: IntArray, adversaries: Collection[Adversary]) -> dict[Adversary, FloatArray]:
    """Error and hit rate of adversaries who remember everything, [2, sequence], in the mean over the run."""
    read = course.forward(exposed)
    scores: dict[Adversary, list[FloatArray]] = {adversary: [] for adversary in adversaries}
    path = course.likeliest_path(read) if Adversary.VITERBI in scores else []
    for access in range(course.accesses):
        if Adversary.FILTER in scores:
            law = course.about(access, read.filtered[access])
            scores[Adversary.FILTER].append(course.target(access).guessed(law))
        if Adversary.PREDICTOR in scores:
            law = course.about(access + 1, read.predicted[access + 1])
            scores[Adversary.PREDICTOR].append(course.target(access + 1).guessed(law))
    if not scores.keys() <= {Adversary.FILTER, Adversary.PREDICTOR}:
        between = set(course.between) if Adversary.IN_BETWEEN in scores else set()
        for step, law in course.backward(read):
            if step in between:
                aim = course.aim(step, (step,))
                scores[Adversary.IN_BETWEEN].append(aim.guessed(aim.gather @ law))
            access, off = divmod(step - course.reach, course.every)
            if not off and access >= 0:
                aim = course.target(access)
                if Adversary.SMOOTHER in scores:
                    scores[Adversary.SMOOTHER].append(aim.guessed(aim.gather @ law))
                if Adversary.VITERBI in scores:
                    scores[Adversary.VITERBI].append(aim.scored(aim.gather @ law, aim.index[path[step]]))
    return {adversary: np.mean(found, axis=0) for adversary, found in scores.items()}


def estimates(
    course: Course,
    adversaries: Collection[Adversary],
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
    owner: str = "attack",
) -> dict[Adversary, Estimate]:
    """The errors of adversaries who remember everything, all from one pass over all sequences, or over walks."""
    whole_number(walks, "walks", owner, least=2)
    whole_number(seed, "seed", owner, least=0)
    parts, weights = [], []
    for exposed, weight, done in course.exposures(walks, seed):
        if len(weight):
            found = scored(course, exposed, adversaries)
            parts.append(np.array([found[adversary] for adversary in adversaries]))
            weights.append(weight)
        if progress is not None:
            progress("sequences" if course.sequences else "walks", done, course.sequences or walks)
    scores = np.concatenate(parts, axis=2)
    return {
        adversary: error_and_hit(course, own, np.concatenate(weights))
        for adversary, own in zip(adversaries, scores, strict=True)
    }


def estimated(course: Course, values: FloatArray, weights: FloatArray) -> Estimate:
    """The mean of a value over exposed sequences: exact over all of them, with its interval over walks."""
    return Estimate(float(values @ weights)) if course.sequences else Estimate.mean_of(values)


def error_and_hit(course: Course, scores: FloatArray, weights: FloatArray) -> Estimate:
    """An adversary's error with his hit rate, from both of every exposed sequence, [2, sequence]."""
    error, hit = (estimated(course, values, weights) for values in scores)
    return Estimate(error, None if error.exact else error.interval, hit)


def against_policy(course: Course, window: int, walks: int = WALKS, seed: int = 0) -> Estimate:
    """The error of an adversary who remembers ``window`` releases of a policy, and does not look at the clock.

    The joint law of the place and of what he sees has no short form here, so it is learned from walks: each tenth of
    them is guessed from what the others show, so that no guess profits from the walk that it is scored on.
    """
    whole_number(walks, "walks", "attack", least=2)
    whole_number(seed, "seed", "attack", least=0)
    places, pasts = course.profile.places, (course.symbols + 1) ** window
    size = places * course.symbols
    refuse_if_too_large(8 * 4 * PARTS * pasts * size, f"What may be seen in a window of {window} releases")
    shown = np.zeros((PARTS * pasts, size))
    for weight, views in views_of(course, window, walks, seed):
        part = np.arange(len(weight)) % PARTS
        for past, joint in views:
            shown += gather(part * pasts + past, len(shown)) @ (weight[:, None] * joint.reshape(-1, size))
    shown = shown.reshape(PARTS, pasts, places, course.symbols)
    own = np.zeros(1) if course.sequences else shown
    learned = shown.sum(axis=0) - own
    # after what no other walk has shown, he goes by the last release alone
    alone = learned.sum(axis=-3, keepdims=True)
    d_p = over_places(course.privacy, places)
    guesses = likeliest_guesses(d_p, np.where(learned.any(axis=-2, keepdims=True), learned, alone))
    guesses = np.broadcast_to(guesses, (PARTS, pasts, course.symbols))
    scores, weights = [], []
    for weight, views in views_of(course, window, walks, seed):
        part, score = np.arange(len(weight)) % PARTS, np.zeros((2, len(weight)))
        for past, joint in views:
            guess = guesses[part, past]
            score[0] += (d_p[guess] * joint.transpose(0, 2, 1)).sum(axis=(1, 2))
            score[1] += np.take_along_axis(joint, guess[:, None], axis=1).sum(axis=(1, 2))
        scores.append(score / course.accesses)
        weights.append(weight)
    return error_and_hit(course, np.hstack(scores), np.concatenate(weights))


View = tuple[IntArray, FloatArray]  # a number for the releases before, and the joint law [sequence, place, release]


def views_of(course: Course, window: int, walks: int, seed: int) -> Iterator[tuple[FloatArray, Iterator[View]]]:
    """Weights of exposed sequences; and at each access the last releases, with the law of the place and the next one.

    The law is that of all releases that may come next, given all exposed before, and not only of the one that came.
    """
    for exposed, weight, _ in course.exposures(walks, seed):
        yield weight, views_along(course, window, exposed)


def views_along(course: Course, window: int, exposed: IntArray) -> Iterator[View]:
    """The views of :func:`views_of` along some exposed sequences; before the first access stands one symbol more."""
    if not isinstance(course.exposer, Policy):
        raise broken_rule("exposer", "attack", "a Policy here", type(course.exposer).__name__)
    read = course.forward(exposed)
    padded = np.c_[np.full((len(exposed), window), course.symbols), exposed]
    for n, (tables, which) in enumerate(course.followed(course.exposer, exposed)):
        law = np.zeros((len(exposed), course.profile.places))
        law[:, course.target(n).code] = course.about(n, read.predicted[n]).T
        yield encoded(padded[:, n : n + window], course.symbols + 1), law[:, :, None] * tables[which]


def policy_loss(course: Course, quality: Metric, walks: int = WALKS, seed: int = 0) -> Estimate:
    """The expected quality loss of a policy in a run, from the law of the place before each release."""
    d_q = quality.between(product(course.profile.places, 1), product(course.symbols, 1), NOTHING)
    losses, weights = [], []
    for weight, views in views_of(course, 0, walks, seed):
        losses.append(sum((joint * d_q).sum(axis=(1, 2)) for _, joint in views) / course.accesses)
        weights.append(weight)
    return estimated(course, np.concatenate(losses), np.concatenate(weights))


def losses_given_everything(course: Course, quality: Metric, walks: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The expected loss at every access given every release before it, [access, sequence]; weights of the sequences."""
    losses, weights = [], []
    for exposed, weight, _ in course.exposures(walks, seed):
        if not len(weight):  # none of these sequences can be
            continue
        predicted, own = course.forward(exposed).predicted, []
        for access in range(course.accesses):
            seen, which = distinct(exposed[:, course.times(access, course.kind(access).scenario.seen)], course.symbols)
            lost = expected_losses(course, access, seen, quality)
            own.append(np.einsum("xs,xs->s", predicted[access], lost[:, which]))
        losses.append(np.array(own))
        weights.append(weight)
    return np.concatenate(losses, axis=1), np.concatenate(weights)


def expected_losses(course: Course, access: int, seen: IntArray, quality: Metric) -> FloatArray:
    """What an access loses in each state in which its releases are read, after each past, [state, past]."""
    drawn, scenario = product(course.symbols, len(course.release)), course.kind(access).scenario
    likely = course.likelihood(access, np.repeat(seen, len(drawn), axis=0), np.tile(drawn, (len(seen), 1)))
    read, end = access * course.every + course.ahead, access * course.every + course.reach
    wanted = course.places_at(end, course.times(access, scenario.quality))
    lost = np.array([quality.between(wanted, drawn, past) for past in (seen if quality.looks_back else seen[:1])])
    for move in reversed(course.moves[read + 1 : end + 1]):
        lost = np.array([move.matrix.T @ own for own in lost])
    each = np.nan_to_num(likely).reshape(len(likely), len(seen), len(drawn))
    return np.asarray(np.einsum("xpo,pxo->xp", each, np.broadcast_to(lost, (len(seen), *lost.shape[1:]))))


@dataclass(frozen=True, eq=False)
class Joint:
    """The law of the states and of releases, ``mass`` [state, told]: ``releases`` [told, moment] at ``moments``."""

    move: Movement
    mass: FloatArray
    moments: tuple[int, ...]
    releases: IntArray

    def at(self, moments: Sequence[int]) -> IntArray:
        """The releases at these moments, [told, moment]."""
        return self.releases[:, [self.moments.index(moment) for moment in moments]]

    def only(self, moments: tuple[int, ...], symbols: int) -> Joint:
        """The law of no more than the releases at these moments that can be."""
        releases, index = distinct(self.at(moments), symbols)
        mass = (gather(index, len(releases)) @ self.mass.T).T
        occurs = mass.any(axis=0)
        return Joint(self.move, mass[:, occurs], moments, releases[occurs])

    def settled_from(self, before: Joint) -> bool:
        """Whether nothing has changed since the access before but the time."""
        same = self.move is before.move and np.array_equal(self.releases, before.releases)
        return same and bool(np.abs(self.mass - before.mass).sum() <= SETTLED)


@dataclass(frozen=True, eq=False)
class Carried:
    """At each access: error and hit rate of the adversary with a window; the quality lost, and after the worst history.

    A history is what the codebook remembers.
    """

    error: FloatArray
    hit: FloatArray
    loss: FloatArray
    worst_loss: FloatArray


def carry(course: Course, window: int | None = None) -> Carried:
    """Carry the law of states and releases through a run in which the adversary remembers ``window`` releases.

    By default he remembers those that the codebook does; what is released now he always sees. This is exact.
    """
    if isinstance(course.exposer, Policy):
        raise broken_rule("exposer", "carry", "a Mechanism or a Codebook", type(course.exposer).__name__)
    run, count = range(course.accesses), len(course.release)
    released = [course.times(n, course.release) for n in run]
    moments = [moment for own in released for moment in own]
    seen = [course.times(n, course.kind(n).scenario.seen) for n in run]
    views = seen if window is None else [tuple(moments[max(0, n * count - window) : n * count]) for n in run]
    needed: list[tuple[int, ...]] = [()]  # by the accesses from each one on, the last access first
    for n in reversed(run):
        later = {*needed[-1], *seen[n], *views[n]}
        needed.append(tuple(sorted(moment for moment in later if moment < n * course.every)))
    if course.symbols ** (max(map(len, needed)) + count) >= 2**63:
        raise broken_rule("window", "attack", "short enough to number what it may hold", window)
    values, step = np.zeros((4, course.accesses)), -1
    joint = before = Joint(course.moves[0], np.ones((1, 1)), (), np.zeros((1, 0), np.int64))
    for n in run:
        start, step = step, n * course.every + course.ahead
        joint = replace(joint, move=course.moves[step], mass=course.push(joint.mass, start, step))
        unchanging = isinstance(course.profile, MarkovProfile) and n >= len(course.kinds)
        if unchanging and joint.settled_from(before):
            values[:, n:] = values[:, n - 1, None]
            break
        before, after = joint, exposing(course, n, joint)
        law = after.only((*views[n], *released[n]), course.symbols).mass
        values[:2, n] = course.target(n).guessed(course.about(n, law)).sum(axis=1)
        if isinstance(course.exposer, Codebook):
            values[2:, n] = losses(course, n, after, course.exposer.quality)
        joint = after.only(needed[course.accesses - n - 1], course.symbols)
    return Carried(*values)


def exposing(course: Course, access: int, joint: Joint) -> Joint:
    """The law with the releases of an access."""
    drawn, count = product(course.symbols, len(course.release)), len(joint.releases)
    refuse_if_too_large(32 * joint.mass.size * len(drawn), "The joint law of the states and of what was exposed")
    told = np.c_[np.repeat(joint.releases, len(drawn), axis=0), np.tile(drawn, (count, 1))]
    after = Joint(joint.move, joint.mass, (*joint.moments, *course.times(access, course.release)), told)
    seen = after.at(course.times(access, course.kind(access).scenario.seen))
    likely = course.likelihood(access, seen, told[:, joint.releases.shape[1] :])
    mass = np.repeat(joint.mass, len(drawn), axis=1)
    mass = np.where(mass > 0, mass * likely, 0.0)
    if np.isnan(mass).any():
        raise no_row()
    return replace(after, mass=mass)


def losses(course: Course, access: int, joint: Joint, quality: Metric) -> tuple[float, float]:
    """The expected quality lost at an access, from the law with its releases, and that after the worst history."""
    scenario, step = course.kind(access).scenario, access * course.every + course.reach
    seen = course.times(access, scenario.seen)
    own = joint.only((*seen, *course.times(access, course.release)), course.symbols)
    wanted, want = distinct(course.places_at(step, course.times(access, scenario.quality)), course.profile.places)
    law = gather(want, len(wanted)) @ course.push(own.mass, access * course.every + course.ahead, step)
    pasts, past = distinct(own.releases[:, : len(seen)], course.symbols)
    drawn = product(course.symbols, len(course.release))
    d_q = np.array([quality.between(wanted, drawn, one) for one in (pasts if quality.looks_back else pasts[:1])])
    which = past if quality.looks_back else np.zeros_like(past)
    lost = (law.T * d_q[which, :, encoded(own.releases[:, len(seen) :], course.symbols)]).sum(axis=1)
    each = np.bincount(past, lost) / np.bincount(past, law.sum(axis=0))
    return float(lost.sum()), float(each.max())


@checked
def beliefs(codebook: Codebook, profile: Profile, exposed: npt.ArrayLike) -> FloatArray:
    """What an adversary who remembers everything believes about the place at each access, [access, place].

    ``exposed`` holds the releases at all steps from the first access on; steps at which nothing is exposed may hold
    anything.

    >>> from hideseek.designing.designer import design
    >>> from hideseek.model.scenario import Scenario
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> codebook = design(
    ...     profile, Scenario.past_present(1), privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.15
    ... )
    >>> beliefs(codebook, profile, [0, 0, 1]).argmax(axis=1)
    array([0, 0, 1])
    """
    try:
        numbers = np.array(exposed, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule("exposed", "beliefs", "region numbers, one per step", type(exposed).__name__) from None
    scenario = codebook.scenario
    if numbers.ndim != 1 or len(numbers) < len(scenario.release):
        raise broken_rule("exposed", "beliefs", f"at least {len(scenario.release)} in a row", numbers.shape)
    accesses = (len(numbers) - len(scenario.release)) // scenario.every + 1
    course = Course(codebook, profile, accesses=accesses, owner="beliefs")
    read_at = [moment for access in range(accesses) for moment in course.times(access, course.release)]
    used = numbers[read_at]
    if not ((used >= 0) & (used < course.symbols) & (used == np.floor(used))).all():
        raise broken_rule("exposed", "beliefs", f"region numbers from 0 to {course.symbols - 1}", "others")
    releases = np.zeros(len(numbers), np.int64)
    releases[read_at] = used
    read = course.forward(releases[None])
    if not read.filtered[-1].any():
        raise broken_rule("exposed", "beliefs", "releases that the codebook can make", "others")
    found = np.zeros((accesses, profile.places))
    for access, law in enumerate(read.filtered):
        now = access * course.every
        np.add.at(found[access], course.places_at(now + course.ahead, (now,))[:, 0], law[:, 0])
    return found


@checked
def attack(
    exposer: Exposer,
    profile: Profile,
    adversary: Adversary | str,
    privacy: MetricLike | None = None,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    window: int | None = None,
    progress: Advance | None = None,
) -> Estimate:
    """An adversary's expected error about a run of accesses from the first on, in the user's metric, and his hit rate.

    He knows the profile and what exposes: a codebook, or a mechanism f[place, release] that is used anew at every step,
    or a policy that adapts to what it exposed; the last two need the ``privacy`` metric. His guesses have the least
    expected error given what he knows; of equally good ones he takes the likeliest. He learns nothing from when the
    service is accessed. A ``window`` counts the releases
    before this access, by default those that the codebook remembers, else none. What cannot be enumerated is estimated
    from as many ``walks``; ``progress`` is called with what is being done, how much is done and how much there is.

    >>> from hideseek.game.mechanism import Mechanism
    >>> stays = MarkovProfile.from_matrix([[0.99, 0.01], [0.01, 0.99]])
    >>> coin = Mechanism([[0.7, 0.3], [0.3, 0.7]])
    >>> remembers_all = attack(coin, stays, "filter", privacy=1 - np.eye(2), accesses=10)
    >>> remembers_one = attack(coin, stays, "window", privacy=1 - np.eye(2), accesses=10, window=1)
    >>> f"{remembers_all:.2f} {remembers_one:.2f}", remembers_all.exact
    ('0.19 0.30', True)
    """
    owner = "attack"
    adversary = one_of(Adversary, adversary, "adversary", owner)
    course = Course(exposer, profile, privacy, accesses, owner)
    if adversary is Adversary.WINDOW:
        if window is not None:
            whole_number(window, "window", owner, least=0)
        if isinstance(exposer, Policy):
            return against_policy(course, window or 0, walks, seed)
        found = carry(course, window)
        return Estimate(found.error.mean(), hit_rate=Estimate(found.hit.mean()))
    if window is not None:
        raise broken_rule("window", owner, "given to no adversary but 'window'", window)
    if adversary is Adversary.IN_BETWEEN and not course.between:
        raise broken_rule("adversary", owner, "one with something to guess", "no step between two accesses")
    return estimates(course, (adversary,), walks, seed, progress)[adversary]
