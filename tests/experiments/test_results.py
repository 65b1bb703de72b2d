"""Results of studies show themselves: in a line, in a notebook, as a table and as a figure."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

from hideseek import Estimate
from hideseek.experiments import Comparison, Reproduction, Study
from hideseek.experiments.comparison import ComparisonRow
from hideseek.experiments.planner_study import StudyRow
from hideseek.fleet import Fleet
from hideseek.metrics import hamming
from hideseek.planning import Outlook

mpl.use("Agg")


def mechanism(name, error, loss=1.0):
    errors = [Estimate(share * error) for share in (1.0, 0.9, 0.8, 0.7)]
    return ComparisonRow(name, "Nobody 2000", "dial", 0.5, *errors, quality_loss=Estimate(loss), ceiling=2.0)


def planned(planner, kept):
    error = Estimate(2 * kept, (1.9 * kept, 2.1 * kept))
    share = Estimate(kept, (0.95 * kept, 1.05 * kept))
    return StudyRow("<ann>", 12, 0.2, planner, error, error, Estimate(0.1), 0.1, share, bound=1.8, ceiling=2.0)


COMPARISON = Comparison((mechanism("<b>best</b>", 1.5), mechanism("truth", 0.0, 0.0)), 1.0, 2.0, 3.0, 50, 200)
STUDY = Study((planned(Outlook.PLAIN, 0.3), planned(Outlook.FAR_SIGHTED, 0.8)), hamming(), hamming(), 300, 0)
FLEET = Fleet("out/labels.parquet", 5, 1, 2, {"the file is <empty>": 2}, 0, 3, 0.75, 1.5, "folder")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (COMPARISON, "2 mechanisms at a quality loss of 1, over 50 accesses; <b>best</b> keeps the most"),
        (STUDY, "1 users in 300 accesses each: plain, far-sighted\nat 20% of the saturating budget"),
        (FLEET, "Fleet of 5 users: 3 codebooks, 2 unusable, 75.0% of the ceiling kept on average"),
    ],
)
def test_a_result_is_told_in_a_few_lines(result, words):
    assert words in repr(result)
    assert len(repr(result).splitlines()) <= 3
    assert len(repr(result)) < 300


@pytest.mark.parametrize(
    ("result", "shown"),
    [(COMPARISON, "&lt;b&gt;best&lt;/b&gt;"), (STUDY, "80.0% of at most 90.0%"), (FLEET, "the file is &lt;empty&gt;")],
)
def test_a_notebook_gets_a_table_in_which_nothing_is_a_tag(result, shown):
    page = result._repr_html_()
    assert shown in page
    assert page.startswith("<table>")
    assert "<b>" not in page


@pytest.mark.parametrize("result", [COMPARISON, STUDY])
def test_a_result_is_drawn_into_given_axes_or_into_new_ones(result):
    axes = Figure().add_subplot()
    assert result.plot(axes) is axes
    assert axes.get_legend() is not None
    own = result.plot()
    assert own is not axes
    mpl.pyplot.close(own.figure)


def test_rows_become_a_table_with_the_ends_of_their_intervals():
    frame = COMPARISON.to_frame()
    assert frame["mechanism"].tolist() == ["<b>best</b>", "truth"]
    assert (frame["filter_low"] == frame["filter"]).all()
    assert frame["kept"].tolist() == pytest.approx([1.5 * 0.9 / 2.0, 0.0])
    frame = STUDY.to_frame()
    assert frame["kept_low"].tolist() == pytest.approx([0.285, 0.76])


def test_a_reproduction_tells_how_many_findings_hold(monkeypatch):
    from hideseek.experiments.reproduction import findings

    one = findings.Finding("monotone", True, "no <fall>", "never falls")
    monkeypatch.setattr(findings, "findings_of", lambda _: (one, findings.Finding("plateau", False, "", "")))
    tables = [pd.DataFrame({"user": [1]})] * 6
    found = Reproduction(("ann",), *tables, grid=None, clock="0h", seed=0)
    assert repr(found) == "Reproduction on 1 users: 1 of 2 findings hold"
    assert "PASS: no &lt;fall&gt;" in found._repr_html_()
    assert found.to_frame()["passed"].tolist() == [True, False]
