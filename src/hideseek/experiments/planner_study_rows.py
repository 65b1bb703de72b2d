"""The rows of a study of planners, their means over users, and what these say in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hideseek.util.choices import ACCESS, Outlook
from hideseek.util.estimates import Estimate


@dataclass(frozen=True)
class StudyRow:
    """One planner for one user at one budget, ``budget_share`` of the saturating one.

    ``filter`` and ``smoother`` are the expected errors per access of adversaries who remember every release so far, or
    know the later ones too; no mechanism makes the former exceed the ``ceiling``, and none that keeps the budget
    given every release the ``bound``, which is the lowest proved for this user and budget. ``kept`` is the filter's
    share of the ceiling. ``worst_loss`` is the largest expected loss after any exposed history that occurred. Errors
    are in the unit of the privacy metric, losses in that of the quality metric.

    The budget holds ``over`` "access", at every one, or a window such as "1 day", on average. Then the ``bound`` is
    that of mechanisms that keep it on average, and errors are those at a loss of the budget, which walks lose nearly:
    less the ceiling's price of what their ``quality_loss`` is above it.
    """

    user: str
    places: int
    budget_share: float
    planner: Outlook
    filter: Estimate
    smoother: Estimate
    quality_loss: Estimate
    worst_loss: float
    kept: Estimate
    bound: float
    ceiling: float
    over: str = ACCESS

    @property
    def name(self) -> str:
        """The planner, and over which window its budget holds."""
        return named_planner(self.planner, self.over)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of what is kept."""
        return self.kept.interval


@dataclass(frozen=True)
class Mean:
    """One planner at one budget, ``budget_share`` of the saturating one, on average over users.

    ``kept`` carries the 95 % confidence interval of the simulation, for these users. ``limit`` is the bound and
    ``attained`` the filter as shares, of the ceiling and of the bound. ``gain`` is by how much the average filter
    exceeds that of the planner ``gain_over``, as a share of it; ``own_gain`` the average of the users' own gains, over
    those whom that one leaves anything (None where that is nobody). ``losers`` counts users with less than under it,
    beyond both intervals. It is the plain planner; and where the budget holds ``over`` a window, the far-sighted one
    with the same budget at every access, so that the gain is the window's.
    """

    budget_share: float
    planner: Outlook
    users: int
    filter: float
    smoother: float
    quality_loss: float
    kept: Estimate
    bound: float
    ceiling: float
    limit: float
    attained: float
    gain: float | None
    own_gain: float | None
    losers: int
    over: str
    gain_over: Outlook

    @property
    def name(self) -> str:
        """The planner, and over which window its budget holds."""
        return named_planner(self.planner, self.over)


def named_planner(planner: Outlook, over: str) -> str:
    """A planner by the window of its budget too, if that holds over one.

    >>> named_planner(Outlook.PLAIN, "access"), named_planner(Outlook.FAR_SIGHTED, "1 day")
    ('plain', 'far-sighted, over 1 day')
    """
    return str(planner) if over == ACCESS else f"{planner}, over {over}"


def compared_with(row: StudyRow) -> Outlook:
    """The planner, of those with a budget at every access, that a row's gain is counted from."""
    return Outlook.PLAIN if row.over == ACCESS else Outlook.FAR_SIGHTED


def drawn(rows: Sequence[StudyRow] | Sequence[Mean]) -> pd.DataFrame:
    """Rows or means as a table for a figure, with the names of the planners."""
    return frame_of(rows).assign(name=[row.name for row in rows])


def frame_of(rows: Sequence[StudyRow] | Sequence[Mean]) -> pd.DataFrame:
    """Rows or means as a table, with the ends of the interval of what is kept."""
    low, high = zip(*(row.kept.interval for row in rows), strict=True)
    return pd.DataFrame([vars(row) for row in rows]).assign(kept_low=low, kept_high=high)


def mean_of(rows: Sequence[StudyRow], others: Sequence[StudyRow]) -> Mean:
    """The rows of a planner at a budget on average over users, next to those that its gain is counted from."""
    first = rows[0]
    reached, before = np.array([row.filter for row in rows]), np.array([row.filter for row in others])
    had = before > 0
    return Mean(
        budget_share=first.budget_share,
        planner=first.planner,
        users=len(rows),
        filter=float(reached.mean()),
        smoother=float(np.mean([row.smoother for row in rows])),
        quality_loss=float(np.mean([row.quality_loss for row in rows])),
        kept=mean_kept([row.kept for row in rows]),
        bound=float(np.mean([row.bound for row in rows])),
        ceiling=float(np.mean([row.ceiling for row in rows])),
        limit=float(np.mean([row.bound / row.ceiling for row in rows])),
        attained=float(np.mean([row.filter / row.bound for row in rows])),
        gain=float(reached.mean() / before.mean() - 1) if before.mean() > 0 else None,
        own_gain=float((reached[had] / before[had]).mean() - 1) if had.any() else None,
        losers=sum(own.filter.interval[1] < other.filter.interval[0] for own, other in zip(rows, others, strict=True)),
        over=first.over,
        gain_over=others[0].planner,
    )


def mean_kept(shares: Sequence[Estimate]) -> Estimate:
    """The mean of shares that were measured independently.

    >>> [round(end, 3) for end in mean_kept([Estimate(0.5, (0.47, 0.53)), Estimate(0.7, (0.66, 0.74))]).interval]
    [0.575, 0.625]
    """
    mean = float(np.mean(shares))
    below, above = (
        float(np.linalg.norm([share - share.interval[end] for share in shares]) / len(shares)) for end in (0, 1)
    )
    return Estimate(mean, (mean - below, mean + above))


def finding(plain: Mean, ahead: Mean) -> str:
    """What planning ahead is worth at one budget, in words with numbers."""
    more = "" if ahead.gain is None else f", {1 + ahead.gain:.2f} times the privacy on average"
    return (
        f"At {ahead.budget_share:.0%} of the saturating budget, planning ahead keeps {ahead.kept:.0%} of the ceiling "
        f"and the plain optimum {plain.kept:.0%}{more}; none with this budget at every access keeps more than "
        f"{ahead.limit:.0%}. Users who lose by planning, beyond the confidence intervals: {ahead.losers} of "
        f"{ahead.users}."
    )


def window_finding(mean: Mean) -> str:
    """What a window is worth at one budget, beyond planning ahead, in words with numbers."""
    more = "" if mean.gain is None else f", {1 + mean.gain:.2f} times as much as at every access"
    return (
        f"With {mean.budget_share:.0%} over {mean.over}, on average, the far-sighted planner keeps {mean.kept:.0%} of "
        f"the ceiling{more}; none that keeps it on average keeps more than {mean.limit:.0%}. Users who lose by the "
        f"window, beyond the confidence intervals: {mean.losers} of {mean.users}."
    )
