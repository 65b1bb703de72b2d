"""Mangled files for the readers of traces: ``python -m tests.support.fuzz_readers parquet 60`` goes on for a minute.

A third argument is the most cases that are tried.

Nothing but UnusableFileError may come out, no warning, and the process must not end. The last case lies in a file
while it is read, and stays there if the library ends the process.
"""

from __future__ import annotations

import io
import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pyarrow as pa

from hideseek.errors import UnusableFileError
from hideseek.traces.columnar import read_arrow, read_parquet
from hideseek.traces.fit import read_fit
from hideseek.traces.formats import read_cabspotting, read_csv, read_geolife
from hideseek.traces.gpx import read_gpx
from hideseek.traces.kml import read_kml
from hideseek.traces.tcx import read_tcx
from tests.support.columnar_files import LATITUDE, LONGITUDE, SECONDS, arrow, parquet, points, table, well_known
from tests.support.fit_files import FIT, file_of
from tests.support.mangling import mangle
from tests.support.trace_files import CAB, CSV, GPX, PLT
from tests.support.xml_files import KML, TCX

QUOTED = CSV.replace("a,", '"a;\n""a""",').replace(",", ";")
TABLES = [
    table(),
    table(user_id=pa.array(["a", "b", "a"]).dictionary_encode(), tracked_at=pa.array(SECONDS, pa.timestamp("ms"))),
    table(user_id=pa.array(["a", "b" * 30, "a"], pa.string_view()), tracked_at=["2020-01-01T10:00:00Z"] * 3),
    points(pa.array([well_known(x, y) for x, y in zip(LONGITUDE, LATITUDE, strict=True)]), encoding="WKB"),
    points(pa.array([{"x": x, "y": y} for x, y in zip(LONGITUDE, LATITUDE, strict=True)])),
]
PLAIN = {"compression": None, "use_dictionary": False}
ENCODINGS = {"user_id": "DELTA_BYTE_ARRAY", "latitude": "BYTE_STREAM_SPLIT", "tracked_at": "DELTA_BINARY_PACKED"}
PARQUET = [{}, {**PLAIN, "store_schema": False}, {"compression": "zstd", "data_page_version": "2.0"}]
ARROW = [{}, {"file": False}, {"file": False, "compression": "zstd"}, {"compression": "lz4"}]
TARGETS = {
    "gpx": (read_gpx, [GPX.encode()]),
    "csv": (read_csv, [CSV.encode(), QUOTED.encode()]),
    "geolife": (read_geolife, [PLT.encode()]),
    "cabspotting": (read_cabspotting, [CAB.encode()]),
    "kml": (read_kml, [KML.encode()]),
    "tcx": (read_tcx, [TCX.encode()]),
    "fit": (read_fit, [FIT, FIT * 2]),
    "parquet": (
        read_parquet,
        [parquet(rows, **options) for rows in TABLES for options in PARQUET]
        + [parquet(table(), **PLAIN, column_encoding=ENCODINGS)],
    ),
    "arrow": (read_arrow, [arrow(rows, **options) for rows in TABLES for options in ARROW]),
}


def main(name: str, seconds: float, most: float = float("inf")) -> None:
    read, samples = TARGETS[name]
    seed = random.SystemRandom().getrandbits(32)
    generator, cases, good, end = random.Random(seed), 0, 0, time.monotonic() + seconds
    last = Path(tempfile.gettempdir(), f"fuzz-{name}-{seed}")
    while time.monotonic() < end and cases < most:
        case = mangle(generator.choice(samples), generator.choice((1, 1, 2, 3, 8)), generator.getrandbits(32))
        if name == "fit" and cases % 8:
            case = file_of(case[14:-2])  # with the right checksums, so that the records are read
        last.write_bytes(case)
        cases += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                good += sum(map(len, read(io.BytesIO(case)))) > 0
            except UnusableFileError:
                continue
    last.unlink()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{name}: {cases} cases, {good} gave rows, at most {peak} MiB; seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
