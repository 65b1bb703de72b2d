"""A study as rows for machines, as a table for people, and as a report that stands alone."""

from __future__ import annotations

from pathlib import Path

from hideseek.adversary.label import ASSUMPTION
from hideseek.experiments.planner_study import CELLS, LOSSES, WINDOWS, Study
from hideseek.experiments.planner_study_rows import Mean, StudyRow, drawn
from hideseek.experiments.report import Section, Table, html_report
from hideseek.experiments.wording import exactly_named, named
from hideseek.planning.simulation import FOR_WHOM, ON_AVERAGE
from hideseek.plots.comparisons import foresight_figure
from hideseek.plots.style import save
from hideseek.util.choices import ACCESS, Outlook
from hideseek.util.display import bracketed
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.units import metres_beside, shown, unit_words

TITLE = "What planning ahead is worth"
FIELDS = (
    "user",
    "budget_share",
    "planner",
    "over",
    "filter",
    "smoother",
    "quality_loss",
    "worst_loss",
    "kept",
    "bound",
    "interval",
)


def facts_of(study: Study) -> dict[str, object]:
    """A study for machines."""
    return {
        "rows": [
            {name: getattr(row, name) for name in (*FIELDS, "ceiling", "places")} | in_metres(row, study)
            for row in study.rows
        ],
        "means": [vars(mean) | {"interval": mean.kept.interval} | in_metres(mean, study) for mean in study.means],
        "findings": (*study.findings, *study.window_findings),
        "bound_holds_for": FOR_WHOM,
        **({} if study.over is None else {"bound_over_a_window_holds_for": ON_AVERAGE}),
        "assumption": ASSUMPTION,
        "privacy_metric": exactly_named(study.privacy),
        "quality_metric": exactly_named(study.quality),
        "accesses": study.accesses,
        "seed": study.seed,
    }


def in_metres(row: StudyRow | Mean, study: Study) -> dict[str, float]:
    """What a row loses in metres, for machines."""
    losses = {name: getattr(row, name) for name in LOSSES if hasattr(row, name)}  # means have no worst loss
    return metres_beside(losses, study.quality.unit)


def for_whom(study: Study) -> str:
    """Which planners each bound holds for, in sentences."""
    if study.over is None:
        return FOR_WHOM
    return f"With the budget at every access: {FOR_WHOM} With the budget over {study.over}: {ON_AVERAGE}"


def table_of(study: Study) -> Table:
    """The means over users for people; what is kept with half of its interval's width."""
    error, loss = study.privacy.unit, study.quality.unit
    errors = (bracketed(name, unit_words(error)) for name in ("filter", "smoother"))
    return Table(
        ("budget", "planner", *errors, "kept", "at most", bracketed("loss", unit_words(loss))),
        tuple(
            (
                f"{mean.budget_share:.0%}",
                str(mean.planner) if mean.over == ACCESS else f"over {mean.over}",  # a terminal has 80 columns
                f"{shown(mean.filter, error):.4g}",
                f"{shown(mean.smoother, error):.4g}",
                f"{mean.kept:.1%} ±{50 * (mean.kept.interval[1] - mean.kept.interval[0]):.1f}",
                f"{mean.limit:.1%}",
                f"{shown(mean.quality_loss, loss):.3g}",
            )
            for mean in study.means
        ),
        words=2,
    )


def users_table(study: Study) -> Table:
    """What each user keeps without planning, with it, and at most."""
    budgets = list(dict.fromkeys(row.budget_share for row in study.rows))
    by = {(row.user, row.budget_share, row.planner): row for row in study.rows if row.over == ACCESS}
    rows = []
    for user, places in dict.fromkeys((row.user, row.places) for row in study.rows):
        cells = [user, f"{places}"]
        for budget in budgets:
            plain, ahead = by[user, budget, Outlook.PLAIN], by[user, budget, Outlook.FAR_SIGHTED]
            cells.append(f"{plain.kept:.0%} → {ahead.kept:.0%} of {ahead.bound / ahead.ceiling:.0%}")
        rows.append(tuple(cells))
    return Table(("user", "places", *(f"budget {budget:.0%}" for budget in budgets)), tuple(rows))


def windows_table(study: Study) -> Table:
    """What is left of each user at each budget, where that holds over a window, and what it loses."""
    error, loss = study.privacy.unit, study.quality.unit
    headings = [bracketed(name, unit_words(error)) for name in ("filter", "smoother")]
    headings += [bracketed(name, unit_words(loss)) for name in ("loss", "worst access")]
    return Table(
        ("user", "budget", *headings, "kept", "at most"),
        tuple(
            (
                row.user,
                f"{row.budget_share:.0%}",
                *(f"{shown(number, error):.4g}" for number in (row.filter, row.smoother)),
                *(f"{shown(number, loss):.3g}" for number in (row.quality_loss, row.worst_loss)),
                f"{row.kept:.0%}",
                f"{row.bound / row.ceiling:.0%}",
            )
            for row in study.rows
            if row.over != ACCESS
        ),
    )


def window_words(study: Study) -> str:
    """What the planner is whose budget holds over a window, in a sentence; nothing if there is none."""
    if study.over is None:
        return ""
    return (
        f'The one called "far-sighted, over {study.over}" keeps it on average over {study.over}, after every history; '
        "its bound is another one, and it may exceed that of the others. "
    )


def write_pages(study: Study, source: str, out: Path) -> dict[str, Path]:
    """Write the rows, the figure and the report, readable by the owner only; gives the paths by name.

    ``source`` says in words whose traces these are.
    """
    frame = study.to_frame()
    figure = foresight_figure(drawn(study.rows), drawn(study.means))
    files = {"rows": out / "rows.csv", "report": out / "report.html"}
    rows = frame.rename(columns={"budget_share": "budget"})  # as in 0.1.0, for those who read the file by name
    write_privately(files["rows"], csv_bytes(rows))
    for path in save(figure, out / "foresight"):
        files[f"figure, {path.suffix[1:]}"] = path
    count = frame["user"].nunique()
    lead = (
        f"One day of each of {count} {source}, protected access after access against an adversary who remembers "
        f"every release. The adversary's error is measured as {named(study.privacy)}, the loss of quality as "
        f"{named(study.quality)}, and every planner stays within the same budget given every release so far. "
        f"{window_words(study)}{ASSUMPTION}"
    )
    sections = [
        Section(
            "The gain",
            " ".join(study.findings),
            figures=[(figure, "The share of the ceiling that the planners keep, by budget and user, and the bound")],
        ),
        Section(
            "In numbers, with the proved bound",
            f"On average over users. What a planner reaches is simulated for {study.accesses} accesses of each user: "
            f"the expected errors ({named(study.privacy)}) of an adversary who remembers every release so far "
            "(filter), and of one who knows the later releases too (smoother). Kept is the filter's share of the "
            "ceiling, with half of its 95 % confidence interval. The ceiling is the best for one access: in the long "
            "run no mechanism of this budget gives more. The cuts of the far-sighted planner prove a smaller bound. "
            f"{for_whom(study)} The loss of quality is in {named(study.quality)}.",
            table=table_of(study),
        ),
        Section(
            "Every user",
            f"The plain optimum → the far-sighted planner, of the proved bound: shares of each user's "
            f"ceiling. Users are those with a day in {CELLS} cells or more.",
            table=users_table(study),
        ),
    ]
    if study.over is not None:
        sections.append(
            Section(
                f"The same budget over {study.over}",
                f"{' '.join(study.window_findings)} What one access does not lose is saved up for later ones, as far "
                "as the window reaches, so that an access may lose more than the budget (the worst one that occurred "
                f"is told). Followed for at least {WINDOWS} windows on every walk; the errors are those at a loss of "
                f"the budget: less the ceiling's price of what the walks lost above it. {ON_AVERAGE}",
                table=windows_table(study),
            )
        )
    write_privately(files["report"], html_report(TITLE, lead, sections).encode())
    return files
