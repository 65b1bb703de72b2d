"""Commands that look at one access: demo, learn, solve, curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from scipy import sparse

from hideseek.cli.options import (
    GRID,
    SCENARIOS,
    STEP,
    AsJson,
    GridSize,
    PrivacyOption,
    Protect,
    ProtectOption,
    QualityOption,
    Source,
    Step,
    User,
    game_of,
    grid_from,
    places_from,
    profile_of,
    traces_of,
)
from hideseek.cli.terminal import print_json, print_label, print_table, progress_bar, say
from hideseek.errors import broken_rule
from hideseek.experiments.descriptions import label_facts, named, solution_facts, solution_words
from hideseek.game.budget import budget_of
from hideseek.metrics import MetricName
from hideseek.model.markov import MarkovProfile
from hideseek.model.profile import regions_of
from hideseek.model.regions import Hexagons, Regions
from hideseek.solvers.curve import refuse_many_points, trade_off
from hideseek.solvers.dispatch import solve
from hideseek.storage.profile_file import save_profile
from hideseek.traces.formats import FORMATS
from hideseek.util.arrays import FloatArray, IntArray
from hideseek.util.checks import whole_number
from hideseek.util.harmless import csv_bytes
from hideseek.util.private_files import write_privately
from hideseek.util.sparse import Matrix

commands = typer.Typer()


@commands.command(epilog="Example: hideseek demo --out my-demo")
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("hideseek-demo"),
    seed: Annotated[int, typer.Option(help="Which synthetic person.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Do the whole job on a synthetic person, and write a report to look at."""
    from hideseek.experiments.demo import STEPS, run_demo, table_of
    from hideseek.experiments.report import foresight_table
    from hideseek.planning.simulation import FOR_WHOM

    with progress_bar("demo", STEPS) as advance:
        result = run_demo(folder, seed, advance)
    if as_json:
        files = {"report": str(result.report), "codebook": str(result.codebook)}
        foresight = {
            name: vars(one) | {"interval": one.kept.interval, "bound_holds_for": FOR_WHOM}
            for name, one in result.foresight.items()
        }
        facts = {"rows": [asdict(row) for row in result.rows], "label": label_facts(result.label)}
        print_json(facts | {"foresight": foresight} | files)
        return
    table = table_of(result.rows)
    print_table("What the best adversary errs by, in metres a place", table.header, table.rows)
    print_label(result.label, "m")
    table = foresight_table(result.foresight, "m")
    print_table("Planning ahead, against who remembers everything", table.header, table.rows)
    say(FOR_WHOM)
    say("The report with the figures: ", (str(result.report), "bold"))


@commands.command(epilog="Example: hideseek learn cabs/ --user abboip --grid 10x25 --out abboip.json")
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
        regions = Hexagons.covering(traces, resolution=h3)
    else:
        regions = grid_from(grid or GRID, box, traces)
    profile = MarkovProfile.fit(traces, regions, step=step, order=order, smoothing=smoothing)
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
    path = (str(profile_path), "bold")
    say("The profile, readable by you only: ", path, f". It tells where {who} goes: keep it private.")


@commands.command("solve", epilog="Example: hideseek solve abboip.json --budget 20% --out mechanism.csv")
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
    radius: Annotated[
        float | None, typer.Option(help="Most that a release may lose, in the unit of the quality: m², m or a share.")
    ] = None,
    hardware: Annotated[
        str | None, typer.Option(help="Hardware for torch, such as cuda, for a large map and a tolerance such as 0.01.")
    ] = None,
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
            tolerance=tolerance,
            time_limit=time_limit,
            progress=lambda k, low, high: tell(f"round {k}: {low:.6g} to {high:.6g}"),
            radius=radius,
            hardware=hardware,
        )
    scenario, centres = SCENARIOS[protect], regions_of(profile).centres
    known, release = ("known", scenario.known, game.inputs), ("release", scenario.release, game.releases)
    guess = ("guess", scenario.target, game.guesses)
    if table_path is not None:
        write_table(table_path, solution.mechanism.distributions, known, release, centres)
    if attack_path is not None:
        write_table(attack_path, solution.attacks[0], release, guess, centres)
    if as_json:
        files = {
            "mechanism": str(table_path) if table_path else None,
            "attack": str(attack_path) if attack_path else None,
        }
        print_json(solution_facts(solution, game, d_p, d_q) | {"radius": radius} | files)
        return
    facts = [(name, str(value)) for name, value in solution_words(solution, game, d_p, d_q)]
    if radius is not None:
        facts.append(("radius", f"{radius:.6g} {d_q.unit}".strip()))
    print_table(f"The best mechanism over {profile.places} places", ("", ""), facts)
    for what, path in (("mechanism", table_path), ("attack", attack_path)):
        if path is not None:
            say(f"The {what}, readable by you only: ", (str(path), "bold"))


@commands.command(epilog="Example: hideseek curve abboip.json --points 20 --figure curve.png")
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
        refuse_many_points(whole_number(points, "points", "curve", least=2))
        budgets = np.linspace(game.least_loss, game.saturation, points)
    with progress_bar("tracing") as tell:
        found = trade_off(
            game,
            budgets=budgets,
            tolerance=tolerance,
            breakpoints=breakpoints,
            progress=lambda k, width: tell(f"{k} points, {width:.3g} apart"),
        )
    columns = ("budget", "privacy", "bound", "price", "quality_loss")
    table = pd.DataFrame({name: getattr(found, name) for name in columns})
    if csv is not None:
        write_privately(csv, csv_bytes(table))
    if figure is not None:
        from hideseek.plots.figures import curve_figure

        curve_figure({"optimum": found}, named(d_p), named(d_q)).savefig(figure, dpi=150)
    if as_json:
        print_json({"points": table.to_dict("records"), "width": found.width, "prior_risk": game.prior_risk})
        return
    rows = [tuple(f"{value:.6g}" for value in row) for row in table.itertuples(index=False)]
    print_table(f"Privacy ({named(d_p)}) for quality loss ({named(d_q)})", columns, rows)
    known = f"Between the points, the optimum is known to within {found.width:.3g}"
    say(f"{known}; nothing can exceed {game.prior_risk:.6g}.")


Axis = tuple[str, Sequence[int], IntArray]  # role, offsets, and the places that each index stands for


def write_table(path: Path, table: Matrix, given: Axis, drawn: Axis, centres: FloatArray) -> None:
    """The non-zero entries of a table of laws, with the coordinates of the places, readable by the owner only."""
    columns: dict[str, object] = {}
    entries = sparse.coo_array(table)
    for (role, offsets, places), index in zip((given, drawn), entries.coords, strict=True):
        for offset, place in zip(offsets, places[index].T, strict=True):
            columns[f"{role}_{offset}"] = place
            columns[f"{role}_{offset}_latitude"] = centres[place, 0]
            columns[f"{role}_{offset}_longitude"] = centres[place, 1]
    frame = pd.DataFrame(columns | {"probability": entries.data})
    write_privately(path, csv_bytes(frame))
