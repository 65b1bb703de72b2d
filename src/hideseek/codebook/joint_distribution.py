"""The joint distribution of true and exposed places, and how it changes from access to access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from hideseek.codebook.stage import Prior, Stage, distinct
from hideseek.model.belief import forgetting, gather, merged_release
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories, continued
from hideseek.util.arrays import FloatArray, IntArray, product
from hideseek.util.limits import refuse_if_too_large

SETTLED = 1e-12  # change of the joint distribution in one access, in total variation

History = tuple[int, ...]
MUCH = 2**22  # numbers that are kept although some may stand for impossible sequences
DIED_OUT = 1e-200  # the probability of a history that can only become rarer, before it has no digits left


@dataclass(frozen=True, eq=False)
class Joint:
    """The distribution after an access: ``mass`` [window, history] of the last true places and of what is remembered.

    ``last`` is the offset of the last place of a window from that access.
    """

    windows: IntArray
    histories: IntArray
    mass: FloatArray
    last: int

    def remembering(self, count: int) -> Joint:
        """The same distribution when no more than the last so many releases are remembered."""
        there = self.histories.shape[1]
        if there == count:
            return self
        histories, index = np.unique(self.histories[:, there - count :], axis=0, return_inverse=True)
        return replace(self, histories=histories, mass=forgetting(self.mass, gather(index, len(histories))))

    def change(self, after: Joint) -> float:
        """The distance to another one in total variation, or after the history that changes most, if that is more.

        Infinite where other places or histories occur. What is claimed is claimed after every history, also a rare one.
        """
        if not (np.array_equal(self.windows, after.windows) and np.array_equal(self.histories, after.histories)):
            return np.inf
        each = np.abs(after.mass / after.mass.sum(axis=0) - self.mass / self.mass.sum(axis=0)).sum(axis=0)
        return float(max(np.abs(after.mass - self.mass).sum(), each.max()) / 2)


NEVER = Joint(np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64), np.ones((1, 1)), -1)


@dataclass(frozen=True, eq=False)
class Looked:
    """The tables of a stage after some histories, looked up: ``released`` [pair, history, releases].

    Histories are in an ``order`` in which those come together, as the slices ``alike``, that will be the same once the
    next access has forgotten what it does; ``told`` adds up the ``histories`` after it, of (alike, releases).
    """

    stage: Stage
    before: IntArray
    order: IntArray
    released: FloatArray
    alike: list[slice]
    histories: IntArray
    told: sparse.csr_array


class Access:
    """One access seen from the windows of the last one: where they lead, what is known, wanted and protected there."""

    def __init__(
        self, profile: Profile, scenario: Scenario, following: Scenario, before: Joint, gap: int, length: int
    ) -> None:
        """``following``: the next access's scenario; ``gap``: steps from the access before; ``length``: of windows."""
        self.scenario, self.following, self.profile = scenario, following, profile
        self.kind = replace(scenario, seen=()), replace(following, seen=())  # what its games are like
        self.windows, self.last = before.windows, before.last - gap
        if not before.windows.shape[1]:
            self.last = min(scenario.offsets) - 1
        self.offsets = tuple(sorted({*scenario.target, *scenario.quality, *scenario.known}))
        end = scenario.release[-1]
        kept = range(max(self.last + 1 - before.windows.shape[1], end + 1 - length), end + 1)
        self.wanted = tuple(sorted({*self.offsets, *kept}))
        self.sequences, self.leads = self._paths(self.wanted)
        self.paths, path = np.unique(self._at(self.offsets), axis=0, return_inverse=True)
        pairs, pair = np.unique(np.c_[self._at(kept), self._at(scenario.known)], axis=0, return_inverse=True)
        self.kept, window = np.unique(pairs[:, : len(kept)], axis=0, return_inverse=True)
        self.inputs, known = np.unique(pairs[:, len(kept) :], axis=0, return_inverse=True)
        self.to_path, self.to_pair = (
            gather(index, len(values)) @ self.leads for index, values in ((path, self.paths), (pair, pairs))
        )
        self.to_window, self.known = gather(window, len(self.kept)), known.ravel()
        self._all: Prior | None = None
        self._looked: Looked | None = None

    def _paths(self, wanted: Sequence[int]) -> tuple[IntArray, sparse.csr_array]:
        """All true places at the wanted offsets, and their distribution given the window, [sequence, window]."""
        origin, sequences, probability = continued(self.profile, self.windows, self.last, wanted)
        unique, index = np.unique(sequences, axis=0, return_inverse=True)
        return unique, sparse.csr_array((probability, (index.ravel(), origin)), shape=(len(unique), len(self.windows)))

    def _at(self, offsets: Sequence[int]) -> IntArray:
        return self.sequences[:, [self.wanted.index(offset) for offset in offsets]]

    def prior(self, joint: Joint) -> Prior:
        """The distribution of the releases seen and of the true places that matter."""
        together = self.to_path @ joint.mass
        history, at = np.nonzero(together.T)
        seen, index = np.unique(history, return_inverse=True)
        return Prior(self.offsets, joint.histories[seen], index.ravel(), self.paths[at], together[at, history])

    def everything(self, joint: Joint) -> Prior:
        """The same with impossible entries, unless they are many: for the same histories only the numbers change.

        Rare events may go round for long, and what is possible would be different at every access.
        """
        histories, count = joint.histories, len(self.paths)
        if len(histories) * count * self.profile.places ** len(self.scenario.release) > MUCH:
            return self.prior(joint)
        if self._all is None or not np.array_equal(self._all.histories, histories):
            history, path = np.indices((len(histories), count)).reshape(2, -1)
            self._all = Prior(self.offsets, histories, history, self.paths[path], np.zeros(0))
        return replace(self._all, probability=(self.to_path @ joint.mass).T.ravel())

    @cached_property
    def _next(self) -> tuple[tuple[int, ...], IntArray, sparse.csr_array]:
        following = self.following
        wanted = {*self.scenario.known, *self.later((*following.target, *following.quality, *following.known))}
        return tuple(sorted(wanted)), *self._paths(sorted(wanted))

    def later(self, offsets: Sequence[int]) -> tuple[int, ...]:
        """Offsets from the next access as offsets from this one."""
        return tuple(offset + self.scenario.every for offset in offsets)

    def next_distribution(self, joint: Joint, history: int) -> Trajectories:
        """The distribution of the known places and of those that matter at the next access, after one history."""
        wanted, sequences, leads = self._next
        weight = leads @ joint.mass[:, history]
        return Trajectories(wanted, sequences[weight > 0], probability=weight[weight > 0] / weight.sum())

    def exposed(self, joint: Joint, stage: Stage) -> Joint:
        """The distribution after this access, with the releases that the next one remembers."""
        looked = self._look(joint, stage)
        out = merged_release((self.to_pair @ joint.mass)[:, looked.order], looked.released, looked.alike)
        mass = forgetting(self.to_window @ out.reshape(len(out), -1), looked.told)
        histories, occurs = looked.histories, mass.sum(axis=0) > DIED_OUT
        if not occurs.all():
            histories, mass = histories[occurs], mass[:, occurs]
        return Joint(self.kept, histories, mass, self.scenario.release[-1])

    def _look(self, joint: Joint, stage: Stage) -> Looked:
        """A stage's tables are looked up once for the same histories."""
        if (
            self._looked is None
            or self._looked.stage is not stage
            or not np.array_equal(self._looked.before, joint.histories)
        ):
            scenario, places, count = self.scenario, self.profile.places, len(joint.histories)
            remembered = self.later(self.following.seen)
            old = [k for k, offset in enumerate(scenario.seen) if offset in remembered]
            new = [k for k, offset in enumerate(scenario.release) if offset in remembered]
            kept, index = distinct(joint.histories[:, old], places)
            order = np.argsort(index, kind="stable")
            ends = np.cumsum(np.bincount(index, minlength=len(kept))).tolist()
            combinations = product(places, len(scenario.release))
            refuse_if_too_large(
                8 * count * len(self.known) * len(combinations),
                "The joint distribution of places and releases",
                parameter="scenario",
            )
            history, known = np.indices((count, len(self.inputs))).reshape(2, -1)
            released = stage.distributions(joint.histories[order][history], self.inputs[known])
            group, drawn = np.indices((len(kept), len(combinations))).reshape(2, -1)
            histories, told = distinct(np.c_[kept[group], combinations[drawn][:, new]], places)
            self._looked = Looked(
                stage,
                joint.histories,
                order,
                np.ascontiguousarray(released.reshape(count, len(self.inputs), -1).transpose(1, 0, 2)[self.known]),
                [slice(start, end) for start, end in pairwise([0, *ends])],
                histories,
                gather(told, len(histories)),
            )
        return self._looked
