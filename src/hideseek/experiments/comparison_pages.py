"""A comparison as a table for machines and for people, and as a report that stands alone."""

from __future__ import annotations

from math import floor, log10
from pathlib import Path

from hideseek.adversary.label import ASSUMPTION, ROUNDING
from hideseek.experiments.comparison import ENDS, Comparison
from hideseek.experiments.report import Section, Table, html_report
from hideseek.plots.comparisons import comparison_figure
from hideseek.plots.style import save
from hideseek.util.estimates import Estimate
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.units import metres_beside, shown

TITLE = "Every mechanism on one scale"


def facts_of(comparison: Comparison) -> dict[str, object]:
    """A comparison for machines."""
    rows = [
        {
            **vars(row),
            **metres_beside({"quality_loss": row.quality_loss}, comparison.loss_unit),
            "kept": row.kept,
            "equal_loss": comparison.equal(row),
            "intervals": {
                name: value.interval
                for name, value in (*vars(row).items(), ("kept", row.kept))
                if isinstance(value, Estimate) and not value.exact
            },
        }
        for row in comparison.rows
    ]
    common = metres_beside({"quality_loss": comparison.quality_loss}, comparison.loss_unit)
    return {**vars(comparison), **common, "rows": rows, "assumption": ASSUMPTION}


def table_of(comparison: Comparison) -> Table:
    """A comparison for people: errors with half of their intervals' width, loss as a share of the common one."""
    return Table(
        ("mechanism", "window", "filter", "smoother", "viterbi", "ceiling", "loss"),
        tuple(
            (
                row.mechanism,
                *(
                    in_short(shown(error, comparison.unit))
                    for error in (row.window, row.filter, row.smoother, row.viterbi, row.ceiling)
                ),
                f"{comparison.relative_loss(row):.1%}",
            )
            for row in comparison.rows
        ),
    )


def in_short(error: Estimate) -> str:
    """An error with four digits, or as many as half of its interval's width lets count.

    >>> in_short(Estimate(3668.2, (3637.0, 3699.4))), in_short(Estimate(0.12345))
    ('3668±31', '0.1235')
    """
    off = (error.interval[1] - error.interval[0]) / 2
    if off <= ROUNDING * error:
        return f"{round(error, 9):.4g}"
    digits = max(0, -floor(log10(off)))
    return f"{error:.{digits}f}±{off:.{digits}f}"


def loss_words(comparison: Comparison, quality: str) -> str:
    """What the mechanisms lose, and which of them lose something else."""
    others = [row.mechanism for row in comparison.rows if not comparison.equal(row)]
    but = f" but {' and '.join(filter(None, (', '.join(others[:-1]), *others[-1:])))}" if others else ""
    return f"All mechanisms{but} lose {comparison.loss} ({quality}) per access."


def apart_words(comparison: Comparison) -> str:
    """Which mechanisms cannot lose as much as the others, or as little, in words; nothing if all can."""
    apart = [
        f"{row.mechanism} ({comparison.relative_loss(row):.1%})" if comparison.quality_loss else row.mechanism
        for row in comparison.rows
        if row.mechanism not in ENDS and not comparison.equal(row)
    ]
    return f" Not at equal loss, whatever the dial, and not to be compared: {', '.join(apart)}." if apart else ""


def write_pages(comparison: Comparison, privacy: str, quality: str, unit: str, out: Path) -> dict[str, Path]:
    """Write the table, the figure and the report, readable by the owner only; gives the paths by name."""
    frame = comparison.to_frame()
    figure = comparison_figure(frame[[comparison.equal(row) for row in comparison.rows]], unit)
    files = {"table": out / "comparison.csv", "report": out / "report.html"}
    # the columns of 0.1.0, for those who read the file by name
    write_privately(files["table"], csv_bytes(frame.drop(columns=["kept", "kept_low", "kept_high"])))
    for path in save(figure, out / "comparison"):
        files[f"figure, {path.suffix[1:]}"] = path
    lead = (
        f"{loss_words(comparison, quality)} Their privacy is the expected error ({privacy}) of an adversary who knows "
        "the person's habits and the mechanism."
    )
    sections = [
        Section(
            "At equal loss of quality",
            "The window is an adversary who remembers the release before this one, the filter remembers every "
            "release so far, the smoother also knows the later releases, and Viterbi guesses by the single most "
            "likely path. The black marks are certified: no mechanism that loses as little leaves even a forgetful "
            "adversary a larger expected error. The codebook keeps its budget given the release that it remembers, "
            "all others on "
            f"average only. {ASSUMPTION}" + apart_words(comparison),
            figures=[(figure, "The errors of four adversaries against every mechanism, and what no mechanism exceeds")],
        ),
        Section(
            "In numbers",
            f"On average over {comparison.accesses} accesses; what was simulated carries half of its 95 % confidence "
            f"interval, from {comparison.walks} walks. The ceiling is what no mechanism that loses as little "
            "exceeds. The loss is given in shares of the common one. The truth and the constant place are the ends "
            "of every dial, with losses of their own. The expected error of an adversary who sees no release is "
            f"{comparison.error(comparison.prior_risk)}.",
            table=table_of(comparison),
        ),
        Section(
            "How each was set",
            "Every rival has one dial, turned until it loses as much as the codebook does.",
            table=Table(
                ("mechanism", "reference", "dial", "set to"),
                tuple(
                    (row.mechanism, row.reference, row.dial, "" if row.noise is None else f"{row.noise:.4g}")
                    for row in comparison.rows
                    if row.reference
                ),
                words=3,
            ),
        ),
    ]
    write_privately(files["report"], html_report(TITLE, lead, sections).encode())
    return files
