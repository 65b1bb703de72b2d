"""The slider over budgets says what the labels say, with and without scripts."""

from __future__ import annotations

import json
import re

from hideseek.adversary.naming import Naming
from hideseek.adversary.person_label import PersonLabel, PlaceLabel
from hideseek.experiments.protection_slider import slider_of
from hideseek.util.estimates import Estimate


def label(metres, error, there):
    naming = Naming(0, 0.1, Estimate(there, (there - 0.05, there + 0.05)), Estimate(0.02, (0.01, 0.03)))
    place = PlaceLabel("<i>clinic", True, naming, naming, naming)
    found = Estimate(error, (error - 10, error + 10))
    return PersonLabel(
        (place,), error=found, nothing=400.0, truth=0.0, unit="m", told=Estimate(0.5, (0.4, 0.6)), weighted=found,
        weighted_unit="m", kept=Estimate(0.5), ceiling=400.0, bound=400.0, smoother=found,
        quality_loss=Estimate(metres**2), worst_loss=metres**2, worst_window=metres**2, realised=Estimate(metres**2),
        window=1, cap=None, budget=metres**2, loss_unit="m²", accesses=1, walks=2,
    )  # fmt: skip


OWN, SMALL, LARGE = label(500.0, 200.0, 0.3), label(125.0, 50.0, 0.9), label(1000.0, 395.0, 0.1)
PAGE, TABLE = slider_of(OWN, [SMALL, LARGE])


def test_it_begins_at_the_own_budget_which_is_marked():
    assert re.search(r'type="range" min="0" max="2" step="1" value="1"', PAGE)
    assert "<span>125 m</span><b>500 m</b><span>1,000 m</span>" in PAGE
    assert TABLE.header == ("the answers are within", "125 m", "500 m (your budget)", "1,000 m")


def test_each_stop_has_the_numbers_of_its_label_and_their_intervals():
    stops = json.loads(re.search(r'id="dial-data">(.*?)</script>', PAGE)[1])
    assert [stop["budget"].split()[0] for stop in stops] == ["125", "500", "1000"]
    assert ["your budget" in stop["budget"] for stop in stops] == [False, True, False]
    wrong, told, there, elsewhere = stops[0]["lines"]
    assert wrong == ["50 m (± 10)", 12.5, 10.0, 15.0]
    assert told == ["50 % (40 to 60)", 50.0, 40.0, 60.0]
    assert there == ["90 % (85 to 95) there", 90.0, 85.0, 95.0]
    assert elsewhere == ["2 % (1 to 3) elsewhere", 2.0, 1.0, 3.0]
    assert stops[2]["lines"][0] == ["395 m (± 10)", 98.8, 96.2, 100.0], "a bar ends where nothing is exposed"
    assert PAGE.count('class="line"') == 4


def test_without_scripts_a_table_has_the_same_numbers():
    assert '<div class="dial" id="dial" hidden>' in PAGE
    assert ".dial:not([hidden]) + .wide { display: none; }" in PAGE
    assert TABLE.rows[0] == ("the adversary is wrong by", "50 m (± 10)", "200 m (± 10)", "395 m (± 10)")
    assert TABLE.rows[2][1:] == ("90 % (85 to 95)", "30 % (25 to 35)", "10 % (5 to 15)")


def test_names_are_no_tags_and_nothing_is_loaded():
    assert "<i>clinic" not in PAGE
    assert "&lt;i&gt;clinic" in PAGE
    assert not re.search(r"(src|href)=|https?:|@import|url\(", PAGE)
