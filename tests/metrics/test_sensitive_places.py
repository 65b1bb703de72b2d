"""Sensitive places by their coordinates."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import Geod

from hideseek import Codebook, Game, Grid, MarkovProfile, ParameterError, Places, Scenario, design, evaluate, solve
from hideseek.metrics import SensitivePlace, distance, from_function, hamming, sensitive_place, sensitive_to, total
from hideseek.metrics.sensitive_places import unweighted, weighed, weights_of

LATITUDES, LONGITUDES = [46.52, 46.53, 46.52, 46.55], [6.57, 6.57, 6.59, 6.60]
REGIONS = Places(LATITUDES, LONGITUDES, names=("home", "clinic", "work", "far"))
PERSON = MarkovProfile.from_matrix(
    [[0.7, 0.1, 0.1, 0.1], [0.4, 0.4, 0.1, 0.1], [0.3, 0.1, 0.5, 0.1], [0.3, 0.1, 0.1, 0.5]], REGIONS
)
EARTH = Geod(ellps="WGS84")


def ground():
    """Metres between the places, by another library."""
    ends = list(zip(LONGITUDES, LATITUDES, strict=True))
    return [[EARTH.inv(*here, *there)[2] for there in ends] for here in ends]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("clinic=46.52,6.63", ("clinic", 46.52, 6.63, 5.0, 200.0)),
        (" the clinic = 46.52 , 6.63 : 3 ", ("the clinic", 46.52, 6.63, 3.0, 200.0)),
        ("c=-46.5,-6.63:0.5@2km", ("c", -46.5, -6.63, 0.5, 2000.0)),
        ("c=46.5,6.63@50m", ("c", 46.5, 6.63, 5.0, 50.0)),
        ("a:b@c=1e1,0:0", ("a:b@c", 10.0, 0.0, 0.0, 200.0)),
    ],
)
def test_a_sensitive_place_is_read_from_words(text, found):
    one = sensitive_place(text)
    assert (one.name, one.latitude, one.longitude, one.weight, one.radius) == found


@pytest.mark.parametrize(
    "text",
    ["", "clinic", "=46.517,6.633", "  =46.517,6.633", "clinic=46.517", "clinic=46.517,6.633,1", "clinic=46.517;6.633",
     "clinic=north,46.517", "clinic=146.517,6.633", "clinic=46.517,186.633", "clinic=nan,46.517", "c=inf,46.517",
     "clinic=46.517,6.633:", "clinic=46.517,6.633:-1", "clinic=46.517,6.633:nan", "clinic=46.517,6.633:5:46.517",
     "clinic=46.517,6.633@", "clinic=46.517,6.633@46.517", "clinic=46.517,6.633@-5m", "c=46.517,6.633" + 300 * "1",
     "clinic=46.517,6.633@200m:5"],
)  # fmt: skip
def test_other_words_are_refused_and_no_coordinate_is_repeated(text):
    with pytest.raises(ParameterError) as caught:
        sensitive_place(text)
    assert not any(digits in str(caught.value) for digits in ("46.517", "6.633"))


@given(st.text(max_size=60))
def test_any_text_is_a_sensitive_place_or_a_typed_error(text):
    with contextlib.suppress(ParameterError):
        assert isinstance(sensitive_place(text), SensitivePlace)


def test_neither_words_nor_errors_of_a_sensitive_place_hold_its_coordinates():
    assert "46.5" not in repr(SensitivePlace("clinic", 46.517, 6.633))
    with pytest.raises(ParameterError, match="none for 'clinic'") as caught:
        sensitive_to("euclid", REGIONS, places=["clinic=10.123,20.456"])
    assert "10.123" not in str(caught.value) + repr(caught.value)


@given(st.floats(46.515, 46.56), st.floats(6.56, 6.61), st.floats(0, 5000))
def test_points_are_sensitive_where_they_lie_within_the_radius(latitude, longitude, radius):
    one = SensitivePlace("x", latitude, longitude, radius=radius)
    away = EARTH.inv(LONGITUDES, LATITUDES, [longitude] * 4, [latitude] * 4)[2]
    near = {k for k in range(4) if away[k] <= radius}
    if any(abs(away[k] - radius) < 1e-2 for k in range(4)):  # a chord is shorter than the way, by millimetres here
        return
    assert set(weights_of(weighed(hamming(), REGIONS, [one]))) == near


def test_a_cell_that_holds_a_location_is_sensitive_however_far_its_centre():
    grid = Grid(46.0, 47.0, 6.0, 7.0, rows=2, columns=2)
    assert weights_of(sensitive_to("hamming", grid, places=["clinic=46.99,6.99:2@1m"])) == {3: 2.0}
    assert weights_of(sensitive_to("hamming", grid.keep([3, 0]), places=["clinic=46.99,6.99:2@1m"])) == {0: 2.0}
    with pytest.raises(ParameterError, match="none for 'clinic'"):
        sensitive_to("hamming", grid.keep([0, 1]), places=["clinic=46.99,6.99@1m"])


def test_of_two_locations_in_one_place_the_larger_weight_counts():
    found = sensitive_to("hamming", REGIONS, places=["a=46.52,6.57:2", "b=46.52,6.57:7", "c=46.52,6.57:3"])
    assert weights_of(found) == {0: 7.0}


def test_without_sensitive_locations_a_metric_stays_itself():
    metric = distance(REGIONS)
    assert sensitive_to(metric, REGIONS, places=[]) is metric
    assert weights_of(metric) == weights_of(from_function(lambda guess, truth: 1.0)) == {}


def test_a_solution_with_sensitive_places_is_the_best_by_enumeration():
    """Every deterministic mixture is a combination of releases; the weighted error is added up by hand."""
    privacy = sensitive_to("euclid", REGIONS, places=["clinic=46.53,6.57:5"])
    game = Game.from_scenario(PERSON, Scenario.sporadic(), privacy=privacy, quality="squared", budget="900m")
    metres, weight = ground(), [1.0, 5.0, 1.0, 1.0]
    psi = PERSON.stationary
    nothing = min(sum(psi[a] * weight[a] * metres[g][a] for a in range(4)) for g in range(4))
    assert game.prior_risk == pytest.approx(nothing, rel=1e-9)
    solution = solve(game)
    table = solution.mechanism.table
    reached = sum(
        min(sum(psi[a] * table[a, o] * weight[a] * metres[g][a] for a in range(4)) for g in range(4)) for o in range(4)
    )
    assert solution.privacy == pytest.approx(reached, rel=1e-9)
    for releases in itertools.product(range(4), repeat=4):  # no deterministic mechanism within the budget has more
        lost = sum(psi[a] * metres[a][o] ** 2 for a, o in enumerate(releases))
        if lost <= game.budget:
            found = sum(
                min(sum(psi[a] * weight[a] * metres[g][a] for a in range(4) if releases[a] == o) for g in range(4))
                for o in range(4)
            )
            assert found <= solution.bound * (1 + 1e-9)
    plain = Game.from_scenario(PERSON, Scenario.sporadic(), privacy="euclid", quality="squared", budget="900m")
    assert solve(plain).privacy <= solution.privacy  # weights above 1 can only add


def test_a_codebook_keeps_the_weights_in_its_file_and_no_coordinates(tmp_path):
    privacy = sensitive_to("euclid", REGIONS, places=["clinic=46.5302,6.5701:5"])
    codebook = design(PERSON, Scenario.past_present(1), privacy=privacy, quality="squared", budget="500m", workers=1)
    codebook.save(tmp_path / "p.hideseek")
    again = Codebook.load(tmp_path / "p.hideseek")
    assert (weights_of(again.privacy), again.privacy.unit) == ({1: 5.0}, "weighted m")
    assert again.deployed == codebook.deployed
    assert b"46.5302" not in (tmp_path / "p.hideseek").read_bytes()
    label = evaluate(again, PERSON, accesses=4)
    assert (label.unit, label.loss_unit) == ("weighted m", "m²")
    assert "weighted m" in repr(label)


def test_the_metric_without_its_weights_is_the_one_that_was_given():
    metric = total(hamming())
    assert unweighted(sensitive_to(metric, REGIONS, places=["clinic=46.53,6.57"])) is metric
    assert unweighted(metric) is metric
