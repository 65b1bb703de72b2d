"""Seconds and megabytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np

Result = TypeVar("Result")


def clock(work: Callable[[], Result]) -> tuple[float, Result]:
    """How long something takes, and its result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def timed(work: Callable[[], object], repeats: int) -> float:
    """The median of some runs, in seconds."""
    return float(np.median([clock(work)[0] for _ in range(repeats)]))


@contextmanager
def clocked(owner: type, name: str) -> Iterator[list[float]]:
    """The times of all calls of a method."""
    times: list[float] = []
    original = getattr(owner, name)

    def call(*arguments: object) -> object:
        seconds, result = clock(lambda: original(*arguments))
        times.append(seconds)
        return result

    with patch.object(owner, name, call):
        yield times


def megabytes(process: str = "self") -> float:
    """The most memory that a process has had, its libraries included; 0 once it is gone.

    Not ``ru_maxrss``: that starts with what the process had which started this one.
    """
    try:
        about = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return float(about.partition("VmHWM:")[2].split()[0]) / 1024 if "VmHWM:" in about else 0.0


def largest_child() -> float:
    """The most memory that one of the processes has had which this one started and which still run."""
    lists = Path("/proc/self/task").glob("*/children")
    return max((megabytes(child) for children in lists for child in children.read_text().split()), default=0.0)
