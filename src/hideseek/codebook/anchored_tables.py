"""Tables that were made for beliefs, the anchors, as playbooks and plans keep them in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from hideseek.codebook.weights import Table
from hideseek.errors import CodebookError
from hideseek.storage.documents import PLACE
from hideseek.storage.sealed_file import Sealed
from hideseek.util.arrays import FloatArray

ANCHOR_SHARES = 2**16 - 1  # beliefs of tables are kept as whole numbers that stand for shares of it
NUMBERS_OF_TABLES = 2**26  # states times releases times tables: 256 MiB in single precision


def as_kept(anchors: FloatArray) -> FloatArray:
    """Beliefs of tables, rounded as a file keeps them."""
    return np.asarray(np.rint(anchors * ANCHOR_SHARES) / ANCHOR_SHARES)


def tables_of_rows(places: int, rows: FloatArray) -> Table:
    """Tables [table and state, release] in whole weights."""
    return Table.from_distributions(places, np.arange(len(rows))[:, None], rows)


def anchored_tensors(anchors: FloatArray, tables: Table) -> dict[str, Any]:
    """What a file keeps of them."""
    tensors = {"anchors": np.rint(anchors * ANCHOR_SHARES).astype(np.uint16)}
    if len(anchors):
        tensors |= {f"tables.{name}": getattr(tables, name) for name in ("start", "releases", "weights")}
    return tensors


def anchored_from(file: Sealed[Any], places: int) -> tuple[FloatArray, Table]:
    """The anchors [table, state] and the tables in a file; the error of that kind of file refuses damaged ones."""
    anchors = file.take("anchors", "U16", ndim=2)
    if anchors.size * places > NUMBERS_OF_TABLES:
        raise file.error("Its tables are too many for a device.")
    if not len(anchors):
        return anchors / ANCHOR_SHARES, tables_of_rows(places, np.zeros((0, places)))
    try:
        tables = Table(
            places,
            codes=np.arange(anchors.size, dtype=np.uint64),
            start=file.take("tables.start", "U32"),
            releases=file.take("tables.releases", *PLACE),
            weights=file.take("tables.weights", "U32"),
        ).checked()
    except CodebookError as error:
        raise file.error(str(error)) from None
    return anchors / ANCHOR_SHARES, tables
