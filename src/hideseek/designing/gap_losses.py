"""What a codebook may lose after missed accesses: after a gap without tables of its own a device starts afresh."""

from __future__ import annotations

import numpy as np

from hideseek.codebook.codebook import Codebook
from hideseek.codebook.joint_distribution import Joint
from hideseek.designing.deployed_run import deployment_of
from hideseek.util.boundary import checked


@checked
def worst_loss_after_gaps(codebook: Codebook) -> float:
    """The most that an access may lose on average, over all patterns of gaps, given the last releases.

    After a gap the device treats the access as the first one. Given the releases since then, the budget holds: whatever
    the gaps, the places are distributed as in the first accesses. But the last releases that a codebook remembers may
    have been exposed before the gap, and what they reveal is not yet over. No pattern of gaps loses more than this
    given these releases and all that were exposed before the gap; it is reached where they reveal the place.

    Parameters
    ----------
    codebook : Codebook
        Made by ``design``, or loaded. Gaps that a file of hideseek 0.2.0 has tables for do not count here, but in
        ``codebook.deployed.gap_worst_loss``.

    Returns
    -------
    float
        In the unit of the quality metric. It may exceed the budget.

    Raises
    ------
    CodebookError
        If the file holds no profile, as those of hideseek 0.1.0.

    Examples
    --------
    >>> from hideseek.designing.designer import design
    >>> from hideseek.model.markov import MarkovProfile
    >>> from hideseek.model.scenario import Scenario
    >>> chain, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.3, 0.7]]), 1 - np.eye(2)
    >>> codebook = design(chain, Scenario.past_present(1), privacy=differ, quality=differ, budget=0.1)
    >>> round(worst_loss_after_gaps(codebook), 3)  # the rare place is often hidden behind the usual one
    0.208
    """
    deployment, scenario = deployment_of(codebook), codebook.scenario
    profile, worst = deployment.profile, codebook.deployed.worst_loss
    # An expected loss given releases is a ratio of two sums over the place before the gap, so one place alone loses
    # most; and a longer gap only mixes the places that the shortest one begins with.
    last, gap = (0, len(codebook.gaps) + 2) if len(scenario.release) == 1 else (scenario.every - 1, 1)
    reached_back = -(min(scenario.seen, default=0) // scenario.every)  # accesses
    for place in np.eye(len(profile.states)):
        before = Joint(profile.states, np.zeros((1, 0), np.int64), place[:, None], last)
        for moment in deployment.run(0, before, gap, accesses=reached_back)[0]:
            worst = max(worst, float(moment.found.loss.max()))
    return worst
