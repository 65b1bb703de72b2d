"""The whole job on one synthetic person: learn, solve, attack, report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hideseek.attacks import correlation_aware_error, expected_error, guess_law
from hideseek.data import city_people, synthetic_city
from hideseek.data.city import BOX
from hideseek.figures import Panel, curve_figure, maps_figure
from hideseek.game import Game
from hideseek.metrics import distance, squared, total
from hideseek.mobility import MarkovProfile, regions_of
from hideseek.regions import Grid
from hideseek.report import Section, Table, html_report
from hideseek.scenario import Scenario
from hideseek.solve import Curve, Solution, solve, trade_off

DAYS = 14
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75)  # budgets, as shares of what it takes to tell the adversary nothing
SHOWN = 0.5
SCENARIOS = {"now": Scenario.sporadic(), "now and next": Scenario.present_future(route="unknown")}
STEPS = 2 + len(SCENARIOS) * (len(SHARES) + 1)  # how often run_demo tells what it is doing


@dataclass(frozen=True)
class Row:
    """One solved game and what attacks on its mechanism find, in metres a place.

    ``allowed`` and ``lost`` are root mean square displacements; ``attacked`` is the error of the best guesses, worked
    out again from the table; ``remembering`` that of an adversary who also recalls the release before.
    """

    scenario: str
    allowed: float
    lost: float
    privacy: float
    bound: float
    gap: float
    attacked: float
    remembering: float | None


@dataclass(frozen=True)
class Demo:
    """What the demo found, and where it wrote it."""

    rows: tuple[Row, ...]
    report: Path


def run_demo(out: Path, seed: int, advance: Callable[[str], None]) -> Demo:
    """Learn a profile, solve two games over a range of budgets, attack them, and write the report into a folder."""
    advance("learning the profile")
    out.mkdir(parents=True, exist_ok=True)
    traces = synthetic_city(people=1, days=DAYS, seed=seed)
    profile = MarkovProfile.fit(traces, Grid(*BOX, rows=8, columns=8), step="5min")
    metres = distance(regions_of(profile))
    rows: list[Row] = []
    curves: dict[str, Curve] = {}
    solutions: dict[tuple[str, float], Solution] = {}
    for name, scenario in SCENARIOS.items():
        game = Game.from_scenario(profile, scenario, total(metres), total(squared(metres)))
        for share in SHARES:
            advance(f"{name}, budget {share:.0%}")
            affordable = game.with_budget(share * game.saturation)
            solution = solve(affordable)
            rows.append(row_of(name, affordable, solution, profile))
            solutions[name, share] = solution
        advance(f"{name}, the curve")
        curves[name] = trade_off(game, budgets=np.linspace(0, game.saturation, 21))
    advance("writing the report")
    person = city_people(1, seed)[0]
    home, work = (int(regions_of(profile).nearest(at.latitude, at.longitude)[0]) for at in (person.home, person.work))
    page = demo_page(profile, rows, curves, solutions["now", SHOWN], home, work, out)
    report = out / "report.html"
    report.write_text(page, encoding="utf-8")
    return Demo(tuple(rows), report)


def row_of(name: str, game: Game, solution: Solution, profile: MarkovProfile) -> Row:
    """A solution in metres a place, attacked anew."""
    places = game.guesses.shape[1]
    alone = correlation_aware_error(profile, solution.mechanism, distance(regions_of(profile))) if places == 1 else None
    return Row(
        scenario=name,
        allowed=float(np.sqrt(game.budget / places)),
        lost=float(np.sqrt(solution.quality_loss / places)),
        privacy=solution.privacy / places,
        bound=solution.bound / places,
        gap=solution.gap,
        attacked=expected_error(game, solution.mechanism) / places,
        remembering=alone,
    )


def demo_page(
    profile: MarkovProfile,
    rows: Sequence[Row],
    curves: dict[str, Curve],
    solution: Solution,
    home: int,
    work: int,
    out: Path,
) -> str:
    """The report: one place's story, every budget, the curve. The first figure is also saved as story.png."""
    exposed, guessed = solution.mechanism.table[work], guess_law(solution.mechanism, solution.attack)[work]
    story = maps_figure(
        regions_of(profile),
        [
            Panel("Where the person is", "share of time", profile.stationary, {"home": home, "work": work}),
            Panel("What is exposed at work", "probability", exposed, {"truth": work}),
            Panel("What the adversary guesses", "probability", guessed, {"truth": work}),
        ],
    )
    story.savefig(out / "story.png", dpi=110)
    trade = curve_figure(curves, "distance (m), added over places", "squared distance (m²), added over places")
    return html_report(
        "Where were you? The best answer is a calculated one",
        f"A synthetic person was followed for {DAYS} days. For every place they visit, hideseek computed what to "
        "expose so that an adversary who knows their habits and the mechanism errs as much as the quality of the "
        "service allows. The numbers are certified: no mechanism at all does better than the bound.",
        [
            Section(
                "One place: work",
                f"{profile.places} places were visited, and the share of time in each is what an adversary knows "
                f"before anything is exposed. With {np.sqrt(solution.quality_loss):,.0f} m root mean square "
                "displacement allowed, the mechanism at work answers from the places in the middle map. The best "
                "possible adversary then guesses those on the right, and names the place of work with probability "
                f"{guessed[work]:.0%}. Over all places he errs by {solution.privacy:,.0f} m in the mean, and no "
                f"mechanism of this quality can make him err by more than {solution.bound:,.0f} m (relative gap "
                f"{solution.gap:.0e}).",
                figures=[(story, "Maps of where the person is, what is exposed at work, what the adversary guesses")],
            ),
            Section(
                "Every budget",
                "Metres a place: the root mean square displacement allowed, the adversary's error that is certainly "
                "reached, the error that no mechanism exceeds, and the error of his best guesses, worked out again "
                "from the finished table. Remembering is what is left of the single-place mechanism when the adversary "
                "also recalls the exposure before: people move predictably, so a mechanism made for one place "
                "promises more than it keeps along a way.",
                table=table_of(rows),
            ),
            Section(
                "The trade-off",
                "The line is what is reached, the shaded band (mostly thinner than the line) what is proved to contain "
                "the optimum, also between the points.",
                figures=[(trade, "Curves of the largest privacy against the quality loss allowed")],
            ),
        ],
    )


def table_of(rows: Sequence[Row]) -> Table:
    """The rows as text."""
    return Table(
        ("protect", "allowed", "privacy", "bound", "gap", "attacked", "remembering"),
        tuple(
            (
                row.scenario,
                f"{row.allowed:,.0f} m",
                f"{row.privacy:,.1f} m",
                f"{row.bound:,.1f} m",
                f"{row.gap:.0e}",
                f"{row.attacked:,.1f} m",
                "" if row.remembering is None else f"{row.remembering:,.1f} m",
            )
            for row in rows
        ),
    )
