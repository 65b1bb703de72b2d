"""What is released from each true place, what that loses, and how often the adversary is right there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hideseek.adversary.guesses import best_of
from hideseek.codebook.codebook import Codebook
from hideseek.model.belief_chain import BeliefChain
from hideseek.model.scenario import Scenario
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import chosen_by
from hideseek.playbook.playbook import Playbook
from hideseek.util.arrays import FloatArray, IntArray, encoded, summed


@dataclass(frozen=True, eq=False)
class Releases:
    """By true place: its ``share`` of the accesses, the distribution of releases ``table`` [place, release], the
    expected quality ``loss``, the adversary's expected ``error``, and how often the guess is ``right`` (None where
    that is not known). A place at which there is no access has zeros.
    """

    share: FloatArray
    table: FloatArray
    loss: FloatArray
    error: FloatArray
    right: FloatArray | None


def of_codebook(codebook: Codebook) -> Releases:
    """The stage that repeats, averaged over its histories; the adversary knows what the codebook remembers.

    Where several places are released at an access, the first of them counts.
    """
    stage, places = codebook.stages[codebook.repeating], codebook.places
    view = stage.view(stage.prior, codebook.privacy, codebook.quality)
    moment = min(stage.prior.offsets, key=lambda offset: abs(offset - stage.scenario.release[0]))
    place = stage.prior.at((moment,))[:, 0]
    together = view.meet.of(stage.prior.probability, view.released).reshape(view.count, view.d_p.shape[1], -1)
    targets = encoded(stage.prior.at(stage.scenario.target), places)  # of each entry, as the number of the right guess
    code = np.zeros(view.d_p.shape[1], np.int64)
    code[view.target] = targets
    guess = best_guess(view.d_p, together, code)[view.history]  # [entry, release]
    released = view.released[view.row]
    erring = (view.d_p[guess, view.target[:, None]] * released).sum(axis=1)
    right = ((guess == targets[:, None]) * released).sum(axis=1)
    first = released.reshape(len(released), places, -1).sum(axis=2)
    return averaged(place, stage.prior.probability, places, first, view.lost, erring, right)


def of_plan(game: BeliefGame, planner: Planner | None) -> Releases:
    """The first access, when nothing was released before: by the planner, or by the game's optimum without one."""
    first = Standing.first(game)
    table = game.ceiling.mechanism.table if planner is None else chosen_by(game, planner)(first)[0]
    return at_first(game, game.scenario, np.asarray(table, dtype=np.float64))


def of_playbook(playbook: Playbook) -> Releases:
    """The first access, when nothing was released before."""
    return at_first(playbook, playbook.scenario, playbook.play(Standing.first(playbook)).by_state)


def at_first(chain: BeliefChain, scenario: Scenario, table: FloatArray) -> Releases:
    """The first access, by a table [state, release]."""
    place = chain.states[:, scenario.known.index(0)]
    joint, right = chain.start[:, None] * table, None
    if scenario.target == (0,):  # then the error depends on the place alone, and a guess is a place
        here, first = np.unique(place, return_index=True)
        guess = best_guess(chain.error[:, first], (here[:, None] == place) @ joint, here)
        right = ((guess == place[:, None]) * table).sum(axis=1)
    else:
        guess = (chain.error @ joint).argmin(axis=0)
    erring = (chain.error[guess].T * table).sum(axis=1)
    return averaged(place, chain.start, table.shape[1], table, (chain.cost * table).sum(axis=1), erring, right)


def best_guess(error: FloatArray, joint: FloatArray, code: IntArray) -> IntArray:
    """The number of the best guess for every release [..., release]; of equally good ones a likely truth, by code.

    >>> best_guess(1 - np.eye(2), np.array([[0.4, 0.1], [0.2, 0.3]]), np.arange(2))
    array([0, 1])
    """
    good = best_of(error, joint, code)[1]
    any_truth = good.max(axis=-2) >= 0
    return np.asarray(np.where(any_truth, code[good.argmax(axis=-2)], (error @ joint).argmin(axis=-2)))


def averaged(
    place: IntArray,
    probability: FloatArray,
    places: int,
    released: FloatArray,
    lost: FloatArray,
    erring: FloatArray,
    right: FloatArray | None,
) -> Releases:
    """Numbers of entries or states as averages by place."""
    share = summed(place, probability, places)

    def by_place(values: FloatArray) -> FloatArray:
        total = np.zeros((places, *values.shape[1:]))
        np.add.at(total, place, (probability * values.T).T)
        return np.asarray((total.T / np.where(share > 0, share, 1.0)).T)

    return Releases(
        share, by_place(released), by_place(lost), by_place(erring), None if right is None else by_place(right)
    )
