"""A state, the words that devices draw with, and a device that was used."""

from __future__ import annotations

import pytest

from hideseek import Device, LiveDevice, PlaybookDevice
from tests.support.devices import (
    POINTS,
    book,
    when,
)
from tests.support.live_devices import live
from tests.support.playbooks import playing


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.json"


@pytest.fixture
def words(monkeypatch):
    """Put words here, and the device draws with them."""
    queue = []
    for module in ("codebook_device", "belief_device"):
        monkeypatch.setattr(f"hideseek.device.{module}.random_word", lambda: queue.pop(0))
    return queue


@pytest.fixture
def used(path):
    """A state with everything in it."""
    device = Device(book("transition"), path)
    for step in range(3):
        device.expose(*POINTS[1], at=when(step))
    return device


@pytest.fixture
def moves(monkeypatch):
    """What devices have played, access after access: a move, or why none; with the columns that were known."""
    played = []

    def watch(kind):
        original = kind._table_for

        def watched(self, belief, columns):
            played.append((columns, original(self, belief, columns)))
            return played[-1][1]

        monkeypatch.setattr(kind, "_table_for", watched)

    watch(LiveDevice)
    watch(PlaybookDevice)
    return played


@pytest.fixture(scope="session", params=[live, playing], ids=["live", "playbook"])
def fresh(request):
    """Opens a device that follows the belief, with a plan or with a playbook, by its state."""
    return request.param
