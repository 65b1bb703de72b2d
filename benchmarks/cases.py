"""One measurement per process, so that peak memory is its own: ``python -m benchmarks.cases NAME SIZE``."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.clock import clock, megabytes, timed
from benchmarks.fleets import city_fleet, person, real_fleet
from benchmarks.games import designed, geo_game, grid_game, walker
from benchmarks.peers import PEERS, certified_gap
from benchmarks.results import Facts
from benchmarks.start_up import STARTS, start_up
from hideseek import Codebook, Device, Game, LiveDevice, Scenario, plan, solve, trade_off
from hideseek.baselines.geo_indistinguishable import geo_indistinguishable_rows, spanner
from hideseek.game import Alternatives
from hideseek.metrics import distance, squared
from hideseek.model.profile import regions_of
from hideseek.planning import BeliefGame
from hideseek.solvers.interior_point import LeastLoss, least_loss

MINUTES = 2000  # places up to which the double oracle takes no more


def some_games(places: int) -> list[Game]:
    """Several priors where a solve is short, the same for all packages."""
    return [grid_game(places, seed=seed) for seed in range(3 if places <= 50 else 1)]


def hideseek(places: int) -> Facts:
    """Our default method: the median time, and the value for the first prior."""
    solve(grid_game(9))  # loads HiGHS
    seconds, solutions = [], []
    for game in some_games(places):
        for _ in range(3 if places <= 250 else 1):
            spent, solution = clock(partial(solve, game))
            seconds.append(spent)
            solutions.append(solution)
    first = solutions[0]
    return {
        "seconds": statistics.median(seconds),
        "value": first.privacy,
        "gap": max(one.optimality_gap for one in solutions),
    }


def peer(name: str, places: int) -> Facts:
    """What another package takes for the same games."""
    return judged(name, some_games(places))


def judged(name: str, games: list[Game]) -> Facts:
    """What a peer takes for games, and how good the worst of its tables is by our certificate."""
    PEERS[name](grid_game(9))  # loads it
    seconds, tables = [], []
    for game in games:
        spent, (table, solver) = clock(partial(PEERS[name], game))
        seconds.append(spent)
        tables.append(table)
    facts = {"seconds": statistics.median(seconds), "solver": solver, "megabytes": megabytes()}
    value = float((games[0].error @ tables[0]).min(axis=0).sum())
    return facts | {"value": value, "gap": max(map(certified_gap, games, tables))}


def hamming_game(places: int) -> Game:
    """The same map and prior with Hamming privacy, Euclidean quality, 30 % of the saturating budget."""
    game = grid_game(places)
    game = Game.from_prior(game.mass, privacy=1 - np.eye(places), quality=game.error / game.mass, budget=1e9)
    return game.with_budget(0.3 * game.saturation)


def hamming(places: int) -> Facts:
    """Our default method where nearly all guesses err alike."""
    solve(grid_game(9))  # loads HiGHS
    seconds, solution = clock(lambda: solve(hamming_game(places)))
    return {"seconds": seconds, "value": solution.privacy, "gap": solution.optimality_gap}


def hamming_scipy(places: int) -> Facts:
    """The same game written down whole for scipy."""
    return judged("scipy", [hamming_game(places)])


def gpu(tolerance: float, places: int) -> Facts:
    """The first-order solver where there is a GPU, and beside it the double oracle on a core while it takes minutes."""
    import torch

    solve(grid_game(9), tolerance=0.5, method="first order", hardware="cuda")  # wakes the GPU up
    game = grid_game(places)
    seconds, solution = clock(
        lambda: solve(game, tolerance=tolerance, method="first order", hardware="cuda", time_limit=600)
    )
    return {
        "seconds": seconds,
        "core": clock(partial(solve, game, tolerance=tolerance, method="double oracle"))[0]
        if places <= MINUTES
        else None,
        "value": solution.privacy,
        "gap": solution.optimality_gap,
        "rounds": solution.iterations,
        "gpu": torch.cuda.get_device_name(),
        "video": torch.cuda.max_memory_allocated() / 2**20,
    }


def cheapest(places: int, dilation: float) -> Facts:
    """The geo-indistinguishable mechanism of least loss, with its rows, by the median of three."""
    game, apart = geo_game(places)

    def work() -> LeastLoss:
        return least_loss(
            replace(game, rows=geo_indistinguishable_rows(apart, epsilon=np.log(2), releases=places, dilation=dilation))
        )

    least = work()
    return {"seconds": timed(work, 3), "value": least.quality_loss, "gap": least.optimality_gap}


def geo_spanner(places: int) -> Facts:
    """On a spanner of dilation 1.1."""
    return cheapest(places, 1.1)


def geo_exact(places: int) -> Facts:
    """For all pairs."""
    return cheapest(places, 1.0)


def geo_qif(places: int) -> Facts:
    """The peer package, for all pairs: told which of them others imply, which saves it a third of the time."""
    import qif as peer

    game, apart = geo_game(places)
    start = time.perf_counter()
    edges = {pair for i, j in spanner(apart, dilation=1.0).tolist() for pair in ((i, j), (j, i))}
    channel = peer.mechanism.d_privacy.min_loss_given_d(
        game.mass,
        places,
        lambda i, j: np.log(2) * apart[i, j],
        lambda i, o: apart[i, o],
        d_priv_ch=lambda i, j: (i, j) not in edges,
    )
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "value": float(np.vdot(game.cost, np.array(channel)))}


def geo_joint(places: int) -> Facts:
    """The largest privacy within the spanner's rows and 80 % of the saturating budget."""
    game = grid_game(places, share=0.8)
    rows = geo_indistinguishable_rows(game.error / game.mass, epsilon=np.log(2), releases=places, dilation=1.1)
    solution = solve(replace(game, rows=rows))
    seconds = timed(lambda: solve(replace(game, rows=rows)), 1)
    return {"seconds": seconds, "value": solution.privacy, "gap": solution.optimality_gap}


def closed_form(places: int) -> Facts:
    """Hamming on both sides: no program to solve."""
    game = Game.from_prior(grid_game(places).mass, privacy=1 - np.eye(places), quality=1 - np.eye(places), budget=0.1)
    return {"seconds": timed(lambda: solve(game), 200), "value": solve(game).privacy}


def curve(places: int) -> Facts:
    """Twenty budgets along the curve, warm, against twenty cold solves."""
    game = grid_game(places)
    budgets = np.linspace(0.04, 0.96, 20) * game.saturation
    warm = timed(lambda: trade_off(game, budgets=budgets), 3)
    cold = timed(lambda: [solve(game.with_budget(float(budget))) for budget in budgets], 3)
    return {"seconds": warm, "cold": cold, "width": trade_off(game, budgets=budgets).width / game.prior_risk}


def codebook(places: int) -> Facts:
    """The time to design it; the file's size and the time to open and verify it."""
    seconds = timed(lambda: designed(places), 1)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "me.hideseek"
        designed(places).save(path)
        return {"seconds": seconds, "opens": timed(lambda: Codebook.load(path), 50), "bytes": path.stat().st_size}


def device(places: int) -> Facts:
    """The time of a look-up and draw without the disk, of a whole answer, and of a draw in bulk."""
    book = designed(places)
    with TemporaryDirectory() as folder:
        own = Device(book, Path(folder) / "state")
        number = book.repeating
        seen = book.stages[number].prior.histories[0].tolist()
        start = datetime(2026, 1, 5, tzinfo=UTC)
        times = iter(start + timedelta(minutes=5 * k) for k in range(300))
        answer = timed(lambda: own.expose(46.5, 6.5, at=next(times)), 300)
        walks = walker(places).sample(100, count=10_000)
        bulk = timed(lambda: own.simulate(walks), 3) / walks.size
        return {
            "seconds": timed(lambda: own.draw(number, 0, seen=seen, known=[0]), 20_000),
            "answer": answer,
            "bulk": bulk,
        }


def live(places: int) -> Facts:
    """A live step with the disk, the median and the 99th percentile; the training; a step that is solved anew."""
    profile = walker(places)
    metres = distance(regions_of(profile))
    budget = 0.5 * Game.from_scenario(profile, Scenario.sporadic(), privacy=metres, quality=squared(metres)).saturation
    game = BeliefGame.of(profile, privacy=metres, quality=squared(metres), budget=budget)
    training, planner = clock(lambda: plan(profile, privacy=metres, quality=squared(metres), budget=budget))
    places_visited = regions_of(profile).centres[profile.sample(300)[0]]
    times, first = [], datetime(2026, 1, 5, tzinfo=UTC)
    with TemporaryDirectory() as folder:
        own = LiveDevice(game, planner, state=Path(folder) / "state")
        for k, (latitude, longitude) in enumerate(places_visited.tolist()):
            times.append(clock(partial(own.expose, latitude, longitude, at=first + timedelta(minutes=5 * k)))[0])
    seconds, late = np.percentile(times, (50, 99))
    ahead = planner.cuts @ game.moves.T * game.start
    future = Game(ahead, 0 * game.cost, budget=budget, mass=game.start)
    weights = np.array([1, planner.discount]) / (1 + planner.discount)
    anew = timed(lambda: solve(Alternatives((game.at(game.start), future), weights=weights), tolerance=1e-4), 5)
    return {"seconds": float(seconds), "late": float(late), "training": training, "anew": anew}


CASES: dict[str, Callable[..., Facts]] = {
    case.__name__: case for case in (hideseek, hamming, hamming_scipy, closed_form, curve, codebook, device, live)
}
CASES |= {name: partial(peer, name) for name in PEERS}
CASES |= {case.__name__: case for case in (geo_spanner, geo_exact, geo_qif, geo_joint)}
CASES |= {"person": person, "person_two": partial(person, memory=2)}
CASES |= {"fleet": city_fleet, "fleet_data": real_fleet}
CASES |= {name: partial(start_up, name) for name in STARTS}
CASES |= {"gpu_percent": partial(gpu, 1e-2), "gpu_permille": partial(gpu, 1e-3)}


if __name__ == "__main__":
    imported, busy = megabytes(), time.process_time()
    whole, facts = clock(lambda: CASES[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:]))
    busy = time.process_time() - busy
    print(json.dumps({"imported": imported, "megabytes": megabytes(), "cores": busy / whole} | facts))
