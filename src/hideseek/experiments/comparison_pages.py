"""A comparison as a table for machines and for people, and as a report that stands alone."""

from __future__ import annotations

from math import floor, log10
from pathlib import Path

from hideseek.adversary.label import ASSUMPTION, ROUNDING
from hideseek.experiments.comparison import Comparison
from hideseek.experiments.comparison_measure import ENDS
from hideseek.experiments.report import Section, Table, html_report
from hideseek.plots.comparisons import comparison_figure
from hideseek.plots.style import save
from hideseek.util.estimates import Estimate
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.units import metres_beside, shown

TITLE = "Every mechanism on one scale"
OURS_WORDS = (
    "The live planner and the playbook keep this budget after every history, the codebooks after the release that they "
    "remember, and may lose less; the others lose it on average."
)


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
    return {**vars(comparison), **common, "rows": rows, "notes": comparison.notes, "assumption": ASSUMPTION}


def table_of(comparison: Comparison) -> Table:
    """A comparison for people: errors with half of their intervals' width, loss as a share of the common one."""
    return Table(
        ("mechanism", "window", "filter", "smoother", "viterbi", "ceiling", "kept", "loss"),
        tuple(
            (
                row.mechanism,
                *(
                    "≤" * row.learned + in_short(shown(error, comparison.unit))
                    for error in (row.window, row.filter, row.smoother, row.viterbi)
                ),
                in_short(shown(Estimate(row.ceiling), comparison.unit)),
                f"{'≤' * row.learned}{row.kept:.0%}",
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
    return f"All mechanisms{but} may lose {comparison.loss} ({quality}) per access. {OURS_WORDS}"


def apart_words(comparison: Comparison) -> str:
    """Which mechanisms lose more than the others, or less, in words; nothing if none does."""
    apart = [
        f"{row.mechanism} ({comparison.relative_loss(row):.1%})" if comparison.quality_loss else row.mechanism
        for row in comparison.rows
        if row.mechanism not in ENDS and not comparison.equal(row)
    ]
    words = f" At another loss, so that only shares of the ceiling compare: {', '.join(apart)}." if apart else ""
    if any(row.learned for row in comparison.rows):
        words += (
            " A function's releases have no known distribution: adversaries learned it from its runs, and the best one "
            "errs at most as is said here (≤)."
        )
    return words


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
        f"{' '.join((loss_words(comparison, quality), *comparison.notes))} Their privacy is the expected error "
        f"({privacy}) of an adversary who knows the person's habits and the mechanism."
    )
    sections = [
        Section(
            "At equal loss of quality",
            "The window is an adversary who remembers the release before this one, the filter remembers every "
            "release so far, the smoother also knows the later releases, and Viterbi guesses by the single most "
            "likely path. The black marks are certified: no mechanism that loses as little leaves even a forgetful "
            f"adversary a larger expected error. {ASSUMPTION}" + apart_words(comparison),
            figures=[(figure, "The errors of four adversaries against every mechanism, and what no mechanism exceeds")],
        ),
        Section(
            "In numbers",
            f"On average over {comparison.accesses} accesses; what was simulated carries half of its 95 % confidence "
            f"interval, from {comparison.walks} walks. The ceiling is what no mechanism that loses as little "
            "exceeds, and what is kept of it is the filter's share. "
            "The loss is given in shares of the common one. The truth and the constant place are the ends "
            "of every dial, with losses of their own. The expected error of an adversary who sees no release is "
            f"{comparison.error(comparison.prior_risk)}.",
            table=table_of(comparison),
        ),
        Section(
            "How each was set",
            "Every rival of the literature has one dial, turned until it loses the budget on average.",
            table=Table(
                ("mechanism", "reference", "dial", "set to"),
                tuple(
                    (row.mechanism, row.reference, row.dial, "" if row.noise is None else f"{row.noise:.4g}")
                    for row in comparison.rows
                    if row.reference or row.dial
                ),
                words=3,
            ),
        ),
    ]
    write_privately(files["report"], html_report(TITLE, lead, sections).encode())
    return files
