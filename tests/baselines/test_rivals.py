"""The rivals of the literature: each has a source and one dial, and none beats the optimum."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Mechanism, solve
from hideseek.adversary import expected_error
from hideseek.baselines.rival import Setting
from hideseek.game.mechanism import Policy
from hideseek.metrics import distance, hamming, squared
from tests.support.rivals import (
    SETTING,
    every_rival,
    loss_of,
    seeds,
    small_setting,
    town,
    turned,
    turns,
)


def test_a_setting_takes_metrics_by_name():
    named, made = Setting(SETTING.profile, privacy="hamming", quality="euclid"), SETTING
    assert (named.loss == made.loss).all()
    assert named.privacy.name == hamming().name


@every_rival
def test_a_rival_names_its_source_and_turns_from_little_loss_to_much(rival):
    setting = SETTING if isinstance(turned(rival, SETTING, 0.5), Mechanism) else small_setting()
    losses = np.array([loss_of(setting, turned(rival, setting, turn)) for turn in np.linspace(0, 1, 13)])
    assert losses[0] <= 0.01 * setting.game.saturation  # sets of likely places lose a little by what they leave out
    assert (np.diff(losses) >= -1e-9 * setting.game.saturation).all()
    assert losses[-1] >= 0.9 * setting.game.saturation
    assert rival.reference[-4:].isdigit()


@every_rival
@given(seeds, st.integers(2, 5), turns)
@settings(max_examples=15)
def test_tables_are_distributions_of_places(rival, seed, count, turn):
    profile = town(seed, count)
    made = turned(rival, Setting(profile, privacy=hamming(), quality=distance(profile.regions)), turn)
    if isinstance(made, Policy):
        assert made.symbols == count
        first, _ = made.tables(made.start(1))
        possible = np.flatnonzero(first.max(axis=1))
        second, which = made.tables(made.after(made.start(len(possible)), possible))
        assert set(which) == set(range(len(second)))
        tables = np.concatenate([first, second])
    else:
        tables = made.table[None]
    assert tables.shape[1:] == (count, count)
    assert (tables >= 0).all()
    np.testing.assert_allclose(tables.sum(axis=2), 1, atol=1e-12)


@every_rival
@given(seeds, st.integers(2, 5), turns, st.booleans())
@settings(max_examples=15)
def test_no_table_beats_the_optimum(rival, seed, count, turn, square):
    profile = town(seed, count)
    metres = distance(profile.regions)
    setting = Setting(profile, privacy=hamming(), quality=squared(metres) if square else metres)
    made = turned(rival, setting, turn)
    if isinstance(made, Policy):  # its first step is a table like any other
        made = Mechanism(made.tables(made.start(1))[0][0])
    best = solve(setting.game.with_budget(max(loss_of(setting, made), setting.game.least_loss)))
    assert expected_error(setting.game, made) <= best.bound * (1 + 1e-9) + 1e-12
