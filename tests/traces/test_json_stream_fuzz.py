"""Whatever is changed in an export, a reader gives rows or a typed error."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fuzz_json import attempt, fuzz
from tests.support.json_exports import READERS


@pytest.mark.parametrize("name", list(READERS))
def test_changed_exports_give_rows_or_a_typed_error(name):
    count = fuzz(name, iterations=150, seed=16)
    assert count.total() == 150
    assert min(count["read"], count["refused"]) > 5


@settings(max_examples=100)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.text('[]{}:,"0123456789.-+eE \n\\abcE7', max_size=200).map(str.encode),
    ),
    name=st.sampled_from(list(READERS)),
)
def test_any_bytes_give_rows_or_a_typed_error(content, name):
    attempt(name, content)
