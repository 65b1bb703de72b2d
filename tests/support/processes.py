"""Several processes at one state."""

from __future__ import annotations

import json
import signal
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


KILL = """
import json, os, signal, sys, tempfile
from hideseek import Codebook, Device, Playbook, PlaybookDevice

kind, path, state = sys.argv[1], sys.argv[2], sys.argv[3]
rule = Codebook.load(path) if kind == "codebook" else Playbook.load(path)

def ask(minute, latitude):
    device = Device(rule, state) if kind == "codebook" else PlaybookDevice(rule, state=state)
    return device.expose(latitude, 6.5, at=f"2026-01-05T{8 + minute // 60:02}:{minute % 60:02}:00Z").place

def child(fatal, minute, pipe):
    calls = 0
    def deadly(function):
        def wrapped(*arguments, **options):
            nonlocal calls
            for moment in ("before", "after"):
                calls += 1
                if calls == fatal:
                    os.kill(os.getpid(), signal.SIGKILL)
                if moment == "before":
                    result = function(*arguments, **options)
            return result
        return wrapped
    tempfile.mkstemp, os.fdopen, os.fsync, os.replace = map(
        deadly, (tempfile.mkstemp, os.fdopen, os.fsync, os.replace)
    )
    os.write(pipe, b"%d" % ask(minute, 46.5))
    os._exit(0)

found = []
for fatal in range(1, 100):
    minute = 5 * fatal * fatal  # longer and longer gaps
    before = open(state, "rb").read() if os.path.exists(state) else None
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        child(fatal, minute, writer)
    os.close(writer)
    said = os.read(reader, 10).decode()
    os.close(reader)
    status = os.waitpid(pid, 0)[1]
    moved = (open(state, "rb").read() if os.path.exists(state) else None) != before
    again = [ask(minute, 46.1), ask(minute, 46.9)]
    found.append({"killed": os.WIFSIGNALED(status) and os.WTERMSIG(status), "said": said, "moved": moved,
                  "again": again})
    if not os.WIFSIGNALED(status):
        break
print(json.dumps(found))
"""


def assert_a_kill_changes_no_output(kind: str, folder: Path) -> None:
    """A device with the codebook or the playbook in ``rule``, killed at any moment of any call that writes."""
    (folder / "device").mkdir()
    asked = [sys.executable, "-c", KILL, kind, folder / "rule", folder / "device" / "state"]
    found = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    assert [case["killed"] for case in found] == [signal.SIGKILL] * 10 + [False]  # two moments in each of five calls
    assert [case["moved"] for case in found] == [False] * 7 + [True] * 4  # from the renaming on
    for case in found:
        assert case["again"][0] in range(3)
        assert case["again"] == [case["again"][0]] * 2
        assert case["said"] in ("", str(case["again"][0]))
    assert found[-1]["said"]
    assert [file.name for file in (folder / "device").iterdir()] == ["state"]
