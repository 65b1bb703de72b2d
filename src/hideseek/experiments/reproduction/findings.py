"""What the paper says about its figures, and what it leaves open: claims that hold or do not, with the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from hideseek.experiments.reproduction.numbers import LAST, MIDDLE, Optimum
from hideseek.model.profile import STEP
from hideseek.model.regions import Regions
from hideseek.util.arrays import FloatArray
from hideseek.util.display import counted, html_table

EXACT = 1e-9  # what is computed exactly may be off by rounding only
CERTIFIED = 1e-6  # of a probability, to which the programs are solved
MOVES, KEPT = 0.05, 0.99  # share by which a figure must move to count as moved, and that is as good as all
SIGNIFICANT, FEWEST = 0.05, 5  # chance that is ruled out, and users without whom nothing can be
PERMUTATIONS = 20_000


@dataclass(frozen=True)
class Finding:
    """A claim, whether it holds, the numbers that decide it, in words, and the ``rule`` by which they do.

    ``paper`` is what the paper says, in its own words; nothing where the claim is not the paper's.
    """

    name: str
    passed: bool
    figure: str
    rule: str
    paper: str = ""

    @property
    def verdict(self) -> str:
        """PASS or FAIL."""
        return "PASS" if self.passed else "FAIL"


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction:
    """The results as tables, one row per number, and how they were obtained.

    ``names`` are the users who were drawn, ``users`` describes their days, ``candidates`` the days of all who could be.
    ``sporadic``, ``location`` and ``transition`` are the paper's three results, and ``programs`` games of all three
    solved by linear programs.
    """

    names: tuple[str, ...]
    users: pd.DataFrame
    candidates: pd.DataFrame
    sporadic: pd.DataFrame
    location: pd.DataFrame
    transition: pd.DataFrame
    programs: pd.DataFrame
    regions: Regions
    clock: str
    seed: int
    step: str = STEP

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the paper says of its figures, and what it leaves open, checked on these."""
        return findings_of(self)

    def to_frame(self) -> pd.DataFrame:
        """The findings, one per row: ``name``, ``passed``, ``figure``, ``rule`` and ``paper``."""
        return pd.DataFrame([vars(one) for one in self.findings])

    def __repr__(self) -> str:
        passed = sum(one.passed for one in self.findings)
        return f"Reproduction on {counted(len(self.users), 'user')}: {passed} of {len(self.findings)} findings hold"

    def _repr_html_(self) -> str:
        return html_table(repr(self), {one.name: f"{one.verdict}: {one.figure}" for one in self.findings})


def findings_of(found: Reproduction) -> tuple[Finding, ...]:
    """All findings, in the order of the paper."""
    return (
        below_the_diagonal(found),
        monotone(found),
        concave_per_history(found),
        plateau(found),
        *predictable_users_lowest(found),
        equal_to_the_closed_form(found),
        *choice_moves_the_figures(found),
        right_choice_costs_nothing(found),
        certified(found),
    )


def below_the_diagonal(found: Reproduction) -> Finding:
    """Remembering the release before never makes the adversary's expected error larger, for any optimum."""
    table = found.sporadic
    excess = (table["aware"] - table["sporadic"]).max()
    figure = f"largest excess over the diagonal {max(excess, 0):.1e} at {len(table)} points"
    rule, paper = f"no excess beyond {EXACT:g}, for any optimum", '"all data points are below the x=y diagonal" (6.1)'
    return Finding("below the diagonal", bool(excess <= EXACT), figure, rule, paper)


def monotone(found: Reproduction) -> Finding:
    """More budget never gives less privacy, in the second and the third figure.

    A theorem for the third and after a fixed history; for the average of the second it depends on the optima before.
    """
    location = changes(of_the_coin(found.location), ["user", "step"], 1)
    steps = np.r_[location, changes(found.transition, ["user", "route"], 1)]
    fall = max(0.0, -changes(compared(found.location), ["user", "step", "choice"], 1).min(initial=0))
    figure = f"smallest change from one budget to the next {steps.min():.1e}, of {len(steps)}"
    figure += f"; after other optima falls of up to {fall:.1e}"
    rule = "the transition's curves never fall, nor do those after the coin"
    paper = '"the achievable privacy increases as" the loss allowed "increases", in both figures (6.2)'
    return Finding("monotone", bool(steps.min() >= -EXACT), figure, rule, paper)


def concave_per_history(found: Reproduction) -> Finding:
    """After a fixed history every further unit of budget gives at most what the one before it gave."""
    alone = found.programs[~found.programs["game"].str.startswith("transition")]
    bends = changes(alone, ["user", "game"], 2)
    figure = f"largest second difference {bends.max():.1e} of {len(bends)}, solved by linear programs"
    return Finding("concave per history", bool(bends.max() <= CERTIFIED), figure, f"none above {CERTIFIED:g}")


def changes(table: pd.DataFrame, keys: Sequence[str], order: int) -> FloatArray:
    """Differences of the privacy from one budget to the next (or of these), within every curve."""
    curves = table.sort_values("budget").groupby(list(keys))["privacy"]
    return np.concatenate([np.diff(privacy, n=order) for _, privacy in curves])


def plateau(found: Reproduction) -> Finding:
    """From the saturating budget on nothing is gained, and what is reached is the prior risk."""
    location = of_the_coin(found.location[found.location["step"] == LAST])
    distances = []
    for table, risk in ((location, "prior_risk"), (found.transition, "pair_risk")):
        level = table["user"].map(found.users.set_index("user")[risk])
        distances.append((table["privacy"] - level)[table["budget"] >= level].abs())
    past = pd.concat(distances)
    figure = f"largest distance to the prior risk {past.max():.1e} at {len(past)} budgets past saturation"
    rule = f"no distance beyond {EXACT:g}"
    paper = '"Their privacy reaches a plateau", for "most users" (6.2)'
    return Finding("plateau", bool(len(past) and past.max() <= EXACT), figure, rule, paper)


def predictable_users_lowest(found: Reproduction) -> list[Finding]:
    """The privacy of users rises with the entropy rate of their chains: of all that can be drawn, since ten are few."""
    lowest = '"more predictable users correspond to the lowest curves"'
    any_budget = '"the privacy level for any value of" the loss allowed "is not the same for all users"'
    checked = []
    for what, column, paper in (
        ("plateau of the place", "prior_risk", f"{lowest} (6.2, of 10 users)"),
        ("the place, middle budget", "middle", f"{any_budget}; {lowest} (6.2, of 10 users)"),
        ("plateau of the transition", "pair_risk", f"{lowest} (6.2, of 10 users)"),
    ):
        (rho, p), (own, chance) = (
            rank_correlation(users["entropy_rate"].to_numpy(), users[column].to_numpy())
            for users in (found.candidates, found.users)
        )
        count = len(found.candidates)
        low, high = rank_interval(rho, count)
        figure = (
            f"rank correlation with the entropy rate {rho:.2f} (90 % interval {low:.2f} to {high:.2f}, p = {p:.1g}) "
            f"over all {count} users with such a day; {own:.2f} (p = {chance:.1g}) of the {len(found.users)} drawn"
        )
        if column == "middle":
            figure += by_optimum(found)
        rule, enough = f"positive, with p < {SIGNIFICANT:g}", count >= FEWEST
        if not enough:
            rule += f"; fewer than {FEWEST} users cannot tell"
        holds = enough and rho > 0 and p < SIGNIFICANT
        if not holds:
            figure += ". Not shown" + (", nor refuted: it may be above 0" if high > 0 else "; the opposite is")
        checked.append(Finding(f"predictable users lowest: {what}", holds, figure, rule, paper))
    return checked


def by_optimum(found: Reproduction) -> str:
    """How the drawn users' rank correlation at the middle budget depends on which of the optimal tables is taken."""
    entropy = found.users.set_index("user")["entropy_rate"]
    levels = found.location[(found.location["step"] == LAST) & (found.location["budget"] == MIDDLE)]
    told = [
        f"{choice} {rank_correlation(own['user'].map(entropy).to_numpy(), own['privacy'].to_numpy())[0]:.2f}"
        for choice, own in levels.groupby("choice", sort=False)
    ]
    return f", which by optimum is {', '.join(told)}" if len(told) > 1 else ""


def rank_interval(rho: float, count: int) -> tuple[float, float]:
    """The 90 % confidence interval of a rank correlation over so many pairs (Bonett and Wright 2000).

    It lies above 0 about where a one-sided test rules chance out at 5 %.

    >>> [round(end, 2) for end in rank_interval(0.3, 43)], rank_interval(1.0, 3)
    ([0.04, 0.52], (-1.0, 1.0))
    """
    if count <= 3:
        return -1.0, 1.0
    centre = np.arctanh(np.clip(rho, -1 + EXACT, 1 - EXACT))
    off = 1.645 * np.sqrt((1 + rho**2 / 2) / (count - 3))
    return float(np.tanh(centre - off)), float(np.tanh(centre + off))


def rank_correlation(left: FloatArray, right: FloatArray) -> tuple[float, float]:
    """Spearman's rank correlation, and how often chance alone would give as much (one-sided, by permutations).

    >>> rho, p = rank_correlation(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.1, 0.2, 0.3, 0.4]))
    >>> round(rho, 6), round(p, 2)
    (1.0, 0.04)
    """
    ranks = pd.DataFrame([left, right]).round(9).rank(axis=1).to_numpy()
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    spread = float(np.linalg.norm(ranks, axis=1).prod())
    if spread == 0:
        return 0.0, 1.0
    shuffled = np.random.default_rng(0).permuted(np.tile(ranks[1], (PERMUTATIONS, 1)), axis=1)
    rho, chance = float(ranks[0] @ ranks[1]) / spread, shuffled @ ranks[0] / spread
    return rho, float((1 + (chance >= rho - EXACT).sum()) / (1 + PERMUTATIONS))


def equal_to_the_closed_form(found: Reproduction) -> Finding:
    """Linear programs find min(Q, prior risk), wherever they look."""
    searched = found.sporadic[found.sporadic["choice"] != Optimum.COIN]
    risk = searched["user"].map(found.users.set_index("user")["prior_risk"])
    off = np.r_[
        found.programs["privacy"] - found.programs["closed_form"],
        searched["sporadic"] - np.minimum(searched["budget"], risk),
    ]
    figure = f"largest distance of a linear program to min(budget, prior risk) {np.abs(off).max():.1e}, of {len(off)}"
    rule = f"no distance beyond {CERTIFIED:g}"
    return Finding("equal to the closed form", bool(np.abs(off).max() <= CERTIFIED), figure, rule)


def choice_moves_the_figures(found: Reproduction) -> list[Finding]:
    """Which of the optimal tables is taken changes what is left when more is known."""
    last = found.location[found.location["step"] == LAST]
    checked = []
    for number, what, table, column in (
        ("first", "error when the release before is remembered", found.sporadic, "aware"),
        ("second", f"privacy at t = {LAST}", last, "privacy"),
    ):
        share = movement(table, column)
        figure = f"{what}: by {share.mean():.1%} on average, by up to {share.max():.1%}, between optima"
        name, rule = f"the choice of optimum moves the {number} figure", f"by more than {MOVES:.0%}"
        checked.append(Finding(name, bool(share.max() > MOVES), figure, rule))
    return checked


def movement(table: pd.DataFrame, column: str) -> pd.Series[float]:
    """How far the least is from the largest value of the optima, as a share of it, for every user and budget."""
    values = compared(table).groupby(["user", "budget"])[column]
    return 1 - values.min() / values.max()


def of_the_coin(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the closed form, which are the lines of the figures."""
    return table[table["choice"] == Optimum.COIN]


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """The rows at budgets for which all optima were computed, and not the coin alone."""
    return table[table["budget"].isin(table.loc[table["choice"] != Optimum.COIN, "budget"])]


def right_choice_costs_nothing(found: Reproduction) -> Finding:
    """With the optimum that reveals the least, the second figure keeps what the sporadic one promises."""
    table = found.location[found.location["choice"] == Optimum.UNINFORMATIVE]
    privacy = table.set_index(["user", "budget", "step"])["privacy"].unstack("step")
    kept = (privacy[LAST] / privacy[1])[privacy[1] > 0]
    figure = f"of the privacy at t = 1, {kept.mean():.2%} is left at t = {LAST} on average, {kept.min():.2%} at least"
    name, rule = "the least revealing optimum keeps the privacy", f"{KEPT:.0%} at least"
    return Finding(name, bool(kept.min() >= KEPT), figure, rule)


def certified(found: Reproduction) -> Finding:
    """No privacy is claimed that is not proved to be next to the best."""
    gaps = pd.concat(
        [
            found.sporadic["bound"] - found.sporadic["sporadic"],
            *(table["bound"] - table["privacy"] for table in (found.location, found.transition, found.programs)),
        ]
    )
    figure = f"largest distance to what no mechanism exceeds {gaps.max():.1e}, of {len(gaps)} numbers"
    rule = f"no distance beyond {CERTIFIED:g}, and none below 0"
    paper = "\"our LPPMs achieve the highest 'total' privacy value among all mechanisms\" (6)"
    return Finding("certified", bool(gaps.max() <= CERTIFIED and gaps.min() >= -EXACT), figure, rule, paper)
