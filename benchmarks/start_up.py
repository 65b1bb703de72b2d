"""How much CPU it takes before anything is done: importing hideseek, its help, importing what a device runs."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from benchmarks.results import Facts

STARTS = {
    "start_import": ["-c", "import hideseek"],
    "start_help": ["-m", "hideseek", "--help"],
    "start_device": ["-c", "import hideseek.device.codebook_device"],
}


def start_up(case: str, runs: int) -> Facts:
    """The median CPU time of a process of its own, the interpreter included."""
    subprocess.run([sys.executable, *STARTS[case]], check=True, capture_output=True)  # compiles, and fills the cache
    return {"seconds": statistics.median(cpu_seconds(STARTS[case]) for _ in range(runs))}


def cpu_seconds(arguments: list[str]) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
