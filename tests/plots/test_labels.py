"""Labels as figures."""

from __future__ import annotations

import pytest

from hideseek import Scenario, evaluate
from tests.support.codebooks import chain, made


def test_a_label_has_a_bar_for_every_adversary():
    profile = chain(2, 51)
    label = evaluate(made(profile, Scenario.past_present(1)), profile, accesses=3)
    axes = label.plot()
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(list(label.errors.values()))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(label.errors)
    assert label.plot(ax=axes) is axes
