"""Which of our files something is, told by its content, without waiting for anything."""

from __future__ import annotations

import json
import os

import pytest

from hideseek.errors import TraceError
from hideseek.storage.kinds import Kind, kind_of, kind_or_none

NUMBERS = {"window": 1.0, "filter": 1.0, "smoother": 1.0, "viterbi": 1.0}


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TraceError, match="not a regular file"):
        kind_of(tmp_path / "pipe")
    assert kind_or_none(str(tmp_path / "pipe")) is None


def test_numbers_of_a_fleet_are_no_label(tmp_path):
    (tmp_path / "mark.json").write_text(json.dumps({"rows": [NUMBERS]}))
    (tmp_path / "label.json").write_text(json.dumps(NUMBERS | {"intervals": {}, "hit_rates": {}}))
    assert kind_or_none(str(tmp_path / "mark.json")) is None
    assert kind_of(tmp_path / "label.json") is Kind.LABEL
