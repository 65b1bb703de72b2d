"""What pages say: shares, stays, releases and adversaries, held against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from hideseek import Grid, Hexagons, MarkovProfile, PeriodicProfile, Places, Scenario, design, evaluate, synthetic_city
from hideseek.maps import scenes as module
from hideseek.maps.projection import UNIT, Projection, metres_per_world
from hideseek.maps.scenes import (
    scene_of_codebook,
    scene_of_label,
    scene_of_plan,
    scene_of_profile,
    scene_of_traces,
)
from hideseek.metrics import distance, hamming, squared
from hideseek.model import distances
from hideseek.planning import BeliefGame

PLACES = Places([46.52, 46.53, 46.60], [6.57, 6.58, 6.70], names=("home", "work", "hut"))
PROFILE = MarkovProfile.from_matrix([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.5, 0.5]], PLACES, step="10min")
TRACES = synthetic_city(people=1, days=2, seed=1)


def facts(place):
    return dict(place.facts)


def test_a_profile_tells_shares_stays_and_where_the_person_goes():
    home, work, hut = scene_of_profile(PROFILE, None).places
    assert [place.share for place in (home, work, hut)] == pytest.approx(PROFILE.stationary, abs=1e-6)
    assert sum(place.share for place in (home, work, hut)) == pytest.approx(1, abs=1e-5)
    assert facts(home)["a stay lasts"] == "1.7 h on average"  # 10 minutes / (1 - 0.9)
    assert facts(hut)["a stay lasts"] == "20 min on average"
    assert home.towards == ((1, 1.0),)
    assert work.towards == ((0, 0.6667), (2, 0.3333))  # on leaving: 0.2 and 0.1 of 0.3


def test_the_first_view_shows_where_most_time_is_spent_and_the_whole_map_all():
    scene = scene_of_profile(PROFILE, None)
    xs = [place.at[0] for place in scene.places]
    assert scene.whole[0] <= min(xs)
    assert scene.whole[2] >= max(xs)
    assert scene.view[2] < max(xs), "the hut is far, and the person is rarely there"


def test_a_view_is_never_smaller_than_a_few_streets():
    scene = scene_of_traces(TRACES.head(1))
    metres = UNIT * metres_per_world(float(TRACES["latitude"].iloc[0]))
    assert (scene.view[2] - scene.view[0]) * metres == pytest.approx(module.SMALLEST, rel=1e-3)


@pytest.mark.parametrize("regions", [Grid.covering(TRACES, rows=4, columns=5), Hexagons.covering(TRACES, resolution=7)])
def test_cells_have_their_outlines_and_points_have_none(regions):
    scene = scene_of_profile(MarkovProfile.fit(TRACES, regions), TRACES)
    corners = {len(place.outline) // 2 for place in scene.places}
    assert corners <= {4, 5, 6, 7}
    assert scene.lines
    assert not any(place.named for place in scene.places)
    assert not any(place.outline for place in scene_of_profile(PROFILE, None).places)


def test_places_stand_where_they_are():
    scene = scene_of_profile(PROFILE, None)
    around = Projection.around(*PLACES.centres.T)
    assert [place.at for place in scene.places] == [tuple(one) for one in around.units(*PLACES.centres.T).tolist()]


def test_a_profile_that_follows_the_clock_has_shares():
    profile = PeriodicProfile.fit(TRACES, Grid.covering(TRACES, rows=2, columns=2))
    scene = scene_of_profile(profile, None)
    assert sum(place.share for place in scene.places) == pytest.approx(1, abs=1e-4)
    assert all(place.towards == () for place in scene.places)


def test_a_codebook_tells_the_distance_to_its_releases_in_metres():
    budget = 300.0**2
    metric = distance(PLACES)
    codebook = design(PROFILE, Scenario.sporadic(), privacy=metric, quality=squared(metric), budget=budget)
    scene = scene_of_codebook(codebook, None, None)
    metres = distances(PLACES)
    for place, own in enumerate(scene.places):
        moved = sum(p * metres[place, to] for to, p in own.towards)
        assert facts(own)["mean displacement"] == module.in_metres(moved)
        assert facts(own)["quality lost"].endswith("m RMS")
        assert sum(p for _, p in own.towards) == pytest.approx(1, abs=0.01)
    assert dict(scene.facts)["budget"] == "300 m RMS"


def test_a_game_tells_how_often_the_adversary_is_right():
    game = BeliefGame.of(PROFILE, privacy=hamming(), quality=hamming(), budget=0.0)
    for own in scene_of_plan(game, None, None).places:
        assert facts(own)["adversary guesses right"] == "100 %"  # nothing may be lost, so the truth is told
        assert facts(own)["release is the truth"] == "100 %"


def test_a_label_shows_every_adversary_below_its_ceiling():
    codebook = design(PROFILE, Scenario.past_present(1), privacy=hamming(), quality=hamming(), budget=0.2)
    label = evaluate(codebook, PROFILE, accesses=4)
    bars = scene_of_label(label).bars
    assert {bar.name for bar in bars.bars} == {"window", "filter", "smoother", "Viterbi", "predictor"}
    assert [bar.error for bar in bars.bars] == [float(error) for error in label.errors.values()]
    assert bars.ceiling == label.ceiling
    assert next(bar for bar in bars.bars if bar.name == "filter").right == (
        f"; right {module.percent(label.filter.hit_rate)}"
    )


def test_many_places_are_bounded_and_unlikely_ones_left_out():
    generator = np.random.default_rng(0)
    found = module.most_likely(generator.dirichlet(np.ones(500)))
    assert len(found) <= module.MOST_TOWARDS
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
    assert min(p for _, p in found) >= module.LEAST
