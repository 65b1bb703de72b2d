"""``make bench``: every measurement in one run, single-threaded, as ratios; ``--quick`` leaves the long ones out."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cases import Facts

QUICK = {
    "hideseek": (25, 100, 200, 250),
    "scipy": (25, 100),
    "closed_form": (25,),
    "curve": (25, 50),
    "codebook": (25,),
    "device": (25,),
    "live": (25,),
    "geo_spanner": (25, 50, 64, 100),
    "geo_exact": (25, 64),
    "geo_qif": (25,),
    "geo_joint": (25, 64),
}
LONG = {"hideseek": (500, 1000), "qif": (200,), "geo_qif": (64,)}
RESULTS = Path(__file__).parent / "results"


def measure(case: str, places: int) -> Facts:
    """Run one case in a process of its own, on one thread."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.cases", case, str(places)]
    result = subprocess.run(command, env=os.environ | single, capture_output=True, text=True, check=True)
    facts: Facts = json.loads(result.stdout)
    return facts


def main() -> None:
    """Measure, print, and write the results as JSON."""
    console = Console()
    plan = [(case, places) for case, sizes in QUICK.items() for places in sizes]
    if "--quick" not in sys.argv:
        plan += [(case, places) for case, sizes in LONG.items() for places in sizes]
    found: dict[tuple[str, int], Facts] = {}
    for case, places in plan:
        with console.status(f"{case}, {places} places"):
            found[case, places] = measure(case, places)
    table = Table(title=f"{platform.machine()}, Python {platform.python_version()}, one thread", title_justify="left")
    for name in ("case", "places", "seconds", "peak MB", "gap", "compared"):
        table.add_column(name, justify="left" if name in ("case", "compared") else "right")
    for (case, places), facts in found.items():
        gap = f"{facts['gap']:.0e}" if "gap" in facts else ""
        table.add_row(
            case,
            str(places),
            f"{facts['seconds']:.4g}",
            f"{facts['megabytes']:.0f}",
            gap,
            compared(case, places, found),
        )
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    rows = [{"case": case, "places": places, **facts} for (case, places), facts in found.items()]
    (RESULTS / "latest.json").write_text(json.dumps(rows, indent=2))


def compared(case: str, places: int, found: dict[tuple[str, int], Facts]) -> str:
    """A peer's time over ours, or the curve's over cold solves; values must agree for the ratio to mean anything."""
    facts = found[case, places]
    if case == "curve":
        return f"{facts['seconds'] / facts['cold']:.0%} of {20} cold solves"
    if case == "codebook":
        return f"{facts['bytes'] / 1000:.0f} kB, opens in {1e3 * facts['opens']:.1f} ms"
    if case == "device":
        return f"{1e3 * facts['answer']:.2f} ms with the disk; in bulk {1 / facts['bulk'] / 1e6:.1f} million a second"
    if case == "live":
        late, anew = 1e3 * facts["late"], facts["anew"] / facts["seconds"]
        return f"99 % in {late:.0f} ms, trained in {facts['training']:.0f} s; solved anew {anew:.1f} times as long"
    if case in ("scipy", "qif"):
        ours = found["hideseek", places]
        if abs(facts["value"] - ours["value"]) > 1e-5 * ours["value"]:
            return "disagrees"
        return f"{facts['seconds'] / ours['seconds']:.1f} times our time"
    if case == "geo_qif":
        exact, spanner = found["geo_exact", places], found["geo_spanner", places]
        if abs(facts["value"] - exact["value"]) > 1e-5 * exact["value"]:
            return "disagrees"
        times = f"{facts['seconds'] / exact['seconds']:.1f} times our time, {facts['seconds'] / spanner['seconds']:.0f}"
        return f"{times} with a spanner, which loses {spanner['value'] / exact['value'] - 1:.1%} more"
    return ""


if __name__ == "__main__":
    main()
