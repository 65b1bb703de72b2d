"""Adversaries through time: their expected errors about a run of accesses, exactly or by simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from hideseek.adversary.exposers import Exposer
from hideseek.adversary.filtering import Forward, backward, forward, likeliest_path
from hideseek.adversary.guesses import Aim
from hideseek.adversary.hidden_markov import ACCESSES, Run
from hideseek.adversary.misled import Mind, believed, mind_of
from hideseek.adversary.policies import WALKS, against_policy
from hideseek.adversary.sequences import error_and_hit, over_sequences
from hideseek.adversary.window import carry
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.stage import distinct
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Policy
from hideseek.metrics.metric import Metric
from hideseek.metrics.named import MetricLike
from hideseek.model.profile import Profile
from hideseek.util.arrays import FloatArray, IntArray, product
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of, whole_number
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance


class Adversary(StrEnum):
    """What an adversary's guesses rest on; all adversaries know the profile and the mechanism."""

    WINDOW = "window"  # the last few releases
    FILTER = "filter"  # every release so far
    SMOOTHER = "smoother"  # every release of the whole run
    VITERBI = "viterbi"  # the most likely whole path, given every release
    PREDICTOR = "predictor"  # every release so far, about the target of the next access
    IN_BETWEEN = "in_between"  # every release, about each single place between the accesses


REMEMBERING = tuple(one for one in Adversary if one is not Adversary.WINDOW)  # those who remember every release


Question = tuple[Adversary, Aim, FloatArray, IntArray | None]


def questions(run: Run, read: Forward, adversaries: Collection[Adversary]) -> Iterator[Question]:
    """What adversaries who remember every release are asked: who, about what, and the belief [truth, sequence].

    The most likely path has its guesses already, by number.
    """
    path = likeliest_path(run, read) if Adversary.VITERBI in adversaries else []
    for access in range(run.accesses):
        if Adversary.FILTER in adversaries:
            yield Adversary.FILTER, run.target(access), run.about(access, read.filtered[access]), None
        if Adversary.PREDICTOR in adversaries:
            belief = run.about(access + 1, read.predicted[access + 1])
            yield Adversary.PREDICTOR, run.target(access + 1), belief, None
    if {*adversaries} <= {Adversary.FILTER, Adversary.PREDICTOR}:
        return
    between = set(run.between) if Adversary.IN_BETWEEN in adversaries else set()
    for step, belief in backward(run, read):
        if step in between:
            aim = run.aim(step, (step,))
            yield Adversary.IN_BETWEEN, aim, aim.gather @ belief, None
        access, off = divmod(step - run.reach, run.every)
        if not off and access >= 0:
            aim = run.target(access)
            if Adversary.SMOOTHER in adversaries:
                yield Adversary.SMOOTHER, aim, aim.gather @ belief, None
            if Adversary.VITERBI in adversaries:
                yield Adversary.VITERBI, aim, aim.gather @ belief, aim.code[aim.index[path[step]]]


def scored(run: Run, read: Forward, adversaries: Collection[Adversary], mind: Mind | None = None) -> FloatArray:
    """Error and hit rate of adversaries who remember every release, [adversary, 2, sequence], averaged over the run.

    They guess by what they believe, where that is another profile: by a ``mind``.
    """
    scores: dict[Adversary, list[FloatArray]] = {adversary: [] for adversary in adversaries}
    asked = questions(run, read, adversaries)
    if mind is None:
        for adversary, aim, belief, guess in asked:
            scores[adversary].append(aim.guessed(belief) if guess is None else aim.scored(belief, guess))
    else:
        theirs = questions(mind, believed(mind, read.exposed), adversaries)
        for (adversary, aim, belief, _), (_, own, thought, guess) in zip(asked, theirs, strict=True):
            scores[adversary].append(aim.scored(belief, own.chosen(thought) if guess is None else guess))
    return np.array([np.mean(found, axis=0) for found in scores.values()])


def estimates(
    run: Run,
    adversaries: Collection[Adversary],
    *,
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
    owner: str = "attack",
    mind: Mind | None = None,
) -> dict[Adversary, Estimate]:
    """The errors of adversaries who remember every release, all from one pass over all sequences, or over walks."""
    whole_number(walks, "walks", owner, least=2)
    whole_number(seed, "seed", owner, least=0)
    if Adversary.IN_BETWEEN in adversaries and not run.between:
        raise broken_rule("adversary", owner, "one with something to guess", "no step between two accesses")
    scores, weights = over_sequences(run, lambda read: scored(run, read, adversaries, mind), walks, seed, progress)
    pairs = zip(adversaries, scores, strict=True)
    return {adversary: error_and_hit(run, own, weights) for adversary, own in pairs}


def losses_given_all(run: Run, read: Forward, quality: Metric) -> FloatArray:
    """The expected loss at every access given every release before it, [access, sequence]."""
    found = []
    for access in range(run.accesses):
        times = run.times(access, run.kind(access).scenario.seen)
        seen, which = distinct(read.exposed[:, times], run.symbols)
        lost = expected_losses(run, access, seen, quality)
        found.append(np.einsum("xs,xs->s", read.predicted[access], lost[:, which]))
    return np.array(found)


def expected_losses(run: Run, access: int, seen: IntArray, quality: Metric) -> FloatArray:
    """The expected loss of an access in each state in which its releases are read, after each past, [state, past]."""
    drawn, scenario = product(run.symbols, len(run.release)), run.kind(access).scenario
    likely = run.likelihood(access, np.repeat(seen, len(drawn), axis=0), np.tile(drawn, (len(seen), 1)))
    read, end = access * run.every + run.ahead, access * run.every + run.reach
    wanted = run.places_at(end, run.times(access, scenario.quality))
    lost = np.array([quality.between(wanted, drawn, past) for past in (seen if quality.looks_back else seen[:1])])
    for move in reversed(run.moves[read + 1 : end + 1]):
        lost = np.array([move.matrix.T @ own for own in lost])
    each = np.nan_to_num(likely).reshape(len(likely), len(seen), len(drawn))
    return np.asarray(np.einsum("xpo,pxo->xp", each, np.broadcast_to(lost, (len(seen), *lost.shape[1:]))))


@checked
def beliefs(codebook: Codebook, profile: Profile, *, exposed: npt.ArrayLike) -> FloatArray:
    """What an adversary who remembers every release believes about the place at each access.

    Parameters
    ----------
    codebook, profile
        What exposes, and how the person moves.
    exposed
        Region numbers at all steps from the first access on, [step]; steps at which nothing is exposed may hold
        anything.

    Returns
    -------
    array [access, place]
        The distribution of the true place at each access, given every release up to it.

    Raises
    ------
    ParameterError
        If the codebook cannot release what was ``exposed``.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Scenario, design
    >>> profile, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
    >>> codebook = design(
    ...     profile, scenario=Scenario.past_present(1), privacy=differ, quality=differ, budget=0.15
    ... )
    >>> beliefs(codebook, profile, exposed=[0, 0, 1]).argmax(axis=1)
    array([0, 0, 1])
    """
    numbers = steps_of(exposed, codebook)
    scenario = codebook.scenario
    accesses = (len(numbers) - len(scenario.release)) // scenario.every + 1
    run = Run(codebook, profile, accesses=accesses, owner="beliefs")
    read_at = [moment for access in range(accesses) for moment in run.times(access, run.release)]
    used = numbers[read_at]
    if not ((used >= 0) & (used < run.symbols) & (used == np.floor(used))).all():
        raise broken_rule("exposed", "beliefs", f"region numbers from 0 to {run.symbols - 1}", "others")
    releases = np.zeros(len(numbers), np.int64)
    releases[read_at] = used
    read = forward(run, releases[None])
    if not read.filtered[-1].any():
        raise broken_rule("exposed", "beliefs", "releases that the codebook can make", "others")
    found = np.zeros((accesses, profile.places))
    for access, belief in enumerate(read.filtered):
        now = access * run.every
        np.add.at(found[access], run.places_at(now + run.ahead, (now,))[:, 0], belief[:, 0])
    return found


def steps_of(exposed: npt.ArrayLike, codebook: Codebook) -> FloatArray:
    """What was exposed at each step, as an array [step] that holds at least one access."""
    try:
        numbers = np.array(exposed, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError, OverflowError):
        raise broken_rule("exposed", "beliefs", "region numbers, one per step", type(exposed).__name__) from None
    least = len(codebook.scenario.release)
    if numbers.ndim != 1 or len(numbers) < least:
        raise broken_rule("exposed", "beliefs", f"at least {least} in a row", numbers.shape)
    return numbers


@checked
def attack(
    exposer: Exposer,
    profile: Profile,
    *,
    adversary: Adversary | str,
    privacy: MetricLike | None = None,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    window: int | None = None,
    believes: Profile | None = None,
    progress: Advance | None = None,
) -> Estimate:
    """An adversary's expected error about a run of accesses from the first on, with the hit rate.

    The adversary knows profile and exposer, guesses with the least error, and learns nothing from the access times.

    Parameters
    ----------
    exposer, profile
        A codebook, a mechanism f[place, release] for every step, or an adapting policy; and how the person moves.
    adversary, privacy, accesses
        What the guesses rest on; the metric of the error, where a codebook has its own; and how long the run is.
    walks, seed, progress
        The walks to simulate where the exposed sequences cannot be enumerated, and their seed; told how far it is.
    window
        How many releases before the current one the window adversary remembers: by default as many as the codebook.
    believes
        Another profile over the same places, which the adversary takes for the true one. Where releases are impossible
        under it, the adversary forgets all so far and goes on from what it says of that time when nothing is exposed.

    Returns
    -------
    Estimate
        In units of ``privacy``, on average over the accesses; ``hit_rate`` is the probability of an exact guess.

    Raises
    ------
    ParameterError
        Where an argument breaks its rule: an adversary with nothing to guess, or a window for another than 'window'.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Mechanism
    >>> stays, differ = MarkovProfile.from_matrix([[0.99, 0.01], [0.01, 0.99]]), 1 - np.eye(2)
    >>> coin = Mechanism([[0.7, 0.3], [0.3, 0.7]])
    >>> attack(coin, stays, adversary="filter", privacy=differ, accesses=10).in_words()
    '0.194558'
    >>> moves = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    >>> attack(coin, stays, adversary="filter", privacy=differ, accesses=10, believes=moves).in_words()
    '0.3'
    """
    adversary = one_of(Adversary, adversary, "adversary", "attack")
    run = Run(exposer, profile, privacy=privacy, accesses=accesses)
    mind = mind_of(run, believes, "attack")
    if adversary is Adversary.WINDOW:
        return with_window(run, mind, window, walks, seed)
    refuse_window(window)
    return estimates(run, (adversary,), walks=walks, seed=seed, progress=progress, mind=mind)[adversary]


def refuse_window(window: int | None) -> None:
    """Refuse a window for an adversary who remembers every release."""
    if window is not None:
        raise broken_rule("window", "attack", "given to no adversary but 'window'", window)


def with_window(run: Run, mind: Mind | None, window: int | None, walks: int, seed: int) -> Estimate:
    """The expected error of an adversary who remembers so many releases."""
    if window is not None:
        whole_number(window, "window", "attack", least=0)
    if isinstance(run.exposer, Policy):
        return against_policy(run, window or 0, walks=walks, seed=seed, mind=mind)
    found = carry(run, window, mind)
    return Estimate(found.error.mean(), hit_rate=Estimate(found.hit.mean()))
