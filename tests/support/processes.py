"""Several processes at one state."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path


def assert_all_expose_the_same(program: str, arguments: Sequence[Sequence[object]], times: Iterable[datetime]) -> None:
    """Programs that answer every line, a time, by one are asked together, and answer the same."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, *map(str, own)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=Path(__file__).parents[2],
        )
        for own in arguments
    ]
    try:
        for time in times:
            for process in started:
                process.stdin.write(f"{time.isoformat()}\n")
            first, *others = (process.stdout.readline() for process in started)
            assert first.startswith("exposed ")
            assert others == [first] * len(others)
    finally:
        for process in started:
            process.communicate()
    assert not any(process.returncode for process in started)
