"""A slider over budgets, as a part of a page: what a person's protection leaves at each; a table without scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby

from hideseek.adversary.person_label import PersonLabel
from hideseek.experiments.protection_words import in_whole_percent, metres, share_of
from hideseek.experiments.report import Table, escape
from hideseek.maps.page import harmless_json
from hideseek.util.estimates import Estimate
from hideseek.util.units import amount, shown

OWN = "your budget"


@dataclass(frozen=True)
class Line:
    """A number of a label: what it is about, when it holds, the number in words, and as a share, for a bar."""

    about: str
    when: str
    words: str
    share: Estimate


def slider_of(label: PersonLabel, others: Sequence[PersonLabel]) -> tuple[str, Table]:
    """The slider, which begins at the budget of the ``label``, and the same numbers as a table."""
    labels = sorted((label, *others), key=lambda one: one.budget)
    own = next(k for k, one in enumerate(labels) if one is label)
    stops, ticks = [lines_of(one) for one in labels], [tick(one) for one in labels]
    data = [
        {
            "budget": f"{amount(one.budget, one.loss_unit)} of the truth{f': {OWN}' * (one is label)}.",
            "lines": [[f"{line.words} {line.when}".strip(), *ends_of(line.share)] for line in lines],
        }
        for one, lines in zip(labels, stops, strict=True)
    ]
    parts = {
        "last": str(len(labels) - 1),
        "own": str(own),
        "ticks": "".join(f"<b>{words}</b>" if k == own else f"<span>{words}</span>" for k, words in enumerate(ticks)),
        "rows": "".join(
            row_html(about, len(list(lines))) for about, lines in groupby(stops[own], key=lambda line: line.about)
        ),
        "data": harmless_json(data),
    }
    page = files("hideseek.experiments").joinpath("budget_slider.html").read_text(encoding="utf-8")
    header = ("the answers are within", *(f"{words} ({OWN})" if k == own else words for k, words in enumerate(ticks)))
    rows = tuple(
        (f"{lines[0].about} {lines[0].when}".strip(), *(line.words for line in lines))
        for lines in zip(*stops, strict=True)
    )
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page), Table(header, rows)


def lines_of(label: PersonLabel) -> list[Line]:
    """What a label says to people."""
    low, high = (share_of(end, label) for end in label.error.interval)
    error = Estimate(share_of(label.error, label), (low, high))
    return [
        Line("the adversary is wrong by", "", metres(label.error, label.unit), error),
        Line("the app is told the true place", "", in_whole_percent(label.told), label.told),
        *(
            Line(f"the adversary says {place.name}", when, in_whole_percent(share), share)
            for place in label.places
            for when, share in (("there", place.protected.there), ("elsewhere", place.protected.elsewhere))
        ),
    ]


def tick(label: PersonLabel) -> str:
    """A budget beside others."""
    return f"{shown(label.budget, label.loss_unit):,.0f} m"


def ends_of(share: Estimate) -> list[float]:
    """A share and the ends of its interval in percent, within what a bar can show.

    >>> ends_of(Estimate(0.98, (0.95, 1.01)))
    [98.0, 95.0, 100.0]
    """
    return [round(100 * min(max(end, 0.0), 1.0), 1) for end in (share, *share.interval)]


def row_html(about: str, lines: int) -> str:
    """A row of the slider, whose numbers the script fills in."""
    line = '<div class="line"><span class="bar"><i></i><u></u></span><span class="value"></span></div>'
    return f"<dt>{escape(about[0].upper() + about[1:])}</dt><dd>{lines * line}</dd>"
