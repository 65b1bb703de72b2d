"""What a notebook shows is text, whatever stands in it."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from hideseek.util.display import html_table

HOSTILE = "</td><script>alert('1')</script>&amp;\"\x1b[2J\u202e"


@given(st.dictionaries(st.text(), st.text() | st.floats() | st.none(), max_size=5), st.text())
def test_a_table_has_one_row_per_fact_and_no_other_elements(facts, title):
    table = ElementTree.fromstring(html_table(title, facts))
    assert [one.tag for one in table.iter()] == ["table", "caption", *(["tr", "th", "td"] * len(facts))]


def test_names_and_values_from_others_are_escaped():
    table = html_table(HOSTILE, {HOSTILE: HOSTILE})
    assert "<script" not in table
    assert "\x1b" not in table
    assert "\u202e" not in table
    assert ElementTree.fromstring(table).find("caption").text.startswith("</td><script>")
