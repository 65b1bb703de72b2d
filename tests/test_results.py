"""Results of studies show themselves: in a line, in a notebook, as a table and as a figure."""

from __future__ import annotations

import pytest

from hideseek.fleet import Fleet
from tests.support.results import COMPARISON, STUDY

FLEET = Fleet("out/labels.parquet", 5, 1, 2, {"the file is <empty>": 2}, 0, 3, 0.75, 1.5, "folder")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (COMPARISON, "2 mechanisms at a quality loss of 1, over 50 accesses; <b>best</b> keeps the most"),
        (STUDY, "1 user in 300 accesses each: plain, far-sighted\nat 20% of the saturating budget"),
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


def test_rows_become_a_table_with_the_ends_of_their_intervals():
    frame = COMPARISON.to_frame()
    assert frame["mechanism"].tolist() == ["<b>best</b>", "truth"]
    assert (frame["filter_low"] == frame["filter"]).all()
    frame = STUDY.to_frame()
    assert frame["kept_low"].tolist() == pytest.approx([0.285, 0.76])
