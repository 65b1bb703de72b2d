"""Parquet, GeoParquet and Arrow files: tables whose columns have types, read batch by batch.

Only the columns of use are read. Whatever such a file claims is looked at before it is believed (``parquet_pages``,
``arrow_messages``), and what the library hands over is validated before it is touched.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hideseek.errors import UnusableFileError
from hideseek.traces.archives import short
from hideseek.traces.arrow_columns import BYTES, POINTS, TEXT, column_of, is_kind, is_of_use
from hideseek.traces.arrow_messages import CONTINUED, FILE, SCHEMA, Flat, refuse_messages
from hideseek.traces.packed import LONGEST
from hideseek.traces.parquet_pages import LIST, LONG, footer_of, look_at_pages
from hideseek.traces.table import accepted, listed, located, missing_columns

BLOCK, BUFFER = 1 << 16, 1 << 20  # rows that are handed over together, bytes that are read together
PACKED = (*TEXT, *BYTES[:3])  # types of values of any length
HELD = 1 << 30  # bytes of a file in which one cannot go back, as of an archive: it is read into memory
OPTIONAL = ("finished_at", "accuracy")  # columns that something else may have the name of
GEO = 1 << 20  # bytes of what GeoParquet says about its columns
WORLD = {("EPSG", "4326"), ("EPSG", "4979"), ("OGC", "CRS84"), ("OGC", "CRS84h")}  # degrees of WGS 84
# what the library raises where a file is damaged, besides its own errors
DAMAGE = (
    pa.ArrowException,
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    MemoryError,
    struct.error,
)


def looks_like_parquet(head: bytes) -> bool:
    """Whether the first bytes of a file are those of Parquet."""
    return head.startswith(b"PAR1")


def looks_like_arrow(head: bytes) -> bool:
    """Whether the first bytes of a file are those of an Arrow file (Feather is another name for it) or stream."""
    if head.startswith(FILE):
        return True
    try:
        length = int.from_bytes(head[4:8], "little")
        table = Flat(head[8 : 8 + length], struct.unpack_from("<I", head, 8)[0])
        return head.startswith(CONTINUED) and table.number(1, "B") == SCHEMA
    except (struct.error, UnusableFileError):
        return False


def read_parquet(stream: IO[bytes], columns: Mapping[str, str] | None = None) -> Iterator[pd.DataFrame]:
    """Read the columns of use of a Parquet or GeoParquet file."""
    with damage_told("Parquet"):
        stream, size = in_memory_or_seekable(stream)
        footer, length = footer_of(stream, size)
        file = pq.ParquetFile(stream, arrow_extensions_enabled=False)
        claimed = footer.get((3, LONG)), len(footer.get((4, LIST), [])), length
        if claimed != (file.metadata.num_rows, file.metadata.num_row_groups, file.metadata.serialized_size):
            raise UnusableFileError("malformed Parquet: its end is damaged")
        wanted = wanted_columns(file.schema_arrow, columns)
        names = list(wanted.values())
        pages = look_at_pages(stream, footer, names, size)
        # a text stands once in a dictionary, however often a file repeats it; only texts that share cannot be read so
        packed = (name for name in names if is_kind(file.schema_arrow.field(name).type, PACKED))
        texts = [name for name in packed if name not in pages.sharing]
        options = {"pre_buffer": False, "buffer_size": BUFFER, "arrow_extensions_enabled": False}
        file = pq.ParquetFile(stream, read_dictionary=texts, **options)
        # where most differ, as points do, the dictionary would grow to all of them
        if short := {name for name in texts if name in pages.written_out and longest(file, name) <= LONGEST}:
            file = pq.ParquetFile(stream, read_dictionary=[name for name in texts if name not in short], **options)
        batches = file.iter_batches(batch_size=min(pages.rows, BLOCK), columns=names, use_threads=False)
        yield from tables_of(batches, wanted)


def longest(file: pq.ParquetFile, name: str) -> int:
    """Bytes of the longest text in the dictionaries of a column; with its first row comes all of a group's."""
    found = 0
    for group in range(file.num_row_groups):
        for batch in islice(file.iter_batches(1, row_groups=[group], columns=[name], use_threads=False), 1):
            found = max(found, pc.max(pc.binary_length(batch.column(0).dictionary)).as_py() or 0)
    return found


def read_arrow(stream: IO[bytes], columns: Mapping[str, str] | None = None) -> Iterator[pd.DataFrame]:
    """Read the columns of use of an Arrow file or stream; a file is a stream with a frame around it."""
    with damage_told("Arrow"):
        stream, size = in_memory_or_seekable(stream)
        start = len(FILE) if stream.read(len(FILE)) == FILE else 0
        refuse_messages(stream, start, size)
        stream.seek(start)
        schema = pa.ipc.open_stream(stream).schema
        wanted = wanted_columns(schema, columns)
        options = pa.ipc.IpcReadOptions(
            included_fields=[schema.get_field_index(name) for name in wanted.values()], use_threads=False
        )
        stream.seek(start)
        yield from tables_of(pa.ipc.open_stream(stream, options=options), wanted)


@contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Tell damage by an error of ours, without the library's words: they may show what stands in the file."""
    try:
        yield
    except UnusableFileError:
        raise
    except DAMAGE:
        raise UnusableFileError(f"malformed {name}: it is cut short or damaged") from None


def in_memory_or_seekable(stream: IO[bytes]) -> tuple[IO[bytes], int]:
    """A stream in which one can go back to any byte, at its start, and its size."""
    if not stream.seekable():
        held = stream.read(HELD + 1)
        if len(held) > HELD:
            raise UnusableFileError(f"more than {HELD} bytes inside an archive; unpack it first")
        stream = io.BytesIO(held)
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return stream, size


def wanted_columns(schema: pa.Schema, columns: Mapping[str, str] | None) -> dict[str, str]:
    """The columns of use: what each is for, and its name in the file."""
    found = {role: schema.names[at] for role, at in located(schema.names, columns).items()}
    if "geometry" not in (columns or {}):
        if "latitude" in found and "longitude" in found:
            found.pop("geometry", None)
        elif primary := primary_column(schema):
            found["geometry"] = primary
    if lacking := [column for column in missing_columns(dict.fromkeys(found, 0)) if column != "user_id"]:
        raise UnusableFileError(f"it lacks {accepted(lacking)}; its columns are {listed(schema.names)}")
    if "geometry" in found:
        found = {role: name for role, name in found.items() if role not in POINTS}
    for role, name in list(found.items()):
        if schema.names.count(name) > 1:
            raise UnusableFileError(f"it has two columns with the name {short(name)}")
        if is_of_use(role, schema.field(name)):
            continue
        if role not in OPTIONAL:
            kind = short(str(schema.field(name).type), 40)
            raise UnusableFileError(f"its column {short(name, 40)} cannot be the {role}: it is of the type {kind}")
        del found[role]
    return found


def primary_column(schema: pa.Schema) -> str | None:
    """The column of points that GeoParquet names, if they are degrees of WGS 84."""
    described = (schema.metadata or {}).get(b"geo", b"")
    if not described:
        return None
    try:
        geo = json.loads(described if len(described) <= GEO else b"")
        name = geo["primary_column"]
        column = geo["columns"][name]
        encoding, system = column["encoding"], column.get("crs")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UnusableFileError("malformed GeoParquet: what it says about its columns cannot be read") from None
    if name not in schema.names:
        raise UnusableFileError("malformed GeoParquet: its column of points is missing")
    if encoding not in ("WKB", "point"):
        raise UnusableFileError(f"its geometries are encoded as {short(str(encoding), 40)}; only points are read")
    if system is not None and not of_the_world(system):
        raise UnusableFileError("its coordinates are not degrees of WGS 84 (EPSG:4326); transform them first")
    return str(name)


def of_the_world(system: object) -> bool:
    """Whether a reference system (PROJJSON) is WGS 84."""
    own = system.get("id") if isinstance(system, dict) else None
    return isinstance(own, dict) and (str(own.get("authority")), str(own.get("code"))) in WORLD


def tables_of(batches: Iterator[pa.RecordBatch], wanted: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """Turn batches into tables of a bounded number of rows."""
    count = 0
    for batch in batches:
        batch.validate(full=True)
        for start in range(0, batch.num_rows, BLOCK):
            part = batch.slice(start, BLOCK)
            rows: dict[str, Any] = {}
            for role, name in wanted.items():
                column = column_of(role, part.column(part.schema.get_field_index(name)))
                rows |= dict(zip(POINTS, column, strict=True)) if isinstance(column, tuple) else {role: column}
            index = pd.RangeIndex(count + 1, count + part.num_rows + 1, name="row")
            count += part.num_rows
            yield pd.DataFrame(rows, index=index)
