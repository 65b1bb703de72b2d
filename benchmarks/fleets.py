"""What it costs to protect many: a fleet with one worker and with two, and one person's design, part by part."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import highspy
import numpy as np
import pandas as pd

from benchmarks.clock import clock, clocked, largest_child
from benchmarks.games import walker
from benchmarks.results import Facts
from hideseek import MarkovProfile, evaluate, synthetic_city
from hideseek.codebook.codebook import codebook_from
from hideseek.fleet.job import Job, designed
from hideseek.fleet.run import run_fleet
from hideseek.metrics import distance, squared
from hideseek.model.profile import regions_of
from hideseek.traces.city import BOX
from hideseek.traces.user_store import ROW, spooled
from hideseek.util.private_files import write_privately

DAYS = 7
CITY = Job(grid=(8, 8), box=BOX, memory=1, privacy=("hamming", "euclid"), budgets=("20%", "50%"))
CABS = Job(grid=(2, 6), memory=1, privacy=("hamming", "euclid"), budgets=("10%", "20%", "30%", "40%", "50%"))


def city_fleet(people: int) -> Facts:
    """Inhabitants of the synthetic city, one file each."""
    with TemporaryDirectory() as folder:
        for user, traces in synthetic_city(people, days=DAYS).groupby("user_id"):
            traces.to_csv(Path(folder) / f"{user}.csv", index=False)
        return protected(folder, CITY)


def real_fleet(_: int, data: str, *box: str) -> Facts:
    """All users of a folder of traces, in a box of (south, north, west, east) or around each user's own fixes."""
    if box:
        south, north, west, east = map(float, box)
        return protected(data, replace(CABS, box=(south, north, west, east)))
    return protected(data, CABS)


def protected(data: str, job: Job) -> Facts:
    """The fleet with one worker and with two; its costs are those of the first run."""
    walls, tables, drivers, memory = [], [], [], [0.0]

    def look(*_: object) -> None:
        memory.append(largest_child())

    with TemporaryDirectory() as folder:
        busy = time.process_time()
        with spooled(data):
            reading = time.process_time() - busy
        for workers in (1, 2):
            busy = time.process_time()
            seconds, found = clock(
                partial(run_fleet, data, Path(folder) / str(workers), job=job, workers=workers, progress=look)
            )
            drivers.append(time.process_time() - busy)
            walls.append(seconds)
            tables.append(pd.read_parquet(found.labels))
        marks = [path.stat().st_size for path in (Path(folder) / "1" / "done").iterdir()]
        labels = Path(found.labels).stat().st_size
    rows = tables[0][tables[0]["reason"].isna()]
    users = rows.groupby("user").agg({"seconds": "sum", "places": "first", "bytes": "sum"})
    design = rows.groupby("privacy_metric")["seconds"].mean()
    return {
        "seconds": walls[0],
        "two": walls[1],
        "users": len(users),
        "unusable": found.unusable,
        "designs": len(job.designs),
        "user": float(users["seconds"].mean()),
        "spread": float(users["seconds"].std()) if len(users) > 1 else 0.0,
        "least": float(users["seconds"].min()),
        "most": float(users["seconds"].max()),
        "hamming": float(design["hamming"]),
        "euclid": float(design["euclid"]),
        "places": float(users["places"].mean()),
        "codebook": float(rows["bytes"].mean()),
        "label": labels / len(rows),
        "row": ROW.itemsize,
        "mark": float(np.mean(marks)),
        "worker": max(memory),
        "driver": drivers[1] / found.users,
        "reading": reading / found.users,
        "fixes": float(tables[0].groupby("user")["fixes"].first().mean()),
        "gap": float(rows["optimality_gap"].max()),
    }


def person(places: int, memory: int = 1) -> Facts:
    """One design (Euclid, 20 % of saturation), part by part; and how much of it is HiGHS."""
    traces = synthetic_city(1, days=DAYS)
    profile = walker(places)
    metric = distance(regions_of(profile))
    with clocked(highspy.Highs, "run") as solver, TemporaryDirectory() as folder:
        design, content = clock(lambda: designed(profile, memory, metric, squared(metric), "20%"))
        verify, codebook = clock(lambda: codebook_from(memoryview(content)))
        write, _ = clock(lambda: write_privately(Path(folder) / "book", content))
    judge, _ = clock(lambda: evaluate(codebook, profile))
    learn, _ = clock(lambda: MarkovProfile.fit(traces, CITY.choice.regions(traces), step=CITY.step))
    parts = {"learn": learn, "design": design, "verify": verify, "evaluate": judge, "write": write}
    return {"seconds": sum(parts.values()), **parts, "highs": sum(solver), "bytes": len(content)}
