"""From a profile to a codebook: the joint distribution of true and exposed places goes from access to access.

At every access the distribution of releases seen and true places gives one game for each history that can occur; the
tables that solve the games lead to the distribution at the next access. The first accesses get tables of their own.
Then one stage repeats, made for the distribution that it settles in itself, and certified as deployed: the distribution
runs forward under the stored integers, and where a history would lose more than the budget, its table is mixed towards
the cheapest releases; or all of an access, where the budget holds on average over its histories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hideseek.codebook.codebook import Chain, Codebook
from hideseek.codebook.joint_distribution import NEVER, SETTLED, Access, History, Joint
from hideseek.codebook.stage import Prior, Stage
from hideseek.designing.deployed_run import Deployment, Moment, Runs, deployed_of
from hideseek.designing.feasibility import first_stage_count, homogeneous
from hideseek.designing.history_games import HistoryGames, histories_of
from hideseek.designing.history_solver import HistorySolver
from hideseek.designing.stage_draft import Choice, Draft, Made, attack_of
from hideseek.designing.stage_layout import StageLayout
from hideseek.errors import SolverError, broken_rule
from hideseek.game.budget import budget_through_time
from hideseek.game.game import budget_too_small
from hideseek.metrics.named import MetricLike, as_metric
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import Profile
from hideseek.model.scenario import Scenario
from hideseek.planning.planner import Planner
from hideseek.util.boundary import checked
from hideseek.util.checks import one_of
from hideseek.util.choices import ACCESS, HISTORIES
from hideseek.util.progress import Advance
from hideseek.util.workers import worker_count

LEAST_SPARE, MOST_SPARE = 1e-9, 1e-2  # how much further than needed a table is mixed: for rounding, for an end
# accesses with tables of their own after which the one that repeats is taken; with a price in common they stay good
AHEAD = {ACCESS: 4, HISTORIES: 10}
PACE = 0.2  # how far it is moved at a time, at first
ROUNDS = 300  # of mixing until it is given up
# Which share is too much to be mixed at once, and what part of it is mixed then: the distribution moves along, and what
# was mixed in stays. It moves further where all histories are mixed (measured: 291 m with the part for one, and 312 m).
SLOWLY = {ACCESS: (0.05, 1 / 2), HISTORIES: (0.005, 1 / 8)}

OWNER = "design"


@checked
def design(
    profile: Profile,
    scenario: Scenario,
    *,
    privacy: MetricLike,
    quality: MetricLike,
    budget: float | str,
    over: str = ACCESS,
    first_stages: int | None = None,
    choice: Choice | str = Choice.UNINFORMATIVE,
    farsighted: Planner | None = None,
    workers: int | None = None,
    progress: Advance | None = None,
) -> Codebook:
    """Design the codebook of a scenario: the best mechanism for every exposed history that can occur.

    A *history* is what the codebook remembers, the releases that the scenario has ``seen``: given these, the expected
    loss stays within the budget at every access, or on average ``over`` all of them. Given every release so far it may
    exceed it (:func:`hideseek.evaluate`), and so it may after gaps (:func:`hideseek.designing.worst_loss_after_gaps`).

    Parameters
    ----------
    profile, scenario : MarkovProfile, Scenario
        How people move, and what is released, remembered and protected.
    privacy, quality : metric
        The adversary's error and the quality loss: a metric, its name, or a matrix [place, place].
    budget, over : float or str, {"access", "histories"}
        The most that an access may lose on average, in the unit of ``quality``; or words, as in :class:`Game`: "500m".
        It holds after every history, or on average over those of an access: one may lose many budgets. Refused are
        lengths of time, which need an account, and causal scenarios of several releases, which no price solves.
    first_stages : int, optional
        Accesses with tables of their own, by default two after everything to be seen was exposed; then one repeats.
    choice, farsighted : {"uninformative", "plain"}, Planner
        Among optimal tables the one that reveals the least about the next target, or the solver's own. Or the planner
        (for a budget at every access) chooses by the worth of the future, and may trade privacy now for it.
    workers, progress : int, callable, optional
        Processes, by default one per core; called with what is solved, how many games are done, and of how many.

    Returns
    -------
    Codebook
        Its tables in whole numbers, with the proof of their privacy and the claims of its deployed run.

    Raises
    ------
    ParameterError
        Where an argument breaks its rule; a BudgetError or SizeError where budget or memory do not suffice.

    Examples
    --------
    >>> profile, differ = MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]]), 1 - np.eye(2)
    >>> codebook = design(profile, Scenario.past_present(1), privacy=differ, quality=differ, budget=0.1)
    >>> len(codebook.stages), bool(codebook.deployed.worst_loss <= 0.1)
    (4, True)
    """
    chain, choice = homogeneous(profile, scenario, OWNER), one_of(Choice, choice, "choice", OWNER)
    layout = StageLayout.of(scenario, first_stage_count(chain, scenario, first_stages, OWNER))
    games = games_of(chain, scenario, privacy, quality, budget, checked_over(over, scenario), farsighted)
    return _Designer(layout, HistorySolver(games, choice, worker_count(workers, OWNER), progress)).codebook()


def checked_over(over: str, scenario: Scenario) -> str:
    """Over what a budget holds, refused unless a codebook can keep it so."""
    if over not in (ACCESS, HISTORIES):
        rule = f'"{ACCESS}" or "{HISTORIES}", as a codebook keeps no account over a length of time'
        raise broken_rule("over", OWNER, rule, repr(over), "Make a playbook, whose device keeps one.")
    if over == HISTORIES and scenario.causal and len(scenario.release) > 1:
        rule = f'"{ACCESS}" where several places are released and the route is not known'
        raise broken_rule("over", OWNER, rule, repr(over))
    return over


def games_of(
    chain: MarkovProfile,
    scenario: Scenario,
    privacy: MetricLike,
    quality: MetricLike,
    budget: float | str,
    over: str,
    farsighted: Planner | None,
) -> HistoryGames:
    """The games of a design, once what was given is known to be right."""
    if farsighted is not None and not (isinstance(farsighted, Planner) and len(farsighted.cuts)):
        rule = "a Planner that looks ahead, or None"
        raise broken_rule("farsighted", OWNER, rule, getattr(farsighted, "outlook", type(farsighted).__name__))
    d_p, d_q = as_metric(privacy, "privacy", chain, OWNER), as_metric(quality, "quality", chain, OWNER)
    allowed = budget_through_time(budget, chain, scenario, d_p, d_q, OWNER)
    return HistoryGames.of(chain, scenario, d_p, d_q, allowed, farsighted, over)


class _Designer:
    """Makes the stages of a codebook: solved for the run, mixed until they keep the budget in it, and proved."""

    def __init__(self, layout: StageLayout, solver: HistorySolver) -> None:
        self.layout, self.solver, self.games = layout, solver, solver.games
        self.budget, self.over, self.places = self.games.budget, self.games.over, self.games.profile.places
        self.drafts = [Draft(*stage) for stage in zip(layout.scenarios, layout.then, strict=True)]
        metrics = {"privacy": self.games.privacy, "quality": self.games.quality}
        self.deployment = Deployment(self.games.profile, layout, self.drafts, **metrics, prepare=self.prepare)

    def codebook(self) -> Codebook:
        """Make all stages, mix them until they keep the budget, and certify the run."""
        self.settle()
        runs = self.certified()
        profile = self.games.profile
        return Codebook(
            scenario=self.layout.scenario,
            places=profile.places,
            regions=profile.regions,
            step=profile.step,
            privacy=self.games.privacy,
            quality=self.games.quality,
            budget=self.budget,
            over=self.over,
            stages=tuple(self.proved(runs)),
            gaps=(),
            deployed=deployed_of(runs, self.plain_second_privacy(), self.over),
            chain=Chain(profile.states, profile.transition),
        )

    def at(self, number: int, joint: Joint) -> tuple[Access, Joint]:
        """The access at a stage, and the joint distribution before it with what the stage remembers."""
        return self.deployment.access(number, joint), self.deployment.remembered(number, joint)

    def solve(
        self, number: int, joint: Joint, only: Sequence[History] = (), choose: bool = True
    ) -> dict[History, Made]:
        """Solve the games of all histories at a stage, or of some."""
        return self.solver.solve(self.layout.occasion(number), *self.at(number, joint), only, choose)

    def prepare(self, number: int, joint: Joint, prior: Prior) -> None:
        """Make tables for the histories and places that a stage has none for yet."""
        draft = self.drafts[number]
        missing = draft.unmade(prior, self.places)
        if missing:
            made = self.solve(number, joint, missing)
            draft.take({past: draft.blended(past, one, 0.0) for past, one in made.items()}, self.places)
        while missing:  # whole numbers may lose a billionth more than the distributions they stand for
            outcome = draft.under(prior, self.games.privacy, self.games.quality)
            above = Moment(number, joint, prior.histories, outcome).above(self.budget, self.over)
            own = {past: loss for past, loss in above.items() if past in missing or self.over == HISTORIES}
            if not self.mix(number, own, LEAST_SPARE):
                break

    def mix(self, number: int, losses: dict[History, float], spare: float) -> bool:
        """Mix the tables of histories that lose too much towards their safe ones, and a share ``spare`` further.

        Says whether there was something to mix: a budget may be the least loss, and missed by rounding.
        """
        draft, mixed = self.drafts[number], {}
        much, part = SLOWLY[self.over]
        for past, loss in losses.items():
            one, share = draft.made[past], 1 - self.budget / loss
            share = share * part if share > much else min(1.0, share + spare)
            if np.abs(one.table - one.safe).max() > 1e-12:
                mixed[past] = replace(one, table=(1 - share) * one.table + share * one.safe)
        stuck = max((loss for past, loss in losses.items() if past not in mixed), default=0.0)
        if stuck > self.budget * (1 + LEAST_SPARE) and not (mixed and self.over == HISTORIES):
            raise budget_too_small(self.budget, stuck, self.games.quality.unit)
        if mixed:
            draft.take(mixed, self.places)
        return bool(mixed)

    def mended(self, number: int, joint: Joint, settled: float = SETTLED) -> tuple[list[Moment], Joint, bool]:
        """A run in which no history loses more than the budget, after as many mixtures as it takes."""
        spare = LEAST_SPARE
        for _ in range(ROUNDS):
            moments, end, done = self.deployment.run(number, joint, settled=settled)
            worst = excess(moments, self.budget, self.over)
            mixed = [self.mix(at, losses, spare) for at, losses in worst.items()]
            if not any(mixed):
                return moments, end, done
            spare = min(4 * spare, MOST_SPARE)  # a mixture moves the distribution, and may stay just too little
        raise SolverError(f"The budget is not kept at every access after {ROUNDS} rounds of mixing.")

    def settle(self) -> None:
        """Make the stage that repeats: the one with the most privacy in the long run that was found.

        The optimum for the distribution that a stage leads to would lead elsewhere again, and often to less (measured:
        201, 84, 46, 22 m). So the accesses go on for a while with tables of their own, the last of which is kept, and
        is then moved by small steps towards the optimum for the distribution that it leads to.
        """
        repeating, remembers = self.layout.repeating, bool(self.layout.scenario.seen)
        start = self.deployment.run(0, NEVER, accesses=repeating)[1]
        draft, joint, pace = self.drafts[repeating], start, PACE
        for _ in range(AHEAD[self.over] if remembers else 1):
            draft.take(self.solve(repeating, joint), self.places, afresh=True)
            joint = self.deployment.visit(repeating, joint)[1]
        best, made, better = -np.inf, draft.made, {}
        while remembers and pace > PACE / 5:
            moments, end, _ = self.mended(repeating, start, settled=1e-6)
            privacy = moments[-1].privacy
            if privacy > best * (1 + 1e-3):
                best, made, better = privacy, draft.made, self.solve(repeating, end)
            else:
                pace /= 2
            draft.take(made, self.places, afresh=True)
            draft.take({past: draft.blended(past, one, pace) for past, one in better.items()}, self.places)
        draft.take(made, self.places, afresh=True)

    def certified(self) -> Runs:
        """The run in which the budget holds after every history, all of it with the tables that are stored."""
        for _ in range(ROUNDS):
            before = [draft.made for draft in self.drafts]
            runs = Runs(*self.mended(0, NEVER))
            if all(draft.made is made for draft, made in zip(self.drafts, before, strict=True)):
                return runs
        raise SolverError(f"The tables still change after {ROUNDS} runs.")

    def proved(self, runs: Runs) -> Iterator[Stage]:
        """The stages with the distributions that they were made for, or have settled in, and the best attacks there."""
        before, priors = self.deployment.before_stages(runs), self.deployment.priors(runs)
        for number, ((joint, _), prior) in enumerate(zip(before, priors, strict=True)):
            draft, first = self.drafts[number], number < self.layout.repeating
            # a proof over all histories has one price, also where some of them were made later than others
            solved = draft.made if first and self.over == ACCESS else self.solve(number, joint, choose=False)
            yield replace(draft.stage, prior=prior, attack=attack_of([solved[past] for past in histories_of(prior)]))

    def plain_second_privacy(self) -> float:
        """The most privacy of the second access if the first one takes the solver's own table."""
        first = self.drafts[0]
        plain = Draft(first.scenario, first.then)
        plain.take({past: replace(one, table=one.plain) for past, one in first.made.items()}, self.places)
        joint = self.deployment.access(0, NEVER).exposed(NEVER, plain.stage)
        return self.solver.privacy(*self.at(first.then, joint))


def excess(moments: Sequence[Moment], budget: float, over: str) -> dict[int, dict[History, float]]:
    """The largest losses above the budget, by stage and history."""
    worst: dict[int, dict[History, float]] = {}
    for moment in moments:
        own = worst.setdefault(moment.number, {})
        for past, loss in moment.above(budget, over).items():
            own[past] = max(loss, own.get(past, 0.0))
    return worst
