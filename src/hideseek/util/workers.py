"""How many processes share long work."""

from __future__ import annotations

from joblib import cpu_count  # which knows containers

from hideseek.util.checks import whole_number

MOST_WORKERS = 1024  # processes on one machine


def worker_count(workers: int | None, owner: str) -> int:
    """How many processes: by default one per core.

    >>> worker_count(2, "fleet")
    2
    """
    if workers is None:
        return int(cpu_count())
    return whole_number(workers, "workers", owner, most=MOST_WORKERS)
