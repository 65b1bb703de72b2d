"""What a budget over a day leaves, beside the same budget at every access: ``python -m benchmarks.windows``.

python -m benchmarks.windows                                    ten synthetic people, a day each on 10 x 25 cells
python -m benchmarks.windows cabspotting/ --quality hamming     ten cabs instead, under another loss
python -m benchmarks.windows --share 50% --users 3 --cap 4      another budget, fewer people, a cap per access

Both play far-sighted against an adversary who remembers every release, on walks of the person, three days each. Errors
are compared at equal loss: less the ceiling's price of each unit of loss above the budget, which is the most that such
a unit can buy on average. The loss itself is printed as a share of the budget.
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

WALKS, ACCESSES = 16, 864  # of each: three days of five-minute steps


@dataclass(frozen=True)
class Measured:
    """One person: what is left with the budget over the window, and at every access; ``price`` is the ceiling's."""

    name: str
    places: int
    budget: float
    price: float
    over: Foresight
    access: Foresight

    def error(self, one: Foresight, name: str) -> Estimate:
        """The error of the filter or the smoother, at the loss of the budget."""
        found, more = getattr(one, name), self.price * float(one.quality_loss - self.budget)
        return Estimate(float(found) - more, tuple(end - more for end in found.interval))

    def ratio(self, name: str) -> float:
        """How many times as much the window leaves."""
        return float(self.error(self.over, name) / self.error(self.access, name))

    @property
    def kept(self) -> float:
        """The window's share of the ceiling."""
        return float(self.error(self.over, "filter") / self.over.ceiling)


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
    return Measured(day.user, day.profile.places, game.budget, game.ceiling.price, *found)


def row(one: Measured) -> tuple[str, ...]:
    """One person as a line."""
    cells = [f"{one.name}, {one.places}"]
    for name in ("filter", "smoother"):
        errors = [one.error(found, name) for found in (one.over, one.access)]
        cells += [f"{error:.0f} ± {half(error):.0f}" for error in errors]
        cells += [f"{one.ratio(name):.2f}"] + [f"{one.kept:.2f}"] * (name == "filter")
    loss, largest = one.over.quality_loss / one.budget, one.over.worst_loss / one.budget
    return (*cells, f"{loss:.2f} ± {half(one.over.quality_loss) / one.budget:.2f}", f"{largest:.1f}")


def half(one: Estimate) -> float:
    """Half of a 95 % interval."""
    return (one.interval[1] - one.interval[0]) / 2


def means(found: Sequence[Measured]) -> str:
    """The means of the ratios, and the least of them, in a sentence."""
    filters, smoothers = ([one.ratio(name) for one in found] for name in ("filter", "smoother"))
    kept = np.mean([one.kept for one in found])
    loss = np.mean([float(one.over.quality_loss / one.budget) for one in found])
    return (
        f"filter {np.mean(filters):.3f} times as much (least {min(filters):.2f}), smoother {np.mean(smoothers):.3f} "
        f"(least {min(smoothers):.2f}), {kept:.3f} of the ceiling, at {loss:.3f} budgets on average"
    )


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
