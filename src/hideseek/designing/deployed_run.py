"""The deployed run: what the stored tables of a codebook do, access after access, from the first one on.

The joint distribution of true places and remembered releases goes forward under the tables as they are stored, until it
settles: without a missed access, and after every gap with tables of its own, as files of hideseek 0.2.0 may have, that
begins after any access of that run. The claims of a codebook are computed here, and computed again by :func:`verify`
from nothing but what its file holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hideseek.codebook.claims import AGREE, TINY, Deployed, GapCase
from hideseek.codebook.codebook import Codebook
from hideseek.codebook.joint_distribution import NEVER, SETTLED, Access, History, Joint
from hideseek.codebook.stage import Outcome, Prior
from hideseek.designing.stage_draft import Draft
from hideseek.designing.stage_layout import StageLayout
from hideseek.errors import CodebookError, ParameterError, without_value
from hideseek.metrics.metric import Metric
from hideseek.model.markov import MarkovProfile
from hideseek.model.scenario import Scenario
from hideseek.storage.profile_file import chain_from
from hideseek.util.arrays import IntArray
from hideseek.util.boundary import checked
from hideseek.util.choices import ACCESS, HISTORIES
from hideseek.util.progress import Advance

HORIZON = 1000  # accesses after which a run that has not settled is cut
AFTER_GAP = 100  # the same after a gap
SAME = 10  # times as much change may be seen by another machine, which rounds otherwise


@dataclass(frozen=True, eq=False)
class Moment:
    """One access of a run: the joint distribution before it, and what the stored tables do after every history."""

    number: int
    joint: Joint
    histories: IntArray
    found: Outcome

    @property
    def privacy(self) -> float:
        """The adversary's expected error, on average over the histories."""
        return float(self.found.weight @ self.found.privacy)

    def above(self, budget: float, over: str) -> dict[History, float]:
        """What exceeds a budget after every history, if it does."""
        charged = self.found.charged(over)
        return {tuple(self.histories[k].tolist()): float(charged[k]) for k in np.flatnonzero(charged > budget)}


@dataclass(frozen=True, eq=False)
class AfterGap:
    """The run after a gap of ``gap`` accesses (1 would be none missed) that follows the first ``after`` accesses.

    ``losses`` are the worst ones of every access; of the ``moments`` only those at stages of their own are kept, since
    there are as many runs as starts and gaps.
    """

    after: int
    gap: int
    moments: list[Moment]
    losses: list[float]


@dataclass(frozen=True, eq=False)
class Runs:
    """The run from the first access on, where it ends, whether it settled, and the runs after gaps with own stages.

    The first of the runs after a gap begin where the run ends, the others after each of its accesses.
    """

    moments: list[Moment]
    end: Joint
    settled: bool
    missed: Sequence[AfterGap] = ()


Prepare = Callable[[int, Joint, Prior], None]  # what a designer does before a stage is visited


class Deployment:
    """Stages as they are used, access after access; ``prepare`` is called before every visit, if there is one."""

    def __init__(
        self,
        profile: MarkovProfile,
        layout: StageLayout,
        drafts: Sequence[Draft],
        *,
        privacy: Metric,
        quality: Metric,
        prepare: Prepare | None = None,
    ) -> None:
        self.profile, self.layout, self.drafts = profile, layout, drafts
        self.privacy, self.quality, self.prepare = privacy, quality, prepare
        self.window = window_of(profile, layout.scenario)
        self._accesses: dict[tuple[int, int, tuple[int, ...], bytes], Access] = {}

    def access(self, number: int, joint: Joint, gap: int = 1) -> Access:
        """The access at a stage after this joint distribution, computed once."""
        scenarios, then = self.layout.scenarios, self.layout.then[number]
        steps = gap * self.layout.scenario.every if joint.windows.shape[1] else 0
        key = (number, gap, joint.windows.shape, joint.windows.tobytes())
        if key not in self._accesses:
            self._accesses[key] = Access(self.profile, scenarios[number], scenarios[then], joint, steps, self.window)
        return self._accesses[key]

    def remembered(self, number: int, joint: Joint) -> Joint:
        """The joint distribution with no more of the releases than a stage remembers."""
        return joint.remembering(len(self.layout.scenarios[number].seen))

    def visit(self, number: int, joint: Joint, gap: int = 1) -> tuple[Moment, Joint]:
        """What happens at a stage, and the joint distribution after it."""
        draft = self.drafts[number]
        access, joint = self.access(number, joint, gap), self.remembered(number, joint)
        prior = access.everything(joint)
        if self.prepare is not None:
            self.prepare(number, joint, prior)
        moment = Moment(number, joint, prior.histories, draft.under(prior, self.privacy, self.quality))
        return moment, access.exposed(joint, draft.stage)

    def run(
        self, number: int, joint: Joint, gap: int = 1, accesses: int | None = None, settled: float = SETTLED
    ) -> tuple[list[Moment], Joint, bool]:
        """Run from a stage on, until the distribution settles in the stage that repeats, or for so many accesses."""
        moments = []
        horizon = HORIZON if gap == 1 else AFTER_GAP
        for _ in range(horizon if accesses is None else accesses):
            before = joint
            moment, joint = self.visit(number, joint, gap)
            moments.append(moment)
            if number == self.layout.repeating and before.change(joint) <= settled:
                return moments, joint, True
            number, gap = self.layout.then[number], 1
        return moments, joint, False

    def runs(self, accesses: int, progress: Advance | None = None) -> Runs:
        """The run of so many accesses from the first one on, and the runs after every gap after every access of it."""
        moments, end, _ = self.run(0, NEVER, accesses=accesses, settled=-1.0)
        settled = moments[-1].joint.change(end) <= SAME * SETTLED
        starts, missed = starts_of_gaps(moments, end), []
        for number, stage in enumerate(self.layout.gaps):
            for done, (after, joint) in enumerate(starts, start=1):
                missed.append(self.after_gap(after, number + 2, self.run(stage, joint, number + 2)[0]))
                if progress is not None:
                    progress("gaps", number * len(starts) + done, len(starts) * len(self.layout.gaps))
        return Runs(moments, end, settled, missed)

    def priors(self, runs: Runs) -> Iterator[Prior]:
        """The prior of every stage: the distribution at its access, or the one that the run has settled in."""
        for number, (joint, gap) in enumerate(self.before_stages(runs)):
            yield self.access(number, joint, gap).prior(self.remembered(number, joint))

    def before_stages(self, runs: Runs) -> list[tuple[Joint, int]]:
        """The joint distribution before the access of every stage, and how many accesses lie between."""
        repeating = runs.end if runs.settled else runs.moments[-1].joint
        return [
            *((moment.joint, 1) for moment in runs.moments[: self.layout.repeating]),
            (repeating, 1),
            *((runs.end, gap) for gap in range(2, len(self.layout.gaps) + 2)),
            *((moment.joint, 1) for run in runs.missed[:1] for moment in run.moments[1:]),
        ]

    def after_gap(self, after: int, gap: int, moments: list[Moment]) -> AfterGap:
        """What counts of a run after a gap."""
        losses = [float(moment.found.loss.max()) for moment in moments]
        return AfterGap(after, gap, moments[: self.layout.recovering + 1], losses)


def window_of(profile: MarkovProfile, scenario: Scenario) -> int:
    """How many true places in a row the next access may depend on."""
    return max(profile.memory, scenario.release[-1] + 1 - scenario.every - min(scenario.offsets))


def starts_of_gaps(moments: list[Moment], end: Joint) -> list[tuple[int, Joint]]:
    """After how many accesses of a run a gap may begin, and the distribution then: first where the run ends."""
    return [(len(moments), end), *((after, moments[after].joint) for after in range(1, len(moments)))]


def deployed_of(runs: Runs, plain_second_privacy: float, over: str = ACCESS) -> Deployed:
    """The claims of a codebook whose budget holds over this, from its runs."""
    moments, missed = runs.moments, runs.missed
    losses = [float(moment.found.weight @ moment.found.loss) for moment in moments]
    worst = max(
        (
            (loss, GapCase(run.after, run.gap, access))
            for run in missed
            for access, loss in enumerate(run.losses, start=1)
        ),
        key=lambda case: case[0],
        default=(None, None),
    )
    return Deployed(
        accesses=len(moments),
        settled=runs.settled,
        privacy=float(np.mean([moment.privacy for moment in moments])),
        worst_privacy=float(min(moment.found.privacy.min() for moment in moments)),
        quality_loss=float(np.mean(losses)),
        worst_loss=float(max(moment.found.loss.max() for moment in moments)),
        gap_privacy=min((run.moments[0].privacy for run in missed), default=None),
        gap_worst_loss=worst[0],
        second_privacy=moments[1].privacy,
        plain_second_privacy=plain_second_privacy,
        gap_worst_case=worst[1],
        worst_average_loss=max(losses) if over == HISTORIES else None,
    )


@checked
def verify(codebook: Codebook, *, progress: Advance | None = None) -> Deployed:
    """Compute everything that a codebook claims of its deployed run, from the tables and the profile in its file.

    :meth:`Codebook.load` checks every stage under the distribution that is stored with it; here it is checked that
    these distributions are those of the run, and that the claims of the run hold. Where a file of hideseek 0.2.0 has
    tables for gaps, what follows two of them soon after each other is neither claimed nor checked. One number stays the
    designer's word: ``plain_second_privacy``, which is about tables that no file holds.

    Parameters
    ----------
    codebook : Codebook
        Made by ``design``, or loaded.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is.

    Returns
    -------
    Deployed
        The claims as computed here, to rounding those of ``codebook.deployed``.

    Raises
    ------
    CodebookError
        If a claim does not hold, or the file holds no profile, as those of hideseek 0.1.0.

    Examples
    --------
    >>> from hideseek.designing.designer import design
    >>> from hideseek.model.scenario import Scenario
    >>> chain, differ = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 1 - np.eye(2)
    >>> codebook = design(chain, Scenario.past_present(1), privacy=differ, quality=differ, budget=0.1)
    >>> verify(codebook) == codebook.deployed
    True
    """
    deployment = deployment_of(codebook)
    claimed = codebook.deployed
    runs = deployment.runs(claimed.accesses, progress)
    if claimed.settled and not runs.settled:
        raise CodebookError(f"It claims that nothing changes after {claimed.accesses} accesses, and something does.")
    found = deployed_of(runs, claimed.plain_second_privacy, codebook.over)
    check_claims(claimed, found, runs)
    for number, (stage, prior) in enumerate(zip(codebook.stages, deployment.priors(runs), strict=True)):
        if not same_distribution(stage.prior, prior):
            raise CodebookError(f"Stage {number} is claimed to be for a distribution that its run does not lead to.")
    return found


def deployment_of(codebook: Codebook) -> Deployment:
    """The stages of a codebook as they are used, refused unless a run of the claimed length proves something."""
    chain, claimed = codebook.chain, codebook.deployed
    if chain is None:
        raise CodebookError("It holds no profile, as files of hideseek 0.1.0, so its run cannot be computed again.")
    try:
        profile = chain_from(chain.states, chain.transition, codebook.regions, codebook.step, "verify")
    except ParameterError as error:
        raise CodebookError(f"It holds no usable profile: {without_value(error)}") from None
    if not codebook.repeating < claimed.accesses <= HORIZON or (claimed.accesses < HORIZON and not claimed.settled):
        rule = f"settles in the stage that repeats, or has {HORIZON} accesses and reaches it"
        raise CodebookError(f"A run of {claimed.accesses} accesses is claimed, and none that {rule}.")
    layout = StageLayout.from_stages(codebook.stages, codebook.gaps)
    drafts = [Draft.of(stage) for stage in codebook.stages]
    return Deployment(profile, layout, drafts, privacy=codebook.privacy, quality=codebook.quality)


def check_claims(claimed: Deployed, found: Deployed, runs: Runs) -> None:
    """Refuse claims that differ from what was found by more than rounding."""
    numbers = [name for name in Deployed.__struct_fields__[2:] if name != "gap_worst_case"]
    claims = [(f"its {name}", getattr(claimed, name), getattr(found, name)) for name in numbers]
    claims += [("its loss in the worst case of a gap", claimed.gap_worst_loss, loss_in(runs, claimed.gap_worst_case))]
    for what, said, is_so in claims:
        if (said is None) != (is_so is None) or not abs((said or 0.0) - (is_so or 0.0)) <= AGREE * (said or 0.0) + TINY:
            raise CodebookError(f"It claims that {what} is {said}; its tables and its profile give {is_so}.")


def same_distribution(left: Prior, right: Prior) -> bool:
    """Whether two priors are the same given every history that is not too rare to matter, to rounding."""
    weights: dict[tuple[int, ...], list[float]] = {}
    shares: dict[tuple[tuple[int, ...], tuple[int, ...]], list[float]] = {}
    for side, prior in enumerate((left, right)):
        pasts = [tuple(past) for past in prior.histories.tolist()]
        for past, weight in zip(pasts, prior.weight.tolist(), strict=True):
            weights.setdefault(past, [0.0, 0.0])[side] = weight
        share = prior.probability / prior.weight[prior.history]
        for number, places, own in zip(prior.history.tolist(), prior.sequences.tolist(), share.tolist(), strict=True):
            shares.setdefault((pasts[number], tuple(places)), [0.0, 0.0])[side] += own
    return all(abs(one - other) <= AGREE for one, other in weights.values()) and all(
        abs(one - other) <= AGREE for (past, _), (one, other) in shares.items() if min(weights[past]) > TINY
    )


def loss_in(runs: Runs, case: GapCase | None) -> float | None:
    """The worst loss at one access after one of the gaps."""
    losses = {(run.after, run.gap): run.losses for run in runs.missed}
    if case is None or not 0 < case.access <= len(losses.get((case.after, case.gap), ())):
        return None
    return losses[case.after, case.gap][case.access - 1]
