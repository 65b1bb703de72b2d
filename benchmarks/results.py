"""What was measured, where and when: one JSON file, written after every case, so that a cut run keeps what it has."""

from __future__ import annotations

import os
import platform
from collections.abc import Container
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

Facts = dict[str, Any]
PACKAGES = ("hideseek", "highspy", "numpy", "scipy", "cvxpy", "clarabel", "qif", "torch")
LEAST = 100  # places from which on growth is measured: below, a solve is mostly fixed costs


class Row(msgspec.Struct, frozen=True):
    """One case at one size. Without ``seconds`` in its facts, ``limit`` says how many were not enough, or ``why``."""

    case: str
    size: int
    machine: str
    at: str
    load: float
    facts: Facts

    @property
    def seconds(self) -> float | None:
        """How long it took, if it was finished."""
        return self.facts.get("seconds")


class Growth(msgspec.Struct, frozen=True):
    """Time grows by this power of the places, fitted from the first size to the last."""

    exponent: float
    first: int
    last: int


class Results(msgspec.Struct):
    """All rows, the machines by their names, and how the time of each solver grows."""

    machines: dict[str, dict[str, str]] = {}
    rows: list[Row] = []
    growth: dict[str, Growth] = {}

    def row(self, case: str, size: int) -> Row | None:
        """The row of a case at this size."""
        return next((row for row in self.rows if (row.case, row.size) == (case, size)), None)

    def of(self, case: str) -> list[Row]:
        """The finished rows of a case, by size."""
        return sorted((row for row in self.rows if row.case == case and row.seconds is not None), key=lambda r: r.size)

    def put(self, row: Row) -> None:
        """Take a row in, in place of an older one of the same case and size."""
        self.rows = [old for old in self.rows if (old.case, old.size) != (row.case, row.size)] + [row]

    def forget(self, cases: Container[str]) -> None:
        """Leave out what was measured of these cases, so that a new run is not mixed with an old one."""
        self.rows = [row for row in self.rows if row.case not in cases]

    def save(self, path: Path) -> None:
        """Write all, whole or not at all."""
        cases = dict.fromkeys(row.case for row in self.rows)
        fitted = {case: growth_of({row.size: row.facts["seconds"] for row in self.of(case)}) for case in cases}
        self.growth = {case: growth for case, growth in fitted.items() if growth is not None}
        path.parent.mkdir(exist_ok=True)
        draft = path.with_suffix(".draft")
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")
        draft.replace(path)


def load(path: Path) -> Results:
    """What was measured before, if anything."""
    return msgspec.json.decode(path.read_bytes(), type=Results) if path.exists() else Results()


def growth_of(seconds: dict[int, float], least: int = LEAST) -> Growth | None:
    """The exponent b of seconds = a places^b, by least squares on the logarithms; None for fewer than two sizes.

    >>> growth_of({100: 2.0, 200: 16.0, 400: 128.0})
    Growth(exponent=3.0, first=100, last=400)
    """
    sizes = sorted(size for size in seconds if size >= least)
    if len(sizes) < 2:
        return None
    slope = np.polyfit(np.log(sizes), np.log([seconds[size] for size in sizes]), 1)[0]
    return Growth(round(float(slope), 6), sizes[0], sizes[-1])


def this_machine() -> tuple[str, dict[str, str]]:
    """A name for this machine, and what a reader needs to know of it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    name = f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB"
    facts = {"system": f"{platform.system()} {platform.machine()}", "python": platform.python_version()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return name, facts


def processor() -> str:
    """The model of the processor, where the system tells."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def now_with(case: str, size: int, facts: Facts, load: float) -> Row:
    """A row of this machine and this moment."""
    return Row(case, size, this_machine()[0], datetime.now(UTC).isoformat(timespec="seconds"), round(load, 2), facts)
