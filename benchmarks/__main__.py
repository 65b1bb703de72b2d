"""``make bench``: every measurement in one run, single-threaded, as ratios; ``--quick`` leaves the long ones out.

python -m benchmarks                      everything: about half an hour
python -m benchmarks --quick              three minutes
python -m benchmarks --only qif:200       one case, at its sizes or at this one; the rest stays as it was
python -m benchmarks --only fleet_data --data cabs/ --box 37.55 37.85 -122.55 -122.1
python -m benchmarks --add gpu.json       take in what was measured on another machine
python -m benchmarks --readme             nothing is measured: the README, the docs and the figure are rewritten
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.capacity import city_block, parts_block, user_block
from benchmarks.figure import benchmark_figure
from benchmarks.peers import PEERS
from benchmarks.report import BESIDE, HEADER, filled, gpu_block, growth_words, more_block, speed_block, table
from benchmarks.results import Facts, Results, load, now_with, this_machine
from hideseek.cli.terminal import print_table
from hideseek.plots.style import save

Plan = dict[str, tuple[int, ...]]
QUICK: Plan = {
    "start_import": (5,),
    "start_help": (5,),
    "start_device": (5,),
    "hideseek": (25, 50, 100, 150, 250, 500, 1000),
    "scipy": (25, 50, 100),
    "qif": (25, 50, 100),
    "cvxpy": (25, 50),
    "hamming": (100, 250, 500, 1000),
    "hamming_scipy": (100,),
    "closed_form": (25,),
    "curve": (25, 50),
    "device": (25,),
    "person": (9, 16, 25),
    "geo_spanner": (25, 64, 100),
    "geo_exact": (25,),
    "geo_qif": (25,),
    "geo_joint": (25,),
    "gpu_percent": (1000,),
}
LONG: Plan = {
    "hideseek": (2000,),
    "codebook": (25,),
    "live": (25,),
    "person": (49,),
    "person_two": (9, 16),
    "fleet": (6,),
    "geo_exact": (64,),
    "geo_qif": (64,),
    "geo_joint": (64,),
    "gpu_percent": (250, 500, 2000, 5000, 10_000),
    "gpu_permille": (1000, 2000),
    "scipy": (150, 250),
    "qif": (150, 250),
    "cvxpy": (100, 150, 250),
}
LIMIT, LOADING = 600, 30  # seconds that a peer may take for one size, and for loading and the certificate
ROOT = Path(__file__).parents[1]
LATEST = ROOT / "benchmarks" / "results" / "latest.json"
# numpy's libraries, and those that peers bring along
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


def planned(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Cases and sizes, those of a case in growing order."""
    plans = [QUICK] if options.quick else [QUICK, LONG]
    plan = [(case, size) for part in plans for case, sizes in part.items() for size in sizes]
    if options.data is not None:
        plan.append(("fleet_data", sum(1 for _ in Path(options.data).iterdir())))
    if not gpu_here():
        plan = [(case, size) for case, size in plan if not case.startswith("gpu")]
    if not options.only:
        return plan
    chosen: list[tuple[str, int]] = []
    for name in options.only:
        case, _, size = name.partition(":")
        found = [pair for pair in plan if pair[0] == case]
        if not found or (size and not size.isdecimal()):
            known = f"Say one of {', '.join(dict(plan))}, or CASE:SIZE; fleet_data needs --data, gpu_... a GPU."
            raise SystemExit(f"There is no case {name} here. {known}")
        found = [(case, int(size))] if size else found
        chosen += [(BESIDE[case], size) for case, size in found if case in BESIDE] + found  # ratios are of one run
    return chosen


def gpu_here() -> bool:
    """Whether there is a GPU that torch can use."""
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def measure(case: str, size: int, extra: list[str]) -> Facts:
    """Run one case in a process of its own, on one thread; a peer that is too slow, or that fails, is a result."""
    single = dict.fromkeys(THREADS, "1")
    command = [sys.executable, "-m", "benchmarks.cases", case, str(size), *extra]
    limit = LIMIT + LOADING if case in PEERS else None
    try:
        ended = subprocess.run(
            command, env=os.environ | single, cwd=ROOT, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"limit": LIMIT}
    if ended.returncode:
        return {"why": f"failed: {(ended.stderr.strip().splitlines() or [f'status {ended.returncode}'])[-1]}"}
    facts: Facts = json.loads(ended.stdout.splitlines()[-1])
    return facts


def run(results: Results, plan: list[tuple[str, int]], extra: list[str]) -> None:
    """Measure what is planned, and keep every result as it comes."""
    name, about = this_machine()
    results.machines[name] = about
    console = Console(stderr=True)
    for number, (case, size) in enumerate(plan, start=1):
        if any(row.case == case and row.size < size and "limit" in row.facts for row in results.rows):
            continue  # it will not be faster there
        with console.status(f"{number} of {len(plan)}: {case}, {size}"):
            before = os.getloadavg()[0]
            facts = measure(case, size, extra if case == "fleet_data" else [])
        ours = results.row(BESIDE.get(case, ""), size)
        if ours is not None and ours.machine == name and ours.seconds is not None:
            facts["ours"] = ours.seconds
        results.put(now_with(case, size, facts, before))
        results.save(LATEST)


def publish(results: Results) -> None:
    """Rewrite the blocks of the README and of the docs, and the figure."""
    blocks = {
        "speed": speed_block(results),
        "more": more_block(results),
        "gpu": gpu_block(results),
        "user": user_block(results),
        "parts": parts_block(results),
        "city": city_block(results),
    }
    for page in (ROOT / "README.md", ROOT / "docs" / "capacity.md", ROOT / "docs" / "theory.md"):
        page.write_text(filled(page.read_text(), blocks))
    benchmark_figure(results).savefig(ROOT / "docs" / "benchmarks.png", dpi=200)


def main() -> None:
    """Measure, print, and write the results as JSON and as a figure."""
    parser = argparse.ArgumentParser(
        "benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="leave the long ones out")
    parser.add_argument("--only", action="append", metavar="CASE[:SIZE]", help="measure this one, keep the others")
    parser.add_argument("--data", metavar="FOLDER", help="also a fleet of the users in these traces")
    parser.add_argument("--box", nargs=4, default=[], metavar=("SOUTH", "NORTH", "WEST", "EAST"), help="for --data")
    parser.add_argument("--add", type=Path, metavar="FILE", help="results of another machine to take in")
    parser.add_argument("--readme", action="store_true", help="rewrite the README, the docs and their figure")
    options = parser.parse_args()
    if options.data is not None and not Path(options.data).is_dir():
        raise SystemExit(f"There is no folder {options.data}.")
    results = load(LATEST)
    if options.add is not None:
        if not options.add.is_file():
            raise SystemExit(f"There is no file {options.add}.")
        other = load(options.add)
        results.machines |= other.machines
        for row in other.rows:
            known = results.row(row.case, row.size)
            if row.seconds is not None and (known is None or known.seconds is None):
                results.put(row)
        results.save(LATEST)
    elif not options.readme:
        if not options.only:
            results.forget({case for case, _ in planned(options)})
        try:
            run(results, planned(options), [str(options.data), *options.box])
        except KeyboardInterrupt:
            print("Cut short; what is finished is kept.", file=sys.stderr)
    print_table(", ".join(results.machines), HEADER, table(results))
    print(*growth_words(results), sep="\n")
    if results.of("hideseek"):
        save(benchmark_figure(results), LATEST.parent / "benchmarks")
    if options.readme:
        publish(results)


if __name__ == "__main__":
    main()
