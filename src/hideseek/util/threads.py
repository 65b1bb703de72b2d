"""One thread for products of matrices: ours are small. On two busy cores, two threads took ten times as long."""

from __future__ import annotations

import os

# read by numpy's libraries when they are loaded
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def use_one_thread() -> None:
    """Ask for it before numpy is loaded; whoever has asked for another number gets that."""
    os.environ.update(ONE_THREAD | os.environ)
