"""The benchmark is fair: peers solve the same game, and its arithmetic is right."""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import asdict

import benchmarks.__main__ as bench
import numpy as np
import pytest
from benchmarks.capacity import capacity, city_block, parts_block, user_block
from benchmarks.figure import benchmark_figure
from benchmarks.games import grid_game
from benchmarks.peers import PEERS, certified_gap
from benchmarks.report import Times, best_peer, compared, filled, gpu_block, speed_block, table
from benchmarks.results import Growth, Results, Row, growth_of, load

from tests.oracles.full_program import best_value

FLEET = {
    "seconds": 400.0, "two": 250.0, "users": 4, "unusable": 0, "designs": 2, "user": 72.0, "spread": 10.0,
    "least": 60.0, "most": 84.0, "hamming": 30.0, "euclid": 42.0, "places": 12.0, "codebook": 30_000.0,
    "label": 500.0, "mark": 1_000.0, "worker": 230.0, "driver": 0.72, "gap": 1e-7, "reading": 0.02,
    "fixes": 5_000.0, "row": 24,
}  # fmt: skip


def row(case: str, size: int, machine: str = "here", **facts) -> Row:
    return Row(case, size, machine, "2026-01-05T00:00:00+00:00", 0.1, facts)


def measured(seconds: float, **facts) -> dict:
    return {
        "seconds": seconds,
        "megabytes": 200.0,
        "imported": 170.0,
        "cores": 0.99,
        "gap": 1e-9,
        "solver": "HiGHS",
    } | facts


def some_results() -> Results:
    """Ours at 100 and 200 places; scipy ten times as slow, qif not finished at 200, cvxpy only on another machine."""
    rows = [
        row("hideseek", 100, **measured(1.0)),
        row("hideseek", 200, **measured(4.0)),
        row("scipy", 100, **measured(10.0, ours=1.0)),
        row("scipy", 200, **measured(80.0, megabytes=1500.0, ours=4.0)),
        row("qif", 100, **measured(15.0, gap=3e-6, ours=1.0)),
        row("qif", 200, limit=600, ours=4.0),
        row("cvxpy", 100, machine="elsewhere", **measured(0.5)),
    ]
    return Results({"here": {"system": "Linux", "python": "3.11.0"}}, rows)


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize(("places", "seed"), [(9, 0), (12, 1), (16, 2)])
def test_every_peer_solves_the_same_game(peer, places, seed):
    game = grid_game(places, seed=seed)
    table, _ = PEERS[peer](game)
    value = best_value(game.error / game.mass, game.cost / game.mass[:, None], game.budget, game.mass)
    # 1e-6 is what we promise and prove; cvxpy's default solver stops at 1e-8 of its own units
    assert (game.error @ table).min(axis=0).sum() == pytest.approx(value, rel=1e-6)
    assert (game.cost * table).sum() == pytest.approx(game.budget, rel=1e-6)
    assert 0 <= certified_gap(game, table) <= 1e-6


def test_a_table_that_is_not_optimal_has_the_gap_that_it_has():
    game = grid_game(9)
    value = best_value(game.error / game.mass, game.cost / game.mass[:, None], game.budget, game.mass)
    coin = 0.8 * np.eye(9) + 0.2 / 9
    assert (game.cost * coin).sum() < game.budget
    reached = (game.error @ coin).min(axis=0).sum()
    assert certified_gap(game, coin) == pytest.approx(1 - reached / value, abs=1e-6)


def test_what_spends_more_than_the_budget_gains_nothing_by_it():
    game = grid_game(9)
    silent = np.full((9, 9), 1 / 9)
    assert (game.cost * silent).sum() > game.budget
    assert (game.error @ silent).min(axis=0).sum() == pytest.approx(game.prior_risk)
    assert certified_gap(game, silent) >= 0


def test_growth_is_the_slope_on_logarithmic_axes():
    assert growth_of({100: 3.0, 200: 12.0, 400: 48.0}) == Growth(2.0, 100, 400)
    assert growth_of({25: 1e-3, 100: 1.0, 1000: 1000.0}) == Growth(3.0, 100, 1000)  # small ones do not count
    assert growth_of({25: 1.0, 50: 4.0}, least=0) == Growth(2.0, 25, 50)
    assert growth_of({50: 1.0, 100: 4.0}) is None


def test_the_best_peer_is_the_fastest_and_an_unfinished_one_is_a_bound():
    results = some_results()
    assert best_peer(results, 100) == ("scipy", Times(10.0))
    assert best_peer(results, 200) == ("scipy", Times(20.0))
    results.rows = [one for one in results.rows if one.case != "scipy"]
    assert best_peer(results, 200) == ("qif", Times(150.0, at_least=True))
    assert best_peer(results, 500) is None
    assert (str(Times(2.84)), str(Times(297.3)), str(Times(1150.0, True))) == ("2.8x", "297x", "> 1,150x")


def test_only_times_of_one_run_are_divided():
    results = some_results()
    results.put(row("hideseek", 100, **measured(2.0)))  # again, on a busier machine
    assert compared(results, results.row("scipy", 100)) == "10x ours, with HiGHS"
    assert compared(results, results.row("cvxpy", 100)) == "with HiGHS"
    assert best_peer(results, 100) == ("scipy", Times(10.0))


def test_a_peer_that_finds_another_loss_is_not_compared():
    rows = [row("geo_exact", 25, seconds=2.0, value=1.0), row("geo_spanner", 25, seconds=0.5, value=1.02)]
    for value, words in ((1.0 + 1e-7, "10x ours, 40x with a spanner, which loses 2.0% more here"), (1.01, "disagrees")):
        peer = row("geo_qif", 25, seconds=20.0, value=value)
        assert compared(Results({}, [*rows, peer]), peer) == words
    elsewhere = row("geo_qif", 25, machine="elsewhere", seconds=20.0, value=1.0)
    assert compared(Results({}, [*rows, elsewhere]), elsewhere) == ""


def test_the_table_shows_limits_gaps_and_the_machine():
    results = some_results()
    block = speed_block(results)
    words = block.replace("\n", " ")
    assert "| 100 | 1.0 s | 200 MB | 10 s, 200 MB | 15 s, 200 MB |" in block
    assert "| 200 | 4.0 s | 200 MB | 80 s, 1.5 GB | > 600 s |  | **20x** |" in block
    assert "qif at 100 places reaches 3e-06" in words
    assert "One thread of here; python 3.11.0; 2026-01-05, load average 0.1 to 0.1." in words
    assert len(table(results)) == len(results.rows)


def test_a_page_gets_its_blocks_and_keeps_the_rest():
    page = "a\n<!-- bench:speed -->\nold\n<!-- end -->\nb\n<!-- bench:gpu -->\nby hand\n<!-- end -->\nc"
    new = filled(page, {"speed": "new \\1", "gpu": ""})
    assert new == page.replace("old", "new \\1")
    assert filled(new, {"speed": "new \\1"}) == new


def test_capacity_by_hand():
    need = capacity(1_000_000, FLEET)
    assert need.core_hours == pytest.approx(10_000)  # 36 s a design
    error = 3.182446 * 10.0 / 2 / 2 / 3600 * 1_000_000  # Student's 97.5 % point with 3 degrees of freedom, 4 users
    assert (need.low, need.high) == (pytest.approx(10_000 - error), pytest.approx(10_000 + error))
    assert need.machines == 49  # 32 cores, 8 hours, 80 % of a second worker: 204.8 core-hours a machine
    assert need.driver_hours == pytest.approx((0.02 + 0.70 / 2) / 3600 * 1_000_000)
    assert need.temporary == pytest.approx(120)
    assert need.gigabytes == pytest.approx(31.0)
    assert asdict(capacity(2_000_000, FLEET))["files"] == 2 * need.files == 4_000_000


def test_the_capacity_page_is_computed_from_the_results():
    parts = {"learn": 0.1, "design": 3.0, "verify": 0.1, "evaluate": 0.7, "write": 0.1, "highs": 2.0, "bytes": 22_000}
    rows = [
        row("person", 4, seconds=0.9, **parts | {"bytes": 10_000}),  # mostly what does not grow
        row("person", 9, seconds=1.0, **parts | {"bytes": 11_000}),
        row("person", 18, seconds=4.0, **parts),
        row("fleet", 4, **FLEET),
    ]
    results = Results({}, rows)
    assert "At 18 places 75% of the time is design, 50% is HiGHS, and 2.5% is the disk." in parts_block(results)
    assert "From 9 to 18 places, time grows as places^2.0 and the codebook as places^1.0." in parts_block(results)
    assert "| core-seconds per design, mean | 36 |" in user_block(results)
    city = city_block(results)
    assert "| city, 10^6 users | 10,000 | 7,790 to 12,210 | 49 | 102.8 | 31 GB | 120 GB | 2,000,000 |" in city
    assert "7 GB of memory for as many workers" in city
    assert "each of them does 80% of what one alone does" in city.replace("\n", " ")
    assert user_block(Results()) == parts_block(Results()) == city_block(Results()) == ""


def test_a_cut_run_keeps_what_it_has_and_one_case_is_merged(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "LATEST", tmp_path / "latest.json")
    calls = iter([measured(1.0), {"limit": 600}, measured(2.0)])

    def measure(case, size, extra):
        if (facts := next(calls, None)) is None:
            raise KeyboardInterrupt
        return facts

    monkeypatch.setattr(bench, "measure", measure)
    plan = [("hideseek", 100), ("qif", 100), ("qif", 200), ("hideseek", 200), ("hideseek", 400)]
    with pytest.raises(KeyboardInterrupt):
        bench.run(Results(), plan, [])
    kept = load(bench.LATEST)
    assert [(one.case, one.size) for one in kept.rows] == [("hideseek", 100), ("qif", 100), ("hideseek", 200)]
    assert kept.growth == {"hideseek": Growth(1.0, 100, 200)}
    calls = iter([measured(8.0)])
    bench.run(kept, [("hideseek", 200)], [])
    again = load(bench.LATEST)
    assert again.growth == {"hideseek": Growth(3.0, 100, 200)}
    assert len(again.rows) == 3
    again.forget({"qif"})
    assert [one.case for one in again.rows] == ["hideseek", "hideseek"]


def test_our_time_of_the_same_run_stands_in_a_peers_row(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "LATEST", tmp_path / "latest.json")
    calls = iter([measured(2.0), {"limit": 600}, measured(3.0), measured(4.0)])
    monkeypatch.setattr(bench, "measure", lambda *_: next(calls))
    bench.run(Results(), [("hideseek", 100), ("qif", 100), ("scipy", 200), ("device", 100)], [])
    assert [one.facts.get("ours") for one in load(bench.LATEST).rows] == [None, 2.0, None, None]


def test_the_gpu_is_compared_with_a_core_of_its_own_machine():
    facts = {"gpu": "H200", "video": 1500.0}
    rows = [
        row("gpu_percent", 5000, seconds=30.0, core=None, **facts),
        row("gpu_percent", 1000, seconds=2.0, core=9.0, **facts),
        row("gpu_permille", 1000, seconds=8.0, core=6.0, **facts),
        row("gpu_permille", 2000, why="failed"),
    ]
    lines = gpu_block(Results({}, rows)).splitlines()
    assert lines[2:] == [
        "| 1,000 | 1 % | 2.0 s | 1.5 GB | 9.0 s | 4.5x |",
        "| 5,000 | 1 % | 30 s | 1.5 GB |  |  |",
        "| 1,000 | 0.1 % | 8.0 s | 1.5 GB | 6.0 s | 0.8x |",
        "",
        "H200 and one thread of here; 2026-01-05.",
    ]
    assert gpu_block(Results()) == ""


def test_a_peer_is_measured_again_beside_us():
    options = argparse.Namespace(quick=True, data=None, only=["qif:200", "device", "hamming_scipy"])
    chosen = [("hideseek", 200), ("qif", 200), ("device", 25), ("hamming", 100), ("hamming_scipy", 100)]
    assert bench.planned(options) == chosen


@pytest.mark.parametrize("name", ["fast", "scipy:many", "scipy:-3", "fleet_data", "gpu_percent"])
def test_a_case_that_cannot_be_measured_here_is_told(name, monkeypatch):
    monkeypatch.setattr(bench, "gpu_here", lambda: False)
    with pytest.raises(SystemExit, match=f"There is no case {name} here"):
        bench.planned(argparse.Namespace(quick=True, data=None, only=[name]))


def test_a_case_runs_in_a_process_of_its_own_and_a_failure_is_told(monkeypatch):
    facts = bench.measure("closed_form", 25, [])
    assert 0 < facts["imported"] <= facts["megabytes"]
    assert facts["seconds"] > 0
    assert bench.measure("no such case", 25, [])["why"].startswith("failed: KeyError")

    def slow(*_, timeout, **__):
        raise subprocess.TimeoutExpired("qif", timeout)

    monkeypatch.setattr(subprocess, "run", slow)
    assert bench.measure("qif", 25, []) == {"limit": bench.LIMIT}


def test_the_figure_shows_every_solver(tmp_path):
    results = some_results()
    results.save(tmp_path / "some.json")
    assert json.loads((tmp_path / "some.json").read_text())["growth"]["scipy"]["exponent"] == pytest.approx(3.0)
    words = {text.get_text() for axes in benchmark_figure(results).axes for text in axes.texts}
    assert {"hideseek: $M^{2.0}$", "scipy: $M^{3.0}$", "qif", "cvxpy", "20 times"} <= words
