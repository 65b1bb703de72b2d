"""The label for people: how often an adversary names their places, and how far off the adversary is.

Every number stands between two that need no device: what an adversary who knows the person's habits says when nothing
is exposed, or after a long silence, and what the adversary says when the true place is exposed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hideseek.adversary.belief_exposer import BeliefPolicy, Choose, follow_beliefs
from hideseek.adversary.guesses import likeliest_guesses
from hideseek.adversary.naming import Naming, named, namings_of
from hideseek.adversary.visits import named_on_visits, rate_of
from hideseek.model.belief import gather
from hideseek.planning.belief_game import BeliefGame
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.best_guess import least_errors
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
    ``smoother``, who also knows later releases; and the mean and the largest expected loss given every release.
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
    budget: float
    loss_unit: str
    accesses: int
    walks: int


def person_label(
    game: BeliefGame,
    choose: Choose,
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
    """Attack what chooses its table at the belief, along walks of the person with an access at every step.

    ``game`` is the one that the choice was made for, with the ``bound`` of its plan, and ``plain`` the same without the
    weights of sensitive places, in which the adversary guesses. ``names`` says which places the label is about, by
    number. With nothing and with the truth exposed the numbers are exact; the scatter over ``walks``, and over
    ``visits`` to each sensitive place, gives the intervals of the others.

    >>> from hideseek.model.markov import MarkovProfile
    >>> chain = MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]])
    >>> game = BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.2)
    >>> coin = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> label = person_label(game, lambda _: coin, plain=game, bound=0.2, names={1: "work"}, accesses=10, walks=5)
    >>> [round(one.there, 6) for one in (label.places[0].nothing, label.places[0].protected, label.places[0].truth)]
    [0.0, 0.8, 1.0]
    >>> round(label.error, 6), label.nothing, label.truth
    (0.2, 0.5, 0.0)
    """
    tables = BeliefPolicy(plain, choose).table  # the second attack meets the beliefs of the first
    told = Told(plain.states[:, -1], tables)
    found, aimed = (
        follow_beliefs(one, choice, accesses=accesses, walks=walks, seed=seed)
        for one, choice in ((plain, told), (game, tables))
    )
    protected = list(found.namings)
    for place in sensitive:
        there = named_on_visits(plain, choose, place, accesses=accesses, visits=visits, seed=seed)
        protected[place] = replace(protected[place], there=there)
    nothing, truth = extremes_of(plain)
    kept, least, most = (min(max(game.kept(part), 0.0), 1.0) for part in (aimed.filter, *aimed.filter.interval))
    return PersonLabel(
        tuple(
            PlaceLabel(name, place in sensitive, nothing.namings[place], truth.namings[place], protected[place])
            for place, name in names.items()
        ),
        error=found.filter, nothing=nothing.error, truth=truth.error, unit=plain.privacy.unit,
        told=rate_of(np.reshape(told.shares, (walks, accesses)).mean(axis=1)),
        weighted=aimed.filter, weighted_unit=game.privacy.unit, kept=Estimate(kept, (least, most)),
        ceiling=game.most, bound=min(bound, game.most), smoother=found.smoother,
        quality_loss=found.quality_loss, worst_loss=found.worst_loss, budget=game.budget, loss_unit=game.quality.unit,
        accesses=accesses, walks=walks,
    )  # fmt: skip


@dataclass(frozen=True)
class Told:
    """A choice of tables; counts how likely each one that is asked for releases the true place."""

    place: IntArray  # of each state
    choose: Choose
    shares: list[float] = field(default_factory=list)

    def __call__(self, belief: FloatArray) -> FloatArray:
        """The table at a belief: asked for once per access, walk after walk."""
        table = self.choose(belief)
        self.shares.append(float(belief @ table[np.arange(len(table)), self.place]))
        return table


@dataclass(frozen=True)
class Extreme:
    """What the adversary does without a device: how often each place is named, and the expected error."""

    namings: tuple[Naming, ...]
    error: float


def extremes_of(game: BeliefGame) -> list[Extreme]:
    """With nothing exposed, and with the truth."""
    shares = gather(game.states[:, -1], game.profile.places) @ game.start
    metric = game.error[:, np.unique(game.states[:, -1], return_index=True)[1]]
    found = []
    for joint in (shares[:, None], np.diag(shares)):  # [place, what is seen]
        counts = named(likeliest_guesses(metric, joint), joint).sum(axis=2)
        error = float(least_errors(metric, joint).sum())
        found.append(Extreme(namings_of(counts[:, :, None], np.ones(1)), error))
    return found
