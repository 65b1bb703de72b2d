"""How long reading takes, and how much memory: a year of Timeline, and ten million rows of a thousand users.

python -m benchmarks.reading            all
python -m benchmarks.reading timeline   one of timeline, parquet, geoparquet

Each in a process of its own, on one thread: a Timeline as ``read_traces`` reads it, the others as a fleet does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.clock import megabytes
from hideseek.cli.terminal import print_table
from hideseek.traces.reading import read_traces
from hideseek.traces.user_store import ROW, spooled

CASES = ("timeline", "parquet", "geoparquet")
ROWS, PARTS, USERS = 10_000_000, 10, 1000
YEAR = 365 * 86_400_000_000  # microseconds


def fixes(rows: int, points: bool, seed: int) -> pa.Table:
    """Fixes of all users over a year, in no order; their degrees in two columns, or as well-known binary in one."""
    random = np.random.default_rng(seed)
    places = np.array([6.6, 46.5]) + random.normal(0, 0.05, (rows, 2))
    names = pa.array([f"user-{number:04d}" for number in range(USERS)])
    columns: dict[str, pa.Array] = {
        "user_id": names.take(pa.array(random.integers(0, USERS, rows))),
        "tracked_at": pa.array(random.integers(0, YEAR, rows) + 50 * YEAR, pa.timestamp("us", "UTC")),
    }
    if not points:
        return pa.table(columns | {"longitude": places[:, 0], "latitude": places[:, 1]})
    packed = np.zeros(rows, np.dtype([("order", "u1"), ("kind", "<u4"), ("x", "<f8"), ("y", "<f8")]))
    packed["order"], packed["kind"], packed["x"], packed["y"] = 1, 1, *places.T
    where = pa.Array.from_buffers(pa.binary(packed.itemsize), rows, [None, pa.py_buffer(packed.tobytes())])
    said = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    return pa.table(columns | {"geometry": where.cast(pa.binary())}).replace_schema_metadata({"geo": json.dumps(said)})


def make(case: str, path: Path) -> None:
    """Write what is read."""
    if case == "timeline":
        subprocess.run(
            [sys.executable, "-m", "tests.support.timeline_generator", path], check=True, capture_output=True
        )
        return
    parts = (fixes(ROWS // PARTS, case == "geoparquet", seed) for seed in range(PARTS))
    first = next(parts)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(part)


def measure(case: str, path: Path) -> None:
    """Read it here, and print rows, seconds, seconds of the processor, and megabytes."""
    start, work = time.perf_counter(), time.process_time()
    if case == "timeline":
        rows = len(read_traces(path))
    else:
        with spooled(path) as spool:
            rows = sum(size for blocks in spool.rows.values() for _, size, _ in blocks) // ROW.itemsize
    print(json.dumps([rows, time.perf_counter() - start, time.process_time() - work, megabytes()]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.file is not None:
        measure(options.cases[0], options.file)
        return
    rows = []
    for case in options.cases or CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, case)
            make(case, path)
            command = [sys.executable, "-m", "benchmarks.reading", case, "--file", str(path)]
            single = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
            ended = subprocess.run(command, env=single, check=True, capture_output=True, text=True)
            count, wall, work, memory = json.loads(ended.stdout)
            size = path.stat().st_size / 1e6
            rows.append([case, f"{size:.0f} MB", f"{count:,}", f"{wall:.1f} s", f"{work:.1f} s", f"{memory:.0f} MB"])
    print_table("Reading", ["", "file", "rows", "wall", "CPU", "peak memory"], rows)


if __name__ == "__main__":
    main()
