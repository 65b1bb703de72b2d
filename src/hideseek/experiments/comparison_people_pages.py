"""A comparison over people as tables for machines and for people, and as a report that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hideseek.adversary.label import ASSUMPTION
from hideseek.experiments.comparison_pages import OURS_WORDS, TITLE, in_short
from hideseek.experiments.comparison_people import MeanRow, PeopleComparison
from hideseek.experiments.report import Section, Table, html_report
from hideseek.util.display import bracketed
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.units import shown, unit_words


def facts_of(found: PeopleComparison) -> dict[str, object]:
    """Means and every person's rows, for machines."""
    means, rows = (frame.to_dict("records") for frame in (found.means_frame(), found.to_frame()))
    return {"means": means, "rows": rows, "notes": found.notes, "assumption": ASSUMPTION}


def table_of(means: Sequence[MeanRow]) -> Table:
    """The means under one pair of metrics, with half of the width of their intervals over people."""
    unit, loss = means[0].unit, means[0].loss_unit
    errors = (bracketed(name, unit_words(unit)) for name in ("filter", "smoother"))
    return Table(
        ("mechanism", *errors, "kept", "first on", bracketed("loss", unit_words(loss))),
        tuple(
            (
                row.mechanism,
                *("≤" * row.learned + in_short(shown(error, unit)) for error in (row.filter, row.smoother)),
                f"{row.kept:.0%}±{50 * (row.kept.interval[1] - row.kept.interval[0]):.0f}",
                f"{row.first} of {row.people}",
                f"{shown(row.quality_loss, loss):.4g}",
            )
            for row in means
        ),
    )


def tables_of(found: PeopleComparison) -> dict[tuple[str, str], Table]:
    """A table for every pair of metrics."""
    pairs = dict.fromkeys((row.privacy, row.quality) for row in found.means)
    return {pair: table_of([row for row in found.means if (row.privacy, row.quality) == pair]) for pair in pairs}


def write_pages(found: PeopleComparison, who: str, out: Path) -> dict[str, Path]:
    """Write means, rows and report, readable by the owner only; gives the paths. ``who`` are the people."""
    files = {"means": out / "means.csv", "table": out / "comparison.csv", "report": out / "report.html"}
    write_privately(files["means"], csv_bytes(found.means_frame()))
    write_privately(files["table"], csv_bytes(found.to_frame()))
    people = found.means[0].people
    lead = (
        f"Means over {people} {who}, with half of their 95 % confidence intervals over people. The filter remembers "
        "every release so far, the smoother also knows the later ones; both know the habits and the mechanism. Kept is "
        "the filter's share of what no mechanism that loses as little exceeds. "
        f"{' '.join((OURS_WORDS, *found.notes, ASSUMPTION))}"
    )
    sections = [
        Section(f"Privacy {privacy}, quality {quality}", "", table=table)
        for (privacy, quality), table in tables_of(found).items()
    ]
    write_privately(files["report"], html_report(TITLE, lead, sections).encode())
    return files
