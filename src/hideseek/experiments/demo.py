"""Everything on one synthetic person: learn, solve, attack; design, expose a day, label; plan ahead; report."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from hideseek.adversary.label import ASSUMPTION, Label, evaluate
from hideseek.adversary.one_shot import correlation_aware_error, expected_error, guess_distribution
from hideseek.adversary.through_time import beliefs
from hideseek.codebook.codebook import Codebook
from hideseek.designing.designer import design
from hideseek.device.codebook_device import Device
from hideseek.experiments.report import Section, Table, html_report
from hideseek.experiments.wording import foresight_table, label_table, loss_words
from hideseek.game.game import Game
from hideseek.metrics.of_places import distance, squared
from hideseek.metrics.of_vectors import total
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import Grid
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.player import Player
from hideseek.planning.simulation import Foresight, follow, walked
from hideseek.planning.training import plan
from hideseek.plots.curves import curve_figure
from hideseek.plots.maps import Panel, maps_figure, trajectories_figure
from hideseek.plots.style import save_as
from hideseek.plots.through_time import belief_figure, memory_figure
from hideseek.solvers.curve import Curve, trade_off
from hideseek.solvers.dispatch import solve
from hideseek.solvers.solution import Solution
from hideseek.traces.city import BOX, city_people, synthetic_city
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.choices import Outlook
from hideseek.util.progress import Advance

DAYS = 14
SHARES = (
    0.05,
    0.1,
    0.2,
    0.35,
    0.5,
    0.75,
)  # of the saturating budget, at which releases reveal nothing
SHOWN = 0.5
SCENARIOS = {"now": Scenario.sporadic(), "now and next": Scenario.present_future()}
CODEBOOK_SHARE = 0.2
SHOWN_ACCESSES, SHOWN_WALKS = 24, 60  # of the picture of planning ahead
TITLE = "Where were you? The best answer is a calculated one"
LEAD = (
    f"A synthetic person was followed for {DAYS} days. For every place they visit, hideseek computed what to expose "
    "so that the expected error of an adversary who knows their habits and the mechanism is as large as the quality "
    "of the service allows. The numbers are certified: no mechanism at all does better than the bound."
)
STEPS = 6 + len(SCENARIOS) * (len(SHARES) + 1)  # how often run_demo reports its progress


@dataclass(frozen=True)
class DemoRow:
    """One solved game and what attacks on its mechanism find, in metres per place.

    ``allowed`` and ``lost`` are root mean square displacements; ``attacked`` is the error of the best guesses, computed
    again from the table; ``remembering`` that of an adversary who also remembers the release before.
    """

    scenario: str
    allowed: float
    lost: float
    privacy: float
    bound: float
    optimality_gap: float
    attacked: float
    remembering: float | None


@dataclass(frozen=True)
class Demo:
    """What the demo found, and where it wrote it."""

    rows: tuple[DemoRow, ...]
    label: Label
    foresight: Mapping[Outlook, Foresight]
    report: Path
    codebook: Path


@dataclass(frozen=True, eq=False)
class Ahead:
    """A planner: what it keeps, and the average error at each access of an adversary who remembers every release."""

    foresight: Foresight
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class Day:
    """A day of the person: hours, true and exposed places, and what the adversary believed."""

    hours: FloatArray
    true: IntArray
    exposed: IntArray
    belief: FloatArray


def run_demo(out: Path, seed: int, progress: Advance) -> Demo:
    """Learn a profile, solve two games over a range of budgets, attack them, and write the report into a folder."""
    done = itertools.count()

    def advance(news: str) -> None:
        progress(news, next(done), STEPS)

    advance("learning the profile")
    out.mkdir(parents=True, exist_ok=True)
    traces = synthetic_city(people=1, days=DAYS, seed=seed)
    profile = MarkovProfile.fit(traces, Grid(*BOX, rows=8, columns=8), step="5min")
    metres = distance(regions_of(profile))
    rows: list[DemoRow] = []
    curves: dict[str, Curve] = {}
    solutions: dict[tuple[str, float], Solution] = {}
    for name, scenario in SCENARIOS.items():
        game = Game.from_scenario(profile, scenario, privacy=total(metres), quality=total(squared(metres)))
        for share in SHARES:
            advance(f"{name}, budget {share:.0%}")
            affordable = game.with_budget(share * game.saturation)
            solution = solve(affordable)
            rows.append(row_of(name, affordable, solution, profile))
            solutions[name, share] = solution
        advance(f"{name}, the curve")
        curves[name] = trade_off(game, budgets=np.linspace(0, game.saturation, 21))
    advance("designing the codebook")
    scenario = Scenario.past_present(memory=1)
    game = Game.from_scenario(profile, Scenario.sporadic(), privacy=metres, quality=squared(metres))
    codebook = design(
        profile, scenario, privacy=metres, quality=squared(metres), budget=CODEBOOK_SHARE * game.saturation
    )
    codebook.save(out / "person.hideseek")
    advance("exposing a day")
    day = expose_day(traces, profile, Codebook.load(out / "person.hideseek"), out / "person.state")
    advance("attacking it")
    label = evaluate(codebook, profile, accesses=len(day.hours))
    advance("planning ahead")
    repeated = BeliefGame.of(profile, privacy=metres, quality=squared(metres), budget=codebook.budget)
    ahead = {outlook: played(repeated, outlook, seed) for outlook in (Outlook.PLAIN, Outlook.FAR_SIGHTED)}
    advance("writing the report")
    person = city_people(1, seed=seed)[0]
    home, work = (int(regions_of(profile).nearest(at.latitude, at.longitude)[0]) for at in (person.home, person.work))
    sections = demo_sections(profile, rows, curves, solutions["now", SHOWN], home, work, out)
    report = out / "report.html"
    sections += [*day_sections(profile, codebook, day, label), foresight_section(ahead)]
    report.write_text(html_report(TITLE, LEAD, sections), encoding="utf-8")
    foresight = {outlook: one.foresight for outlook, one in ahead.items()}
    return Demo(tuple(rows), label, foresight, report, out / "person.hideseek")


def played(game: BeliefGame, outlook: Outlook, seed: int) -> Ahead:
    """A planner, trained and followed."""
    planner = plan(game, outlook=outlook, seed=seed)
    player, generator = Player(game, planner), np.random.default_rng(seed)
    ways = [walked(player, SHOWN_ACCESSES, generator) for _ in range(SHOWN_WALKS)]
    return Ahead(follow(game, planner, walks=SHOWN_WALKS, seed=seed), np.mean([way.privacy for way in ways], axis=0))


def expose_day(traces: pd.DataFrame, profile: MarkovProfile, codebook: Codebook, state: Path) -> Day:
    """Ask a device at every step of the last workday, wherever the person was last seen."""
    state.unlink(missing_ok=True)
    device = Device(codebook, state)
    times = traces["tracked_at"]
    start = times[times.dt.day_of_week < 5].max().floor("1D")
    steps = pd.date_range(start, start + pd.Timedelta("1D"), freq=codebook.step, inclusive="left")
    before = np.searchsorted(times, steps, side="right") - 1
    fixes = traces.iloc[np.maximum(before, 0)]
    points = list(zip(fixes["latitude"], fixes["longitude"], steps, strict=True))
    answers = [device.expose(latitude, longitude, at=at.to_pydatetime()) for latitude, longitude, at in points]
    exposed = np.array([answer.place for answer in answers])
    return Day(
        ((steps - start) / pd.Timedelta("1h")).to_numpy(np.float64),
        regions_of(profile).nearest(fixes["latitude"], fixes["longitude"]),
        exposed,
        beliefs(codebook, profile, exposed=exposed),
    )


def row_of(name: str, game: Game, solution: Solution, profile: MarkovProfile) -> DemoRow:
    """A solution in metres per place, with the best attack on the finished table."""
    places = game.guesses.shape[1]
    alone = (
        correlation_aware_error(profile, solution.mechanism, privacy=distance(regions_of(profile)))
        if places == 1
        else None
    )
    return DemoRow(
        scenario=name,
        allowed=float(np.sqrt(game.budget / places)),
        lost=float(np.sqrt(solution.quality_loss / places)),
        privacy=solution.privacy / places,
        bound=solution.bound / places,
        optimality_gap=solution.optimality_gap,
        attacked=expected_error(game, solution.mechanism) / places,
        remembering=alone,
    )


def demo_sections(
    profile: MarkovProfile,
    rows: Sequence[DemoRow],
    curves: dict[str, Curve],
    solution: Solution,
    home: int,
    work: int,
    out: Path,
) -> list[Section]:
    """The first part of the report: one place's story (also saved as story.png), every budget, the curve."""
    exposed, guessed = solution.mechanism.table[work], guess_distribution(solution.mechanism, solution.attack)[work]
    story = maps_figure(
        regions_of(profile),
        [
            Panel("Where the person is", "share of time", profile.stationary, {"home": home, "work": work}),
            Panel("What is exposed at work", "probability", exposed, {"truth": work}),
            Panel("What the adversary guesses", "probability", guessed, {"truth": work}),
        ],
    )
    save_as(story, out / "story.png", dpi=110)
    trade = curve_figure(
        curves, "distance (m), added over places", "root mean square displacement (m), of the places together"
    )
    return [
        Section(
            "One place: work",
            f"{profile.places} places were visited, and the share of time in each is what an adversary knows "
            f"before anything is exposed. With {np.sqrt(solution.quality_loss):,.0f} m root mean square "
            "displacement allowed, the mechanism at work answers from the places in the middle map. The best "
            "possible adversary then guesses those on the right, and names the place of work with probability "
            f"{guessed[work]:.0%}. Over all places the expected error is {solution.privacy:,.0f} m, and no "
            f"mechanism of this quality can make it exceed {solution.bound:,.0f} m (optimality gap "
            f"{solution.optimality_gap:.0e}).",
            figures=[(story, "Maps of where the person is, what is exposed at work, what the adversary guesses")],
        ),
        Section(
            "Every budget",
            "Metres per place: the root mean square displacement allowed, the expected error that is proved to "
            "be reached, the error that no mechanism exceeds, and the error of the best guesses, computed again "
            "from the finished table. Remembering is what is left of the single-place mechanism when the adversary "
            "also remembers the release before: people move predictably, so a mechanism made for one place "
            "promises more than it keeps along a trajectory.",
            table=table_of(rows),
        ),
        Section(
            "The trade-off",
            "The line is what is reached, the shaded band (mostly thinner than the line) what is proved to contain "
            "the optimum, also between the points.",
            figures=[(trade, "Curves of the largest privacy against the quality loss allowed")],
        ),
    ]


def day_sections(profile: MarkovProfile, codebook: Codebook, day: Day, label: Label) -> list[Section]:
    """The second part: a day through a device, what the adversary believes, and the label."""
    done, right = codebook.deployed, float((day.belief.argmax(axis=1) == day.true).mean())
    day_maps = trajectories_figure(
        regions_of(profile), {"The true day": day.true, "The exposed day": day.exposed}, day.hours
    )
    belief = belief_figure(day.belief, day.true, day.exposed, day.hours)
    return [
        Section(
            "A day through a device",
            "A release also reveals something about the next place, so a codebook was designed for every history that "
            f"can occur: {sum(len(stage.prior.histories) for stage in codebook.stages)} tables of whole numbers, in a "
            f"file of {len(codebook.content) / 1000:,.0f} kB that a device only looks up and draws from. It was "
            f"asked every five minutes of the last workday. {np.sqrt(codebook.budget):,.0f} m root mean square "
            "displacement is allowed given the release that it remembers; as deployed, the worst history loses "
            f"{np.sqrt(done.worst_loss):,.0f} m. Of the optimal tables of the first access, the one was taken that "
            f"reveals the least about what follows: the second access then leaves {done.second_privacy:,.0f} m of "
            f"error, and at most {done.plain_second_privacy:,.0f} m after the solver's own.",
            figures=[(day_maps, "Maps of the true and of the exposed trajectory of a day")],
        ),
        Section(
            "What the adversary believes",
            "Each column is the belief of an adversary who knows the person's habits, the codebook and every "
            f"release so far. On this day the likeliest place was the true one at {right:.0%} of the steps: a person "
            "who sleeps at home is at home, and no mechanism changes that.",
            figures=[(belief, "The adversary's belief over places at every step, with true and exposed places")],
        ),
        Section(
            "The label",
            f"The adversary's expected error per access, over {label.accesses} accesses. The tables were optimised "
            "against the window; an adversary who remembers every release does better (filter), and better still "
            "with the later releases (smoother, and Viterbi's single most likely path). The predictor guesses the "
            f"next place. No mechanism of this quality can exceed the ceiling; {label.kept:.0%} of it is kept "
            "against the filter. Simulated numbers carry their 95 % interval. "
            f"{loss_words(label, codebook.budget, codebook.quality.unit)} {ASSUMPTION}",
            table=label_table(label, "m"),
        ),
    ]


def foresight_section(ahead: Mapping[Outlook, Ahead]) -> Section:
    """The last part: what planning ahead is worth, between what it reaches and what nothing exceeds."""
    plain, far = ahead[Outlook.PLAIN].foresight, ahead[Outlook.FAR_SIGHTED].foresight
    errors = {str(outlook): one.errors for outlook, one in ahead.items()}
    kept = {str(outlook): one.foresight.kept for outlook, one in ahead.items()}
    figure = memory_figure(errors, kept, far.bound, far.ceiling, "m")
    return Section(
        "Planning ahead",
        "A device with a solver solves the game at every access, for the current belief of an adversary who remembers "
        "every release. There are many optima, and the one that the solver happens to end at reveals "
        f"much: from the second access on little is left, and in the long run {plain.kept:.0%} of the ceiling. A "
        f"planner counts what a release leaves for later, and gives up some at first to keep {far.kept:.0%} in the "
        "long run. The cuts of its training prove that no mechanism which keeps the budget given every release keeps "
        f"more than {far.bound / far.ceiling:.0%}, {far.bound:,.0f} of {far.ceiling:,.0f} m. Both planners keep "
        "the budget so. The codebook above keeps it only given the release that it remembers, so this bound does not "
        f"hold for it. What is kept was simulated, and carries its 95 % confidence interval. {ASSUMPTION}",
        table=foresight_table({outlook: one.foresight for outlook, one in ahead.items()}, "m"),
        figures=[(figure, "The adversary's error at each access, without and with planning, under two bounds")],
    )


def table_of(rows: Sequence[DemoRow]) -> Table:
    """The rows as text."""
    return Table(
        ("protect", "allowed", "privacy", "bound", "optimality gap", "attacked", "remembering"),
        tuple(
            (
                row.scenario,
                f"{row.allowed:,.0f} m",
                f"{row.privacy:,.1f} m",
                f"{row.bound:,.1f} m",
                f"{row.optimality_gap:.0e}",
                f"{row.attacked:,.1f} m",
                "" if row.remembering is None else f"{row.remembering:,.1f} m",
            )
            for row in rows
        ),
    )
