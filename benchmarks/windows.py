"""What a budget over a day leaves, beside the same budget at every access: ``python -m benchmarks.windows``.

python -m benchmarks.windows                                    ten synthetic people, a day each on 10 x 25 cells
python -m benchmarks.windows cabspotting/ --quality hamming     ten cabs instead, under another loss
python -m benchmarks.windows --share 50% --users 3 --cap 4      another budget, fewer people, a cap per access

Both play far-sighted against an adversary who remembers every release, on walks of the person. Ratios are those of the
expected errors, with nothing corrected for loss; the loss of either is printed as a share of the budget.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import hideseek as hs
from hideseek.cli.terminal import print_table
from hideseek.experiments.planner_study import CELLS
from hideseek.experiments.user_days import BAY, CITY, PACIFIC, UserDay, days_of, drawn_from
from hideseek.planning import BeliefGame, Foresight, follow, plan
from hideseek.traces.city import synthetic_city
from hideseek.util.estimates import Estimate

WALKS, ACCESSES = 16, 288  # of each: a day of five-minute steps


@dataclass(frozen=True)
class Measured:
    """One person: what is left with the budget over the window, and at every access."""

    name: str
    places: int
    budget: float
    over: Foresight
    access: Foresight


def people(data: str | None, users: int) -> list[UserDay]:
    """A day each of some people, always the same ones."""
    if data is None:
        days = days_of(synthetic_city(40, days=14, seed=0), CITY, "0h", "benchmarks", CELLS)
    else:
        days = days_of(hs.read_traces(data), BAY, PACIFIC, "benchmarks", CELLS)
    return drawn_from(days, users, 0, "benchmarks", CELLS)


def measured(day: UserDay, quality: str, share: str, over: str, cap: float | None) -> Measured:
    """Both budgets for one person."""
    found = []
    for window, most in ((over, cap), ("access", None)):
        game = BeliefGame.of(day.profile, privacy="euclid", quality=quality, budget=share, over=window, cap=most)
        found.append(follow(game, plan(game), accesses=WALKS * ACCESSES, walks=WALKS))
    return Measured(day.user, day.profile.places, game.budget, *found)


def row(one: Measured) -> tuple[str, ...]:
    """One person as a line."""
    over, access = one.over, one.access
    return (
        f"{one.name}, {one.places}",
        *(f"{error:.0f} ± {half(error):.0f}" for error in (over.filter, access.filter)),
        f"{over.filter / access.filter:.2f}",
        f"{over.kept:.2f}",
        *(f"{error:.0f} ± {half(error):.0f}" for error in smoothers(one)),
        f"{smoothers(one)[0] / smoothers(one)[1]:.2f}",
        f"{over.quality_loss / one.budget:.2f} ± {half(over.quality_loss) / one.budget:.2f}",
        f"{over.worst_loss / one.budget:.1f}",
    )


def smoothers(one: Measured) -> tuple[Estimate, Estimate]:
    """The errors of whoever reads the log later."""
    over, access = one.over.smoother, one.access.smoother
    if over is None or access is None:
        raise ValueError("The current place is protected, so that there is a smoother.")
    return over, access


def half(one: Estimate) -> float:
    """Half of a 95 % interval."""
    return (one.interval[1] - one.interval[0]) / 2


def means(found: Sequence[Measured]) -> str:
    """The means of the ratios, and the least of them, in a sentence."""
    filters = [one.over.filter / one.access.filter for one in found]
    smoothed = [smoothers(one)[0] / smoothers(one)[1] for one in found]
    kept, loss = (np.mean([number(one) for one in found]) for number in (kept_of, loss_of))
    return (
        f"filter {np.mean(filters):.3f} times as much (least {min(filters):.2f}), smoother {np.mean(smoothed):.3f} "
        f"(least {min(smoothed):.2f}), {kept:.3f} of the ceiling, at {loss:.3f} budgets on average"
    )


def kept_of(one: Measured) -> float:
    """The share of the ceiling."""
    return float(one.over.kept)


def loss_of(one: Measured) -> float:
    """The loss as a share of the budget."""
    return float(one.over.quality_loss / one.budget)


def main() -> None:
    """Measure one person after the other, and print as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", help="traces of the Bay area; synthetic people if not given")
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--quality", default="squared")
    parser.add_argument("--share", default="20%")
    parser.add_argument("--over", default="1 day")
    parser.add_argument("--cap", type=float)
    asked = parser.parse_args()
    found = []
    for day in people(asked.data, asked.users):
        found.append(measured(day, asked.quality, asked.share, asked.over, asked.cap))
        print(" | ".join(row(found[-1])), flush=True)
    title = f"{asked.share} of saturation, {asked.quality}, over {asked.over}"
    header = ("person, places", "filter", "at every access", "ratio", "kept", "smoother", "at every access", "ratio")
    print_table(title, (*header, "loss", "worst access"), [row(one) for one in found])
    print(means(found))


if __name__ == "__main__":
    main()
