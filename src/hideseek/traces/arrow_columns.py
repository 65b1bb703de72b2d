"""Columns of Arrow tables as raw columns of traces: times of every unit, numbers, names, and points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from hideseek.traces import wkb
from hideseek.traces.packed import LONGEST
from hideseek.traces.table import END

POINTS = ("longitude", "latitude")
WIDEST = 64  # bytes of values of one width, which take their room however often they are repeated
TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}  # of a second

Kind = tuple[Callable[[pa.DataType], bool], ...]
TEXT: Kind = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BYTES: Kind = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, lambda kind: is_short(kind))
NUMBER: Kind = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
DATE: Kind = (pa.types.is_timestamp, pa.types.is_date)
KINDS: dict[str, Kind] = {
    "user_id": (*TEXT, *BYTES, *NUMBER),
    "tracked_at": (*TEXT, *NUMBER, *DATE),
    "finished_at": (*TEXT, *NUMBER, *DATE),
    "geometry": (*TEXT, *BYTES, lambda kind: is_pair(kind)),
}


def is_kind(kind: pa.DataType, allowed: Kind) -> bool:
    """Whether a type, or that of the values of a dictionary, is one of these."""
    inside = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(inside) for test in allowed)


def is_short(kind: pa.DataType) -> bool:
    """Whether a type is bytes of one small width."""
    return bool(pa.types.is_fixed_size_binary(kind) and kind.byte_width <= WIDEST)


def is_pair(kind: pa.DataType) -> bool:
    """Whether a type is x and y: a structure with these names, or a list of two to four numbers."""
    if pa.types.is_struct(kind):
        fields = {kind.field(at).name: kind.field(at).type for at in range(kind.num_fields)}
        return fields.keys() <= set("xyzm") and all(pa.types.is_floating(fields.get(side, kind)) for side in "xy")
    listed = pa.types.is_fixed_size_list(kind)
    return bool(listed and 2 <= kind.list_size <= 4 and pa.types.is_floating(kind.value_type))


def is_of_use(role: str, field: pa.Field) -> bool:
    """Whether the values of a column can be what the column is for."""
    kind = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
    return is_kind(kind, KINDS.get(role, (*TEXT, *NUMBER)))


def column_of(role: str, array: pa.Array) -> Any:
    """The raw values of a column; two arrays, longitude and latitude, where it has points."""
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.storage
    if role == "geometry" and not is_kind(array.type, TEXT):
        return pairs(array) if is_pair(array.type) else points(array)
    if is_kind(array.type, TEXT):
        return texts(array).to_numpy(zero_copy_only=False) if role == "geometry" else texts(array).to_pandas().array
    array = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    if role == "user_id":
        return users(array)
    if is_kind(array.type, DATE):
        return instants(array)
    values = numbers(array)
    return seconds(values) if role.endswith("_at") else values


def texts(array: pa.Array, most: int = LONGEST) -> pa.Array:
    """Texts or bytes, in one piece; what is too long is missing, so that repeating it takes no memory."""
    if pa.types.is_dictionary(array.type):
        values = texts(array.dictionary, most)
        kept = values.is_valid()
        short = kept.to_numpy(zero_copy_only=False)
        place = pa.array(np.cumsum(short) - 1, mask=~short)
        # without the long ones, of which the library would make room for copies
        return values.filter(kept).take(place.take(array.indices))
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        views = np.frombuffer(array.buffers()[1], dtype="<i4").reshape(-1, 4)[array.offset :][: len(array)]
        kept = array.is_valid().to_numpy(zero_copy_only=False) & (views[:, 0] <= most)
        marks = np.packbits(kept, bitorder="little")
        buffers = [pa.py_buffer(marks), pa.py_buffer(np.ascontiguousarray(views)), *array.buffers()[2:]]
        whole = pa.large_string() if pa.types.is_string_view(array.type) else pa.large_binary()
        return pa.Array.from_buffers(array.type, len(array), buffers).cast(whole)
    return pc.if_else(pc.greater(pc.binary_length(array), most), None, array)


def users(array: pa.Array) -> Any:
    """Names; whole numbers keep their spelling where some are missing, bytes that are no text become their digits."""
    if pa.types.is_integer(array.type):
        return array.cast(pa.string()).to_pandas().array
    if is_kind(array.type, BYTES):
        return [None if value is None else spelled(value) for value in texts(array).to_pylist()]
    return numbers(array)


def spelled(value: bytes) -> str:
    """Bytes as the text that they are, or in hexadecimal digits."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def numbers(array: pa.Array) -> npt.NDArray[np.float64]:
    """Numbers; NaN where there is none."""
    values: npt.NDArray[np.float64] = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def seconds(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Unix times of any unit in seconds or milliseconds, which the table tells apart.

    The units are told apart by their size as there: 3e11 seconds lie past the year 9999, and 3e11 milliseconds in 1979.
    """
    size = np.abs(values)
    return np.where(size > 3e17, values / 1e9, np.where(size > 3e14, values / 1e6, values))


def instants(array: pa.Array) -> pd.DatetimeIndex:
    """Times of any unit, in their zone where they have one."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s" if pa.types.is_date32(array.type) else "ms"))
    missing = array.is_null().to_numpy(zero_copy_only=False)
    ticks = array.cast(pa.int64()).fill_null(0).to_numpy()
    each = TICKS[array.type.unit]
    # as far as a date that breaks the rule all the same, since more would overflow in microseconds
    ticks = np.clip(ticks, -each, int(END) * each)
    times = (ticks // 1_000 if each > 1_000_000 else ticks * (1_000_000 // each)).astype("M8[us]")
    times[missing] = np.datetime64("NaT")
    index = pd.DatetimeIndex(times)
    if array.type.tz is None:
        return index
    try:
        return index.tz_localize("UTC").tz_convert(array.type.tz)
    except (ValueError, LookupError, TypeError, OSError):  # no zone that is known here; the instants are right
        return index.tz_localize("UTC")


def pairs(array: pa.Array) -> tuple[npt.NDArray[np.float64], ...]:
    """The sides of points that are structures or short lists."""
    if pa.types.is_struct(array.type):
        return tuple(numbers(pc.struct_field(array, side)) for side in "xy")
    missing = array.is_null().to_numpy(zero_copy_only=False)
    size = array.type.list_size
    inside = numbers(array.values.slice(array.offset * size, len(array) * size)).reshape(-1, size)
    return tuple(np.where(missing, np.nan, inside[:, side]) for side in range(2))


def points(array: pa.Array) -> tuple[npt.NDArray[np.float64], ...]:
    """The sides of points in well-known binary."""
    packed = texts(array, wkb.LONGEST).cast(pa.large_binary())
    if not len(packed):
        return np.empty(0), np.empty(0)
    _, offsets, data = packed.buffers()
    ends = np.frombuffer(offsets, dtype="<i8")[packed.offset : packed.offset + len(packed) + 1]
    held = np.frombuffer(data if data is not None else b"", dtype=np.uint8)
    missing = packed.is_null().to_numpy(zero_copy_only=False)
    found = wkb.points_of(ends[:-1], np.where(missing, ends[:-1], ends[1:]), held)
    return found[:, 0], found[:, 1]
