"""What is left at a person's budget and at others around it: a plan, a playbook and a label for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from joblib import Parallel, delayed

from hideseek.adversary.person_label import VISITS, PersonLabel, person_label
from hideseek.adversary.person_label import WALKS as LABEL_WALKS
from hideseek.designing.playbook_maker import WITHIN, make_playbook
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.training import WALKS as PLAN_WALKS
from hideseek.planning.training import plan
from hideseek.playbook.playbook import Playbook
from hideseek.util.choices import Against
from hideseek.util.progress import Advance

TIMES = (1 / 4, 1 / 2, 2, 4)  # the displacement that is allowed


@dataclass(frozen=True)
class Effort:
    """How much work a budget is worth: see :func:`plan`, :func:`make_playbook` and :func:`person_label`."""

    plan_walks: int
    within: float
    label_walks: int
    visits: int


FULL = Effort(PLAN_WALKS, WITHIN, LABEL_WALKS, VISITS)
DRAFT = Effort(5, 0.1, 20, 30)  # about a third of the work


@dataclass(frozen=True, eq=False)
class Made:
    """What was made for a budget, and what it is worth."""

    planner: Planner
    playbook: Playbook
    label: PersonLabel


@dataclass(frozen=True, eq=False)
class Person:
    """What is the same at all budgets: the ``game`` with the weights of sensitive places, the ``plain`` one, and names.

    ``names`` are the places that a label is about, by number; those of the ``sensitive`` ones come first.
    """

    game: BeliefGame
    plain: BeliefGame
    names: Mapping[int, str]
    sensitive: Mapping[int, str]
    seed: int
    against: Against | None = None

    def made(self, budget: float, effort: Effort) -> Made:
        """Plan for a budget, make the playbook, and attack it."""
        game, plain = (replace(one, budget=budget) for one in (self.game, self.plain))
        planner = plan(game, walks=effort.plan_walks, against=self.against, seed=self.seed)
        within = effort.within if game.window == 1 else WITHIN
        playbook = make_playbook(game, planner, within=within, seed=self.seed)
        label = person_label(
            playbook,
            plain=plain,
            bound=planner.bound,
            names=self.names,
            sensitive=self.sensitive,
            walks=effort.label_walks,
            visits=effort.visits,
            seed=self.seed,
        )
        return Made(planner, playbook, label)


def made_beside(person: Person, workers: int, progress: Advance | None) -> tuple[Made, tuple[PersonLabel, ...]]:
    """What is made for the budget of a person's game, and labels of drafts for others, by budget."""
    others = budgets_around(person.game)
    tasks = [
        delayed(person.made)(budget, FULL if budget == person.game.budget else DRAFT)
        for budget in (person.game.budget, *others)  # what takes longest comes first
    ]
    found = list[Made]()
    for made in Parallel(workers, return_as="generator", batch_size=1)(tasks):
        found.append(made)
        if progress is not None:
            progress("budgets planned and attacked", len(found), len(tasks))
    return found[0], tuple(made.label for made in found[1:])


def budgets_around(game: BeliefGame) -> list[float]:
    """Budgets to look at beside that of a game: smaller and larger ones that can be kept, up to the saturating one.

    >>> from hideseek.model.markov import MarkovProfile
    >>> chain = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
    >>> game = BeliefGame.of(chain, privacy="hamming", quality="hamming", budget=0.04)
    >>> [round(budget, 6) for budget in budgets_around(game)]
    [0.0025, 0.01, 0.16, 0.333333]
    """
    least, saturating = float(game.cost.min(axis=1).max()), float((game.start @ game.cost).min())
    around = {min(times**2 * game.budget, saturating) for times in TIMES}  # losses are squared displacements
    return sorted(budget for budget in around - {min(game.budget, saturating)} if budget >= least)
