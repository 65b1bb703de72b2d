"""The label for people: how often an adversary names their places, and how far off the adversary is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from hideseek.adversary.belief_exposer import Remembered, follow_beliefs, windows_seen
from hideseek.adversary.label import share
from hideseek.adversary.naming import Naming
from hideseek.adversary.playbook_label import extremes_of
from hideseek.adversary.visits import named_on_visits, rate_of
from hideseek.model.exposed_walks import Choose
from hideseek.model.steering import Standing
from hideseek.planning.belief_game import BeliefGame
from hideseek.playbook.playbook import Playbook, tables_at
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.estimates import Estimate

ACCESSES, WALKS = 144, 30  # half a day of steps of five minutes, and how often it is lived
VISITS = 60  # to each sensitive place, which may be rare on those walks


@dataclass(frozen=True)
class PlaceLabel:
    """How often the adversary names a place: with ``nothing`` exposed, with the ``truth``, and ``protected``.

    Each has the rate while the person is ``there``, and while the person is ``elsewhere``; and the ``share`` of the
    accesses at which the person is there.
    """

    name: str
    sensitive: bool
    nothing: Naming
    truth: Naming
    protected: Naming


@dataclass(frozen=True)
class PersonLabel:
    """What a person's protection is worth, against an adversary who remembers every release.

    ``places`` says it by place. ``error`` is the adversary's expected error, between that
    with the ``truth`` exposed and that with ``nothing`` exposed, in ``unit``; ``told`` is how often the true place is
    released. For experts: the ``weighted`` error, in
    which sensitive places count for more and which the plan maximises; ``kept``, its share of the ``ceiling``; the
    ``bound``, which no mechanism that keeps the budget given every release exceeds in the long run; the error of the
    ``smoother``, who also knows later releases; and the mean and the largest expected loss given every release, its
    largest mean over a ``window`` of the budget, and the mean loss of the releases that came (``realised``).
    """

    places: tuple[PlaceLabel, ...]
    error: Estimate
    nothing: float
    truth: float
    unit: str
    told: Estimate
    weighted: Estimate
    weighted_unit: str
    kept: Estimate
    ceiling: float
    bound: float
    smoother: Estimate
    quality_loss: Estimate
    worst_loss: float
    worst_window: float
    realised: Estimate
    window: int
    cap: float | None
    budget: float
    loss_unit: str
    accesses: int
    walks: int


def person_label(
    playbook: Playbook,
    *,
    plain: BeliefGame,
    bound: float,
    names: Mapping[int, str],
    sensitive: Collection[int] = (),
    accesses: int = ACCESSES,
    walks: int = WALKS,
    visits: int = VISITS,
    seed: int = 0,
) -> PersonLabel:
    """Attack a playbook along walks of the person with an access at every step.

    ``bound`` is that of the plan, and ``plain`` the game without the weights of sensitive places, in which the
    adversary guesses. ``names`` says which places the label is about, by number. With nothing and with the truth
    exposed the numbers are exact; the scatter over ``walks``, and over ``visits`` to each sensitive place, gives the
    intervals of the others.

    >>> from hideseek import MarkovProfile, Places, make_playbook, plan
    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]], Places([46.52, 46.53], [6.57, 6.58]))
    >>> game = BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.2)
    >>> playbook = make_playbook(game, plan(game, walks=2))
    >>> label = person_label(playbook, plain=game, bound=0.2, names={1: "work"}, accesses=10, walks=5)
    >>> work = label.places[0]
    >>> work.nothing.there < work.protected.there < work.truth.there
    True
    >>> round(label.error, 6), label.nothing, label.truth
    (0.2, 0.5, 0.0)
    """
    # the second attack and the visits meet beliefs of the first
    tables, log = Remembered(partial(tables_at, playbook)), playbook.follows_log
    before, (accesses, walks) = max(accesses, playbook.window), windows_seen(playbook.window, accesses, walks)
    told = Told(plain.states[:, -1], tables)
    found, aimed = (
        follow_beliefs(one, choice, accesses=accesses, walks=walks, seed=seed, log=log)
        for one, choice in ((plain, told), (playbook, tables))
    )
    protected = list(found.namings)
    for place in sensitive:
        there = named_on_visits(plain, tables, place, accesses=before, visits=visits, seed=seed, log=log)
        protected[place] = replace(protected[place], there=there)
    nothing, truth = extremes_of(plain)
    return PersonLabel(
        tuple(
            PlaceLabel(name, place in sensitive, nothing.namings[place], truth.namings[place], protected[place])
            for place, name in names.items()
        ),
        error=found.filter, nothing=nothing.error, truth=truth.error, unit=plain.privacy.unit,
        told=rate_of(np.mean(told.shares, axis=0)),
        weighted=aimed.filter, weighted_unit=playbook.privacy.unit, kept=share(aimed.filter, playbook.most),
        ceiling=playbook.most, bound=min(bound, playbook.most), smoother=found.smoother,
        quality_loss=found.quality_loss, worst_loss=found.worst_loss, worst_window=found.worst_window,
        realised=found.realised, window=playbook.window, cap=playbook.cap, budget=playbook.budget,
        loss_unit=playbook.quality.unit, accesses=accesses, walks=walks,
    )  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A choice of tables; counts how likely each one releases the true place, [access, walk]."""

    place: IntArray  # of each state
    choose: Choose
    shares: list[FloatArray] = field(default_factory=list)

    def __call__(self, standing: Standing) -> FloatArray:
        """The tables of all walks: asked for once per access."""
        tables = self.choose(standing)
        true = tables[:, np.arange(len(self.place)), self.place]
        self.shares.append((standing.belief * true).sum(axis=1))
        return tables
