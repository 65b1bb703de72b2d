"""Traces of two people for the command line."""

from __future__ import annotations

import pytest

from tests.support.two_people import TRACES


@pytest.fixture(scope="session")
def traces(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "city.csv"
    TRACES.to_csv(path, index=False)
    return str(path)
