"""Profiles on disk: what is read back is what was written, and hostile files are refused."""

from __future__ import annotations

import json
import stat
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hideseek import Grid, Hexagons, MarkovProfile, ParameterError, PeriodicProfile, Places, synthetic_city
from hideseek.adversary import Estimate
from hideseek.errors import TraceError
from hideseek.model.candidates import Candidate
from hideseek.model.clock import WEEKEND, Clock
from hideseek.storage.profile_file import is_profile, load_profile, save_profile
from hideseek.traces.city import BOX
from hideseek.util.choices import Model
from hideseek.util.private_files import write_privately

CITY = synthetic_city(people=1, days=2)
GRID = Grid(*BOX, rows=8, columns=8)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "profile.json"
    save_profile(MarkovProfile.fit(CITY, GRID), path)
    return path


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", ["grid", "places", "hexagons"])
def test_a_profile_survives_the_disk(tmp_path, order, kind):
    regions = {
        "grid": GRID,
        "places": Places(*GRID.centres.T, names=tuple(f"cell {k}" for k in range(64))),
        "hexagons": Hexagons.covering(CITY, resolution=7),
    }[kind]
    profile = MarkovProfile.fit(CITY, regions, order=order)
    save_profile(profile, tmp_path / "p.json")
    back = load_profile(tmp_path / "p.json")
    np.testing.assert_array_equal(back.states, profile.states)
    np.testing.assert_array_equal(back.transition, profile.transition)
    np.testing.assert_allclose(back.stationary, profile.stationary, atol=1e-12)
    np.testing.assert_allclose(back.regions.centres, profile.regions.centres)
    assert is_profile(tmp_path / "p.json")


CLOCK = Clock("Europe/Zurich", ((6, 20), (9,)), days=WEEKEND, step="1h")


def with_clock():
    """Two places whose moves follow a clock, chosen from two models."""
    rows = np.random.default_rng(5).dirichlet(np.ones(2), (3, 2))
    told = (
        Candidate(Model.FIRST_ORDER, Estimate(0.5, (0.4, 0.6)), Estimate(0.0, (0.0, 0.0))),
        Candidate(Model.CALENDAR, Estimate(0.45, (0.35, 0.55)), Estimate(0.05, (0.01, 0.09))),
    )
    places = Places([46.5, 46.6], [6.5, 6.6])
    return PeriodicProfile(rows, CLOCK.cycle, regions=places, step="1h", clock=CLOCK, candidates=told)


def test_a_profile_with_a_clock_survives_the_disk(tmp_path):
    profile = with_clock().at("Sunday 12:00")
    save_profile(profile, tmp_path / "p.json")
    back = load_profile(tmp_path / "p.json")
    np.testing.assert_array_equal(back.slots, profile.slots)
    np.testing.assert_array_equal(back.cycle, profile.cycle)
    assert (back.clock, back.step, back.start) == (CLOCK, "1h", 0)
    assert [one.model for one in back.candidates] == [one.model for one in profile.candidates]
    for one, other in zip(back.candidates, profile.candidates, strict=True):
        assert (one.log_loss, one.log_loss.interval) == (other.log_loss, other.log_loss.interval)
        assert (one.gain, one.gain.interval) == (other.gain, other.gain.interval)
    np.testing.assert_allclose(back.distributions, profile.distributions, atol=1e-12)


def test_what_a_chain_was_chosen_from_survives_the_disk_too(tmp_path):
    profile = replace(MarkovProfile.fit(CITY, GRID), candidates=with_clock().candidates)
    save_profile(profile, tmp_path / "p.json")
    back = load_profile(tmp_path / "p.json")
    assert [one.log_loss for one in back.candidates] == [0.5, 0.45]
    np.testing.assert_array_equal(back.transition, profile.transition)


def test_without_clock_and_models_the_file_is_what_it_was(saved):
    assert json.loads(saved.read_bytes()).keys() == {"hideseek_profile", "step", "regions", "states", "transitions"}
    assert json.loads(saved.read_bytes())["hideseek_profile"] == 1


def test_a_profile_that_does_not_know_its_clock_is_not_saved(tmp_path):
    with pytest.raises(ParameterError, match="one that knows its clock"):
        save_profile(replace(with_clock(), clock=None), tmp_path / "p.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(hideseek_profile=1),
        lambda d: d.pop("clock"),
        lambda d: d.update(clock=None),
        lambda d: d["clock"].update(zone="Nowhere"),
        lambda d: d["clock"].update(starts=[[6, 20]]),
        lambda d: d["clock"].update(starts=[[6, 20], [9, 9]]),
        lambda d: d["clock"].update(starts=[[6, 20], []]),
        lambda d: d["clock"].update(starts=[[6, 20], [24]]),
        lambda d: d["clock"].update(days=[0] * 7),
        lambda d: d["clock"].update(days=[0, 1]),
        lambda d: d["clock"].update(extra=1),
        lambda d: d.update(step="7h"),
        lambda d: d.update(step="1us"),
        lambda d: d.update(states=[[1], [0]]),
        lambda d: d.update(states=[[0]]),
        lambda d: d.update(transitions=d["transitions"][:-1]),
        lambda d: d["transitions"].append([6, 0, 0.5]),
        lambda d: d.update(transitions=[[k, 0, 1.0] for k in range(6)]),
        lambda d: d["candidates"][0].update(model="third-order"),
        lambda d: d["candidates"][0].update(gain=[0.1, 0.2]),
        lambda d: d["candidates"][0].update(gain=[0.1, 0.3, 0.2]),
    ],
)
def test_a_tampered_profile_with_a_clock_is_refused(tmp_path, change):
    path = tmp_path / "profile.json"
    save_profile(with_clock(), path)
    corrupt(path, change)
    with pytest.raises(TraceError, match=r"profile\.json"):
        load_profile(path)


def test_a_profile_is_for_its_owner_only(saved):
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600


def test_a_failed_write_leaves_the_old_file_and_nothing_else(saved, monkeypatch):
    before = saved.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        write_privately(saved, b"new")
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["profile.json"]


def corrupt(saved, change):
    document = json.loads(saved.read_bytes())
    change(document)
    saved.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(hideseek_profile=99),
        lambda d: d.update(hideseek_profile="1"),
        lambda d: d.update(extra=1),
        lambda d: d.pop("states"),
        lambda d: d["regions"].update(type="cubes"),
        lambda d: d["regions"].update(rows=0),
        lambda d: d["regions"].update(rows=10**9),
        lambda d: d["regions"].update(rows=10**4, columns=10**4),
        lambda d: d["regions"].update(south=200.0),
        lambda d: d["regions"].update(kept=[0, 0, 1]),
        lambda d: d["regions"].update(kept=[10**6]),
        lambda d: d["regions"].update(kept=[-1]),
        lambda d: d.update(states=[]),
        lambda d: d.update(states=[[]]),
        lambda d: d["states"].append([1, 2]),
        lambda d: d["states"].append([10**5]),
        lambda d: d["states"].append(d["states"][0]),
        lambda d: d.update(transitions=[]),
        lambda d: d["transitions"].append([0, 0, 2.0]),
        lambda d: d["transitions"].append([0, 10**6, 0.0]),
        lambda d: d["transitions"].append([-1, 0, 0.0]),
        lambda d: d["transitions"][0].__setitem__(2, 0.123456),
    ],
)
def test_a_tampered_profile_is_refused(saved, change):
    corrupt(saved, change)
    with pytest.raises(TraceError, match=r"profile\.json"):
        load_profile(saved)


def test_a_missing_profile_is_a_typed_error(tmp_path):
    with pytest.raises(TraceError, match="cannot be read"):
        load_profile(tmp_path / "none.json")


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_arbitrary_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("fuzz") / "p.json"
    path.write_bytes(content)
    with pytest.raises(TraceError):
        load_profile(path)


@given(data=st.data())
@settings(max_examples=60)
def test_a_flipped_byte_never_escapes_as_another_error(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("flip")
    profile = MarkovProfile.from_matrix([[0.5, 0.5], [0.25, 0.75]], Places([1.0, 2.0], [3.0, 4.0]))
    save_profile(profile, folder / "p.json")
    content = bytearray((folder / "p.json").read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (folder / "p.json").write_bytes(bytes(content))
    with suppress(TraceError):
        load_profile(folder / "p.json")


def test_a_profile_without_places_on_the_map_cannot_be_saved(tmp_path):
    with pytest.raises(ParameterError, match="regions"):
        save_profile(MarkovProfile.from_matrix([[0.5, 0.5], [0.5, 0.5]]), tmp_path / "p.json")
    assert not list(tmp_path.iterdir())
