"""One measurement a process, so that peak memory is its own: ``python -m benchmarks.cases NAME PLACES``.

The game of those that solve one: d_p Euclid, d_q squared Euclid, a Zipf prior on a grid, half the saturating budget.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, linprog

from hideseek import (
    Alternatives,
    Codebook,
    Device,
    Game,
    LiveDevice,
    MarkovProfile,
    Places,
    RepeatedGame,
    Scenario,
    design,
    distance,
    plan,
    solve,
    squared,
    trade_off,
)
from hideseek.arrays import FloatArray
from hideseek.baselines.geo_indistinguishable import geo_indistinguishable_rows, spanner
from hideseek.mobility import regions_of
from hideseek.solve import LeastLoss, least_loss

Facts = dict[str, float]


def grid_game(places: int, share: float = 0.5, seed: int = 0) -> Game:
    """Places on the squarest grid, with a shuffled Zipf prior."""
    rows = int(np.sqrt(places))
    points = np.array([divmod(k, -(-places // rows)) for k in range(places)], float)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    prior = 1 / np.arange(1, places + 1)
    np.random.default_rng(seed).shuffle(prior)
    game = Game.from_prior(prior / prior.sum(), distance, distance**2, 1e9)
    return game.with_budget(share * game.saturation)


def timed(work: Callable[[], object], repeats: int) -> float:
    """The median of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def some_games(places: int) -> list[Game]:
    """Several priors where a solve is short."""
    return [grid_game(places, seed=seed) for seed in range(15 if places <= 50 else 5 if places <= 100 else 1)]


def hideseek(places: int) -> Facts:
    """Our default method: the median time, and the value for the first prior."""
    games = some_games(places)
    solve(grid_game(9))  # loads HiGHS
    solution = solve(games[0])
    seconds = [timed(partial(solve, game), 3 if places <= 250 else 1) for game in games]
    return {"seconds": float(np.median(seconds)), "value": solution.privacy, "gap": solution.gap}


def scipy(places: int) -> Facts:
    """The paper's program written down whole and given to scipy's linprog as it is."""
    games = some_games(places)
    results, seconds = [], []
    for game in games:
        start = time.perf_counter()
        results.append(whole_program(game))
        seconds.append(time.perf_counter() - start)
    return {"seconds": float(np.median(seconds)), "value": -results[0].fun}


def whole_program(game: Game) -> OptimizeResult:
    """max sum_o y_o  subject to  y_o <= sum_i W[g, i] f(o|i),  sum C f <= Q,  rows of f summing to 1."""
    inputs, releases = game.cost.shape
    each = sparse.eye_array(releases)
    guesses = sparse.hstack([sparse.kron(-game.error, each), sparse.kron(np.ones((len(game.error), 1)), each)])
    budget = sparse.hstack([sparse.csr_array(game.cost.reshape(1, -1)), sparse.csr_array((1, releases))])
    totals = sparse.hstack(
        [sparse.kron(sparse.eye_array(inputs), np.ones((1, releases))), sparse.csr_array((inputs, releases))]
    )
    return linprog(
        np.r_[np.zeros(inputs * releases), -np.ones(releases)],
        A_ub=sparse.vstack([guesses, budget], format="csr"),
        b_ub=np.r_[np.zeros(guesses.shape[0]), game.budget],
        A_eq=totals.tocsr(),
        b_eq=np.ones(inputs),
        bounds=[(0, None)] * (inputs * releases) + [(None, None)] * releases,
        method="highs",
    )


def qif(places: int) -> Facts:
    """The peer package's solver of the same game."""
    import qif as peer

    game = grid_game(places)
    d_p, d_q = game.error / game.mass, game.cost / game.mass[:, None]
    start = time.perf_counter()
    channel = peer.mechanism.l_risk.max_risk_given_max_loss(
        game.mass, places, places, game.budget, lambda g, a: d_p[g, a], lambda a, o: d_q[a, o]
    )
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "value": float((game.error @ np.array(channel)).min(axis=0).sum())}


def geo_game(places: int) -> tuple[Game, FloatArray]:
    """The grid's distance as the quality, and as what geo-indistinguishability means, epsilon ln 2 a cell."""
    game = grid_game(places)
    apart = game.error / game.mass
    return Game.from_prior(game.mass, apart, apart, 1e9), apart


def cheapest(places: int, dilation: float) -> Facts:
    """The geo-indistinguishable mechanism of least loss, with its rows, by the median of three."""
    game, apart = geo_game(places)

    def work() -> LeastLoss:
        return least_loss(replace(game, rows=geo_indistinguishable_rows(apart, np.log(2), places, dilation)))

    least = work()
    return {"seconds": timed(work, 3), "value": least.quality_loss, "gap": least.gap}


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
    edges = {pair for i, j in spanner(apart, 1.0).tolist() for pair in ((i, j), (j, i))}
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
    rows = geo_indistinguishable_rows(game.error / game.mass, np.log(2), places, 1.1)
    solution = solve(replace(game, rows=rows))
    seconds = timed(lambda: solve(replace(game, rows=rows)), 1)
    return {"seconds": seconds, "value": solution.privacy, "gap": solution.gap}


def closed_form(places: int) -> Facts:
    """Hamming on both sides: no program to solve."""
    game = Game.from_prior(grid_game(places).mass, 1 - np.eye(places), 1 - np.eye(places), 0.1)
    return {"seconds": timed(lambda: solve(game), 200), "value": solve(game).privacy}


def curve(places: int) -> Facts:
    """Twenty budgets along the curve, warm, against twenty cold solves."""
    game = grid_game(places)
    budgets = np.linspace(0.04, 0.96, 20) * game.saturation
    warm = timed(lambda: trade_off(game, budgets), 3)
    cold = timed(lambda: [solve(game.with_budget(float(budget))) for budget in budgets], 3)
    return {"seconds": warm, "cold": cold, "width": trade_off(game, budgets).width / game.prior_risk}


def walker(places: int) -> MarkovProfile:
    """Somebody who mostly stays, and otherwise goes to a neighbouring place of the grid or home."""
    rows = int(np.sqrt(places))
    points = np.array([divmod(k, -(-places // rows)) for k in range(places)], float)
    apart = np.abs(points[:, None] - points[None]).sum(axis=2)
    matrix = 0.8 * np.eye(places) + 0.15 * (apart == 1) / (apart == 1).sum(axis=1, keepdims=True)
    matrix[:, 0] += 0.05
    latitudes, longitudes = (points / 100 + (46.5, 6.5)).T.tolist()
    return MarkovProfile.from_matrix(matrix, Places(latitudes, longitudes))


def designed(places: int) -> Codebook:
    """One release seen, Euclid against squared Euclid, tables for gaps of up to three accesses."""
    profile = walker(places)
    metres = distance(regions_of(profile))
    game = Game.from_scenario(profile, Scenario.sporadic(), metres, squared(metres))
    budget = 0.2 * game.saturation
    return design(profile, Scenario.past_present(1), metres, squared(metres), budget, gaps=3, workers=1)


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
        answer = timed(lambda: own.expose(46.5, 6.5, next(times)), 300)
        walks = walker(places).sample(100, 10_000)
        bulk = timed(lambda: own.simulate(walks), 3) / walks.size
        return {"seconds": timed(lambda: own.draw(number, 0, seen, [0]), 20_000), "answer": answer, "bulk": bulk}


def live(places: int) -> Facts:
    """A live step with the disk, the median and the 99th percentile; the training; a step that is solved anew."""
    profile = walker(places)
    metres = distance(regions_of(profile))
    budget = 0.5 * Game.from_scenario(profile, Scenario.sporadic(), metres, squared(metres)).saturation
    game = RepeatedGame.of(profile, metres, squared(metres), budget)
    start = time.perf_counter()
    planner = plan(profile, metres, squared(metres), budget)
    training = time.perf_counter() - start
    places_visited = regions_of(profile).centres[profile.sample(300)[0]]
    times, first = [], datetime(2026, 1, 5, tzinfo=UTC)
    with TemporaryDirectory() as folder:
        own = LiveDevice.of(game, planner, Path(folder) / "state")
        for k, (latitude, longitude) in enumerate(places_visited.tolist()):
            start = time.perf_counter()
            own.expose(latitude, longitude, first + timedelta(minutes=5 * k))
            times.append(time.perf_counter() - start)
    seconds, late = np.percentile(times, (50, 99))
    ahead = planner.cuts @ game.moves.T * game.start
    future = Game(ahead, 0 * game.cost, budget, mass=game.start)
    weights = np.array([1, planner.discount]) / (1 + planner.discount)
    anew = timed(lambda: solve(Alternatives((game.at(game.start), future), weights=weights), tolerance=1e-4), 5)
    return {"seconds": float(seconds), "late": float(late), "training": training, "anew": anew}


GEO = (geo_spanner, geo_exact, geo_qif, geo_joint)
CASES = {case.__name__: case for case in (hideseek, scipy, qif, closed_form, curve, codebook, device, live, *GEO)}


if __name__ == "__main__":
    facts = CASES[sys.argv[1]](int(sys.argv[2]))
    facts["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(facts))
