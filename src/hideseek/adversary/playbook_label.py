"""What a device with a playbook leaves to adversaries who remember every release, with and without missed accesses.

Every number stands between two that need no device (:func:`extremes_of`): what an adversary who knows the person's
habits says when nothing is exposed, or after a long silence, and what the adversary says when the true place is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hideseek.adversary.belief_exposer import Exposure, follow_beliefs, windows_seen
from hideseek.adversary.guesses import likeliest_guesses, over_places
from hideseek.adversary.label import share
from hideseek.adversary.naming import Naming, named, namings_of
from hideseek.errors import broken_rule
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.exposed_walks import Choose
from hideseek.model.steering import Standing
from hideseek.playbook.playbook import Playbook, tables_at
from hideseek.util.arrays import FloatArray
from hideseek.util.best_guess import least_errors
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

ACCESSES, WALKS = 200, 40  # a step takes a millisecond or two, so that these take seconds
MISSED = 1 / 3  # of the accesses, each by chance, in the second part of a label


@dataclass(frozen=True)
class Extreme:
    """What the adversary does without a device: how often each place is named, and the expected error."""

    namings: tuple[Naming, ...]
    error: float


@dataclass(frozen=True)
class PlaybookLabel:
    """What is left against adversaries who remember every release, on average over the accesses of a run.

    ``steady`` is a run with an access at every step that may have one, ``missed`` one in which a third of them is
    missed by chance; they stand between ``nothing`` and the ``truth`` exposed. No mechanism exceeds the ``ceiling`` in
    the long run; ``kept`` is the filter's share of it.
    """

    steady: Exposure
    missed: Exposure
    nothing: Extreme
    truth: Extreme
    ceiling: float
    kept: Estimate
    accesses: int
    walks: int


@checked
def playbook_label(
    playbook: Playbook, *, accesses: int = ACCESSES, walks: int = WALKS, seed: int = 0, progress: Advance | None = None
) -> PlaybookLabel:
    """Follow a playbook along walks of the chain in its file, and attack it.

    Parameters
    ----------
    playbook
        One that protects the current place.
    accesses, walks, seed
        How many on each walk, at least a window of the budget; how many walks, at least 2, whose scatter gives the
        95 % intervals; and their seed.
    progress
        Called now and then with how many accesses are done, and how many there are.

    Returns
    -------
    PlaybookLabel
        Errors, losses and namings are exact given what was released before each access; the walks decide what was.

    Raises
    ------
    ParameterError
        If an argument breaks its rule, or the playbook protects other places.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Places, make_playbook, plan
    >>> from hideseek.planning import BeliefGame
    >>> profile = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(profile, privacy="hamming", quality="hamming", budget=0.1)
    >>> label = playbook_label(make_playbook(game, plan(game, walks=2)), accesses=20, walks=2)
    >>> label.steady.worst_loss <= 0.1, label.missed.worst_loss <= 0.1, round(label.nothing.error, 9)
    (True, True, 0.4)
    """
    owner = "playbook_label"
    if playbook.scenario.target != (0,):
        rule = "one that protects the current place"
        raise broken_rule("playbook", owner, rule, f"one that protects the offsets {playbook.scenario.target}")
    accesses, walks = whole_number(accesses, "accesses", owner), whole_number(walks, "walks", owner, least=2)
    seed = whole_number(seed, "seed", owner, least=0)
    accesses, walks = windows_seen(playbook.window, accesses, walks)
    choose = counting(playbook, 2 * accesses, progress)
    log = playbook.follows_log
    steady = follow_beliefs(playbook, choose, accesses=accesses, walks=walks, seed=seed, log=log)
    waits = playbook.every * np.random.default_rng(seed).geometric(1 - MISSED, (walks, accesses))
    nothing, truth = extremes_of(playbook)
    return PlaybookLabel(
        steady=steady,
        missed=follow_beliefs(playbook, choose, accesses=accesses, walks=walks, waits=waits, seed=seed, log=log),
        nothing=nothing,
        truth=truth,
        ceiling=playbook.most,
        kept=share(steady.filter, playbook.most),
        accesses=accesses,
        walks=walks,
    )


def counting(playbook: Playbook, count: int, progress: Advance | None) -> Choose:
    """The playbook's tables; says at how many of so many accesses they were asked for."""
    done = 0

    def choose(standing: Standing) -> FloatArray:
        nonlocal done
        done += 1
        if progress is not None:
            progress("accesses", done, count)
        return tables_at(playbook, standing)

    return choose


def extremes_of(chain: BeliefChain) -> tuple[Extreme, Extreme]:
    """With nothing exposed, and with the truth, where the current place is protected."""
    places, metric = over_places(chain)
    shares = places @ chain.start

    def extreme(joint: FloatArray) -> Extreme:  # [place, what is seen]
        counts = named(likeliest_guesses(metric, joint), joint).sum(axis=2)
        return Extreme(namings_of(counts[:, :, None], np.ones(1)), float(least_errors(metric, joint).sum()))

    return extreme(shares[:, None]), extreme(np.diag(shares))
