"""Beliefs along exposed sequences: filtered forward, smoothed backward, and the most likely path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hideseek.adversary.exposers import followed
from hideseek.adversary.hidden_markov import Run
from hideseek.codebook.stage import distinct
from hideseek.errors import CodebookError
from hideseek.game.mechanism import Policy
from hideseek.model.belief import smoothed, updated
from hideseek.util.arrays import BoolArray, FloatArray, IntArray

AS_LIKELY = 1e-9  # paths whose probabilities differ by less, relatively, are equally likely


@dataclass(frozen=True, eq=False)
class Forward:
    """The beliefs along ``exposed`` sequences [sequence, step], each [state, sequence], and every one's probability.

    ``beliefs``: at every step, given what was read so far; ``predicted`` and ``filtered``: at every access, before and
    after its releases are read; ``readings``: how likely these are in each state; ``forgotten``: the sequences of which
    everything before an access was forgotten at it (none at all where it is empty).
    """

    exposed: IntArray
    beliefs: list[FloatArray]
    predicted: list[FloatArray]
    filtered: list[FloatArray]
    readings: list[FloatArray]
    probability: FloatArray
    forgotten: list[BoolArray] = field(default_factory=list)

    def only(self, chosen: BoolArray) -> Forward:
        """The same along some of the sequences."""
        if chosen.all():
            return self
        lists = {
            name: [belief.compress(chosen, axis=1) for belief in getattr(self, name)]
            for name in ("beliefs", "predicted", "filtered", "readings")
        }
        return replace(self, exposed=self.exposed[chosen], probability=self.probability[chosen], **lists)


def readings(run: Run, exposed: IntArray) -> list[FloatArray]:
    """How likely each access's releases are in each state, [state, sequence]; nan where no table has a row."""
    if isinstance(run.exposer, Policy):
        steps = enumerate(followed(run.exposer, exposed, run.accesses, run.profile.places))
        return [tables[which, run.known(n)[:, 0][:, None], exposed[:, n]] for n, (tables, which) in steps]
    alike: dict[tuple[int, int], list[int]] = {}
    for access in range(run.accesses):
        key = id(run.kind(access)), id(run.moves[access * run.every + run.ahead])
        alike.setdefault(key, []).append(access)
    found: dict[int, FloatArray] = {}
    for accesses in alike.values():
        kind = run.kind(accesses[0])
        seen = np.vstack([exposed[:, run.times(n, kind.scenario.seen)] for n in accesses])
        drawn = np.vstack([exposed[:, run.times(n, run.release)] for n in accesses])
        events, event = distinct(np.c_[seen, drawn], run.symbols)
        width = seen.shape[1]
        likely = kind.likelihood(events[:, :width], events[:, width:], run.known(accesses[0]))
        for n, own in zip(accesses, event.reshape(len(accesses), -1), strict=True):
            found[n] = likely[:, own]
    return [found[n] for n in range(run.accesses)]


def forward(run: Run, exposed: IntArray) -> Forward:
    """Filter exposed sequences [sequence, step] from the first access on."""
    likely = readings(run, exposed)
    probability, possible = np.ones(len(exposed)), np.ones(len(exposed), np.bool_)

    def learned(belief: FloatArray, _: int, access: int) -> FloatArray:
        nonlocal probability, possible
        after, total = updated(belief, likely[access])
        total = np.where(possible, total, 0.0)
        if np.isnan(total).any():
            raise no_row()
        possible = total > 0  # the probability itself falls below any float in a long run
        probability = probability * total
        return after

    beliefs = beliefs_through(run, len(exposed), learned)
    return Forward(exposed, *beliefs, likely, probability)


def beliefs_through(
    run: Run, count: int, learned: Callable[[FloatArray, int, int], FloatArray]
) -> tuple[list[FloatArray], list[FloatArray], list[FloatArray]]:
    """Beliefs [state, sequence] about ``count`` sequences at every step, and before and after what each access exposes.

    ``learned`` gives the belief after a release, from the one before it, the step and the access.
    """
    belief: FloatArray = np.ones((1, count))
    beliefs, predicted, filtered = list[FloatArray](), list[FloatArray](), list[FloatArray]()
    for step, move in enumerate(run.moves):
        belief = move.matrix @ belief
        access = run.read_at(step)
        if access is not None:
            predicted.append(belief)
            if access < run.accesses:
                belief = learned(belief, step, access)
                filtered.append(belief)
        beliefs.append(belief)
    return beliefs, predicted, filtered


def reading(run: Run, read: Forward, step: int) -> FloatArray | None:
    """How likely what is read at a step is in each state, if anything is."""
    access = run.read_at(step)
    return None if access is None or access == run.accesses else read.readings[access]


def forgotten(run: Run, read: Forward, step: int) -> BoolArray | None:
    """The sequences of which everything before a step was forgotten at it, if there may be some."""
    access = run.read_at(step)
    return None if access is None or access >= len(read.forgotten) else read.forgotten[access]


def backward(run: Run, read: Forward) -> Iterator[tuple[int, FloatArray]]:
    """The belief given everything exposed, at every step from the last target back."""
    steps = range(run.last, -1, -1)
    return zip(
        steps,
        smoothed(
            (read.beliefs[step] for step in steps),
            (run.moves[step].matrix for step in steps),
            (reading(run, read, step) for step in steps),
            (forgotten(run, read, step) for step in steps),
        ),
        strict=True,
    )


def likeliest_path(run: Run, read: Forward) -> list[IntArray]:
    """The states at every step of the most likely path; of equally likely ones, the first in order of places."""
    best, later = [], np.ones((1, 1))
    for step in range(run.last, -1, -1):
        move, likely = run.moves[step], reading(run, read, step)
        later = np.broadcast_to(later, read.beliefs[step].shape)
        best.append(later if likely is None else later * likely)
        later = np.zeros((len(move.following), best[-1].shape[1]))
        for following, leads in zip(move.following.T, move.leads.T, strict=True):
            on = np.flatnonzero(following)
            later[on] = np.maximum(later[on], following[on, None] * best[-1][leads[on]])
        apart = forgotten(run, read, step)
        if apart is not None:
            later[:, apart] = 1.0
        later /= later.max(axis=0)
    state, path = np.zeros(len(read.probability), np.int64), []
    sequence = np.arange(len(state))
    for step, (move, onwards) in enumerate(zip(run.moves, reversed(best), strict=False)):
        leads = move.leads[state]
        odds = move.following[state] * onwards[leads, sequence[:, None]]
        state = leads[sequence, first_of_most(odds)]
        apart = forgotten(run, read, step)
        if apart is not None and apart.any():  # the path goes on as if it began here
            state[apart] = first_of_most((run.prior[step] * onwards[:, apart]).T)
        path.append(state)
    return path


def first_of_most(odds: FloatArray) -> IntArray:
    """The first of the equally likely ones in each row."""
    return np.asarray((odds >= (1 - AS_LIKELY) * odds.max(axis=1, keepdims=True)).argmax(axis=1))


def no_row() -> CodebookError:
    """A release is possible after which the codebook has no row."""
    return CodebookError("A table has no row for a history that can happen.")
