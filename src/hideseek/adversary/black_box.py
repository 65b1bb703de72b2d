"""A mechanism that is only a function of yours: adversaries learn from its runs what it does, and then attack others.

Nobody knows the distribution that a function draws from, and it may remember true places. So the adversaries watch it
protect many walks whose places they know, and learn how likely a release is given what may matter: the place, the
places before it, the release before it, or the number of the access. What they learn is a model of the mechanism; with
it they filter and smooth the releases of other walks, and the true places of these score their guesses. Each error is
that of an attack that was made, so the best adversary's is *at most* this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hideseek.adversary.exposers import Kind, Plain
from hideseek.adversary.filtering import forward
from hideseek.adversary.guesses import likeliest_guesses
from hideseek.adversary.hidden_markov import AT_ONCE, Run
from hideseek.adversary.sequences import BATCH
from hideseek.adversary.through_time import Adversary, questions
from hideseek.errors import broken_rule
from hideseek.game.mechanism import Mechanism
from hideseek.metrics.metric import Metric, over_places
from hideseek.model.profile import Profile, sample_places
from hideseek.model.scenario import Scenario, since_start
from hideseek.planning.simulation import without_chance
from hideseek.util.arrays import FloatArray, IntArray, encoded
from hideseek.util.estimates import Estimate

Rule = Callable[[int, tuple[int, ...], np.random.Generator], int]  # (place, past releases, rng) -> released place

LEARN = 10  # times as many walks to learn from as to score on
BACK_OFF = 2.0  # cases that what is known of fewer facts counts as
MOST = 2**22  # numbers of a table that is learned, and states times accesses of a walk
ATTACKS = (Adversary.WINDOW, Adversary.FILTER, Adversary.SMOOTHER, Adversary.VITERBI)


@dataclass(frozen=True, eq=False)
class Watched:
    """Walks that a mechanism protected: true places and releases, both [walk, access]."""

    places: IntArray
    releases: IntArray

    def part(self, walks: slice) -> Watched:
        """Some of the walks."""
        return Watched(self.places[walks], self.releases[walks])


def watched(rule: Rule, profile: Profile, accesses: int, walks: int, seed: int, owner: str = "compare") -> Watched:
    """Let a function protect walks of a profile, one after another; the past is empty where a walk begins."""
    generator = np.random.default_rng(seed)
    places = sample_places(profile, accesses, count=walks, seed=int(generator.integers(2**63)))
    releases = np.zeros_like(places)
    for walk, own in zip(places.tolist(), releases, strict=True):
        past: tuple[int, ...] = ()
        for access, place in enumerate(walk):
            released = rule(place, past, generator)
            if not isinstance(released, int | np.integer) or not 0 <= released < profile.places:
                must = f"functions that return the number of a place, from 0 to {profile.places - 1}"
                raise broken_rule("rivals", owner, must, f"another {type(released).__name__}")
            own[access] = released
            past += (int(released),)
    return Watched(places, releases)


def attack_watched(
    rule: Rule, profile: Profile, *, privacy: Metric, quality: Metric, accesses: int, walks: int, seed: int
) -> tuple[dict[Adversary, Estimate], Estimate]:
    """What adversaries who learned a function from its runs err by, and what it loses, on average over a run.

    Each adversary takes the model that guesses best on walks set apart for the choice, and is scored on others.
    """
    whole = watched(rule, profile, accesses, (LEARN + 2) * walks, seed)
    scored, known = whole.part(slice(2 * walks)), whole.part(slice(2 * walks, None))
    tries: dict[Adversary, list[FloatArray]] = {adversary: [] for adversary in ATTACKS}
    tries[Adversary.WINDOW].append(window_scores(known, scored, privacy, profile.places))
    for run in models(known, profile, privacy):
        for adversary, scores in model_scores(run, scored).items():
            tries[adversary].append(scores)
    # who knows more may guess as those do who know less; Viterbi guesses by the path alone
    tries[Adversary.FILTER] += tries[Adversary.WINDOW]
    tries[Adversary.SMOOTHER] += tries[Adversary.FILTER]
    found = {}
    chance = prior_errors(scored.part(slice(walks)), profile, privacy)
    for adversary, each in tries.items():
        error, hit = min(each, key=lambda scores: float(scores[0, walks:].mean()))[:, :walks]
        mean = Estimate.mean_of(without_chance(error[:, None], chance[:, None]))
        found[adversary] = Estimate(mean, mean.interval, hit_rate=Estimate.mean_of(hit))
    return found, watched_loss(whole, quality, profile.places)


def watched_loss(seen: Watched, quality: Metric, places: int) -> Estimate:
    """The expected loss per access on walks."""
    return Estimate.mean_of(over_places(quality, places)[seen.places, seen.releases].mean(axis=1))


def prior_errors(scored: Watched, profile: Profile, privacy: Metric) -> FloatArray:
    """By how much somebody who sees no release errs more on a walk than on average: chance, the same for all attacks.

    >>> from hideseek import MarkovProfile
    >>> from hideseek.metrics import hamming
    >>> stays = MarkovProfile.from_matrix([[0.9, 0.1], [0.3, 0.7]])
    >>> walks = np.array([[0, 0], [0, 1]])
    >>> prior_errors(Watched(places=walks, releases=walks), stays, hamming()).round(9).tolist()
    [-0.25, 0.25]
    """
    accesses, places = scored.places.shape[1], profile.places
    run = Run(Mechanism(np.eye(places)), profile, privacy=privacy, accesses=accesses, owner="compare")
    beliefs = np.hstack([run.about(access, run.prior[access]) for access in range(accesses)])
    believed = np.zeros((places, accesses))
    believed[run.target(0).code] = beliefs
    d_p = over_places(privacy, places)
    guess = likeliest_guesses(d_p, believed)
    return np.asarray(d_p[guess, scored.places].mean(axis=1) - run.prior_risks.mean())


def models(known: Watched, profile: Profile, privacy: Metric) -> Iterator[Run]:
    """What may be learned from walks, as runs in which it is how releases come about."""
    accesses, places = known.places.shape[1], profile.places
    for past in range(3):  # true places before the current one
        looks = Scenario(target=(0,), known=tuple(range(-past, 1)))
        if places ** (past + 2) <= MOST:
            yield _Learned([learned_kind(known, since_start(looks, n), places) for n in range(past + 1)], known,
                           profile, privacy)  # fmt: skip
    if places**3 <= MOST:
        sees = Scenario(target=(0,), seen=(-1,))
        yield _Learned([learned_kind(known, since_start(sees, n), places) for n in range(2)], known, profile, privacy)
    now = Scenario.sporadic()
    yield _Learned([learned_kind(known, now, places, access) for access in range(accesses)], known, profile, privacy)


class _Learned(Run):
    """A run as somebody sees it who learned from walks how likely each release is."""

    def __init__(self, kinds: Sequence[Kind], known: Watched, profile: Profile, privacy: Metric) -> None:
        stand_in = Mechanism(np.eye(profile.places))
        super().__init__(stand_in, profile, privacy=privacy, accesses=known.places.shape[1], owner="compare")
        self.kinds = tuple(kinds)


@dataclass(frozen=True, eq=False)
class _Rows(Plain):
    """A row for each vector of what is known and seen, numbered in order, the latest first."""

    places: int

    def rows(self, seen: IntArray, known: IntArray) -> IntArray:
        return encoded(np.c_[known[:, ::-1], seen], self.places)


def learned_kind(known: Watched, scenario: Scenario, places: int, access: int | None = None) -> Kind:
    """How releases come about, learned given what a scenario knows and sees; of one access, or of all alike."""
    back, accesses = -min(*scenario.known, *scenario.seen, 0), known.places.shape[1]
    facts = [known.places[:, back + offset : accesses + offset] for offset in reversed(scenario.known)]
    facts += [known.releases[:, back + offset : accesses + offset] for offset in scenario.seen]
    columns, releases = np.stack(facts, axis=-1), known.releases[:, back:]
    rows = learned(columns.reshape(-1, len(facts)), releases.ravel(), places)
    if access is not None:
        rows = learned(columns[:, access], releases[:, access], places, rows)
    return Kind(scenario, (scenario.known,), (_Rows(sparse.csr_array(rows), places),))


def learned(facts: IntArray, values: IntArray, places: int, before: FloatArray | None = None) -> FloatArray:
    """The distribution of a value given each vector of facts, [vector, value], the first fact being the most telling.

    What is known given fewer facts, or ``before``, counts as a few cases more; nothing is impossible.

    >>> learned(np.array([[0], [0], [0]]), np.array([1, 1, 1]), places=2).round(2).tolist()
    [[0.08, 0.92], [0.2, 0.8]]
    """
    count = facts.shape[1]
    rows, widths = (np.full((1, places), 1 / places), range(count + 1)) if before is None else (before, [count])
    for width in widths:
        cases = np.zeros((places**width, places))
        np.add.at(cases, (encoded(facts[:, :width], places), values), 1.0)
        rows = np.repeat(rows, len(cases) // len(rows), axis=0)
        rows = (cases + BACK_OFF * rows) / (cases.sum(axis=1, keepdims=True) + BACK_OFF)
    return rows


def window_scores(known: Watched, scored: Watched, privacy: Metric, places: int) -> FloatArray:
    """Error and hit rate, [2, walk], of who guesses by the current release and the one before."""
    first = learned(known.releases[:, :1], known.places[:, 0], places)
    rows = np.stack([known.releases[:, 1:], known.releases[:, :-1]], axis=-1).reshape(-1, 2)
    later = learned(rows, known.places[:, 1:].ravel(), places).reshape(places, places, places)
    d_p = over_places(privacy, places)
    guess = np.zeros_like(scored.places)
    guess[:, 0] = likeliest_guesses(d_p, first.T)[scored.releases[:, 0]]
    best = likeliest_guesses(d_p, later.transpose(0, 2, 1))  # [release, the one before]
    guess[:, 1:] = best[scored.releases[:, 1:], scored.releases[:, :-1]]
    return scores_of(guess, scored.places, d_p)


def model_scores(run: Run, scored: Watched) -> dict[Adversary, FloatArray]:
    """Error and hit rate, [2, walk], of those who guess by a model of the mechanism."""
    asked = (Adversary.FILTER, Adversary.SMOOTHER, Adversary.VITERBI)
    size = len(run.moves) * max(len(move.states) for move in run.moves)
    at_once = min(max(BATCH // size, 1), AT_ONCE)
    guesses: dict[Adversary, list[IntArray]] = {adversary: [] for adversary in asked}
    for start in range(0, len(scored.places), at_once):
        read = forward(run, scored.releases[start : start + at_once])
        own: dict[Adversary, list[IntArray]] = {adversary: [] for adversary in asked}
        for adversary, aim, belief, path in questions(run, read, asked):
            own[adversary].append(aim.chosen(belief) if path is None else path)
        for adversary, each in own.items():  # all but the filter are asked from the last access back
            guesses[adversary].append(np.array(each if adversary is Adversary.FILTER else each[::-1]).T)
    d_p = over_places(run.privacy, run.profile.places)
    return {adversary: scores_of(np.concatenate(each), scored.places, d_p) for adversary, each in guesses.items()}


def scores_of(guess: IntArray, places: IntArray, d_p: FloatArray) -> FloatArray:
    """Error and hit rate of guesses at each access of each walk, [2, walk]."""
    return np.array([d_p[guess, places].mean(axis=1), (guess == places).mean(axis=1)])
