"""What a model of a person's moves reached on days that it was not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hideseek.util.boundary import checked
from hideseek.util.choices import Model
from hideseek.util.estimates import Estimate

NEARLY = 1e-3  # relatively: a loss that is larger by less is as good, as chance makes it so where a model adds nothing


@checked
@dataclass(frozen=True)
class Candidate:
    """A ``model``, its ``log_loss``, and its ``gain``: by how much that is less than the first-order chain's.

    Both are bits per move on days left out, on average over days.
    """

    model: Model
    log_loss: Estimate
    gain: Estimate


def chosen_of(candidates: Sequence[Candidate]) -> Model:
    """The first, as simpler ones come first, of those that lose nearly as little as the best.

    >>> from hideseek.util.estimates import Estimate
    >>> losses = {"first-order": 0.5, "second-order": 0.50001, "clock": 0.4999}
    >>> str(chosen_of([Candidate(Model(name), Estimate(loss), Estimate(0.0)) for name, loss in losses.items()]))
    'first-order'
    """
    best = min(one.log_loss for one in candidates)
    return next(one.model for one in candidates if one.log_loss <= best * (1 + NEARLY))
