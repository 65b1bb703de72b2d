"""Policies, which adapt to what they exposed: the adversary with a window, and the quality loss, from exposed walks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hideseek.adversary.exposers import followed
from hideseek.adversary.filtering import Forward
from hideseek.adversary.guesses import likeliest_guesses
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.misled import Mind
from hideseek.adversary.sequences import enumerable, error_and_hit, estimated, over_sequences, read_sequences
from hideseek.codebook.stage import NOTHING
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Policy
from hideseek.metrics.metric import Metric, over_places
from hideseek.model.belief import gather, with_release
from hideseek.util.arrays import FloatArray, IntArray, encoded, product
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_large

WALKS = 1000  # simulated where enumeration does not fit
PARTS = 10  # of the walks, each guessed from what is learned from the others


def against_policy(run: Run, window: int, *, walks: int = WALKS, seed: int = 0, mind: Mind | None = None) -> Estimate:
    """The expected error of an adversary who remembers ``window`` releases of a policy, and not the time.

    The joint distribution of the place and of what the adversary sees has no short form here, so it is learned from
    walks: each tenth of them is guessed from what the others show, so that no guess profits from the walk that it is
    scored on. Where the adversary believes another profile, they are walks of that one: of a ``mind``.
    """
    whole_number(walks, "walks", "attack", least=2)
    whole_number(seed, "seed", "attack", least=0)
    places, pasts = run.profile.places, (run.symbols + 1) ** window
    size = places * run.symbols
    what = f"What may be seen in a window of {window} releases"
    refuse_if_too_large(8 * 4 * PARTS * pasts * size, what, parameter="window")
    shown = np.zeros((PARTS * pasts, size))
    known = run if mind is None else mind
    for read, weight, _ in read_sequences(known, walks, seed):
        part = np.arange(len(weight)) % PARTS
        for past, joint in views(known, window, read):
            shown += gather(part * pasts + past, len(shown)) @ (weight[:, None] * joint.reshape(-1, size))
    shown = shown.reshape(PARTS, pasts, places, run.symbols)
    learned = shown.sum(axis=0) - (0.0 if enumerable(run) or mind is not None else shown)
    # after releases that no other walk has shown, the last one alone counts; where it was never shown, nothing does
    alone = learned.sum(axis=-3, keepdims=True)
    alone = np.where(alone.any(axis=-2, keepdims=True), alone, alone.sum(axis=-1, keepdims=True))
    d_p = over_places(run.privacy, places)
    guesses = likeliest_guesses(d_p, np.where(learned.any(axis=-2, keepdims=True), learned, alone))
    guesses = np.broadcast_to(guesses, (PARTS, pasts, run.symbols))

    def scored(read: Forward) -> FloatArray:
        part, score = np.arange(len(read.exposed)) % PARTS, np.zeros((2, len(read.exposed)))
        for past, joint in views(run, window, read):
            guess = guesses[part, past]
            score[0] += (d_p[guess] * joint.transpose(0, 2, 1)).sum(axis=(1, 2))
            score[1] += np.take_along_axis(joint, guess[:, None], axis=1).sum(axis=(1, 2))
        return score / run.accesses

    return error_and_hit(run, *over_sequences(run, scored, walks, seed))


def views(run: Run, window: int, read: Forward) -> Iterator[tuple[IntArray, FloatArray]]:
    """At each access a number for the last releases, [sequence], and Pr(place, next release) given every release
    before, [sequence, place, release].

    All releases that may come next count, and not only the one that came. Before the first access stands one symbol
    more.
    """
    if not isinstance(run.exposer, Policy):
        raise broken_rule("exposer", "attack", "a Policy here", type(run.exposer).__name__)
    padded = np.c_[np.full((len(read.exposed), window), run.symbols), read.exposed]
    for n, (tables, which) in enumerate(followed(run.exposer, read.exposed, run.accesses, run.profile.places)):
        belief = np.zeros((len(read.exposed), run.profile.places))
        belief[:, run.target(n).code] = run.about(n, read.predicted[n]).T
        yield encoded(padded[:, n : n + window], run.symbols + 1), with_release(belief, tables[which])


def policy_loss(run: Run, quality: Metric, *, walks: int = WALKS, seed: int = 0) -> Estimate:
    """The expected quality loss of a policy in a run, from the belief before each release."""
    d_q = quality.between(product(run.profile.places, 1), product(run.symbols, 1), NOTHING)

    def lost(read: Forward) -> FloatArray:
        return np.asarray(sum((joint * d_q).sum(axis=(1, 2)) for _, joint in views(run, 0, read)) / run.accesses)

    return estimated(run, *over_sequences(run, lost, walks, seed))
