"""Exposed sequences of a run: all of them where they are few, else those of simulated walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat

import numpy as np

from hideseek.adversary.exposers import followed
from hideseek.adversary.filtering import Forward, forward
from hideseek.adversary.hidden_markov import AT_ONCE, Run
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.weights import WORDS
from hideseek.game.mechanism import Policy
from hideseek.model.profile import drawn, sample_places
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.estimates import Estimate
from hideseek.util.limits import refuse_if_too_large, refuse_if_too_long
from hideseek.util.progress import Advance

ENUMERATED = 20_000  # exposed sequences up to which all are tried
BATCH = 2**23  # numbers that one pass over walks may keep
WALK_SIZE = 96  # bytes for what is kept of a walk
PASS = 1e-4  # seconds for one step of one pass over two places, where one adversary reads it; others take longer


def enumerable(run: Run) -> int:
    """How many exposed sequences there are; 0 if too many to try them all."""
    count = run.symbols ** min(run.accesses * len(run.release), ENUMERATED.bit_length())
    return count if count <= ENUMERATED else 0


def refuse_many(run: Run, walks: int) -> None:
    """Refuse more walks than could be kept, or would end, before anything is done for them."""
    count = enumerable(run)
    if not count:
        what = f"What is found on {walks} walks"
        refuse_if_too_large(WALK_SIZE * walks, what, "Ask for fewer walks.", parameter="walks")
    at_once = min(max(BATCH // (run.end * run.profile.places), 1), AT_ONCE)
    seconds = PASS * run.end * ((count or walks) / at_once)
    what = f"A run of {run.accesses} accesses on {walks} walks"
    refuse_if_too_long(seconds, what, "Ask for fewer 'accesses' or 'walks'.", parameter="accesses, walks")


def read_sequences(run: Run, walks: int, seed: int) -> Iterator[tuple[Forward, FloatArray, int]]:
    """Exposed sequences, filtered, in batches: all that are possible or those of walks; their weights; how many."""
    refuse_many(run, walks)
    count = enumerable(run)
    size = BATCH // (len(run.moves) * max(len(move.states) for move in run.moves))
    batches = range(0, count or walks, min(max(size, 1), AT_ONCE))
    generator = np.random.default_rng(seed)
    for start in batches:
        done = min(start + batches.step, batches.stop)
        if count:
            read = forward(run, numbered(run, np.arange(start, done)))
            read = read.only(read.probability > 0)
            yield read, read.probability, done
        else:
            yield forward(run, simulated(run, done - start, generator)), np.full(done - start, 1 / walks), done


def over_sequences(
    run: Run, value: Callable[[Forward], FloatArray], walks: int, seed: int, progress: Advance | None = None
) -> tuple[FloatArray, FloatArray]:
    """A value of every exposed sequence, [..., sequence], and the sequences' weights, in one pass."""
    values, weights, count = [], [], enumerable(run)
    for read, weight, done in read_sequences(run, walks, seed):
        if len(weight):  # some of these sequences are possible
            values.append(value(read))
            weights.append(weight)
        if progress is not None:
            progress("sequences" if count else "walks", done, count or walks)
    return np.concatenate(values, axis=-1), np.concatenate(weights)


def estimated(run: Run, values: FloatArray, weights: FloatArray) -> Estimate:
    """The mean of a value over exposed sequences: exact over all of them, with its interval over walks."""
    return Estimate(float(values @ weights)) if enumerable(run) else Estimate.mean_of(values)


def error_and_hit(run: Run, scores: FloatArray, weights: FloatArray) -> Estimate:
    """An adversary's expected error with the hit rate, from both of every exposed sequence, [2, sequence]."""
    error, hit = (estimated(run, values, weights) for values in scores)
    return Estimate(error, None if error.exact else error.interval, hit_rate=hit)


def numbered(run: Run, numbers: IntArray) -> IntArray:
    """The exposed sequences of these numbers."""
    moments = [time for access in range(run.accesses) for time in run.times(access, run.release)]
    exposed = np.full((len(numbers), moments[-1] + 1), -1)
    exposed[:, moments] = numbers[:, None] // run.symbols ** np.arange(len(moments)) % run.symbols
    return exposed


def simulated(run: Run, count: int, generator: np.random.Generator) -> IntArray:
    """What is exposed along walks of the profile."""
    scenario = run.kinds[-1].scenario
    steps = (run.accesses - 1) * run.every + max(*scenario.release, *scenario.known) + 1
    walks = sample_places(run.profile, steps, count=count, seed=int(generator.integers(2**63)))
    if isinstance(run.exposer, Codebook):
        return run.exposer.simulate(walks, lambda n: generator.integers(WORDS, size=n, dtype=np.uint32))
    exposed = np.zeros((count, steps), np.int64)
    tables_of: Iterator[tuple[FloatArray, IntArray]]
    if isinstance(run.exposer, Policy):  # asks for a table when everything before it is exposed
        tables_of = followed(run.exposer, exposed, run.accesses, run.profile.places)
    else:
        tables_of = repeat((run.exposer.table[None], np.zeros(count, np.int64)))
    for step, (at, (tables, which)) in enumerate(zip(walks.T, tables_of, strict=False)):
        exposed[:, step] = drawn(tables[which, at], generator)
    return exposed
