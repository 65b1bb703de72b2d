"""Hostile files: structural changes with a right checksum, and blind ones. Only their kind's error may come of them.

python -m tests.support.fuzz_sealed codebook|plan|playbook [seconds]: mutate until then; with atheris, by coverage
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import struct
import sys
import tempfile
import time
from contextlib import suppress
from copy import deepcopy
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np

from hideseek import (
    Codebook,
    HideseekError,
    MarkovProfile,
    Places,
    Playbook,
    Scenario,
    design,
    load_plan,
    make_playbook,
    metrics,
    save_plan,
    verify,
)
from hideseek.errors import BudgetError, CodebookError, PlanError, PlaybookError, SolverError
from hideseek.planning import BeliefGame, plan
from hideseek.planning.plan_file import content_of
from hideseek.planning.player import Player
from hideseek.storage.sealed_file import BLANK

SLOW = 10.0  # seconds of a core for one small file: something grew out of proportion
WIDTH = {"U16": 2, "U32": 4, "U64": 8, "F64": 8}
NASTY = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 2**16, 2**20, 2**31, 2**32, 2**63, -(2**63), 2**64, 10**40, 10**400),
    *(0.5, -0.5, 1e-320, 1e300, -1e300, 5e-324, float("nan"), float("inf"), -0.0),
    *("", "x", "regions", "0" * 64, "\ud800", "5H", "9" * 60, "é" * 40, "f" * 40, "\0"),
    *([], {}, [[]], [0], [0, 0], [1, 0], [-1], [-1, 0], [0, 1], [[0, 1.0]], [[[0, 1], 2.0]], [1e308, 1e308]),
    list(range(99)),
    {"type": "metric", "name": "hamming", "arguments": {}},
    {"type": "metric", "name": "described", "arguments": {}},
    {"type": "metric", "name": "squared", "arguments": {"metric": [1.0]}},
    {"type": "metric", "name": "distance", "arguments": {"regions": "regions"}},
    {"type": "metric", "name": "speed", "arguments": {"regions": "regions"}},
    {"type": "pairs", "pairs": [[10**9, 2.0]]},
    {"type": "pairs", "pairs": [[[0, 1], 2.0], [0, 1.0]]},
    {"type": "hexagons", "cells": ["8" * 30, "861f90007ffffff"]},
    dict(type="grid", south=0.0, north=1.0, west=0.0, east=1.0, rows=3000, columns=3000, kept=[0, 1]),  # noqa: C408
    {"type": "places", "latitudes": [0.0, 1e9], "longitudes": [0.0, 1.0], "names": []},
]  # fmt: skip


def taken_apart(content: bytes) -> tuple[dict, dict]:
    """A file's document, and its tensors as {name: [dtype, shape, bytes]}."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    document = json.loads(header.pop("__metadata__")["hideseek"])
    data = content[8 + length :]
    return document, {
        name: [one["dtype"], one["shape"], data[slice(*one["data_offsets"])]] for name, one in header.items()
    }


def same_but_for_rounding(content: bytes, other: bytes) -> bool:
    """Whether two files hold the same; what one machine computed may differ in the last digits from another's."""
    (document, tensors), (theirs, other_tensors) = taken_apart(content), taken_apart(other)
    return tensors == other_tensors and alike(document | {"sha256": ""}, theirs | {"sha256": ""})


def alike(one: object, other: object) -> bool:
    """Whether two documents are equal, numbers to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def written(value: object) -> str:
    """JSON as hideseek writes it, or, where it would not, as near as can be."""
    try:
        text = msgspec.json.encode(value).decode()
        if msgspec.json.decode(text) == value:
            return text
    except (UnicodeError, OverflowError):
        pass
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def put_together(document: dict, tensors: dict, change_header=lambda header: header) -> bytes:
    """The file of these parts with a right checksum, as good as it can be made."""
    header: dict = {"__metadata__": {"hideseek": written(document | {"sha256": BLANK} if document else document)}}
    data = b""
    for name, (dtype, shape, part) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = written(change_header(header)).encode("utf-8", "surrogatepass")
    text += b" " * (-len(text) % 8)
    return signed(struct.pack("<Q", len(text)) + text + data)


def signed(content: bytes) -> bytes:
    """A file whose checksum is blank, with its own."""
    return content.replace(BLANK.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def unsigned(content: bytes) -> bytes:
    """A file with its checksum blank."""
    return content.replace(taken_apart(content)[0]["sha256"].encode(), BLANK.encode(), 1)


REGIONS = Places([46.52, 46.53], [6.57, 6.58], names=("home", "work"))
HAMMING = metrics.hamming()


def profile() -> MarkovProfile:
    return MarkovProfile.from_matrix([[0.7, 0.3], [0.2, 0.8]], REGIONS)


@cache
def codebooks() -> list[bytes]:
    """Small codebooks of several scenarios and metrics."""
    far = metrics.sensitive(metrics.distance(REGIONS), {1: 5.0})
    made = [
        (Scenario.past_present(1), HAMMING, HAMMING, 0.1),
        (Scenario.sporadic(), far, metrics.squared(metrics.distance(REGIONS)), 1e5),
        (Scenario.present_future(), HAMMING, metrics.total(HAMMING, weights=[1.0, 2.0]), 0.3),
        (Scenario.in_between(2), metrics.total(HAMMING), metrics.from_matrix([[0.0, 1.0], [2.0, 0.0]]), 0.2),
    ]
    return [
        design(profile(), scenario, privacy=privacy, quality=quality, budget=budget, workers=1).content
        for scenario, privacy, quality, budget in made
    ] + [file.read_bytes() for file in sorted(Path(__file__).parents[1].joinpath("data", "gaps").iterdir())]


@cache
def plans() -> list[bytes]:
    """Small plans of every outlook, with several scenarios and metrics."""
    metres = metrics.distance(REGIONS)
    made = [
        ("far-sighted", Scenario.sporadic(), metres, metrics.squared(metres), 1e5),
        ("look-ahead", Scenario(target=(-1, 0)), metrics.total(HAMMING, weights=[1.0, 2.0]), HAMMING, 0.2),
        ("secondary", Scenario.in_between(2), metrics.total(HAMMING), metrics.from_matrix([[0.0, 1], [2, 0]]), 0.2),
        ("plain", Scenario(target=(0, 1), known=(0,)), HAMMING, metrics.sensitive(HAMMING, {1: 5.0}), 0.1),
    ]
    return [content_of(game, planner) for game, planner in planned(made)]


@cache
def playbooks() -> list[bytes]:
    """Small playbooks, with and without places that are looked back at."""
    metres = metrics.distance(REGIONS)
    made = [
        ("far-sighted", Scenario.sporadic(), metres, metrics.squared(metres), 1e5),
        ("look-ahead", Scenario(target=(-1, 0)), metrics.total(HAMMING, weights=[1.0, 2.0]), HAMMING, 0.2),
        ("plain", Scenario.in_between(2), metrics.total(HAMMING), metrics.from_matrix([[0.0, 1], [2, 0]]), 0.2),
    ]
    return [make_playbook(game, planner, kilobytes=4).content for game, planner in planned(made)]


def planned(made: list[tuple]) -> list[tuple]:
    """The game and the planner of each (outlook, scenario, privacy, quality, budget)."""
    games = [
        (BeliefGame.of(profile(), privacy=privacy, quality=quality, budget=budget, scenario=scenario), outlook)
        for outlook, scenario, privacy, quality, budget in made
    ]
    return [(game, plan(game, outlook=outlook, walks=1)) for game, outlook in games]


def spots(value: object) -> list[tuple]:
    """Every (container, key) in plain data."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [spot for key in keys for spot in [(value, key), *spots(value[key])]]


def change_document(document: dict, chance: random.Random) -> None:
    container, key = chance.choice(spots(document))
    match chance.randrange(6):
        case 0 if isinstance(container, dict):
            container[chance.choice(["extra", "regions", "metric", "weights", "type"])] = container.pop(key)
        case 1:
            del container[key]
        case 2 if isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        case 3 if isinstance(container[key], int | float) and abs(container[key]) < 1e300:
            container[key] += chance.choice([-1, 1, 1e-6, 1e9])
        case 4:
            other, there = chance.choice(spots(document))
            container[key] = deepcopy(other[there])
        case _:
            container[key] = deepcopy(chance.choice(NASTY))


def change_tensor(tensors: dict, chance: random.Random) -> None:
    name = chance.choice(list(tensors))
    one = tensors[name]
    match chance.randrange(8):
        case 0:
            one[0] = chance.choice([*WIDTH, "F32", "BOOL", 3])
        case 1:
            one[1] = chance.choice([[], [0], [2**31, 0], [2**31, 2**31], [1, *one[1]], [-1], [2**63], one[1][::-1]])
        case 2:
            del tensors[name]
        case 3:
            tensors[chance.choice(["99.histories", "extra", "__metadata__", "0.table.9.codes"])] = one
        case 4:
            other = chance.choice(list(tensors))
            tensors[name], tensors[other] = tensors[other], tensors[name]
        case 5 if one[1] and one[0] in WIDTH:
            size = WIDTH[one[0]] * min(one[1][-1] if len(one[1]) > 1 else 1, 1000)
            one[1][0] += 1
            one[2] += one[2][-size:] if chance.random() < 0.5 else chance.randbytes(size)
        case 6 if one[0] == "F64" and one[2] and len(one[2]) % 8 == 0:
            numbers = np.frombuffer(one[2]).copy()
            numbers[chance.randrange(len(numbers))] = chance.choice(
                [0.0, -0.0, 1.0, -1.0, 1e308, 1e-320, np.nan, np.inf, 0.5]
            )
            one[2] = numbers.tobytes()
        case _ if one[2]:
            part = bytearray(one[2])
            part[chance.randrange(len(part))] = chance.choice([0, 1, 2, 255, chance.randrange(256)])
            one[2] = bytes(part)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One hostile file."""
    if chance.random() < 0.15:
        raw = bytearray(content if chance.random() < 0.5 else unsigned(content))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(raw))
            match chance.randrange(4):
                case 0:
                    del raw[at:]
                case 1:
                    raw[at:at] = chance.randbytes(chance.randint(1, 9))
                case _:
                    raw[at] = chance.randrange(256)
            raw = raw or bytearray(b"{")
        return signed(bytes(raw))
    document, tensors = taken_apart(content)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if chance.random() < 0.6 and document:
            change_document(document, chance)
        elif tensors:
            change_tensor(tensors, chance)
    return put_together(document, tensors)


def attempt_codebook(file: Path) -> bool:
    """Load, use and write again; any error but CodebookError escapes."""
    try:
        codebook = Codebook.load(file)
    except CodebookError:
        return False
    assert Codebook.load(file).sha256 == codebook.sha256
    with suppress(CodebookError):
        verify(codebook)
    try:
        codebook.simulate(np.indices((2, 12))[0], lambda n: np.full(n, 2**32 - 1, np.uint32))
        again = codebook.content
    except HideseekError:
        return True
    file.write_bytes(again)
    Codebook.load(file)
    return True


def attempt_plan(file: Path) -> bool:
    """Load, play and write again; any error but PlanError escapes."""
    try:
        game, planner = load_plan(file)
    except PlanError:
        return False
    with suppress(SolverError):  # cuts may be as large as numbers are
        Player(game, planner).play(game.start)
    save_plan(game, planner, path=file)
    assert load_plan(file)[1].sha256 == planner.sha256
    return True


def attempt_playbook(file: Path) -> bool:
    """Load, play over gaps and write again; any error but PlaybookError escapes, and no budget is broken."""
    try:
        book = Playbook.load(file)
    except PlaybookError:
        return False
    belief = book.start
    for steps in (book.every, book.every + 5, book.every + 10**9):
        for columns in (None, [book.states.shape[1] - 1]):
            with suppress(BudgetError):  # without a place that the quality depends on
                found = book.play(belief, columns=columns)
                assert found.loss <= book.budget * (1 + 1e-9)
                assert 0 <= found.privacy < np.inf
        belief = book.later(book.learned(belief, found.by_state, release=int(found.weights[0].argmax())), steps=steps)
    assert book.ceiling_bound < np.inf
    book.save(file)
    assert Playbook.load(file).sha256 == book.sha256
    return True


KINDS = {
    "codebook": (codebooks, attempt_codebook),
    "plan": (plans, attempt_plan),
    "playbook": (playbooks, attempt_playbook),
}


def attempt(kind: str, content: bytes, file: Path) -> bool:
    """Whether a file is accepted; any error but that of its kind escapes, and so does slowness."""
    file.write_bytes(content)
    start = time.process_time()
    accepted = KINDS[kind][1](file)
    assert time.process_time() - start < SLOW, "a small file takes too long"
    return accepted


def fuzz(kind: str, iterations: int, seed: int, seconds: float = float("inf")) -> dict[str, int]:
    """Mutate so often; how many files were accepted and refused."""
    chance, end = random.Random(seed), time.monotonic() + seconds
    count = {"accepted": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(iterations):
            if time.monotonic() > end:
                break
            content = mutated(chance.choice(KINDS[kind][0]()), chance)
            try:
                accepted = attempt(kind, content, Path(folder) / f"fuzz.{kind}")
            except BaseException:
                Path(f"crash-{seed}-{number}.{kind}").write_bytes(content)
                raise
            count["accepted" if accepted else "refused"] += 1
    return count


def main() -> None:
    kind = sys.argv.pop(1)
    if find_spec("atheris"):
        atheris = import_module("atheris")
        folder = tempfile.TemporaryDirectory()
        file = Path(folder.name) / f"fuzz.{kind}"
        atheris.Setup(sys.argv, lambda data: attempt(kind, data, file))
        atheris.Fuzz()
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    print(fuzz(kind, 10**9, time.time_ns(), seconds))


if __name__ == "__main__":
    main()
