"""What is measured of reading is what is read."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from benchmarks import reading
from hideseek.traces.reading import read_traces


@pytest.mark.parametrize("case", ["parquet", "geoparquet"])
def test_all_rows_of_all_users_are_read(case, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reading, "ROWS", 4000)
    reading.make(case, tmp_path / case)
    reading.measure(case, tmp_path / case)
    rows, *costs = json.loads(capsys.readouterr().out)
    assert rows == 4000
    assert all(cost > 0 for cost in costs)


def test_points_and_degrees_are_the_same_fixes(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ROWS", 4000)
    tables = []
    for case in ("parquet", "geoparquet"):
        reading.make(case, tmp_path / case)
        tables.append(read_traces(tmp_path / case))
    pd.testing.assert_frame_equal(*tables)
