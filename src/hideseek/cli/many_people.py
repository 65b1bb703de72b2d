"""Commands that set people or mechanisms side by side: reproduce, compare, study; and that protect a fleet."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from hideseek.adversary.label import ASSUMPTION
from hideseek.cli.options import (
    FEW_PLACES,
    GRID,
    STEP,
    AsJson,
    BudgetThroughTime,
    GridSize,
    PrivacyOption,
    QualityOption,
    Step,
    User,
    box_from,
    coarse_profile_of,
    grid_from,
    profile_of,
    size_from,
)
from hideseek.cli.terminal import counting_bar, note, print_json, print_table, rate_bar, say
from hideseek.errors import broken_rule
from hideseek.experiments.descriptions import named
from hideseek.experiments.user_days import BAY, CITY, PACIFIC
from hideseek.fleet.job import Job
from hideseek.fleet.run import Fleet, run_fleet
from hideseek.game.budget import budget_of
from hideseek.game.game import Game
from hideseek.metrics import MetricName, metric_of
from hideseek.model.profile import regions_of
from hideseek.model.regions import Grid
from hideseek.model.scenario import Scenario
from hideseek.planning.simulation import FOR_WHOM
from hideseek.storage.profile_file import is_profile
from hideseek.traces.city import synthetic_city
from hideseek.traces.reading import read_traces
from hideseek.util.checks import whole_number

commands = typer.Typer()
OTHERS = "Each tells where its user goes and how: keep them as private as traces."


@commands.command("reproduce", epilog="Example: hideseek reproduce --data cabspotting/ --users 10 --out paper")
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
    from hideseek.experiments.reproduction.pages import findings_table, in_sum, write_pages
    from hideseek.experiments.reproduction.robustness_study import kept_of_claim, robustness
    from hideseek.experiments.reproduction.run import reproduce

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
        note("note: nobody has enough full days to learn from some and attack others")
    if as_json:
        findings = [
            {"name": one.name, "pass": one.passed, "paper": one.paper, "figure": one.figure, "rule": one.rule}
            for one in found.findings
        ]
        paths = {name: str(path) for name, path in files.items()}
        kept = kept_of_claim(left).to_dict("records")
        print_json(
            {"users": found.users.to_dict("records"), "findings": findings, "kept_of_claim": kept, "files": paths}
        )
        return
    table = findings_table(found.findings)
    shown = [row[:4] for row in (table.header, *table.rows)]
    print_table(f"The paper's findings on {len(found.users)} {source}", shown[0], shown[1:], words=4)
    colour = "green" if all(one.passed for one in found.findings) else "red"
    say((in_sum(found.findings), f"bold {colour}"))
    for one in found.findings:
        if not one.passed:
            say(f"{one.name}: PASS if {one.rule}.")
    say("The report with the figures, readable by you only: ", (str(files["report"]), "bold"))


@commands.command("compare", epilog="Example: hideseek compare --data abboip.json --budget 20% --out rivals")
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
    from hideseek.experiments.comparison import compare
    from hideseek.experiments.comparison_pages import apart_words, facts_of, table_of, write_pages

    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    quick = grid is None and not is_profile(source)
    profile = coarse_profile_of(source, user, step) if quick else profile_of(source, user, grid, step)
    if profile.places > FEW_PLACES:
        note(f"note: {profile.places} places may take minutes; up to {FEW_PLACES}, one is enough (see --grid of learn)")
    d_p, d_q = (metric_of(name, regions_of(profile)) for name in (privacy, quality))
    allowed = budget_of(budget, Game.from_scenario(profile, Scenario.sporadic(), privacy=d_p, quality=d_q), "compare")
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
    say(f"{loss} {most}; shown nothing, the adversary errs by {found.prior_risk:.4g}.")
    say(ASSUMPTION)
    say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


@commands.command("study", epilog="Example: hideseek study --data cabspotting/ --users 20 --steps 1000 --out planners")
def study_command(
    data: Annotated[Path | None, typer.Option(help="Traces, a folder or an archive; a made-up city if none.")] = None,
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 5,
    steps: Annotated[int, typer.Option(help="Accesses of each user under each planner.")] = 300,
    planners: Annotated[
        str,
        typer.Option(
            help="Which of plain, secondary, look-ahead and far-sighted; plain and far-sighted must be among them, "
            "look-ahead doubles the time."
        ),
    ] = "plain,secondary,far-sighted",
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
    """What planning ahead is worth: planners against an adversary who remembers every release.

    How long it will take is told before it starts.
    """
    from hideseek.experiments.planner_study import study
    from hideseek.experiments.planner_study_pages import facts_of, table_of, write_pages

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # what cannot be written is told before the work
    with counting_bar("studying") as advance:
        source, traces, grid, clock = users_from(data, users, box, seed)
        found = study(
            traces, grid, users, steps, privacy, quality, seed=seed, clock=clock, workers=workers, progress=advance,
            planners=[name.strip() for name in planners.split(",")], expect=tell_expected,
        )  # fmt: skip
    files = {} if folder is None else write_pages(found, source, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    print_table(
        f"Privacy ({named(found.privacy)}) in the mean over {users} {source}", table.header, table.rows, table.words
    )
    for told in (*found.findings, FOR_WHOM, ASSUMPTION):
        say(told)
    if files:
        say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


def tell_expected(seconds: float) -> None:
    """Say how long something will take, so that nobody waits for what does not end."""
    minutes = round(seconds / 60)
    words = f"about {minutes} minutes" if minutes > 1 else "about a minute" if seconds > 30 else "less than a minute"
    note(f"note: {words}, if the machine is idle")


@commands.command("fleet", epilog="Example: hideseek fleet cabspotting/ --out protected --grid 4x10 --privacy hamming")
def fleet_command(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Traces of many users: a file, a folder, an archive.")],
    folder: Annotated[str, typer.Option("--out", help="Folder for the results, or an address such as s3://...")],
    privacy: Annotated[
        list[MetricName], typer.Option(help="What the adversary's error is measured in; may be given again.")
    ] = [MetricName.EUCLID],
    quality: QualityOption = MetricName.SQUARED,
    budget: Annotated[
        list[str], typer.Option(help="Expected loss allowed, or a percentage as in design; may be given again.")
    ] = ["20%"],
    grid: Annotated[str, typer.Option(help="ROWSxCOLUMNS of the grid.")] = GRID,
    box: Annotated[
        str | None, typer.Option(help="SOUTH,NORTH,WEST,EAST of the grid; around each user's fixes if not given.")
    ] = None,
    step: Annotated[str, typer.Option(help="Length of a time step.")] = STEP,
    memory: Annotated[int, typer.Option(help="Releases that the adversary remembers.")] = 1,
    gaps: Annotated[int, typer.Option(help="Longest gap, in accesses, after which to go on.")] = 1,
    workers: Annotated[int | None, typer.Option(help="Processes; by default one a core.")] = None,
    engine: Annotated[str, typer.Option(help="Who works: joblib (this machine) or dask://HOST:PORT.")] = "joblib",
    as_json: AsJson = False,
) -> None:
    """Design for every user in a data set: a codebook each, and one table of labels.

    Started again, an interrupted run goes on. Users whose data cannot be used stand in the table with the reason; the
    exit status is 1 if there are no others. Users are told apart by a column of a CSV file, by the file name, or by the
    folder where the same file name occurs in several.
    """
    edges = None if box is None else box_from(box)
    job = Job(size_from(grid), edges, step, memory, gaps, tuple(privacy), quality, tuple(budget))
    try:
        with rate_bar("fleet") as advance:
            found = run_fleet(data, folder, job, workers, engine, advance)
    except KeyboardInterrupt:
        note("Interrupted. The same command goes on where this one was.")
        raise
    if as_json:
        print_json(asdict(found) | {"assumption": ASSUMPTION})
    else:
        print_table(f"A fleet of {found.users} users", ("", ""), fleet_words(found))
        say("The labels: ", (found.labels, "bold"), f"; the codebooks lie beside. {OTHERS}")
        say(ASSUMPTION)
    if not found.codebooks:
        raise typer.Exit(1)


def fleet_words(found: Fleet) -> list[tuple[str, str]]:
    """What became of a fleet, in words."""
    words = [
        ("users told apart by", found.told_apart_by),
        ("protected", f"{found.users - found.unusable} users, {found.codebooks} codebooks"),
        ("of all, done by a run before", str(found.reused)),
        ("not protected", str(found.unusable)),
        *((f"- {reason}", str(count)) for reason, count in found.reasons.items()),
    ]
    if found.departed:
        words.append(("no longer in the data, files still there", str(found.departed)))
    if found.kept is not None and found.seconds is not None:
        words.append(("kept of the ceiling, mean", f"{found.kept:.1%}"))
        words.append(("seconds of a core a user", f"{found.seconds:.1f}"))
    return words


def users_from(data: Path | None, users: int, box: str | None, seed: int) -> tuple[str, pd.DataFrame, Grid, str]:
    """Whose traces an evaluation takes, in words, with its grid and clock: a made-up city's where no data is given."""
    if data is None:
        whole_number(users, "users", "the command")
        return "made-up people", synthetic_city(max(40, users), 14, seed=seed), CITY, "0h"
    traces = read_traces(data)
    grid, clock = (BAY, PACIFIC) if box is None else (grid_from(GRID, box, traces), "0h")
    return f"users of {data.name}", traces, grid, clock
