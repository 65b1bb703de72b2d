"""A map of stays in files: profiles, codebooks and plans come back with it, and a device runs on it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hideseek as hs
from hideseek.errors import HideseekError, TraceError
from hideseek.model import Disc, StayMap
from hideseek.planning import BeliefGame
from hideseek.storage.regions_document import regions_document, regions_from

HOME = Disc("home", latitude=46.52, longitude=6.57, radius=200.0)
STAYS = StayMap((HOME,), ((12, 2122, 1448), (12, 2123, 1448)))
PROFILE = hs.MarkovProfile.from_matrix([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.5, 0.1, 0.4]], STAYS)
DISCS = st.builds(
    Disc,
    st.text(st.characters(codec="utf-8"), max_size=20),
    latitude=st.floats(-90, 90),
    longitude=st.floats(-180, 180),
    radius=st.floats(1e-3, 1e6),
)


@given(
    st.lists(DISCS, max_size=4), st.sets(st.tuples(st.just(7), st.integers(0, 127), st.integers(0, 127)), max_size=6)
)
def test_what_is_read_is_what_was_written(discs, tiles):
    if discs or tiles:
        stays = StayMap(tuple(discs), tuple(sorted(tiles)))
        assert regions_from(regions_document(stays)) == stays
        some = stays.keep([len(stays) - 1])
        assert regions_from(regions_document(some)) == some


def test_a_profile_a_codebook_and_a_plan_survive_the_disk(tmp_path):
    hs.save_profile(PROFILE, tmp_path / "profile.json")
    assert hs.load_profile(tmp_path / "profile.json").regions == STAYS
    scenario = hs.Scenario.past_present(1)
    codebook = hs.design(PROFILE, scenario, privacy="euclid", quality="hamming", budget=0.1, workers=1)
    codebook.save(tmp_path / "book.hideseek")
    assert hs.Codebook.load(tmp_path / "book.hideseek").regions == STAYS
    game = BeliefGame.of(PROFILE, privacy="hamming", quality="hamming", budget=0.125)
    hs.save_plan(game, hs.plan(game, outlook="plain"), path=tmp_path / "me.plan")
    assert hs.load_plan(tmp_path / "me.plan")[0].profile.regions == STAYS


def test_a_codebook_device_runs_on_it_without_large_packages(tmp_path):
    """Truthful: the release is the place of the point, or the nearest one off the map, unless that is far."""
    codebook = hs.design(
        PROFILE, hs.Scenario.past_present(1), privacy="hamming", quality="hamming", budget=0.0, workers=1
    )
    codebook.save(tmp_path / "book.hideseek")
    program = f"""
import sys
from hideseek.codebook.codebook import Codebook
from hideseek.device.codebook_device import Device
device = Device(Codebook.load({str(tmp_path / "book.hideseek")!r}), {str(tmp_path / "state.json")!r})
points = [(46.5201, 6.5701), (46.53, 6.55), (46.53, 6.62), (46.53, 6.64), (46.53, 7.9)]
print([device.expose(*point, at=f"2024-01-01T00:{{5 * k:02}}:00Z").place for k, point in enumerate(points)])
print([name for name in ("pandas", "scipy", "matplotlib", "highspy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[0, 1, 2, 2, None]", "[]"]


@pytest.mark.parametrize(
    "change",
    [
        {"radii": []},
        {"radii": [0.0]},
        {"radii": [-5.0]},
        {"latitudes": [95.0]},
        {"names": ["a", "b"]},
        {"tiles": [[12, 2122, 1448], [12, 2122, 1448]]},
        {"tiles": [[12, 2122, 1448], [3, 4, 2]]},
        {"tiles": [[31, 0, 0], [12, 0, 0]]},
        {"tiles": [[12, 4096, 0], [12, 0, 0]]},
        {"tiles": [[12, -1, 0], [12, 0, 0]]},
        {"kept": [0, 0, 1]},
        {"kept": [0, 1, 3]},
        {"kept": []},
        {"kept": [0, 1, 10**30]},
        {"more": 1},
    ],
)
def test_a_map_that_cannot_be_is_refused(tmp_path, change):
    path = tmp_path / "profile.json"
    hs.save_profile(PROFILE, path)
    document = json.loads(path.read_text())
    document["regions"] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(TraceError):
        hs.load_profile(path)


def test_regions_of_one_s_own_have_no_format():
    class Own:
        centres = np.zeros((1, 2))

    with pytest.raises(HideseekError, match="StayMap"):
        regions_document(Own())
