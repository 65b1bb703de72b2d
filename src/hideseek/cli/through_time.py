"""Commands for who uses a service again and again: design, inspect, evaluate, expose, plan."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from hideseek.adversary.label import ASSUMPTION, evaluate
from hideseek.cli.options import (
    AsJson,
    BudgetThroughTime,
    Every,
    GridSize,
    PrivacyOption,
    QualityOption,
    Source,
    Step,
    Through,
    ThroughOption,
    User,
    past_of,
    point_from,
    point_line,
    profile_of,
)
from hideseek.cli.terminal import counting_bar, note, print_json, print_label, print_table, say
from hideseek.codebook.codebook import Codebook
from hideseek.designing.deployed_run import verify
from hideseek.designing.designer import design
from hideseek.device.codebook_device import Device
from hideseek.device.live_device import LiveDevice
from hideseek.errors import broken_rule
from hideseek.experiments.descriptions import (
    HABITS,
    codebook_facts,
    codebook_words,
    in_percent,
    label_facts,
    loss_words,
    plan_facts,
    plan_words,
    stage_name,
)
from hideseek.game.budget import budget_through_time
from hideseek.metrics import MetricName, metric_of
from hideseek.model.mobility import regions_of
from hideseek.model.scenario import Scenario
from hideseek.planning.belief_game import BeliefGame
from hideseek.planning.plan_file import load_plan, save_plan
from hideseek.planning.planner import DISCOUNT, WALKS, Mode, Outlook, train
from hideseek.planning.simulation import FOR_WHOM, STEPS, follow
from hideseek.planning.simulation import WALKS as LEAST_STEPS
from hideseek.storage.profile_file import load_profile
from hideseek.util.arrays import whole_number

commands = typer.Typer()
COMPARED = 100  # accesses, and walks, to tell what planning ahead gains
WITHHELD = {
    "clock": "a later step was answered already. If the clock was wrong then, only a new --state helps.",
    "not due": "the service is not due at this step.",
    "gap": "no table for so long a gap. Design with more --gaps, or forget the history with --restart.",
    "history": "a table needs a step that was not asked about. Forget the history with --restart.",
    "floor": "what was exposed before allows no release with so much privacy. Ask again at a later step.",
    "budget": "without a step that was not asked about no release keeps the budget. Ask again at the next step.",
}


@commands.command("design", epilog="Example: hideseek design abboip.json --budget 20% --gaps 3 --out abboip.hideseek")
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
        game = BeliefGame.of(profile, d_p, d_q, allowed, scenario)
        with counting_bar("planning") as advance:
            planner = train(game, progress=lambda done, count, *_: advance("walks", done, count))
    with counting_bar("designing") as advance:
        codebook = design(
            profile,
            scenario,
            privacy=d_p,
            quality=d_q,
            budget=allowed,
            first_stages=steps,
            gaps=gaps,
            farsighted=planner,
            workers=workers,
            progress=advance,
        )
    if farsighted:
        with counting_bar("comparing") as advance:
            short = design(
                profile,
                scenario,
                privacy=d_p,
                quality=d_q,
                budget=allowed,
                first_stages=steps,
                gaps=gaps,
                workers=workers,
                progress=advance,
            )
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
        against = f" against an adversary who remembers every release{left_out}."
        say("Planning ahead gains ", (in_percent(gain), "bold"), against)
    say("The codebook, readable by you only: ", (str(path), "bold"), f". {HABITS}")


@commands.command("inspect", epilog="Example: hideseek inspect abboip.hideseek")
def inspect_command(
    path: Annotated[Path, typer.Argument(metavar="CODEBOOK", help="A codebook made by design.")],
    as_json: AsJson = False,
) -> None:
    """Verify a codebook, and say what is inside in plain words.

    Everything it claims is worked out again from the tables and the profile in the file, gaps included.
    """
    codebook, verified = Codebook.load(path), False
    if codebook.chain is not None:
        with counting_bar("verifying") as advance:
            verify(codebook, progress=advance)
        verified = True
    if as_json:
        print_json(
            codebook_facts(codebook) | {"codebook": str(path), "bytes": path.stat().st_size, "verified": verified}
        )
        return
    size = f"{path.stat().st_size / 1000:.0f} kB"
    what = (
        "verified" if verified else "claimed by its designer and not verified, as it holds no profile (hideseek 0.1.0)"
    )
    print_table(f"{path.name}, {size}: {what}", ("", ""), codebook_words(codebook))
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
    print_table("Its stages, worked out again from the stored integers", header, rows)
    say(("Keep it private.", "bold yellow"), f" {HABITS}")


@commands.command("evaluate", epilog="Example: hideseek evaluate abboip.hideseek abboip.json")
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
    say(f"Kept of the ceiling, against an adversary who remembers every release: {label.kept.in_words()}.")
    say(loss_words(label, codebook.budget, codebook.quality.unit))
    say(ASSUMPTION)
    if label.gain is not None:
        say("More than the codebook beside, against the same: ", (in_percent(label.gain), "bold"), ".")


@commands.command(
    "expose", epilog="Example: hideseek expose me.hideseek --state me.state --latitude 46.52 --longitude 6.57"
)
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
    device = LiveDevice(*load_plan(path), state, floor=floor or 0.0) if live else Device(Codebook.load(path), state)
    if (latitude is None) != (longitude is None):
        raise broken_rule("latitude and longitude", "expose", "given together, or not at all", "one of them")
    here = point_line() if latitude is None else f"{latitude},{longitude}"
    point = point_from(here, "latitude and longitude")
    route = [point_from(text, "ahead") for text in ahead or []]
    when = datetime.now(UTC) if at is None else at
    if isinstance(device, LiveDevice):
        answer = device.expose(*point, at=when)
    else:
        if restart:
            device.restart()
        answer = device.expose(*point, at=when, ahead=route)
    if as_json:
        label = {"label": asdict(device.label()) | {"assumption": ASSUMPTION}} if isinstance(device, LiveDevice) else {}
        print_json(asdict(answer) | label)
    elif answer.status == "exposed":
        say(f"{answer.latitude:.6f},{answer.longitude:.6f}")
    else:
        note(f"withheld: {WITHHELD[answer.reason]}")
    if answer.status == "withheld":
        raise typer.Exit(3)


@commands.command("plan", epilog="Example: hideseek plan abboip.json --budget 20% --out abboip.plan")
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

    What it reaches is simulated, and stands below two bounds: no mechanism that keeps the budget on average exceeds the
    ceiling, and none that keeps it given every release so far, as this one does, exceeds what its cuts say.
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
    game = BeliefGame.of(profile, d_p, d_q, allowed, scenario)
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
    most = f"at least {share:.1%} of what any mechanism can reach that keeps this budget given every release"
    say("It reaches ", (most, "bold"), " in the long run (95 % sure).")
    say(FOR_WHOM)
    say("The plan, readable by you only: ", (str(path), "bold"), f". {HABITS}")
