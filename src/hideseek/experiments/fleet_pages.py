"""A fleet as one page: how well people are protected, who is not and why, and everybody in a table that can be sorted.

The page is made from the table of labels alone.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from hideseek.adversary.label import ASSUMPTION
from hideseek.experiments.report import Section, Table, html_report
from hideseek.experiments.wording import any_window
from hideseek.plots.fleets import protection_figure
from hideseek.util.choices import ACCESS
from hideseek.util.display import bracketed, counted
from hideseek.util.units import is_square, shown, unit_words

Row = dict[Hashable, Any]
TITLE = "A fleet, protected"
BADLY = 0.5  # of the prior risk: who has less is told
FEW = 10  # designs: the share of fewer is told of each
OFTEN = 0.5  # of the accesses at a place: a place that is named more often is told
UNITS = {"euclid": "m", "squared": "m²"}
WHY = {
    "few days": "Fewer days than a week were seen: habits are not known, and nothing is promised.",
    "narrow budget": "The budget is far below the width of a place: nearly every release is the true place.",
    "low ceiling": "Even the best mechanism at this budget leaves little. A larger budget would leave more.",
    "short of the ceiling": "A better mechanism may exist at this budget.",
}
COLUMNS = (
    "user", "design", "marks", "most named place", "there", "elsewhere", "filter", "of prior risk", "kept", "days",
)  # fmt: skip


def fleet_report(labels: pd.DataFrame) -> str:
    """The page of a table of labels, as HTML that needs no network."""
    made = labels[labels["kept"].notna()]
    users, promised = made["user"].nunique(), made[made["few_days"] != True]  # noqa: E712
    lead = (
        f"{counted(labels['user'].nunique(), 'user')}, {users} of them protected and "
        f"{promised['user'].nunique()} seen for a week or more. Protection is the expected error of an adversary who "
        "knows the habits and the mechanism and remembers every release, as a share of the error without any release. "
        f"{ASSUMPTION}"
    )
    sections: list[Section | None] = [distribution(made, promised)] if len(made) else []
    sections += [badly_protected(made), unusable(labels), over_a_window(made)]
    everybody = Section(
        "Everybody",
        "Click on a column to sort by it. Of the named and sensitive places, the one that the adversary names most "
        "often when the user is there; beside it how often it is named when the user is elsewhere.",
        table=Table(COLUMNS, tuple(map(cells, made.to_dict("records"))), words=4, sortable=True),
    )
    return html_report(TITLE, lead, [*(one for one in sections if one is not None), everybody])


def distribution(made: pd.DataFrame, promised: pd.DataFrame) -> Section:
    """How protection is spread over users, one design each."""
    shares = (promised if len(promised) else made)["risk_share"]
    told = "those seen for a week or more" if len(promised) else "all, none of whom was seen for a week"
    if len(shares) < FEW:
        spread = f"{', '.join(f'{share:.0%}' for share in sorted(shares))} of the prior risk"
    else:
        low, median, high = np.quantile(shares, (0.1, 0.5, 0.9))
        spread = f"the median is {median:.0%} of the prior risk, nine of ten have {low:.0%} or more, "
        spread += f"one of ten {high:.0%} or more"
    return Section(
        "How well people are protected",
        f"Of {told}: {spread}.",
        figures=[(protection_figure(made), "How many designs leave which share of the prior risk")],
    )


def badly_protected(made: pd.DataFrame) -> Section | None:
    """Who has little protection, or a place that is named often, the worst first; and why."""
    rows = [(row, marks_of(row), worst_place(row)) for row in made.to_dict("records")]
    told = [
        (row["user"], design_of(row), ", ".join(marks) or "-", f"{row['risk_share']:.0%}", place_words(worst))
        for row, marks, worst in sorted(rows, key=lambda one: one[0]["risk_share"])
        if row["risk_share"] < BADLY or (worst is not None and worst["there"] > OFTEN) or marks
    ]
    if not told:
        return None
    present = {mark for _, marks, _ in rows for mark in marks}
    text = f"Less than {BADLY:.0%} of the prior risk is left, a place is named more often than not, or a mark stands. "
    text += " ".join(f"{mark.capitalize()}: {words}" for mark, words in WHY.items() if mark in present)
    header = ("user", "design", "marks", "of prior risk", "named when there")
    return Section("Who is badly protected, and why", text, table=Table(header, tuple(told), words=3))


def over_a_window(made: pd.DataFrame) -> Section | None:
    """What every design loses, where budgets hold over a window: expected and realised, and at most."""
    rows = made[made["over"].notna() & (made["over"] != ACCESS)]
    if rows.empty:
        return None
    over, unit = rows["over"].iloc[0], UNITS.get(str(rows["quality_metric"].iloc[0]), "")
    twice = "1.41 times as many metres, root mean square" if is_square(unit) else "twice as much"
    text = (
        f"The budget holds on average over {over}, after every history: what an access does not lose is saved up for "
        f"later ones, at most the budget of {over}. So a single access may lose more than the budget, and over "
        f"{any_window(over)} it may be {twice}; the worst that occurred are told. Expected is what an access loses on "
        "average, given all that was exposed before: by this the account is kept. Realised is what the releases that "
        "came did lose. Both should be near the budget."
    )
    header = (
        "user",
        "design",
        bracketed("budget", unit_words(unit)),
        "expected",
        "realised",
        "worst window",
        "worst access",
    )
    told = tuple((row["user"], design_of(row), *losses_of(row)) for row in rows.to_dict("records"))
    return Section(f"What is lost, with budgets over {over}", text, table=Table(header, told, words=2))


def losses_of(row: Row) -> tuple[str, ...]:
    """The budget and what is lost, as people are shown it."""
    unit = UNITS.get(str(row["quality_metric"]), "")
    names = ("budget", "quality_loss", "realised", "worst_window", "worst_loss")
    return tuple(f"{shown(row[name], unit):.3g}" for name in names)


def unusable(labels: pd.DataFrame) -> Section | None:
    """Who could not be protected, by reason."""
    failed = labels[labels["reason"].notna()]
    if failed.empty:
        return None
    counts = failed.groupby("reason")["user"].nunique().sort_values(ascending=False)
    rows = tuple((str(reason), str(count)) for reason, count in counts.items())
    return Section("Who could not be protected", "Their data cannot be used.", table=Table(("reason", "users"), rows))


def marks_of(row: Row) -> list[str]:
    """What speaks against relying on a row, or explains that little is left."""
    marks = ["few days"] * (row["few_days"] is True) + ["narrow budget"] * (row["narrow"] is True)
    if row["risk_share"] < BADLY:
        near = row["ceiling"] < BADLY * row["prior_risk"]
        marks.append("low ceiling" if near else "short of the ceiling")
    return marks


def worst_place(row: Row) -> Row | None:
    """The named or sensitive place that the adversary names most often when the user is there."""
    rates = list(row["hit_rates"]) if row["hit_rates"] is not None else []
    return max(rates, key=lambda rate: rate["there"], default=None)


def place_words(worst: Row | None) -> str:
    """A place, and how often it is named."""
    return "-" if worst is None else f"{worst['place']}: {worst['there']:.0%}"


def design_of(row: Row) -> str:
    """A design in words."""
    return f"{row['privacy_metric']}, {row['asked']}"


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table of everybody."""
    worst = worst_place(row)
    error = shown(row["filter"], UNITS.get(str(row["privacy_metric"]), ""))
    rates = ("-",) * 3 if worst is None else (worst["place"], f"{worst['there']:.0%}", f"{worst['elsewhere']:.0%}")
    return (
        row["user"], design_of(row), ", ".join(marks_of(row)) or "-", *rates, f"{error:.4g}",
        f"{row['risk_share']:.0%}", f"{row['kept']:.0%}", f"{row['days']:.0f}",
    )  # fmt: skip
