"""Commands that set people or mechanisms side by side: reproduce, compare, study; and one that protects a fleet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hideseek.cli.options import (
    BUDGET,
    METRICS,
    NUMBER,
    AsJson,
    Budget,
    Cap,
    Commands,
    DataOrCity,
    OfPlaybooks,
    OverIfPlaybooks,
    Privacy,
    Quality,
    Report,
    Sensitive,
    Traces,
    TracesOrCity,
    Workers,
)
from hideseek.cli.reading import STEP, Reading, names_of, reads_traces
from hideseek.cli.terminal import in_options, note, print_json, print_table, say, tell_expected
from hideseek.errors import broken_rule
from hideseek.util.choices import DAY, MetricName
from hideseek.util.progress import bar

if TYPE_CHECKING:  # a command imports what it needs when it runs, so that help comes at once
    import pandas as pd

    from hideseek.experiments.reproduction.findings import Reproduction
    from hideseek.fleet.run import Fleet

commands = Commands()
OverToo = Annotated[
    str,
    typer.Option(
        "--over",
        metavar="LENGTH",
        help="The window over which the budget of one of ours holds on average; access for none such.",
    ),
]
Privacies = Annotated[
    list[MetricName],
    typer.Option(
        metavar=f"<{'|'.join(MetricName)}>",
        help=f"How the adversary's error is measured: {METRICS}; may be given several times.",
    ),
]
Budgets = Annotated[
    list[str],
    typer.Option(metavar="AMOUNT", help=f"Expected loss allowed: {BUDGET}; may be given several times."),
]
OTHERS = "Each reveals where its user goes and how: keep them as private as traces."


def tell_notes(notes: Iterable[str], kind: str = "note:") -> None:
    """Print what is worth knowing, or speaks against what was found, apart from it."""
    for words in notes:
        note((kind, "bold yellow"), f" {words}")


@commands.command("reproduce", epilog="Example: hideseek reproduce cabspotting/ --users 10 --out paper")
@reads_traces
def reproduce_command(
    reading: Reading,
    data: TracesOrCity = None,
    users: Annotated[int, NUMBER(help="How many users to draw.")] = 10,
    folder: Report = Path("hideseek-reproduction"),
    seed: Annotated[int, NUMBER(help="Seed by which users are drawn.")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Repeat the paper's evaluation: its three results as figures and tables, its findings checked.

    Traces from the Bay area lie on the paper's grid, others on one around them, unless the options below say otherwise.
    """
    from hideseek.cli.people import people_of
    from hideseek.experiments.reproduction.pages import write_pages
    from hideseek.experiments.reproduction.robustness_study import robustness
    from hideseek.experiments.reproduction.run import reproduce

    folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    with bar("reproducing") as advance:
        people = people_of(data, reading, users, seed)
        regions, step, clock = people.regions, people.step, people.clock
        found = reproduce(
            people.traces, regions, users=users, seed=seed, step=step, clock=clock, workers=workers, progress=advance
        )  # fmt: skip
        own = people.traces[people.traces["user_id"].isin(found.names)]
        left = robustness(own, regions, step=step, clock=clock, seed=seed, workers=workers, progress=advance)
    files = write_pages(found, left, people.who, folder)
    if not len(left):
        note("note: no user has enough full days to learn from some and attack others")
    if as_json:
        print_json(reproduction_facts(found, left, files))
    else:
        show_reproduction(found, people.who, files["report"])


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


@commands.command("compare", epilog="Example: hideseek compare abboip.json --budget 20% --out rivals")
@reads_traces
def compare_command(
    reading: Reading,
    data: DataOrCity = None,
    folder: Report = Path("hideseek-comparison"),
    users: Annotated[int | None, NUMBER(help="Compare on a day each of so many users, drawn by the seed.")] = None,
    budget: Budget = "20%",
    over: OverToo = DAY,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    accesses: Annotated[
        int | None, NUMBER(help="Length of the run, in accesses. [default: 50, or two windows of the budget]")
    ] = None,
    walks: Annotated[
        int | None, NUMBER(help="Walks to simulate. [default: 10,000 accesses in all, but 8 walks or more]")
    ] = None,
    seed: Annotated[int, NUMBER(help="Seed of the random walks.")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Compare all known mechanisms at one budget, against the same adversaries who remember releases.

    With --users it does so for many people, synthetic ones where no DATA is given, and tells means and intervals.
    """
    folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    options = {"over": over, "accesses": accesses, "walks": walks, "seed": seed, "workers": workers}
    if users is not None:
        if sensitive:
            raise broken_rule("sensitive", "compare", "given for one person", "--users")
        compare_many(data, reading, users, folder, (str(privacy), str(quality)), budget, options, as_json)
        return
    if data is None:
        raise broken_rule("data", "compare", "given, or --users for synthetic people", None)
    compare_one(data, reading, folder, budget, privacy, quality, sensitive, options, as_json)


def compare_many(
    data: str | None,
    reading: Reading,
    users: int,
    folder: Path,
    pair: tuple[str, str],
    budget: str,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Mechanisms on average over people."""
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.people import people_of
    from hideseek.experiments.comparison_pages import OURS_WORDS
    from hideseek.experiments.comparison_people import compare_people
    from hideseek.experiments.comparison_people_pages import facts_of, tables_of, write_pages
    from hideseek.experiments.planner_study import CELLS
    from hideseek.experiments.user_days import days_of, drawn_from

    people = people_of(data, reading, users, options["seed"])
    days = days_of(people.traces, people.regions, people.clock, "compare", CELLS, people.step)
    chosen = {day.user: day.profile for day in drawn_from(days, users, options["seed"], "compare", CELLS)}
    with bar("comparing") as advance:
        found = compare_people(chosen, pairs=[pair], budget=budget, progress=advance, **options)
    files = write_pages(found, people.who, folder)
    tell_notes(found.notes)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    for (privacy, quality), table in tables_of(found).items():
        title = f"Privacy ({privacy}) and quality ({quality}) on average over {users} {people.who}"
        print_table(title, table.header, table.rows)
    say(f"{OURS_WORDS} {ASSUMPTION}")
    say("The report, readable by you only: ", (str(files["report"]), "bold"))


def compare_one(
    data: str,
    reading: Reading,
    folder: Path,
    budget: str,
    privacy: MetricName,
    quality: MetricName,
    sensitive: list[str],
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Mechanisms for one person."""
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.expected import comparison_seconds, tell_if_long
    from hideseek.cli.inputs import metrics_of, tell_if_narrow
    from hideseek.cli.people import profile_of
    from hideseek.experiments.comparison import compare, length_of
    from hideseek.experiments.comparison_pages import apart_words, facts_of, loss_words, table_of, write_pages
    from hideseek.experiments.wording import named
    from hideseek.game.budget import budget_of
    from hideseek.game.game import Game
    from hideseek.model.scenario import Scenario

    profile = profile_of(data, reading, sensitive)
    d_p, d_q = metrics_of(profile, privacy, quality, sensitive)
    allowed = budget_of(budget, Game.from_scenario(profile, Scenario.sporadic(), privacy=d_p, quality=d_q), "compare")
    tell_if_narrow(profile, d_q, allowed)
    length = length_of(options["over"], profile, options["accesses"], options["walks"])
    tell_if_long(comparison_seconds(profile.places, *length))
    with bar("comparing") as advance:
        found = compare(profile, privacy=d_p, quality=d_q, budget=allowed, progress=advance, **options)
    files = write_pages(found, named(d_p), named(d_q), d_p.unit, folder)
    tell_notes(found.notes)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    shown = [row[:5] for row in (table.header, *table.rows)]  # what 80 columns hold
    print_table(f"Privacy ({named(d_p)}) at one budget", shown[0], shown[1:])
    loss = f"{loss_words(found, d_q.name)}{apart_words(found)}"
    most = f"No mechanism that loses as little exceeds {found.error(found.ceiling)}"
    say(f"{loss} {most}; the expected error of an adversary who sees no release is {found.error(found.prior_risk)}.")
    say(ASSUMPTION)
    say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


@commands.command("study", epilog="Example: hideseek study cabspotting/ --users 20 --accesses 1000 --out planners")
@reads_traces
def study_command(
    reading: Reading,
    data: TracesOrCity = None,
    users: Annotated[int, NUMBER(help="How many users to draw.")] = 5,
    accesses: Annotated[int, NUMBER(help="Accesses to simulate for each user under each planner.")] = 300,
    planners: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Which of plain, secondary, look-ahead and far-sighted; plain and far-sighted must be among them, "
            "look-ahead doubles the time.",
        ),
    ] = "plain,secondary,far-sighted",
    over: OverToo = DAY,
    privacy: Privacy = MetricName.EUCLID,
    quality: Quality = MetricName.SQUARED,
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="Folder for a report; by default none is written.")
    ] = None,
    seed: Annotated[int, NUMBER(help="Seed by which users and walks are drawn.")] = 0,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Measure what planning ahead is worth: planners against an adversary who remembers every release.

    All keep the same budget at every access, and one more keeps it on average over a window.

    Traces from the Bay area lie on the paper's grid, others on one around them, unless the options below say otherwise.
    The command first says how long it will take.
    """
    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.people import people_of
    from hideseek.experiments.planner_study import study
    from hideseek.experiments.planner_study_pages import facts_of, for_whom, table_of, write_pages
    from hideseek.experiments.wording import named

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)  # refuse a folder that cannot be written before the work starts
    with bar("studying") as advance:
        people = people_of(data, reading, users, seed)
        found = study(
            people.traces, people.regions, users=users, accesses=accesses, privacy=privacy, quality=quality, seed=seed,
            step=people.step, clock=people.clock, workers=workers, progress=advance, over=over,
            planners=[name.strip() for name in planners.split(",")], expect=tell_expected,
        )  # fmt: skip
    files = {} if folder is None else write_pages(found, people.who, folder)
    if as_json:
        print_json(facts_of(found) | {"files": {name: str(path) for name, path in files.items()}})
        return
    table = table_of(found)
    title = f"Privacy ({named(found.privacy)}) on average over {users} {people.who}"
    print_table(title, table.header, table.rows, table.words)
    for told in (*found.findings, *found.window_findings, for_whom(found), ASSUMPTION):
        say(told)
    if files:
        say("The report with the figure, readable by you only: ", (str(files["report"]), "bold"))


@commands.command("fleet", epilog="Example: hideseek fleet cabspotting/ --out protected --grid 4x10 --privacy hamming")
@reads_traces
def fleet_command(
    data: Traces,
    reading: Reading,
    folder: Annotated[
        str, typer.Option("--out", metavar="FOLDER", help="Folder for the results, or an address such as s3://...")
    ],
    privacy: Privacies = [MetricName.EUCLID],
    quality: Quality = MetricName.SQUARED,
    sensitive: Sensitive = [],
    budget: Budgets = ["20%"],
    over: OverIfPlaybooks = None,
    cap: Cap = None,
    against: OfPlaybooks = None,
    memory: Annotated[
        int | None, NUMBER(help="Make codebooks that remember so many releases; without it, playbooks.")
    ] = None,
    workers: Workers = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="What works: joblib (processes of this machine) or dask://HOST:PORT.")
    ] = "joblib",
    as_json: AsJson = False,
) -> None:
    """Make a playbook for every user in a data set, and write one table of labels.

    The same command continues an interrupted run. A user whose data cannot be used has a row with the reason; the exit
    status is 1 if nobody could be protected.
    """
    from hideseek.cli.expected import Telling
    from hideseek.cli.people import reading_of, region_choice
    from hideseek.fleet.job import Job
    from hideseek.fleet.run import run_fleet

    refused = reading.said.keys() & {"user", "timezone"}
    if refused:
        raise broken_rule(names_of(refused), "fleet", "given to commands about one person", "a fleet")
    job = Job(
        **vars(region_choice(reading)), step=reading.step or STEP, memory=memory, privacy=tuple(privacy),
        quality=quality, budgets=tuple(budget), over=over, cap=cap, against=against, sensitive=tuple(sensitive),
    )  # fmt: skip
    try:
        with bar("fleet") as advance:
            tell = Telling(advance, "users")
            found = run_fleet(
                data, folder, job=job, workers=workers, engine=engine, progress=tell, **reading_of(reading)
            )
    except KeyboardInterrupt:
        note("Interrupted. Run the same command again to continue.")
        raise
    show_fleet(found, write_report(found, folder), as_json)
    if not found.codebooks + found.playbooks:
        raise typer.Exit(1)


def show_fleet(found: Fleet, report: str, as_json: bool) -> None:
    """What became of a fleet, and where its files are."""
    from dataclasses import asdict

    from hideseek.adversary.label import ASSUMPTION
    from hideseek.cli.descriptions import fleet_warnings, fleet_words

    tell_notes(found.notes)
    tell_notes(fleet_warnings(found), "warning:")
    if as_json:
        print_json(asdict(found) | {"report": report, "assumption": ASSUMPTION})
        return
    print_table(f"A fleet of {found.users} users", ("", ""), fleet_words(found))
    say("The report, readable by you only: ", (report, "bold"))
    made = "playbooks" if found.playbooks else "codebooks"
    say("The labels: ", (found.labels, "bold"), f"; the {made} lie beside them. {OTHERS}")
    say(ASSUMPTION)


def write_report(found: Fleet, folder: str) -> str:
    """Write the page of a fleet beside its labels, and give its address."""
    from hideseek.experiments.fleet_pages import fleet_report
    from hideseek.fleet.folder import Folder

    out, labels = Folder(folder), found.to_frame()
    labels["reason"] = labels["reason"].map(lambda reason: in_options(reason, "fleet"), na_action="ignore")
    out.write("report.html", fleet_report(labels).encode())
    return out.address("report.html")
