"""Small Parquet and Arrow files of every shape."""

from __future__ import annotations

import io
import json
import struct

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

SECONDS = [1577872800, 1577872860, 1577872920]  # from 2020-01-01 10:00 on
LATITUDE, LONGITUDE = [46.5, 46.6, -46.7], [6.5, 6.6, -6.7]


def table(**columns: object) -> pa.Table:
    """Three fixes of two users, with some columns changed; None leaves one out."""
    plain = {
        "user_id": ["a", "b", "a"],
        "tracked_at": pa.array(SECONDS, pa.timestamp("s", "UTC")),
        "latitude": LATITUDE,
        "longitude": LONGITUDE,
    }
    return pa.table({name: values for name, values in (plain | columns).items() if values is not None})


def points(values: object, name: str = "geometry", **said: object) -> pa.Table:
    """Three fixes whose points lie in one column; ``said`` is what GeoParquet says about it, if anything."""
    found = table(latitude=None, longitude=None, **{name: values})
    if not said:
        return found
    geo = {"version": "1.1.0", "primary_column": name, "columns": {name: said}}
    return found.replace_schema_metadata({"geo": json.dumps(geo)})


def well_known(x: float, y: float, *more: float, kind: int = 1, order: str = "<", system: int | None = None) -> bytes:
    """A point in well-known binary, after its description."""
    number = kind | (0x20000000 if system is not None else 0)
    head = struct.pack(f"{order}BI", order == "<", number) + (
        b"" if system is None else struct.pack(f"{order}I", system)
    )
    return head + struct.pack(f"{order}{2 + len(more)}d", x, y, *more)


def parquet(rows: pa.Table, **options: object) -> bytes:
    packed = io.BytesIO()
    pq.write_table(rows, packed, **options)
    return packed.getvalue()


def arrow(rows: pa.Table, *, file: bool = True, compression: str | None = None, most: int | None = None) -> bytes:
    packed = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(packed, rows.schema, options=options) as writer:
        writer.write_table(rows, max_chunksize=most)
    return packed.getvalue()
