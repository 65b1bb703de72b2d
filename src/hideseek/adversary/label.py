"""The label of a codebook: how much privacy is left against adversaries who remember every release."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hideseek.adversary.filtering import Forward
from hideseek.adversary.hidden_markov import ACCESSES, Run
from hideseek.adversary.misled import Mind, mind_of
from hideseek.adversary.policies import WALKS
from hideseek.adversary.sequences import enumerable, error_and_hit, estimated, over_sequences, refuse_many
from hideseek.adversary.through_time import REMEMBERING, Adversary, losses_given_all, scored
from hideseek.adversary.window import carry
from hideseek.codebook.codebook import Codebook
from hideseek.errors import CertificateError, SizeError, broken_rule
from hideseek.game.game import Game
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.model.trajectories import Trajectories, merged
from hideseek.solvers.dispatch import solve
from hideseek.util.arrays import FloatArray
from hideseek.util.boundary import checked
from hideseek.util.checks import whole_number
from hideseek.util.display import html_table
from hideseek.util.estimates import Estimate as Estimate  # public, next to the label that is made of them
from hideseek.util.on_map import mapped
from hideseek.util.progress import Advance
from hideseek.util.units import amount

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from hideseek.maps.page import MapPage

FAR = 3.0  # half-widths of an interval; further off is no matter of chance (about six standard errors)
ROUNDING = 1e-9
ASSUMPTION = "Assumed: the times of the accesses reveal nothing about the place."


@dataclass(frozen=True)
class Label:
    """What a codebook does in a run of ``accesses``, all on average over them: see :func:`evaluate`.

    All of it assumes that the times of the accesses reveal nothing about the place: the adversary of somebody who asks
    more often at some places than at others has a smaller error.

    ``window`` to ``in_between`` are the adversaries' expected errors (the last is None where nothing lies between
    accesses), ``prior_risk`` that of an adversary who is shown nothing. ``ceiling`` is what no mechanism that loses no
    more quality can exceed against an adversary who remembers every release, and ``kept`` the share of it that is left
    against the filter. ``worst_loss`` is the largest expected loss given the releases that the codebook remembers, its
    history: it keeps its budget so, for the profile that it was designed for. Given *every* release so far the expected
    loss may still exceed the budget: ``over_budget`` is the share of accesses at which it does, and
    ``worst_loss_given_all`` the largest found, which grows with the walks. ``gain`` is the share by which the filter's
    error exceeds that with the codebook beside, where there is one. ``walks`` is 0 where nothing had to be simulated,
    and ``unit`` that of the errors. Where the adversaries are ``misled``, they believe another profile: their errors
    are in no order then, while ``prior_risk``, ``ceiling`` and the losses are those of the true profile.
    ``unit`` that of the errors and ``loss_unit`` that of the losses; people are shown square metres as their root.
    """

    window: Estimate
    filter: Estimate
    smoother: Estimate
    viterbi: Estimate
    predictor: Estimate
    in_between: Estimate | None
    quality_loss: float
    worst_loss: float
    over_budget: Estimate
    worst_loss_given_all: float
    prior_risk: float
    ceiling: float
    kept: Estimate
    accesses: int
    walks: int
    gain: Estimate | None = None
    unit: str = ""
    misled: bool = False
    loss_unit: str = ""

    def __post_init__(self) -> None:
        if self.misled:
            return
        in_order = (self.smoother, self.filter, self.window, Estimate(self.prior_risk))
        for less, more in (*itertools.pairwise(in_order), (self.filter, Estimate(self.ceiling))):
            allowed = FAR * (less - less.interval[0] + more.interval[1] - more) + ROUNDING * max(1.0, more)
            if less > more + allowed:
                raise CertificateError(
                    f"An adversary who knows more has a larger error: {less:.9g} against {more:.9g}."
                )

    @property
    def errors(self) -> dict[str, Estimate]:
        """The expected error of every adversary that has something to guess, by name."""
        found = {str(one): getattr(self, one) for one in Adversary}
        return {name: error for name, error in found.items() if error is not None}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the expected error of every adversary between 0 and the prior risk; returns the axes."""
        from hideseek.plots.labels import draw_label

        return draw_label(self.errors, self.prior_risk, self.ceiling, unit=self.unit, ax=ax)

    def map(
        self, codebook: Codebook | None = None, *, tracks: pd.DataFrame | None = None, tiles: str | None = None
    ) -> MapPage:
        """Show it as a card, or beside the map of its codebook: see :func:`hideseek.maps.map_page`."""
        if codebook is None:
            return mapped(self, tracks=tracks, tiles=tiles)
        return mapped(codebook, label=self, tracks=tracks, tiles=tiles)

    def __repr__(self) -> str:
        facts = self._facts
        errors = ", ".join(f"{name}={facts[name]}" for name in self.errors)
        kept = f"kept={facts['kept']} of ceiling={facts['ceiling']}, prior_risk={facts['prior_risk']}"
        return f"Label({errors},\n      {kept},\n      quality_loss={facts['quality_loss']}, accesses={self.accesses})"

    def _repr_html_(self) -> str:
        return html_table("Label", self._facts | {"accesses": self.accesses, "walks": self.walks})

    @property
    def _facts(self) -> dict[str, object]:
        units = dict.fromkeys((*self.errors, "prior_risk", "ceiling"), self.unit) | {
            "kept": "", "quality_loss": self.loss_unit, "worst_loss": self.loss_unit, "over_budget": "", "gain": ""
        }  # fmt: skip
        found = {name: getattr(self, name) for name in units}
        return {name: amount(value, units[name]) for name, value in found.items() if value is not None}


@checked
def evaluate(
    codebook: Codebook,
    profile: Profile,
    *,
    accesses: int = ACCESSES,
    walks: int = WALKS,
    seed: int = 0,
    progress: Advance | None = None,
    beside: Codebook | None = None,
    believes: Profile | None = None,
) -> Label:
    """The label of a codebook: its privacy and quality in a run from the first access on, against all adversaries.

    Parameters
    ----------
    codebook, profile
        What exposes, and how the person moves: perhaps not as the codebook was designed for. The adversaries know both.
    accesses
        How long the run is.
    walks, seed, progress
        How many walks to simulate where the exposed sequences cannot be enumerated, for 95 % confidence intervals;
        called with what is being done, how much is done and how much there is.
    beside
        Another codebook, such as one that was designed without looking ahead: the label says the gain over it.
    believes
        Another profile, which the adversaries take for the true one, as in :func:`hideseek.adversary.attack`.

    Returns
    -------
    Label
        All numbers are averages over the accesses, errors in units of the codebook's privacy metric.

    Raises
    ------
    ParameterError
        Where an argument breaks its rule, or the profile is one over other regions than the codebook's.
    SizeError
        Where the run or the walks would not fit in memory.

    Examples
    --------
    >>> from hideseek import MarkovProfile, Scenario, design
    >>> profile, differ = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
    >>> codebook = design(
    ...     profile, scenario=Scenario.past_present(1), privacy=differ, quality=differ, budget=0.15
    ... )
    >>> label = evaluate(codebook, profile, accesses=8)
    >>> f"{label.smoother:.3f} {label.filter:.3f} {label.window:.3f} {label.prior_risk:.3f}", label.filter.exact
    ('0.132 0.150 0.150 0.333', True)
    """
    run = run_of(codebook, profile, accesses)
    whole_number(walks, "walks", "evaluate", least=2)
    whole_number(seed, "seed", "evaluate", least=0)
    refuse_many(run, walks)
    label = labelled(run, codebook, walks, seed, progress, mind_of(run, believes, "evaluate"))
    if beside is None:
        return label
    other = evaluate(beside, profile, accesses=accesses, walks=walks, seed=seed, believes=believes)
    return replace(label, gain=more(label.filter, other.filter))


def run_of(codebook: Codebook, profile: Profile, accesses: int) -> Run:
    """The run of a codebook; refuse a profile over other regions."""
    owner = "evaluate"
    if not isinstance(codebook, Codebook):
        raise broken_rule("codebook", owner, "a Codebook", type(codebook).__name__)
    run = Run(codebook, profile, accesses=accesses, owner=owner)
    regions = getattr(profile, "regions", None)
    if None not in (regions, codebook.regions) and regions != codebook.regions:
        way_out = "Learn it on the same grid, box or places."
        raise broken_rule("profile", owner, "one over the regions of the codebook", "other regions", way_out)
    return run


def labelled(run: Run, codebook: Codebook, walks: int, seed: int, progress: Advance | None, mind: Mind | None) -> Label:
    """The label, with the errors of all adversaries and the losses from one pass over the exposed sequences."""
    carried = carry(run, mind=mind)
    adversaries = [one for one in REMEMBERING if one is not Adversary.IN_BETWEEN or run.between]

    def errors_and_losses(read: Forward) -> FloatArray:
        scores = scored(run, read, adversaries, mind).reshape(2 * len(adversaries), -1)
        return np.concatenate([scores, losses_given_all(run, read, codebook.quality)])

    values, weights = over_sequences(run, errors_and_losses, walks, seed, progress)
    scores, losses = np.split(values, [2 * len(adversaries)])
    pairs = zip(adversaries, scores.reshape(len(adversaries), 2, -1), strict=True)
    found = {adversary: error_and_hit(run, own, weights) for adversary, own in pairs}
    over = (losses > codebook.budget * (1 + ROUNDING)).mean(axis=0)
    most = ceiling(run, codebook, carried.loss)
    return Label(
        window=Estimate(carried.error.mean(), hit_rate=Estimate(carried.hit.mean())),
        filter=found[Adversary.FILTER],
        smoother=found[Adversary.SMOOTHER],
        viterbi=found[Adversary.VITERBI],
        predictor=found[Adversary.PREDICTOR],
        in_between=found.get(Adversary.IN_BETWEEN),
        quality_loss=float(carried.loss.mean()),
        worst_loss=float(carried.worst_loss.max()),
        over_budget=estimated(run, over, weights),
        worst_loss_given_all=float(losses.max()),
        prior_risk=float(run.prior_risks.mean()),
        ceiling=most,
        kept=share(found[Adversary.FILTER], most),
        accesses=run.accesses,
        walks=0 if enumerable(run) else walks,
        unit=codebook.privacy.unit,
        misled=mind is not None,
        loss_unit=codebook.quality.unit,
    )


def more(one: Estimate, other: Estimate) -> Estimate:
    """The share by which one number exceeds another.

    >>> more(Estimate(0.3), Estimate(0.2)).in_words()
    '0.5'
    """
    low, at, high = (
        top / bottom - 1 if bottom > 0 else np.inf if top > 0 else 0.0
        for top, bottom in zip(
            (one.interval[0], one, one.interval[1]), (other.interval[1], other, other.interval[0]), strict=True
        )
    )
    return Estimate(at, None if one.exact and other.exact else (low, high))


def share(part: Estimate, whole: float) -> Estimate:
    """The part that is kept of a whole, from none to all of it; all of a whole of 0 is kept."""
    low, at, high = (
        min(max(number / whole, 0.0), 1.0) if whole else 1.0 for number in (part.interval[0], part, part.interval[1])
    )
    return Estimate(at, None if part.exact else (low, high))


def ceiling(run: Run, codebook: Codebook, loss: FloatArray) -> float:
    """What no mechanism that loses as little can exceed against the filter, on average over a run.

    The value of a game in which the mechanism knows all that matters is concave in the prior and the budget. So a
    mechanism that does something else after every history, for the belief given this history, has on average no more
    than the best one for the average belief and the average budget, which remembers nothing.
    """
    kinds: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for access in range(run.accesses):
        scenario = run.kind(access).scenario
        kinds.setdefault((scenario.target, scenario.quality), []).append(access)
    total = 0.0
    for (target, quality), own in kinds.items():
        most = float(run.prior_risks[own].sum())
        if not codebook.quality.looks_back:
            everything = tuple(sorted({*target, *quality}))
            release = codebook.scenario.release
            scenario = Scenario(target, release=release, quality=quality, known=everything)
            # under another profile than its own the codebook may lose more than its budget
            budget = max(codebook.budget, float(loss[own].mean()))
            prior = average_prior(run, own, everything)
            try:
                game = Game.from_scenario(
                    run.profile,
                    scenario,
                    privacy=run.privacy,
                    quality=codebook.quality,
                    budget=budget,
                    distribution=prior,
                )
            except SizeError:  # the risk without any release is a ceiling too
                total += most
                continue
            most = min(most, len(own) * solve(game).bound)
        total += most
    return total / run.accesses


def average_prior(run: Run, accesses: Sequence[int], offsets: tuple[int, ...]) -> Trajectories:
    """The distribution of the true places at these offsets, averaged over some accesses."""
    places, weights = [], []
    for access in accesses:
        step = access * run.every + run.reach
        places.append(run.places_at(step, run.times(access, offsets)))
        weights.append(run.prior[step][:, 0] / len(accesses))
    sequences, probability = merged(np.vstack(places), np.concatenate(weights))
    return Trajectories(offsets, sequences, probability=probability)
