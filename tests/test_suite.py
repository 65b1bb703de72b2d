"""The suite itself: nothing in it depends on how busy the machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def test_no_property_has_a_deadline():
    assert settings().deadline is None
    assert HealthCheck.too_slow in settings().suppress_health_check
