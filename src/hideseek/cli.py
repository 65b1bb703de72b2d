"""The command line: demo, learn, solve, curve; design, inspect, evaluate, expose; plan; reproduce, compare, study."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.markup import escape

from hideseek.arrays import FloatArray, IntArray, whole_number
from hideseek.codebook import Codebook
from hideseek.data import synthetic_city
from hideseek.days import BAY, CITY, PACIFIC
from hideseek.design import design
from hideseek.device import Device
from hideseek.errors import HideseekError, broken_rule
from hideseek.evaluate import evaluate
from hideseek.files import write_privately
from hideseek.foresight import STEPS, follow
from hideseek.foresight import WALKS as LEAST_STEPS
from hideseek.game import Game
from hideseek.live import LiveDevice
from hideseek.metrics import MetricName, metric_of
from hideseek.mobility import MarkovProfile, regions_of
from hideseek.options import (
    FEW_PLACES,
    GRID,
    SCENARIOS,
    STEP,
    AsJson,
    BudgetThroughTime,
    Every,
    GridSize,
    PrivacyOption,
    Protect,
    ProtectOption,
    QualityOption,
    Source,
    Step,
    Through,
    ThroughOption,
    User,
    budget_of,
    budget_through_time,
    coarse_profile_of,
    game_of,
    grid_from,
    past_of,
    places_from,
    point_from,
    profile_of,
    traces_of,
)
from hideseek.plan_file import load_plan, save_plan
from hideseek.planner import DISCOUNT, WALKS, Mode, Outlook, train
from hideseek.profile_file import is_profile, load_profile, save_profile
from hideseek.regions import Grid, Hexagons, Regions
from hideseek.repeated import RepeatedGame
from hideseek.scenario import Scenario
from hideseek.solve import solve, trade_off
from hideseek.terminal import counting_bar, err, out, print_json, print_label, print_table, progress_bar
from hideseek.traces import FORMATS, TraceWarning, read_traces
from hideseek.words import (
    HABITS,
    codebook_facts,
    codebook_words,
    in_percent,
    label_facts,
    named,
    plan_facts,
    plan_words,
    solution_facts,
    solution_words,
    stage_name,
)

app = typer.Typer(
    name="hideseek",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Location privacy: provably the most that you can have for the quality you need.",
    epilog="Start with: hideseek demo",
)
COMPARED = 100  # accesses, and walks, to tell what planning ahead gains
WITHHELD = {
    "clock": "a later step was answered already. If the clock was wrong then, only a new --state helps.",
    "not due": "the service is not due at this step.",
    "gap": "no table for so long a gap. Design with more --gaps, or forget the history with --restart.",
    "history": "a table needs a step that was not asked about. Forget the history with --restart.",
    "floor": "what was exposed before allows no release with so much privacy. Ask again at a later step.",
    "budget": "without a step that was not asked about no release keeps the budget. Ask again at the next step.",
}


def main() -> None:
    """Run the command line; what goes wrong on purpose is told in one line, with exit status 2."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TraceWarning)
            warnings.showwarning = lambda message, *_, **__: err.print(f"note: {escape(str(message))}", highlight=False)
            app()
    except (HideseekError, OSError) as error:
        if "--json" in sys.argv:
            print_json({"error": type(error).__name__, "message": str(error)})
        else:
            err.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False)
        raise SystemExit(2) from None


def tell_version(wanted: bool) -> None:
    """Print the version and end."""
    if wanted:
        typer.echo(version("hideseek"))
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Location privacy: provably the most that you can have for the quality you need."""


@app.command(epilog="Example: hideseek demo --out my-demo")
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("hideseek-demo"),
    seed: Annotated[int, typer.Option(help="Which synthetic person.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Do the whole job on a synthetic person, and write a report to look at."""
    from hideseek.demo import STEPS, run_demo, table_of
    from hideseek.report import foresight_table

    with progress_bar("demo", STEPS) as advance:
        result = run_demo(folder, seed, advance)
    if as_json:
        files = {"report": str(result.report), "codebook": str(result.codebook)}
        foresight = {name: vars(one) | {"interval": one.kept.interval} for name, one in result.foresight.items()}
        facts = {"rows": [asdict(row) for row in result.rows], "label": label_facts(result.label)}
        print_json(facts | {"foresight": foresight} | files)
        return
    table = table_of(result.rows)
    print_table("What the best adversary errs by, in metres a place", table.header, table.rows)
    print_label(result.label, "m")
    table = foresight_table(result.foresight, "m")
    print_table("Planning ahead, against who remembers everything", table.header, table.rows)
    out.print(f"The report with the figures: [bold]{escape(str(result.report))}[/]")


@app.command(epilog="Example: hideseek learn cabs/ --user abboip --grid 10x25 --out abboip.json")
def learn(
    source: Annotated[Path, typer.Argument(metavar="TRACES", help="A file, a folder or an archive of traces.")],
    profile_path: Annotated[Path, typer.Option("--out", help="The profile file to write.")] = Path("profile.json"),
    user: User = None,
    one_person: Annotated[bool, typer.Option("--one-person", help="All traces are of one person.")] = False,
    grid: GridSize = None,
    box: Annotated[str | None, typer.Option(help="Edges of the grid in degrees: SOUTH,NORTH,WEST,EAST.")] = None,
    places: Annotated[Path | None, typer.Option(help="CSV with latitude,longitude: places instead of a grid.")] = None,
    h3: Annotated[int | None, typer.Option(help="Resolution (0 to 15) of H3 cells instead of a grid.")] = None,
    step: Step = None,
    order: Annotated[int, typer.Option(help="How many past places the next one depends on.")] = 1,
    smoothing: Annotated[float, typer.Option(help="Share of moves that may go anywhere.")] = 0.0,
    form: Annotated[str | None, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = None,
    as_json: AsJson = False,
) -> None:
    """Learn a person's mobility profile from traces."""
    traces, who = traces_of(source, user, form, one_person)
    if sum(choice is not None for choice in (places, h3, grid or box)) > 1:
        raise broken_rule("places, h3, grid", "learn", "given one at a time", "several")
    step = step or STEP
    if places is not None:
        regions: Regions = places_from(places)
    elif h3 is not None:
        regions = Hexagons.covering(traces, h3)
    else:
        regions = grid_from(grid or GRID, box, traces)
    profile = MarkovProfile.fit(traces, regions, step, order, smoothing=smoothing)
    save_profile(profile, profile_path)
    busiest = np.argsort(-profile.stationary)[:10]
    centres = regions_of(profile).centres
    if as_json:
        top = [{"place": int(k), "share": float(profile.stationary[k]), "centre": centres[k].tolist()} for k in busiest]
        print_json({"user": who, "places": profile.places, "profile": str(profile_path), "busiest": top})
        return
    names = getattr(profile.regions, "names", ()) or range(profile.places)
    rows = [
        (str(names[k]), f"{profile.stationary[k]:.1%}", f"{centres[k][0]:.5f}", f"{centres[k][1]:.5f}") for k in busiest
    ]
    print_table(
        f"{who}: {profile.places} places, the busiest", ("place", "share of time", "latitude", "longitude"), rows
    )
    path = escape(str(profile_path))
    out.print(
        f"The profile, readable by you only: [bold]{path}[/]. It tells where {escape(who)} goes: keep it private."
    )


@app.command("solve", epilog="Example: hideseek solve abboip.json --budget 20% --out mechanism.csv")
def solve_command(
    source: Source,
    budget: Annotated[
        str, typer.Option(help="Expected loss allowed; with %, of what it takes to tell nothing.")
    ] = "20%",
    protect: ProtectOption = Protect.SPORADIC,
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    tolerance: Annotated[float, typer.Option(help="Relative gap to prove.")] = 1e-6,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which to return the gap reached.")] = None,
    table_path: Annotated[Path | None, typer.Option("--out", help="CSV file for the mechanism's table.")] = None,
    attack_path: Annotated[Path | None, typer.Option("--attack", help="CSV file for the best attack on it.")] = None,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Compute the best mechanism, the best attack on it, and the proof."""
    profile = profile_of(source, user, grid, step)
    game, d_p, d_q = game_of(profile, protect, privacy, quality)
    game = game.with_budget(budget_of(budget, game, "solve"))
    with progress_bar("solving") as tell:
        solution = solve(
            game,
            tolerance,
            time_limit=time_limit,
            progress=lambda k, low, high: tell(f"round {k}: {low:.6g} to {high:.6g}"),
        )
    scenario, centres = SCENARIOS[protect], regions_of(profile).centres
    known, release = ("known", scenario.known, game.inputs), ("release", scenario.release, game.releases)
    guess = ("guess", scenario.target, game.guesses)
    if table_path is not None:
        write_table(table_path, solution.mechanism.table, known, release, centres)
    if attack_path is not None:
        write_table(attack_path, solution.attack, release, guess, centres)
    if as_json:
        files = {
            "mechanism": str(table_path) if table_path else None,
            "attack": str(attack_path) if attack_path else None,
        }
        print_json(solution_facts(solution, game, d_p, d_q) | files)
        return
    facts = [(name, str(value)) for name, value in solution_words(solution, game, d_p, d_q)]
    print_table(f"The best mechanism over {profile.places} places", ("", ""), facts)
    for what, path in (("mechanism", table_path), ("attack", attack_path)):
        if path is not None:
            out.print(f"The {what}, readable by you only: [bold]{escape(str(path))}[/]")


@app.command(epilog="Example: hideseek curve abboip.json --points 20 --figure curve.png")
def curve(
    source: Source,
    points: Annotated[int | None, typer.Option(help="Evenly spaced budgets, instead of refining.")] = None,
    tolerance: Annotated[float, typer.Option(help="Refine until the envelopes are this close (share).")] = 1e-3,
    breakpoints: Annotated[bool, typer.Option("--breakpoints", help="Find every corner of the curve.")] = False,
    protect: ProtectOption = Protect.SPORADIC,
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    csv: Annotated[Path | None, typer.Option("--out", help="CSV file for the points.")] = None,
    figure: Annotated[Path | None, typer.Option(help="PNG, PDF or SVG file for the figure.")] = None,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Trace the privacy-quality curve, certified at its points and between them."""
    if figure is not None and figure.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise broken_rule("figure", "curve", "a file that ends in .png, .pdf or .svg", figure.name)
    game, d_p, d_q = game_of(profile_of(source, user, grid, step), protect, privacy, quality)
    budgets = None
    if points is not None:
        whole_number(points, "points", "curve", least=2)
        budgets = np.linspace(game.least_loss, game.saturation, points)
    with progress_bar("tracing") as tell:
        found = trade_off(
            game, budgets, tolerance, breakpoints, progress=lambda k, width: tell(f"{k} points, {width:.3g} apart")
        )
    columns = ("budget", "privacy", "bound", "price", "quality_loss")
    table = pd.DataFrame({name: getattr(found, name) for name in columns})
    if csv is not None:
        write_privately(csv, table.to_csv(index=False).encode())
    if figure is not None:
        from hideseek.figures import curve_figure

        curve_figure({"optimum": found}, named(d_p), named(d_q)).savefig(figure, dpi=150)
    if as_json:
        print_json({"points": table.to_dict("records"), "width": found.width, "prior_risk": game.prior_risk})
        return
    rows = [tuple(f"{value:.6g}" for value in row) for row in table.itertuples(index=False)]
    print_table(f"Privacy ({named(d_p)}) for quality loss ({named(d_q)})", columns, rows)
    known = f"Between the points, the optimum is known to within {found.width:.3g}"
    out.print(f"{known}; nothing can exceed {game.prior_risk:.6g}.")


@app.command("design", epilog="Example: hideseek design abboip.json --budget 20% --gaps 3 --out abboip.hideseek")
def design_command(
    source: Source,
    path: Annotated[Path, typer.Option("--out", help="The codebook file to write.")] = Path("codebook.hideseek"),
    budget: BudgetThroughTime = "20%",
    protect: ThroughOption = Through.LOCATION,
    memory: Annotated[int, typer.Option(help="Releases that the adversary remembers, for location and way.")] = 1,
    every: Every = 2,
    steps: Annotated[int | None, typer.Option(help="First accesses that get tables of their own.")] = None,
    gaps: Annotated[int, typer.Option(help="Longest gap, in accesses, after which to go on.")] = 1,
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    farsighted: Annotated[
        bool, typer.Option("--farsighted", help="Plan ahead, and tell what that gains; takes some times as long.")
    ] = False,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Design the codebook of a person: the best mechanism for every exposed history that can occur."""
    path.parent.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    profile = profile_of(source, user, grid, step)
    scenario = {
        Through.LOCATION: lambda: Scenario.past_present(memory),
        Through.WAY: lambda: Scenario.past_present(memory, "transition"),
        Through.NEXT: lambda: Scenario.present_future("unknown"),
        Through.PLANNED: lambda: Scenario.present_future("planned"),
        Through.BETWEEN: lambda: Scenario.in_between(every),
    }[protect]()
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "design")
    planner, gain = None, None
    if farsighted:
        game = RepeatedGame.of(profile, d_p, d_q, allowed, scenario)
        with counting_bar("planning") as advance:
            planner = train(game, progress=lambda done, count, *_: advance("walks", done, count))
    with counting_bar("designing") as advance:
        codebook = design(
            profile, scenario, d_p, d_q, allowed, steps, gaps, farsighted=planner, workers=workers, progress=advance
        )
    if farsighted:
        with counting_bar("comparing") as advance:
            short = design(profile, scenario, d_p, d_q, allowed, steps, gaps, workers=workers, progress=advance)
            gain = evaluate(codebook, profile, COMPARED, COMPARED, progress=advance, beside=short).gain
    if gain is not None and gain < 0:
        codebook = short
    codebook.save(path)
    if as_json:
        gained = {} if gain is None else {"gain": gain, "gain_interval": gain.interval, "farsighted": gain >= 0}
        print_json(codebook_facts(codebook) | gained | {"codebook": str(path)})
        return
    print_table(f"A codebook over {profile.places} places", ("", ""), codebook_words(codebook))
    if gain is not None:
        left_out = "" if gain >= 0 else ", so it was left out"
        out.print(
            f"Planning ahead gains [bold]{in_percent(gain)}[/] against an adversary who remembers everything{left_out}."
        )
    out.print(f"The codebook, readable by you only: [bold]{escape(str(path))}[/]. {HABITS}")


@app.command("inspect", epilog="Example: hideseek inspect abboip.hideseek")
def inspect_command(
    path: Annotated[Path, typer.Argument(metavar="CODEBOOK", help="A codebook made by design.")],
    as_json: AsJson = False,
) -> None:
    """Verify a codebook, and say what is inside in plain words."""
    codebook = Codebook.load(path)
    if as_json:
        print_json(codebook_facts(codebook) | {"codebook": str(path), "bytes": path.stat().st_size})
        return
    size = f"{path.stat().st_size / 1000:.0f} kB"
    print_table(f"{path.name}, {size}: what its designer says of it", ("", ""), codebook_words(codebook))
    d_p, d_q = codebook.privacy.unit, codebook.quality.unit
    rows = [
        (
            stage_name(codebook, number),
            str(len(worth.weight)),
            f"{worth.weight @ worth.privacy:.6g}",
            f"{worth.weight @ worth.bound:.6g}",
            f"{worth.loss.max():.6g}",
        )
        for number, worth in enumerate(codebook.worths())
    ]
    header = ("stage", "histories", f"privacy {d_p}".strip(), "no table exceeds", f"worst loss {d_q}".strip())
    print_table("Verified: worked out again from the stored integers", header, rows)
    out.print(f"[bold yellow]Keep it private.[/] {HABITS}")


@app.command("evaluate", epilog="Example: hideseek evaluate abboip.hideseek abboip.json")
def evaluate_command(
    path: Annotated[Path, typer.Argument(metavar="CODEBOOK", help="A codebook made by design.")],
    source: Annotated[Path, typer.Argument(metavar="PROFILE", help="The profile made by learn, or another one.")],
    accesses: Annotated[int, typer.Option(help="Accesses of the run that the label is about.")] = 200,
    walks: Annotated[int, typer.Option(help="Walks to simulate where enumeration does not fit.")] = 1000,
    seed: Annotated[int, typer.Option(help="Which walks.")] = 0,
    beside: Annotated[Path | None, typer.Option(help="Another codebook, to tell the gain over it.")] = None,
    as_json: AsJson = False,
) -> None:
    """The honest label: what is left against adversaries who remember everything."""
    codebook = Codebook.load(path)
    with counting_bar("attacking") as advance:
        other = None if beside is None else Codebook.load(beside)
        label = evaluate(codebook, load_profile(source), accesses, walks, seed, progress=advance, beside=other)
    if as_json:
        print_json(label_facts(label))
        return
    print_label(label, codebook.privacy.unit)
    loss = f"{label.quality_loss:.6g} of {codebook.budget:.6g} {codebook.quality.unit}".strip()
    out.print(
        f"Quality lost: {loss}. Kept of the ceiling, against all that was exposed so far: {label.kept.in_words()}."
    )
    if label.gain is not None:
        out.print(f"More than the codebook beside, against the same: [bold]{in_percent(label.gain)}[/].")


@app.command("expose", epilog="Example: hideseek expose me.hideseek --state me.state --latitude 46.52 --longitude 6.57")
def expose_command(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A codebook made by design; with --live, a plan.")],
    state: Annotated[Path, typer.Option(help="The device's own file: what was exposed so far.")],
    latitude: Annotated[str | None, typer.Option(help="Where you are.")] = None,
    longitude: Annotated[str | None, typer.Option(help="Where you are.")] = None,
    at: Annotated[str | None, typer.Option(help="When, in ISO 8601 with offset; now if not given.")] = None,
    ahead: Annotated[
        list[str] | None, typer.Option(help="LATITUDE,LONGITUDE of a following step, for planned routes.")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Forget the history first, after too long a gap.")] = False,
    live: Annotated[bool, typer.Option("--live", help="Play the game at what was exposed so far, by a plan.")] = False,
    floor: Annotated[
        float | None, typer.Option(help="Privacy below which nothing is exposed, with --live.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what to expose now instead of where you are; ask as often as you like.

    Without --latitude and --longitude, one line LATITUDE,LONGITUDE is read from the standard input, which other users
    of the machine do not see. The exit status is 3 where nothing is to be exposed.
    """
    if live and (ahead or restart):
        way_out = "A live device plans for itself, and follows any gap."
        raise broken_rule("--live", "expose", "given without --ahead and --restart", "one of them", way_out)
    if floor is not None and not live:
        raise broken_rule("floor", "expose", "given with --live only", floor)
    device = LiveDevice.of(*load_plan(path), state, floor or 0.0) if live else Device(Codebook.load(path), state)
    if (latitude is None) != (longitude is None):
        raise broken_rule("latitude and longitude", "expose", "given together, or not at all", "one of them")
    here = sys.stdin.readline() if latitude is None else f"{latitude},{longitude}"
    point = point_from(here, "latitude and longitude")
    route = [point_from(text, "ahead") for text in ahead or []]
    when = datetime.now(UTC) if at is None else at
    if isinstance(device, LiveDevice):
        answer = device.expose(*point, when)
    else:
        if restart:
            device.restart()
        answer = device.expose(*point, when, route)
    if as_json:
        label = {"label": asdict(device.label())} if isinstance(device, LiveDevice) else {}
        print_json(asdict(answer) | label)
    elif answer.status == "exposed":
        out.print(f"{answer.latitude:.6f},{answer.longitude:.6f}", highlight=False)
    else:
        err.print(f"withheld: {WITHHELD[answer.reason]}", highlight=False)
    if answer.status == "withheld":
        raise typer.Exit(3)


@app.command("plan", epilog="Example: hideseek plan abboip.json --budget 20% --out abboip.plan")
def plan_command(
    source: Source,
    path: Annotated[Path, typer.Option("--out", help="The plan file to write.")] = Path("me.plan"),
    budget: BudgetThroughTime = "20%",
    protect: ThroughOption = Through.LOCATION,
    every: Every = 2,
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    outlook: Annotated[Outlook, typer.Option(help="How far to look.")] = Outlook.FAR_SIGHTED,
    mode: Annotated[
        Mode, typer.Option(help="What to give up of the privacy of now: nothing, or some.")
    ] = Mode.TRADE_OFF,
    discount: Annotated[float, typer.Option(help="How much an access counts against the one before it.")] = DISCOUNT,
    walks: Annotated[int, typer.Option(help="Walks to train on.")] = WALKS,
    steps: Annotated[int, typer.Option(help="Accesses to simulate, to tell what is reached.")] = STEPS,
    seed: Annotated[int, typer.Option(help="Which walks.")] = 0,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Train a planner, which keeps privacy for later against an adversary who remembers everything.

    What it reaches is simulated, and stands between two bounds: nothing can exceed the ceiling, nor what the cuts say.
    """
    path.parent.mkdir(parents=True, exist_ok=True)  # what cannot be written or simulated is told before the work
    whole_number(steps, "steps", "plan", least=LEAST_STEPS)
    profile = profile_of(source, user, grid, step)
    known = past_of(profile)
    scenario = {
        Through.LOCATION: lambda: Scenario(target=(0,), known=known),
        Through.WAY: lambda: Scenario(target=(-1, 0), known=max(known, (-1, 0), key=len)),
        Through.NEXT: lambda: Scenario(target=(0, 1), known=known),
        Through.PLANNED: lambda: Scenario.present_future("planned"),
        Through.BETWEEN: lambda: Scenario.in_between(every),
    }[protect]()
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    allowed = budget_through_time(budget, profile, scenario, d_p, d_q, "plan")
    game = RepeatedGame.of(profile, d_p, d_q, allowed, scenario)
    start, ceiling = time.perf_counter(), game.ceiling.bound or 1.0
    with counting_bar("planning") as advance:
        planner = train(
            game,
            outlook,
            mode,
            discount,
            walks,
            seed,
            lambda done, count, reached, bound: advance(
                f"{reached / ceiling:.3f} .. {bound / ceiling:.3f} of the ceiling", done, count
            ),
        )
    seconds = time.perf_counter() - start
    with counting_bar("simulating") as advance:
        found = follow(game, planner, steps, seed=seed, progress=lambda *done: advance("accesses", *done))
    save_plan(game, planner, path)
    if as_json:
        print_json(plan_facts(game, planner, found) | {"seconds": seconds, "plan": str(path)})
        return
    words = [*plan_words(game, planner, found), ("trained in", f"{seconds:.1f} s")]
    print_table(f"A plan over {profile.places} places", ("", ""), words)
    share = found.certified
    out.print(f"It reaches [bold]at least {share:.1%} of what anything can reach[/] in the long run (95 % sure).")
    out.print(f"The plan, readable by you only: [bold]{escape(str(path))}[/]. {HABITS}")


@app.command("reproduce", epilog="Example: hideseek reproduce --data cabspotting/ --users 10 --out paper")
def reproduce_command(
    data: Annotated[Path | None, typer.Option(help="Traces of cabspotting, a folder or an archive.")] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="A made-up city instead of traces.")] = False,
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 10,
    box: Annotated[
        str | None, typer.Option(help="SOUTH,NORTH,WEST,EAST of the grid; the Bay area if not given.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("hideseek-reproduction"),
    seed: Annotated[int, typer.Option(help="Which users.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make the paper's evaluation again: its three results as figures and tables, its findings checked."""
    from hideseek.reproduce import reproduce, robustness
    from hideseek.reproduce.pages import findings_table, write_pages
    from hideseek.reproduce.robustness import kept_of_claim

    if synthetic == (data is not None):
        got = "both" if synthetic else "none of them"
        raise broken_rule("data and synthetic", "reproduce", "given one at a time", got)
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    with counting_bar("reproducing") as advance:
        source, traces, grid, clock = users_from(data, users, box, seed)
        found = reproduce(traces, grid, users, seed, clock, workers=workers, progress=advance)
        own = traces[traces["user_id"].isin(found.names)]
        left = robustness(own, grid, clock=clock, seed=seed, workers=workers, progress=advance)
    files = write_pages(found, left, source, folder)
    if not len(left):
        err.print("note: nobody has enough full days to learn from some and attack others", highlight=False)
    if as_json:
        findings = [
            {"name": one.name, "pass": one.passed, "figure": one.figure, "rule": one.rule} for one in found.findings
        ]
        paths = {name: str(path) for name, path in files.items()}
        kept = kept_of_claim(left).to_dict("records")
        print_json(
            {"users": found.users.to_dict("records"), "findings": findings, "kept_of_claim": kept, "files": paths}
        )
        return
    table = findings_table(found.findings)
    shown = [row[:3] for row in (table.header, *table.rows)]
    print_table(f"The paper's findings on {len(found.users)} {source}", shown[0], shown[1:], words=3)
    out.print(f"The report with the figures, readable by you only: [bold]{escape(str(files['report']))}[/]")


@app.command("compare", epilog="Example: hideseek compare --data abboip.json --budget 20% --out rivals")
def compare_command(
    source: Annotated[Path, typer.Option("--data", help="A profile made by learn, or traces.")],
    folder: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("hideseek-comparison"),
    budget: BudgetThroughTime = "20%",
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    accesses: Annotated[int, typer.Option(help="Accesses of the run that is attacked.")] = 50,
    walks: Annotated[int, typer.Option(help="Walks to simulate where enumeration does not fit.")] = 200,
    seed: Annotated[int, typer.Option(help="Which walks.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    user: User = None,
    grid: GridSize = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Every known mechanism at equal loss of quality, against the same adversaries who remember.

    Traces are learned from on a grid of at most 30 visited places, unless --grid says otherwise.
    """
    from hideseek.compare import compare
    from hideseek.compare.pages import apart_words, facts_of, table_of, write_pages

    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    quick = grid is None and not is_profile(source)
    profile = coarse_profile_of(source, user, step) if quick else profile_of(source, user, grid, step)
    if profile.places > FEW_PLACES:
        note = (
            f"note: {profile.places} places may take minutes; up to {FEW_PLACES}, one is enough (see --grid of learn)"
        )
        err.print(note, highlight=False)
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    allowed = budget_of(budget, Game.from_scenario(profile, Scenario.sporadic(), d_p, d_q), "compare")
    with counting_bar("comparing") as advance:
        found = compare(
            profile, d_p, d_q, allowed, accesses=accesses, walks=walks, seed=seed, workers=workers, progress=advance
        )
    files = write_pages(found, named(d_p), named(d_q), d_p.unit, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    shown = [row[:5] for row in (table.header, *table.rows)]  # what 80 columns hold
    print_table(f"Privacy ({named(d_p)}) at equal loss of quality", shown[0], shown[1:])
    most = f"No mechanism that loses as little exceeds {found.ceiling:.4g}"
    loss = f"All lose {found.quality_loss:.6g} ({named(d_q)}).{apart_words(found)}"
    out.print(f"{loss} {most}; shown nothing, the adversary errs by {found.prior_risk:.4g}.", highlight=False)
    out.print(f"The report with the figure, readable by you only: [bold]{escape(str(files['report']))}[/]")


@app.command("study", epilog="Example: hideseek study --data cabspotting/ --users 20 --steps 1000 --out planners")
def study_command(
    data: Annotated[Path | None, typer.Option(help="Traces, a folder or an archive; a made-up city if none.")] = None,
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 5,
    steps: Annotated[int, typer.Option(help="Accesses of each user under each planner.")] = 300,
    privacy: PrivacyOption = MetricName.EUCLID,
    quality: QualityOption = MetricName.SQUARED,
    box: Annotated[
        str | None, typer.Option(help="SOUTH,NORTH,WEST,EAST of the grid; the Bay area if not given.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--out", help="Folder for a report; none is written without.")] = None,
    seed: Annotated[int, typer.Option(help="Which users, and which walks.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    as_json: AsJson = False,
) -> None:
    """What planning ahead is worth: four planners against the adversary who remembers everything.

    Five made-up people take one to two minutes on two cores.
    """
    from hideseek.study import study
    from hideseek.study.pages import facts_of, table_of, write_pages

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    with counting_bar("studying") as advance:
        source, traces, grid, clock = users_from(data, users, box, seed)
        found = study(
            traces, grid, users, steps, privacy, quality, seed=seed, clock=clock, workers=workers, progress=advance
        )
    files = {} if folder is None else write_pages(found, source, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    print_table(
        f"Privacy ({named(found.privacy)}) in the mean over {users} {source}", table.header, table.rows, table.words
    )
    for finding in found.findings:
        out.print(finding, highlight=False)
    if files:
        out.print(f"The report with the figure, readable by you only: [bold]{escape(str(files['report']))}[/]")


def users_from(data: Path | None, users: int, box: str | None, seed: int) -> tuple[str, pd.DataFrame, Grid, str]:
    """Whose traces an evaluation takes, in words, with its grid and clock: a made-up city's where no data is given."""
    if data is None:
        whole_number(users, "users", "the command")
        return "made-up people", synthetic_city(max(40, users), 14, seed), CITY, "0h"
    traces = read_traces(data)
    grid, clock = (BAY, PACIFIC) if box is None else (grid_from(GRID, box, traces), "0h")
    return f"users of {data.name}", traces, grid, clock


Axis = tuple[str, Sequence[int], IntArray]  # role, offsets, and the places that each index stands for


def write_table(path: Path, table: FloatArray, given: Axis, drawn: Axis, centres: FloatArray) -> None:
    """The non-zero entries of a table of laws, with the coordinates of the places, readable by the owner only."""
    columns: dict[str, object] = {}
    entries = np.nonzero(table)
    for (role, offsets, places), index in zip((given, drawn), entries, strict=True):
        for offset, place in zip(offsets, places[index].T, strict=True):
            columns[f"{role}_{offset}"] = place
            columns[f"{role}_{offset}_latitude"] = centres[place, 0]
            columns[f"{role}_{offset}_longitude"] = centres[place, 1]
    frame = pd.DataFrame(columns | {"probability": table[entries]})
    write_privately(path, frame.to_csv(index=False).encode())
