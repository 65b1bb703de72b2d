"""Plans on disk: a planner with the whole game that it was made for, in one sealed file.

It reveals where a person goes: keep it as private as the traces. Cuts are taken as they are, since they only choose
among tables; the privacy of an access and the budget are proved without them. The bound is computed from the proof in
the file and nothing else; files of hideseek 0.1.0 hold none, and the bound of their planners is the ceiling.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np
from scipy import sparse

from hideseek.errors import PlanError, broken_rule
from hideseek.model.markov import MarkovProfile
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner, Proof
from hideseek.storage.documents import (
    PLACE,
    Amount,
    MetricDocument,
    OverDocument,
    ScenarioDocument,
    StepLength,
    metric_document,
    metric_from,
    over_document,
    read_regions,
    scenario_document,
    scenario_from,
    steering_from,
    tabulated,
)
from hideseek.storage.profile_file import chain_from
from hideseek.storage.regions_document import RegionsDocument, regions_document
from hideseek.storage.sealed_file import BLANK, Checksum, Count, FileKind, Sealed
from hideseek.util.arrays import frozen
from hideseek.util.boundary import checked
from hideseek.util.choices import Mode, Outlook
from hideseek.util.time_steps import checked_step

LONGEST = 10_000  # steps that a scenario may span: its game takes as many to compute
LARGEST_SEED = 2**63 - 1
SUM = 1e-9  # how far from 1 the sum of a distribution may be


class _Document(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    hideseek_plan: Count
    sha256: Checksum
    step: StepLength
    regions: RegionsDocument | None
    scenario: ScenarioDocument
    privacy: MetricDocument
    quality: MetricDocument
    budget: Amount
    game: Checksum
    outlook: Outlook
    mode: Mode
    discount: Annotated[float, msgspec.Meta(ge=0, le=1)]
    seed: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_SEED)]
    over: OverDocument | None = None


WITHOUT_PROOF, AT_EVERY_ACCESS, OVER_A_WINDOW = (
    1,
    2,
    3,
)  # versions: that of hideseek 0.1.0, and by when the budget holds
PLAN = FileKind("plan", OVER_A_WINDOW, _Document, PlanError)


@checked
def save_plan(game: BeliefGame, planner: Planner, *, path: str | os.PathLike[str]) -> None:
    """Write a planner and its game to a file, whole or not at all, readable by its owner only.

    Parameters
    ----------
    game, planner
        The planner, and the game that it was made for.
    path
        Of the file, which is replaced if it exists.

    Raises
    ------
    PlanError
        If the planner was made for another game.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from hideseek.planning import plan
    >>> chain, hamming = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]]), 1 - np.eye(2)
    >>> game = BeliefGame.of(chain, privacy=hamming, quality=hamming, budget=0.1)
    >>> planner = plan(game, walks=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_plan(game, planner, path=f"{folder}/me.plan")
    ...     game, again = load_plan(f"{folder}/me.plan", profile=chain)
    >>> game.budget, bool((again.cuts == planner.cuts).all())
    (0.1, True)
    """
    content = content_of(game, planner.checked(game))
    plan_from(memoryview(content))  # nothing is written that would not be read
    PLAN.save(path, content, "save_plan")


@checked
def load_plan(path: str | os.PathLike[str], *, profile: MarkovProfile | None = None) -> tuple[BeliefGame, Planner]:
    """Read a planner and its game from a file (see :func:`save_plan`).

    Parameters
    ----------
    path
        Of the file.
    profile
        Refuse the plan unless it was made for this profile.

    Returns
    -------
    BeliefGame, Planner
        The game, and the planner that was made for it.

    Raises
    ------
    PlanError
        If the file is damaged, its fields contradict each other, or it was made for another profile.
    """
    game, planner = PLAN.load(path, "load_plan", plan_from)
    if profile is not None and not same_profile(profile, game.profile):
        raise PlanError(f"The plan {os.fspath(path)} was made for another profile. Make a new plan.")
    return game, planner


def content_of(game: BeliefGame, planner: Planner) -> bytes:
    """The file of a planner and its game."""
    owner, profile, scenario = "save_plan", game.profile, game.scenario
    if planner.seed > LARGEST_SEED:
        raise broken_rule("planner", owner, f"one with a seed of at most {LARGEST_SEED}", planner.seed)
    privacy, quality = (
        metric_document(tabulated(metric, role, scenario, profile.places, owner), profile.regions, owner)
        for metric, role in ((game.privacy, "privacy"), (game.quality, "quality"))
    )
    version = WITHOUT_PROOF if planner.proof is None else AT_EVERY_ACCESS
    document = _Document(
        hideseek_plan=version if planner.steering is None else OVER_A_WINDOW,
        sha256=BLANK,
        step=profile.step,
        regions=None if profile.regions is None else regions_document(profile.regions),
        scenario=scenario_document(scenario),
        privacy=privacy,
        quality=quality,
        budget=game.budget,
        game=planner.sha256,
        outlook=planner.outlook,
        mode=planner.mode,
        discount=planner.discount,
        seed=planner.seed,
        over=over_document(game, planner.steering),
    )
    tensors = {"states": profile.states.astype(np.uint32), "transition": profile.transition, "cuts": planner.cuts}
    if planner.proof is not None:
        tensors |= {
            "proof.price": planner.proof.price,
            "proof.start": planner.proof.strategy.indptr.astype(np.uint32),
            "proof.column": planner.proof.strategy.indices.astype(np.uint32),
            "proof.weight": planner.proof.strategy.data,
        }
    return PLAN.sealed(document, tensors)


@np.errstate(all="ignore")
def plan_from(content: memoryview) -> tuple[BeliefGame, Planner]:
    """The planner and the game in a file's content; numbers that overflow on the way make another game."""
    file = PLAN.opened(content)
    document = file.document
    profile = profile_from(file)
    cuts = frozen(file.take("cuts", "F64", ndim=2).astype(np.float64))
    scenario = scenario_from(document.scenario)
    if max(scenario.every, *map(abs, scenario.offsets)) > LONGEST:
        raise PlanError(f"Its scenario spans more than {LONGEST} steps.")
    privacy, quality = (
        metric_from(recipe, profile.regions, profile.places) for recipe in (document.privacy, document.quality)
    )
    game = BeliefGame.of(profile, privacy=privacy, quality=quality, budget=document.budget, scenario=scenario)
    if (document.over is None) != (document.hideseek_plan < OVER_A_WINDOW):
        raise PlanError("Its version is not that of its kind of budget.")
    if document.over is not None:
        game = replace(game, window=document.over.window, cap=document.over.cap)
    without = document.hideseek_plan == WITHOUT_PROOF or (document.over is not None and not len(cuts))
    proof = None if without else proof_from(file, *map(len, (game.error, game.cost.T)))
    file.end()
    secondary, plain = (document.outlook is one for one in (Outlook.SECONDARY, Outlook.PLAIN))
    if (document.discount == 1) != secondary or (secondary and document.mode is not Mode.LEXICOGRAPHIC):
        raise PlanError(f"A planner that is {document.outlook} has no discount of {document.discount}.")
    if cuts.shape[1] != len(game.states) or (plain and len(cuts)) or not np.isfinite(cuts).all():
        raise PlanError(f"Its cuts are not finite, or not over the {len(game.states)} states.")
    steering = steering_from(document.over)
    planner = Planner(
        outlook=document.outlook,
        mode=document.mode,
        discount=document.discount,
        cuts=cuts,
        bound=game.ceiling.bound,
        sha256=document.game,
        seed=document.seed,
        steering=None if steering is None else steering.counting(game, cuts, document.discount),
    ).checked(game)
    if proof is None:
        return game, planner
    if document.outlook is not Outlook.FAR_SIGHTED:
        raise PlanError(f"A planner that is {document.outlook} has no proof: its bound is the ceiling.")
    return game, planner.proved(game, proof)


def proof_from(file: Sealed[_Document], guesses: int, releases: int) -> Proof:
    """The proof that a file holds, refused unless it is made of distributions of guesses and of earlier cuts."""
    price, start, column, weight = (
        file.take(f"proof.{name}", kind)
        for name, kind in (("price", "F64"), ("start", "U32"), ("column", "U32"), ("weight", "F64"))
    )
    rows, ends = len(price) * releases, start.astype(np.int64)
    if len(ends) != rows + 1 or not rows or ends[0] or ends[-1] != len(weight) or (np.diff(ends) < 0).any():
        raise PlanError("Its proof does not say where its rows begin and end.")
    cut = np.repeat(np.arange(rows) // releases, np.diff(ends))
    later = column >= guesses
    if len(column) != len(weight) or (column.astype(np.int64) - guesses >= cut)[later].any():
        raise PlanError("Its proof rests on itself.")
    if not (weight.min(initial=1) > 0 and np.isfinite(weight).all() and price.min() >= 0 and np.isfinite(price).all()):
        raise PlanError("Its proof holds a number that is not finite, or not positive.")
    row = np.repeat(np.arange(rows), np.diff(ends))
    for first, own in ((0, ~later), (releases, later)):
        total = np.bincount(row[own], weight[own], minlength=rows)[first:]
        if not (np.abs(total - 1) <= SUM).all():
            raise PlanError("Its proof has no answer to a release, or one that is not a distribution.")
    shape = (rows, guesses + len(price))
    return Proof(price, sparse.csr_array((weight, column.astype(np.int64), ends), shape=shape))


def profile_from(file: Sealed[_Document]) -> MarkovProfile:
    """The profile that a file holds."""
    states, transition = file.take("states", *PLACE, ndim=2), file.take("transition", "F64", ndim=2)
    document = file.document
    checked_step(document.step, "the file")
    regions = None if document.regions is None else read_regions(document.regions)
    if len(states) != len(transition) or (regions is not None and len(regions) != transition.shape[1]):
        raise PlanError("Its states, transitions and regions are not of one profile.")
    return chain_from(states.astype(np.int64), transition.astype(np.float64), regions, document.step, "load_plan")


def same_profile(left: MarkovProfile, right: MarkovProfile) -> bool:
    """Whether two profiles are the same chain over the same places."""

    def facts(profile: MarkovProfile) -> tuple[object, ...]:
        return profile.step, None if profile.regions is None else regions_document(profile.regions)

    same = np.array_equal(left.states, right.states) and np.array_equal(left.transition, right.transition)
    return same and facts(left) == facts(right)
