"""What a budget over a day leaves, beside the same budget at every access: ``python -m benchmarks.windows``.

python -m benchmarks.windows                                    ten synthetic people, a day each on 10 x 25 cells
python -m benchmarks.windows cabspotting/ --quality hamming     ten cabs instead, under another loss
python -m benchmarks.windows --share 50% --users 3 --cap 4      another budget, fewer people, a cap per access
python -m benchmarks.windows --against filter,both,log          the choice between the two adversaries

All play far-sighted against an adversary who remembers every release, on walks of the person. Errors are compared at
equal loss: less the ceiling's price of each unit of loss above the budget, which is what the ceiling says such a unit
buys. The loss itself is printed as a share of the budget, and how much it and the privacy of a day vary from day to
day (standard deviations, as shares of the budget and of the mean).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import hideseek as hs
from hideseek.cli.terminal import print_table
from hideseek.experiments.planner_study import CELLS
from hideseek.experiments.user_days import BAY, CITY, PACIFIC, UserDay, days_of, drawn_from
from hideseek.planning import BeliefGame, plan
from hideseek.planning.planner import Planner
from hideseek.planning.player import chosen_by
from hideseek.planning.simulation import SETTLING, Walk, found_on, walked
from hideseek.traces.city import synthetic_city
from hideseek.util.choices import ACCESS, DAY
from hideseek.util.estimates import Estimate

DAYS, STEPS = 2, 288  # of every walk: days, and accesses of a day
COLUMNS = (
    "person, places",
    "budget",
    "filter",
    "times",
    "kept",
    "smoother",
    "times",
    "loss",
    "worst",
    "loss varies by",
    "privacy by",
)


@dataclass(frozen=True)
class Measured:
    """One person and one kind of budget, ``against`` an adversary where it holds over a window.

    Errors are at the loss of the budget, losses shares of it; ``half`` is half of a 95 % interval.
    """

    person: str
    places: int
    against: str
    ceiling: float
    bound: float
    filter: float
    filter_half: float
    smoother: float
    smoother_half: float
    loss: float
    loss_half: float
    worst: float
    loss_varies: float
    privacy_varies: float


def people(data: str | None, users: int) -> list[UserDay]:
    """A day each of some people, always the same ones."""
    if data is None:
        days = days_of(synthetic_city(40, days=14, seed=0), CITY, "0h", "benchmarks", CELLS)
    else:
        days = days_of(hs.read_traces(data), BAY, PACIFIC, "benchmarks", CELLS)
    return drawn_from(days, users, 0, "benchmarks", CELLS)


def measured(day: UserDay, game: BeliefGame, planner: Planner, against: str, walks: int) -> Measured:
    """What is left of a person by one planner."""
    choose, generator, done = chosen_by(game, planner), np.random.default_rng(0), list[Walk]()
    while len(done) < walks:  # a solver goes on best from the access before
        together = walks if game.window > 1 else 1
        done += walked(game, choose, SETTLING + DAYS * STEPS, together, generator)
    found = found_on(done, game, planner, walks * DAYS * STEPS)
    budget, loss = game.budget, float(found.quality_loss)
    above = game.ceiling.price * (loss - budget)
    days = [
        np.concatenate([getattr(walk, name)[SETTLING:].reshape(DAYS, STEPS).mean(axis=1) for walk in done])
        for name in ("loss", "privacy")
    ]
    smoother = found.filter if found.smoother is None else found.smoother
    return Measured(
        person=day.user,
        places=day.profile.places,
        against=against,
        ceiling=found.ceiling,
        bound=found.bound,
        filter=float(found.filter) - above,
        filter_half=half(found.filter),
        smoother=float(smoother) - above,
        smoother_half=half(smoother),
        loss=loss / budget,
        loss_half=half(found.quality_loss) / budget,
        worst=found.worst_loss / budget,
        loss_varies=float(days[0].std() / budget),
        privacy_varies=float(days[1].std() / days[1].mean()),
    )


def rows_of(day: UserDay, asked: argparse.Namespace) -> list[Measured]:
    """A person with the budget at every access, and over the window against each adversary that is asked for."""
    options = {"privacy": "euclid", "quality": asked.quality, "budget": asked.share}
    access = BeliefGame.of(day.profile, **options)
    found = [measured(day, access, plan(access), ACCESS, asked.walks)]
    game = BeliefGame.of(day.profile, **options, over=asked.over, cap=asked.cap)
    adversaries = asked.against.split(",")
    return found + [measured(day, game, plan(game, against=one), one, asked.walks) for one in adversaries]


def half(one: Estimate) -> float:
    """Half of a 95 % interval."""
    return (one.interval[1] - one.interval[0]) / 2


def times(one: Measured, other: Measured, name: str) -> Estimate:
    """How many times as much one leaves, with the interval that follows from both of theirs."""
    ratio = getattr(one, name) / getattr(other, name)
    parts = [getattr(row, f"{name}_half") / getattr(row, name) for row in (one, other)]
    spread = ratio * float(np.hypot(*parts))
    return Estimate(ratio, (ratio - spread, ratio + spread))


def cells(one: Measured, access: Measured) -> tuple[str, ...]:
    """One kind of budget as a line."""
    ratios = [
        f"{times(one, access, name):.2f} ± {half(times(one, access, name)):.2f}" for name in ("filter", "smoother")
    ]
    return (
        f"{one.person}, {one.places}",
        one.against,
        f"{one.filter:.0f} ± {one.filter_half:.0f}",
        ratios[0],
        f"{one.filter / one.ceiling:.2f}",
        f"{one.smoother:.0f} ± {one.smoother_half:.0f}",
        ratios[1],
        f"{one.loss:.2f} ± {one.loss_half:.2f}",
        f"{one.worst:.1f}",
        f"{one.loss_varies:.2f}",
        f"{one.privacy_varies:.2f}",
    )


def means(found: Sequence[list[Measured]]) -> list[str]:
    """For every adversary that was asked for, the means over people of the ratios, and how many are below 1 or 0.95."""
    sentences = []
    for number, first in enumerate(found[0][1:], start=1):
        pairs = [(rows[number], rows[0]) for rows in found]
        filters, smoothers = ([times(*pair, name) for pair in pairs] for name in ("filter", "smoother"))
        low, lower = (sum(one.interval[1] < 1 for one in filters), sum(one.interval[1] < 0.95 for one in smoothers))
        kept, loss = np.mean([(one.filter / one.ceiling, one.loss) for one, _ in pairs], axis=0)
        sentences.append(
            f"{first.against}: filter {np.mean(filters):.3f} times as much (least {min(filters):.2f}, beyond its "
            f"interval below 1 on {low}), smoother {np.mean(smoothers):.3f} (least {min(smoothers):.2f}, beyond its "
            f"interval below 0.95 on {lower}), {kept:.3f} of the ceiling, at {loss:.3f} budgets on average"
        )
    return sentences


def main() -> None:
    """Measure one person after the other, and print as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="traces of the Bay area; synthetic people if not given")
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--quality", default="squared")
    parser.add_argument("--share", default="20%")
    parser.add_argument("--over", default=DAY)
    parser.add_argument("--cap", type=float)
    parser.add_argument("--against", default="both")
    parser.add_argument("--walks", type=int, default=16, help="of two days each")
    parser.add_argument("--csv", type=Path, help="a file for all numbers")
    asked = parser.parse_args()
    found, lines = [], []
    for day in people(asked.data, asked.users):
        found.append(rows_of(day, asked))
        lines += [cells(one, found[-1][0]) for one in found[-1]]
        print(*(" | ".join(line) for line in lines[-len(found[-1]) :]), sep="\n", flush=True)
        if asked.csv is not None:
            table = pd.DataFrame([asdict(one) for rows in found for one in rows])
            table = table.assign(quality=asked.quality, share=asked.share, cap=asked.cap)
            table.assign(people="synthetic" if asked.data is None else "cabs").to_csv(asked.csv, index=False)
    print_table(f"{asked.share} of saturation, {asked.quality}, over {asked.over}", COLUMNS, lines)
    print(*means(found), sep="\n")


if __name__ == "__main__":
    main()
