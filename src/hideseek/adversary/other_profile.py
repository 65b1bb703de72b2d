"""What a playbook leaves where the person moves by another profile than that in its file, and the adversary knows it.

The tables of a device follow from what it released, by the profile in its file. So an adversary who knows better how
the person moves, by the clock for example, knows the tables too, and believes something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import lcm

from hideseek.adversary.belief_exposer import FEWEST, BeliefPolicy
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.policies import policy_loss
from hideseek.adversary.through_time import Adversary, estimates
from hideseek.errors import broken_rule
from hideseek.metrics.named import as_metric
from hideseek.model.markov import MarkovProfile
from hideseek.model.periodic import PeriodicProfile
from hideseek.model.profile import Profile
from hideseek.playbook.playbook import Playbook, tables_at
from hideseek.storage.regions_document import regions_document
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.estimates import Estimate
from hideseek.util.progress import Advance

ADVERSARIES = (Adversary.FILTER, Adversary.SMOOTHER)


@dataclass(frozen=True)
class Left:
    """The expected errors of adversaries who know how the person moves, that of one who is shown ``nothing``, and the
    expected loss of quality.
    """

    nothing: float
    errors: Mapping[Adversary, Estimate]
    loss: Estimate


@dataclass(frozen=True)
class TwoLabels:
    """What is left if the person moves as the playbook says (``claimed``), and as another profile does (``found``).

    ``accesses`` on each of the ``walks``: whole days or weeks, where that profile follows a clock.
    """

    claimed: Left
    found: Left
    accesses: int
    walks: int


@checked
def against_profile(
    playbook: Playbook,
    profile: MarkovProfile | PeriodicProfile,
    *,
    accesses: int = 200,
    walks: int = 40,
    seed: int = 0,
    progress: Advance | None = None,
) -> TwoLabels:
    """Attack a playbook where the person moves as it says, and where the person moves by another profile.

    Parameters
    ----------
    playbook, profile
        One that protects the current place, with an access at every step; and how the person moves instead, over the
        same places in the same time step.
    accesses, walks, seed
        How many on each walk, at least, and walks; rounded up to whole days or weeks where the profile follows a clock,
        with fewer walks then, but 8 of them if so many were asked for; and their seed.
    progress
        Called with what is being done, how much is done, and of how much.

    Returns
    -------
    TwoLabels
        Both, each with its 95 % intervals. A ParameterError where an argument breaks its rule.

    Examples
    --------
    >>> import numpy as np
    >>> from hideseek import Places, make_playbook, plan
    >>> from hideseek.planning import BeliefGame
    >>> places, still = Places([46.52, 46.53], [6.57, 6.58]), np.array([[0.95, 0.05], [0.05, 0.95]])
    >>> habits = MarkovProfile.from_matrix((still + still[::-1]) / 2, places, step="12h")
    >>> days = PeriodicProfile(np.array([still, still[::-1]]), np.array([0, 1]), regions=places, step="12h")
    >>> game = BeliefGame.of(habits, privacy="hamming", quality="hamming", budget=0.3)
    >>> both = against_profile(make_playbook(game, plan(game, walks=2)), days, accesses=20, walks=20)
    >>> bool(both.claimed.errors["filter"] > 0.29), bool(both.found.errors["filter"] < 0.25)
    (True, True)
    """
    owner = "against_profile"
    refuse_others(playbook, profile, owner)
    accesses, walks = whole_number(accesses, "accesses", owner), whole_number(walks, "walks", owner, least=2)
    seed = whole_number(seed, "seed", owner, least=0)
    accesses, walks = whole_days(profile, accesses, walks)
    own = MarkovProfile.from_matrix(playbook.moves, playbook.regions, step=playbook.step)
    left = list[Left]()
    for moves in (own, profile):
        left.append(left_by(playbook, moves, accesses, walks, seed, owner))
        if progress is not None:
            progress("profiles", len(left), 2)
    claimed, found = left
    return TwoLabels(claimed, found, accesses, walks)


def whole_days(profile: Profile, accesses: int, walks: int, every: int = 1) -> tuple[int, int]:
    """So many accesses and walks; whole days or weeks where the profile follows a clock, with fewer walks then.

    >>> import numpy as np
    >>> hourly = PeriodicProfile(np.full((1, 2, 2), 0.5), np.zeros(24))
    >>> whole_days(hourly, accesses=30, walks=40), whole_days(hourly, accesses=30, walks=3, every=5)
    ((48, 25), (48, 3))
    """
    if not isinstance(profile, PeriodicProfile):
        return accesses, walks
    steps = lcm(len(profile.cycle), every)
    longer = -(-accesses * every // steps) * steps // every
    return longer, max(min(walks, FEWEST), accesses * walks // longer)


def left_by(playbook: Playbook, moves: Profile, accesses: int, walks: int, seed: int, owner: str) -> Left:
    """What a playbook leaves where the person moves so."""
    policy = BeliefPolicy(playbook, partial(tables_at, playbook), log=playbook.follows_log)
    run = Run(policy, moves, privacy=playbook.error, accesses=accesses, owner=owner)
    loss = policy_loss(run, as_metric(playbook.cost, "quality", moves, owner), walks=walks, seed=seed)
    errors = estimates(run, ADVERSARIES, walks=walks, seed=seed, owner=owner)
    return Left(float(run.prior_risks.mean()), errors, loss)


def refuse_others(playbook: Playbook, profile: MarkovProfile | PeriodicProfile, owner: str) -> None:
    """Refuse what does not go together, or cannot be followed."""
    if playbook.scenario.known != (0,) or playbook.scenario.target != (0,) or playbook.every != 1:
        rule = "one that knows and protects the current place alone, with an access at every step"
        raise broken_rule("playbook", owner, rule, "another")
    known = None if profile.regions is None else regions_document(profile.regions)
    if known != regions_document(playbook.regions) or len(playbook.states) != profile.places:
        way_out = "Learn it from the same traces, with the same options and time step."
        raise broken_rule("profile", owner, "one over the places of the playbook", "one over others", way_out)
    if profile.step != playbook.step:
        raise broken_rule("profile", owner, f"one with a time step of {playbook.step}", profile.step)
