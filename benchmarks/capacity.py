"""From what one user was measured to cost, to a city and to a country."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from textwrap import fill

from scipy import stats

from benchmarks.report import duration
from benchmarks.results import Facts, Results, growth_of

CORES, NIGHT = 32, 8  # of a machine, and hours
CITY, COUNTRY = 10**6, 6 * 10**7


@dataclass(frozen=True)
class Capacity:
    """What one design for each of so many users takes on average; ``low`` and ``high`` are core-hours too.

    core_hours = users * seconds / 3600
    machines = core_hours / (cores * hours of a night * efficiency)
    driver_hours = users * driver / 3600, which do not shrink with more workers
    gigabytes = users * (codebook + mark + label) / 10^9
    temporary = users * fixes * bytes of a row / 10^9, beside the driver
    """

    users: int
    core_hours: float
    low: float
    high: float
    machines: int
    driver_hours: float
    gigabytes: float
    temporary: float
    files: int


def capacity(users: int, fleet: Facts) -> Capacity:
    """Scale a fleet up: the mean over measured users, with its 95 % interval; a mark and a label a design."""
    designs = fleet["designs"]
    error = stats.t.ppf(0.975, fleet["users"] - 1) * fleet["spread"] / sqrt(fleet["users"])
    low, mean, high = (
        users * max(0.0, seconds) / designs / 3600
        for seconds in (fleet["user"] - error, fleet["user"], fleet["user"] + error)
    )
    return Capacity(
        users=users,
        core_hours=mean,
        low=low,
        high=high,
        machines=ceil(mean / (CORES * NIGHT * efficiency(fleet))),
        driver_hours=users * driver_of(fleet) / 3600,
        gigabytes=users * (fleet["codebook"] + fleet["mark"] / designs + fleet["label"]) / 1e9,
        temporary=users * fleet["fixes"] * fleet["row"] / 1e9,
        files=2 * users,
    )


def driver_of(fleet: Facts) -> float:
    """The driver's own core-seconds for a user with one design: reading is once per user, the rest once per design."""
    return float(fleet["reading"] + (fleet["driver"] - fleet["reading"]) / fleet["designs"])


def efficiency(fleet: Facts) -> float:
    """What each of two workers does of what one alone does; no more than all of it."""
    return min(1.0, float(fleet["seconds"]) / float(fleet["two"]) / 2)


def user_block(results: Results) -> str:
    """What a design for one user costs, by each fleet that was measured."""
    named = (("synthetic people", results.of("fleet")), ("real users", results.of("fleet_data")))
    fleets = {name: rows[-1] for name, rows in named if rows}
    if not fleets:
        return ""
    facts = [row.facts for row in fleets.values()]
    lines = {
        "users measured": [f"{fact['users']}" for fact in facts],
        "places per user, on average": [f"{fact['places']:.0f}" for fact in facts],
        "core-seconds per design, mean": [f"{fact['user'] / fact['designs']:.2g}" for fact in facts],
        "... from the cheapest user to the dearest": [
            f"{fact['least'] / fact['designs']:.2g} to {fact['most'] / fact['designs']:.2g}" for fact in facts
        ],
        "... Hamming, Euclid": [f"{fact['hamming']:.2g}, {fact['euclid']:.2g}" for fact in facts],
        "users per core-minute, one design each": [
            f"{60 * fact['users'] * fact['designs'] / fact['seconds']:.2g}" for fact in facts
        ],
        "speed-up from 1 to 2 workers": [f"{fact['seconds'] / fact['two']:.2f}" for fact in facts],
        "memory of a worker": [f"{fact['worker']:.0f} MB" for fact in facts],
        "fixes per user, mean": [f"{fact['fixes']:,.0f}" for fact in facts],
        "driver's own core-seconds per user with one design": [f"{driver_of(fact):.2g}" for fact in facts],
        "... of these for reading": [f"{fact['reading']:.2g}" for fact in facts],
        "codebook": [f"{fact['codebook'] / 1000:.0f} kB" for fact in facts],
        "mark and label": [f"{(fact['mark'] / fact['designs'] + fact['label']) / 1000:.1f} kB" for fact in facts],
    }
    header = ["| | " + " | ".join(fleets) + " |", "|---" + "|---:" * len(fleets) + "|"]
    machines = ", ".join(dict.fromkeys(row.machine for row in fleets.values()))
    body = [f"| {name} | " + " | ".join(cells) + " |" for name, cells in lines.items()]
    return "\n".join([*header, *body, "", f"Measured on {machines}."])


def parts_block(results: Results) -> str:
    """One design by the number of places, part by part, and which part is the largest."""
    rows = results.of("person")
    if not rows:
        return ""
    parts = ("learn", "design", "verify", "evaluate", "write")
    lines = ["| places | " + " | ".join(parts) + " | HiGHS in it | codebook |", "|---:" * (3 + len(parts)) + "|"]
    for row in rows:
        facts = row.facts
        cells = [duration(facts[part]) for part in parts]
        lines.append(
            f"| {row.size} | " + " | ".join(cells) + f" | {duration(facts['highs'])} | {facts['bytes'] / 1000:.0f} kB |"
        )
    last = rows[-1].facts
    most = max(parts, key=lambda part: float(last[part]))
    words = f"At {rows[-1].size} places {last[most] / last['seconds']:.0%} of the time is {most}"
    words += f", {last['highs'] / last['seconds']:.0%} is HiGHS, and {last['write'] / last['seconds']:.1%} is the disk."
    growth, larger = (
        growth_of({row.size: row.facts[name] for row in rows[-2:]}, least=0) for name in ("seconds", "bytes")
    )
    if growth is not None and larger is not None:
        words += f" From {growth.first} to {growth.last} places, time grows as places^{growth.exponent:.1f}"
        words += f" and the codebook as places^{larger.exponent:.1f}."
    return "\n".join([*lines, "", words])


def city_block(results: Results) -> str:
    """A city and a country; from real users where they were measured."""
    rows = results.of("fleet_data") or results.of("fleet")
    if not rows:
        return ""
    header = (
        "",
        "core-hours",
        "95 % interval",
        "machines",
        "driver, hours",
        "storage",
        "temporary",
        "files",
    )
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    for name, users in (("city, 10^6 users", CITY), ("country, 6 x 10^7 users", COUNTRY)):
        need = capacity(users, rows[-1].facts)
        cells = (
            name,
            f"{need.core_hours:,.0f}",
            f"{need.low:,.0f} to {need.high:,.0f}",
            f"{need.machines:,}",
            f"{need.driver_hours:,.1f}",
            f"{need.gigabytes:,.0f} GB",
            f"{need.temporary:,.0f} GB",
            f"{need.files:,}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    facts = rows[-1].facts
    each = f"each of them does {efficiency(facts):.0%} of what one alone does, as each of two did here: an assumption"
    memory = f"{CORES * facts['worker'] / 1000:.0f} GB of memory"
    words = f"A machine has {CORES} cores, {memory} for as many workers, and a night of {NIGHT} hours; {each}."
    return "\n".join([*lines, "", fill(words, 120)])
