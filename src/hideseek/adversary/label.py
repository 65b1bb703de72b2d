"""The honest label of a codebook: what is left of the privacy against adversaries who remember everything."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hideseek.adversary.hidden_markov import ACCESSES, Course
from hideseek.adversary.through_time import (
    LASTING,
    WALKS,
    Adversary,
    carry,
    estimated,
    estimates,
    losses_given_everything,
)
from hideseek.codebook.codebook import Codebook
from hideseek.errors import CertificateError, SizeError, broken_rule
from hideseek.game.game import Game
from hideseek.model.mobility import Profile, Trajectories, merged
from hideseek.model.scenario import Scenario
from hideseek.solvers.dispatch import solve
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

FAR = 3.0  # half-widths of an interval; further off is no matter of chance (about six standard errors)
ROUNDING = 1e-9
ASSUMPTION = "Assumed: the times of the accesses tell nothing about the place."


@dataclass(frozen=True)
class Label:
    """What a codebook does in a run of ``accesses``, all on average over them: see :func:`evaluate`.

    All of it assumes that the times of the accesses tell nothing about the place: an adversary of somebody who asks
    more often at some places than at others errs less.

    ``window`` to ``in_between`` are the adversaries' errors (the last is None where nothing lies between accesses),
    ``prior_risk`` that of one who is shown nothing. ``ceiling`` is what no mechanism that loses no more quality can
    exceed against an adversary who remembers everything, and ``kept`` the share of it that is left against the filter.
    ``worst_loss`` is the largest expected loss given the releases that the codebook remembers, its history: it keeps
    its budget so, for the profile that it was designed for. Given *every* release so far the expected loss may exceed
    it all the same: ``over_budget`` is the share of accesses at which it does, and ``worst_loss_given_all`` the largest
    found, which grows with the walks. ``gain`` is the share by which the filter errs more than with the codebook
    beside, where there is one.
    ``walks`` is 0 where nothing had to be simulated.
    """

    window: Estimate
    filter: Estimate
    smoother: Estimate
    viterbi: Estimate
    predictor: Estimate
    in_between: Estimate | None
    quality_loss: float
    worst_loss: float
    over_budget: Estimate
    worst_loss_given_all: float
    prior_risk: float
    ceiling: float
    kept: Estimate
    accesses: int
    walks: int
    gain: Estimate | None = None

    def __post_init__(self) -> None:
        in_order = (self.smoother, self.filter, self.window, Estimate(self.prior_risk))
        for less, more in (*itertools.pairwise(in_order), (self.filter, Estimate(self.ceiling))):
            allowed = FAR * (less - less.interval[0] + more.interval[1] - more) + ROUNDING * max(1.0, more)
            if less > more + allowed:
                raise CertificateError(f"An adversary who knows more errs more: {less:.9g} against {more:.9g}.")


@checked
def evaluate(
    codebook: Codebook,
    profile: Profile,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
    beside: Codebook | None = None,
) -> Label:
    """What a codebook is worth in a run from the first access on, against all adversaries, when people move like this.

    The profile may be another than the codebook was designed for; the adversaries know it. What cannot be enumerated
    is estimated from as many ``walks``, with 95 % confidence intervals; ``progress`` is called with what is being done,
    how much is done and how much there is. The label tells the gain over a codebook ``beside``, such as one that
    was designed without looking ahead.

    >>> from hideseek.designing.designer import design
    >>> from hideseek.model.mobility import MarkovProfile
    >>> profile = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> codebook = design(
    ...     profile, Scenario.past_present(1), privacy=1 - np.eye(2), quality=1 - np.eye(2), budget=0.15
    ... )
    >>> label = evaluate(codebook, profile, accesses=8)
    >>> f"{label.smoother:.3f} {label.filter:.3f} {label.window:.3f} {label.prior_risk:.3f}", label.filter.exact
    ('0.132 0.150 0.150 0.333', True)
    """
    owner = "evaluate"
    if not isinstance(codebook, Codebook):
        raise broken_rule("codebook", owner, "a Codebook", type(codebook).__name__)
    course = Course(codebook, profile, None, accesses, owner)
    regions = getattr(profile, "regions", None)
    if None not in (regions, codebook.regions) and regions != codebook.regions:
        way_out = "Learn it on the same grid, box or places."
        raise broken_rule("profile", owner, "one over the regions of the codebook", "other regions", way_out)
    course.refuse_many(walks)
    carried = carry(course)
    adversaries = [adversary for adversary in LASTING if adversary is not Adversary.IN_BETWEEN or course.between]
    found = estimates(course, adversaries, walks, seed, progress, owner)
    prior_risk, most = float(course.prior_risks.mean()), ceiling(course, codebook, carried.loss)
    losses, weights = losses_given_everything(course, codebook.quality, walks, seed)
    over = (losses > codebook.budget * (1 + ROUNDING)).mean(axis=0)
    return Label(
        window=Estimate(carried.error.mean(), hit_rate=Estimate(carried.hit.mean())),
        filter=found[Adversary.FILTER],
        smoother=found[Adversary.SMOOTHER],
        viterbi=found[Adversary.VITERBI],
        predictor=found[Adversary.PREDICTOR],
        in_between=found.get(Adversary.IN_BETWEEN),
        quality_loss=float(carried.loss.mean()),
        worst_loss=float(carried.worst_loss.max()),
        over_budget=estimated(course, over, weights),
        worst_loss_given_all=float(losses.max()),
        prior_risk=prior_risk,
        ceiling=most,
        kept=share(found[Adversary.FILTER], most),
        accesses=course.accesses,
        walks=0 if course.sequences else walks,
        gain=None
        if beside is None
        else more(found[Adversary.FILTER], evaluate(beside, profile, accesses, walks, seed).filter),
    )


def more(one: Estimate, other: Estimate) -> Estimate:
    """The share by which one number exceeds another.

    >>> more(Estimate(0.3), Estimate(0.2)).in_words()
    '0.5'
    """
    low, at, high = (
        top / bottom - 1 if bottom > 0 else np.inf if top > 0 else 0.0
        for top, bottom in zip(
            (one.interval[0], one, one.interval[1]), (other.interval[1], other, other.interval[0]), strict=True
        )
    )
    return Estimate(at, None if one.exact and other.exact else (low, high))


def share(part: Estimate, whole: float) -> Estimate:
    """A part of a whole that it cannot exceed; all of nothing is kept."""
    low, at, high = (
        min(number / whole, 1.0) if whole else 1.0 for number in (part.interval[0], part, part.interval[1])
    )
    return Estimate(at, None if part.exact else (low, high))


def ceiling(course: Course, codebook: Codebook, loss: FloatArray) -> float:
    """What no mechanism that loses as little can exceed against the filter, in the mean over a run.

    The value of a game in which the mechanism knows all that matters is concave in the law and the budget. So a
    mechanism that does something else after every history, for the law given this history, has no more in the mean
    than the best one for the law and the budget in the mean, which remembers nothing.
    """
    kinds: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for access in range(course.accesses):
        scenario = course.kind(access).scenario
        kinds.setdefault((scenario.target, scenario.quality), []).append(access)
    total = 0.0
    for (target, quality), own in kinds.items():
        most = float(course.prior_risks[own].sum())
        if not codebook.quality.looks_back:
            everything = tuple(sorted({*target, *quality}))
            release = codebook.scenario.release
            scenario = Scenario(target, release=release, quality=quality, known=everything)
            # under another profile than its own the codebook may lose more than its budget
            budget = max(codebook.budget, float(loss[own].mean()))
            law = average_law(course, own, everything)
            try:
                game = Game.from_scenario(course.profile, scenario, course.privacy, codebook.quality, budget, law=law)
            except SizeError:  # the risk without any release is a ceiling too
                total += most
                continue
            most = min(most, len(own) * solve(game).bound)
        total += most
    return total / course.accesses


def average_law(course: Course, accesses: Sequence[int], offsets: tuple[int, ...]) -> Trajectories:
    """The law of the true places at these offsets, in the mean over some accesses."""
    places, weights = [], []
    for access in accesses:
        step = access * course.every + course.reach
        places.append(course.places_at(step, course.times(access, offsets)))
        weights.append(course.prior[step][:, 0] / len(accesses))
    sequences, probability = merged(np.vstack(places), np.concatenate(weights))
    return Trajectories(offsets, sequences, probability)
