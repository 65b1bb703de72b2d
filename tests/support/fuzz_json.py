"""Hostile exports: bytes and values changed in every shape that the JSON readers know. Only typed errors may come.

python -m tests.support.fuzz_json timeline|records|semantic|owntracks|overland|geojson|all [seconds [cases]]
"""

from __future__ import annotations

import io
import json
import random
import sys
import time
from collections import Counter
from copy import deepcopy
from pathlib import Path

from hideseek.errors import UnusableFileError
from tests.support.json_exports import READERS, SHAPES

SLOW = 5.0  # seconds of a core for one small file: something grew out of proportion
NASTY = [
    *(None, True, False, 0, 1, -1, 90, 181, 2**31, 2**32 - 1, 2**53, 2**63, -(2**63), 10**40, 1e-320, 1e300, -0.0),
    *("", " ", "x", "0", "49", "nan", "inf", "-", "geo:", "geo:1,2", "1°, 2°", "1,2,3", "\0", "é" * 40, "9" * 400),
    *("2024-05-06T08:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", "1969-12-31", "now", "2024-02-30"),
    *([], {}, [[]], [{}], [None], [1, 2], ["a", "b"], [[1, 2], [3]], [[[1, 2]]], {"latLng": "1, 2"}, {"type": "Point"}),
    *({"_type": "location"}, {"": [1]}, [1e300, -1e300], list(range(99))),
]  # fmt: skip
BYTES = [
    *(b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc2", b"\r", b"\n", b"\t", b" " * 99, b'"', b"\\", b"\\ud800"),
    *(b"\\u0000", b"[", b"]", b"{", b"}", b",", b":", b"[" * 40, b"{}", b"[]", b"NaN", b"-Infinity", b"1e999", b"-"),
    *(b"9" * 30, b"null", b"true", b'"_type":"location",', b'"type":"Feature",', b"/*", b"\x1e", b'{"a":' * 9),
]  # fmt: skip


def changed(value: object, chance: random.Random) -> object:
    """A value inside which one thing is replaced, left out, doubled or renamed."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.08:
        return deepcopy(chance.choice(NASTY))
    at = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    way = chance.random()
    if way < 0.08:
        del value[at]
    elif way < 0.16 and isinstance(value, dict):
        value[chance.choice(["lat", "point", "time", "t", "uid", "type", "coordinates", ""])] = value.pop(at)
    elif way < 0.16:
        value.insert(at, deepcopy(value[at]))
    else:
        value[at] = changed(value[at], chance)
    return value


def mutated(text: str, chance: random.Random) -> bytes:
    """A shape with its values changed, or its bytes, or both."""
    if chance.random() < 0.6:
        documents = []
        for line in text.splitlines() if "}\n{" in text else [text]:
            try:
                document = json.loads(line)
            except ValueError:
                break
            for _ in range(chance.choice([0, 1, 1, 2, 5])):
                document = changed(document, chance)
            documents.append(json.dumps(document, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1])))
        text = "\n".join(documents) or text
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(chance.choice([0, 0, 1, 1, 3])):
        at, length = chance.randrange(len(data) + 1), chance.choice([0, 0, 1, 3, 30])
        data = data[:at] + chance.choice(BYTES) + data[at + length :]
    return data[: chance.randrange(len(data) + 1)] if chance.random() < 0.05 else data


def attempt(name: str, content: bytes) -> bool:
    """Whether a file is read; any error but UnusableFileError escapes, and so do slowness and what is no row."""
    start = time.process_time()
    reader, looks_like = READERS[name]
    assert looks_like(content[: 1 << 16]) in (True, False)
    try:
        for block in reader(io.BytesIO(content)):
            assert set(block) - {"user_id"} == {"latitude", "longitude", "tracked_at", "finished_at", "accuracy"}
            for column in ("latitude", "longitude", "accuracy"):
                assert all(cell is None or type(cell) is float for cell in block[column].tolist())
            for column in {"tracked_at", "finished_at", "user_id"} & set(block):
                assert all(cell is None or type(cell) in (str, int, float) for cell in block[column].tolist())
    except UnusableFileError:
        return False
    assert time.process_time() - start < SLOW, "a small file takes too long"
    return True


def fuzz(name: str, iterations: int, seed: int, seconds: float = float("inf")) -> Counter[str]:
    """Mutate so often; how many files were read and refused."""
    chance, end = random.Random(seed), time.monotonic() + seconds
    count = Counter[str]()
    for number in range(iterations):
        if time.monotonic() > end:
            break
        content = mutated(chance.choice(list(SHAPES[name].values())), chance)
        try:
            count["read" if attempt(name, content) else "refused"] += 1
        except BaseException:
            Path(f"crash-{seed}-{number}.{name}").write_bytes(content)
            raise
    return count


if __name__ == "__main__":
    chosen = list(READERS) if sys.argv[1] == "all" else [sys.argv[1]]
    duration = float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 10**9
    for kind in chosen:
        print(kind, dict(fuzz(kind, cases, time.time_ns(), duration)), flush=True)
