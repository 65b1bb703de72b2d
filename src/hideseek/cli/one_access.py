"""Commands that look at one access: learn, solve, curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import (
    NUMBER,
    AsJson,
    Budget,
    Commands,
    Data,
    OneAccess,
    Planned,
    Privacy,
    Quality,
    Sensitive,
    Traces,
)
from hideseek.cli.reading import Reading, reads_traces
from hideseek.cli.terminal import print_json, print_table, say
from hideseek.errors import broken_rule
from hideseek.util.choices import MetricName, Model, Protect
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    from hideseek.game.game import Game
    from hideseek.model.scenario import Scenario
    from hideseek.solvers.solution import Solution
    from hideseek.util.arrays import FloatArray, IntArray
    from hideseek.util.sparse import Matrix

commands = Commands()
TablePath = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="CSV file for the mechanism's table.")]
Named = Annotated[
    list[str],
    typer.Option(
        "--sensitive",
        show_default=False,
        metavar="NAME=LATITUDE,LONGITUDE",
        help="Make this a place of its own, 200 m around it or @RADIUS: clinic=46.52,6.63@100m; may be given several "
        "times. The profile keeps the place and no weight: give it again to solve, curve, design, plan or compare.",
    ),
]
ModelName = Annotated[
    Model | None,
    typer.Option(
        "--model",
        metavar=f"<{'|'.join(Model)}>",
        help="What the next place depends on: the place before it, the two before it, the time of day too, or also "
        "whether it is a weekend; auto takes what foretells days best that it was not learned from. "
        f"{Model.FIRST_ORDER} if not given.",
        show_default=False,
    ),
]
AttackPath = Annotated[
    Path | None, typer.Option("--attack", metavar="FILE", help="CSV file for the best attack on it.")
]


@commands.command("learn", epilog="Example: hideseek learn cabs/ --user abboip --cell 500m --out abboip.json")
@reads_traces
def learn_command(
    data: Traces,
    reading: Reading,
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="The profile file to write.")] = Path(
        "profile.json"
    ),
    model: ModelName = None,
    order: Annotated[int, NUMBER(help="How many past places the next one depends on, without --model.")] = 1,
    smoothing: Annotated[float, NUMBER(help="Share of moves that may go anywhere, without --model.")] = 0.0,
    sensitive: Named = [],
    as_json: AsJson = False,
) -> None:
    """Learn a person's mobility profile from traces.

    So far evaluate, inspect and map take profiles with a clock; the other commands take those that are the same at all
    times.
    """
    from dataclasses import asdict

    from hideseek.cli.people import covered_by, on_map
    from hideseek.cli.profile_words import busiest_rows, model_rows, model_words, profile_facts
    from hideseek.model.markov import MarkovProfile
    from hideseek.model.model_choice import FEWEST, learn
    from hideseek.model.profile import regions_of
    from hideseek.storage.profile_file import save_profile

    refuse_beside(model, order, smoothing)
    found = on_map(data, reading, sensitive)
    who = found.who
    if model is not None and found.keep:
        raise broken_rule("model", "learn", "left out with the places of another profile, which are all kept", model)
    profile = (
        MarkovProfile.fit(
            found.traces, found.regions, step=found.step, order=order, smoothing=smoothing, keep_places=found.keep
        )
        if model is None
        else learn(found.traces, found.regions, step=found.step, timezone=reading.timezone, model=model)
    )
    covered = covered_by(found, regions_of(profile), reading.timezone)
    save_profile(profile, path)
    if as_json:
        facts = {"user": who, **profile_facts(profile), "coverage": asdict(covered), "profile": str(path)}
        print_json(facts)
        return
    print_table(f"{who}: {profile.places} places, the busiest", *busiest_rows(profile))
    if profile.candidates:
        print_table("How well each model foretells days that it was not learned from", *model_rows(profile))
    elif model is Model.AUTO:
        say(f"There are fewer than {FEWEST} days, so no models were compared, and the first-order one was taken.")
    say(f"The next place depends on {model_words(profile)}.")
    if not isinstance(profile, MarkovProfile):
        say("design, plan and solve do not take a profile with a clock yet: for them, learn one without --model too.")
    say("The profile, readable by you only: ", (str(path), "bold"), f". It reveals where {who} goes: keep it private.")


def refuse_beside(model: Model | None, order: int, smoothing: float) -> None:
    """Refuse what says how moves are learned beside a model, which says it too."""
    for name, value, usual in (("order", order, 1), ("smoothing", smoothing, 0.0)):
        if model is not None and value != usual:
            raise broken_rule(name, "learn", "left out with --model, which says how moves are learned", value)


@commands.command("solve", epilog="Example: hideseek solve abboip.json --budget 20% --out mechanism.csv")
@reads_traces
def solve_command(
    data: Data,
    reading: Reading,
    budget: Budget = "20%",
    protect: OneAccess = Protect.PLACE,
    planned: Planned = False,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    tolerance: Annotated[float, NUMBER(help="Optimality gap to prove.")] = 1e-6,
    time_limit: Annotated[
        float | None, NUMBER(help="Seconds after which to stop, with the optimality gap reached so far.")
    ] = None,
    radius: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="Largest loss of any single release, such as 2km; a number under hamming."),
    ] = None,
    hardware: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Where torch computes, such as cuda; for large maps and a tolerance such as 0.01."
        ),
    ] = None,
    table_path: TablePath = None,
    attack_path: AttackPath = None,
    as_json: AsJson = False,
) -> None:
    """Compute the best mechanism, the best attack on it, and the proof."""
    from hideseek.cli.descriptions import sensitive_rows, solution_facts, solution_words, unweighted_rows
    from hideseek.cli.inputs import game_of, scenario_alone, tell_if_narrow
    from hideseek.cli.people import profile_of
    from hideseek.game.budget import budget_of
    from hideseek.model.profile import regions_of
    from hideseek.solvers.dispatch import radius_of, solve
    from hideseek.util.units import metres_beside

    scenario = scenario_alone(protect, planned)
    profile = profile_of(data, reading, sensitive)
    game, d_p, d_q = game_of(profile, scenario, privacy, quality, sensitive)
    game = game.with_budget(budget_of(budget, game, "solve"))
    tell_if_narrow(profile, d_q, game.budget)
    with bar("solving") as advance:
        solution = solve(
            game, tolerance=tolerance, time_limit=time_limit, radius=radius, hardware=hardware, progress=advance
        )  # fmt: skip
    files = {"mechanism": table_path, "attack": attack_path}
    write_solution(files, solution, game, scenario, regions_of(profile).centres)
    if as_json:
        reach = {"radius": None if radius is None else radius_of(radius, d_q.unit)}
        paths = {name: str(path) if path else None for name, path in files.items()}
        print_json(solution_facts(solution, game, d_p, d_q) | reach | metres_beside(reach, d_q.unit) | paths)
        return
    weighed = sensitive_rows(d_p, profile.regions) + unweighted_rows(solution, profile, scenario, d_p)
    facts = [*solution_words(solution, game, d_p, d_q), *weighed, *([("radius", radius)] if radius else [])]
    print_table(f"The best mechanism over {profile.places} places", ("", ""), facts)
    for what, path in files.items():
        if path is not None:
            say(f"The {what}, readable by you only: ", (str(path), "bold"))


def write_solution(
    files: Mapping[str, Path | None], solution: Solution, game: Game, scenario: Scenario, centres: FloatArray
) -> None:
    """Write the tables of the mechanism and of the best attack on it, those that are asked for."""
    known, release = ("known", scenario.known, game.inputs), ("release", scenario.release, game.releases)
    if (path := files["mechanism"]) is not None:
        write_table(path, solution.mechanism.distributions, known, release, centres)
    if (path := files["attack"]) is not None:
        write_table(path, solution.attacks[0], release, ("guess", scenario.target, game.guesses), centres)


@commands.command("curve", epilog="Example: hideseek curve abboip.json --points 20 --figure curve.png")
@reads_traces
def curve_command(
    data: Data,
    reading: Reading,
    points: Annotated[int | None, NUMBER(help="Evenly spaced budgets, instead of refining.")] = None,
    tolerance: Annotated[float, NUMBER(help="Refine until the two bounds are this close (share).")] = 1e-3,
    breakpoints: Annotated[bool, typer.Option("--breakpoints", help="Find every corner of the curve.")] = False,
    protect: OneAccess = Protect.PLACE,
    planned: Planned = False,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    csv: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="CSV file for the points.")] = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="PNG, PDF or SVG file for the figure.")] = None,
    as_json: AsJson = False,
) -> None:
    """Trace the privacy-quality curve, certified at its points and between them."""
    import numpy as np

    from hideseek.cli.descriptions import curve_rows
    from hideseek.cli.inputs import game_of, scenario_alone
    from hideseek.cli.people import profile_of
    from hideseek.experiments.wording import named
    from hideseek.solvers.curve import refuse_many_points, trade_off
    from hideseek.util.checks import whole_number
    from hideseek.util.harmless import csv_bytes
    from hideseek.util.private_files import write_privately
    from hideseek.util.units import amount

    if figure is not None and figure.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise broken_rule("figure", "curve", "a file that ends in .png, .pdf or .svg", figure.name)
    scenario = scenario_alone(protect, planned)
    profile = profile_of(data, reading, sensitive)
    game, d_p, d_q = game_of(profile, scenario, privacy, quality, sensitive)
    budgets = None
    if points is not None:
        refuse_many_points(whole_number(points, "points", "curve", least=2))
        budgets = np.linspace(game.least_loss, game.saturation, points)
    with bar("tracing") as advance:
        found = trade_off(
            game, budgets=budgets, tolerance=tolerance, breakpoints=breakpoints, progress=advance
        )  # fmt: skip
    table = found.to_frame()
    if csv is not None:
        write_privately(csv, csv_bytes(table))
    if figure is not None:
        from hideseek.plots.curves import curve_figure
        from hideseek.plots.style import save_as

        save_as(curve_figure({"": found}, named(d_p), named(d_q)), figure, dpi=150)
    if as_json:
        print_json({"points": table.to_dict("records"), "width": found.width, "prior_risk": game.prior_risk})
        return
    print_table(f"Privacy ({named(d_p)}) against quality loss ({named(d_q)})", *curve_rows(found))
    known = f"Between the points, the optimum is known to within {amount(found.width, d_p.unit)}"
    say(f"{known}; nothing can exceed {amount(game.prior_risk, d_p.unit)}.")


Axis = tuple[str, Sequence[int], "IntArray"]  # role, offsets, and the places that each index stands for


def write_table(path: Path, table: Matrix, given: Axis, drawn: Axis, centres: FloatArray) -> None:
    """The non-zero entries of a table of distributions, with the places' coordinates, readable by the owner only."""
    import pandas as pd
    from scipy import sparse

    from hideseek.util.harmless import csv_bytes
    from hideseek.util.private_files import write_privately

    columns: dict[str, object] = {}
    entries = sparse.coo_array(table)
    for (role, offsets, places), index in zip((given, drawn), entries.coords, strict=True):
        for offset, place in zip(offsets, places[index].T, strict=True):
            columns[f"{role}_{offset}"] = place
            columns[f"{role}_{offset}_latitude"] = centres[place, 0]
            columns[f"{role}_{offset}_longitude"] = centres[place, 1]
    frame = pd.DataFrame(columns | {"probability": entries.data})
    write_privately(path, csv_bytes(frame))
