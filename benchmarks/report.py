"""The numbers as people read them: on the terminal, and in blocks of the README and the docs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import fill
from typing import NamedTuple

from benchmarks.peers import PEERS
from benchmarks.results import Results, Row

TOLERANCE = 1e-6
# cases with ours in the same run, and what ours is called
BESIDE = dict.fromkeys(PEERS, "hideseek") | {"hamming_scipy": "hamming"}
HEADER = ("case", "size", "seconds", "peak MB", "gap", "compared")


class Times(NamedTuple):
    """How many times our time a peer takes; at least that where it was not finished."""

    value: float
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'>' * self.at_least} {self.value:,.{1 if self.value < 10 else 0}f}x".strip()


def times(peer: Row | None) -> Times | None:
    """A peer's time over ours in the same run, on the same machine."""
    if peer is None or "ours" not in peer.facts:
        return None
    if peer.seconds is not None:
        return Times(peer.seconds / peer.facts["ours"])
    return Times(peer.facts["limit"] / peer.facts["ours"], at_least=True) if "limit" in peer.facts else None


def best_peer(results: Results, places: int) -> tuple[str, Times] | None:
    """Who comes nearest to our time."""
    found = {name: times(results.row(name, places)) for name in PEERS}
    known = [(name, ratio) for name, ratio in found.items() if ratio is not None]
    return min(known, key=lambda pair: pair[1].value) if known else None


def duration(seconds: float) -> str:
    """Two digits, in the unit that suits them.

    >>> duration(3.9e-6), duration(0.0071), duration(0.1), duration(12.3), duration(1250)
    ('3.9 µs', '7.1 ms', '0.10 s', '12 s', '1,250 s')
    """
    if seconds < 0.0995:
        return f"{1e3 * seconds:.2g} ms" if seconds >= 1e-3 else f"{float(f'{1e6 * seconds:.2g}'):g} µs"
    return f"{seconds:#.2g} s" if seconds < 9.95 else f"{seconds:,.0f} s"


def memory(megabytes: float) -> str:
    """Megabytes, or gigabytes where there are many.

    >>> memory(153.2), memory(1702)
    ('153 MB', '1.7 GB')
    """
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"


def table(results: Results) -> list[tuple[str, ...]]:
    """A row for everything measured."""
    lines: list[tuple[str, ...]] = []
    for row in results.rows:
        facts = row.facts
        seconds = "" if row.seconds is None else f"{row.seconds:.4g}"
        peak = f"{facts['megabytes']:.0f}" if "megabytes" in facts else ""
        gap = f"{facts['gap']:.0e}" if "gap" in facts else ""
        lines.append((row.case, f"{row.size:,}", seconds, peak, gap, compared(results, row)))
    return lines


def compared(results: Results, row: Row) -> str:
    """What the time means beside others, or why there is none."""
    facts, case = row.facts, row.case
    if "why" in facts:
        return str(facts["why"])
    if case in BESIDE:
        against = times(row)
        ended = f"not within {facts['limit']:.0f} s" if "limit" in facts else f"with {facts['solver']}"
        return ended if against is None else f"{against} ours, {ended}"
    words = {
        "curve": lambda: f"{facts['seconds'] / facts['cold']:.0%} of 20 cold solves",
        "codebook": lambda: f"{facts['bytes'] / 1000:.0f} kB, opens in {duration(facts['opens'])}",
        "device": lambda: f"{1 / facts['seconds']:,.0f} look-ups a second; {duration(facts['answer'])} with the disk",
        "live": lambda: f"99 % in {duration(facts['late'])}, trained in {duration(facts['training'])}",
        "person_two": lambda: f"{facts['bytes'] / 1000:.0f} kB",
        "person": lambda: f"HiGHS {facts['highs'] / facts['seconds']:.0%}, {facts['bytes'] / 1000:.0f} kB",
        "geo_qif": lambda: geo_words(results, row),
        "fleet": lambda: fleet_words(row),
        "fleet_data": lambda: fleet_words(row),
        "gpu_percent": lambda: f"{facts['rounds']} rounds on {facts['gpu']}",
        "gpu_permille": lambda: f"{facts['rounds']} rounds on {facts['gpu']}",
    }
    return words[case]() if case in words else ""


def geo_words(results: Results, peer: Row) -> str:
    """The peer's time over ours for the same rows, where both find the same loss; and over that with a spanner."""
    exact, spanner = results.row("geo_exact", peer.size), results.row("geo_spanner", peer.size)
    if exact is None or spanner is None or exact.seconds is None or spanner.seconds is None or peer.seconds is None:
        return ""
    if len({row.machine for row in (exact, spanner, peer)}) > 1:
        return ""
    ratio, faster = Times(peer.seconds / exact.seconds), Times(peer.seconds / spanner.seconds)
    value = exact.facts["value"]
    if abs(peer.facts["value"] - value) > 1e-5 * value:
        return "disagrees"
    return f"{ratio} ours, {faster} with a spanner, which loses {spanner.facts['value'] / value - 1:.1%} more here"


def fleet_words(row: Row) -> str:
    """The fleet's rate and what a second worker brings."""
    facts = row.facts
    rate = 60 * facts["users"] / facts["seconds"]
    speed_up = f"{facts['seconds'] / facts['two']:.2f} times as fast with 2 workers of {facts['worker']:.0f} MB"
    return f"{rate:.1f} users per core-minute, {facts['designs']} designs each; {speed_up}"


def growth_words(results: Results) -> list[str]:
    """How time grows with the places, a line a solver."""
    found = [(name, results.growth[name]) for name in ("hideseek", *PEERS) if name in results.growth]
    return [f"{name}: places^{fit.exponent:.2f} from {fit.first} to {fit.last:,}" for name, fit in found]


def speed_block(results: Results) -> str:
    """The table of the README: our time and memory, and every peer in multiples of it."""
    ours = results.of("hideseek")
    if not ours:
        return ""
    names = {name: f"{name} ({solver_of(results, name)})" for name in PEERS}
    lines = [
        "| places | hideseek | peak memory | " + " | ".join(names.values()) + " | best peer |",
        "|---:" * (4 + len(PEERS)) + "|",
    ]
    for row in ours:
        cells = [f"{row.size:,}", duration(row.facts["seconds"]), memory(row.facts["megabytes"])]
        cells += [peer_cell(results, name, row.size) for name in PEERS]
        best = best_peer(results, row.size)
        lines.append("| " + " | ".join([*cells, f"**{best[1]}**" if best else ""]) + " |")
    return "\n".join([*lines, "", fill(" ".join(speed_words(results, ours)), 120)])


def solver_of(results: Results, name: str) -> str:
    """The solver that a peer took."""
    return next((str(row.facts["solver"]) for row in results.of(name)), "")


def peer_cell(results: Results, name: str, places: int) -> str:
    """A peer's time and memory."""
    row = results.row(name, places)
    if row is None:
        return ""
    if "limit" in row.facts:
        return f"> {row.facts['limit']:.0f} s"
    if "why" in row.facts:
        return str(row.facts["why"])
    return f"{duration(row.facts['seconds'])}, {memory(row.facts['megabytes'])}"


def speed_words(results: Results, ours: list[Row]) -> list[str]:
    """What stands below the table: gaps, growth, memory, the machine."""
    loose = [
        f"{name} at {row.size} places reaches {row.facts['gap']:.0e}"
        for name in PEERS
        for row in results.of(name)
        if row.facts["gap"] > TOLERANCE
    ]
    largest = max(row.facts["gap"] for row in ours)
    gaps = f"Every table went through the same certificate. Our largest optimality gap is {largest:.0e}"
    finished = [row.facts["gap"] for name in PEERS for row in results.of(name)]
    others = ("; " + ", ".join(loose) if loose else f", of the peers {max(finished):.0e}") if finished else ""
    machine, about = ours[0].machine, results.machines.get(ours[0].machine, {})
    versions = ", ".join(f"{name} {about[name]}" for name in about if name != "system")
    loads = [row.load for row in results.rows if row.machine == machine]
    cores = [row.facts["cores"] for name in ("hideseek", *PEERS) for row in results.of(name)]
    return [
        f"{gaps}{others}. By least squares, time grows as follows: {'; '.join(growth_words(results))}.",
        f"{ours[0].facts['imported']:.0f} MB of the memory is Python and its libraries.",
        f"One thread of {machine}; {versions}; {ours[0].at[:10]}, load average {min(loads)} to {max(loads)}.",
        f"Each process had {min(cores):.2f} to {max(cores):.2f} of a core.",
    ]


def more_block(results: Results) -> str:
    """The rest of what was measured, a line each for the largest size."""
    names = {
        "fleet": "Fleet of {} synthetic people",
        "fleet_data": "Fleet of {} real users",
        "device": "Device, {} places",
        "live": "Live device, {} places: a step",
        "codebook": "Codebook, {} places: designed",
        "curve": "Curve of 20 budgets, {} places",
        "hamming": "Hamming privacy, Euclidean quality, {} places",
        "hamming_scipy": "... the whole program by scipy, {} places",
        "person": "Design and evaluation, one release remembered, {} places",
        "person_two": "Design and evaluation, two releases remembered, {} places",
        "geo_spanner": "Geo-indistinguishable (1.1 spanner), {} places",
        "geo_qif": "qif, geo-indistinguishable, {} places",
    }
    rows = [(text, row) for case, text in names.items() for row in results.of(case)[-1:]]
    lines = [
        f"| {text.format(f'{row.size:,}')} | {duration(row.facts['seconds'])} | {compared(results, row)} |"
        for text, row in rows
    ]
    return "\n".join(["| what | time | |", "|---|---:|---|", *lines]) if lines else ""


def gpu_block(results: Results) -> str:
    """The first-order solver on a GPU, beside the double oracle on one core of its machine at the same tolerance."""
    rows = [("1 %", row) for row in results.of("gpu_percent")] + [("0.1 %", row) for row in results.of("gpu_permille")]
    if not rows:
        return ""
    lines = [
        "| places | optimality gap asked for | first order, GPU | memory of the GPU | double oracle, one core | |",
        "|---:" * 6 + "|",
    ]
    for asked, row in rows:
        facts, seconds = row.facts, row.facts["seconds"]
        core = facts["core"]
        cells = [f"{row.size:,}", asked, duration(seconds), memory(facts["video"])]
        cells += ["", ""] if core is None else [duration(core), str(Times(core / seconds))]
        lines.append("| " + " | ".join(cells) + " |")
    last = rows[-1][1]
    machine = f"{last.facts['gpu']} and one thread of {last.machine}; {last.at[:10]}."
    return "\n".join([*lines, "", machine])


def filled(text: str, blocks: Mapping[str, str]) -> str:
    """A page with its blocks replaced; one that nothing was measured for stays as it is.

    >>> filled("a <!-- bench:speed -->old<!-- end --> b", {"speed": "new"})
    'a <!-- bench:speed -->\\nnew\\n<!-- end --> b'
    """

    def replaced(match: re.Match[str]) -> str:
        new = blocks.get(match["name"], "")
        return f"<!-- bench:{match['name']} -->\n{new}\n<!-- end -->" if new else match[0]

    return re.sub(r"<!-- bench:(?P<name>\w+) -->.*?<!-- end -->", replaced, text, flags=re.DOTALL)
