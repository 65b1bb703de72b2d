"""A small city, a job for all who live there, and what it gives."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Future
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from hideseek import synthetic_city
from hideseek.fleet import Job
from hideseek.fleet.job import protect

CITY = synthetic_city(people=4, days=1, seed=2)
JOB = Job(grid=(1, 2), privacy=("hamming",), memory=1)  # codebooks are made fastest
WORDS = ("--grid", "1x2", "--privacy", "hamming", "--memory", "1")  # the same for the command line


def without_times(folder) -> bytes:
    """A table as bytes, less what the clock said."""
    with pa.BufferOutputStream() as sink:
        parquet.write_table(parquet.read_table(Path(folder, "labels.parquet")).drop_columns("seconds"), sink)
        return sink.getvalue().to_pybytes()


def assert_same(one, other):
    assert without_times(one) == without_times(other)
    books = [{path.relative_to(root): path.read_bytes() for path in root.rglob("*.hideseek")} for root in (one, other)]
    assert books[0] == books[1]
    assert books[0]


def labels_of(folder) -> pd.DataFrame:
    return pd.read_parquet(Path(folder, "labels.parquet")).set_index("user")


def dies_once(user, traces, job):
    """A task that kills its worker the first time it is tried."""
    mark = Path(os.environ["DIED"], user)
    if user == "person-001" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return protect(user, traces, job)


def dies_always(user, traces, job):
    """A task that kills every worker that tries it."""
    if user == "person-001":
        with Path(os.environ["DIED"], user).open("a") as mark:
            mark.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return protect(user, traces, job)


class Slow:
    """An engine that finishes its calls one at a time, when it is waited for."""

    def __init__(self):
        self.most = self.open = 0

    def workers(self):
        return 3

    def submit(self, function, *task):
        self.open += 1
        self.most = max(self.most, self.open)
        future = Future()
        future.set_result(function(*task))
        return future

    def again(self, error, function, *task):
        raise error
