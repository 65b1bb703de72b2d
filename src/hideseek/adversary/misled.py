"""Adversaries who believe another profile than the true one: they guess by what they believe, the truth scores them.

Exposed sequences and their probabilities follow the true profile. What these adversaries see may be impossible under
the profile that they believe. They then forget every release so far, this one included, and start again from what this
profile says of that time when nothing is exposed: for a Markov chain, its long-run distribution.
"""

from __future__ import annotations

import numpy as np

from hideseek.adversary.filtering import Forward, beliefs_through, readings
from hideseek.adversary.hidden_markov import Run
from hideseek.errors import broken_rule
from hideseek.model.belief import updated
from hideseek.model.profile import Profile
from hideseek.util.arrays import BoolArray, FloatArray, IntArray


class Mind(Run):
    """A run as somebody sees it who believes another profile."""

    def likelihood(self, access: int, seen: IntArray, drawn: IntArray) -> FloatArray:
        """How likely these releases of an access are; where no table has a row, nothing is released."""
        return np.nan_to_num(super().likelihood(access, seen, drawn))


def mind_of(run: Run, believes: Profile | None, owner: str) -> Mind | None:
    """The run as somebody sees it who believes another profile, over the same places."""
    if believes is None:
        return None
    ours, theirs = (getattr(one, "regions", None) for one in (run.profile, believes))
    if believes.places != run.profile.places or (None not in (ours, theirs) and ours != theirs):
        rule, got = f"one over the same {run.profile.places} places as the profile", f"{believes.places} places"
        raise broken_rule("believes", owner, rule, f"{got}, or others", "Learn both on the same places.")
    return Mind(run.exposer, believes, privacy=run.privacy, accesses=run.accesses, owner=owner)


def believed(mind: Mind, exposed: IntArray) -> Forward:
    """Filter exposed sequences [sequence, step] by a profile under which they may be impossible."""
    likely = [np.nan_to_num(own) for own in readings(mind, exposed)]
    forgotten = list[BoolArray]()

    def learned(belief: FloatArray, step: int, access: int) -> FloatArray:
        after, total = updated(belief, likely[access])
        impossible = total == 0
        after[:, impossible] = mind.prior[step]
        likely[access][:, impossible] = 1.0  # it says nothing
        forgotten.append(impossible)
        return after

    beliefs = beliefs_through(mind, len(exposed), learned)
    return Forward(exposed, *beliefs, likely, np.ones(len(exposed)), forgotten)
