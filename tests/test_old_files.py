"""Files that hideseek 0.1.0 wrote still serve: its own profile, codebook, plan and states, kept beside the tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hideseek import Codebook, Device, LiveDevice, load_plan, load_profile
from tests.support.fuzz_sealed import same_but_for_rounding

FILES = Path(__file__).parent / "data" / "0.1.0"
TOLD_LAST = "2026-01-05T08:12:00+01:00"  # in the last step that both devices answered, at home
NEXT = "2026-01-05T08:15:00+01:00"
ELSEWHERE = (46.55, 6.57)


@pytest.fixture
def folder(tmp_path):
    """A copy that is private, as the states must be."""
    for file in FILES.iterdir():
        shutil.copy(file, tmp_path)
        (tmp_path / file.name).chmod(0o600)
    return tmp_path


def test_the_profile_the_codebook_and_the_plan_are_read(folder):
    profile, codebook = load_profile(folder / "profile.json"), Codebook.load(folder / "codebook.hideseek")
    game, planner = load_plan(folder / "plan.plan", profile=profile)
    assert profile.regions.names == codebook.regions.names == ("home", "work", "park")
    assert (codebook.budget, game.budget, codebook.chain, len(codebook.gaps)) == (0.1, 0.1, None, 1)
    assert planner.bound == pytest.approx(0.1, rel=1e-6)  # error and loss are the same, and more is at stake
    assert same_but_for_rounding(codebook.content, (folder / "codebook.hideseek").read_bytes())


def test_a_device_with_a_codebook_goes_on(folder):
    device = Device(Codebook.load(folder / "codebook.hideseek"), folder / "device.state")
    assert device.expose(*ELSEWHERE, at=TOLD_LAST).place == 0
    answer = device.expose(*ELSEWHERE, at=NEXT)
    assert answer.status == "exposed"
    assert Device(device.codebook, folder / "device.state").expose(46.52, 6.57, at=NEXT) == answer


def test_a_live_device_goes_on(folder):
    device = LiveDevice(*load_plan(folder / "plan.plan"), state=folder / "live.state")
    assert device.expose(*ELSEWHERE, at=TOLD_LAST).place == 0
    assert device.expose(*ELSEWHERE, at=NEXT).status == "exposed"
    assert device.label().accesses == 4
