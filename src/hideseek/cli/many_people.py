"""Commands that set people or mechanisms side by side: reproduce, compare, study; and one that protects a fleet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hideseek.cli.options import (
    BUDGET,
    GRID,
    METRICS,
    STEP,
    AsJson,
    Box,
    Budget,
    Privacy,
    Quality,
    Report,
    Step,
    User,
    Workers,
)
from hideseek.cli.terminal import note, print_json, print_table, say
from hideseek.errors import broken_rule
from hideseek.util.choices import MetricName
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    import pandas as pd

    from hideseek.experiments.reproduction.findings import Reproduction
    from hideseek.fleet.run import Fleet

commands = typer.Typer()
OTHERS = "Each reveals where its user goes and how: keep them as private as traces."


@commands.command("reproduce", epilog="Example: hideseek reproduce --data cabspotting/ --users 10 --out paper")
def reproduce_command(
    data: Annotated[Path | None, typer.Option(help="Traces of cabspotting, a folder or an archive.")] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="A synthetic city instead of traces.")] = False,
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 10,
    box: Box = None,
    folder: Report = Path("hideseek-reproduction"),
    seed: Annotated[int, typer.Option(help="Seed by which users are drawn.")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Repeat the paper's evaluation: its three results as figures and tables, its findings checked."""
    from hideseek.cli.inputs import users_from
    from hideseek.experiments.reproduction.pages import write_pages
    from hideseek.experiments.reproduction.robustness_study import robustness
    from hideseek.experiments.reproduction.run import reproduce

    if synthetic == (data is not None):
        got = "both" if synthetic else "none of them"
        raise broken_rule("data and synthetic", "reproduce", "given one at a time", got)
    folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    with bar("reproducing") as advance:
        source, traces, grid, clock = users_from(data, users, box, seed)
        found = reproduce(traces, grid, users=users, seed=seed, clock=clock, workers=workers, progress=advance)
        own = traces[traces["user_id"].isin(found.names)]
        left = robustness(own, grid, clock=clock, seed=seed, workers=workers, progress=advance)
    files = write_pages(found, left, source, folder)
    if not len(left):
        note("note: no user has enough full days to learn from some and attack others")
    if as_json:
        print_json(reproduction_facts(found, left, files))
    else:
        show_reproduction(found, source, files["report"])


def reproduction_facts(found: Reproduction, left: pd.DataFrame, files: dict[str, Path]) -> dict[str, object]:
    """A reproduction for machines."""
    from hideseek.experiments.reproduction.robustness_study import kept_of_claim

    return {
        "users": found.users.to_dict("records"),
        "findings": [
            {"name": one.name, "pass": one.passed, "paper": one.paper, "figure": one.figure, "rule": one.rule}
            for one in found.findings
        ],
        "kept_of_claim": kept_of_claim(left).to_dict("records"),
        "files": {name: str(path) for name, path in files.items()},
    }


def show_reproduction(found: Reproduction, source: str, report: Path) -> None:
    """The findings, and by which rule those failed that did."""
    from hideseek.experiments.reproduction.pages import findings_table, in_sum

    table = findings_table(found.findings)
    shown = [row[:4] for row in (table.header, *table.rows)]
    print_table(f"The paper's findings on {len(found.users)} {source}", shown[0], shown[1:], words=4)
    colour = "green" if all(one.passed for one in found.findings) else "red"
    say((in_sum(found.findings), f"bold {colour}"))
    for one in found.findings:
        if not one.passed:
            say(f"{one.name}: PASS if {one.rule}.")
    say("The report with the figures, readable by you only: ", (str(report), "bold"))


@commands.command("compare", epilog="Example: hideseek compare --data abboip.json --budget 20% --out rivals")
def compare_command(
    source: Annotated[Path, typer.Option("--data", help="A profile made by learn, or traces.")],
    folder: Report = Path("hideseek-comparison"),
    budget: Budget = "20%",
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    accesses: Annotated[int, typer.Option(help="Length of the run, in accesses.")] = 50,
    walks: Annotated[
        int, typer.Option(help="Walks to simulate where there are too many sequences to enumerate.")
    ] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the random walks.")] = 0,
    workers: Workers = None,
    user: User = None,
    grid: Annotated[
        str | None,
        typer.Option(help=f"ROWSxCOLUMNS around the traces; if not given, {GRID} or coarser, for at most 30 places."),
    ] = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Compare all known mechanisms at equal loss of quality, against the same adversaries who remember releases.

    A profile is learned from traces on a grid with at most 30 visited places, unless --grid says otherwise.
    """
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.inputs import FEW_PLACES, coarse_profile_of, metrics_of, profile_of
    from hideseek.experiments.comparison import compare
    from hideseek.experiments.comparison_pages import apart_words, facts_of, table_of, write_pages
    from hideseek.experiments.wording import named
    from hideseek.game.budget import budget_of
    from hideseek.game.game import Game
    from hideseek.model.scenario import Scenario
    from hideseek.storage.profile_file import is_profile

    folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    quick = grid is None and not is_profile(source)
    profile = coarse_profile_of(source, user, step) if quick else profile_of(source, user, grid, step)
    if profile.places > FEW_PLACES:
        note(f"note: {profile.places} places may take minutes; up to {FEW_PLACES}, one is enough (see --grid of learn)")
    d_p, d_q = metrics_of(profile, privacy, quality)
    allowed = budget_of(budget, Game.from_scenario(profile, Scenario.sporadic(), privacy=d_p, quality=d_q), "compare")
    with bar("comparing") as advance:
        found = compare(
            profile, privacy=d_p, quality=d_q, budget=allowed, accesses=accesses, walks=walks, seed=seed,
            workers=workers, progress=advance,
        )  # fmt: skip
    files = write_pages(found, named(d_p), named(d_q), d_p.unit, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    shown = [row[:5] for row in (table.header, *table.rows)]  # what 80 columns hold
    print_table(f"Privacy ({named(d_p)}) at equal loss of quality", shown[0], shown[1:])
    loss = f"All lose {found.loss} ({d_q.name}).{apart_words(found)}"
    most = f"No mechanism that loses as little exceeds {found.error(found.ceiling)}"
    say(f"{loss} {most}; the expected error of an adversary who sees no release is {found.error(found.prior_risk)}.")
    say(ASSUMPTION)
    say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


@commands.command(
    "study", epilog="Example: hideseek study --data cabspotting/ --users 20 --accesses 1000 --out planners"
)
def study_command(
    data: Annotated[
        Path | None, typer.Option(help="Traces, a folder or an archive; a synthetic city if not given.")
    ] = None,
    users: Annotated[int, typer.Option(help="How many users to draw.")] = 5,
    accesses: Annotated[int, typer.Option(help="Accesses to simulate for each user under each planner.")] = 300,
    planners: Annotated[
        str,
        typer.Option(
            help="Which of plain, secondary, look-ahead and far-sighted; plain and far-sighted must be among them, "
            "look-ahead doubles the time."
        ),
    ] = "plain,secondary,far-sighted",
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    box: Box = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for a report; by default none is written.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed by which users and walks are drawn.")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Measure what planning ahead is worth: planners against an adversary who remembers every release.

    The command first says how long it will take.
    """
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.inputs import users_from
    from hideseek.experiments.planner_study import study
    from hideseek.experiments.planner_study_pages import facts_of, table_of, write_pages
    from hideseek.experiments.wording import named
    from hideseek.planning.simulation import FOR_WHOM

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    with bar("studying") as advance:
        source, traces, grid, clock = users_from(data, users, box, seed)
        found = study(
            traces, grid, users=users, accesses=accesses, privacy=privacy, quality=quality, seed=seed, clock=clock,
            workers=workers, progress=advance, planners=[name.strip() for name in planners.split(",")],
            expect=tell_expected,
        )  # fmt: skip
    files = {} if folder is None else write_pages(found, source, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    title = f"Privacy ({named(found.privacy)}) on average over {users} {source}"
    print_table(title, table.header, table.rows, table.words)
    for told in (*found.findings, FOR_WHOM, ASSUMPTION):
        say(told)
    if files:
        say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


def tell_expected(seconds: float) -> None:
    """Say how long something will take, so that the user can decide whether to wait."""
    minutes = round(seconds / 60)
    words = f"about {minutes} minutes" if minutes > 1 else "about a minute" if seconds > 30 else "less than a minute"
    note(f"note: {words}, if the machine is idle")


@commands.command("fleet", epilog="Example: hideseek fleet cabspotting/ --out protected --grid 4x10 --privacy hamming")
def fleet_command(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Traces of many users: a file, a folder, an archive.")],
    folder: Annotated[str, typer.Option("--out", help="Folder for the results, or an address such as s3://...")],
    privacy: Annotated[
        list[MetricName],
        typer.Option(help=f"How the adversary's error is measured: {METRICS}; may be given several times."),
    ] = [MetricName.EUCLID],
    quality: Quality = MetricName.SQUARED,
    budget: Annotated[
        list[str],
        typer.Option(help=f"Expected loss allowed per access: {BUDGET}; may be given several times."),
    ] = ["20%"],
    grid: Annotated[str, typer.Option(help="ROWSxCOLUMNS of the grid.")] = GRID,
    box: Annotated[
        str | None, typer.Option(help="SOUTH,NORTH,WEST,EAST of the grid; around each user's fixes if not given.")
    ] = None,
    step: Annotated[str, typer.Option(help="Length of a time step.")] = STEP,
    memory: Annotated[int, typer.Option(help="Releases that the adversary remembers.")] = 1,
    gaps: Annotated[int, typer.Option(help="Longest gap after which to continue, in accesses; 1: none missed.")] = 1,
    workers: Workers = None,
    engine: Annotated[str, typer.Option(help="Worker backend: joblib (this machine) or dask://HOST:PORT.")] = "joblib",
    as_json: AsJson = False,
) -> None:
    """Design a codebook for every user in a data set, and write one table of labels.

    The same command continues an interrupted run. A user whose data cannot be used has a row with the reason; the exit
    status is 1 if nobody could be protected. Users are told apart by a column of a CSV file, by the file name, or by
    the folder if several folders have a file of the same name.
    """
    from dataclasses import asdict

    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.inputs import box_from, size_from
    from hideseek.fleet.job import Job
    from hideseek.fleet.run import run_fleet

    job = Job(
        grid=size_from(grid), box=None if box is None else box_from(box), step=step, memory=memory, gaps=gaps,
        privacy=tuple(privacy), quality=quality, budgets=tuple(budget),
    )  # fmt: skip
    try:
        with bar("fleet") as advance:
            found = run_fleet(data, folder, job=job, workers=workers, engine=engine, progress=advance)
    except KeyboardInterrupt:
        note("Interrupted. Run the same command again to continue.")
        raise
    if as_json:
        print_json(asdict(found) | {"assumption": ASSUMPTION})
    else:
        print_table(f"A fleet of {found.users} users", ("", ""), fleet_words(found))
        say("The labels: ", (found.labels, "bold"), f"; the codebooks lie beside them. {OTHERS}")
        say(ASSUMPTION)
    if not found.codebooks:
        raise typer.Exit(1)


def fleet_words(found: Fleet) -> list[tuple[str, str]]:
    """What became of a fleet, in words."""
    words = [
        ("users told apart by", found.told_apart_by),
        ("protected", f"{found.users - found.unusable} users, {found.codebooks} codebooks"),
        ("done by an earlier run", str(found.reused)),
        ("not protected", str(found.unusable)),
        *((f"- {reason}", str(count)) for reason, count in found.reasons.items()),
    ]
    if found.departed:
        words.append(("no longer in the data, files still there", str(found.departed)))
    if found.kept is not None and found.seconds is not None:
        words.append(("kept of the ceiling, on average", f"{found.kept:.1%}"))
        words.append(("CPU seconds per user", f"{found.seconds:.1f}"))
    return words
