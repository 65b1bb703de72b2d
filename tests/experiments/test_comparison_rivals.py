"""Mechanisms of your own beside the others: bad ones and leaking ones have rows that show it."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Mechanism, ParameterError
from hideseek.adversary import attack
from hideseek.baselines.plain import constant
from hideseek.baselines.rival import Rival, Setting
from hideseek.experiments.comparison import compare
from hideseek.experiments.comparison_pages import apart_words, table_of, write_pages
from hideseek.metrics import distance
from tests.support.policies import Always
from tests.support.rivals import town

PROFILE = town(3, 4)
METRES = distance(PROFILE.regions)
SETTING = Setting(PROFILE, privacy=METRES, quality=METRES)
BUDGET = 0.3 * SETTING.game.saturation


def compared(*rivals, accesses=12, walks=150):
    given = {"privacy": METRES, "quality": METRES, "budget": BUDGET}
    found = compare(PROFILE, **given, rivals=rivals, accesses=accesses, walks=walks, workers=1)
    return found, {row.mechanism: row for row in found.rows}


def far_away(place, past_releases, rng):
    """The place farthest from the person, whatever that reveals."""
    return int(SETTING.metres[place].argmax())


def anywhere(place, past_releases, rng):
    return int(rng.integers(4))


class Delayed:
    """Remembers true places: it tells each two accesses late."""

    def __call__(self, place, past_releases, rng):
        if not past_releases:
            self.shown = []
        self.shown.append(place)
        return self.shown[-3] if len(self.shown) > 2 else 0


def leaks(place, past_releases, rng):
    """Noise, and the truth at every third access."""
    return place if len(past_releases) % 3 == 2 else anywhere(place, past_releases, rng)


@pytest.fixture(scope="module")
def own():
    return compared(far_away, anywhere, Delayed(), leaks)


def test_a_bad_rival_loses_much_and_keeps_nothing(own):
    """Releases far from the person cost more than any constant place, and still tell places apart."""
    found, rows = own
    assert rows["far_away"].quality_loss > SETTING.game.saturation
    assert not found.equal(rows["far_away"])
    assert rows["live planner"].kept > rows["far_away"].kept + 0.1


def test_useless_noise_keeps_all_at_a_loss_that_shows_it(own):
    found, rows = own
    assert rows["anywhere"].quality_loss > found.quality_loss * 1.5
    assert rows["anywhere"].filter == pytest.approx(found.prior_risk, rel=0.03)


def test_a_leak_shows_in_the_row(own):
    found, rows = own
    assert rows["Delayed"].smoother < 0.25 * found.prior_risk
    assert rows["leaks"].filter < 0.9 * rows["anywhere"].filter
    assert rows["leaks"].kept < 0.95


def test_a_function_is_compared_at_its_own_loss_and_said_to_be_learned(own, tmp_path):
    found, rows = own
    for name in ("far_away", "anywhere", "Delayed", "leaks"):
        row = rows[name]
        assert row.learned
        assert row.noise is None
        assert row.filter <= row.ceiling
        assert f"{name} (" in apart_words(found)
    assert not rows["codebook"].learned
    assert "the best one errs at most" in apart_words(found)
    shown = {line[0]: line for line in table_of(found).rows}
    assert shown["leaks"][2].startswith("≤")
    assert not shown["codebook"][2].startswith("≤")
    write_pages(found, "distance, m", "distance, m", "m", tmp_path)
    assert "leaks" in (tmp_path / "report.html").read_text()


def test_a_table_is_attacked_as_exactly_as_any_mechanism():
    table = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    _, rows = compared(table, Mechanism(table), Always(table), accesses=4)
    exact = attack(Mechanism(table), PROFILE, adversary="filter", privacy=METRES, accesses=4)
    for name in ("table", "table 2", "Always"):
        assert rows[name].filter == pytest.approx(exact, rel=1e-9)
        assert not rows[name].learned
        assert rows[name].quality_loss == pytest.approx(float(np.vdot(SETTING.game.cost, table)))


def test_a_function_with_a_dial_is_turned_to_the_common_loss():
    still = int(constant(SETTING.game).table[0].argmax())

    def coin(setting, noise):
        return lambda place, past_releases, rng: still if rng.random() < noise else place

    rival = Rival("coin of mine", "", dial="probability", make=coin, span=lambda _: (0.0, 1.0))
    found, rows = compared(rival, walks=400)
    assert rows["coin of mine"].noise == pytest.approx(0.3, abs=0.05)
    assert rows["coin of mine"].quality_loss == pytest.approx(found.quality_loss, rel=0.1)


@pytest.mark.parametrize(
    ("rival", "match"),
    [
        (np.full((4, 5), 0.2), "one of the 4 places"),
        (np.full((4, 4), 0.2), "rows that sum to 1"),
        (lambda place: place, "'rivals'"),
        ("planar Laplace", "'rivals'"),
        (lambda place, past, rng: place + 9, "number of a place"),
    ],
)
def test_what_is_no_rival_is_refused(rival, match):
    with pytest.raises(ParameterError, match=match):
        compared(rival, accesses=2)
