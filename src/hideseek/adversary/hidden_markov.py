"""A run of accesses: how the true places move, what is exposed on the way, and what is to be guessed.

True places are hidden states that move step by step. A state holds the places that what is still to come depends on,
so that the law of the states given what was exposed is all that an adversary who remembers everything can know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat

import numpy as np
from scipy import sparse

from hideseek.codebook.codebook import Codebook
from hideseek.codebook.joint_distribution import gather
from hideseek.codebook.stage import NOTHING, distinct
from hideseek.codebook.weights import WORDS, Table
from hideseek.errors import CodebookError, broken_rule
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.metrics import MetricLike, as_metric
from hideseek.model.mobility import MarkovProfile, Profile, drawn, sample_places
from hideseek.model.scenario import Scenario
from hideseek.util.arrays import (
    FloatArray,
    IntArray,
    dense,
    encoded,
    product,
    refuse_if_too_large,
    refuse_if_too_long,
    whole_number,
)

ACCESSES = 200  # of a run
ENUMERATED = 20_000  # exposed sequences up to which all are tried
BATCH = 2**23  # numbers that one pass over walks may keep
STEP_SIZE, WALK_SIZE = 1024, 96  # bytes for each step of a run, whatever the places, and for what is kept of a walk
AT_ONCE = 500  # walks in one pass: more would gain nothing
PASS = 1e-4  # seconds for one step of one pass over two places, where one adversary reads it; others take longer
TIE = 1e-6  # guesses whose errors differ by less, as a share of the largest error, are equally good
LAWFUL = 1e-6  # by how much the rows of a policy's table may miss a sum of 1
AS_LIKELY = 1e-9  # paths whose probabilities differ by less, relatively, are equally likely


@dataclass(frozen=True, eq=False)
class Plain:
    """A memoryless mechanism, read as a table of a codebook is."""

    matrix: sparse.csr_array

    def rows(self, seen: IntArray, known: IntArray) -> IntArray:  # noqa: ARG002
        """The place is the row."""
        return known[:, 0]


@dataclass(frozen=True, eq=False)
class Kind:
    """What happens at an access: ``tables[p]`` draws its release number p, which looks at the offsets ``looks[p]``."""

    scenario: Scenario
    looks: tuple[tuple[int, ...], ...]
    tables: tuple[Table | Plain, ...]

    def likelihood(self, seen: IntArray, drawn: IntArray, known: IntArray) -> FloatArray:
        """How likely these releases are after this was seen, [known, (seen, drawn)]; nan where no table tells."""
        likely = np.ones((len(known), len(seen)))
        for position, (table, looks) in enumerate(zip(self.tables, self.looks, strict=True)):
            columns = [self.scenario.known.index(offset) for offset in looks]
            inputs, which = np.unique(known[:, columns], axis=0, return_inverse=True)
            before, each = np.c_[seen, drawn[:, :position]], np.arange(len(seen))
            pair = np.repeat(each, len(inputs))
            row = table.rows(before[pair], np.tile(inputs, (len(seen), 1)))
            law = np.where(row < 0, np.nan, dense(table.matrix)[row, drawn[pair, position]])
            law = law.reshape(len(seen), len(inputs)).T[which.ravel()]
            # no table is needed after a release that cannot be
            likely = np.where(likely == 0, 0.0, likely * law)
        return likely


Exposer = Mechanism | Policy | Codebook


def kinds_of(exposer: Exposer) -> tuple[Kind, ...]:
    """The kinds of the first accesses; the last one repeats. A policy has its own tables, different all the time."""
    if isinstance(exposer, Mechanism):
        return (Kind(Scenario.sporadic(), ((0,),), (Plain(sparse.csr_array(exposer.table)),)),)
    if not isinstance(exposer, Codebook):
        return (Kind(Scenario.sporadic(), (), ()),)
    return tuple(
        Kind(stage.scenario, tuple(stage.known_at(position) for position in range(len(stage.tables))), stage.tables)
        for stage in exposer.stages[: exposer.repeating + 1]
    )


@dataclass(frozen=True, eq=False)
class Movement:
    """One step of the true places, from the states before it to ``states``: places at the offsets ``kept`` from it.

    ``law`` [before, place] is the probability of the place that is moved to, ``leads`` [before, place] the state that
    this gives, and ``matrix`` [state, before] the probability of that.
    """

    kept: tuple[int, ...]
    states: IntArray
    law: FloatArray
    leads: IntArray
    matrix: sparse.csr_array


def moved(profile: Profile, states: IntArray, before: Sequence[int], kept: tuple[int, ...], step: int) -> Movement:
    """The move to a step from states that hold the places at the offsets ``before`` from it."""
    pasts, index = np.unique(states[:, max(0, states.shape[1] - profile.memory) :], axis=0, return_inverse=True)
    law = np.asarray(profile.following(pasts, step))[index.ravel()]
    origin, place = np.nonzero(law)
    needed = 8 * (4 * law.size + len(origin) * (len(kept) + 6))
    refuse_if_too_large(needed, f"The moves of a hidden state of {len(kept)} places")
    columns = [(*before, 0).index(offset) for offset in kept]
    after, which = np.unique(np.c_[states[origin], place][:, columns], axis=0, return_inverse=True)
    leads = np.zeros(law.shape, np.int64)
    leads[origin, place] = which.ravel()
    shape = (len(after), len(states))
    return Movement(
        kept, after, law, leads, sparse.csr_array((law[origin, place], (which.ravel(), origin)), shape=shape)
    )


@dataclass(frozen=True, eq=False)
class Aim:
    """What is guessed about a state: ``gather`` [truth, state], ``index`` of the truth by state, its ``code``, d_p."""

    gather: sparse.csr_array
    index: IntArray
    code: IntArray
    d_p: FloatArray

    def guessed(self, law: FloatArray) -> FloatArray:
        """Error and hit rate of the best guess for each law [truth, law]; of equally good guesses, the likeliest."""
        errors = self.d_p @ law
        best = errors.min(axis=0)
        good = errors[self.code] <= best + TIE * self.d_p.max() * law.sum(axis=0)
        return np.array([best, np.where(good, law, 0.0).max(axis=0)])

    def scored(self, law: FloatArray, truth: IntArray) -> FloatArray:
        """Error and hit rate when the truth of this number is guessed for each law."""
        return np.array([(self.d_p[self.code[truth]].T * law).sum(axis=0), law[truth, np.arange(len(truth))]])


def likeliest_guesses(d_p: FloatArray, law: FloatArray) -> IntArray:
    """The guess of a place with the least error for each law [..., place, law]; of equally good ones, the likeliest."""
    errors = d_p @ law
    good = errors <= errors.min(axis=-2, keepdims=True) + TIE * d_p.max() * law.sum(axis=-2, keepdims=True)
    return np.asarray(np.where(good, law, -1.0).argmax(axis=-2))


@dataclass(frozen=True, eq=False)
class Forward:
    """The law of the states along exposed sequences, [state, sequence], and the probability of each sequence.

    ``laws``: at every step, given what was read so far; ``predicted`` and ``filtered``: at every access, before and
    after its releases are read; ``readings``: how likely these are.
    """

    laws: list[FloatArray]
    predicted: list[FloatArray]
    filtered: list[FloatArray]
    readings: list[FloatArray]
    probability: FloatArray


class Course:
    """A run of accesses: the moves of the true places, what is exposed on the way, and what is to be guessed.

    The releases of the access at step t are read at step t + ``ahead``, when all that they look at has happened, and
    its targets have all happened at step t + ``reach``.
    """

    def __init__(
        self,
        exposer: Exposer,
        profile: Profile,
        privacy: MetricLike | None = None,
        accesses: int = ACCESSES,
        owner: str = "attack",
    ) -> None:
        if not isinstance(profile, Profile):
            raise broken_rule("profile", owner, "a Profile", type(profile).__name__)
        places = profile.places
        if not isinstance(exposer, Exposer):
            raise broken_rule("exposer", owner, "a Mechanism, a Policy or a Codebook", type(exposer).__name__)
        if isinstance(exposer, Codebook):
            if exposer.places != places:
                rule = f"one over the {exposer.places} places of the codebook"
                raise broken_rule("profile", owner, rule, f"{places} places")
            privacy = exposer.privacy if privacy is None else privacy
        elif privacy is None:
            raise broken_rule("privacy", owner, "the metric, as a mechanism has none of its own", None)
        if isinstance(exposer, Mechanism) and len(exposer.table) != places:
            rule = f"a table with one row for each of the {places} places of the profile"
            raise broken_rule("mechanism", owner, rule, exposer.table.shape)
        self.exposer, self.profile, self.privacy = exposer, profile, as_metric(privacy, "privacy", places)
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
        refuse_if_too_large(steps * (STEP_SIZE + 48 * places), what, "Look at a shorter run.")
        self._aims: dict[tuple[int, tuple[int, ...]], Aim] = {}
        self._likely: tuple[tuple[int, int, bytes, bytes], FloatArray] | None = None

    def kind(self, access: int) -> Kind:
        """What happens at an access."""
        return self.kinds[min(access, len(self.kinds) - 1)]

    def times(self, access: int, offsets: Sequence[int]) -> tuple[int, ...]:
        """The steps at these offsets from an access."""
        return tuple(access * self.every + offset for offset in offsets)

    @property
    def between(self) -> list[int]:
        """The steps between the accesses, at which nothing is exposed."""
        last = (self.accesses - 1) * self.every
        return [step for step in range(last) if step % self.every not in self.release]

    @property
    def end(self) -> int:
        """The step of the last target, that of the access after the run."""
        return self.accesses * self.every + self.reach

    @cached_property
    def moves(self) -> list[Movement]:
        """The moves up to the end; those of an unchanging chain are made once."""
        return list(self._moves())

    def _moves(self) -> Iterator[Movement]:
        end = self.end
        needed: list[set[int]] = [{step} for step in range(end + 1)]
        for access in range(self.accesses + 1):
            scenario = self.kind(access).scenario
            needed[access * self.every + self.ahead].update(self.times(access, scenario.known))
            needed[access * self.every + self.reach].update(self.times(access, (*scenario.target, *scenario.quality)))
        for step in reversed(range(end)):
            needed[step] |= {time for time in needed[step + 1] if time <= step}
        made: dict[tuple[tuple[int, ...], tuple[int, ...], bytes], Movement] = {}
        states = np.zeros((1, 0), np.int64)
        kept: tuple[int, ...] = ()
        for step in range(end + 1):
            before = tuple(offset - 1 for offset in kept)
            recent = range(max(0, step - self.profile.memory + 1), step)
            kept = tuple(sorted(time - step for time in needed[step] | set(recent)))
            key = before, kept, states.tobytes()
            if key not in made or not isinstance(self.profile, MarkovProfile):
                made[key] = moved(self.profile, states, before, kept, step)
            states = made[key].states
            yield made[key]

    def push(self, law: FloatArray, start: int, stop: int) -> FloatArray:
        """The law of the states at a later step, when nothing more is read."""
        for move in self.moves[start + 1 : stop + 1]:
            law = move.matrix @ law
        return law

    @cached_property
    def prior(self) -> list[FloatArray]:
        """The law of the states at every step when nothing is exposed, [state, 1]."""
        laws = [self.moves[0].matrix @ np.ones((1, 1))]
        for move in self.moves[1:]:
            laws.append(move.matrix @ laws[-1])
        return laws

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
            refuse_if_too_large(
                8 * places ** len(times) * (len(truths) + len(times) + AT_ONCE), "What is to be guessed"
            )
            d_p = self.privacy.between(product(places, len(times)), truths, NOTHING)
            self._aims[key] = Aim(gather(index, len(truths)), index, encoded(truths, places), d_p)
        return self._aims[key]

    def target(self, access: int) -> Aim:
        """The guess of the target of an access, from the states at which all of it has happened."""
        times = self.times(access, self.kind(access).scenario.target)
        return self.aim(access * self.every + self.reach, times)

    def about(self, access: int, law: FloatArray) -> FloatArray:
        """The law of an access's target, from that of the states in which its releases are read."""
        start = access * self.every + self.ahead
        return np.asarray(self.target(access).gather @ self.push(law, start, start + self.reach - self.ahead))

    @cached_property
    def prior_risks(self) -> FloatArray:
        """The adversary's error about each access's target when nothing is exposed."""
        read = [self.prior[access * self.every + self.ahead] for access in range(self.accesses)]
        return np.array([self.target(n).guessed(self.about(n, law))[0, 0] for n, law in enumerate(read)])

    def readings(self, exposed: IntArray) -> list[FloatArray]:
        """How likely each access's releases are in each state, [state, sequence]; nan where no table tells."""
        if isinstance(self.exposer, Policy):
            steps = enumerate(self.followed(self.exposer, exposed))
            return [tables[which, self.known(n)[:, 0][:, None], exposed[:, n]] for n, (tables, which) in steps]
        alike: dict[tuple[int, int], list[int]] = {}
        for access in range(self.accesses):
            key = id(self.kind(access)), id(self.moves[access * self.every + self.ahead])
            alike.setdefault(key, []).append(access)
        found: dict[int, FloatArray] = {}
        for accesses in alike.values():
            kind = self.kind(accesses[0])
            seen = np.vstack([exposed[:, self.times(n, kind.scenario.seen)] for n in accesses])
            drawn = np.vstack([exposed[:, self.times(n, self.release)] for n in accesses])
            events, event = distinct(np.c_[seen, drawn], self.symbols)
            width = seen.shape[1]
            likely = kind.likelihood(events[:, :width], events[:, width:], self.known(accesses[0]))
            for n, own in zip(accesses, event.reshape(len(accesses), -1), strict=True):
                found[n] = likely[:, own]
        return [found[n] for n in range(self.accesses)]

    def followed(self, policy: Policy, exposed: IntArray) -> Iterator[tuple[FloatArray, IntArray]]:
        """The tables that a policy uses at every access, and which of them for each exposed sequence."""
        state = policy.start(len(exposed))
        shape = self.profile.places, self.symbols
        for access in range(self.accesses):
            tables, which = policy.tables(state)
            if tables.shape[1:] != shape:
                rule = f"one whose tables are [kind, place, release] over {shape[0]} places and {shape[1]} releases"
                raise broken_rule("policy", "attack", rule, f"the shape {tables.shape}")
            if not (tables.min() >= 0 and np.abs(tables.sum(axis=2) - 1).max() <= LAWFUL):
                raise broken_rule("policy", "attack", "one whose rows are laws: >= 0, and in sum 1", "others")
            yield tables, which
            state = policy.after(state, exposed[:, access])

    def known(self, access: int) -> IntArray:
        """What an access's mechanism may look at, in each state in which its releases are read."""
        return self.places_at(access * self.every + self.ahead, self.times(access, self.kind(access).scenario.known))

    def likelihood(self, access: int, seen: IntArray, drawn: IntArray) -> FloatArray:
        """How likely these releases of an access are, [state, (seen, drawn)]; the same as before is known."""
        kind, move = self.kind(access), self.moves[access * self.every + self.ahead]
        key = id(kind), id(move), seen.tobytes(), drawn.tobytes()
        if self._likely is None or self._likely[0] != key:
            self._likely = key, kind.likelihood(seen, drawn, self.known(access))
        return self._likely[1]

    def forward(self, exposed: IntArray) -> Forward:
        """Read exposed sequences [sequence, step] from the first access on."""
        readings = self.readings(exposed)
        law, probability, possible = np.ones((1, len(exposed))), np.ones(len(exposed)), np.ones(len(exposed), np.bool_)
        laws, predicted, filtered = [], [], []
        for step, move in enumerate(self.moves):
            law = move.matrix @ law
            access, off = divmod(step - self.ahead, self.every)
            if not off and 0 <= access <= self.accesses:
                predicted.append(law)
                if access < self.accesses:
                    law = law * readings[access]
                    total = np.where(possible, law.sum(axis=0), 0.0)
                    if np.isnan(total).any():
                        raise no_row()
                    possible = total > 0  # the probability itself falls below any float on a long way
                    law = np.divide(law, total, out=np.zeros_like(law), where=possible)
                    probability = probability * total
                    filtered.append(law)
            laws.append(law)
        return Forward(laws, predicted, filtered, readings, probability)

    def backward(self, read: Forward) -> Iterator[tuple[int, FloatArray]]:
        """The law of the states given everything exposed, at every step from the last one back."""
        later = np.ones((1, 1))
        for step in reversed(range((self.accesses - 1) * self.every + self.reach + 1)):
            law = read.laws[step] * later
            yield step, law / law.sum(axis=0)
            later = self.moves[step].matrix.T @ self.weighed(step, later, read)
            later /= later.max(axis=0)

    def weighed(self, step: int, law: FloatArray, read: Forward) -> FloatArray:
        """The law times the likelihood of what is read at this step, if anything is."""
        access, off = divmod(step - self.ahead, self.every)
        law = np.broadcast_to(law, read.laws[step].shape)
        return law if off or not 0 <= access < self.accesses else law * read.readings[access]

    def likeliest_path(self, read: Forward) -> list[IntArray]:
        """The states at every step of the most likely path; of equally likely ones, the first in order of places."""
        best, later = [], np.ones((1, 1))
        for step in reversed(range((self.accesses - 1) * self.every + self.reach + 1)):
            move = self.moves[step]
            best.append(self.weighed(step, later, read))
            later = np.zeros((len(move.law), best[-1].shape[1]))
            for law, leads in zip(move.law.T, move.leads.T, strict=True):
                on = np.flatnonzero(law)
                later[on] = np.maximum(later[on], law[on, None] * best[-1][leads[on]])
            later /= later.max(axis=0)
        state, path = np.zeros(len(read.probability), np.int64), []
        sequence = np.arange(len(state))
        for move, onwards in zip(self.moves, reversed(best), strict=False):
            leads = move.leads[state]
            odds = move.law[state] * onwards[leads, sequence[:, None]]
            place = (odds >= (1 - AS_LIKELY) * odds.max(axis=1, keepdims=True)).argmax(axis=1)
            state = leads[sequence, place]
            path.append(state)
        return path

    def exposures(self, walks: int, seed: int) -> Iterator[tuple[IntArray, FloatArray, int]]:
        """Exposed sequences [sequence, step] in batches, all that can be or those of walks; weights; how many."""
        self.refuse_many(walks)
        size = BATCH // (len(self.moves) * max(len(move.states) for move in self.moves))
        batches = range(0, self.sequences or walks, min(max(size, 1), AT_ONCE))
        generator = np.random.default_rng(seed)
        for start in batches:
            count = min(batches.step, batches.stop - start)
            if self.sequences:
                exposed = self.numbered(np.arange(start, start + count))
                probability = self.forward(exposed).probability
                yield exposed[probability > 0], probability[probability > 0], start + count
            else:
                yield self.simulated(count, generator), np.full(count, 1 / walks), start + count

    def refuse_many(self, walks: int) -> None:
        """Refuse what could not be kept of so many walks, or would not end, before anything is done for them."""
        if not self.sequences:
            refuse_if_too_large(WALK_SIZE * walks, f"What is found on {walks} walks", "Ask for fewer walks.")
        at_once = min(max(BATCH // (self.end * self.profile.places), 1), AT_ONCE)
        seconds = PASS * self.end * ((self.sequences or walks) / at_once)
        what = f"A run of {self.accesses} accesses on {walks} walks"
        refuse_if_too_long(seconds, what, "Ask for fewer 'accesses' or 'walks'.")

    @property
    def sequences(self) -> int:
        """How many exposed sequences there are; 0 if too many to try them all."""
        count = self.symbols ** min(self.accesses * len(self.release), ENUMERATED.bit_length())
        return count if count <= ENUMERATED else 0

    def numbered(self, numbers: IntArray) -> IntArray:
        """The exposed sequences of these numbers."""
        moments = [time for access in range(self.accesses) for time in self.times(access, self.release)]
        exposed = np.full((len(numbers), moments[-1] + 1), -1)
        exposed[:, moments] = numbers[:, None] // self.symbols ** np.arange(len(moments)) % self.symbols
        return exposed

    def simulated(self, count: int, generator: np.random.Generator) -> IntArray:
        """What is exposed along walks of the profile."""
        scenario = self.kinds[-1].scenario
        steps = (self.accesses - 1) * self.every + max(*scenario.release, *scenario.known) + 1
        walks = sample_places(self.profile, steps, count, int(generator.integers(2**63)))
        if isinstance(self.exposer, Codebook):
            return self.exposer.simulate(walks, lambda n: generator.integers(WORDS, size=n, dtype=np.uint32))
        exposed = np.zeros((count, steps), np.int64)
        if isinstance(self.exposer, Policy):
            followed = self.followed(self.exposer, exposed)  # asks for a table when all before it is exposed
        else:
            followed = repeat((self.exposer.table[None], np.zeros(count, np.int64)))
        for step, (at, (tables, which)) in enumerate(zip(walks.T, followed, strict=False)):
            exposed[:, step] = drawn(tables[which, at], generator)
        return exposed


def no_row() -> CodebookError:
    """Something can be exposed that the codebook does not go on from."""
    return CodebookError("A table has no row for a history that can happen.")
