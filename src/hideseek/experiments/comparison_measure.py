"""How mechanisms are measured on one scale: our own at a budget, rivals with their dials turned to it, all attacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from typing import Any

import numpy as np
from joblib import delayed
from scipy.optimize import brentq

from hideseek.adversary.belief_exposer import BeliefPolicy
from hideseek.adversary.black_box import Rule, attack_watched, watched, watched_loss
from hideseek.adversary.exposers import Exposer
from hideseek.adversary.hidden_markov import Run
from hideseek.adversary.label import FAR, ROUNDING, share
from hideseek.adversary.policies import against_policy, policy_loss
from hideseek.adversary.through_time import Adversary, estimates
from hideseek.adversary.window import carry
from hideseek.baselines.plain import constant, truth
from hideseek.baselines.rival import Rival, Setting, exposer_of
from hideseek.codebook.codebook import Codebook
from hideseek.designing.designer import design
from hideseek.designing.playbook_maker import make_playbook
from hideseek.errors import BudgetError, CertificateError
from hideseek.game.mechanism import Mechanism, Policy
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.planner import Planner
from hideseek.planning.player import chosen_by
from hideseek.planning.training import plan
from hideseek.playbook.playbook import tables_at
from hideseek.solvers.dispatch import solve
from hideseek.util.choices import ACCESS
from hideseek.util.estimates import Estimate

MEMORY = 1  # releases before this one that the adversary with a window remembers, and the codebook
ATTACKS = (Adversary.FILTER, Adversary.SMOOTHER, Adversary.VITERBI)
CODEBOOK, FAR_SIGHTED, LIVE, PLAYBOOK = "codebook", "codebook, far-sighted", "live planner", "playbook"
WINDOWED = "playbook, over a window"
OURS = (CODEBOOK, FAR_SIGHTED, LIVE, PLAYBOOK, WINDOWED)  # keep the budget after what was released, and may lose less
ENDS = ("truth", "constant")  # of every dial, with a loss of their own
SPORADIC = "optimal sporadic"
EXACTLY, NEARLY = 1e-6, 1e-4  # how near a calibrated loss comes to its target, relatively: known, and simulated
FEWER, NEAR = 10, 1.25  # a policy's dial is found with so many times fewer walks, then again within this factor

Task = tuple[Callable[..., list["ComparisonRow"]], tuple[Any, ...], dict[str, Any]]  # as joblib delays one


@dataclass(frozen=True)
class ComparisonRow:
    """One mechanism: where its ``dial`` stands, the adversaries' expected errors, its loss, and its ``ceiling``.

    The ceiling is what no mechanism that loses as little can exceed. ``noise`` is the dial's number, if it has one.
    Where ``learned``, the mechanism is a function that adversaries had to learn from its runs: errors are those of the
    attacks that were made, and the best adversary's are at most these.
    """

    mechanism: str
    reference: str
    dial: str
    noise: float | None
    window: Estimate
    filter: Estimate
    smoother: Estimate
    viterbi: Estimate
    quality_loss: Estimate
    ceiling: float
    learned: bool = False

    def __post_init__(self) -> None:
        for adversary in (self.window, self.filter, self.smoother):
            allowed = FAR * (adversary - adversary.interval[0]) + ROUNDING * max(1.0, self.ceiling)
            if adversary > self.ceiling + allowed:
                raise CertificateError(f"{self.mechanism} beats the optimum: {adversary:.9g} > {self.ceiling:.9g}.")

    @property
    def kept(self) -> Estimate:
        """The filter's share of the ceiling."""
        return share(self.filter, self.ceiling)


@dataclass(frozen=True, eq=False)
class Measure:
    """How exposers are measured: for whom, over how many accesses, by which walks."""

    setting: Setting
    accesses: int
    walks: int
    seed: int

    def tasks(self, budget: float, target: float, rivals: Sequence[Rival], over: str | timedelta) -> list[Task]:
        """What gives the rows, a few each, in any order; what takes longest comes first."""
        game = self.setting.game
        optimum = solve(game.with_budget(target)).mechanism
        fixed = (
            (ENDS[0], "", "", None, truth(game)),
            (ENDS[1], "", "", None, constant(game)),
            (SPORADIC, "Shokri et al. 2012", "", None, optimum),
        )
        # the last of the rivals adapt to what they exposed and take longest
        windowed = over != ACCESS and budget > 0  # of nothing, nothing can be saved up
        tasks = [delayed(self.windowed_rows)(budget, over)] if windowed else []
        tasks += [delayed(self.planned_rows)(budget), delayed(self.codebook_rows)(budget)]
        tasks += [delayed(self.calibrated_rows)(rival, target) for rival in reversed(rivals)]
        return tasks + [delayed(self.rows)(*entry) for entry in fixed]

    def codebook_rows(self, budget: float, planner: Planner | None = None) -> list[ComparisonRow]:
        """A codebook of this budget, which a planner may have chosen the tables of."""
        scenario, d_p, d_q = Scenario.past_present(MEMORY), self.setting.privacy, self.setting.quality
        codebook = design(
            self.setting.profile, scenario, privacy=d_p, quality=d_q, budget=budget, farsighted=planner, workers=1
        )
        name = CODEBOOK if planner is None else FAR_SIGHTED
        return self.rows(name, "Theodorakopoulos et al. 2014", "releases remembered", MEMORY, codebook)

    def planned_rows(self, budget: float) -> list[ComparisonRow]:
        """What plans ahead at this budget, if that can be kept at every place.

        A program per access, the playbook of the same plan if the profile says where its places are, and a codebook.
        """
        d_p, d_q = self.setting.privacy, self.setting.quality
        try:
            game = BeliefGame.of(self.setting.profile, privacy=d_p, quality=d_q, budget=budget)
        except BudgetError:
            return []
        planner = plan(game, seed=self.seed)
        found = self.rows(LIVE, "", "", None, BeliefPolicy(game, chosen_by(game, planner)))
        if self.setting.profile.regions is not None:
            book = make_playbook(game, planner, seed=self.seed)
            policy = BeliefPolicy(book, partial(tables_at, book))
            found += self.rows(PLAYBOOK, "", "tables", len(book.anchors), policy)
        return found + (self.codebook_rows(budget, planner) if len(planner.cuts) else [])

    def windowed_rows(self, budget: float, over: str | timedelta) -> list[ComparisonRow]:
        """A playbook whose budget holds over a window, if its account can save and the profile says where places are.

        Its account is half full at first, as in the long run. A run that is short beside the window may lose more or
        less than the budget all the same, which is shown; of some length, that does not count.
        """
        d_p, d_q = self.setting.privacy, self.setting.quality
        try:
            game = BeliefGame.of(self.setting.profile, privacy=d_p, quality=d_q, budget=budget, over=over)
        except BudgetError:
            return []
        if game.window == 1 or self.setting.profile.regions is None:
            return []
        book = make_playbook(game, plan(game, seed=self.seed), seed=self.seed)
        policy = BeliefPolicy(book, partial(tables_at, book), log=book.follows_log)
        return self.rows(WINDOWED, "", "accesses of the window", game.window, policy)

    def calibrated_rows(self, rival: Rival, target: float) -> list[ComparisonRow]:
        """A rival that loses as much as the target, or as nearly as it can; at its own loss if it has no dial."""
        if not rival.dial:
            return self.rows(rival.name, rival.reference, rival.dial, None, exposer_of(rival, self.setting))
        few, whole = replace(self, walks=max(2, self.walks // FEWER)), rival.span(self.setting)
        noise = few.turned(rival, whole, target)
        made = exposer_of(rival, self.setting, noise)
        if not isinstance(made, Mechanism):
            near = noise / NEAR, noise * NEAR
            noise = self.turned(rival, near, target)
            if noise in near:  # the few walks were not typical
                noise = self.turned(rival, whole, target)
            made = exposer_of(rival, self.setting, noise)
        return self.rows(rival.name, rival.reference, rival.dial, noise, made)

    def turned(self, rival: Rival, span: tuple[float, float], target: float) -> float:
        """Where a rival's dial must be for it to lose as much as the target."""
        return calibrated(lambda noise: self.loss(exposer_of(rival, self.setting, noise)), span, target)

    def loss(self, exposer: Exposer | Rule) -> Estimate:
        """The expected quality loss in the run."""
        if isinstance(exposer, Mechanism):
            return Estimate(float(np.vdot(self.setting.game.cost, exposer.table)))
        if isinstance(exposer, Policy):
            return policy_loss(self.course(exposer), self.setting.quality, walks=self.walks, seed=self.seed)
        if isinstance(exposer, Codebook):
            return Estimate(carry(self.course(exposer)).loss.mean())
        seen = watched(exposer, self.setting.profile, self.accesses, self.walks, self.seed)
        return watched_loss(seen, self.setting.quality, self.setting.profile.places)

    def course(self, exposer: Exposer) -> Run:
        """The run of accesses of an exposer."""
        return Run(exposer, self.setting.profile, privacy=self.setting.privacy, accesses=self.accesses, owner="compare")

    def rows(
        self, mechanism: str, reference: str, dial: str, noise: float | None, exposer: Exposer | Rule
    ) -> list[ComparisonRow]:
        """Attack an exposer: one row."""
        if isinstance(exposer, Exposer):
            found, loss = self.errors(exposer), self.loss(exposer)
        else:
            found, loss = self.watched_errors(exposer)
        learned, ceiling = not isinstance(exposer, Exposer), self.bound(loss.interval[1])
        # what an adversary errs by who learned too little is no privacy: no mechanism has more than the ceiling
        errors: dict[str, Any] = {
            str(adversary): at_most(error, ceiling) if learned else error for adversary, error in found.items()
        }
        row = ComparisonRow(mechanism, reference, dial, noise, **errors, quality_loss=loss, ceiling=ceiling)
        return [replace(row, learned=learned)]

    def bound(self, loss: float) -> float:
        """What no mechanism that loses so much exceeds."""
        return solve(self.setting.game.with_budget(loss)).bound

    def errors(self, exposer: Exposer) -> dict[Adversary, Estimate]:
        """The errors of adversaries who know a mechanism."""
        course = self.course(exposer)
        if isinstance(exposer, Policy):
            window = against_policy(course, MEMORY, walks=self.walks, seed=self.seed)
        else:
            window = Estimate(carry(course, MEMORY).error.mean())
        return {Adversary.WINDOW: window} | estimates(course, ATTACKS, walks=self.walks, seed=self.seed)

    def watched_errors(self, rule: Rule) -> tuple[dict[Adversary, Estimate], Estimate]:
        """The errors of adversaries who learn a function from its runs, and its loss."""
        metrics = {"privacy": self.setting.privacy, "quality": self.setting.quality}
        return attack_watched(
            rule, self.setting.profile, **metrics, accesses=self.accesses, walks=self.walks, seed=self.seed
        )


def at_most(error: Estimate, most: float) -> Estimate:
    """An error with its interval, no larger than this.

    >>> at_most(Estimate(2.0, (1.0, 3.0)), 2.5).interval
    (1.0, 2.5)
    """
    low, high = (min(end, most) for end in error.interval)
    return Estimate(min(error, most), (low, high), hit_rate=error.hit_rate)


def calibrated(loss: Callable[[float], Estimate], span: tuple[float, float], target: float) -> float:
    """Where on a dial the loss is the target, by bisection (Brent's); the nearer end where it is beyond.

    >>> round(calibrated(lambda noise: Estimate(noise**2), (1e-3, 1e3), target=4.0), 6)
    2.0
    """
    # on a log scale, unless the dial starts at 0
    turn, back = (np.log, np.exp) if span[0] > 0 else (float, float)
    low, high = (float(turn(end)) for end in span)

    @cache
    def missed(dial: float) -> float:
        found = loss(float(back(dial)))
        near = abs(found - target) <= (EXACTLY if found.exact else NEARLY) * target
        return 0.0 if near else found - target  # near enough ends the search

    if missed(low) >= 0:
        return span[0]
    return float(back(brentq(missed, low, high, xtol=1e-12))) if missed(high) > 0 else span[1]
