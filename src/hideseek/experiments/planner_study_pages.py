"""A study as rows for machines, as a table for people, and as a report that stands alone."""

from __future__ import annotations

from pathlib import Path

from hideseek.adversary.label import ASSUMPTION
from hideseek.experiments.planner_study import CELLS, Mean, Study, StudyRow, frame_of
from hideseek.experiments.report import Section, Table, html_report
from hideseek.experiments.wording import exactly_named, named
from hideseek.planning.simulation import FOR_WHOM
from hideseek.plots.comparisons import foresight_figure
from hideseek.plots.style import save
from hideseek.util.choices import Outlook
from hideseek.util.display import bracketed
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.units import metres_beside, shown, unit_words

TITLE = "What planning ahead is worth"
FIELDS = (
    "user",
    "budget_share",
    "planner",
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
        "findings": study.findings,
        "bound_holds_for": FOR_WHOM,
        "assumption": ASSUMPTION,
        "privacy_metric": exactly_named(study.privacy),
        "quality_metric": exactly_named(study.quality),
        "accesses": study.accesses,
        "seed": study.seed,
    }


def in_metres(row: StudyRow | Mean, study: Study) -> dict[str, float]:
    """What a row loses in metres, for machines."""
    return metres_beside({"quality_loss": row.quality_loss}, study.quality.unit)


def table_of(study: Study) -> Table:
    """The means over users for people; what is kept with half of its interval's width."""
    error, loss = study.privacy.unit, study.quality.unit
    errors = (bracketed(name, unit_words(error)) for name in ("filter", "smoother"))
    return Table(
        ("budget", "planner", *errors, "kept", "at most", bracketed("loss", unit_words(loss))),
        tuple(
            (
                f"{mean.budget_share:.0%}",
                str(mean.planner),
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
    by = {(row.user, row.budget_share, row.planner): row for row in study.rows}
    rows = []
    for user, places in dict.fromkeys((row.user, row.places) for row in study.rows):
        cells = [user, f"{places}"]
        for budget in budgets:
            plain, ahead = by[user, budget, Outlook.PLAIN], by[user, budget, Outlook.FAR_SIGHTED]
            cells.append(f"{plain.kept:.0%} → {ahead.kept:.0%} of {ahead.bound / ahead.ceiling:.0%}")
        rows.append(tuple(cells))
    return Table(("user", "places", *(f"budget {budget:.0%}" for budget in budgets)), tuple(rows))


def write_pages(study: Study, source: str, out: Path) -> dict[str, Path]:
    """Write the rows, the figure and the report, readable by the owner only; gives the paths by name.

    ``source`` says in words whose traces these are.
    """
    frame = study.to_frame()
    figure = foresight_figure(frame, frame_of(study.means))
    files = {"rows": out / "rows.csv", "report": out / "report.html"}
    # the columns of 0.1.0, for those who read the file by name
    rows = frame.rename(columns={"budget_share": "budget"}).drop(columns="worst_loss")
    write_privately(files["rows"], csv_bytes(rows))
    for path in save(figure, out / "foresight"):
        files[f"figure, {path.suffix[1:]}"] = path
    count = frame["user"].nunique()
    lead = (
        f"One day of each of {count} {source}, protected access after access against an adversary who remembers "
        f"every release. The adversary's error is measured as {named(study.privacy)}, the loss of quality as "
        f"{named(study.quality)}, and every planner stays within the same budget given every release so far. "
        f"{ASSUMPTION}"
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
            f"{FOR_WHOM} The loss of quality is in {named(study.quality)}.",
            table=table_of(study),
        ),
        Section(
            "Every user",
            f"The plain optimum → the far-sighted planner, of the proved bound: shares of each user's "
            f"ceiling. Users are those with a day in {CELLS} cells or more.",
            table=users_table(study),
        ),
    ]
    write_privately(files["report"], html_report(TITLE, lead, sections).encode())
    return files
