"""Inputs that ask for far more than they are: refused, or read, within bounds of memory and of the processor's time.

Those of a kind go off in a process of their own, whose address space is limited. It takes this machine for a small
one, so that the same is refused everywhere.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import time
import warnings
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from hideseek import (
    Grid,
    HideseekError,
    MarkovProfile,
    Mechanism,
    Places,
    Planner,
    Scenario,
    design,
    evaluate,
    load_profile,
    plan,
    read_traces,
    synthetic_city,
    trade_off,
)
from hideseek.adversary import attack
from hideseek.cli.people import places_from
from hideseek.errors import SizeError
from hideseek.experiments import compare, study
from hideseek.experiments.user_days import CITY
from hideseek.game.game import Game
from hideseek.game.linear_rows import LinearRows
from hideseek.metrics import from_matrix, hamming, sensitive
from hideseek.model import distances, possible_trajectories
from hideseek.planning import BeliefGame, follow
from hideseek.solvers.curve import Curve
from hideseek.storage.profile_file import is_profile
from hideseek.traces.city import city_people

if TYPE_CHECKING:
    from collections.abc import Callable

ROOM = 3 * 2**28  # bytes of address space beside what the imports take
MEMORY = 2**30  # bytes that the machine seems to have: half of that is what anything may ask for
SECONDS = 20  # of the processor for one bomb; each takes about one
FUSE = 600  # seconds until a process that waits for ever is ended

ROWS = "user_id,tracked_at,latitude,longitude\na,2020-01-01,1,2\n"
POINTS = "user_id,tracked_at,geometry\na,2020-01-01,POINT (2 1)\na,2020-01-01,"
GPX = '<gpx version="1.1"><wpt lat="1" lon="2"><time>2020-01-01T10:00:00Z</time></wpt>{}</gpx>'
HAMMING = 1 - np.eye(2)
CHAIN = MarkovProfile.from_matrix([[0.9, 0.1], [0.2, 0.8]])
PROFILE = {
    "hideseek_profile": 1,
    "step": "5min",
    "regions": {"type": "places", "latitudes": [1.0, 2.0], "longitudes": [3.0, 4.0], "names": []},
    "states": [[0], [1]],
    "transitions": [[0, 1, 1.0], [1, 0, 1.0]],
}


def traces(folder: Path, text: str | bytes) -> int:
    """How many rows a file of traces gives."""
    path = folder / "new_traces"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return len(read_traces(path))


def large_file(folder: Path) -> object:
    """What is read from a file that is longer than what it takes on the disk."""
    path = folder / "large"
    path.write_text(ROWS.ljust(2**17, "\n"))
    os.truncate(path, 10**12)
    return read_traces(path)


def packed(text: str, kind: bytes = tarfile.REGTYPE) -> bytes:
    """A tar archive with one member."""
    content, header = io.BytesIO(), tarfile.TarInfo("x.csv")
    header.type, header.size = kind, len(text)
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(header, io.BytesIO(text.encode()))
    return content.getvalue()


def extended(*extensions: tuple[bytes, bytes]) -> bytes:
    """A tar archive with extended headers of these types and contents, each before a hidden file, then a file."""
    return b"".join(
        header(kind, len(said)) + said.ljust(-(-len(said) // 512) * 512, b"\0") + header(tarfile.REGTYPE, 0)
        for kind, said in extensions
    ) + packed(ROWS)


def header(kind: bytes, size: int) -> bytes:
    """That of a hidden file."""
    found = tarfile.TarInfo(".hidden")
    found.type, found.size = kind, size
    return found.tobuf(tarfile.USTAR_FORMAT)


def records(first: int, count: int) -> bytes:
    """Empty records of an extended header, each of another name."""
    return b"".join(b"13 %08d=\n" % k for k in range(first, first + count))


def sparse_archive(folder: Path) -> int:
    """A file of a gibibyte less one, of which the archive holds the first 2**17 bytes and the rest is a hole."""
    header, data = tarfile.TarInfo("x.csv"), ROWS.ljust(2**17, "\n").encode()
    header.type, header.size = tarfile.GNUTYPE_SPARSE, len(data)
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[386:398], block[398:410] = b"%011o\0" % 0, b"%011o\0" % len(data)  # where the only part stands, and its size
    block[483:495] = b"%011o\0" % (2**30 - 1)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return traces(folder, bytes(block) + data + bytes(1024))


def profile(folder: Path, text: str) -> object:
    """What is loaded from a profile of this text."""
    path = folder / "profile.json"
    path.write_text(text)
    return load_profile(path)


def changed(folder: Path, **fields: object) -> object:
    """What is loaded from a profile in which some fields are others."""
    return profile(folder, json.dumps(PROFILE | fields))


def said_twice(folder: Path, field: str) -> object:
    """What is loaded from a profile in which a field stands twice."""
    return profile(folder, re.sub(rf'"{field}": (\[.*?\]|"\w*"|\d)', r"\g<0>,\n \g<0>", json.dumps(PROFILE), count=1))


def many_states(folder: Path, count: int) -> object:
    """What is loaded from a profile of so many places in a circle."""
    regions = {"type": "places", "latitudes": [k * 1e-4 for k in range(count)], "longitudes": [0] * count, "names": []}
    moves = [[k, (k + 1) % count, 1] for k in range(count)]
    return changed(folder, regions=regions, states=[[k] for k in range(count)], transitions=moves)


def pipe(folder: Path) -> object:
    """What is loaded from a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe")
    assert not is_profile(folder / "pipe")
    return load_profile(folder / "pipe")


def endless(folder: Path) -> object:
    """What is loaded from a link to a device that never ends."""
    (folder / "endless.json").symlink_to("/dev/zero")
    return load_profile(folder / "endless.json")


def places(folder: Path, name: str, content: bytes) -> object:
    """What the command line makes of a file of places."""
    path = folder / name
    path.write_bytes(content)
    return len(places_from(path))


def endless_places(folder: Path) -> object:
    """Places from a link to a device that never ends."""
    (folder / "endless.csv").symlink_to("/dev/zero")
    return places_from(folder / "endless.csv")


def piped_places(folder: Path) -> object:
    """Places from a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe.csv")
    return places_from(folder / "pipe.csv")


def constant(*shape: int) -> np.ndarray:
    """An array of any size that takes the memory of one number."""
    return np.broadcast_to(np.float64(0.5), shape)


def curve() -> Curve:
    """That of a small game."""
    return trade_off(Game.from_prior([0.5, 0.5], privacy=HAMMING, quality=HAMMING, budget=0.1), budgets=[0.1, 0.2])


def codebook() -> object:
    """A small one."""
    return designed(Scenario.past_present(1))


def designed(scenario: Scenario) -> object:
    """The small codebook of a scenario."""
    return design(CHAIN, scenario, privacy=HAMMING, quality=HAMMING, budget=0.1, workers=1)


def planned(**asked: object) -> Planner:
    """A small planner."""
    return plan(CHAIN, privacy=HAMMING, quality=HAMMING, budget=0.1, **({"walks": 2} | asked))


def followed(steps: int) -> object:
    """What a small planner reaches in so many steps."""
    return follow(BeliefGame.of(CHAIN, privacy=HAMMING, quality=HAMMING, budget=0.1), planned(), accesses=steps)


def long_study() -> object:
    """That of one person at many budgets in many steps."""
    traces, budgets = synthetic_city(people=4, days=7), np.linspace(0.1, 1, 2000)
    return study(traces, CITY, users=1, accesses=10**6, budgets=budgets, workers=1)


NEEDS = r"would need about \d[\d.e+]* GiB"
TAKES = r"would take about \d[\d.e+]* days or more; 7 are allowed\. \w+"
Bombs = dict[str, tuple[str, "Callable[[Path], object]"]]  # by name: what comes of it


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A zip archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


def overlapping(names: int) -> bytes:
    """A zip archive whose list of files has the one that is there many times."""
    once = zipped({"x.csv": ROWS + "," * 2**20})
    at = once.index(b"PK\x01\x02")
    listing, end = once[at:-22] * names, bytearray(once[-22:])
    end[8:10] = end[10:12] = names.to_bytes(2, "little")
    end[12:16] = len(listing).to_bytes(4, "little")
    return once[:at] + listing + bytes(end)


def many_files() -> bytes:
    """A small archive of nothing but files of one row."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=9) as archive:
        for number in range(5000):
            about = tarfile.TarInfo(f"{number}.csv")
            about.size = len(ROWS)
            archive.addfile(about, io.BytesIO(ROWS.encode()))
    return content.getvalue()


TRACES: Bombs = {  # what is read has one good row
    "two million short lines": ("^1$", lambda at: traces(at, ROWS + ",\n" * 2_000_000)),
    "many empty rows": ("^1$", lambda at: traces(at, ROWS + ",,,\n" * 500_000)),
    "short lines under a quote": ("^1$", lambda at: traces(at, ROWS + '"\n' + ",\n" * 300_000)),
    "short lines and quotes": ("^1$", lambda at: traces(at, ROWS + '""\n' + ",\n" * 300_000)),
    "short lines, packed": (
        "unpacks to more than 16777216 bytes",
        lambda at: traces(at, gzip.compress(packed(ROWS + ",\n" * 10_000_000))),
    ),
    "nothing, packed": ("not recognised", lambda at: traces(at, gzip.compress(bytes(2**26)))),
    "short lines, packed alone": (
        "unpacks to more than 16777216 bytes",
        lambda at: traces(at, gzip.compress((ROWS + ",\n" * 10_000_000).encode())),
    ),
    "short lines in a zip": (
        "unpacks to more than 16777216 bytes",
        lambda at: traces(at, zipped({"x.csv": ROWS + ",\n" * 10_000_000})),
    ),
    "short lines, packed twice": (
        "unpacks to more than",
        lambda at: traces(at, zipped({"x.csv.gz": gzip.compress((ROWS + ",\n" * 10_000_000).encode())})),
    ),
    "the same bytes under many names in a zip": (
        "unpacks to more than|cannot be read",
        lambda at: traces(at, overlapping(200)),
    ),
    "nothing after an archive": (
        "unpacks to more than",
        lambda at: traces(at, gzip.compress(packed(ROWS) + bytes(2**26))),
    ),
    "many small files": (r"holds more than \d+ files", lambda at: traces(at, many_files())),
    "an archive with holes": ("stored with holes", sparse_archive),
    "a long extended header": (
        "claims 1000000 bytes; at most 8192",
        lambda at: traces(at, packed("1" * 1_000_000, tarfile.XHDTYPE)),
    ),
    "a commit in an archive, as git writes it": (
        "^1$",
        lambda at: traces(at, extended((tarfile.XGLTYPE, b"52 comment=" + b"a" * 40 + b"\n"))),
    ),
    "names in extended headers": ("^1$", lambda at: traces(at, extended(*[(tarfile.XHDTYPE, b"9 path=.\n")] * 2000))),
    "records for all members": (
        "extended headers say more",
        lambda at: traces(
            at,
            gzip.compress(
                extended(
                    *((kind, records(600 * k, 600)) for k in range(600) for kind in (tarfile.XGLTYPE, tarfile.XHDTYPE))
                )
            ),
        ),
    ),
    "many extended headers": (
        "extended headers say more",
        lambda at: traces(at, extended(*[(tarfile.XHDTYPE, b"1" * 8192)] * 2000)),
    ),
    "a large file": (f"reading its 1000000000000 bytes {NEEDS}", large_file),
    "many columns": ("200004 columns", lambda at: traces(at, f"t,x,y,{',' * 200_000}\n" + "1\n" * 2000)),
    "a line of separators": ("^1$", lambda at: traces(at, ROWS + "," * 10_000_000)),
    "blanks after POINT": ("^1$", lambda at: traces(at, f"{POINTS}POINT{' ' * 200_000}\n")),
    "blanks in POINT": ("^1$", lambda at: traces(at, f"{POINTS}POINT (1{' ' * 200_000}2 3\n")),
    "a POINT left open": ("^1$", lambda at: traces(at, f"{POINTS}POINT (1 {'2' * 200_000}\n")),
    "a long attribute": (
        "malformed GPX: more than 1048576 bytes without an end from line 1 on",
        lambda at: traces(at, GPX.format(f'<x y="{"z" * 20_000_000}"/>')),
    ),
    "a long comment": ("without an end", lambda at: traces(at, GPX.format(f"<!--{'z' * 20_000_000}-->"))),
    "a long text": ("^1$", lambda at: traces(at, GPX.format(f"<x>{'z' * 20_000_000}</x>"))),
    "many names of spaces": (
        "^1$",
        lambda at: traces(at, GPX.format("".join(f'<x xmlns:n{k}="{k}"/>' for k in range(50_000)))),
    ),
    "the word for a name space": ("^1$", lambda at: traces(at, GPX.format(f"<x>{' xmlns' * 200_000}</x>"))),
}
PROFILES: Bombs = {
    "a pipe": ("not a plain file", pipe),
    "an endless file": ("not a plain file", endless),
    "300,000 states": (NEEDS, lambda at: many_states(at, 300_000)),
    "a huge state": ("not a profile", lambda at: changed(at, states=[[10**30], [1]])),
    "a huge origin": ("not a profile", lambda at: changed(at, transitions=[[10**30, 0, 1.0]])),
    "a huge destination": ("not a profile", lambda at: changed(at, transitions=[[0, 10**30, 1.0]])),
    "a huge hexagon": ("not a profile", lambda at: changed(at, regions={"type": "hexagons", "cells": ["8" * 10**5]})),
    "the step twice": ("names a field twice", lambda at: said_twice(at, "step")),
    "the version twice": ("names a field twice", lambda at: said_twice(at, "hideseek_profile")),
    "latitudes twice": ("names a field twice", lambda at: said_twice(at, "latitudes")),
    "a long step": ("^.{1,300}$", lambda at: changed(at, step="x" * 10**7)),
    "a deep list": ("not a profile", lambda at: profile(at, "[" * 10**6)),
}
POINT = b"latitude,longitude\n1,2\n"
PLACES: Bombs = {
    "a good file": ("^1$", lambda at: places(at, "p.csv", POINT)),
    "a packed file": ("a CSV file", lambda at: places(at, "p.csv.gz", gzip.compress(POINT + b"1,2\n" * 2**20))),
    "a large file": ("at most 4194304 are read", lambda at: places(at, "p.csv", POINT + b"1,2\n" * 2**21)),
    "many columns": ("a CSV file", lambda at: places(at, "p.csv", b"," * 2**20)),
    "a pipe": ("not a plain file", piped_places),
    "an endless file": ("not a plain file", endless_places),
    **{
        f"garbage in a {kind} file": (
            "a CSV file",
            lambda at, kind=kind: places(at, f"p.{kind}", b"\xff\xfe\x00x" * 99),
        )
        for kind in ("xz", "zip", "tar", "zst", "bz2", "csv")
    },
}
PARAMETERS: Bombs = {
    "a fine grid": (NEEDS, lambda _: Grid(0, 1, 0, 1, rows=4000, columns=4000)),
    "a grid that fits": ("^7840000$", lambda _: len(Grid(0, 1, 0, 1, rows=2800, columns=2800))),
    "distances": (NEEDS, lambda _: distances(Places(np.arange(50_000) / 1000, np.zeros(50_000)))),
    "a chain": (NEEDS, lambda _: MarkovProfile.from_matrix(constant(10**6, 10**6))),
    "a chain whose matrix fits": (NEEDS, lambda _: MarkovProfile.from_matrix(np.full((3000, 3000), 1 / 3000))),
    "a metric": (NEEDS, lambda _: from_matrix(constant(10**6, 10**6))),
    "a budget of a curve": (NEEDS, lambda _: curve().lower(constant(10**12))),
    "many budgets of a curve": (NEEDS, lambda _: curve().upper(constant(10**6, 10**6))),
    "places": (NEEDS, lambda _: Places(constant(10**12), constant(10**12))),
    "whole numbers": (NEEDS, lambda _: Mechanism(np.eye(2), inputs=np.broadcast_to(1, (10**12, 1)))),
    "masses": (NEEDS, lambda _: Game(HAMMING, HAMMING, budget=1, mass=np.broadcast_to(1, 10**12))),
    "linear rows": (NEEDS, lambda _: LinearRows.for_each_release(constant(10**6, 10**6), releases=2)),
    "a prior": (NEEDS, lambda _: Game.from_prior(constant(10**12), privacy=HAMMING, quality=HAMMING, budget=0.1)),
    "a mechanism": (NEEDS, lambda _: Mechanism(constant(10**6, 10**6))),
    "a distant place": ("^1$", lambda _: sensitive(hamming(), {10**12: 2}).between(*np.ones((3, 1, 1), int)).size),
    "long walks": (NEEDS, lambda _: CHAIN.sample(10**12)),
    "many walks": (NEEDS, lambda _: CHAIN.sample(1, count=10**12)),
    "a long run": (NEEDS, lambda _: evaluate(codebook(), CHAIN, accesses=10**9)),
    "a long attack": (
        NEEDS,
        lambda _: attack(Mechanism(np.eye(2)), CHAIN, adversary="filter", privacy=HAMMING, accesses=10**9),
    ),
    "many walks of an attack": (
        NEEDS,
        lambda _: attack(Mechanism(np.eye(2)), CHAIN, adversary="filter", privacy=HAMMING, walks=10**9),
    ),
    "a long comparison": (
        NEEDS,
        lambda _: compare(CHAIN, privacy=HAMMING, quality=HAMMING, budget=0.1, accesses=10**9),
    ),
    "many first steps": (
        NEEDS,
        lambda _: design(
            CHAIN, Scenario.past_present(1), privacy=HAMMING, quality=HAMMING, budget=0.1, first_stages=10**6
        ),
    ),
    "many steps": (NEEDS, lambda _: followed(10**9)),
    "many people": (NEEDS, lambda _: synthetic_city(people=10**9)),
    "many neighbours": (NEEDS, lambda _: city_people(people=10**9)),
    "many days": (NEEDS, lambda _: synthetic_city(days=10**9)),
    "a long memory": (NEEDS, lambda _: Scenario.past_present(10**9)),
    "a long way between": (NEEDS, lambda _: Scenario.in_between(10**9)),
    **{
        f"a design for {name}": (f"A design for about .* {NEEDS}", lambda _, own=scenario: designed(own))
        for name, scenario in {
            "a memory of 40": Scenario.past_present(40),
            "a memory of 10,000": Scenario.past_present(10_000),
            "a way of 40": Scenario.past_present(40, protect="way"),
            "40 known places": Scenario(target=(0,), known=tuple(range(-40, 1))),
            "40 releases": Scenario(target=(0,), release=tuple(range(40)), known=(0,)),
            "40 places between": Scenario.in_between(40),
        }.items()
    },
    "a design of rare accesses": (TAKES, lambda _: designed(Scenario(target=(0,), every=10**12))),
    "a plan of rare accesses": (TAKES, lambda _: planned(scenario=Scenario(target=(0,), every=10**12))),
    "a plan of ways between": (NEEDS, lambda _: planned(scenario=Scenario.in_between(1000))),
    "a distant past": (TAKES, lambda _: possible_trajectories(CHAIN, (-(10**12), 0))),
    "many walks of training, which ends when it learns nothing": ("^Planner", lambda _: planned(walks=10**12)),
    "long runs on many walks": (TAKES, lambda _: evaluate(codebook(), CHAIN, accesses=10**5, walks=5 * 10**6)),
    "a long attack on many walks": (
        TAKES,
        lambda _: attack(
            Mechanism(np.eye(2)), CHAIN, adversary="filter", privacy=HAMMING, accesses=10**5, walks=5 * 10**6
        ),
    ),
    "a long comparison on many walks": (
        TAKES,
        lambda _: compare(CHAIN, privacy=HAMMING, quality=HAMMING, budget=0.1, accesses=10**5, walks=5 * 10**6),
    ),
    "a long study": (TAKES, lambda _: long_study()),
    "many budgets": (
        NEEDS,
        lambda _: trade_off(
            Game.from_prior([0.5, 0.5], privacy=HAMMING, quality=HAMMING, budget=0.1), budgets=np.linspace(0, 1, 10**5)
        ),
    ),
}
BOMBS = {"traces": TRACES, "profiles": PROFILES, "places": PLACES, "parameters": PARAMETERS}


def go_off(bombs: Bombs, folder: Path) -> None:
    """Let bombs go off under the limits, and say of each what came of it, and the processor's time."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS * 10, SECONDS * 10))
    os.sysconf = {"SC_PAGE_SIZE": 1, "SC_PHYS_PAGES": MEMORY}.__getitem__
    for name, (_, bomb) in bombs.items():
        begin = time.process_time()
        try:
            said = str(bomb(folder))
        except HideseekError as error:
            said = str(error)
            if isinstance(error, SizeError) and not all((error.parameter, error.rule, error.value, error.hint)):
                said = f"a SizeError with an empty field: {said}"
        except Exception as error:  # noqa: BLE001
            said = f"unexpected {type(error).__name__}: {error}"
        sys.stdout.write(json.dumps([name, said, time.process_time() - begin]) + "\n")
        sys.stdout.flush()


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
@pytest.mark.parametrize("kind", BOMBS)
def test_what_asks_for_far_more_than_it_is_stays_within_bounds(tmp_path, kind):
    command = [sys.executable, "-m", "tests.util.test_limits", kind, str(tmp_path)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, timeout=FUSE, check=False, text=True)
    found = {name: (said, seconds) for name, said, seconds in map(json.loads, ended.stdout.splitlines())}
    unlike = {
        name: found.get(name, "the process ended at this one, or before")
        for name, (wanted, _) in BOMBS[kind].items()
        if name not in found or not re.search(wanted, found[name][0]) or found[name][1] > SECONDS
    }
    assert not unlike


if __name__ == "__main__":
    go_off(BOMBS[sys.argv[1]], Path(sys.argv[2]))
