"""FIT files, as sports watches write them: the records that have a position."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import IO, Any

import pandas as pd

from hideseek.errors import MissingExtraError, UnusableFileError

ROWS = 1 << 16  # records that are handed over together
RECORD = 20  # the number of the message that is one fix
LATITUDE, LONGITUDE, ACCURACY, TIME = 0, 1, 31, 253  # the numbers of its fields
DEGREES = 180 / 2**31  # of a semicircle
EPOCH = 631065600  # 1989-12-31 in unix seconds
POWERED = 0x10000000  # times below are seconds since the device was switched on
# what the library raises where a file is damaged, besides its own errors
DAMAGE = (OSError, ValueError, TypeError, LookupError, ArithmeticError, AssertionError, AttributeError, struct.error)


def looks_like_fit(head: bytes) -> bool:
    """Whether the first bytes of a file are those of FIT."""
    return head[8:12] == b".FIT"


def read_fit(stream: IO[bytes]) -> Iterator[pd.DataFrame]:
    """Read the records that have a position, of all files that follow each other in this one."""
    count = 0
    found = fixes(stream, fit_library())
    while block := list(islice(found, ROWS)):
        index = pd.RangeIndex(count + 1, count + len(block) + 1, name="record")
        count += len(block)
        yield pd.DataFrame(block, columns=["latitude", "longitude", "tracked_at", "accuracy"], index=index, dtype=float)


def fixes(stream: IO[bytes], library: Any) -> Iterator[tuple[float | None, ...]]:
    """Latitude, longitude, unix seconds and accuracy in metres of every record that has a position."""
    options = {"check_crc": library.CrcCheck.RAISE, "error_handling": library.ErrorHandling.IGNORE}
    try:
        for frame in library.FitReader(stream, processor=None, **options):
            if frame.frame_type != library.FIT_FRAME_DATA or frame.global_mesg_num != RECORD:
                continue
            own = (field for field in frame.fields if not (field.field_def and field.field_def.is_dev))
            values = {field.def_num: field.raw_value for field in own if isinstance(field.raw_value, int)}
            if LATITUDE in values or LONGITUDE in values:
                sides = (values[side] * DEGREES if side in values else None for side in (LATITUDE, LONGITUDE))
                time = values.get(TIME, 0)
                yield *sides, time + EPOCH if time >= POWERED else None, values.get(ACCURACY)
    except library.FitCRCError:
        raise UnusableFileError("malformed FIT: its checksum is wrong") from None
    except library.FitEOFError:
        raise UnusableFileError("malformed FIT: it is cut short") from None
    except (library.FitError, *DAMAGE):
        raise UnusableFileError("malformed FIT: it is damaged") from None


def fit_library() -> Any:
    """The fitdecode package, if it is installed."""
    try:
        return import_module("fitdecode")
    except ImportError:
        raise MissingExtraError("FIT files need the fitdecode package: pip install 'hideseek[fit]'.") from None
